"""The uncertainty of scores against references pooled from annotators, and the number of annotators needed.

The score of a system depends on the files, and on who labelled them. The estimate is the score against a
reference pooled from so many annotators of this kind, over files of this kind. It differs between numbers of
annotators, as a mean of more of them is smoother. For k of n annotators the score is the mean over sets of k
(Hoeffding 1948), and a two-way jackknife gives its variance:

    V = V_annotators + V_files - V_both

where the first two leave out one annotator, or one file, at a time, and V_both, one of each, is what both of
them contain (Owen 2007, with the jackknife for the bootstrap). The interval takes Student's t with as many
degrees of freedom as the two variances have together (Satterthwaite 1946). Annotators are never drawn twice:
a reference of fewer distinct ones has other scores.

If the reference is binarised, even numbers of annotators have ties and odd ones have none: one annotator less
makes a reference of another kind. The effect of each annotator is then estimated in sets of two less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from sedeval_soft.apps.annotators.scoring import Scoring
from sedeval_soft.arrays import Bools, Floats, Index

MOST_SETS = 35
"""Sets of one size that are looked at; of more, so many are drawn, or three for each annotator."""

MOST_GROUPS = 200
"""The most files that are left out one at a time; more files are left out in so many groups."""

_TIED = 4
"""Annotators from which on effects on a reference that is cut are taken from sets of two less."""

_EACH = 10
"""Numbers of annotators up to which each is looked at; further on they grow by a quarter."""


class Interval(NamedTuple):
    """Ends of intervals, NaN where undefined, and standard errors from annotators and from files."""

    low: Floats
    high: Floats
    by_annotators: Floats
    by_files: Floats


def sizes_of(n: int) -> list[int]:
    """Return of how many annotators there are references, of n at the most; n - 2 to n are among them."""
    sizes = [*range(1, min(n, _EACH) + 1)]
    while sizes[-1] * 5 // 4 < n:
        sizes.append(sizes[-1] * 5 // 4)
    return sorted({*sizes, max(n - 2, 1), max(n - 1, 1), n})


def sets_of(n: int, size: int, seed: int) -> Bools:
    """Return sets of annotators of one size, (n_sets, n): all of them, or distinct ones drawn at random."""
    most = max(MOST_SETS, 3 * n)
    chosen: Sequence[Sequence[int]]
    if comb(n, size) <= most:
        chosen = [*combinations(range(n), size)]
    else:
        rng = np.random.default_rng([seed, size])
        distinct: dict[tuple[int, ...], None] = {}
        while len(distinct) < most:
            distinct[tuple(np.sort(rng.permutation(n)[:size]).tolist())] = None
        chosen = [*distinct]
    members = np.zeros((len(chosen), n), dtype=bool)
    np.put_along_axis(members, np.array(chosen, dtype=np.int64).reshape(-1, size), values=True, axis=1)
    return members


def groups_of(n_files: int) -> Index:
    """Return in which group each file is left out, (n_files,)."""
    return np.arange(n_files) % min(max(n_files, 1), MOST_GROUPS)


def scores_of_sets(scoring: Scoring, members: Bools) -> Floats:
    """Return scores of systems against sets of annotators, (n_systems, n_keys, n_sets, 1 + n_groups).

    members: (n_sets, n_annotators). The first score is for all files that the set labelled, the others are
    for all but one group of files each; NaN if undefined.
    """
    group = groups_of(len(scoring.references.crowd.files))
    left_out = np.arange(group.max(initial=-1) + 1)[:, None] != group
    weights = np.concatenate((np.ones((1, len(group))), left_out))
    systems = range(members.shape[1], len(scoring.tables))
    scores = np.array([[*scoring.against(who, systems, weights)] for who in members])
    shape = len(members), len(systems), len(scoring.keys), len(weights)
    return np.moveaxis(scores.reshape(shape), 0, 2)


def effects_of(values: Floats, members: Bools) -> tuple[Floats, Floats]:
    """Return the mean over sets of one size, and how far the mean without each annotator is from it.

    values: (..., n_sets). members: (n_sets, n_annotators), all of one size, less than n_annotators. Returns
    (...) and (..., n_annotators). If the sets are all sets of this size, the second is the difference of
    means; otherwise least squares fits a sum of annotators' effects to the values.
    """
    n, size = members.shape[1], int(members[0].sum())
    # Equal values have no effects, to the last bit.
    away = values - values[..., :1]
    mean = values[..., 0] + away.mean(axis=-1)
    centred = away - away.mean(axis=-1, keepdims=True)
    effect = centred @ np.linalg.pinv(members - members.mean(axis=0)).T
    return mean, -effect * size / max(n - 1, 1)


def effects_in_all(scores: Mapping[int, Floats], members: Mapping[int, Bools], cut: Bools) -> Floats:
    """Return how far scores without each annotator are from the mean of such, in the set of all of them.

    scores: by size of sets, (n_scores, n_sets, 1 + n_groups). members: by size, (n_sets, n_annotators). cut:
    (n_scores,) whether the reference is cut at a threshold. Returns (n_scores, n_annotators, 1 + n_groups).
    """
    n = max(members)

    def within(size: int) -> Floats:
        _, without = effects_of(np.moveaxis(scores[size], 1, 2), members[size])
        return np.moveaxis(without, 1, 2)

    one_less = within(max(n - 1, 1))
    if n < _TIED or not cut.any():
        return one_less
    return np.where(cut[:, None, None], within(n - 2), one_less)


def two_way(
    estimate: Floats, files: Floats, without: Floats, confidence: float, low: Floats, high: Floats
) -> Interval:
    """Return intervals over annotators and files.

    - estimate: (n_scores,).
    - files: (n_scores, n_groups) the same without each group of files.
    - without: (n_scores, n_annotators, 1 + n_groups) the distance of the score without each annotator from
      the mean of such scores, of all files and without each group.
    - low, high: (n_scores,) the ends of the intervals, infinite if they do not end.
    NaN where any of these is undefined, and of fewer than two annotators or groups.
    """
    from scipy.special import stdtrit

    n, m = without.shape[1], files.shape[1]
    if min(n, m) < 2:
        nothing = np.full(len(estimate), np.nan)
        return Interval(nothing, nothing, nothing, nothing)
    with np.errstate(invalid="ignore"):
        first = files[:, :1]
        file = (files - first) - (files - first).mean(axis=1, keepdims=True)
        annotator, both = without[:, :, 0], without[:, :, 1:] - without[:, :, :1]
        both = both - both.mean(axis=2, keepdims=True)
        of_annotators, of_files = (
            (n - 1) / n * (annotator**2).sum(axis=1),
            (m - 1) / m * (file**2).sum(axis=1),
        )
        of_both = (n - 1) / n * (m - 1) / m * (both**2).sum(axis=(1, 2))
        variance = np.maximum(np.maximum(of_annotators + of_files - of_both, of_annotators), of_files)
        spread = of_annotators**2 / (n - 1) + of_files**2 / (m - 1)
        free = np.divide(variance**2, spread, out=np.ones_like(variance), where=spread > 0)
        margin = stdtrit(free, (1 + confidence) / 2) * np.sqrt(variance)
        ends = np.clip(estimate - margin, low, estimate), np.clip(estimate + margin, estimate, high)
    return Interval(*ends, np.sqrt(of_annotators), np.sqrt(of_files))
