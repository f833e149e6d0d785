"""A leaderboard as a site of static pages, from a folder of submissions.

A cache beside the site saves the next build from doing all of it again. It has JSON documents, each named by
a hash of all that shaped it: one for what came of each submission, one for what was computed of pairs. Each
stands below the hash of its bytes: what is damaged is made anew; nothing in it is ever run.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, Unpack

import msgspec

from sedeval_soft.api.comparison import Task
from sedeval_soft.api.evaluation import settings_for_scores, with_folds
from sedeval_soft.api.report import write_report
from sedeval_soft.api.sources import Columns, Durations, Parted, limits_from, read_lengths, to_rows
from sedeval_soft.comparison.board import Board
from sedeval_soft.comparison.compare import RANK_BY, check_baseline, check_rank_by, rank_scores
from sedeval_soft.comparison.paired import TESTS, Comparisons, Paired, Test, test_for
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.evaluation.intervals import percentile
from sedeval_soft.evaluation.resample import Progress
from sedeval_soft.evaluation.scores import finite
from sedeval_soft.evaluation.tally_file import unpack_shard
from sedeval_soft.fields import Keywords
from sedeval_soft.html.board_page import BoardPages, Submission
from sedeval_soft.html.report_page import Choices, plotly_name, plotly_script
from sedeval_soft.measures.registry import ScoreName
from sedeval_soft.measures.tally import Tally
from sedeval_soft.names import did_you_mean
from sedeval_soft.report import render
from sedeval_soft.report.board import side_by_side
from sedeval_soft.report.delimited import delimited_columns
from sedeval_soft.report.write import OutputError, write_atomic
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.limits import Limits
from sedeval_soft.timeline.alignment_report import NO_DURATIONS, STRICT
from sedeval_soft.timeline.recordings import align
from sedeval_soft.tools.submissions import (
    Record,
    find_submissions,
    hash_of,
    score_submission,
    sha256_of,
    task_key,
)

T = TypeVar("T")

MARK = ".soft-sed-eval-board"
"""A file that says that a folder is a site of ours: nothing of others is replaced or taken away."""

_OURS = ("index.html", "board.json", "board.csv", "reports", "problems", "data", "assets")

_PAGES = ("reports/*.html", "problems/*.html", "data/*.json", "assets/plotly-*.min.js", "board.csv")
"""Files that are made for one submission, or one release: those that are left from before are deleted."""

_RECORDS = (f"{'[0-9a-f]' * 64}.json",)
"""Files of the cache, one for each submission."""


@dataclass(frozen=True, slots=True)
class Site:
    """A site that was built.

    board: of the valid submissions; None where there is none. invalid: the number of problems of each that
    is not, by name; first: the first problem of each.
    scored: the names of those that were looked at anew, the others were as they are.
    ignored: files that are no submissions. warnings: what else the organiser should know.
    """

    board: Board | None
    invalid: Mapping[str, int]
    scored: tuple[str, ...]
    ignored: tuple[str, ...]
    warnings: tuple[str, ...]
    first: Mapping[str, str]


def build_site(
    submissions: str | os.PathLike[str],
    reference: Any,  # noqa: ANN401 - as for evaluate
    site: str | os.PathLike[str],
    *,
    cache: str | os.PathLike[str] | None = None,
    rank_by: str = RANK_BY,
    baseline: str | None = None,
    scores: Sequence[str] = (),
    title: str = "Leaderboard",
    reports: bool = True,
    ties: Test | None = None,
    durations: Durations | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    columns: Columns | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Site:
    """Score all submissions of a folder, and write a leaderboard of them with a page for each.

    site: the folder to write. cache: a folder in which is stored what need not be computed again; beside the
    site if none is given. rank_by, baseline: as for `compare`, the latter by its name or its file's.
    scores: further ones that are shown; the main ones if none are named. reports: whether each submission
    has one: it shows the reference, too. ties: by which two submissions are told apart, `exchange` as in
    `compare`, `bootstrap`, or `none`; None for exchange where that does not take long, else none. progress:
    told how many submissions of how many are done. Others as for `evaluate`.

    Raises InputError where the reference or the folder cannot be read, SettingsError for arguments,
    OutputError where the site cannot be written. What is wrong with a submission is told on its page.
    """
    check_rank_by(rank_by)
    if ties is not None and ties not in TESTS:
        raise SettingsError(f"ties must be one of {', '.join(TESTS)}, not {ties!r:.60}")
    if isinstance(scores, str):
        raise SettingsError(f"scores must be a list of names, not {scores!r:.60}")
    limits = limits_from(limits, columns)
    settings = with_folds(settings_for_scores((rank_by, *scores), settings, values), folds)
    rows = to_rows(reference, "reference", settings, limits)
    rows = replace(rows, origin=replace(rows.origin, name=Path(rows.origin.name).name))
    lengths = read_lengths(durations, limits)
    task = Task(rows, settings, lengths, folds, by, limits, rank_by, tuple(dict.fromkeys(scores)))
    _check(task)
    found, ignored, warnings = find_submissions(submissions, limits, reference)
    # A file's own name is its own, whoever comes to be called alike without the extension.
    baseline = next((each.name for each in found if each.entry == baseline), baseline)
    root = _opened(os.fspath(site), submissions, "-o")
    _mark(root, os.fspath(site))
    stored = _opened(f"{root}.cache" if cache is None else os.fspath(cache), submissions, "--cache", root)
    test = ties or test_for(rank_by, settings)
    warnings = warnings if lengths is not None else [NO_DURATIONS, *warnings]
    builder = _Builder(task, baseline, title, reports, test, root, stored, warnings)
    done, scored = builder.look_at(found, progress)
    board = builder.compare(done)
    builder.write(done, board)
    invalid = [each for each in done if each.scores is None]
    return Site(
        board=board,
        invalid={each.name: each.n_problems for each in invalid},
        scored=tuple(scored),
        ignored=tuple(ignored),
        warnings=tuple(builder.warnings),
        first={each.name: str(each.problems[0]) for each in invalid if each.problems},
    )


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds a site: what comes of each submission, the board of all, the pages.

    root, cache: the folders of the site, and of what need not be computed again.
    """

    task: Task
    baseline: str | None
    title: str
    reports: bool
    test: Test
    root: Path
    cache: Path
    warnings: list[str]

    def look_at(
        self, submissions: Sequence[Submission], progress: Progress | None
    ) -> tuple[list[Submission], list[str]]:
        """Return submissions with what came of each, and the names of those that were scored anew."""
        shaped = task_key(self.task), *((self.title, plotly_name()) if self.reports else ())
        done, scored = [], []
        for each in submissions:
            submission = replace(each, key=hash_of(shaped, each.name, each.slug, each.entry, each.digest))
            record = _stored(self.cache / f"{submission.key}.json", submission.key, Record)
            # Pages that were changed or lost are made again.
            if record is None or record.pages != self._hashes(record.pages):
                record = self._anew(submission)
                scored.append(submission.name)
            done.append(record.of(submission, self.task.settings))
            if progress is not None:
                progress(len(done), len(submissions))
        return done, scored

    def _hashes(self, pages: Iterable[str]) -> dict[str, str]:
        return {path: sha256_of(self.root / path) for path in pages}

    def _anew(self, submission: Submission) -> Record:
        """Score a submission, and write the pages that are of it alone."""
        record, scores, rows = score_submission(submission, self.task)
        lasting = record.lasting
        if scores is not None:
            _write(self.root / submission.page("data"), render([scores], "json"))
            pages = [submission.page("data")]
            if self.reports:
                lasting = self._report(submission, rows)
                pages += [submission.page("reports")] * lasting
            record = msgspec.structs.replace(record, pages=self._hashes(pages))
        if lasting:
            _store(self.cache / f"{submission.key}.json", submission.key, record)
        return record

    def _report(self, submission: Submission, rows: EventTable | None) -> bool:
        """Write the report of a submission; return whether one could be made of it."""
        task, name, path = self.task, submission.name, self.root / submission.page("reports")
        home = ("../index.html", self.title)
        _make_folder(path.parent)
        try:
            write_report(
                task.reference,
                {name: rows},
                path,
                choices=Choices(title=name, plotly=f"../assets/{plotly_name()}", home=home),
                durations=task.durations,
                folds=task.folds,
                by=task.by,
                limits=task.limits,
                settings=task.settings,
            )
        except OutputError:
            raise
        except Exception as error:
            # It has its scores, and costs nobody else anything.
            reason = "not enough memory" if isinstance(error, MemoryError) else str(error)
            self.warnings.append(f"{name}: there is no report: {reason}")
            return False
        return True

    def compare(self, submissions: Sequence[Submission]) -> Board | None:
        """Return the board of the submissions that have scores."""
        rank_by, settings = self.task.rank_by, self.task.settings
        valid = [each for each in submissions if each.scores is not None]
        systems = [each.scores for each in valid if each.scores is not None]
        if self.baseline is not None:
            check_baseline(self.baseline, [each.name for each in valid])
        if not systems:
            return None
        # What one submission alone names must change no other's numbers.
        files = sorted(set.intersection(*({*scores.files} for scores in systems)))
        if self.test == "none" or len(files) < 2:
            return rank_scores(systems, None, rank_by=rank_by, baseline=self.baseline)

        def load(k: int) -> Tally:
            return unpack_shard(valid[k].name, valid[k].tally).tally

        # The keys of systems tell of all else that shapes what is drawn.
        key = hash_of(files, settings.replicates, settings.seed, settings.fixed_thresholds, self.test)
        stored, keys = self.cache / "comparisons.json", [each.key for each in valid]
        computed = _stored(stored, key, Comparisons) or Comparisons()
        paired = Paired(keys, files, load, rank_by, settings, self.test, computed)
        if settings.ci is None:
            # The score that ranks has an interval, from what is drawn to compare them.
            ends = percentile(paired.bootstrap(), settings.confidence)
            for k, (low, high) in enumerate(zip(*(end.tolist() for end in ends), strict=True)):
                score = systems[k].score(rank_by)
                if score.value is not None:
                    score = replace(score, low=finite(low), high=finite(high))
                systems[k] = replace(systems[k], scores={**systems[k].scores, score.name: score})
        board = rank_scores(systems, paired, rank_by=rank_by, baseline=self.baseline)
        _store(stored, key, computed.among(keys))
        return board

    def write(self, submissions: Sequence[Submission], board: Board | None) -> None:
        """Write what all submissions share, the index last; then take away what is of none."""
        root, task = self.root, self.task
        pages = {path for each in submissions for path in each.pages}
        if self.reports and board is not None:
            asset = f"assets/{plotly_name()}"
            _write(root / asset, plotly_script())
            pages.add(asset)
        main = () if board is None else tuple(name for _, _, name in side_by_side(board.systems))
        # Submissions were told apart by nothing where nothing was resampled.
        drawn = board is not None and any(entry.stability is not None for entry in board.entries)
        columns = tuple(name for name in task.columns or main if name != task.rank_by)
        written = BoardPages(
            title=self.title,
            rank_by=task.rank_by,
            columns=columns,
            settings=task.settings,
            test=self.test if drawn else "none",
            reference=task.reference.origin,
            warnings=tuple(self.warnings),
            submissions=submissions,
            board=board,
        )
        for each in submissions:
            if each.scores is None:
                _write(root / each.page("problems"), written.problems(each))
                pages.add(each.page("problems"))
        if board is not None:
            _write(root / "board.csv", delimited_columns(board, columns, ","))
            pages.add("board.csv")
        _write(root / "board.json", written.json())
        _write(root / "index.html", written.index())
        _prune(root, _PAGES, pages)
        _prune(self.cache, _RECORDS, {f"{each.key}.json" for each in submissions})


def _check(task: Task) -> None:
    """Refuse what would make all submissions invalid, and scores of classes that none of them can have."""
    settings, rows = task.settings, task.reference
    if settings.strict:
        misread = align(rows, rows, settings, task.durations).findings.misread("reference")
        if misread:
            raise EvaluationError("\n".join([*misread, STRICT]))
        absent = [label for label in settings.classes or () if label not in rows.classes]
        if absent:
            hint = did_you_mean(absent[0], rows.classes)
            raise SettingsError(
                f"the reference has no {listing(absent, 'class')} of --classes or --preset{hint}; with "
                "--strict no submission could be valid"
            )
    for text in (task.rank_by, *task.columns):
        name = ScoreName.parse(text)
        unknown = name.class_name is not None and name.class_name not in (settings.classes or rows.classes)
        if unknown and name.group is None:
            raise SettingsError(f"{text}: no class of the reference is named {name.class_name!r}")


# The files of a site, and of the cache.


def _opened(name: str, submissions: str | os.PathLike[str], option: str, site: Path | None = None) -> Path:
    """Return the real path of a folder, which is made; neither among the submissions nor in the site."""
    if not name or "\0" in name:
        reason = "it has a null character" if name else "the name is empty"
        raise OutputError(f"{name!r}: cannot be written: {reason}")
    root, folder = Path(os.path.realpath(name)), Path(os.path.realpath(submissions))
    if root.is_relative_to(folder):
        raise SettingsError(f"{option} {name}: is in the folder of submissions; expected another one")
    if site is not None and root.is_relative_to(site):
        wrong = f"{option} {name}: is in the site, which is published"
        raise SettingsError(f"{wrong}; expected another folder")
    _make_folder(root, name)
    return root


def _make_folder(path: Path, name: str = "") -> None:
    """Make a folder, if it is not there; raises OutputError, where it is called by its path or a name."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"{name or path}: cannot be written: {reason}") from error


def _mark(root: Path, name: str) -> None:
    """Mark a folder as a site of ours; raises OutputError for one of others."""
    if os.path.lexists(root / MARK):
        return
    other = next((each for each in _OURS if os.path.lexists(root / each)), None)
    if other is not None:
        raise OutputError(
            f"{name}: is not a site of this command, and has {other!r}, which would be replaced; "
            "expected a new folder"
        )
    write_atomic(root / MARK, "Made by soft-sed-eval board, which replaces its files.\n")


def _write(path: Path, content: str | bytes) -> None:
    """Write a file unless it holds just that: who publishes a site sees what changed."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    _make_folder(path.parent)
    if _bytes(path) != data:
        write_atomic(path, data)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _prune(folder: Path, patterns: Sequence[str], stay: Collection[str]) -> None:
    """Take away the files of some patterns that are of submissions that are no more."""
    with contextlib.suppress(OSError):
        for path in [path for pattern in patterns for path in folder.glob(pattern)]:
            if path.relative_to(folder).as_posix() not in stay and path.is_file():
                path.unlink()


def _stored(path: Path, key: str, kind: type[T]) -> T | None:
    """Return what a file of the cache has under a key, None where that is not there as it was left."""
    digest, _, text = _bytes(path).partition(b"\n")
    with contextlib.suppress(msgspec.ValidationError):
        if digest == _digest(key, text):
            return msgspec.convert(json.loads(text), kind)
    return None


def _store(path: Path, key: str, document: object) -> None:
    """Store an object under a key. Names may hold what no UTF-8 has: ASCII keeps them as they are."""
    text = json.dumps(msgspec.to_builtins(document), sort_keys=True, separators=(",", ":")).encode("ascii")
    _write(path, _digest(key, text) + b"\n" + text)


def _digest(key: str, text: bytes) -> bytes:
    """Return the hash of a document of the cache, and of its key: another's is not taken for it."""
    return sha256(key.encode("ascii") + text).hexdigest().encode("ascii")
