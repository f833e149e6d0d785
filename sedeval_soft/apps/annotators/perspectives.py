"""A system against each annotator, not only against what they say together: its place among them, distances.

Distances are those of LeWiDi 2025, the third shared task on learning with disagreements (Leonardelli et al.
2025), whose items are here the classes in units of time, each counting as long as it lasts. A label is yes or
no, a value lies in [0, 1], so the range that distances are divided by is 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sedeval_soft.apps.annotators.crowd import Crowd
from sedeval_soft.apps.annotators.scoring import Scoring
from sedeval_soft.apps.annotators.units import Units
from sedeval_soft.arrays import Bools, Floats, Index
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import to_ticks


class Distances(NamedTuple):
    """How far a system is from annotators; means over items, None where there are none.

    average_error_rate: of the share of annotators who gave another label.
    average_normalized_absolute_distance: of the mean distance to their values.
    average_manhattan_distance: of |p - q| summed over yes and no, where q is the share of yes among
    annotators (the mean of their values) and p the value of the system. average_wasserstein_distance: of what
    must be moved from one to the other, which are neighbours.
    """

    average_error_rate: float | None
    average_normalized_absolute_distance: float | None
    average_manhattan_distance: float | None
    average_wasserstein_distance: float | None


def distances(values: Floats, given: Bools, weight: Floats, system: Floats, threshold: float) -> Distances:
    """Return how far a system is from annotators. Source: Leonardelli et al. 2025.

    values, given: (n_annotators, n_items), what they say, and whether they do; items of nobody are left out.
    weight: (n_items,) how often each item counts. system: (n_items,). threshold: above which a value is yes.
    """
    labelled = given.any(axis=0) & (weight > 0)
    if not labelled.any():
        return Distances(None, None, None, None)
    values, given, weight, system = (
        values[:, labelled],
        given[:, labelled],
        weight[labelled],
        system[labelled],
    )
    number = given.sum(axis=0)

    def average(of_items: Floats) -> float:
        return float((weight * of_items).sum() / weight.sum())

    def over_annotators(each: Floats) -> Floats:
        return np.asarray(np.where(given, each, 0.0).sum(axis=0) / number)

    error = over_annotators(((values > threshold) != (system > threshold)).astype(np.float64))
    moved = np.abs(over_annotators(values) - system)
    away = over_annotators(np.abs(values - system))
    return Distances(average(error), average(away), average(2.0 * moved), average(moved))


def with_system(crowd: Crowd, system: EventTable, settings: Settings) -> tuple[Units, Floats]:
    """Return what annotators say in units in which a system does not change either, and what it says there.

    What it says after the end of a file is left out.
    """
    ticks, spans = to_ticks(crowd.length), system.spans()
    system = system.take(np.flatnonzero(spans.onset < ticks[spans.file]))
    has_file = np.append(crowd.has_file, np.ones((1, len(crowd.files)), dtype=bool), axis=0)
    tables, how = (*crowd.tables, system), (ticks, has_file, settings)
    units = Units.of(tables, *how, continuous=crowd.continuous)
    return units.some(np.arange(len(crowd.tables))), units.values[-1]


class Against(NamedTuple):
    """Scores against each annotator, in the files that it labelled.

    scores: (n_candidates, n_keys, n_annotators), those of systems first, then those of annotators. common:
    (n_candidates, n_keys, n_annotators, n_annotators) the same in the files that another annotator, the last
    axis, labelled, too. NaN where undefined, as an annotator against itself.
    """

    scores: Floats
    common: Floats


def against_each(scoring: Scoring) -> Against:
    """Return the scores of systems, and of annotators, against each annotator."""
    crowd = scoring.references.crowd
    scoring = replace(scoring, references=replace(scoring.references, method="mean", events=None))
    n, n_tables = len(crowd.tables), len(scoring.tables)
    shape = n_tables, len(scoring.keys), n
    scores, common = np.full(shape, np.nan), np.full((*shape, n), np.nan)
    # Systems stand behind annotators, here before them.
    place = np.roll(np.arange(n_tables), n)
    for b in range(n):
        others = [k for k in range(n_tables) if k != b]
        files = (crowd.has_file & crowd.has_file[b]).astype(np.float64)
        for k, values in zip(others, scoring.against(np.arange(n) == b, others, files), strict=True):
            common[place[k], :, b] = values
            scores[place[k], :, b] = values[:, b]
    return Against(scores, common)


def places_among(against: Against, n_systems: int, lower_is_better: Bools) -> tuple[Index, Floats]:
    """Return the place of each system among annotators, (n_systems, n_keys), and the annotators' own means.

    A system comes after all annotators who agree better with the others than it does with the same others, in
    the same files; lower_is_better: (n_keys,). It has place 0 where no annotator can be compared with it.
    The means are over the others, (n_keys, n_annotators).
    """
    n = against.scores.shape[2]
    ours = np.moveaxis(against.common[:n_systems], 3, 2)
    # Of annotator a: against b, in the files of a.
    theirs = np.stack([against.common[n_systems + a, :, :, a] for a in range(n)], axis=1)[None]
    both = ~np.isnan(ours) & ~np.isnan(theirs)
    number = both.sum(axis=3)

    def mean(values: Floats) -> Floats:
        total = np.where(both, values, 0.0).sum(axis=3)
        return np.asarray(np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0))

    sign = np.where(lower_is_better, -1.0, 1.0)[None, :, None]
    better = sign * mean(np.broadcast_to(theirs, both.shape)) > sign * mean(ours)
    places = np.where(number.any(axis=2), 1 + better.sum(axis=2), 0)
    own = against.scores[n_systems:]
    return places, mean_of(np.moveaxis(own, 0, 1))


def mean_of(values: Floats) -> Floats:
    """Return means over the last axis of what is defined, NaN where nothing is."""
    defined = ~np.isnan(values)
    number, total = defined.sum(axis=-1), np.where(defined, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0))


def deviation_of(values: Floats) -> Floats:
    """Return standard deviations over the last axis of what is defined (n - 1), NaN of fewer than two."""
    defined = ~np.isnan(values)
    first = np.take_along_axis(values, defined.argmax(axis=-1, keepdims=True), axis=-1)
    # Equal values deviate by nothing, to the last bit.
    away = np.where(defined, values - first, 0.0)
    number = defined.sum(axis=-1)
    mean = away.sum(axis=-1) / np.maximum(number, 1)
    squares = np.where(defined, (away - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    variance = np.divide(squares, number - 1, out=np.full(squares.shape, np.nan), where=number > 1)
    return np.asarray(np.sqrt(variance))
