"""Segments and clips: counts of their cells."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Array, Bools, Floats, Index, distinct, expand, for_each
from sedeval_soft.fields import TNorm
from sedeval_soft.measures.base import Measure, Table, ratio, scores_of
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.grid import Grid

if TYPE_CHECKING:
    from sedeval_soft.timeline.regions import Regions

# Segment-based statistics: arrays of segments in, counts of each file out.
#
# reference, system: (n_classes, n_segments) values in [0, 1], or booleans where active.
# start: (n_files + 1,) first segment of each file.
# All counts come out per file.

_BLOCK = 1 << 11
"""Segments sorted at a time: 17 classes of them stay in the processor's cache."""

_OF_A_BYTE = 255
"""Active segments that a number of 8 bits can count."""


def sum_files(values: Array, start: Index, dtype: npt.DTypeLike | None = None) -> Array:
    """Sum the last axis over the segments of each file: (..., n_segments) to (..., n_files)."""
    dtype = values.dtype if dtype is None else dtype
    sums = np.zeros((*values.shape[:-1], len(start) - 1), dtype=dtype)
    full = np.flatnonzero(np.diff(start))
    if len(full):
        sums[..., full] = np.add.reduceat(values, start[full], axis=-1, dtype=dtype)
    return sums


def count_files(values: Bools, start: Index) -> Array:
    """Count the active segments of each file: (n_classes, n_segments) to (n_files, n_classes)."""
    # numpy adds bytes many times faster than it makes wider numbers of them.
    n_pieces = -(-np.diff(start) // _OF_A_BYTE)
    file, piece = expand(np.zeros_like(n_pieces), n_pieces)
    if not len(file):
        return np.zeros((len(start) - 1, len(values)), dtype=np.int64)
    edges = start[file] + piece * _OF_A_BYTE
    counts = np.add.reduceat(values.view(np.uint8), edges, axis=-1, dtype=np.uint8)
    return sum_files(counts, np.append(0, np.cumsum(n_pieces)), np.int64).T


def sum_classes(values: Floats) -> Floats:
    """Sum an array over its first axis, the classes, one after another.

    In numpy's own order the last digit may depend on the number of classes, including silent ones. Batches of
    files with other classes would then not add up to the same bytes.
    """
    if values.flags.c_contiguous and values.shape[1] > 1:
        # Row by row in numpy as well: only neighbours in memory are added in another order.
        return np.asarray(np.add.reduce(values, axis=0, initial=0.0))
    total = np.zeros(values.shape[1])
    for row in values:
        total += row
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
    errors = np.minimum(n_ref, n_sys) - n_hit, np.maximum(n_ref - n_sys, 0), np.maximum(n_sys - n_ref, 0)
    return DetectionCounts(
        *(count_files(values, start) for values in (hit, reference, system)),
        *(sum_files(n, start, np.int64) for n in errors),
    )


def fuzzy_and(reference: Floats, system: Floats, t_norm: TNorm) -> Floats:
    """Return the conjunction of two fuzzy memberships, elementwise: min(y, p), y p, or max(0, y + p - 1).

    Only the minimum of a value and itself is the value, so only with it a copied reference has F = 1. Source:
    Klement, Mesiar & Pap 2000.
    """
    if t_norm == "product":
        return reference * system
    if t_norm == "lukasiewicz":
        # The difference of the larger to 1 is exact from 0.5 on: the result is never above the smaller.
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
        m = fuzzy_and(y, p, t_norm)
        for values in (y, p, m):
            values.sort(axis=1)
        # The k-th largest of the minima is at most the minimum of the k-th largest, and no T-norm is above
        # the minimum: no term is negative, and a perfect system gives exact zeros.
        errors[0, block] = sum_classes((np.minimum(y, p) - m).T)
        y -= p
        errors[1, block] = sum_classes(np.maximum(y, 0.0).T)
        errors[2, block] = sum_classes(np.maximum(-y, 0.0).T)

    tp, n_ref, n_sys = np.zeros((3, len(start) - 1, len(reference)))

    def sum_class(label: int) -> None:
        y, p = reference[label], system[label]
        for sums, values in ((tp, fuzzy_and(y, p, t_norm)), (n_ref, y), (n_sys, p)):
            sums[:, label] = sum_files(values, start)

    for_each(count_errors, range(0, reference.shape[1], _BLOCK), reference.size)
    for_each(sum_class, range(len(reference)), reference.size)
    return DetectionCounts(tp, n_ref, n_sys, *sum_files(errors, start))


# Hard segment counts from runs of active segments, without a grid of cells. A run is a maximal stretch of
# active segments of one file and class. A table of events has few runs however short the segments are, so
# that the hard reading of an hour at 10 ms costs no more than at 1 s. The counts equal the counts of
# `count_hard`. Runs are `Regions` whose files are the classes, and whose times are numbers of segments over
# all files.


def runs_on_grid(events: Events, grid: Grid) -> Regions:
    """Return the runs of segments of each class that hard events make active."""
    from sedeval_soft.timeline.regions import Regions

    return Regions.of(events.label, *grid.cells(events.file, events.onset, events.offset))


def count_hard_runs(reference: Regions, system: Regions, start: Index, n_classes: int) -> DetectionCounts:
    """Count active segments and errors per file; start: (n_files + 1,) first segment of each file."""
    sides = reference & system, reference, system
    # All files are cut at the ends of runs: the number of classes on each side is constant between cuts.
    cuts = distinct(np.concatenate([start, *(edge for runs in sides for edge in (runs.begin, runs.end))]))
    changes = np.zeros((3, len(cuts)), dtype=np.int64)
    for change, runs in zip(changes, sides, strict=True):
        np.add.at(change, np.searchsorted(cuts, runs.begin), 1)
        np.subtract.at(change, np.searchsorted(cuts, runs.end), 1)
    n_hit, n_ref, n_sys = np.cumsum(changes, axis=1)[:, :-1]
    errors = np.array(
        (np.minimum(n_ref, n_sys) - n_hit, np.maximum(n_ref - n_sys, 0), np.maximum(n_sys - n_ref, 0))
    )
    counts = [_sum_runs(runs, start, n_classes) for runs in sides]
    return DetectionCounts(*counts, *sum_files(errors * np.diff(cuts), np.searchsorted(cuts, start)))


def count_beyond(runs: Regions, start: Index, n_evaluated: Index, n_classes: int) -> Index:
    """Count active segments after the evaluated ones of each file, (n_files, n_classes).

    start: (n_files + 1,) first segment of each file. n_evaluated: (n_files,) how many are evaluated.
    """
    edges = np.empty(2 * len(n_evaluated) + 1, dtype=np.int64)
    edges[0::2], edges[1::2] = start, start[:-1] + n_evaluated
    return _sum_runs(runs, edges, n_classes)[1::2]


def _sum_runs(runs: Regions, start: Index, n_classes: int) -> Index:
    """Sum the lengths of runs, (n_files, n_classes); a run may go on over the end of a file."""
    file = np.searchsorted(start, runs.begin, side="right") - 1
    until = np.searchsorted(start, runs.end, side="left")
    run, files = expand(file, np.maximum(until, file))
    length = np.minimum(runs.end[run], start[files + 1]) - np.maximum(runs.begin[run], start[files])
    sums = np.zeros((len(start) - 1, n_classes), dtype=np.int64)
    np.add.at(sums, (files, runs.file[run]), length)
    return sums


# Temporal grounding: how well the time that a system names fits the time that the reference has, by item.
#
# An item is a class in a file in which the reference has active time: a query and its recording, in the
# tables of audio-language models. All its active time on one side is one set, however many spans it is in,
# and the item's score is the intersection over the union of both sets. An item for which the system has
# nothing scores 0, and stays in every mean. Time is counted in active segments, so that a segment length of
# 1e-6 s, the resolution of times, gives the overlap in continuous time.
#
# An absent query is a class in a file of the reference in which only the system has active time, or such a
# file in which neither side has any: there the system is right to be silent.
# Source: Gao et al. 2017 (TALL), which define recall at an IoU and its mean, with one span on either side.

ITEM_COLUMNS = ("n_items", "answered", "silent", "iou", "found")
"""Columns of files and classes. Per file and class: whether it is an item, whether it is an answered absent
query, the overlap of an item, and whether the overlap reaches the setting `iou`. Per file: whether it is an
absent query without an answer."""


class Items(NamedTuple):
    """Statistics of measures, (..., n_classes) or (...) pooled; n_ref: the number of items.

    answered: the absent queries that the system answers. silent: the absent queries without an answer, (...).
    iou: the sum of the items' overlaps. found: the number of items whose overlap is large enough.
    """

    n_ref: Array
    answered: Array
    silent: Array
    iou: Array
    found: Array


def count_items(
    tp: Index, n_ref: Index, n_sys: Index, known: Bools, least: float
) -> dict[str, Index | Floats]:
    """Return `ITEM_COLUMNS`, (n_files, n_classes) each or (n_files,).

    tp, n_ref, n_sys: active segments. known: (n_files,) whether the reference has the file. least: the
    intersection over union from which recall counts an item as found.
    """
    is_item = n_ref > 0
    answered, silent = (
        known[:, None] & ~is_item & (n_sys > 0),
        known & np.all((n_ref == 0) & (n_sys == 0), axis=1),
    )
    absent: dict[str, Index] = {"answered": answered.astype(np.int64), "silent": silent.astype(np.int64)}
    iou = np.where(is_item, tp / np.maximum(n_ref + n_sys - tp, 1), 0.0)
    found = (iou >= least).astype(np.int64)
    return {"n_items": is_item.astype(np.int64), "iou": iou, "found": found, **absent}


def grounding_scores(sums: Mapping[str, Array]) -> Table:
    """Return the measures by name; sums: each of `ITEM_COLUMNS` over files, classes last."""
    each = {name: column for name, column in sums.items() if name != "silent"}
    sides = (each, {name: column.sum(axis=-1) for name, column in each.items()})
    items = (Items(of["n_items"], of["answered"], sums["silent"], of["iou"], of["found"]) for of in sides)
    return scores_of(GROUNDING, *items)


_grounding = partial(
    Measure, undefined="the class is active in no file of the reference", averages=("micro", "macro"),
    source="Gao et al. 2017 (TALL)", table="grounding",
)  # fmt: skip


_absent = partial(Measure, averages=("micro",), has_classes=False, table="grounding")


GROUNDING = (
    _grounding("mean_iou", "mean over items, a class in a file each, of intersection over union (mIoU)",
        "mean over items of TP / (N_ref + N_sys - TP)", lambda c: ratio(c.iou, c.n_ref), short="mIoU",
        aliases=("miou", "m_iou")),
    _grounding("recall_at_iou", "share of items with an intersection over union of at least --set iou",
        "share of items with TP / (N_ref + N_sys - TP) >= iou", lambda c: ratio(c.found, c.n_ref),
        short="R@IoU", aliases=("r@iou", "r1@iou")),
    _absent("absent_answered", "share of absent queries that the system answers with a span",
        "absent queries with a span / absent queries", lambda c: ratio(c.answered, c.answered + c.silent),
        direction="lower", short="absent answered", undefined="there are no absent queries",
        has_part_means=False),
    _absent("mean_iou_all", "mean over items and absent queries of intersection over union; 1 for absent and "
        "silent", "(sum of TP / (N_ref + N_sys - TP) + absent queries without a span) / all queries",
        lambda c: ratio(c.iou + c.silent, c.n_ref + c.answered + c.silent), short="mIoU all",
        undefined="there are no queries"),
)  # fmt: skip
