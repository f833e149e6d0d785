"""Segment-based statistics: arrays of segments in, counts of each file out.

reference, system: (n_classes, n_segments) values in [0, 1], or booleans where active.
start: (n_files + 1,) first segment of each file. All counts come out per file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.laws import ROUNDING, Columns, Law, at_least, at_most, size_of
from sedeval_soft.core.threads import for_each
from sedeval_soft.fields import TNorm
from sedeval_soft.measures.detection import DetectionCounts

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.int64]
Array = npt.NDArray[Any]

_BLOCK = 8192
"""Segments sorted at a time: 17 classes of them stay in the processor's cache."""

_MANY = 1 << 18
"""Booleans from which it pays to look at each class by itself."""


def sum_files(values: Array, start: Index, dtype: npt.DTypeLike | None = None) -> Array:
    """Sum the last axis over the segments of each file: (..., n_segments) to (..., n_files)."""
    dtype = values.dtype if dtype is None else dtype
    sums = np.zeros((*values.shape[:-1], len(start) - 1), dtype=dtype)
    full = np.flatnonzero(np.diff(start))
    if len(full):
        sums[..., full] = np.add.reduceat(values, start[full], axis=-1, dtype=dtype)
    return sums


def count_files(values: Bools, start: Index) -> Index:
    """Count the active segments of each file: (n_classes, n_segments) to (n_files, n_classes)."""
    if values.size < _MANY:
        return sum_files(values, start, np.int64).T
    # Where they are is found several times faster than so many booleans are added.
    found = [np.diff(np.searchsorted(np.flatnonzero(row), start)) for row in values]
    return np.array(found, dtype=np.int64).reshape(len(values), len(start) - 1).T


def sum_classes(values: Floats) -> Floats:
    """Sum an array whose last axis are classes over them, one after another.

    One column after another: in numpy's own order the last digit depends on how many classes there are,
    silent ones too, so that batches of files with other classes would not add up to the same bytes.
    """
    total = np.zeros(len(values))
    for column in values.T:
        total += column
    return total


def count_hard(reference: Bools, system: Bools, start: Index) -> DetectionCounts:
    """Count active segments, and the errors of each segment regardless of class.

    Per segment S = min(N_ref, N_sys) - TP, D = max(0, N_ref - N_sys), I = max(0, N_sys - N_ref).
    Source: Mesaros, Heittola & Virtanen 2016, section 3.
    """
    hit = reference & system
    small: npt.DTypeLike = np.int16 if len(reference) < 2**15 else np.int64
    n_ref, n_sys, n_hit = (
        np.add.reduce(values.view(np.uint8), axis=0, dtype=small) for values in (reference, system, hit)
    )
    return DetectionCounts(
        count_files(hit, start),
        count_files(reference, start),
        count_files(system, start),
        sum_files(np.minimum(n_ref, n_sys) - n_hit, start, np.int64),
        sum_files(np.maximum(n_ref - n_sys, 0), start, np.int64),
        sum_files(np.maximum(n_sys - n_ref, 0), start, np.int64),
    )


def common(reference: Floats, system: Floats, t_norm: TNorm) -> Floats:
    """Return what two fuzzy memberships have in common, elementwise: min(y, p), y p, or max(0, y + p - 1).

    Only the minimum of a value and itself is the value, so only with it a copied reference has F = 1.
    Source: Klement, Mesiar & Pap 2000.
    """
    if t_norm == "product":
        return reference * system
    if t_norm == "lukasiewicz":
        # What the larger lacks to 1 is exact from 0.5 on: the result is never above the smaller.
        lacking = 1.0 - np.maximum(reference, system)
        return np.maximum(np.minimum(reference, system) - lacking, 0.0)
    return np.minimum(reference, system)


def count_soft(reference: Floats, system: Floats, start: Index, t_norm: TNorm = "minimum") -> DetectionCounts:
    """Fuzzy counts with a T-norm, and the errors integrated over all alpha-cuts.

    TP = sum T(y, p), N_ref = sum y, N_sys = sum p, with T(y, p) = min(y, p) or another T-norm. With a
    segment's values y(1) >= y(2) >= ... sorted in descending order:
    S = sum_k min(y(k), p(k)) - sum_c T(y_c, p_c), D = sum_k max(0, y(k) - p(k)),
    I = sum_k max(0, p(k) - y(k)).
    Sources: Harju & Mesaros 2023 (TP); the error counts are hard ones integrated over the level.
    """
    errors = np.zeros((3, reference.shape[1]))

    def count_errors(begin: int) -> None:
        block = slice(begin, begin + _BLOCK)
        y, p = (np.array(values[:, block].T, order="C") for values in (reference, system))
        m = common(y, p, t_norm)
        for values in (y, p, m):
            values.sort(axis=1)
        # The k-th largest of the minima is at most the minimum of the k-th largest, and no T-norm is above
        # the minimum: no term is negative, and a perfect system gives exact zeros.
        errors[0, block] = sum_classes(np.minimum(y, p) - m)
        y -= p
        errors[1, block] = sum_classes(np.maximum(y, 0.0))
        errors[2, block] = sum_classes(np.maximum(-y, 0.0))

    tp, n_ref, n_sys = np.zeros((3, len(start) - 1, len(reference)))

    def sum_class(label: int) -> None:
        y, p = reference[label], system[label]
        for sums, values in ((tp, common(y, p, t_norm)), (n_ref, y), (n_sys, p)):
            sums[:, label] = sum_files(values, start)

    for_each(count_errors, range(0, reference.shape[1], _BLOCK), reference.size)
    for_each(sum_class, range(len(reference)), reference.size)
    return DetectionCounts(tp, n_ref, n_sys, *sum_files(errors, start))


def cell_laws(columns: Columns, n_cells: Index) -> Iterator[Law]:
    """Yield the laws of counts of cells, segments or clips, beside those of all detection.

    columns: `tp`, `n_ref` and `n_sys`, (n_files, n_classes). n_cells: (n_files,) how many cells a file has.
    """
    tp, n_ref, n_sys = (columns[name] for name in ("tp", "n_ref", "n_sys"))
    most = n_cells[:, None]
    for name, values in (("n_ref", n_ref), ("n_sys", n_sys)):
        yield at_most(columns, name, most, "the number of cells of the file", size_of(values))
    # No T-norm is below y + p - 1: together both sides fill no more than there is.
    either = n_ref + n_sys - tp
    holds = either <= most + ROUNDING * np.asarray(size_of(n_ref, n_sys))
    yield Law(
        "tp", "at least N_ref + N_sys less the number of cells of the file,", holds, tp, n_ref + n_sys - most
    )


def beyond_laws(columns: Columns) -> Iterator[Law]:
    """Yield the laws of what the system has after the end of files: false alarms, and no true negatives.

    columns: `tp`, `n_ref`, `n_sys` and `beyond`, (n_files, n_classes), and `n_cells`, (n_files,): how many
    cells of a file are evaluated.
    """
    alarms = columns["n_sys"] - columns["tp"]
    yield at_least(columns, "beyond", 0)
    yield at_most(columns, "beyond", alarms, "the number of false alarms")
    silent = columns["n_cells"][:, None] - (columns["n_ref"] + alarms - columns["beyond"])
    yield at_least({"true negatives": silent}, "true negatives", 0)
