"""A folder of submissions by strangers: which there are, what they are called, and what is in them by hash.

A submission is a file of a form that can be read, or a folder of tables, directly in the folder. Links are
not followed: one could lead to the reference.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.forms import OTHER_EXTENSIONS, TEXT_EXTENSIONS
from sedeval_soft.tables.joined_tables import stem_of, visible_entries
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import extension_of, spelled

DESCRIPTION = ".yaml"
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
    would be called the same, all of these by their whole names. Raises InputError for what is no folder.
    """
    try:
        entries = visible_entries(os.fspath(folder), limits)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        message = f"cannot be read as a folder of submissions: {why}"
        raise InputError(Problem(spelled(os.fspath(folder)), message, code="unreadable-file")) from error
    described = {spelled(path.name): path for path in entries if path.suffix.lower() == DESCRIPTION}
    others = [path for path in entries if spelled(path.name) not in described]
    chosen = [path for path in others if _is_folder(path) or extension_of(path.name) in _READ]
    submissions = []
    for path, name in zip(chosen, _names(chosen), strict=True):
        entry, digest, problem = spelled(path.name), "", None
        try:
            digest = _hash(path, entry, limits)
        except InputError as error:
            problem = error.problems[0]
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            problem = Problem(entry, message, code="unreadable-file")
        description = described.pop(f"{name}{DESCRIPTION}", None)
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


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _names(paths: Sequence[Path]) -> list[str]:
    """Return what submissions are called, as text: no two alike."""
    whole = [spelled(path.name) for path in paths]
    names = [spelled(path.name if _is_folder(path) else stem_of(path.name)) for path in paths]
    shorter: list[str] = []
    while shorter != names:
        # A whole name may be what another is called without its extension.
        shorter, times = names, Counter(names)
        names = [full if times[name] > 1 else name for full, name in zip(whole, names, strict=True)]
    # Bytes that are no text are spelled as others may have them in their name.
    seen: Counter[str] = Counter()
    for i, name in enumerate(names):
        seen[name] += 1
        names[i] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return names


def _hash(path: Path, source: str, limits: Limits) -> str:
    """Return the hash of a file, or of the files of a folder; raises InputError for what is neither."""
    state = path.lstat()
    if not stat.S_ISDIR(state.st_mode):
        _check_file(source, state, limits, 0)
        return sha256_of(path)
    with os.scandir(path) as entries:
        inside = [entry.name for entry in islice(entries, limits.members + 1)]
    limits.check(source, "members", len(inside), "files or more")
    digest = hashlib.sha256(b"folder\n")
    size = 0
    for member in map(path.joinpath, sorted(inside)):
        state, short = member.lstat(), spelled(member.name)
        if not stat.S_ISDIR(state.st_mode):
            _check_file(f"{source}/{short}", state, limits, size)
            size += state.st_size
            digest.update(f"{len(short)} {short} {sha256_of(member)}\n".encode())
    return digest.hexdigest()


def _check_file(source: str, state: os.stat_result, limits: Limits, before: int) -> None:
    """Refuse what is no file, and files that are too large with those before them."""
    if not stat.S_ISREG(state.st_mode):
        link = stat.S_ISLNK(state.st_mode)
        what = "a link, which is not followed" if link else "neither a file nor a folder"
        message = f"is {what}; expected a file or a folder of files"
        raise InputError(Problem(source, message, code="unreadable-file"))
    limits.check(source, "size", before + state.st_size, "bytes or more")
