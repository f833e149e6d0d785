"""Laws that statistics keep: of detection, of cells, of divergences, of rankings and of deviations.

A law is checked for all files, or for all files and classes, at once. A tally that is read is held against
every one: numbers may contradict one another where each by itself is possible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.fields import TNorm
from sedeval_soft.measures.base import Array, Bools, Index
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE
from sedeval_soft.measures.divergence import KL
from sedeval_soft.measures.event import ENDS
from sedeval_soft.measures.ranking import CUT_SUMS, SUMS
from sedeval_soft.tables.event_table import LONGEST

Columns = Mapping[str, Array]
"""Columns of a tally by the last part of their names: (n_files, n_classes) or (n_files,)."""

ROUNDING = 1e-9
"""How far two float sums of the same n numbers may differ, relative to what was summed.

An order of adding them is off by n rounding errors of 1.1e-16 at most: this is enough for nine million.
"""

_POSSIBLE = "a number that is 0 or more"


@dataclass(frozen=True, slots=True)
class Law:
    """What is true of a statistic.

    column: its name. says: what it must be, to be read behind `expected`. holds: (n_files, n_classes) or
    (n_files,), where it is so. values: what is there; limit: what it is held against, None for nothing;
    both of the shape of `holds`, or of one that numpy makes of it.
    """

    column: str
    says: str
    holds: Bools
    values: Array
    limit: Array | float | None = None

    def below(self, prefix: str) -> Law:
        """Return the same law of a column below a prefix, such as `segment.hard`."""
        return replace(self, column=f"{prefix}.{self.column}")


def at_most(
    columns: Columns, name: str, most: Array | float, says: str = "", scale: Array | float = 0.0
) -> Law:
    """Return the law that a column is at most something.

    says: what that is. scale: the size of what was summed in floats; 0 where the law is exact.
    """
    values = columns[name]
    holds = np.isfinite(values) & (values <= np.asarray(most) + ROUNDING * np.asarray(scale))
    return Law(name, f"at most {says}".rstrip(), holds, values, most)


def at_least(
    columns: Columns, name: str, least: Array | float, says: str = "", scale: Array | float = 0.0
) -> Law:
    """Return the law that a column is at least something; says, scale: as for `at_most`."""
    values = columns[name]
    holds = np.isfinite(values) & (values >= np.asarray(least) - ROUNDING * np.asarray(scale))
    return Law(name, f"at least {says}".rstrip(), holds, values, least)


def equal(columns: Columns, name: str, other: Array | float, says: str, scale: Array | float = 0.0) -> Law:
    """Return the law that a column is the same as another number; says, scale: as for `at_most`."""
    values = columns[name]
    holds = np.isfinite(values) & (np.abs(values - other) <= ROUNDING * np.asarray(scale))
    return Law(name, says, holds, values, other)


def size_of(*columns: Array) -> Array | float:
    """Return the sum of some columns as the scale of float sums of them; 0 where all are whole numbers."""
    if all(column.dtype.kind in "iub" for column in columns):
        return 0.0
    total: Array = np.sum([np.abs(column) for column in columns], axis=0)
    return total


def detection_laws(columns: Columns, *, crowded: bool = False) -> Iterator[Law]:
    """Yield the laws of the statistics of detection.

    columns: `PER_CLASS` and `PER_FILE`, of each file. crowded: whether the errors of a file may all be NaN,
    as those of the soft reading of events are where too many overlap.

    No order of adding makes TP larger than what it is a part of: these laws are exact in floats, too.
    """
    tp, n_ref, n_sys = (columns[name] for name in PER_CLASS)
    for name in PER_CLASS:
        values = columns[name]
        yield Law(name, _POSSIBLE, np.isfinite(values) & (values >= 0), values)
    yield at_most(columns, "tp", n_ref, "N_ref")
    yield at_most(columns, "tp", n_sys, "N_sys")
    errors = [columns[name] for name in PER_FILE]
    unknown = np.logical_and.reduce([np.isnan(column) for column in errors]) & crowded
    for name, values in zip(PER_FILE, errors, strict=True):
        yield Law(name, _POSSIBLE, unknown | (np.isfinite(values) & (values >= 0)), values)
    substituted, deleted, inserted = errors
    slack = ROUNDING * np.asarray(size_of(n_ref.sum(axis=1), n_sys.sum(axis=1)))
    for name, values, part, whole in (
        ("deletions", deleted, n_ref, "N_ref"),
        ("insertions", inserted, n_sys, "N_sys"),
    ):
        left = (part - tp).sum(axis=1) - substituted
        holds = unknown | (np.abs(values - left) <= slack)
        yield Law(name, f"the sum over classes of {whole} - TP, less the substitutions,", holds, values, left)


def cell_laws(columns: Columns, n_cells: Index) -> Iterator[Law]:
    """Yield the laws of counts of cells, segments or clips, beside those of all detection.

    columns: `tp`, `n_ref` and `n_sys`, (n_files, n_classes). n_cells: (n_files,) how many cells a file has.
    """
    tp, n_ref, n_sys = (columns[name] for name in PER_CLASS)
    most = n_cells[:, None]
    for name, values in (("n_ref", n_ref), ("n_sys", n_sys)):
        yield at_most(columns, name, most, "the number of cells of the file", size_of(values))
    # No T-norm is below y + p - 1: together both sides fill no more than there is.
    holds = n_ref + n_sys - tp <= most + ROUNDING * np.asarray(size_of(n_ref, n_sys))
    says = "at least N_ref + N_sys less the number of cells of the file,"
    yield Law("tp", says, holds, tp, n_ref + n_sys - most)


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


def divergence_laws(
    columns: Columns,
    n_cells: Index,
    n_beyond: Index,
    names: tuple[str, ...],
    eps: float,
    *,
    t_norm: TNorm | None,
) -> Iterator[Law]:
    """Yield the laws of sums of divergences.

    columns: the sums by name, `sounding`, `tp`, `n_ref`, `n_sys`, (n_files, n_classes). n_cells: (n_files,)
    how many cells of each file are evaluated. n_beyond: (n_files,) how many it has after these, which are
    in N_sys alone. names: `KL`, `SOFT` or `PROPER`. t_norm: that of the soft reading, whose TP,
    N_ref and N_sys are sums over the same values; None where these are counts.
    """
    sounding = columns["sounding"]
    yield at_least(columns, "sounding", 0)
    yield at_most(columns, "sounding", n_cells[:, None], "the number of cells of the file")
    largest = {"jensen_shannon": math.log(2), "brier": 1.0, "mean_absolute_error": 1.0, "product": 1.0}
    for name in names:
        most = largest.get(name, -math.log(eps)) * sounding
        yield at_least(columns, name, 0.0, scale=most)
        yield at_most(columns, name, most, "what so many cells can add, each at its worst,", most)
    if t_norm is None:
        return
    tp, n_ref, n_sys = (columns[name] for name in PER_CLASS)
    for name, cells in (("n_ref", sounding), ("n_sys", sounding + n_beyond[:, None])):
        yield at_most(columns, name, cells, "the number of cells that are not silent", columns[name])
    if names == KL:
        return
    # Cross entropy is the divergence and the reference's own entropy.
    yield at_most(columns, "kl_divergence", columns["cross_entropy"], "the cross entropy", sounding)
    yield at_most(columns, "brier", columns["mean_absolute_error"], "the mean absolute error", sounding)
    yield at_most(columns, "product", n_ref, "N_ref", n_ref)
    yield at_most(columns, "product", n_sys, "N_sys", n_sys)
    both = n_ref + n_sys
    if t_norm == "minimum":
        apart, says = both - 2 * tp, "N_ref + N_sys - 2 TP"
        yield at_most(columns, "mean_absolute_error", apart, says, both)
        yield at_least(columns, "mean_absolute_error", apart - n_beyond[:, None], says, both)
    if t_norm == "product":
        yield equal(columns, "product", tp, "TP", both)


def ranking_laws(
    columns: Columns, n_cells: Index, n_classes: int, eps: float, *, hard: bool
) -> Iterator[Law]:
    """Yield the laws of sums over segments.

    columns: the sums by name. n_cells: (n_files,) how many segments each file has. hard: whether the
    reference was cut.
    """
    weight = columns["weight"]
    yield at_least(columns, "weight", 0.0)
    yield at_most(columns, "weight", n_cells, "the number of segments of the file", weight)
    largest = {
        "coverage": float(n_classes),
        "misordered": n_classes * (n_classes - 1) / 2,
        "cross_entropy": n_classes * -math.log(eps),
        "distance": float(n_classes),
    }
    for name in (*SUMS[1:], *(CUT_SUMS if hard else ())):
        most = largest.get(name, 1.0) * weight
        yield at_least(columns, name, weight if name == "coverage" else 0.0, scale=most)
        yield at_most(columns, name, most, "what segments of this weight can add, each at its most,", most)
    if not hard:
        return
    prefix, n_ref = columns["prefix"], columns["n_ref"]
    for name, most, says in (
        ("n_ref", weight[:, None], "the weight of the segments"),
        ("prefix", weight[:, None], "the weight of the segments"),
        ("prefix_hits", prefix, "what is in the prefix"),
        ("prefix_hits", n_ref, "N_ref"),
    ):
        yield at_least(columns, name, 0.0)
        yield at_most(columns, name, most, says, columns[name])
    # Each segment's prefix has as many places as it has active classes.
    places, active = {"prefix": prefix.sum(axis=1)}, n_ref.sum(axis=1)
    yield equal(places, "prefix", active, "in all classes together, as many as N_ref", active)


def deviation_laws(columns: Columns, collar: float | None) -> Iterator[Law]:
    """Yield the laws of sums of deviations.

    columns: `event.DEVIATIONS` and `matched`, (n_files, n_classes). collar: the most in seconds that the
    onsets of a pair may be apart, None where they are not looked at.
    """
    n = columns["matched"]
    for end in ENDS:
        name, total, squares = f"{end}_squares", columns[end], columns[f"{end}_squares"]
        most = LONGEST if end == "offset" or collar is None else collar
        holds = np.abs(total) <= (1 + ROUNDING) * most * n
        says = "at most, late or early, what so many matched events can be off,"
        yield Law(end, says, holds, total, most * n)
        yield Law(name, _POSSIBLE, squares >= 0, squares)
        holds = squares <= (1 + ROUNDING) * most**2 * n
        says = "at most what so many matched events can be off, squared,"
        yield Law(name, says, holds, squares, most**2 * n)
        # The mean of squares is at least the square of the mean; nothing is off where nothing is matched.
        holds = squares * n >= (1 - ROUNDING) * total * total
        yield Law(name, f"at least the square of the sum, {end}, over the matched events", holds, squares)
