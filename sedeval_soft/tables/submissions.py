"""A folder of submissions by strangers: which there are, what they are called, and what is in them by hash.

A submission is a file of a form that can be read, or a folder of tables, directly in the folder. Links are
not followed: one could lead to the reference.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.files import stem_of
from sedeval_soft.tables.forms import OTHER_EXTENSIONS, TEXT_EXTENSIONS
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import extension_of, spelled

DESCRIPTION = ".yaml"
"""The extension of a file that says who submits: it is named after the submission."""

_READ = TEXT_EXTENSIONS | OTHER_EXTENSIONS | {".eaf"}
_PIECE = 1 << 20


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
    entries = _entries(os.fspath(folder), limits)
    described = {spelled(path.name): path for path in entries if path.suffix.lower() == DESCRIPTION}
    others: list[str] = []
    chosen: list[Path] = []
    for path in entries:
        if spelled(path.name) in described:
            continue
        if _is_folder(path) or extension_of(path.name) in _READ:
            chosen.append(path)
        else:
            others.append(spelled(path.name))
    names = _names(chosen)
    found = []
    for path, name in zip(chosen, names, strict=True):
        digest, problem = _digest(path, limits)
        description = described.pop(f"{name}{DESCRIPTION}", None)
        found.append(Submission(name, path, spelled(path.name), digest, problem, description))
    return sorted(found, key=lambda each: each.name), sorted([*others, *described])


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, empty where there is no such file."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            for piece in iter(lambda: file.read(_PIECE), b""):
                digest.update(piece)
    except OSError:
        return ""
    return digest.hexdigest()


def _entries(name: str, limits: Limits) -> list[Path]:
    try:
        with os.scandir(name) as entries:
            inside = [entry.name for entry in islice(entries, limits.members + 1)]
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise InputError(
            Problem(
                spelled(name), f"cannot be read as a folder of submissions: {said}", code="unreadable-file"
            )
        ) from error
    if len(inside) > limits.members:
        raise limits.refusal(spelled(name), "members", f"has more than {limits.members} files")
    folder = Path(name)
    return [folder / entry for entry in sorted(inside) if not entry.startswith(".")]


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _names(paths: Sequence[Path]) -> list[str]:
    """Return what submissions are called, as text: no two alike."""
    whole = [spelled(path.name) for path in paths]
    names = [spelled(path.name if _is_folder(path) else stem_of(path.name)) for path in paths]
    while True:
        times = Counter(names)
        longer = [full if times[name] > 1 else name for full, name in zip(whole, names, strict=True)]
        if longer == names:
            break
        # A whole name may be what another is called without its extension.
        names = longer
    # Bytes that are no text are spelled as others may have them in their name.
    seen: Counter[str] = Counter()
    for i, name in enumerate(names):
        seen[name] += 1
        names[i] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return names


def _digest(path: Path, limits: Limits) -> tuple[str, Problem | None]:
    """Return the hash of a submission, or why it has none."""
    source = spelled(path.name)
    try:
        return _hashed(path, source, limits), None
    except InputError as error:
        return "", error.problems[0]
    except OSError as error:
        said = f"cannot be read: {error.strerror or error}"
        return "", Problem(source, said, code="unreadable-file")


def _hashed(path: Path, source: str, limits: Limits) -> str:
    """Return the hash of a file, or of the files of a folder; raises InputError for what is neither."""
    state = path.lstat()
    if not stat.S_ISDIR(state.st_mode):
        _check_file(source, state, limits, 0)
        return sha256_of(path)
    digest = hashlib.sha256(b"folder\n")
    size = 0
    for member in _members(path, limits):
        state, short = member.lstat(), spelled(member.name)
        if stat.S_ISDIR(state.st_mode):
            continue
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


def _members(folder: Path, limits: Limits) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        inside = [entry.name for entry in islice(entries, limits.members + 1)]
    limits.check(spelled(folder.name), "members", len(inside), "files or more")
    yield from (folder / name for name in sorted(inside))
