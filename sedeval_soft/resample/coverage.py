"""How often 95 % intervals hold the true score where there are few files, as measured by simulation.

The numbers are made by `python docs/make/coverage.py --measure`, which says of what data.
"""

from __future__ import annotations

MEASURED: dict[str, dict[str, dict[int, float]]] = {
    "bootstrap": {
        "hard": {5: 0.838, 10: 0.894, 20: 0.932, 30: 0.93, 50: 0.951, 100: 0.95},
        "soft": {5: 0.871, 10: 0.868, 20: 0.935, 30: 0.929, 50: 0.945, 100: 0.939},
        "optimal": {5: 0.661, 10: 0.795, 20: 0.815, 30: 0.863, 50: 0.89, 100: 0.914},
        "difference": {5: 0.815, 10: 0.884, 20: 0.931, 30: 0.941, 50: 0.924, 100: 0.93},
    },
    "bca": {
        "hard": {5: 0.821, 10: 0.904, 20: 0.934, 30: 0.932, 50: 0.954, 100: 0.951},
        "soft": {5: 0.871, 10: 0.907, 20: 0.945, 30: 0.938, 50: 0.951, 100: 0.95},
        "optimal": {5: 0.7, 10: 0.85, 20: 0.911, 30: 0.909, 50: 0.939, 100: 0.943},
        "difference": {5: 0.818, 10: 0.87, 20: 0.932, 30: 0.936, 50: 0.917, 100: 0.925},
    },
    "expanded": {
        "hard": {5: 0.925, 10: 0.935, 20: 0.959, 30: 0.948, 50: 0.955, 100: 0.956},
        "soft": {5: 0.938, 10: 0.935, 20: 0.965, 30: 0.953, 50: 0.959, 100: 0.951},
        "optimal": {5: 0.772, 10: 0.891, 20: 0.929, 30: 0.926, 50: 0.939, 100: 0.944},
        "difference": {5: 0.921, 10: 0.931, 20: 0.944, 30: 0.95, 50: 0.929, 100: 0.938},
    },
    "jackknife": {
        "hard": {5: 0.836, 10: 0.907, 20: 0.931, 30: 0.929, 50: 0.953, 100: 0.943},
        "soft": {5: 0.886, 10: 0.917, 20: 0.953, 30: 0.946, 50: 0.955, 100: 0.948},
        "difference": {5: 0.874, 10: 0.916, 20: 0.948, 30: 0.943, 50: 0.929, 100: 0.936},
    },
}
"""By `--ci`, by reading of macro F1 (or `difference`, of two systems alike), and by number of files: what
share of intervals held the true score. Of the optimal reading that is the score of all files there are, each
class at the threshold that is best for all of them."""

NOMINAL, ENOUGH = 0.95, 0.92
"""What the intervals were to hold, and from which share on they are not called rough."""


def held(method: str, kind: str, n_files: int) -> float | None:
    """Return what share of intervals held the truth with so many files, or the next fewer that were measured.

    None of what has no intervals, and of more files than were measured.
    """
    measured = MEASURED.get(method, {}).get(kind)
    if not measured or n_files > max(measured):
        return None
    fewer = [n for n in measured if n <= n_files]
    return measured[max(fewer) if fewer else min(measured)]


def files_of(n_files: int) -> int:
    """Return with how many files it was measured what is said of so many."""
    measured = next(iter(MEASURED["bootstrap"].values()))
    return max((n for n in measured if n <= n_files), default=min(measured))
