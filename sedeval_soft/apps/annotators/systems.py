"""Systems against several annotators: how sure their scores are, over how many annotators, against each.

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
from dataclasses import replace
from itertools import combinations, starmap
from math import comb
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.apps.annotators.references import References, Scoring
from sedeval_soft.arrays import Bools, Floats, Index
from sedeval_soft.comparison import places
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation import NOT_SMOOTH, finite, key_of
from sedeval_soft.measures import ScoreName, measure_of
from sedeval_soft.plan import THRESHOLDED
from sedeval_soft.settings import Settings
from sedeval_soft.tables import EventTable

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


class Point(NamedTuple):
    """A score against references of so many annotators: mean over sets of them, and its interval."""

    annotators: int
    sets: int
    value: float | None
    low: float | None
    high: float | None


class SystemScore(NamedTuple):
    """A score of a system against several annotators.

    - value, low, high: against the reference of all, with the interval over annotators and files.
    - by_annotators, by_files: standard errors from either.
    - over: by the number of annotators.
    - against: each annotator, in the files that it labelled; mean, deviation: of these scores.
    - place: the rank among the annotators, 1 the best, of one more than there are; None if no annotator can
      be compared.
    """

    score: str
    value: float | None
    low: float | None
    high: float | None
    by_annotators: float | None
    by_files: float | None
    over: tuple[Point, ...]
    against: tuple[float | None, ...]
    mean: float | None
    deviation: float | None
    place: int | None


class System(NamedTuple):
    """The scores of a system against several annotators."""

    name: str
    scores: tuple[SystemScore, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        scores = [
            {**each._asdict(), "over": [point._asdict() for point in each.over]} for each in self.scores
        ]
        return {"name": self.name, "scores": scores}


class Share(NamedTuple):
    """The share of sets of so many annotators that rank systems as all annotators do."""

    annotators: int
    share: float


class Ranking(NamedTuple):
    """The number of annotators that rank systems as all do.

    over: by the number of annotators. enough: the number from which on the share is at least the confidence.
    """

    score: str
    over: tuple[Share, ...]
    enough: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**self._asdict(), "over": [each._asdict() for each in self.over]}


def check_resampled(names: Sequence[str], settings: Settings) -> None:
    """Raise SettingsError for scores that do not change smoothly where a file or annotator is left out."""
    for name in names:
        score = ScoreName.parse(name)
        why = None
        if score.measure in NOT_SMOOTH:
            why = "it picks one threshold, bin or class"
        elif (score.basis, score.reading) in THRESHOLDED and not settings.fixed_thresholds:
            why = "best thresholds are picked"
        if why is not None:
            raise SettingsError(
                f"{name} cannot be resampled: {why}, which does not change smoothly where an annotator is "
                "left out; expected a score such as segment.soft.f1.macro"
            )


def systems_of(
    references: References,
    settings: Settings,
    names: Sequence[str],
    systems: Mapping[str, EventTable],
    order: Sequence[int],
) -> tuple[tuple[System, ...], tuple[Ranking, ...]]:
    """Return scores of systems against annotators, and the number of annotators for their ranking.

    names: of scores. systems: rows with the files and classes of the annotators. order: in which those that
    systems are scored against are given.
    """
    if not systems:
        return (), ()
    crowd, n = references.crowd, len(references.crowd.names)
    keys = [key_of(ScoreName.parse(name)) for name in names]
    measures = [measure_of(name) for name in names]
    cut = np.array([key.reading != "soft" or references.method == "majority" for key in keys])
    lower = np.array([measure.direction == "lower" for measure in measures])
    least, most = (
        np.array([empty if end is None else end for end in ends], dtype=np.float64)
        for ends, empty in (([m.low for m in measures], -np.inf), ([m.high for m in measures], np.inf))
    )
    scoring = Scoring(references, settings, tuple(keys), (*crowd.tables, *systems.values()))
    members = {size: sets_of(n, size, settings.seed) for size in sizes_of(n)}
    scores = {size: scores_of_sets(scoring, each) for size, each in members.items()}
    everyone, numbers = np.ones(n, dtype=bool), range(n, n + len(systems))
    whole = [*scoring.against(everyone, numbers, np.ones((1, len(crowd.files))))]
    against = against_each(scoring)
    place, _ = places_among(against, len(systems), lower)
    results = []
    for k, name in enumerate(systems):
        own = {size: values[k] for size, values in scores.items()}
        over, errors = _over(own, members, whole[k][:, 0], cut, settings.confidence, least, most)
        each = against.scores[k]
        columns = zip(
            names, zip(*over, strict=True), *errors.tolist(), each[:, [*order]].tolist(),
            mean_of(each).tolist(), deviation_of(each).tolist(), place[k].tolist(), strict=True,
        )  # fmt: skip
        results.append(
            System(
                name,
                tuple(
                    SystemScore(
                        score, points[-1].value, points[-1].low, points[-1].high, finite(annotators),
                        finite(files), points, tuple(map(finite, values)), finite(mean), finite(deviation),
                        rank or None,
                    )
                    for score, points, annotators, files, values, mean, deviation, rank in columns
                ),
            )
        )  # fmt: skip
    return tuple(results), _rankings(names, scores, lower, settings.confidence)


def _over(
    scores: Mapping[int, Floats],
    members: Mapping[int, Bools],
    whole: Floats,
    cut: Bools,
    confidence: float,
    least: Floats,
    most: Floats,
) -> tuple[list[list[Point]], Floats]:
    """Return a system's scores over the number of annotators, and the standard errors with all of them.

    scores: by size of sets, (n_scores, n_sets, 1 + n_groups). whole: (n_scores,) with all annotators.
    cut: (n_scores,) whether the reference is cut at a threshold.
    """
    largest = max(scores)
    over, errors = [], np.empty((2, 0))
    for size, values in scores.items():
        # Without an annotator there are no sets of all.
        inner = max(min(size, largest - 1), 1)
        mean, without = effects_of(np.moveaxis(scores[inner], 1, 2), members[inner])
        estimate, each = mean_of(values[:, :, 0]), np.moveaxis(without, 1, 2)
        if size == largest:
            estimate, mean, each = whole, values[:, 0], effects_in_all(scores, members, cut)
        ends = two_way(estimate, mean[:, 1:], each, confidence, least, most)
        rows = zip(*(each.tolist() for each in (estimate, ends.low, ends.high)), strict=True)
        over.append([Point(size, values.shape[1], *map(finite, row)) for row in rows])
        errors = np.array([ends.by_annotators, ends.by_files])
    return over, errors


def _rankings(
    names: Sequence[str], scores: Mapping[int, Any], lower: Bools, confidence: float
) -> tuple[Ranking, ...]:
    """Return how often sets of annotators rank systems as all annotators do; of one system nothing."""
    first = next(iter(scores.values()))
    if len(first) < 2:
        return ()
    rankings = []
    for number, name in enumerate(names):
        # (n_sets, n_systems)
        ranks = {size: places(values[:, number, :, 0].T, lower[number]) for size, values in scores.items()}
        final = ranks[max(ranks)][0]
        shares = {size: float((each == final).all(axis=1).mean()) for size, each in ranks.items()}
        below = [size for size, share in shares.items() if share < confidence]
        enough = min(size for size in shares if size > max(below, default=0))
        rankings.append(Ranking(name, tuple(starmap(Share, shares.items())), enough))
    return tuple(rankings)


class Against(NamedTuple):
    """Scores against each annotator, in the files that it labelled.

    scores: (n_candidates, n_keys, n_annotators), of systems first, then of annotators.
    common: (n_candidates, n_keys, n_annotators, n_annotators) the same in the files that another annotator,
    the last axis, labelled as well. NaN where undefined, as an annotator against itself.
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
    the same files; lower_is_better: (n_keys,). A system without a comparable annotator has place 0. The means
    are over the others, (n_keys, n_annotators).
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
    """Return means of the defined values over the last axis, NaN if none is defined."""
    defined = ~np.isnan(values)
    number, total = defined.sum(axis=-1), np.where(defined, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0))


def deviation_of(values: Floats) -> Floats:
    """Return standard deviations of the defined values over the last axis (n - 1), NaN for fewer than two."""
    defined = ~np.isnan(values)
    first = np.take_along_axis(values, defined.argmax(axis=-1, keepdims=True), axis=-1)
    # Equal values deviate by nothing, to the last bit.
    away = np.where(defined, values - first, 0.0)
    number = defined.sum(axis=-1)
    mean = away.sum(axis=-1) / np.maximum(number, 1)
    squares = np.where(defined, (away - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    variance = np.divide(squares, number - 1, out=np.full(squares.shape, np.nan), where=number > 1)
    return np.asarray(np.sqrt(variance))


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
