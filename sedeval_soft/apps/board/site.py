"""A leaderboard as a site of static pages, from a folder of untrusted submissions: none stops the others.

A submission is a file of a form that can be read, or a folder of tables, directly in the folder of all. Links
are not followed: one could lead to the reference.

A cache beside the site saves the next build from doing all of it again. It has JSON documents, each named by
a hash of all its inputs: one for the outcome of each submission, one for the results of pairs. Documents that
cannot be read are made anew; no document is ever run.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar, Unpack, get_args

import msgspec

from sedeval_soft import __version__
from sedeval_soft.api import (
    MAX_PROBLEMS,
    PARTED,
    Durations,
    Parted,
    Task,
    check_text,
    is_points,
    limits_from,
    path_of,
    ranking_of,
    read_lengths,
    settings_for_scores,
    settings_of_points,
    to_rows,
    validate,
    with_folds,
    with_points,
)
from sedeval_soft.apps.board.apart import BYTES, SECONDS, LostError, apart, of_memory
from sedeval_soft.apps.board.board_page import (
    OF_SCORES,
    About,
    BoardPages,
    Outcome,
    Submission,
    ranking_warnings,
    slugs,
)
from sedeval_soft.checks import NO_DURATIONS, SEVERITIES, STRICT
from sedeval_soft.comparison import (
    RANK_BY,
    Board,
    Comparisons,
    Paired,
    Parts,
    check_baseline,
    rank_scores,
    settings_for,
)
from sedeval_soft.errors import EvaluationError, InputError, Problem, SettingsError, counted, quoted, visible
from sedeval_soft.evaluation import (
    Progress,
    Scores,
    Shard,
    UnknownScoreError,
    finite,
    not_computed,
    pack_shard,
    parts_for,
    percentile,
    score_shard,
    tuned_shard,
    unpack_shard,
)
from sedeval_soft.fields import Keywords
from sedeval_soft.measures import ScoreName, Tally, group_of
from sedeval_soft.memory import RoomError, given_limit, memory_limited, room
from sedeval_soft.plan import THRESHOLDED
from sedeval_soft.report import (
    OutputError,
    delimited_columns,
    json_document,
    locked,
    plotly_name,
    plotly_script,
    shown_scores,
    side_by_side,
    write_atomic,
)
from sedeval_soft.settings import Settings, in_form
from sedeval_soft.settings_files import read_yaml
from sedeval_soft.tables import (
    LIMITS,
    OTHER_EXTENSIONS,
    TEXT_EXTENSIONS,
    EventTable,
    Limits,
    extension_of,
    listing,
    mend_command,
    over_limit,
    spelled,
    table_stem,
    unreadable,
    visible_entries,
)
from sedeval_soft.timeline import align

T = TypeVar("T")

Test = Literal["exchange", "none"]
"""The tests of differences between submissions: as `compare` does, or none."""

MARK = ".soft-sed-eval-board"
"""A file that marks a folder as a site of this program: folders of others are never replaced or deleted."""

_MARKED = "Made by soft-sed-eval board, which replaces its files.\n"

_OTHER = "another board is being written to it; wait until that is done, or give -o another folder"

_NEEDS = (
    *(__name__, "sedeval_soft.tables.parquet", "sedeval_soft.measures.confusion"),
    *("pyarrow.csv", "scipy.special", "jinja2", "difflib"),
)
"""Modules that submissions are looked at with: they are imported once for all."""

_PAGES = ("reports/*.html", "problems/*.html", "data/*.json", "assets/plotly-*.min.js", "board.csv")
"""Files that are made for one submission, or one release: those that are left from before are deleted."""

_OURS = (MARK, "index.html", "board.json", "board.csv", "reports", "problems", "data", "assets")
"""Files and folders of a site."""

_FORM = 4
"""The version of records: records of another version are made again."""

_RECORDS = (f"{'[0-9a-f]' * 64}.json",)
"""Files of the cache, one for each submission."""

_SHOWN = 200
"""Characters of a problem that are shown."""

_LARGEST = 1 << 16
"""The most bytes of a file on who submits."""

_KEYS = About.__struct_fields__

_WEB = re.compile(r"(?!.*[\"'<>\\`])https?://[a-z0-9.-]+(:[0-9]+)?([/?#][!-~]*)?", re.IGNORECASE | re.ASCII)
"""Addresses of pages; quotes and brackets are not for them."""

_DESCRIPTION = ".yaml"
"""The extension of a file on who submits: it is named after the submission."""

_READ = TEXT_EXTENSIONS | OTHER_EXTENSIONS


@dataclass(frozen=True, slots=True)
class Site:
    """A site that was built.

    - board: of the valid submissions; None without a valid one.
    - invalid: the number of problems of each invalid submission, by name; first: the first problem of each.
    - scored: the names of the submissions that were scored anew; the others were unchanged.
    - ignored: files that are not submissions.
    - warnings: for the organiser; ranking: the warnings on the ranking, as on few files that make all
      submissions tie.
    """

    board: Board | None
    invalid: Mapping[str, int]
    scored: tuple[str, ...]
    ignored: tuple[str, ...]
    warnings: tuple[str, ...]
    first: Mapping[str, str]
    ranking: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """Return a line for each invalid submission, with its first problem, and a line for all."""
        lines = []
        for name, count in self.invalid.items():
            first, of = visible(self.first.get(name, "")), "problem" if count == 1 else "problems, the first"
            first = first[:_SHOWN] + "..." * (len(first) > _SHOWN)
            lines.append(f"invalid: {visible(name)}: {count} {of}: {first}")
        valid = 0 if self.board is None else len(self.board.systems)
        total = valid + len(self.invalid)
        rest = f"{len(self.invalid)} invalid; {total - len(self.scored)} unchanged"
        return "\n".join([*lines, f"{counted(total, 'submission')}: {valid} ranked, {rest}"])


def build_site(
    submissions: str | os.PathLike[str],
    reference: Any,  # noqa: ANN401 - as for evaluate
    site: str | os.PathLike[str],
    *,
    cache: str | os.PathLike[str] | None = None,
    baseline: str | None = None,
    scores: Sequence[str] = (),
    title: str = "Leaderboard",
    reports: bool = True,
    ties: Test | None = None,
    time_limit: float | None = SECONDS,
    durations: Durations | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Site:
    """Score all submissions of a folder, and write a leaderboard of them with a page for each.

    - site: the folder to write. cache: a folder for results of earlier builds; beside the site by default.
    - baseline: as for `compare`, by its name or its file's.
    - scores: further ones that are shown; by default the main ones.
    - reports: whether each submission has one: a report also shows the reference.
    - ties: the test of two submissions, `exchange` as in `compare`, or `none`; None for exchange unless that
      takes long, else none.
    - time_limit: seconds that each submission may take to be read, scored and reported, in a separate
      process; None for any time.
    A process may take the memory that is given, else 4 GiB or 80 % of the free memory. progress: called with
    the numbers of submissions done and of all. Others as for `evaluate`.

    Raises InputError where the reference or the folder cannot be read, SettingsError for arguments,
    OutputError where the site cannot be written, or another board is being written to it. The page of a
    submission shows its problems.
    """
    rank_by, settings, values = ranking_of(settings, values)
    if time_limit is not None:
        in_form(
            "time_limit in seconds", time_limit, [{"type": "number", "exclusiveMinimum": 0, "maximum": 1e9}]
        )
    if ties is not None:
        in_form("ties", ties, [{"enum": get_args(Test)}])
    scores = in_form("scores", scores, [{"type": "array", "items": {"type": "string"}}])
    check_text("title", title)
    path_of(submissions, "submissions", "a folder of tables")
    path_of(site, "site", "a folder to write")
    if cache is not None:
        path_of(cache, "cache", "a folder to write")
    limits = limits_from(limits, values)
    names = (rank_by, *scores) if rank_by else scores
    settings = with_folds(settings_for_scores(names, settings, values), folds)
    if limits.points:
        settings = settings_of_points(settings, [{0.5: None}])
    rows = to_rows(reference, "reference", settings, limits)
    rows = replace(rows, origin=replace(rows.origin, name=Path(rows.origin.name).name))
    lengths = read_lengths(durations, limits)
    rank_by = rank_by or RANK_BY[rows.has_values]
    task = Task(
        rows,
        settings,
        lengths,
        folds,
        by,
        limits,
        rank_by,
        tuple(dict.fromkeys(str(ScoreName.parse(name)) for name in scores)),
    )
    _check(task)
    candidates, ignored, warnings = find_submissions(submissions, limits, reference)
    # A file's own name is its own, whoever comes to be called alike without the extension.
    baseline = next((each.name for each in candidates if each.entry == baseline), baseline)
    root = _opened(os.fspath(site), submissions, "-o")
    _check_ours(root, os.fspath(site))
    _refuse_links([root / name for name in _OURS])
    with locked(root / MARK, f"{os.fspath(site)}: {_OTHER}", _MARKED):
        stored = _opened(f"{root}.cache" if cache is None else os.fspath(cache), submissions, "--cache", root)
        test = ties or _test_for(rank_by, settings)
        _refuse_links([stored])
        ends_known = lengths is not None or settings.regions is not None
        warnings = warnings if ends_known else [NO_DURATIONS, *warnings]
        builder = _Builder(task, baseline, title, reports, test, time_limit, root, stored, warnings)
        with memory_limited(given_limit() or min(BYTES, room())):
            done, scored = builder.look_at(candidates, progress)
        board = builder.compare(done)
        builder.write(done, board)
    invalid = [each for each in done if each.scores is None]
    return Site(
        board=board,
        invalid={each.name: each.outcome.n_problems for each in invalid},
        scored=tuple(scored),
        ignored=tuple(ignored),
        warnings=tuple(builder.warnings),
        first={each.name: str(each.outcome.problems[0]) for each in invalid if each.outcome.problems},
        ranking=ranking_warnings(board, done),
    )


def _test_for(rank_by: str, settings: Settings) -> Test:
    """Return the default test of a board.

    If each replicate uses all thresholds, resampling one system takes longer than scoring it.
    """
    name = ScoreName.parse(rank_by)
    slow = (name.basis, name.reading) in THRESHOLDED and not settings.fixed_thresholds
    return "none" if slow or group_of(rank_by) or "psds" in name.measure else "exchange"


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds a site: what comes of each submission, the board of all, the pages.

    time_limit: seconds for each submission, None for any time. root, cache: the folders of the site, and of
    what need not be computed again.
    """

    task: Task
    baseline: str | None
    title: str
    reports: bool
    test: Test
    time_limit: float | None
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
            outcome = _stored(self.cache / f"{submission.key}.json", submission.key, Outcome)
            # Pages that were changed or lost are made again.
            if outcome is None or outcome.pages != self._hashes(outcome.pages):
                outcome = self._anew(submission)
                scored.append(submission.name)
            scores = outcome.scores_of(submission.name, self.task.settings)
            done.append(replace(submission, outcome=outcome, scores=scores))
            if progress is not None:
                progress(len(done), len(submissions))
        return done, scored

    def _hashes(self, pages: Iterable[str]) -> dict[str, str]:
        return {path: sha256_of(self.root / path) for path in pages}

    def _anew(self, submission: Submission) -> Outcome:
        """Let a submission be looked at by a process of its own, and write the pages that are of it alone."""
        if submission.outcome.problems:
            return submission.outcome
        title = self.title if self.reports else None
        results = apart(look_at, submission, self.task, title, seconds=self.time_limit, needs=_NEEDS)
        outcome, pages, reason = None, dict[str, str | bytes](), ""
        try:
            with contextlib.closing(results):
                outcome, data = next(results)
                if data is not None:
                    pages[submission.page("data")] = data
                for page, reason in results:  # noqa: B007 - one, where there is a report
                    pages |= {submission.page("reports"): page} if page is not None else {}
        except (LostError, MemoryError) as error:
            reason = of_memory() if isinstance(error, MemoryError) else str(error)
        if outcome is None:
            outcome = Outcome((Problem(submission.entry, reason),), 1)
        elif reason:
            # It has its scores, and costs nobody else anything.
            self.warnings.append(f"{submission.name}: there is no report: {reason}")
        for path, content in pages.items():
            _write(self.root / path, content)
        # What was short this time may not be short the next time: nothing of that is kept.
        lasting = outcome.lasting and not reason
        outcome = msgspec.structs.replace(outcome, pages=self._hashes(pages), lasting=lasting)
        if lasting:
            _store(self.cache / f"{submission.key}.json", submission.key, outcome)
        return outcome

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

        def shard(k: int) -> Shard:
            return unpack_shard(valid[k].name, valid[k].outcome.tally)

        def load(k: int) -> Tally:
            return shard(k).tally

        def parts(k: int) -> Parts:
            return parts_for(shard(k), rank_by, self.task.partitions(shard(k))["by"])

        # The keys of systems tell of all else that shapes what is drawn.
        key = hash_of(files, settings.replicates, settings.seed, settings.fixed_thresholds, self.test)
        stored, keys = self.cache / "comparisons.json", [each.key for each in valid]
        computed = _stored(stored, key, Comparisons) or Comparisons()
        paired = Paired(keys, files, load, rank_by, settings, computed, parts=parts)
        if settings.ci is None:
            # The score that ranks has an interval, from what is drawn to compare them.
            ends = percentile(paired.bootstrap(), settings.confidence)
            for k, (low, high) in enumerate(zip(*(end.tolist() for end in ends), strict=True)):
                score = systems[k].score(rank_by)
                if score.value is not None:
                    score = score._replace(low=finite(low), high=finite(high))
                systems[k] = replace(systems[k], scores={**systems[k].scores, score.name: score})
        board = rank_scores(systems, paired, rank_by=rank_by, baseline=self.baseline)
        _store(stored, key, computed.among(keys))
        return board

    def write(self, submissions: Sequence[Submission], board: Board | None) -> None:
        """Write the common files of all submissions, the index last; then remove files without one."""
        root, task = self.root, self.task
        pages = {path for each in submissions for path in each.outcome.pages}
        if self.reports and board is not None:
            asset = f"assets/{plotly_name()}"
            _write(root / asset, plotly_script())
            pages.add(asset)
        main = side_by_side([shown_scores(scores) for scores in board.systems]) if board else []
        # Submissions were told apart by nothing where nothing was resampled.
        drawn = board is not None and any(entry.stability is not None for entry in board.entries)
        columns = tuple(name for name in task.columns or [name for *_, name in main] if name != task.rank_by)
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
    reason = not_computed(task.rank_by, settings, lambda name, *values: " ".join((f"--{name}", *values)))
    if reason:
        raise SettingsError(f"{task.rank_by} {reason}, and would rank submissions; name another score")
    for text in (task.rank_by, *task.columns):
        name = ScoreName.parse(text)
        unknown = name.class_name is not None and name.class_name not in (settings.classes or rows.classes)
        if unknown and name.part is None:
            raise SettingsError(f"{text}: no class of the reference is named {name.class_name!r}")


# The files of a site, and of the cache.


def _opened(name: str, submissions: str | os.PathLike[str], option: str, site: Path | None = None) -> Path:
    """Return the real path of a folder, which is made; neither among the submissions nor in the site."""
    if not name or "\0" in name:
        raise OutputError(f"{name!r}: cannot be written: it is not the name of a folder")
    root, folder = Path(os.path.realpath(name)), Path(os.path.realpath(submissions))
    if root.is_relative_to(folder):
        raise SettingsError(f"{option} {name}: is in the folder of submissions; expected another one")
    if folder.is_relative_to(root):
        raise SettingsError(f"{option} {name}: has the folder of submissions in it; expected another one")
    if site is not None and (root.is_relative_to(site) or site.is_relative_to(root)):
        wrong = f"{option} {name}: is in the site, which is published, or the other way round"
        raise SettingsError(f"{wrong}; expected another folder")
    _make_folder(root, name)
    return root


def _make_folder(path: Path, name: str = "") -> None:
    """Make a folder, unless it exists; raises OutputError, with its path or a name."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"{name or path}: cannot be written: {reason}") from error


def _check_ours(root: Path, name: str) -> None:
    """Refuse a folder with anything but a site; raises OutputError."""
    if os.path.lexists(root / MARK):
        return
    # A folder that is published may be under version control, or say under which name.
    others = (each.name for each in sorted(root.iterdir()) if not each.name.startswith("."))
    other = next((name for name in others if name != "CNAME"), None)
    if other is not None:
        raise OutputError(
            f"{name}: was not made by this command, and has {quoted(other)}; expected a new folder, as files "
            "of submissions that are no more are deleted there"
        )


def _refuse_links(paths: Iterable[Path]) -> None:
    """Raise OutputError for a link among some paths and their contents: a write would follow it."""
    for link in (each for path in paths for each in (path, *path.glob("*")) if each.is_symlink()):
        raise OutputError(f"{link}: is a link, which is not followed; delete it")


def _write(path: Path, content: str | bytes) -> None:
    """Write a file unless it has this content already: the publisher of a site sees the changes."""
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
    """Return the content of a cache file under a key, None if the file is missing or was changed."""
    with contextlib.suppress(ValueError, TypeError):
        found, content = json.loads(_bytes(path))
        return msgspec.convert(content, kind) if found == key else None
    return None


def _store(path: Path, key: str, document: object) -> None:
    """Store an object under a key. Names may have characters that UTF-8 lacks: ASCII keeps them."""
    _write(path, json.dumps([key, msgspec.to_builtins(document)], sort_keys=True, separators=(",", ":")))


# Which submissions there are, who submits them, and what comes of each.


def find_submissions(
    folder: str | os.PathLike[str],
    limits: Limits = LIMITS,
    reference: Any = None,  # noqa: ANN401 - as for evaluate
) -> tuple[list[Submission], list[str], list[str]]:
    """Return the submissions of a folder by name, the names of files that are none, and warnings.

    Hidden files are ignored; the reference, which may be in the same folder, is not a submission. Problems of
    a file on who submits are warnings. Raises InputError if the path is not a folder.
    """
    try:
        entries = visible_entries(os.fspath(folder), limits)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        message = f"cannot be read as a folder of submissions: {why}"
        raise unreadable(spelled(os.fspath(folder)), message) from error
    described = {spelled(path.name): path for path in entries if path.suffix.lower() == _DESCRIPTION}
    others = [path for path in entries if spelled(path.name) not in described]
    handed_in = [path for path in others if _is_folder(path) or extension_of(path.name) in _READ]
    named = _named([path for path in handed_in if not _is_same(path, reference)])
    submissions, warnings, used = [], [], dict[str, list[str]]()
    for name, slug in slugs(sorted(named)).items():
        path, about, digest, problems = named[name], About(), "", tuple[Problem, ...]()
        entry = spelled(path.name)
        try:
            digest = _digest(path, entry, limits)
        except InputError as error:
            problems = error.problems
        except OSError as error:
            problems = unreadable(entry, f"cannot be read: {error.strerror or error}").problems
        # Where two submissions are called alike, what says who submits them is of both.
        texts = (described.get(f"{each}{_DESCRIPTION}") for each in (name, _stem(path)))
        description = next(filter(None, texts), None)
        if description is not None:
            used.setdefault(spelled(description.name), []).append(entry)
            try:
                about = read_about(description, description.name)
            except InputError as error:
                warnings.append(str(error))
        outcome = Outcome(problems, len(problems), lasting=False)
        submissions.append(Submission(name, slug, path, entry, digest, about, outcome))
    for text, of in used.items():
        if len(of) > 1:
            warnings.append(
                f"{text}: is of {listing(of, 'submission')}; if several teams sent them, rename all but one "
                f"and write a {_DESCRIPTION} file for each"
            )
    ignored = [spelled(path.name) for path in others if path not in named.values()]
    return submissions, sorted([*ignored, *(described.keys() - used)]), list(dict.fromkeys(warnings))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_same(path: Path, reference: Any) -> bool:  # noqa: ANN401 - as for evaluate
    """Return whether a path itself, not the target of a link, is the reference."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return os.path.samestat(path.lstat(), Path(reference).stat())
    return False


def _stem(path: Path) -> str:
    """Return the name of a submission without extension."""
    return spelled(path.name if _is_folder(path) else table_stem(path.name))


def _named(paths: Sequence[Path]) -> dict[str, Path]:
    """Return submissions by names without extension, by whole names where others are called the same."""
    named: dict[str, Path] = {}
    called = [(path, _stem(path), spelled(path.name)) for path in paths]
    times = Counter(name for _, stem, entry in called for name in {stem, entry})
    for path, stem, entry in called:
        name = stem if times[stem] == 1 else entry
        # Bytes of a name that are no text are spelled as another name may have them.
        while name in named:
            name += "'"
        named[name] = path
    return named


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, empty if the file does not exist."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def _digest(path: Path, source: str, limits: Limits) -> str:
    """Return the hash of a file or a folder; raises InputError for links, devices and large files."""
    is_folder = stat.S_ISDIR(path.lstat().st_mode)
    digest = hashlib.sha256(b"folder\n")
    members = limits.few_enough(source, map(str, path.rglob("*"))) if is_folder else [str(path)]
    for member in map(Path, sorted(members)):
        mode = member.lstat().st_mode
        name = spelled(member.relative_to(path).as_posix() if is_folder else member.name)
        limits.check(source, "size", member.lstat().st_size, "bytes or more")
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            what = "a link, which is not followed" if stat.S_ISLNK(mode) else "neither a file nor a folder"
            place = f"{source}/{name}" if is_folder else source
            raise unreadable(place, f"is {what}; expected a file or a folder of files")
        digest.update(f"{len(name)} {name} {sha256_of(member)}\n".encode())
    return digest.hexdigest() if is_folder else sha256_of(path)


def read_about(path: Path, name: str) -> About:
    """Return the content of a file; name: for messages. Raises InputError if it cannot be used."""
    try:
        state = path.lstat()
        if not stat.S_ISREG(state.st_mode) or state.st_size > _LARGEST:
            raise ValueError(
                f"is a link or a device, or too large; expected a file of {_LARGEST} bytes or fewer"
            )
        content = msgspec.convert(read_yaml(str(path)) or {}, dict[str, Any])
        given = {
            key: " ".join(str(value).split()) if isinstance(value, str | int | float) else value
            for key, value in content.items()
            if value is not None
        }
        about = msgspec.convert(given, About)
        if about.url and not _WEB.fullmatch(about.url):
            raise ValueError(f"url {about.url!r} is not the address of a page, with https:// before it")
        return about
    except InputError as error:
        raise InputError(replace(error.problems[0], source=name)) from error
    except OSError as error:
        raise InputError(Problem(name, f"cannot be read: {error.strerror or error}")) from error
    except ValueError as error:
        raise InputError(Problem(name, f"{error}; expected the keys {', '.join(_KEYS)}")) from error


def task_key(task: Task) -> str:
    """Return a hash of all that shapes the scores of a submission but itself."""
    settings, origin = task.settings, task.reference.origin
    # Parts of the files are dealt by the seed, which settings tell of with intervals only.
    seed = settings.seed if isinstance(settings.cross_tune, int) else None
    return hash_of(
        *(_FORM, __version__, settings.to_dict(), seed, task.rank_by, task.columns),
        *(origin.name, origin.sha256, task.durations and dict(task.durations)),
        *(_identity(task.folds, "folds"), _identity(task.by, "by"), asdict(task.limits)),
    )


def look_at(
    submission: Submission, task: Task, title: str | None
) -> Iterator[tuple[Outcome, str | None] | tuple[bytes | None, str]]:
    """Yield the outcome of a submission, and its page of scores, None without scores; then its report.

    title: of the board, None without reports. For a report that fails, yield: None, and why.
    """
    outcome, scores, rows = score_submission(submission, task)
    yield outcome, None if scores is None else json_document(scores.to_dict())
    if scores is None or title is None:
        return
    from sedeval_soft import Choices, write_report

    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        try:
            write_report(
                task.reference,
                {submission.name: rows},
                path,
                choices=Choices(
                    title=submission.name,
                    plotly=f"../assets/{plotly_name()}",
                    home=("../index.html", title),
                ),
                durations=task.durations,
                folds=task.folds,
                by=task.by,
                limits=task.limits,
                settings=task.settings,
            )
        except Exception as error:
            yield None, of_memory() if isinstance(error, MemoryError) else str(error)
        else:
            yield path.read_bytes(), ""


def score_submission(submission: Submission, task: Task) -> tuple[Outcome, Scores | None, EventTable | None]:
    """Score a submission, or find its problems; raises no error that is the submission's fault.

    Returns the outcome to store, and for a valid submission all its scores and its rows.
    """
    try:
        return _score(submission, task)
    except UnknownScoreError:
        raise  # asked for by who runs this
    except EvaluationError as error:
        problems, number = _problems(error, submission, task)
        lasting = not isinstance(error, RoomError) and all(p.code != "unreadable-file" for p in problems)
        return Outcome(tuple(problems), number, lasting=lasting), None, None
    except MemoryError:
        problem = Problem(submission.entry, of_memory())
    except Exception as error:
        # A defect of ours that one submission brings about is told of that one.
        defect = f"defect of this program: {type(error).__name__}: {error}"
        problem = Problem(submission.entry, defect)
    return Outcome((problem,), 1, lasting=False), None, None


def _score(submission: Submission, task: Task) -> tuple[Outcome, Scores, EventTable]:
    name = submission.name
    system = with_points(submission.path, task.limits) if task.limits.points else submission.path
    rows = to_rows(system, "system", task.settings, task.limits)
    # They are of a file by its name: where that lay is nobody's concern.
    rows = replace(rows, origin=replace(rows.origin, name=submission.entry))
    shard = task.count(rows, name)
    partitions = task.partitions(shard)
    scores = score_shard(shard, __version__, **partitions, points=is_points(rows))
    scores.score(task.rank_by)
    # What it is compared by is counted by itself: no more than that need be stored, and drawn again.
    settings = replace(task.settings, worst=0, reference_sweep=False)
    if ScoreName.parse(task.rank_by).part is None:
        settings = replace(settings, groups={}, scenes={}, means=())
    compared = task.count(rows, name, settings_for(task.rank_by, settings))
    values: dict[str, Any] = {each: getattr(scores, each) for each in OF_SCORES}
    values["tally"] = pack_shard(tuned_shard(compared, partitions["folds"]), __version__)
    values["scores"] = {
        score.name: score
        for score in scores.scores.values()
        if score.name in {task.rank_by, *task.columns} or (score.average is not None and score.group is None)
    }
    return Outcome(**values), scores, rows


def _problems(error: EvaluationError, submission: Submission, task: Task) -> tuple[list[Problem], int]:
    """Return the problems: the reason of the failure, the findings of a validation; and their number."""
    path, entry = os.fspath(submission.path), submission.entry
    if not isinstance(error, InputError):
        # What --strict makes an error is one line for each, and a last one of how to call the command.
        lines = [line for line in str(error).splitlines() if line != STRICT]
        return [Problem(entry, line.removeprefix(f"{entry}: ")) for line in lines[:MAX_PROBLEMS]], len(lines)
    closer: Sequence[Problem] = ()
    number = 0
    if not over_limit(error):
        with contextlib.suppress(EvaluationError):
            validation = validate(
                submission.path,
                task.reference,
                classes=task.settings.classes,
                durations=task.durations,
                files=task.settings.files,
                limits=task.limits,
            )
            closer, number = validation.problems, sum(validation.counts.values())
    # What the closer look tells, too, is told once, and in its words.
    places = {(problem.code, problem.line, problem.column) for problem in closer}
    first = [each for each in error.problems if (each.code, each.line, each.column) not in places]
    # Why it is not scored comes first.
    both = sorted((*first, *closer), key=lambda problem: SEVERITIES.index(problem.severity))
    listed = [_without_path(each, path, entry) for each in both[:MAX_PROBLEMS]]
    return listed, max(number + len(first), len(error.problems) + int(error.more))


def _without_path(problem: Problem, path: str, entry: str) -> Problem:
    """Return a problem of a submission without the path of the file: untrusted readers see it."""
    if not problem.source.startswith(path):
        return problem
    source = entry + problem.source[len(path) :]
    message = problem.message.replace(mend_command(problem.source), mend_command(source))
    return replace(problem, source=source, message=message)


def hash_of(*values: Any) -> str:  # noqa: ANN401 - whatever JSON has
    """Return the SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode("ascii")).hexdigest()


def _identity(parted: Parted | None, what: str) -> object:
    """Return the identity of a partition: the hash of its table, its pattern, or itself."""
    if parted is None or isinstance(parted, Mapping):
        return parted and dict(parted)
    name = path_of(parted, what, PARTED)
    return name if "{" in name else [sha256_of(Path(name))]
