"""How often each file counts in replicates, as rows of weights: (n_replicates, n_files).

Rows come in blocks, so that memory does not grow with the number of replicates. What a row holds depends on
the seed and its number alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_CELLS = 1 << 21
"""Weights in a block."""

_MOST_ROWS = 1 << 10


def bootstrap(n_files: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield rows in which as many files as there are were drawn with replacement. Source: Efron 1979."""
    rng = np.random.default_rng(seed)
    for rows in blocks(n_files, replicates):
        drawn = rng.integers(n_files, size=(rows, n_files)) + n_files * np.arange(rows)[:, None]
        counts = np.bincount(drawn.reshape(-1), minlength=rows * n_files)
        yield counts.reshape(rows, n_files).astype(np.float64)


def leave_one_out(n_files: int) -> Iterator[Floats]:
    """Yield rows in each of which one file is left out, in the order of files. Source: Quenouille 1956."""
    first = 0
    for rows in blocks(n_files, n_files):
        weights = np.ones((rows, n_files))
        weights[np.arange(rows), first + np.arange(rows)] = 0.0
        first += rows
        yield weights


def exchanges(n_files: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield rows of 0 and 1: which files' outputs two systems exchange. Source: Noreen 1989."""
    rng = np.random.default_rng(seed)
    for rows in blocks(n_files, replicates):
        yield rng.integers(2, size=(rows, n_files)).astype(np.float64)


def blocks(n_files: int, rows: int) -> Iterator[int]:
    """Yield how many rows each block has."""
    most = max(1, min(_MOST_ROWS, _CELLS // max(n_files, 1)))
    for begin in range(0, rows, most):
        yield min(most, rows - begin)
