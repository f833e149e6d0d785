"""Submissions by strangers: which there are, who submits, and what comes of each. None stops the others.

A submission is a file of a form that can be read, or a folder of tables, directly in the folder of all. Links
are not followed: one could lead to the reference.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sedeval_soft import __version__
from sedeval_soft.api.comparison import Task
from sedeval_soft.api.sources import Parted, is_points
from sedeval_soft.comparison.board import About, Record, Scored
from sedeval_soft.comparison.paired import settings_for
from sedeval_soft.errors import EvaluationError, InputError, Problem
from sedeval_soft.evaluation.scores import Scores, UnknownScoreError
from sedeval_soft.evaluation.system_scores import score_shard, tuned_shard
from sedeval_soft.evaluation.tally_file import pack_shard
from sedeval_soft.names import did_you_mean
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

_FORMAT = 3
"""Of what is stored: a change of it makes all of that anew."""

_LARGEST = 1 << 16
"""Bytes of a file that says who submits."""

_LONGEST = 300
"""Characters of a text in it."""

_MOST_AUTHORS = 100
_KEYS = tuple(field.name for field in fields(About))

_DESCRIPTION = ".yaml"
"""The extension of a file that says who submits: it is named after the submission."""

_READ = TEXT_EXTENSIONS | OTHER_EXTENSIONS | {".eaf"}


@dataclass(frozen=True, slots=True)
class Submission:
    """A file or a folder that is to be scored.

    name: what it is called, different from all others. path: where it is. entry: its name in the folder, as
    text. digest: of all its bytes, and of the names of a folder's files; empty where it cannot be read.
    problem: why it is not even looked at. description: of the file that says who submits; None where there
    is none.
    """

    name: str
    path: Path
    entry: str
    digest: str
    problem: Problem | None
    description: Path | None


def find_submissions(
    folder: str | os.PathLike[str], limits: Limits = LIMITS
) -> tuple[list[Submission], list[str]]:
    """Return the submissions of a folder by name, and the names of files that are none.

    Hidden files are passed over. A submission is called by its file's name without extension; where others
    would be called the same, by its whole name. Raises InputError for what is no folder.
    """
    try:
        entries = visible_entries(os.fspath(folder), limits)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        message = f"cannot be read as a folder of submissions: {why}"
        raise unreadable(spelled(os.fspath(folder)), message) from error
    described = {spelled(path.name): path for path in entries if path.suffix.lower() == _DESCRIPTION}
    others = [path for path in entries if spelled(path.name) not in described]
    folders = {path for path in others if path.is_dir() and not path.is_symlink()}
    chosen = [path for path in others if path in folders or extension_of(path.name) in _READ]
    stems = [spelled(path.name if path in folders else stem_of(path.name)) for path in chosen]
    whole = [spelled(path.name) for path in chosen]
    # A whole name may be what another is called without its extension; and of bytes that are no text, names
    # are spelled as others may have them.
    times = Counter([*stems, *(entry for entry, stem in zip(whole, stems, strict=True) if entry != stem)])
    seen: Counter[str] = Counter()
    submissions = []
    for path, stem, entry in zip(chosen, stems, whole, strict=True):
        name, digest, problem = stem if times[stem] == 1 else entry, "", None
        seen[name] += 1
        name = name if seen[name] == 1 else f"{name} ({seen[name]})"
        try:
            digest = _digest(path, entry, limits)
        except InputError as error:
            problem = error.problems[0]
        except OSError as error:
            problem = unreadable(entry, f"cannot be read: {error.strerror or error}").problems[0]
        description = described.pop(f"{name}{_DESCRIPTION}", None)
        submissions.append(Submission(name, path, entry, digest, problem, description))
    ignored = [*(spelled(path.name) for path in others if path not in chosen), *described]
    return sorted(submissions, key=lambda each: each.name), sorted(ignored)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, empty where there is no such file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _digest(path: Path, source: str, limits: Limits) -> str:
    """Return the hash of a file, or of the files of a folder; raises InputError for others, or too large."""
    inside = [path]
    is_folder = stat.S_ISDIR(path.lstat().st_mode)
    if is_folder:
        inside = sorted(islice(path.iterdir(), limits.members + 1))
        limits.check(source, "members", len(inside), "files or more")
    digest, size = hashlib.sha256(b"folder\n"), 0
    for member in inside:
        mode, short = member.lstat().st_mode, spelled(member.name)
        if stat.S_ISDIR(mode):
            continue
        place = f"{source}/{short}" if is_folder else source
        if not stat.S_ISREG(mode):
            what = "a link, which is not followed" if stat.S_ISLNK(mode) else "neither a file nor a folder"
            raise unreadable(place, f"is {what}; expected a file or a folder of files")
        size += member.lstat().st_size
        limits.check(place, "size", size, "bytes or more")
        if not is_folder:
            return sha256_of(path)
        digest.update(f"{len(short)} {short} {sha256_of(member)}\n".encode())
    return digest.hexdigest()


def read_about(path: Path, name: str) -> About:
    """Return what a file says; name: of the file, for messages. Raises InputError where it cannot be used."""
    try:
        state = path.lstat()
        if not stat.S_ISREG(state.st_mode):
            raise ValueError("is a link or a device; expected a file")
        if state.st_size > _LARGEST:
            raise ValueError(f"has {state.st_size} bytes; expected {_LARGEST} or fewer")
        content = read_yaml(str(path))
        if not isinstance(content, dict | None):
            raise ValueError(f"expected lines such as team: NAME, with the keys {', '.join(_KEYS)}")
        about = About(**dict(_about_item(key, value) for key, value in (content or {}).items()))
        if about.url and not _is_web_address(about.url):
            raise ValueError(f"url {about.url!r} is not the address of a page; expected https://...")
        return about
    except InputError as error:
        first = error.problems[0]
        raise InputError(Problem(name, first.message, first.line, first.column)) from error
    except OSError as error:
        raise InputError(Problem(name, f"cannot be read: {error.strerror or error}")) from error
    except ValueError as error:
        raise InputError(Problem(name, str(error))) from error


def _about_item(key: object, value: object) -> tuple[str, Any]:
    """Return a key and its text, or the texts of authors; raises ValueError for others."""
    if key not in _KEYS:
        hint = did_you_mean(str(key)[:_LONGEST], _KEYS) or f"; expected {', '.join(_KEYS)}"
        raise ValueError(f"unknown key {str(key)[:_LONGEST]!r}{hint}")
    values = value if isinstance(value, list) and key == "authors" else [value]
    if len(values) > _MOST_AUTHORS:
        raise ValueError(f"has {len(values)} authors; expected {_MOST_AUTHORS} or fewer")
    texts = []
    for each in values:
        if not isinstance(each, str | int | float | None) or isinstance(each, bool):
            raise ValueError(f"{key} is not a text")
        texts.append("" if each is None else " ".join(str(each).split()))
        if len(texts[-1]) > _LONGEST:
            raise ValueError(f"{key} has {len(texts[-1])} characters; expected {_LONGEST} or fewer")
    if key == "authors":
        return key, () if value is None else tuple(texts)
    return str(key), texts[0]


def _is_web_address(url: str) -> bool:
    if not url.isascii() or not url.isprintable() or set(url) & set(" \"'<>\\`"):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc


@dataclass(frozen=True, slots=True)
class Challenge:
    """What all submissions are scored against, the score that ranks them, and others that are shown."""

    task: Task
    rank_by: str
    columns: tuple[str, ...]

    def key(self) -> str:
        """Return a hash of all that shapes the scores of a submission but itself."""
        task, settings = self.task, self.task.settings
        # Parts of the files are dealt by the seed, which settings tell of with intervals only.
        seed = settings.seed if isinstance(settings.cross_tune, int) else None
        origin = task.reference.origin
        return _hash(
            *(_FORMAT, __version__, settings.to_dict(), seed, self.rank_by, self.columns),
            *(origin.name, origin.sha256, task.durations and dict(task.durations)),
            *(_identity(task.folds), _identity(task.by), asdict(task.limits)),
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a submission.

    record: what is stored. scores, rows: of one that could be scored. lasting: whether the same comes of it
    the next time.
    """

    record: Record
    scores: Scores | None = None
    rows: EventTable | None = None
    lasting: bool = True


def key_of(submission: Submission, challenge_key: str) -> str:
    """Return a hash of all that shapes what comes of a submission."""
    return _hash(challenge_key, submission.name, submission.entry, submission.digest)


def score_submission(submission: Submission, challenge: Challenge, key: str) -> Outcome:
    """Score a submission, or find what is wrong with it; raises nothing that is the submission's fault."""
    problem = submission.problem
    try:
        if problem is None:
            return _score(submission, challenge, key)
    except UnknownScoreError:
        raise  # asked for by who runs this
    except EvaluationError as error:
        problems, number = _problems(error, submission, challenge.task)
        return Outcome(Record(key, submission.name, problems=tuple(problems), n_problems=number))
    except MemoryError:
        problem = Problem(submission.entry, "needs more memory than there is")
    except Exception as error:
        # A defect of ours that one submission brings about is told of that one.
        defect = f"defect of this program: {type(error).__name__}: {error}"
        problem = Problem(submission.entry, defect)
    return Outcome(Record(key, submission.name, problems=(problem,), n_problems=1), lasting=False)


def _score(submission: Submission, challenge: Challenge, key: str) -> Outcome:
    task, name = challenge.task, submission.name
    rows = read_rows(submission.path, limits=task.limits)
    # They are of a file by its name: where that lay is nobody's concern.
    rows = replace(rows, origin=replace(rows.origin, name=submission.entry))
    shard = task.count(rows, name)
    parts = task.partitions(shard)
    scores = score_shard(shard, __version__, **parts, points=is_points(rows))
    scores.score(challenge.rank_by)
    # What it is compared by is counted by itself: no more than that need be stored, and drawn again.
    settings = replace(task.settings, groups={}, scenes={}, worst=0, reference_sweep=False)
    compared = task.count(rows, name, settings_for(challenge.rank_by, settings))
    tally = pack_shard(tuned_shard(compared, parts["folds"]), __version__)
    scored = Scored.of_scores(scores, {challenge.rank_by, *challenge.columns}, tally)
    return Outcome(Record(key, name, scored), scores, rows)


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


def _hash(*values: Any) -> str:  # noqa: ANN401 - whatever JSON has
    """Return the SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode("ascii")).hexdigest()


def _identity(parted: Parted | None) -> object:
    """Return what tells a partition from others: the hash of its table, its pattern, or itself."""
    if parted is None or isinstance(parted, Mapping):
        return parted and dict(parted)
    name = os.fspath(parted)
    return name if "{" in name else [sha256_of(Path(name))]
