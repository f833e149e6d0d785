"""Submissions by strangers: which there are, who submits, and what comes of each. None stops the others.

A submission is a file of a form that can be read, or a folder of tables, directly in the folder of all. Links
are not followed: one could lead to the reference.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import msgspec

from sedeval_soft import __version__
from sedeval_soft.api.comparison import Task
from sedeval_soft.api.sources import Parted, is_points
from sedeval_soft.comparison.paired import settings_for
from sedeval_soft.errors import EvaluationError, InputError, Problem
from sedeval_soft.evaluation.scores import Input, Score, Scores, UnknownScoreError
from sedeval_soft.evaluation.system_scores import score_shard, tuned_shard
from sedeval_soft.evaluation.tally_file import pack_shard
from sedeval_soft.html.board_page import About, Submission, slugs
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import Settings
from sedeval_soft.settings_files import read_yaml
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.forms import OTHER_EXTENSIONS, TEXT_EXTENSIONS
from sedeval_soft.tables.joined_tables import stem_of, visible_entries
from sedeval_soft.tables.limits import LIMITS, Limits, over_limit
from sedeval_soft.tables.source import extension_of, spelled, unreadable
from sedeval_soft.timeline.alignment_report import STRICT
from sedeval_soft.tools.validate import MAX_PROBLEMS, validate_table
from sedeval_soft.tools.validate_checks import Expected
from sedeval_soft.tools.validate_tables import SEVERITIES

_LARGEST = 1 << 16
"""Bytes of a file that says who submits."""

_KEYS = tuple(field.name for field in fields(About))

_WEB = re.compile(r"https?://[a-z0-9.-]+(:[0-9]+)?([/?#][!-~]*)?", re.IGNORECASE | re.ASCII)
"""Addresses of pages; quotes and brackets are not for them."""

_DESCRIPTION = ".yaml"
"""The extension of a file that says who submits: it is named after the submission."""

_READ = TEXT_EXTENSIONS | OTHER_EXTENSIONS | {".eaf"}


def find_submissions(
    folder: str | os.PathLike[str],
    limits: Limits = LIMITS,
    reference: Any = None,  # noqa: ANN401 - as for evaluate
) -> tuple[list[Submission], list[str], list[str]]:
    """Return the submissions of a folder by name, the names of files that are none, and warnings.

    Hidden files are passed over; the reference, which may lie among them, is none. What is wrong with a file
    that says who submits is a warning. Raises InputError for what is no folder.
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
    submissions, warnings = [], []
    for name, slug in slugs(sorted(named)).items():
        path, about, digest = named[name], About(), ""
        entry, problems = spelled(path.name), tuple[Problem, ...]()
        try:
            digest = _digest(path, entry, limits)
        except InputError as error:
            problems = error.problems
        except OSError as error:
            problems = unreadable(entry, f"cannot be read: {error.strerror or error}").problems
        description = described.pop(f"{name}{_DESCRIPTION}", None)
        if description is not None:
            try:
                about = read_about(description, description.name)
            except InputError as error:
                warnings.append(str(error))
        submissions.append(
            Submission(name, slug, path, entry, digest, about, problems=problems, n_problems=len(problems))
        )
    ignored = [spelled(path.name) for path in others if path not in named.values()]
    return submissions, sorted([*ignored, *described]), warnings


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_same(path: Path, reference: Any) -> bool:  # noqa: ANN401 - as for evaluate
    """Return whether a path, not what a link leads to, is the reference."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return os.path.samestat(path.lstat(), Path(reference).stat())
    return False


def _named(paths: Sequence[Path]) -> dict[str, Path]:
    """Return submissions by names without extension, by whole names where others are called the same."""
    named: dict[str, Path] = {}
    stems = [spelled(path.name if _is_folder(path) else stem_of(path.name)) for path in paths]
    entries = [spelled(path.name) for path in paths]
    times, whole = Counter(stems), {*entries}
    for path, stem, entry in zip(paths, stems, entries, strict=True):
        is_clear = times[stem] == 1 and (stem == entry or stem not in whole)
        name = stem if is_clear else entry
        # Bytes of a name that are no text are spelled as another name may have them.
        while name in named:
            name += "'"
        named[name] = path
    return named


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, empty where there is no such file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _digest(path: Path, source: str, limits: Limits) -> str:
    """Return the hash of a file or a folder; raises InputError for links, devices and what is too large."""
    is_folder = stat.S_ISDIR(path.lstat().st_mode)
    digest = hashlib.sha256(b"folder\n")
    for member in sorted(path.iterdir()) if is_folder else [path]:
        mode, name = member.lstat().st_mode, spelled(member.name)
        limits.check(source, "size", member.lstat().st_size, "bytes or more")
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            what = "a link, which is not followed" if stat.S_ISLNK(mode) else "neither a file nor a folder"
            place = f"{source}/{name}" if is_folder else source
            raise unreadable(place, f"is {what}; expected a file or a folder of files")
        digest.update(f"{len(name)} {name} {sha256_of(member)}\n".encode())
    return digest.hexdigest() if is_folder else sha256_of(path)


def read_about(path: Path, name: str) -> About:
    """Return what a file says; name: of the file, for messages. Raises InputError where it cannot be used."""
    try:
        state = path.lstat()
        if not stat.S_ISREG(state.st_mode):
            raise ValueError("is a link or a device; expected a file")
        if state.st_size > _LARGEST:
            raise ValueError(f"has {state.st_size} bytes; expected {_LARGEST} or fewer")
        content = read_yaml(str(path)) or {}
        if not isinstance(content, dict):
            raise ValueError(f"expected lines such as team: NAME, with the keys {', '.join(_KEYS)}")
        for key in content:
            if key not in _KEYS:
                hint = did_you_mean(str(key), _KEYS) or f"; expected {', '.join(_KEYS)}"
                raise ValueError(f"unknown key {str(key)!r}{hint}")
        given = {
            key: " ".join(str(value).split()) if isinstance(value, str | int | float) else value
            for key, value in content.items()
            if value is not None
        }
        about = msgspec.convert(given, About)
        if about.url and (not _WEB.fullmatch(about.url) or {*about.url} & {*"\"'<>\\`"}):
            raise ValueError(f"url {about.url!r} is not the address of a page; expected https://...")
        return about
    except InputError as error:
        raise InputError(replace(error.problems[0], source=name)) from error
    except OSError as error:
        raise InputError(Problem(name, f"cannot be read: {error.strerror or error}")) from error
    except ValueError as error:
        raise InputError(Problem(name, str(error))) from error


class Record(msgspec.Struct, frozen=True):
    """What came of a submission, in the form in which it is stored: its scores, or what is wrong with it.

    problems: the first of `n_problems`. pages: as in `Submission`. lasting: whether the same comes of it the
    next time. tally: the bytes by which it is compared with others. scores: those that a board shows, by
    name; it and the rest as in `Scores`.
    """

    problems: tuple[Problem, ...] = ()
    n_problems: int = 0
    pages: dict[str, str] = {}
    lasting: bool = True
    tally: bytes = b""
    scores: dict[str, Score] = {}
    classes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    length: float = 0.0
    n_segments: int = 0
    inputs: tuple[Input, ...] = ()
    warnings: tuple[str, ...] = ()
    signature: str = ""
    version: str = ""

    def of(self, submission: Submission, settings: Settings) -> Submission:
        """Return a submission with what came of it; settings: by which it was scored."""
        scores = None
        if self.scores:
            values = {name: getattr(self, name) for name in _OF_SCORES}
            scores = Scores(system=submission.name, settings=settings, **values)
        return replace(
            submission,
            scores=scores,
            problems=self.problems,
            n_problems=self.n_problems,
            pages=self.pages,
            tally=self.tally,
        )


_OF_SCORES = tuple(name for name in Record.__struct_fields__ if name in Scores.__match_args__)


def task_key(task: Task) -> str:
    """Return a hash of all that shapes the scores of a submission but itself."""
    settings, origin = task.settings, task.reference.origin
    # Parts of the files are dealt by the seed, which settings tell of with intervals only.
    seed = settings.seed if isinstance(settings.cross_tune, int) else None
    return hash_of(
        *(__version__, settings.to_dict(), seed, task.rank_by, task.columns),
        *(origin.name, origin.sha256, task.durations and dict(task.durations)),
        *(_identity(task.folds), _identity(task.by), asdict(task.limits)),
    )


def score_submission(submission: Submission, task: Task) -> tuple[Record, Scores | None, EventTable | None]:
    """Score a submission, or find what is wrong with it; raises nothing that is the submission's fault.

    Returns what is to be stored, and of one that could be scored all its scores and its rows.
    """
    if submission.problems:
        return Record(submission.problems, submission.n_problems, lasting=False), None, None
    try:
        return _score(submission, task)
    except UnknownScoreError:
        raise  # asked for by who runs this
    except EvaluationError as error:
        problems, number = _problems(error, submission, task)
        return Record(tuple(problems), number), None, None
    except MemoryError:
        problem = Problem(submission.entry, "needs more memory than there is")
    except Exception as error:
        # A defect of ours that one submission brings about is told of that one.
        defect = f"defect of this program: {type(error).__name__}: {error}"
        problem = Problem(submission.entry, defect)
    return Record((problem,), 1, lasting=False), None, None


def _score(submission: Submission, task: Task) -> tuple[Record, Scores, EventTable]:
    name = submission.name
    rows = read_rows(submission.path, limits=task.limits)
    # They are of a file by its name: where that lay is nobody's concern.
    rows = replace(rows, origin=replace(rows.origin, name=submission.entry))
    shard = task.count(rows, name)
    partitions = task.partitions(shard)
    scores = score_shard(shard, __version__, **partitions, points=is_points(rows))
    scores.score(task.rank_by)
    # What it is compared by is counted by itself: no more than that need be stored, and drawn again.
    settings = replace(task.settings, groups={}, scenes={}, worst=0, reference_sweep=False)
    compared = task.count(rows, name, settings_for(task.rank_by, settings))
    values: dict[str, Any] = {each: getattr(scores, each) for each in _OF_SCORES}
    values["tally"] = pack_shard(tuned_shard(compared, partitions["folds"]), __version__)
    values["scores"] = {
        score.name: score
        for score in scores.scores.values()
        if score.name in {task.rank_by, *task.columns} or (score.average is not None and score.group is None)
    }
    return Record(**values), scores, rows


def _problems(error: EvaluationError, submission: Submission, task: Task) -> tuple[list[Problem], int]:
    """Return what is wrong: why it was not scored, what a closer look finds; and how many that are."""
    path, entry = os.fspath(submission.path), submission.entry
    if not isinstance(error, InputError):
        # What --strict makes an error is one line for each, and a last one of how to call the command.
        lines = [line for line in str(error).splitlines() if line != STRICT]
        return [Problem(entry, line.removeprefix(f"{entry}: ")) for line in lines[:MAX_PROBLEMS]], len(lines)
    closer: Sequence[Problem] = ()
    number = 0
    if not over_limit(error):
        expected = Expected(task.reference, task.settings.classes, durations=task.durations or {})
        with contextlib.suppress(EvaluationError):
            validation = validate_table(submission.path, expected, limits=task.limits)
            closer, number = validation.problems, sum(validation.counts.values())
    # What the closer look tells, too, is told once, and in its words.
    places = {(problem.code, problem.line, problem.column) for problem in closer}
    first = [each for each in error.problems if (each.code, each.line, each.column) not in places]
    # Why it is not scored comes first.
    both = sorted((*first, *closer), key=lambda problem: SEVERITIES.index(problem.severity))
    listed = [
        replace(each, source=entry + each.source[len(path) :]) if each.source.startswith(path) else each
        for each in both[:MAX_PROBLEMS]
    ]
    return listed, max(number + len(first), len(error.problems) + int(error.more))


def hash_of(*values: Any) -> str:  # noqa: ANN401 - whatever JSON has
    """Return the SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode("ascii")).hexdigest()


def _identity(parted: Parted | None) -> object:
    """Return what tells a partition from others: the hash of its table, its pattern, or itself."""
    if parted is None or isinstance(parted, Mapping):
        return parted and dict(parted)
    name = os.fspath(parted)
    return name if "{" in name else [sha256_of(Path(name))]
