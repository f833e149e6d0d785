"""A leaderboard as a site of static pages, from a folder of submissions.

A cache beside the site saves the next build from doing all of it again. It has a JSON document for what came
of each submission, by a hash of all that shaped it, and one for what was computed of pairs. Each stands below
the hash of its bytes: what is damaged, or of other inputs, is made anew; nothing in it is ever run.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache as cached
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, Unpack

import msgspec

from sedeval_soft.api.comparison import Task
from sedeval_soft.api.evaluation import settings_for_scores, with_folds
from sedeval_soft.api.report import write_report
from sedeval_soft.api.sources import Columns, Durations, Parted, limits_from, read_lengths, to_rows
from sedeval_soft.comparison.board import About, Board, Record
from sedeval_soft.comparison.compare import RANK_BY, check_baseline, check_rank_by, rank_scores
from sedeval_soft.comparison.paired import TESTS, Comparisons, Paired, Test, test_for
from sedeval_soft.errors import EvaluationError, InputError, SettingsError
from sedeval_soft.evaluation.intervals import percentile
from sedeval_soft.evaluation.resample import Progress
from sedeval_soft.evaluation.scores import finite
from sedeval_soft.evaluation.tally_file import unpack_shard
from sedeval_soft.fields import Keywords
from sedeval_soft.html.board_page import BoardPages, Place, Shown, slugs
from sedeval_soft.html.report_page import Choices, plotly_name, plotly_script
from sedeval_soft.measures.registry import ScoreName
from sedeval_soft.measures.tally import Tally
from sedeval_soft.names import did_you_mean
from sedeval_soft.report import render
from sedeval_soft.report.board import side_by_side
from sedeval_soft.report.delimited import delimited_columns
from sedeval_soft.report.write import OutputError, write_atomic
from sedeval_soft.settings import Settings
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.limits import Limits
from sedeval_soft.timeline.alignment_report import NO_DURATIONS, STRICT
from sedeval_soft.timeline.recordings import align
from sedeval_soft.tools.submissions import (
    Challenge,
    Outcome,
    Submission,
    find_submissions,
    key_of,
    read_about,
    score_submission,
    sha256_of,
)

T = TypeVar("T")

MARK = ".soft-sed-eval-board"
"""A file that says that a folder is a site of ours: nothing of others is replaced or taken away."""

_OURS = ("index.html", "board.json", "board.csv", "reports", "problems", "data", "assets")

_PAGES = {
    "reports": re.compile(r"[A-Za-z0-9._-]+\.html"),
    "problems": re.compile(r"[A-Za-z0-9._-]+\.html"),
    "data": re.compile(r"[A-Za-z0-9._-]+\.json"),
    "assets": re.compile(r"plotly-[A-Za-z0-9._-]+\.min\.js"),
}
"""The folders of a site, and the names of files in them that are made for one submission, or one release."""

_MAGIC = b"soft-sed-eval kept 1 "
_RECORD = re.compile(r"[0-9a-f]{64}\.(json|tally)")
"""Files of the cache; earlier versions had tallies apart."""


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
    task = Task(rows, settings, read_lengths(durations, limits), folds, by, limits)
    challenge = Challenge(task, rank_by, tuple(dict.fromkeys(scores)))
    _check_classes(challenge)
    _check_reference(task)
    entries, others = find_submissions(submissions, limits)
    ignored = (*others, *(each.entry for each in entries if _is_same(each.path, reference)))
    entries = [each for each in entries if not _is_same(each.path, reference)]
    # A file's own name is its own, whoever comes to be called alike without the extension.
    baseline = next((each.name for each in entries if each.entry == baseline), baseline)
    root = _opened(os.fspath(site), submissions, "-o")
    _mark(root, os.fspath(site))
    stored = _opened(f"{root}.cache" if cache is None else os.fspath(cache), submissions, "--cache", root)
    test = ties or test_for(rank_by, settings)
    return _Builder(challenge, baseline, title, reports, test, root, stored).build(entries, ignored, progress)


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds a site: what comes of each submission, the board of all, the pages.

    root, cache: the folders of the site, and of what need not be computed again.
    """

    challenge: Challenge
    baseline: str | None
    title: str
    reports: bool
    test: Test
    root: Path
    cache: Path
    warnings: list[str] = field(default_factory=list)

    def build(
        self, submissions: Sequence[Submission], ignored: tuple[str, ...], progress: Progress | None
    ) -> Site:
        """Look at what changed, compare all, write what differs, and take away what is no more."""
        challenge_key, scored = self.challenge.key(), []
        places = slugs([submission.name for submission in submissions])
        if self.challenge.task.durations is None:
            self.warnings.append(NO_DURATIONS)
        shown: list[Shown] = []
        for number, submission in enumerate(submissions, 1):
            place, key = places[submission.name], key_of(submission, challenge_key)
            record = _stored(self.cache, key, Record)
            if record is None or record.key != key or not self._is_current(record, place):
                record = self._anew(submission, key, place)
                scored.append(submission.name)
            about = About()
            if submission.description is not None:
                try:
                    about = read_about(submission.description, submission.description.name)
                except InputError as error:
                    # It is told, and costs nobody a rank.
                    self.warnings.append(str(error))
            shown.append(Shown(record, about, place, submission.digest))
            if progress is not None:
                progress(number, len(submissions))
        board = self._board([each.record for each in shown if each.record.scored])
        self._write(shown, board)
        _prune(self.cache, _RECORD, {f"{each.record.key}.json" for each in shown})
        refused = [each.record for each in shown if not each.record.scored]
        return Site(
            board,
            {record.name: record.n_problems for record in refused},
            tuple(scored),
            ignored,
            tuple(self.warnings),
            {record.name: str(record.problems[0]) for record in refused if record.problems},
        )

    def _made_by(self) -> str:
        return plotly_name() if self.reports else ""

    def _is_current(self, record: Record, place: Place) -> bool:
        """Return whether all that was made of a submission is as it was left."""
        if record.scored is None:
            return True
        pages = {place.data, place.report} if self.reports else {place.data}
        return (record.made_by, {*record.pages}) == (self._made_by(), pages) and all(
            sha256_of(self.root / path) == digest for path, digest in record.pages.items()
        )

    def _anew(self, submission: Submission, key: str, place: Place) -> Record:
        """Score a submission, and write the pages that are of it alone."""
        outcome = score_submission(submission, self.challenge, key)
        record = outcome.record
        if outcome.scores is not None:
            _write(self.root / place.data, render([outcome.scores], "json"))
            pages = [place.data]
            if self.reports and self._report(outcome, place):
                pages.append(place.report)
            hashes = {path: sha256_of(self.root / path) for path in pages}
            record = replace(record, pages=hashes, made_by=self._made_by())
        if outcome.lasting:
            _store(self.cache, key, record)
        return record

    def _report(self, outcome: Outcome, place: Place) -> bool:
        """Write the report of a submission; return whether one could be made of it."""
        task, name = self.challenge.task, outcome.record.name
        home = ("../index.html", self.title)
        try:
            write_report(
                task.reference,
                {name: outcome.rows},
                _made(self.root / place.report),
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

    def _board(self, records: Sequence[Record]) -> Board | None:
        """Return the board of the submissions that have scores."""
        rank_by, settings = self.challenge.rank_by, self.challenge.task.settings
        if self.baseline is not None:
            check_baseline(self.baseline, [record.name for record in records])
        if not records:
            return None
        systems = [record.scores(settings) for record in records]
        # What one submission alone names must change no other's numbers.
        files = sorted(set.intersection(*({*scores.files} for scores in systems)))
        if self.test == "none" or len(files) < 2:
            return rank_scores(systems, None, rank_by=rank_by, baseline=self.baseline)

        @cached
        def load(k: int) -> Tally:
            scored = records[k].scored
            return unpack_shard(records[k].name, scored.tally if scored else b"").tally

        keys = [record.key for record in records]
        before = _stored(self.cache, "comparisons", Comparisons) or Comparisons()
        paired = Paired(keys, files, load, rank_by, settings, self.test).continuing(before)
        if settings.ci is None:
            # The score that ranks has an interval, from what is drawn to compare them.
            ends = percentile(paired.bootstrap(), settings.confidence)
            for k, (low, high) in enumerate(zip(*(end.tolist() for end in ends), strict=True)):
                score = systems[k].score(rank_by)
                if score.value is not None:
                    score = replace(score, low=finite(low), high=finite(high))
                systems[k] = replace(systems[k], scores={**systems[k].scores, score.name: score})
        board = rank_scores(systems, paired, rank_by=rank_by, baseline=self.baseline)
        _store(self.cache, "comparisons", paired.after)
        return board

    def _write(self, shown: Sequence[Shown], board: Board | None) -> None:
        """Write what all submissions share, the index last; then take away what is of none."""
        root, challenge, task = self.root, self.challenge, self.challenge.task
        pages = {path for each in shown for path in each.record.pages}
        if self.reports and any(each.record.scored for each in shown):
            asset = f"assets/{plotly_name()}"
            _write(root / asset, plotly_script())
            pages.add(asset)
        main = () if board is None else tuple(name for _, _, name in side_by_side(board.systems))
        # Submissions were told apart by nothing where nothing was resampled.
        drawn = board is not None and any(entry.stability is not None for entry in board.entries)
        columns = tuple(name for name in challenge.columns or main if name != challenge.rank_by)
        written = BoardPages(
            title=self.title,
            rank_by=challenge.rank_by,
            columns=columns,
            settings=task.settings,
            test=self.test if drawn else "none",
            reference=task.reference.origin.name,
            sha256=task.reference.origin.sha256,
            warnings=tuple(self.warnings),
            shown=shown,
            board=board,
        )
        for each in shown:
            if not each.record.scored:
                _write(root / each.place.problems, written.problems(each))
                pages.add(each.place.problems)
        if board is not None:
            _write(root / "board.csv", delimited_columns(board, columns, ","))
        else:
            _prune(root, re.compile(r"board\.csv"), ())
        _write(root / "board.json", written.json())
        _write(root / "index.html", written.index())
        for folder, names in _PAGES.items():
            _prune(
                root / folder, names, {Path(path).name for path in pages if Path(path).parent.name == folder}
            )


def _is_same(path: Path, reference: object) -> bool:
    """Return whether a path is that of the reference, which may lie among the submissions."""
    if not isinstance(reference, str | os.PathLike):
        return False
    try:
        return os.path.samestat(path.lstat(), Path(reference).stat())
    except (OSError, ValueError):
        return False


def _check_reference(task: Task) -> None:
    """Refuse a reference that is probably misread, where that makes all submissions invalid."""
    if task.settings.strict:
        rows = task.reference
        misread = align(rows, rows, task.settings, task.durations).findings.misread("reference")
        if misread:
            raise EvaluationError("\n".join([*misread, STRICT]))


def _check_classes(challenge: Challenge) -> None:
    """Refuse scores of classes that no submission can have for certain, and classes that make all invalid."""
    settings, classes = challenge.task.settings, challenge.task.reference.classes
    absent = [label for label in settings.classes or () if label not in classes] if settings.strict else []
    if absent:
        hint = did_you_mean(absent[0], classes)
        raise SettingsError(
            f"the reference has no {listing(absent, 'class')} of --classes or --preset{hint}; with "
            "--strict no submission could be valid"
        )
    for text in (challenge.rank_by, *challenge.columns):
        name = ScoreName.parse(text)
        unknown = name.class_name is not None and name.class_name not in (settings.classes or classes)
        if unknown and name.group is None:
            raise SettingsError(f"{text}: no class of the reference is named {name.class_name!r}")


# The files of a site, and of the cache.


def _opened(name: str, submissions: str | os.PathLike[str], option: str, site: Path | None = None) -> Path:
    """Return the real path of a folder, which is made; neither among the submissions nor in the site."""
    if not name:
        raise OutputError("'': cannot be written: the name is empty")
    with _refusing(name):
        root, folder = Path(os.path.realpath(name)), Path(os.path.realpath(submissions))
        if root == folder or folder in root.parents:
            raise SettingsError(f"{option} {name}: is in the folder of submissions; expected another one")
        if site is not None and (root == site or site in root.parents):
            wrong = f"{option} {name}: is in the site, which is published"
            raise SettingsError(f"{wrong}; expected another folder")
        root.mkdir(parents=True, exist_ok=True)
    return root


def _mark(root: Path, name: str) -> None:
    """Mark a folder as a site of ours; raises OutputError for one of others."""
    with _refusing(name):
        if (root / MARK).exists():
            return
        other = next((each for each in _OURS if os.path.lexists(root / each)), None)
        if other is not None:
            raise OutputError(
                f"{name}: is not a site of this command, and has {other!r}, which would be replaced; "
                "expected a new folder"
            )
        write_atomic(root / MARK, "Made by soft-sed-eval board, which replaces its files.\n")


def _made(path: Path) -> Path:
    """Return a path whose folder is made."""
    with _refusing(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _write(path: Path, content: str | bytes) -> None:
    """Write a file unless it holds just that: who publishes a site sees what changed."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    if _bytes(_made(path)) != data:
        write_atomic(path, data)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _prune(folder: Path, names: re.Pattern[str], stay: Container[str]) -> None:
    """Take away the files with some names that are of submissions that are no more."""
    with contextlib.suppress(OSError):
        for path in sorted(folder.iterdir()):
            if names.fullmatch(path.name) and path.name not in stay and path.is_file():
                path.unlink()


def _stored(cache: Path, name: str, kind: type[T]) -> T | None:
    """Return what was stored under a name, None where that is not there as it was left."""
    head, _, text = _bytes(cache / f"{name}.json").partition(b"\n")
    if head != _MAGIC + sha256(text).hexdigest().encode("ascii"):
        return None
    try:
        return msgspec.convert(json.loads(text), kind)
    except (ValueError, RecursionError, msgspec.ValidationError):
        return None


def _store(cache: Path, name: str, document: object) -> None:
    """Store an object of a dataclass. Names may hold what no UTF-8 has: ASCII keeps them as they are."""
    text = json.dumps(msgspec.to_builtins(document), sort_keys=True, separators=(",", ":")).encode("ascii")
    _write(cache / f"{name}.json", _MAGIC + sha256(text).hexdigest().encode("ascii") + b"\n" + text)


@contextlib.contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Raise OutputError where a path cannot be written."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"{name}: cannot be written: {reason}") from error
