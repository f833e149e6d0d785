"""Temporal grounding: how well the time that a system names fits the time that the reference has, by item.

An item is a class in a file that the reference has active time of: a query and its recording, in the tables
of audio-language models. All its active time on one side is one set, however many spans it is in, and the
item's score is the intersection over the union of both sets. An item for which the system has nothing scores
0, and stays in every mean. Time is counted in active segments, so that a segment length of 1e-6 s, the
resolution of times, gives the overlap in continuous time.

An absent query is a class in a file of the reference that only the system has active time of, or such a file
in which neither side has any: silence is right about it.
Source: Gao et al. 2017 (TALL), which define recall at an IoU and its mean, with one span on either side.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.measures.base import Measure, Table, ratio, scores_of

COLUMNS = ("n_items", "answered", "silent", "iou", "found")
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
    """Return `COLUMNS`, (n_files, n_classes) each or (n_files,).

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
    """Return the measures by name; sums: each of `COLUMNS` over files, classes last."""
    each = {name: column for name, column in sums.items() if name != "silent"}
    sides = (each, {name: column.sum(axis=-1) for name, column in each.items()})
    items = (Items(of["n_items"], of["answered"], sums["silent"], of["iou"], of["found"]) for of in sides)
    return scores_of(MEASURES, *items)


_grounding = partial(
    Measure, undefined="the class is active in no file of the reference", averages=("micro", "macro"),
    source="Gao et al. 2017 (TALL)", table="grounding",
)  # fmt: skip


_absent = partial(Measure, averages=("micro",), has_classes=False, table="grounding")


MEASURES = (
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
