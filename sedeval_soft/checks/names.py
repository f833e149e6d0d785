"""Checks of names: nearly equal names, names on one side only, or names in the wrong column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sedeval_soft.names import folded
from sedeval_soft.tables.filenames import without_extension


class NameCheck(NamedTuple):
    """Check of the names of files or classes.

    column: the role of the column with the names. placed: the message of `validate` at the first place of a
    name. counted: the message of `evaluate` about all names, or about one.
    """

    column: str
    placed: str
    counted: str = ""


NAMES = {
    "control-character": NameCheck("", "parts of {name} cannot be seen"),
    "swapped-columns": NameCheck(
        "filename", "file names are classes of the reference, and classes are its files",
        "file names are classes of the reference, and classes are its files; swap the two columns, or their "
        "names in the header",
    ),
    "similar-classes": NameCheck(
        "event_label", "class {name} is not the same as {other}",
        "classes {pairs} differ in case, blanks, - or _ only, or look alike, and were taken for different "
        "ones; write both alike if they are one",
    ),
    "similar-files": NameCheck("filename", "file {name} could be the same recording as {other}"),
    "unknown-class": NameCheck(
        "event_label", "class {name} is not {where}{hint}",
        "{names} {are} not in the reference; counted as false alarms{hint}",
    ),
    "class-spelling": NameCheck(
        "event_label", "class {name} is not {where}, {other} is",
        "{names} {are} not in the reference; counted as false alarms{hint}",
    ),
    "missing-class": NameCheck("event_label", "class {name} of those {where} is never named"),
    "unknown-file": NameCheck(
        "filename", "file {name} is not {where}{hint}",
        "{files} {are} not in the reference; counted as false alarms (a row with only the name of a file "
        "declares it as one without events){hint}",
    ),
    "ambiguous-file": NameCheck(
        "filename", "file {name} is not {where}; without folder and extension its name is that of several",
        "{files} could be more than one file of {other} (with and without folders or extension); taken as "
        "written",
    ),
    "missing-file": NameCheck(
        "filename", "there are no rows for file {name}",
        "{files} {have} no rows in the system; counted as misses (a row with only the name of a file says "
        "that nothing is detected there; --files scores only the files of a list)",
    ),
    "listed-file": NameCheck(
        "", "{files} {are} neither in it nor in the reference{hint}",
        "files: {files} {are} on neither side{hint}",
    ),
}  # fmt: skip
"""By code."""


def similar_names(names: Iterable[str], look: Callable[[str], str] = folded) -> dict[str, str]:
    """Return names that look like an earlier one, with that one; look: what alike names have in common."""
    by_look: dict[str, str] = {}
    return {name: other for name in names if (other := by_look.setdefault(look(name), name)) != name}


def recording_named(file: str) -> str:
    """Return the name of a file as recordings are compared: without the extension of audio, and case."""
    return without_extension(file).replace("\\", "/").casefold()


def are_swapped(
    files: Iterable[str], classes: Iterable[str], reference_files: Iterable[str], known: Iterable[str]
) -> bool:
    """Return whether the columns of files and classes are swapped.

    files, classes: of a table; reference_files, known: files and classes of the reference.
    """
    theirs, labels, files, classes = {*reference_files}, {*known}, {*files}, {*classes}
    return bool(theirs & classes and labels & files and not theirs & files)


def known_spellings(names: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Return the names that are not known, but differ from one known name alone as `folded` names do not."""
    looks = Counter(map(folded, known))
    by_look = {folded(name): name for name in known}
    return {name: by_look[folded(name)] for name in {*names} - {*known} if looks[folded(name)] == 1}
