"""Close matches, for messages about names that nobody knows."""

from __future__ import annotations

import re
from collections.abc import Iterable


def folded(name: str) -> str:
    """Return a name as it is compared where case, blanks, `-` and `_` shall make no difference."""
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def close_matches(name: str, known: Iterable[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return up to `n` known names that look like a name, the closest first.

    Before all come those that differ in case, blanks, `-` and `_` only.
    """
    from difflib import get_close_matches

    known = list(known)
    look = folded(name)
    alike = [other for other in known if folded(other) == look]
    # In case alone before other characters.
    alike.sort(key=lambda other: other.casefold() != name.casefold())
    return list(dict.fromkeys([*alike, *get_close_matches(name, known, n=n, cutoff=cutoff)]))[:n]


def did_you_mean(name: str, known: Iterable[str], n: int = 3, cutoff: float = 0.6) -> str:
    """Return `; did you mean a or b?` for close matches, nothing where there are none."""
    close = close_matches(name, (other for other in known if other != name), n, cutoff)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
