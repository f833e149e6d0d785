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
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class NameMatch:
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


_LOOKS: tuple[Callable[[str], str], ...] = (without_extension, without_folders, stem_of)


def match_names(reference: Sequence[str], other: Iterable[str]) -> NameMatch:
    """Match other file names to the reference's, exactly first, then by ever less of the name."""
    known = set(reference)
    others = list(dict.fromkeys(other))
    canonical = {name: name for name in others if name in known}
    open_names = [name for name in others if name not in canonical]
    if not open_names:
        return NameMatch(canonical, ())
    ambiguous: dict[str, None] = {}
    for look in _LOOKS:
        taken = set(canonical.values())
        reference_by_look: dict[str, list[str]] = {}
        for name in reference:
            reference_by_look.setdefault(look(name), []).append(name)
        seen = Counter(look(name) for name in others)
        left = []
        for name in open_names:
            candidates = reference_by_look.get(look(name), [])
            if len(candidates) == 1 and seen[look(name)] == 1 and candidates[0] not in taken:
                canonical[name] = candidates[0]
                ambiguous.pop(name, None)
                continue
            if candidates:
                ambiguous[name] = None
            left.append(name)
        open_names = left
    canonical.update({name: name for name in open_names})
    return NameMatch(canonical, tuple(ambiguous))


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


@dataclass(frozen=True, slots=True)
class Likeness:
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
            return _likeness(how, pairs, len(second))
    for longer, around in ((second, _around(first, second)), (first, _around(second, first))):
        if around is None:
            continue
        before, after = around
        pattern = re.compile(f"{_any_number(before)}(.+?){_any_number(after)}")
        inner = {name: found[1] for name in longer if (found := pattern.fullmatch(_bare(name)))}
        shorter = {name: _bare(name) for name in (first if longer is second else second)}
        pairs = _one_to_one(shorter, inner) if longer is second else _one_to_one(inner, shorter)
        if 2 * len(pairs) >= fewest:
            places = [f"{text!r} {where}" for text, where in ((before, "before"), (after, "after")) if text]
            of = sides[1] if longer is second else sides[0]
            return _likeness(f"{' and '.join(places)} the names of the {of}", pairs, len(second))
    return None


def _bare(name: str) -> str:
    """Return a name without folders and without any extension."""
    return re.sub(_EXTENSION, "", without_folders(name)) or name


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", stem_of(name))


def _folded(name: str) -> str:
    return re.sub(
        _ZEROS, "", re.sub(_SEPARATORS, " ", _bare(unicodedata.normalize("NFKC", name)).casefold())
    ).strip()


_LESS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("the extension", _bare),
    ("how accents are encoded (NFC, NFD)", _composed),
    ("upper and lower case", lambda name: stem_of(name).casefold()),
    ("`-`, `_`, `.` and blanks", lambda name: re.sub(_SEPARATORS, " ", stem_of(name)).strip()),
    ("leading zeros", lambda name: re.sub(_ZEROS, "", stem_of(name))),
    ("extension, case, `-`, `_`, `.`, blanks or leading zeros", _folded),
)
"""What names may differ in, and what is left of them then: from the least on."""


def _one_to_one(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names of both sides that look alike, and like no other one: pairs of theirs and ours."""
    of_ours, of_theirs = Counter(ours.values()), Counter(theirs.values())
    by_look = {look: name for name, look in ours.items()}
    return [
        (name, by_look[look])
        for name, look in theirs.items()
        if of_theirs[look] == 1 and of_ours.get(look) == 1
    ]


def _likeness(how: str, pairs: Sequence[tuple[str, str]], of: int) -> Likeness:
    return Likeness(how, len(pairs), of, *pairs[0])


def _around(inner: Sequence[str], outer: Sequence[str]) -> tuple[str, str] | None:
    """Return what stands before and after the names of one side in those of the other, most of the time."""
    names = sorted({_bare(name) for name in inner}, key=lambda name: (-len(name), name))
    found: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], tuple[str, str]] = {}
    for name in outer[:_TRIED]:
        whole = _bare(name)
        if len(whole) > _LONGEST:
            continue
        # Of several names within one, the longest is meant.
        part = next((part for part in names if part in whole and _stands_out(part, whole)), None)
        if part is None:
            continue
        before, _, after = whole.partition(part)
        key = _any_number(before), _any_number(after)
        first.setdefault(key, (before, after))
        found[key] += 1
    return first[found.most_common(1)[0][0]] if found else None


def _stands_out(part: str, whole: str) -> bool:
    """Return whether a name in another one is no accident: no part of a number, and no letter of a word."""
    before, _, after = whole.partition(part)
    if not before and not after:
        return False
    if (before[-1:] + part[:1]).isdecimal() and before:
        return False
    if (part[-1:] + after[:1]).isdecimal() and after:
        return False
    return len(part) > 2 or not (before[-1:].isalnum() or after[:1].isalnum())


def _any_number(text: str) -> str:
    """Return a pattern of a text in which numbers may be others, as times of excerpts are."""
    return r"\d+".join(re.escape(piece) for piece in re.split(r"\d+", text))


def listing(names: Sequence[str], noun: str) -> str:
    """Return a count and the first few names: `3 files: a, b, c`."""
    shown = ", ".join("without a name" if name == UNNAMED else repr(name) for name in names[:_LISTED])
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{counted(len(names), noun)} ({shown}{more})"
