"""Names that come from tables: which of them can be written, and which can be names of files."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sedeval_soft.core.filenames import without_extension
from sedeval_soft.errors import InputError, Problem

_LONGEST = 200
"""Bytes that leave room for an extension in what file systems take (255)."""

_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:")
_SHOWN = 60


def check_text(source: str, names: Iterable[str], form: str, forbidden: str = "\r\n") -> None:
    """Raise InputError for a name that cannot be written as text, or holds a character it must not."""
    for name in names:
        bad = next((character for character in forbidden if character in name), None)
        if bad is not None:
            raise _refused(source, name, f"holds {bad!r}, which {form} cannot hold")
        if name != name.strip():
            raise _refused(source, name, "has blanks around it, which readers take away")
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise _refused(source, name, "cannot be written as UTF-8") from error


def stems(source: str, files: Iterable[str]) -> dict[str, str]:
    """Return by recording what its file is called, without extension: never a path to somewhere else.

    Raises InputError for names that are paths, that systems reserve, or that two recordings would share.
    """
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for file in files:
        stem = without_extension(file)
        why = _unsafe(stem)
        if why:
            raise _refused(source, file, f"{why}: it cannot be the name of a file in a folder", "unsafe-name")
        other = taken.setdefault(stem, file)
        if other != file:
            raise _refused(source, file, f"and {shown(other)} would both be written as {shown(stem)}")
        found[file] = stem
    return found


def has_audio_extension(name: str) -> bool:
    """Return whether a name ends as one of an audio file does."""
    return without_extension(name) != name


def shown(name: str) -> str:
    """Return a name in quotes, control characters escaped, the end of a long one left out."""
    return repr(name[:_SHOWN])


def _unsafe(stem: str) -> str:
    """Return why a name cannot be that of a file in a folder, nothing where it can."""
    reasons = (
        (not stem, "is empty"),
        (stem in {".", ".."} or ".." in re.split(r"[/\\]", stem), "leads out of a folder"),
        ("/" in stem or "\\" in stem, "holds a separator of folders"),
        (_DRIVE.match(stem) is not None, "begins with the name of a drive"),
        (_CONTROL.search(stem) is not None, "holds a character that names of files must not have"),
        (_RESERVED.fullmatch(stem) is not None, "is reserved by some systems"),
        (stem.startswith("."), "begins with a dot, as hidden files do"),
        (stem.endswith((".", " ")), "ends in a dot or a blank"),
        (len(stem.encode("utf-8", "replace")) > _LONGEST, f"is longer than {_LONGEST} bytes"),
    )
    return next((reason for wrong, reason in reasons if wrong), "")


def _refused(source: str, name: str, why: str, code: str = "cannot-hold") -> InputError:
    return InputError(Problem(source, f"the name {shown(name)} {why}", code=code))
