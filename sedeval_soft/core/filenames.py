"""Which file of the system is which file of the reference.

Tables name one recording `scene/a001.wav`, `a001.wav` or `a001`. A name matches another with or
without its folders and its audio extension, but only when that is unambiguous: each of the two
must be the only one of its table that looks like that. Exact matches come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

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
