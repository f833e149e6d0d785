"""Close matches, for messages about names that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable


def close_matches(name: str, known: Iterable[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return up to `n` known names that look like a name: the closest first, in case alone before all."""
    from difflib import get_close_matches

    known = list(known)
    alike = [other for other in known if other.casefold() == name.casefold()]
    return list(dict.fromkeys([*alike, *get_close_matches(name, known, n=n, cutoff=cutoff)]))[:n]


def did_you_mean(name: str, known: Iterable[str], n: int = 3, cutoff: float = 0.6) -> str:
    """Return `; did you mean a or b?` for close matches, nothing where there are none."""
    close = close_matches(name, (other for other in known if other != name), n, cutoff)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
