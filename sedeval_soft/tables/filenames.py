"""Which file of the system is which file of the reference.

Tables name one recording `scene/a001.wav`, `a001.wav` or `a001`. A name matches another with or
without its folders and its audio extension, but only when that is unambiguous: each of the two
must be the only one of its table that looks like that. Exact matches come first.

Names that differ in more than that (`a001.csv`, `A001`, `Ya001_0_10`) are not matched: they may be others.
What would make them match is told (`alike`).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from sedeval_soft.errors import counted
from sedeval_soft.tables.event_table import UNNAMED

_LISTED = 5
"""Names that a message lists."""

AUDIO_EXTENSIONS = frozenset(
    f".{name}"
    for name in (
        *("wav", "flac", "mp3", "ogg", "oga", "opus", "m4a", "aac", "aif", "aiff", "aifc"),
        *("au", "wma", "mp4", "webm", "w64", "caf"),
    )
)


class NameMatch(NamedTuple):
    """The outcome of matching other names to the reference's.

    canonical: for each other name the name it goes by, a reference name where one matched.
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
    for look in (without_extension, without_folders, stem_of) if unmatched else ():
        matched = set(canonical.values())
        candidates: dict[str, list[str]] = {}
        for name in reference:
            candidates.setdefault(look(name), []).append(name)
        looks = Counter(map(look, others))
        for name in unmatched:
            alike_ours = candidates.get(look(name), [])
            if len(alike_ours) == 1 and looks[look(name)] == 1 and alike_ours[0] not in matched:
                canonical[name] = alike_ours[0]
                ambiguous.pop(name, None)
            elif alike_ours:
                ambiguous[name] = None
        unmatched = [name for name in unmatched if name not in canonical]
    return NameMatch(canonical | {name: name for name in unmatched}, tuple(ambiguous))


def listing(names: Sequence[str], noun: str) -> str:
    """Return a count and the first few names: `3 files: a, b, c`."""
    listed = ", ".join("without a name" if name == UNNAMED else repr(name) for name in names[:_LISTED])
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{counted(len(names), noun)} ({listed}{more})"


# What would make names match that do not.

_COMPARED = 20_000
"""How many names of a side are compared with those of the other."""

_TRIED = 50
"""Names that are looked for within each of the other side's, to learn what stands around them."""

_LONGEST = 200
"""Letters of names in which others are looked for."""

# Compiled where they are used: most tables name files alike, and compiling takes time at each start.
_EXTENSION = r"(?:\.[A-Za-z]\w{0,7})+$"
_SEPARATORS = r"[\s._-]+"
_ZEROS = r"(?<!\d)0+(?=\d)"


class Likeness(NamedTuple):
    """What would make names match that do not.

    how: what they differ in, in words. number: how many would match, one to one, of the `of` that were looked
    at. theirs, ours: the first of them, and what it would match.
    """

    how: str
    number: int
    of: int
    theirs: str
    ours: str


def alike(ours: Iterable[str], theirs: Iterable[str], sides: tuple[str, str]) -> Likeness | None:
    """Return what makes names of one side match those of the other that lack one; None where nothing does.

    ours, theirs: names without a match. sides: what they are of, in words. At least half of the side that has
    fewer must match, each of them one other.
    """
    first, second = (sorted(filter(None, names))[:_COMPARED] for names in (ours, theirs))
    fewest = min(len(first), len(second))
    if not fewest:
        return None
    for how, look in _LESS:
        pairs = _one_to_one({name: look(name) for name in first}, {name: look(name) for name in second})
        if 2 * len(pairs) >= fewest:
            return Likeness(how, len(pairs), len(second), *pairs[0])
    for inner, outer, side in ((first, second, sides[1]), (second, first, sides[0])):
        around = _around(inner, outer)
        if around is None:
            continue
        pattern = re.compile("(.+?)".join(map(_any_number, around)))
        within = {name: match[1] for name in outer if (match := pattern.fullmatch(_bare(name)))}
        bare = {name: _bare(name) for name in inner}
        pairs = _one_to_one(bare, within) if inner is first else _one_to_one(within, bare)
        if 2 * len(pairs) >= fewest:
            places = [
                f"{text!r} {where}" for text, where in zip(around, ("before", "after"), strict=True) if text
            ]
            how = f"{' and '.join(places)} the names of the {side}"
            return Likeness(how, len(pairs), len(second), *pairs[0])
    return None


def _bare(name: str) -> str:
    """Return a name without folders and without any extension."""
    return re.sub(_EXTENSION, "", without_folders(name)) or name


def _folded(name: str) -> str:
    text = re.sub(_SEPARATORS, " ", _bare(unicodedata.normalize("NFKC", name)).casefold())
    return re.sub(_ZEROS, "", text).strip()


_LESS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("the extension", _bare),
    ("how accents are encoded (NFC, NFD)", lambda name: unicodedata.normalize("NFC", stem_of(name))),
    ("upper and lower case", lambda name: stem_of(name).casefold()),
    ("`-`, `_`, `.` and blanks", lambda name: re.sub(_SEPARATORS, " ", stem_of(name)).strip()),
    ("leading zeros", lambda name: re.sub(_ZEROS, "", stem_of(name))),
    ("extension, case, `-`, `_`, `.`, blanks or leading zeros", _folded),
)
"""What names may differ in, and what is left of them then: from the least on."""


def _one_to_one(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names of both sides that look alike, and like no other one: pairs of theirs and ours."""
    our_looks, their_looks = Counter(ours.values()), Counter(theirs.values())
    by_look = {look: name for name, look in ours.items()}
    return [
        (name, by_look[look])
        for name, look in theirs.items()
        if their_looks[look] == 1 and our_looks.get(look) == 1
    ]


def _around(inner: Sequence[str], outer: Sequence[str]) -> tuple[str, str] | None:
    """Return what stands before and after the names of one side in those of the other, most of the time."""
    names = sorted({_bare(name) for name in inner}, key=lambda name: (-len(name), name))
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], tuple[str, str]] = {}
    for whole in map(_bare, outer[:_TRIED]):
        if len(whole) > _LONGEST:
            continue
        # Of several names within one, the longest is meant.
        part = next((part for part in names if part in whole and _stands_out(part, whole)), None)
        if part is not None:
            before, _, after = whole.partition(part)
            key = _any_number(before), _any_number(after)
            first.setdefault(key, (before, after))
            counts[key] += 1
    return first[counts.most_common(1)[0][0]] if counts else None


def _stands_out(part: str, whole: str) -> bool:
    """Return whether a name in another one is no accident: no part of a number, and no letter of a word."""
    before, _, after = whole.partition(part)
    if not before and not after:
        return False
    if (before and (before[-1:] + part[:1]).isdecimal()) or (after and (part[-1:] + after[:1]).isdecimal()):
        return False
    return len(part) > 2 or not (before[-1:].isalnum() or after[:1].isalnum())


def _any_number(text: str) -> str:
    """Return a pattern of a text in which numbers may be others, as times of excerpts are."""
    return r"\d+".join(re.escape(piece) for piece in re.split(r"\d+", text))
