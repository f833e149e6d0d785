"""How early or late each annotator draws boundaries, and how steadily, from events that several have.

Where an annotator draws a boundary is taken to be the true time, plus the annotator's bias, plus noise of the
annotator's own, the jitter. Nobody knows the true time, but differences of two annotators are free of it:
their median is the difference of two biases, their variance the sum of two variances. All pairs together give
each annotator's share by least squares (Grubbs 1948), pairs counting by the events that both have, and small
variances for more. A variance is that of the normal distribution within whose range from the median as many
events lie, four in five, so that a few events that were not the same change little.

Biases are those from the mean annotator, as nobody knows the truth: their sum is 0. With two annotators only
the sum of the variances is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sedeval_soft.apps.annotators.consensus import ConsensusEvents
from sedeval_soft.arrays import Floats
from sedeval_soft.evaluation.scores import finite
from sedeval_soft.tables.ticks import to_seconds
from sedeval_soft.timeline.events import Events

FEWEST = 10
"""Events that two annotators have in common, below which their differences say nothing."""

_SMALL = 1e-3
"""The part of the largest variance of a pair below which others do not count for more."""

_WITHIN, _DEVIATIONS = 0.8, 1.2815515655446004
"""The share of a normal variable's values that lie within so many standard deviations of its median."""


class Boundaries(NamedTuple):
    """An annotator's boundaries, in seconds; a negative bias is early.

    events: how many events the annotator has that others have, too. Biases are against the mean annotator,
    jitters standard deviations; None where events in common are too few, or annotators fewer than three.
    """

    annotator: str
    events: int
    onset_bias: float | None
    onset_jitter: float | None
    offset_bias: float | None
    offset_jitter: float | None


def boundaries_of(
    annotators: Sequence[str], events: Sequence[Events], consensus: ConsensusEvents
) -> tuple[Boundaries, ...]:
    """Return what the boundaries of each annotator are like; events: of each, that the consensus is of."""
    members = consensus.members
    shared = (members >= 0) & (consensus.annotators > 1)
    columns = []
    for side in ("onset", "offset"):
        times = np.full(members.shape, np.nan)
        for of_one, has, own, member in zip(times, shared, events, members, strict=True):
            of_one[has] = to_seconds(getattr(own, side)[member[has]])
        columns += [*bias_and_jitter(times)]
    rows = zip(*([*map(finite, each.tolist())] for each in columns), strict=True)
    number = shared.sum(axis=1).tolist()
    return tuple(Boundaries(name, n, *row) for name, n, row in zip(annotators, number, rows, strict=True))


def bias_and_jitter(times: Floats) -> tuple[Floats, Floats]:
    """Return biases and standard deviations of annotators, (n_annotators,), NaN where not determined.

    times: (n_annotators, n_events), NaN where an annotator has no such event.
    """
    n = len(times)
    less, more, weight, middle, variance = [], [], [], [], []
    for a, b in combinations(range(n), 2):
        difference = times[a] - times[b]
        difference = difference[~np.isnan(difference)]
        if len(difference) < FEWEST:
            continue
        centre = float(np.median(difference))
        less.append(b)
        more.append(a)
        weight.append(len(difference))
        middle.append(centre)
        variance.append(float(np.quantile(np.abs(difference - centre), _WITHIN) / _DEVIATIONS) ** 2)
    bias, jitter = np.full((2, n), np.nan)
    if not weight:
        return bias, jitter
    rows, root, squares = np.arange(len(weight)), np.sqrt(weight), np.array(variance)
    # The error of a variance is as large as it is itself: small ones are known better.
    sharp = root / np.maximum(squares, _SMALL * max(squares.max(), _SMALL))
    apart, both = np.zeros((2, len(weight), n))
    apart[rows, more], apart[rows, less] = 1.0, -1.0
    both[rows, more] = both[rows, less] = 1.0
    if np.linalg.matrix_rank(apart) == n - 1:
        # The shortest of all solutions is the one whose sum is 0.
        bias = np.linalg.lstsq(root[:, None] * apart, root * middle, rcond=None)[0]
        bias = bias - bias.mean()
    if np.linalg.matrix_rank(both) == n:
        from scipy.optimize import nnls

        jitter = np.sqrt(nnls(sharp[:, None] * both, sharp * squares)[0])
    return bias, jitter
