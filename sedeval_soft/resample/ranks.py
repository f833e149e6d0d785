"""Ranks of systems: places, how sure they are, how alike scores rank, and which systems are tied."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


def places(values: npt.ArrayLike, lower_is_better: npt.ArrayLike) -> Places:
    """Return the places of systems, from 1: systems with the same score share the best one, NaN comes last.

    values: (..., n_systems). lower_is_better: (), or of the shape of values without its last axis.
    """
    score = np.asarray(values, dtype=np.float64)
    key = np.where(np.asarray(lower_is_better, dtype=bool)[..., None], score, -score)
    order = np.argsort(key, axis=-1, kind="stable")
    ordered = np.take_along_axis(key, order, axis=-1)
    first = np.ones(ordered.shape, dtype=bool)
    # After NaN there is only NaN, which shares its place though it does not equal itself.
    first[..., 1:] = (ordered[..., 1:] != ordered[..., :-1]) & ~np.isnan(ordered[..., :-1])
    place = np.maximum.accumulate(np.where(first, np.arange(1, score.shape[-1] + 1), 1), axis=-1)
    found = np.empty(score.shape, dtype=np.int64)
    np.put_along_axis(found, order, place, axis=-1)
    return found


def stability(replicate_places: npt.ArrayLike, places: npt.ArrayLike) -> Floats:
    """Return the share of replicates in which each system has its place, (n_systems,); NaN of no replicates.

    replicate_places: (n_replicates, n_systems). places: (n_systems,).
    """
    replicates = np.asarray(replicate_places)
    same = np.count_nonzero(replicates == np.asarray(places), axis=0)
    found: Floats = same / len(replicates) if len(replicates) else np.full(same.shape, np.nan)
    return found


def place_interval(replicate_places: npt.ArrayLike, confidence: float) -> tuple[Places, Places]:
    """Return the best and the worst place of the percentile interval, (n_systems,) each.

    replicate_places: (n_replicates, n_systems), at least one replicate. The ends are places that occurred:
    between two replicates the outer one is taken, so the interval holds at least its share of them.
    """
    ordered = np.sort(np.asarray(replicate_places, dtype=np.int64), axis=0)
    last = len(ordered) - 1
    # What rounding leaves of a whole number of replicates is not to cost one.
    outside = int((1 - confidence) / 2 * last + 1e-9)
    return ordered[outside], ordered[last - outside]


def kendall(values: npt.ArrayLike, lower_is_better: npt.ArrayLike) -> Floats:
    """Return how alike scores rank systems, Kendall's tau-b of every two scores, (n_scores, n_scores).

    values: (n_systems, n_scores). lower_is_better: (n_scores,), such scores are turned round. Of two scores
    only systems count that have both. NaN where one is constant, or of fewer than two systems.
    Source: Kendall 1945, as scipy.stats.kendalltau.
    """
    score = np.asarray(values, dtype=np.float64)
    one, other = np.triu_indices(len(score), k=1)
    # Compared, not subtracted: infinite scores have an order, too.
    sign = (score[one] > score[other]).astype(np.float64) - (score[one] < score[other])
    sign = np.where(np.asarray(lower_is_better, dtype=bool), -sign, sign)
    defined = ~(np.isnan(score[one]) | np.isnan(score[other]))
    agreement = sign.T @ sign
    # Pairs of systems that have both scores, and differ in the first.
    unlike = np.abs(sign).T @ defined.astype(np.float64)
    most = np.sqrt(unlike * unlike.T)
    tau: Floats = np.divide(agreement, most, out=np.full(agreement.shape, np.nan), where=most > 0)
    return tau


def tie_groups(order: Sequence[int], separated: Callable[[int, int], bool]) -> list[list[int]]:
    """Return systems in groups of ties.

    order: systems by place, the best first. separated: whether the first of two systems, which has the better
    place, is surely better than the second. A system stays in the group of those before it unless the first
    of the group is separated from it; then it opens the next one.
    """
    groups: list[list[int]] = []
    for system in order:
        if groups and not separated(groups[-1][0], system):
            groups[-1].append(system)
        else:
            groups.append([system])
    return groups
