"""Systems that know nothing of the recordings they are scored on.

All return values of shape (n_classes, n_segments) in [0, 1]. `betas`, `shuffled_betas` and `data_sampling`
are the sampled systems of Harju & Mesaros 2023, `beta_noise` that of its Figure 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.simulation.streams import Timeline, stream

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.int64]

_LEAST = 1e-3
"""alpha + beta below which a beta distribution is drawn as what it tends to, a coin."""

_FLAT, _STEPS = 1e-2, 500
"""Where Newton's method begins at the least, and how many steps it may take."""

_MOST = 1e15
"""alpha + beta from which one is drawn as what it tends to, its mean."""


@dataclass(frozen=True, slots=True)
class Betas:
    """A beta distribution for each class.

    mean, size: (n_classes,), alpha = mean * size and beta = (1 - mean) * size. A size of 0 is a coin (all
    values are 0 or 1), an infinite one a constant (a class without variance).
    """

    mean: Floats
    size: Floats

    @classmethod
    def fitted(cls, values: Floats) -> Betas:
        """Fit by moments: mean m and variance v over all segments give size = m (1 - m) / v - 1.

        values: (n_classes, n_segments). By maximum likelihood no beta distribution fits values that are 0 or
        1, as many soft labels are. A class whose values are all equal, or that has none, keeps its mean.
        """
        if not values.shape[1]:
            return cls(np.zeros(len(values)), np.full(len(values), np.inf))
        mean = values.mean(axis=1)
        # The mean of equal values may be off by rounding: they have no variance all the same.
        equal = values.max(axis=1) == values.min(axis=1)
        mean = np.where(equal, values[:, 0], mean)
        variance = np.where(equal, 0.0, values.var(axis=1))
        most = mean * (1.0 - mean)
        constant = variance <= most / _MOST
        size = np.divide(most, variance, out=np.full(len(mean), np.inf), where=~constant) - 1.0
        return cls(mean, np.maximum(size, 0.0))

    @classmethod
    def likeliest(cls, values: Floats, epsilon: float = 1e-7) -> Betas:
        """Fit by maximum likelihood, values cut to [eps, 1 - eps]: at 0 and 1 the likelihood has no bound.

        values: (n_classes, n_segments). How close to 0 and 1 they are cut matters where many are there: the
        closer, the wider the distribution. Classes that have no variance, or none within the cut, are as by
        moments. Newton's method in alpha and beta, from the fit by moments.
        """
        by_moments = cls.fitted(values)
        if not values.shape[1]:
            return by_moments
        inside = np.clip(values, epsilon, 1.0 - epsilon)
        varied = inside.max(axis=1) > inside.min(axis=1)
        start = cls.fitted(inside)
        shapes = np.stack([start.mean * start.size, (1.0 - start.mean) * start.size], axis=-1)[varied]
        logs = np.stack([np.log(inside).mean(axis=1), np.log1p(-inside).mean(axis=1)], axis=-1)[varied]
        shapes = _likeliest(np.clip(shapes, _FLAT, 1e9), logs)
        mean, size = by_moments.mean.copy(), by_moments.size.copy()
        mean[varied], size[varied] = shapes[:, 0] / shapes.sum(axis=-1), shapes.sum(axis=-1)
        return cls(mean, size)

    def draw(self, rng: np.random.Generator, k: int, n: int) -> Floats:
        """Return n values of a class."""
        mean, size = float(self.mean[k]), float(self.size[k])
        if size >= _MOST or mean in {0.0, 1.0}:
            return np.full(n, mean)
        if size < _LEAST:
            return (rng.random(n) < mean).astype(np.float64)
        return np.asarray(rng.beta(mean * size, (1.0 - mean) * size, n))

    def taken(self, order: Index) -> Betas:
        """Return the distributions in another order."""
        return Betas(self.mean[order], self.size[order])


def _likeliest(shapes: Floats, logs: Floats) -> Floats:
    """Return alpha and beta, (n, 2), of the highest likelihood; logs: the means of ln x and of ln(1 - x)."""
    from scipy.special import polygamma, psi

    for _ in range(_STEPS):
        whole = shapes.sum(axis=-1, keepdims=True)
        slope = psi(whole) - psi(shapes) + logs
        # The Hessian is t - diag(u), the same t in all places: its inverse is known.
        t, u = polygamma(1, whole), polygamma(1, shapes)
        share = (t * slope / u).sum(axis=-1, keepdims=True) / (1.0 - (t / u).sum(axis=-1, keepdims=True))
        step = (slope + share) / u
        # No step takes away more than half: shapes stay above 0.
        found = np.maximum(shapes + step, shapes / 2)
        done = bool(np.all(np.abs(found - shapes) <= 1e-12 * shapes))
        shapes = found
        if done:
            break
    return shapes


def betas(timeline: Timeline, fitted: Betas, seed: int) -> Floats:
    """Draw every value of a class from its beta distribution."""
    return timeline.drawn(seed, "betas", fitted.draw)


def shuffled_betas(timeline: Timeline, fitted: Betas, seed: int) -> Floats:
    """Draw the values of each class from the distribution of another: one permutation, without fixed points.

    Classes are put in a random order by their names, and each has the distribution of the next in it.
    """
    keys = [stream(seed, "order of shuffled-betas", label).random() for label in timeline.classes]
    cycle = np.argsort(np.array(keys), kind="stable")
    order = np.empty(len(keys), dtype=np.int64)
    order[cycle] = np.roll(cycle, -1)
    return timeline.drawn(seed, "shuffled-betas", fitted.taken(order).draw)


def data_sampling(timeline: Timeline, train: Floats, seed: int) -> Floats:
    """Draw whole time steps, all classes together, of other data with replacement.

    train: (n_classes, n_steps), at least one.
    """
    steps = [
        stream(seed, "data-sampling", name).integers(0, train.shape[1], segments.stop - segments.start)
        for name, segments in timeline.pieces()
    ]
    return np.ascontiguousarray(train[:, np.concatenate([np.zeros(0, dtype=np.int64), *steps])])


def constant(timeline: Timeline, values: Floats) -> Floats:
    """Return one value for each class, (n_classes,), all the time."""
    return np.repeat(values[:, None], timeline.size, axis=1)


def beta_noise(timeline: Timeline, r: float, seed: int) -> Floats:
    """Draw every value from a beta distribution with alpha = beta = r: the less r, the wider."""
    n = len(timeline.classes)
    return timeline.drawn(seed, "beta-noise", Betas(np.full(n, 0.5), np.full(n, 2.0 * r)).draw)


def one_annotator(timeline: Timeline, labels: Sequence[Floats], labelled: Bools, seed: int) -> Floats:
    """Return for each recording the labels of one annotator, at random among those who labelled it.

    labels: of each annotator, (n_classes, n_segments). labelled: (n_annotators, n_files). A recording that
    nobody labelled has zeros.
    """
    values = np.zeros(timeline.shape)
    for f, (name, segments) in enumerate(timeline.pieces()):
        who = np.flatnonzero(labelled[:, f])
        if len(who):
            values[:, segments] = labels[int(stream(seed, "annotator", name).choice(who))][:, segments]
    return values
