"""Temporal grounding: how well the time that a system names fits the time that the reference has, by item.

An item is a class in a file that the reference has active time of: a query and its recording, in the tables
of audio-language models. All its active time on one side is one set, however many spans it is in, and the
item's score is the intersection over the union of both sets. An item for which the system has nothing scores
0, and stays in every mean. Time is counted in active segments, so that a segment length of 1e-6 s, the
resolution of times, gives the overlap in continuous time.
Source: Gao et al. 2017 (TALL), which define recall at an IoU and its mean, with one span on either side.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index
from sedeval_soft.measures.base import Measure, Table, ratio, scores_of

LEAST = (0.3, 0.5, 0.7)
"""The intersections over union from which recall counts an item as found."""

_NAMES = tuple(f"recall_at_iou_{round(100 * least)}" for least in LEAST)

COLUMNS = ("n_items", "iou", *_NAMES)
"""What is counted of each file and class: whether it is an item, its overlap, and whether that is enough."""


class Items(NamedTuple):
    """What the measures are values of, (..., n_classes) or (...) pooled; n_ref: the number of items.

    iou: the sum of their overlaps. found: how many reach each of `LEAST`.
    """

    n_ref: Array
    iou: Array
    found: tuple[Array, ...]


def count_items(tp: Index, n_ref: Index, n_sys: Index) -> dict[str, Index | Floats]:
    """Return the columns of items, (n_files, n_classes) each; tp, n_ref, n_sys: active segments, the same."""
    is_item = n_ref > 0
    iou = np.where(is_item, tp / np.maximum(n_ref + n_sys - tp, 1), 0.0)
    found = {name: (iou >= least).astype(np.int64) for name, least in zip(_NAMES, LEAST, strict=True)}
    return {"n_items": is_item.astype(np.int64), "iou": iou, **found}


def grounding_scores(sums: Mapping[str, Array]) -> Table:
    """Return the measures by name; sums: each of `COLUMNS` over files, classes last."""
    columns = [sums[name] for name in COLUMNS]
    each, pooled = (
        (n, iou, tuple(found)) for n, iou, *found in (columns, [of.sum(axis=-1) for of in columns])
    )
    return scores_of(MEASURES, Items(*each), Items(*pooled))


_grounding = partial(
    Measure, undefined="the class is active in no file of the reference", averages=("micro", "macro"),
    source="Gao et al. 2017 (TALL)", table="grounding",
)  # fmt: skip


def _recall(name: str, k: int) -> Measure:
    least = LEAST[k]
    return _grounding(name, f"share of items with an intersection over union of at least {least}",
        f"share of items with TP / (N_ref + N_sys - TP) >= {least}", lambda c: ratio(c.found[k], c.n_ref),
        short=f"R@{least}", aliases=(f"r@{least}", f"r1@{least}"))  # fmt: skip


MEASURES = (
    _grounding("mean_iou", "mean over items, a class in a file each, of intersection over union (mIoU)",
        "mean over items of TP / (N_ref + N_sys - TP)", lambda c: ratio(c.iou, c.n_ref), short="mIoU",
        aliases=("miou", "m_iou")),
    *(_recall(name, k) for k, name in enumerate(_NAMES)),
)  # fmt: skip
