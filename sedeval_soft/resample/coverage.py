"""How often 95 % intervals hold the true score where there are few files, as measured by simulation.

The numbers are made by `python docs/make/coverage.py --measure`, which says of what data.
"""

from __future__ import annotations

MEASURED: dict[str, dict[str, dict[int, float]]] = {
}
"""By `--ci`, by reading of macro F1 (or `difference`, of two systems alike), and by number of files: what
share of intervals held the true score. Of the optimal reading that is the score of all files there are, each
class at the threshold that is best for all of them."""

NOMINAL, ENOUGH = 0.95, 0.92
"""What the intervals were to hold, and from which share on they are not called rough."""


def held(method: str, kind: str, n_files: int) -> float | None:
    """Return what share of intervals held the truth with so many files, or the next fewer that were measured.

    None of what has no intervals.
    """
    measured = MEASURED.get(method, {}).get(kind)
    if not measured:
        return None
    fewer = [n for n in measured if n <= n_files]
    return measured[max(fewer) if fewer else min(measured)]


def files_of(n_files: int) -> int:
    """Return with how many files it was measured what is said of so many."""
    measured = next(iter(MEASURED["bootstrap"].values()))
    return max((n for n in measured if n <= n_files), default=min(measured))
