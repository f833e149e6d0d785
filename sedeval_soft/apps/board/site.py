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
from collections.abc import Collection, Iterable, Mapping, Sequence
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
from sedeval_soft.apps.board.apart import BYTES, SECONDS, LostError, apart
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
    rank_scores,
    settings_for,
)
from sedeval_soft.errors import EvaluationError, InputError, Problem, SettingsError, counted, quoted, visible
from sedeval_soft.evaluation import (
    Progress,
    Shard,
    UnknownScoreError,
    pack_shard,
    parts_for,
    percentile,
    score_shard,
    tuned_shard,
    unpack_shard,
)
from sedeval_soft.fields import Keywords
from sedeval_soft.measures import ScoreName, group_of
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

_NEEDS = (
    *(__name__, "sedeval_soft.tables.columnar", "sedeval_soft.measures.confusion"),
    *("pyarrow.csv", "scipy.special", "jinja2", "difflib"),
)
"""Modules that submissions are looked at with: they are imported once for all."""

_PAGES = ("reports/*.html", "problems/*.html", "data/*.json", "assets/plotly-*.min.js", "board.csv")
"""Files that are made for one submission, or one release: those that are left from before are deleted."""

_OURS = (MARK, "index.html", "board.json", "board.csv", "reports", "problems", "data", "assets")
"""Files and folders of a site."""

_FORM = 4
"""The version of records: records of another version are made again."""

_SHOWN = 200
"""Characters of a problem that are shown."""

_LARGEST = 1 << 16
"""The most bytes of a file on who submits."""

_WEB = re.compile(r"(?!.*[\"'<>\\`])https?://[a-z0-9.-]+(:[0-9]+)?([/?#][!-~]*)?", re.IGNORECASE | re.ASCII)
"""Addresses of pages; quotes and brackets are not for them."""


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
    - time_limit: seconds that each submission may take to be scored in a separate process, and its report in
      another; None for any time.
    A process may take the memory that is given, else 4 GiB or 80 % of the free memory. progress: called with
    the numbers of submissions done and of all. Others as for `evaluate`.

    Raises InputError where the reference or the folder cannot be read, SettingsError for arguments,
    OutputError where the site cannot be written, or another board is being written to it. The page of a
    submission shows its problems.
    """
    rank_by, settings, values = ranking_of(settings, values)
    if time_limit is not None:
        seconds = {"type": "number", "exclusiveMinimum": 0, "maximum": 1e9}
        in_form("time_limit in seconds", time_limit, [seconds])
    if ties is not None:
        in_form("ties", ties, [{"enum": get_args(Test)}])
    scores = in_form("scores", scores, [{"type": "array", "items": {"type": "string"}}])
    check_text("title", title)
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
    if settings.strict and (misread := align(rows, rows, settings, lengths).findings.misread("reference")):
        raise EvaluationError("\n".join([*misread, STRICT]))
    candidates, ignored, warnings = find_submissions(submissions, limits, reference)
    # A file's own name is its own, whoever comes to be called alike without the extension.
    baseline = next((each.name for each in candidates if each.path.name == baseline), baseline)
    apart_from = {"the folder of submissions": submissions}
    root = _opened(path_of(site, "site", "a folder to write"), "-o", apart_from)
    _check_ours(root)
    _refuse_links([root / name for name in _OURS])
    taken = (
        f"{root}: another board is being written to it; wait until that is done, or give -o another folder"
    )
    with locked(root / MARK, taken, "Made by soft-sed-eval board, which replaces its files.\n"):
        apart_from["the site, which is published"] = root
        beside = f"{root}.cache" if cache is None else cache
        stored = _opened(path_of(beside, "cache", "a folder to write"), "--cache", apart_from)
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
        """Return submissions with their outcomes, and the names of those that were scored anew."""
        task, settings, origin = self.task, self.task.settings, self.task.reference.origin
        # All that shapes an outcome, but the submission itself.
        shaped = hash_of(
            *(_FORM, __version__, settings.to_dict(), settings.seed, task.rank_by, task.columns),
            *(origin.name, origin.sha256, task.durations and dict(task.durations), asdict(task.limits)),
            *(_identity(task.folds, "folds"), _identity(task.by, "by")),
            *((self.title, plotly_name()) if self.reports else ()),
        )
        done, scored = [], []
        for each in submissions:
            submission = replace(each, key=hash_of(shaped, each.name, each.slug, each.path.name, each.digest))
            outcome = _stored(self.cache / f"{submission.key}.json", submission.key, Outcome)
            # Pages that were changed or lost are made again.
            if outcome is None or outcome.pages != self._hashes(outcome.pages):
                outcome = self._anew(submission)
                scored.append(submission.name)
            scores = outcome.scores_of(submission.name, settings)
            done.append(replace(submission, outcome=outcome, scores=scores))
            if progress is not None:
                progress(len(done), len(submissions))
        return done, scored

    def _hashes(self, pages: Iterable[str]) -> dict[str, str]:
        return {path: sha256_of(self.root / path) for path in pages}

    def _anew(self, submission: Submission) -> Outcome:
        """Score a submission in a separate process, make its report in another, and write its pages.

        An outcome is stored unless something was short, which may not be short the next time.
        """
        if submission.outcome.problems:
            return submission.outcome
        how: dict[str, Any] = {"seconds": self.time_limit, "needs": _NEEDS}
        try:
            outcome, data = apart(score_submission, submission, self.task, **how)
        except LostError as error:
            return Outcome((Problem(submission.path.name, str(error)),), 1, lasting=False)
        pages: dict[str, str | bytes] = {} if data is None else {submission.page("data"): data}
        if pages and self.reports:
            try:
                pages[submission.page("reports")] = apart(report_on, submission, self.task, self.title, **how)
            except Exception as error:
                self.warnings.append(f"{submission.name}: there is no report: {error}")
                outcome = msgspec.structs.replace(outcome, lasting=False)
        for path, content in pages.items():
            _write(self.root / path, content)
        outcome = msgspec.structs.replace(outcome, pages=self._hashes(pages))
        if outcome.lasting:
            _store(self.cache / f"{submission.key}.json", submission.key, outcome)
        return outcome

    def compare(self, submissions: Sequence[Submission]) -> Board | None:
        """Return the board of the submissions that have scores."""
        rank_by, settings = self.task.rank_by, self.task.settings
        valid = [each for each in submissions if each.scores is not None]
        systems = [each.scores for each in valid if each.scores is not None]
        if not systems:
            return None
        # A file that one submission alone names changes no other's numbers.
        files = sorted(set.intersection(*({*scores.files} for scores in systems)))
        if self.test == "none" or len(files) < 2:
            return rank_scores(systems, None, rank_by=rank_by, baseline=self.baseline)

        def shard(k: int) -> Shard:
            return unpack_shard(valid[k].name, valid[k].outcome.tally)

        # The keys of systems include all else that shapes the replicates.
        key = hash_of(files, settings.replicates, settings.seed, settings.fixed_thresholds)
        stored, keys = self.cache / "comparisons.json", [each.key for each in valid]
        computed = _stored(stored, key, Comparisons) or Comparisons()
        paired = Paired(
            keys,
            files,
            lambda k: shard(k).tally,
            rank_by,
            settings,
            computed,
            parts=lambda k: parts_for(shard(k), rank_by, self.task.partitions(shard(k))["by"]),
        )
        if settings.ci is None:
            # The score that ranks has an interval, from the replicates by which systems are compared.
            ends = percentile(paired.bootstrap(), settings.confidence)
            for k, (low, high) in enumerate(zip(*(end.tolist() for end in ends), strict=True)):
                score = systems[k].score(rank_by)
                if score.value is not None:
                    scores = {**systems[k].scores, score.name: score.with_interval(low, high)}
                    systems[k] = replace(systems[k], scores=scores)
        board = rank_scores(systems, paired, rank_by=rank_by, baseline=self.baseline)
        _store(stored, key, computed.among(keys))
        return board

    def write(self, submissions: Sequence[Submission], board: Board | None) -> None:
        """Write the common files of all submissions, the index last; then remove files without one."""
        task = self.task
        main = side_by_side([shown_scores(scores) for scores in board.systems]) if board else []
        # Nothing was resampled if no entry has a stability: then no test was made.
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
        pages: dict[str, str | bytes] = {
            each.page("problems"): written.problems(each) for each in submissions if each.scores is None
        }
        if board is not None:
            pages["board.csv"] = delimited_columns(board, columns, ",")
        if board is not None and self.reports:
            pages[f"assets/{plotly_name()}"] = plotly_script()
        pages |= {"board.json": written.json(), "index.html": written.index()}
        for path, content in pages.items():
            _write(self.root / path, content)
        _prune(self.root, _PAGES, {*pages, *(path for each in submissions for path in each.outcome.pages)})
        _prune(self.cache, [f"{'[0-9a-f]' * 64}.json"], {f"{each.key}.json" for each in submissions})


# The files of a site, and of the cache.


def _opened(name: str, option: str, others: Mapping[str, str | os.PathLike[str]]) -> Path:
    """Return the real path of a folder, which is made; others: those that it is neither in nor around."""
    if not name or "\0" in name:
        raise OutputError(f"{name!r}: cannot be written: it is not the name of a folder")
    root = Path(os.path.realpath(name))
    for what, path in others.items():
        other = Path(os.path.realpath(path))
        if root.is_relative_to(other) or other.is_relative_to(root):
            wrong = f"{option} {name}: is in {what}, or the other way round"
            raise SettingsError(f"{wrong}; expected another folder")
    _make_folder(root)
    return root


def _make_folder(path: Path) -> None:
    """Make a folder, unless it exists; raises OutputError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error


def _check_ours(root: Path) -> None:
    """Refuse a folder with anything but a site; raises OutputError."""
    # A folder that is published may be under version control, or have a file with its address.
    names = sorted(each.name for each in root.iterdir() if each.name != "CNAME")
    others = [name for name in names if not name.startswith(".")]
    if others and not os.path.lexists(root / MARK):
        raise OutputError(
            f"{root}: was not made by this command, and has {quoted(others[0])}; expected a new folder, as "
            "files of submissions that are no more are deleted there"
        )


def _refuse_links(paths: Iterable[Path]) -> None:
    """Raise OutputError for a link among some paths and their contents: a write would follow it."""
    for link in (each for path in paths for each in (path, *path.glob("*")) if each.is_symlink()):
        raise OutputError(f"{link}: is a link, which is not followed; delete it")


def _write(path: Path, content: str | bytes) -> None:
    _make_folder(path.parent)
    write_atomic(path, content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))


def _prune(folder: Path, patterns: Sequence[str], stay: Collection[str]) -> None:
    """Take away the files of some patterns that are of submissions that are no more."""
    for path in [path for pattern in patterns for path in folder.glob(pattern)]:
        if path.relative_to(folder).as_posix() not in stay and path.is_file():
            path.unlink(missing_ok=True)


def _stored(path: Path, key: str, kind: type[T]) -> T | None:
    """Return the content of a cache file under a key, None if the file is missing or was changed."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        found, content = json.loads(path.read_bytes())
        return msgspec.convert(content, kind) if found == key else None
    return None


def _store(path: Path, key: str, document: object) -> None:
    """Store an object under a key. Names may have characters that UTF-8 lacks: ASCII keeps them."""
    _write(path, json.dumps([key, msgspec.to_builtins(document)], sort_keys=True, separators=(",", ":")))


# Submissions, their authors, and their outcomes.


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
        found = visible_entries(path_of(folder, "submissions", "a folder of tables"), limits)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"cannot be read as a folder of submissions: {reason}"
        raise unreadable(spelled(os.fspath(folder)), message) from error
    entries = [Path(os.path.realpath(folder)) / path.name for path in found]
    theirs = Path(os.path.realpath(reference)) if isinstance(reference, str | os.PathLike) else None
    # A name of bytes that are not UTF-8 has no text of its own, which pages would need.
    handed_in = [
        path
        for path in entries
        if path != theirs
        and spelled(path.name) == path.name
        and (_is_folder(path) or extension_of(path.name) in TEXT_EXTENSIONS | OTHER_EXTENSIONS)
    ]
    # A name without extension is a submission's, unless others are called the same.
    stems = {path: path.name if _is_folder(path) else table_stem(path.name) for path in handed_in}
    times = Counter(name for path, stem in stems.items() for name in {stem, path.name})
    named = {stem if times[stem] == 1 else path.name: path for path, stem in stems.items()}
    submissions, warnings = [], []
    for name, slug in slugs(sorted(named)).items():
        path, about, digest, problems = named[name], About(), "", tuple[Problem, ...]()
        try:
            digest = _digest(path, limits)
        except InputError as error:
            problems = error.problems
        except OSError as error:
            problems = unreadable(path.name, f"cannot be read: {error.strerror or error}").problems
        description = path.with_name(f"{name}.yaml")
        if description in entries:
            handed_in.append(description)
            try:
                about = read_about(description, description.name)
            except InputError as error:
                warnings.append(str(error))
        outcome = Outcome(problems, len(problems), lasting=False)
        submissions.append(Submission(name, slug, path, digest, about, outcome))
    ignored = [spelled(path.name) for path in entries if path not in handed_in]
    return submissions, ignored, warnings


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, empty if the file does not exist."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def _digest(path: Path, limits: Limits) -> str:
    """Return the hash of a file or a folder; raises InputError for links, devices and large files."""
    source, is_folder = path.name, stat.S_ISDIR(path.lstat().st_mode)
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
        raise InputError(
            Problem(name, f"{error}; expected the keys {', '.join(About.__struct_fields__)}")
        ) from error


def score_submission(submission: Submission, task: Task) -> tuple[Outcome, str | None]:
    """Score a submission, or find its problems; raises no error that is the submission's fault.

    Returns the outcome to store, and for a valid submission its page of all scores.
    """
    try:
        return _score(submission, task)
    except (MemoryError, UnknownScoreError):
        raise  # the caller names the score
    except EvaluationError as error:
        problems, number = _problems(error, submission, task)
        lasting = not isinstance(error, RoomError) and all(p.code != "unreadable-file" for p in problems)
        return Outcome(tuple(problems), number, lasting=lasting), None
    except Exception as error:
        # A defect of this program that one submission meets costs that one only.
        defect = f"defect of this program: {type(error).__name__}: {error}"
        return Outcome((Problem(submission.path.name, defect),), 1, lasting=False), None


def report_on(submission: Submission, task: Task, title: str) -> bytes:
    """Return the report of a submission; title: of the board."""
    from sedeval_soft import Choices, write_report

    home, plotly = ("../index.html", title), f"../assets/{plotly_name()}"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        write_report(
            task.reference,
            {submission.name: _rows(submission, task)},
            path,
            choices=Choices(title=submission.name, plotly=plotly, home=home),
            durations=task.durations,
            folds=task.folds,
            by=task.by,
            limits=task.limits,
            settings=task.settings,
        )
        return path.read_bytes()


def _rows(submission: Submission, task: Task) -> EventTable:
    rows = to_rows(with_points(submission.path, task.limits), "system", task.settings, task.limits)
    # Readers of the site see the name of a file, not its folder.
    return replace(rows, origin=replace(rows.origin, name=submission.path.name))


def _score(submission: Submission, task: Task) -> tuple[Outcome, str]:
    rows = _rows(submission, task)
    shard = task.count(rows, submission.name)
    partitions = task.partitions(shard)
    scores = score_shard(shard, __version__, **partitions, points=is_points(rows))
    shown = {task.rank_by, *task.columns}
    for name in shown:
        if ScoreName.parse(name).part is None:
            scores.score(name)
    # The statistics of the score that ranks are counted separately: no more than these need be stored.
    settings = settings_for(task.rank_by, task.settings)
    compared = task.count(rows, submission.name, settings)
    values: dict[str, Any] = {each: getattr(scores, each) for each in OF_SCORES}
    values["tally"] = pack_shard(tuned_shard(compared, partitions["folds"]), __version__)
    values["scores"] = {
        score.name: score
        for score in scores.scores.values()
        if score.name in shown or (score.average is not None and score.group is None)
    }
    return Outcome(**values), json_document(scores.to_dict())


def _problems(error: EvaluationError, submission: Submission, task: Task) -> tuple[list[Problem], int]:
    """Return the problems: the reason of the failure, the findings of a validation; and their number."""
    name, folder = submission.path.name, f"{submission.path.parent}{os.sep}"
    if not isinstance(error, InputError):
        # Warnings that --strict makes errors are one line each; a last line is on how to call the command.
        lines = [line for line in str(error).splitlines() if line != STRICT]
        return [Problem(name, line.removeprefix(f"{name}: ")) for line in lines[:MAX_PROBLEMS]], len(lines)
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
    # A problem that validation finds as well is shown once, in its words.
    places = {(problem.code, problem.line, problem.column) for problem in closer}
    both = [*(each for each in error.problems if (each.code, each.line, each.column) not in places), *closer]
    number = max(number + len(both) - len(closer), len(error.problems) + int(error.more))
    both.sort(key=lambda problem: SEVERITIES.index(problem.severity))
    # Readers of the site see no path of the organiser's.
    listed = [
        replace(each, source=each.source.replace(folder, ""), message=each.message.replace(folder, ""))
        for each in both[:MAX_PROBLEMS]
    ]
    return listed, number


def hash_of(*values: Any) -> str:  # noqa: ANN401 - whatever JSON has
    """Return the SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode("ascii")).hexdigest()


def _identity(parted: Parted | None, what: str) -> object:
    """Return the identity of a partition: itself, the hash of its table, or its pattern."""
    if parted is None or isinstance(parted, Mapping):
        return parted and dict(parted)
    name = path_of(parted, what, PARTED)
    return sha256_of(Path(name)) or name
