"""Ranking scores from sums over segments."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.averages import Averaged, averaged, ratio

Array = npt.NDArray[Any]


def ranking_scores(sums: Mapping[str, Array], n_classes: int, unit: str) -> dict[str, Averaged]:
    """Return the weighted mean over segments of each sum; sums: (...) totals, unit: `nats` or `bits`."""
    weight = sums["weight"]
    means = {name: ratio(total, weight) for name, total in sums.items() if name != "weight"}
    pairs = np.asarray(n_classes * (n_classes - 1) / 2)
    means["ranking_loss_all_pairs"] = ratio(means.pop("misordered"), pairs)
    means["hamming_loss"] = ratio(means.pop("distance"), np.asarray(n_classes))
    if unit == "bits":
        means["cross_entropy"] = means["cross_entropy"] / math.log(2)
    # Sums of shares may round beyond their whole.
    bounded = {name: value if name in _UNBOUNDED else np.minimum(value, 1.0) for name, value in means.items()}
    return {name: Averaged(None, overall=value) for name, value in bounded.items()}


_UNBOUNDED = frozenset({"coverage", "cross_entropy"})


def prefix_scores(prefix: Array, hits: Array, n_ref: Array) -> dict[str, Averaged]:
    """Return the precision of each class among the prefixes of segments, and the lowest of any.

    prefix, hits, n_ref: (..., n_classes). A class that has a reference and is never in a prefix has 0:
    a system must not gain by ranking it last.
    """
    values = np.where(prefix > 0, np.minimum(ratio(hits, prefix), 1.0), 0.0)
    values = np.where(n_ref > 0, values, np.nan)
    lowest = np.where(n_ref > 0, values, np.inf).min(axis=-1, initial=np.inf)
    return {
        "label_wise_precision": averaged(values, None, n_ref),
        "label_wise_precision_minimum": Averaged(None, overall=np.where(np.isinf(lowest), np.nan, lowest)),
    }
