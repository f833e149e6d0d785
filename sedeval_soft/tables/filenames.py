"""The match of the system's files to the reference's files.

Tables name one recording `scene/a001.wav`, `a001.wav` or `a001`. A name matches another with or without its
folders and its audio extension, but only when that is unambiguous: each of the two must be the only one of
its table that looks like that. Exact matches come first. Names in two folders do not match if both tables
have files in one of these: the folder then identifies the file.

Names that differ in more than that (`a001.csv`, `A001`, `Ya001_0_10`) are not matched: they may be others.
`named_alike` describes the change that would make them match.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from sedeval_soft.errors import counted
from sedeval_soft.names import apart, appearance
from sedeval_soft.tables.columns import WORD_LISTS
from sedeval_soft.tables.event_table import UNNAMED

_LISTED = 5
"""Names that a message lists."""

AUDIO_EXTENSIONS = frozenset(WORD_LISTS["audio-extensions"])


class NameMatch(NamedTuple):
    """The outcome of matching other names to the reference's.

    canonical: for each other name the name that the evaluator uses, a reference name if one matched.
    ambiguous: other names that look like several reference names, or share a look with another.
    """

    canonical: dict[str, str]
    ambiguous: tuple[str, ...]


def without_extension(name: str) -> str:
    """Return the name without its audio extension, if it has one."""
    last = without_folders(name)
    dot = last.rfind(".")
    # A name that begins with its only dot has no extension.
    return name[: dot - len(last)] if dot > 0 and last[dot:].lower() in AUDIO_EXTENSIONS else name


def without_folders(name: str) -> str:
    """Return the last part of a name written with slashes of either kind."""
    return name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def folder_of(name: str) -> str:
    """Return the folders of a name written with slashes of either kind, empty if it has none."""
    return name.replace("\\", "/").rstrip("/").rpartition("/")[0]


def stem_of(name: str) -> str:
    """Return the least of a name: names that match one another, or that look alike, have it in common."""
    return without_extension(without_folders(name))


def match_names(reference: Sequence[str], other: Iterable[str]) -> NameMatch:
    """Match other file names to the reference's, exactly first, then by ever less of the name."""
    exact = set(reference)
    others = list(dict.fromkeys(other))
    canonical = {name: name for name in others if name in exact}
    unmatched = [name for name in others if name not in exact]
    ambiguous: dict[str, None] = {}
    places, other_places = ({*map(folder_of, names)} if unmatched else {""} for names in (reference, others))

    def elsewhere(name: str, ours: str) -> bool:
        """Return whether two names are of two files, because both tables use their folders."""
        place, own = folder_of(name), folder_of(ours)
        return bool(place and own) and place != own and (place in places or own in other_places)

    for look in (without_extension, without_folders, stem_of) if unmatched else ():
        matched = set(canonical.values())
        candidates: dict[str, list[str]] = {}
        for name in reference:
            candidates.setdefault(look(name), []).append(name)
        looks = Counter(map(look, others))
        for name in unmatched:
            alike_ours = candidates.get(look(name), [])
            if len(alike_ours) == 1 and elsewhere(name, alike_ours[0]):
                continue
            if len(alike_ours) == 1 and looks[look(name)] == 1 and alike_ours[0] not in matched:
                canonical[name] = alike_ours[0]
                ambiguous.pop(name, None)
            elif alike_ours:
                ambiguous[name] = None
        unmatched = [name for name in unmatched if name not in canonical]
    return NameMatch(canonical | {name: name for name in unmatched}, tuple(ambiguous))


def unknown_names(listed: Iterable[str], found: Collection[str]) -> list[str]:
    """Return the names of a list that are not among those found in the tables.

    A line of a list that begins with `#` is a comment if no recording is called so, unless none is found.
    """
    return [name for name in listed if name not in found and not (found and name.startswith("#"))]


def listing(names: Sequence[str], noun: str) -> str:
    """Return a count and the first few names: `3 files: a, b, c`."""
    listed = ", ".join("without a name" if name == UNNAMED else repr(name) for name in names[:_LISTED])
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{counted(len(names), noun)} ({listed}{more})"


# Changes that would make unmatched names match.

_COMPARED = 20_000
"""Names of a side that are compared."""

# Compiled when they are used: most tables name files alike, and compiling takes time at each start.
_EXTENSION = r"[A-Za-z]\w{0,7}"
_SEPARATORS = r"[\s._-]+"
_ZEROS = r"(?<!\d)0+(?=\d)"

_Look = Callable[[str], str]
"""A function that shortens a name."""


def named_alike(
    ours: Iterable[str], theirs: Iterable[str], sides: tuple[str, str] = ("reference", "system")
) -> str:
    """Return a hint for files that each side lacks, but has under a name that derives from the other's.

    ours, theirs: files that the other side lacks. sides: their sides, the first being right. At least half of
    the side that has fewer must match, each of them one other; else the hint is empty.
    """
    first, second = (sorted(filter(None, names))[:_COMPARED] for names in (ours, theirs))
    for how, our_look, their_look in _differences(first, second, sides) if first and second else ():
        our_looks, their_looks = list(map(our_look, first)), list(map(their_look, second))
        our_counts, their_counts = Counter(our_looks), Counter(their_looks)
        by_look = dict(zip(our_looks, first, strict=True))
        # Names of both sides that look alike, and like no other one.
        pairs = [
            (name, by_look[look])
            for name, look in zip(second, their_looks, strict=True)
            if their_counts[look] == our_counts[look] == 1
        ]
        if 2 * len(pairs) >= min(len(first), len(second)):
            written, meant = apart(*pairs[0])
            return (
                f"; is {written} meant to be {meant}? Both sides must name a file alike: "
                f"{len(pairs)} of {counted(len(second), 'name')} would match but for {how}; write them as "
                f"the {sides[0]} does"
            )
    return ""


def _differences(
    ours: Sequence[str], theirs: Sequence[str], sides: tuple[str, str]
) -> Iterator[tuple[str, _Look, _Look]]:
    """Yield possible differences of names, the least first, with functions that remove them on both sides."""

    def folded(name: str) -> str:
        text = re.sub(_SEPARATORS, " ", _bare(unicodedata.normalize("NFKC", name)).casefold())
        return re.sub(_ZEROS, "", text).strip()

    looks: tuple[tuple[str, _Look], ...] = (
        ("the extension", _bare),
        ("how accents are encoded (NFC, NFD)", lambda name: unicodedata.normalize("NFC", stem_of(name))),
        ("letters that look alike", lambda name: appearance(stem_of(name))),
        ("upper and lower case", lambda name: stem_of(name).casefold()),
        ("`-`, `_`, `.` and blanks", lambda name: re.sub(_SEPARATORS, " ", stem_of(name)).strip()),
        ("leading zeros", lambda name: re.sub(_ZEROS, "", stem_of(name))),
        ("extension, case, `-`, `_`, `.`, blanks or leading zeros", folded),
    )
    for how, look in looks:
        yield how, look, look
    # All names of a side begin, or end, with a text that the other side's names lack.
    (head, tail), (other_head, other_tail) = map(_common, (ours, theirs))
    more = (other_head.removesuffix(head), other_tail.removeprefix(tail), sides[1])
    less = (head.removesuffix(other_head), tail.removeprefix(other_tail), sides[0])
    for before, after, side in (more, less):
        places = [f"{text!r} {place}" for text, place in ((before, "before"), (after, "after")) if text]
        if places:
            yield (
                f"{' and '.join(places)} the names of the {side}",
                lambda name: _bare(name)[len(head) :].removesuffix(tail),
                lambda name: _bare(name)[len(other_head) :].removesuffix(other_tail),
            )


def _common(names: Sequence[str]) -> tuple[str, str]:
    """Return the common beginning and end of all names, without their extensions; empty for a single name."""
    bare = sorted({*map(_bare, names)})
    if len(bare) < 2:
        return "", ""
    head = os.path.commonprefix(bare)  # noqa: RUF071 - of characters, not of paths
    tail = os.path.commonprefix([name[len(head) :][::-1] for name in bare])[::-1]  # noqa: RUF071
    return head, tail


def _bare(name: str) -> str:
    """Return a name without folders and without any extension."""
    parts = without_folders(name).split(".")
    while len(parts) > 1 and re.fullmatch(_EXTENSION, parts[-1]):
        parts.pop()
    return ".".join(parts) or name
