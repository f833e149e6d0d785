"""A reference with errors of known effect: dropped and merged events, shifts in time, smoothing, noise.

An event is a run of segments of a class in a recording whose values are above 0. Errors happen in the order
in which they stand here. Each has streams of its own, so that one more kind does not change the others.

- dropped: each event is silenced with a probability p. What is left is right: soft precision stays 1, soft
  recall is 1 - p on average.
- merged: each gap between two events of a class is filled with a probability p, with the smaller of the two
  values beside it. Nothing is lost: soft recall stays 1, and precision falls.
- shifted: each event moves as a whole, by a normally distributed time rounded to whole segments. What leaves
  the recording is cut off, where events meet the larger value stays. An event of d segments that moves by s
  still covers max(0, d - |s|) of its own.
- smoothed: a moving average over an odd number of segments, within the recording.
- noisy: normally distributed noise, the result cut to [0, 1]; in between, the mean absolute error is
  sqrt(2 / pi) = 0.798 of its standard deviation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.simulation.streams import Timeline, stream

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Errors:
    """How much is wrong.

    drop, merge: probabilities for each event, for each gap. jitter: standard deviation of shifts, smoothing:
    width of the moving average, both in segments. noise: standard deviation.
    """

    drop: float = 0.0
    merge: float = 0.0
    jitter: float = 0.0
    smoothing: int = 1
    noise: float = 0.0


def perturbed(timeline: Timeline, values: Floats, errors: Errors, seed: int) -> Floats:
    """Return values, (n_classes, n_segments) in [0, 1], with errors."""
    found = np.zeros(timeline.shape)
    for name, segments in timeline.pieces():
        for k, label in enumerate(timeline.classes):
            found[k, segments] = _one(values[k, segments], errors, seed, (name, label))
    return found


def _one(values: Floats, errors: Errors, seed: int, names: tuple[str, str]) -> Floats:
    """Return the values of a class in a recording, (n,), with errors."""
    if values.any():
        values = _moved(values, errors, seed, names)
    if errors.noise:
        noise = stream(seed, "noise", *names).normal(0.0, errors.noise, len(values))
        values = np.clip(values + noise, 0.0, 1.0)
    return values


def _moved(values: Floats, errors: Errors, seed: int, names: tuple[str, str]) -> Floats:
    """Return the values with the errors that silence does not have."""
    if errors.drop:
        begin, end = _runs(values)
        gone = stream(seed, "drop", *names).random(len(begin)) < errors.drop
        values = np.where(_covered(len(values), begin[gone], end[gone]), 0.0, values)
    if errors.merge:
        values = _merged(values, errors.merge, stream(seed, "merge", *names))
    if errors.jitter:
        values = _shifted(values, errors.jitter, stream(seed, "jitter", *names))
    return _smoothed(values, errors.smoothing) if errors.smoothing > 1 else values


def _runs(values: Floats) -> tuple[Index, Index]:
    """Return where events begin and end."""
    edges = np.diff((values > 0).astype(np.int8), prepend=0, append=0)
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)


def _covered(n: int, begin: Index, end: Index) -> npt.NDArray[np.bool_]:
    """Return which of n segments some disjoint ranges cover."""
    steps = np.zeros(n + 1, dtype=np.int64)
    steps[begin] += 1
    steps[end] -= 1
    return np.cumsum(steps[:-1]) > 0


def _merged(values: Floats, share: float, rng: np.random.Generator) -> Floats:
    begin, end = _runs(values)
    filled = rng.random(max(len(begin) - 1, 0)) < share
    first, after = end[:-1][filled], begin[1:][filled]
    level = np.minimum(values[first - 1], values[after])
    inside = np.repeat(level, after - first)
    found = values.copy()
    found[_covered(len(values), first, after)] = inside
    return found


def _shifted(values: Floats, deviation: float, rng: np.random.Generator) -> Floats:
    begin, end = _runs(values)
    most = float(len(values))
    shift = np.rint(np.clip(rng.normal(0.0, deviation, len(begin)), -most, most)).astype(np.int64)
    at = np.flatnonzero(values > 0)
    to = at + np.repeat(shift, end - begin)
    inside = (to >= 0) & (to < len(values))
    found = np.zeros(len(values))
    np.maximum.at(found, to[inside], values[at[inside]])
    return found


def _smoothed(values: Floats, width: int) -> Floats:
    half = width // 2
    total = np.concatenate(([0.0], np.cumsum(values)))
    at = np.arange(len(values))
    first, last = np.maximum(at - half, 0), np.minimum(at + half + 1, len(values))
    mean: Floats = np.clip((total[last] - total[first]) / (last - first), 0.0, 1.0)
    return mean
