"""Systems that are made up: to know what a score is worth before a model is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.api.sources import Durations, limits_from, read_lengths, shown, to_rows
from sedeval_soft.errors import InputError, Problem, SettingsError, counted
from sedeval_soft.evaluation.time_shift import Timeline, stream
from sedeval_soft.memory import check_room
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.limits import Limits
from sedeval_soft.timeline.grid import Grid, pool_rows, rows_of
from sedeval_soft.timeline.recordings import Recordings, align

# Systems that know nothing of the recordings they are scored on.
#
# All return values of shape (n_classes, n_segments) in [0, 1]. `betas`, `shuffled_betas` and `data_sampling`
# are the sampled systems of Harju & Mesaros 2023, `beta_noise` that of its Figure 3.


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


# A reference with errors of known effect: dropped and merged events, shifts in time, smoothing, noise.
#
# An event is a run of segments of a class in a recording whose values are above 0. Errors happen in the order
# in which they stand here. Each has streams of its own, so that one more kind does not change the others.
#
# - dropped: each event is silenced with a probability p. What is left is right: soft precision stays 1, soft
#   recall is 1 - p on average.
# - merged: each gap between two events of a class is filled with a probability p, with the smaller of the two
#   values beside it. Nothing is lost: soft recall stays 1, and precision falls.
# - shifted: each event moves as a whole, by a normally distributed time rounded to whole segments. What
#   leaves the recording is cut off, where events meet the larger value stays. An event of d segments that
#   moves by s still covers max(0, d - |s|) of its own.
# - smoothed: a moving average over an odd number of segments, within the recording.
# - noisy: normally distributed noise, the result cut to [0, 1]; in between, the mean absolute error is
#   sqrt(2 / pi) = 0.798 of its standard deviation.


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


KINDS = ("betas", "shuffled-betas", "data-sampling", "constant", "beta-noise", "perturb", "annotator")
"""What can be simulated."""

FITS = ("moments", "likelihood")
"""How beta distributions are fitted."""

_ERRORS = ("noise", "jitter", "smoothing", "drop", "merge")

_OWN: dict[str, tuple[str, ...]] = {
    "betas": ("train", "fit", "epsilon"),
    "shuffled-betas": ("train", "fit", "epsilon"),
    "data-sampling": ("train",),
    "constant": ("value", "train"),
    "beta-noise": ("r",),
    "perturb": _ERRORS,
    "annotator": ("labels",),
}
"""Which arguments a kind has beside those of all."""

_EPSILONS = 1e-15, 0.1

_LEAST_R, _MOST_R = 1e-6, 1e6

_BYTES_PER_CELL = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a kind may need: see `simulate`."""

    train: Any = None
    fit: str = "moments"
    epsilon: float = 1e-7
    r: float | None = None
    value: float | str | None = None
    labels: Sequence[Any] = ()
    noise: float = 0.0
    jitter: float = 0.0
    smoothing: float = 0.0
    drop: float = 0.0
    merge: float = 0.0

    @classmethod
    def of(cls, kind: str, values: Mapping[str, Any]) -> Recipe:
        """Return the checked arguments of a kind; raises SettingsError for those that it does not take."""
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS) if isinstance(kind, str) else ""
            raise SettingsError(f"kind must be one of {', '.join(KINDS)}, not {shown(kind)}{hint}")
        known = [each.name for each in fields(cls)]
        for name in values:
            if name not in known:
                raise SettingsError(f"unknown argument {name!r}{did_you_mean(name, known)}")
        given = {name: value for name, value in values.items() if value is not None}
        recipe = cls(**given)
        strange = [name for name in known if name in given and name not in _OWN[kind]]
        if strange:
            taken = ", ".join(_OWN[kind])
            raise SettingsError(f"{strange[0]} is not of {kind}, which takes {taken}")
        recipe._check(kind)
        return recipe

    def _check(self, kind: str) -> None:
        if self.fit not in FITS:
            raise SettingsError(f"fit must be one of {', '.join(FITS)}, not {shown(self.fit)}")
        _number("epsilon", self.epsilon, *_EPSILONS)
        if kind == "beta-noise":
            if self.r is None:
                raise SettingsError("beta-noise needs r, with which alpha = beta = r")
            _number("r", self.r, _LEAST_R, _MOST_R)
        if kind == "constant" and self.value != "prior":
            _number("value", 0.5 if self.value is None else self.value, 0.0, 1.0)
        for name, most in {"noise": 1e3, "jitter": 1e9, "smoothing": 1e9, "drop": 1.0, "merge": 1.0}.items():
            _number(name, getattr(self, name), 0.0, most)
        if kind == "perturb" and not any(getattr(self, name) for name in _ERRORS):
            raise SettingsError(f"perturb needs one of {', '.join(_ERRORS)}")
        if kind == "annotator" and not (len(self.labels) and not isinstance(self.labels, str)):
            raise SettingsError("annotator needs labels, the tables of one or more annotators")


def _number(name: str, value: object, least: float, most: float) -> None:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not least <= float(value) <= most:  # type: ignore[arg-type]
        or_prior = ", or prior" if name == "value" else ""
        raise SettingsError(f"{name} must be {least:g} to {most:g}{or_prior}, not {shown(value)}")


def simulate(
    kind: str,
    reference: Any,  # noqa: ANN401 - whatever `evaluate` takes
    *,
    seed: int = 0,
    segment_length: float = 1.0,
    pool: str = "max",
    classes: Sequence[str] | None = None,
    durations: Durations | None = None,
    limits: Limits | None = None,
    **values: Any,  # noqa: ANN401 - the fields of Recipe
) -> EventTable:
    """Return the output of a made-up system: rows of one segment each, to be evaluated or converted.

    reference: what it is to be scored against; it says which files and classes there are, and how long files
        are, unless `durations` does.
    kind: `betas` (a beta distribution for each class, fitted to `train`, else to the reference,
        by `fit`: `"moments"`, or `"likelihood"` with values cut to [`epsilon`, 1 - `epsilon`], 1e-7),
        `shuffled-betas` (each class has the distribution of another), `data-sampling` (whole time steps of
        `train`, else of the reference, drawn with replacement), `constant` (`value`, 0.5 if none is given,
        or `"prior"`: the mean of each class in `train`, else in the reference), `beta-noise` (alpha = beta =
        `r`), `perturb` (the reference with events dropped and gaps filled, each with a probability `drop` and
        `merge`, events shifted by about `jitter` seconds, values averaged over about `smoothing` seconds, and
        `noise` added), `annotator` (each file as one of those who labelled it did, at random; `labels`: a
        table of each annotator).
    seed: of the random numbers; streams are those of files and classes by their names, in any order of them.
    segment_length, pool, classes: as in `Settings`. Values of 0 have no row.

    Raises InputError for tables that cannot be read, SettingsError for arguments.
    """
    recipe = Recipe.of(kind, values)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**63:
        raise SettingsError(f"seed must be a whole number, 0 or more, not {shown(seed)}")
    settings = Settings.of(segment_length=segment_length, pool=pool, classes=classes)
    limits = limits_from(limits)
    rows = to_rows(reference, "reference", settings, limits)
    lengths = read_lengths(durations, limits)
    pair = align(rows, rows, settings, lengths)
    grid = Grid.over(pair.reach_ticks, settings.segment_ticks)
    cells = max(grid.size, 1) * max(len(pair.classes), 1)
    what = f"{counted(grid.size, 'segment')} x {counted(len(pair.classes), 'class')}"
    check_room(_BYTES_PER_CELL * cells, f"to simulate {what}", "A larger --segment-length gives fewer")
    timeline = Timeline(pair.files, pair.classes, grid.start)
    made = _Making(rows, pair, grid, timeline, settings, limits, lengths, recipe)
    found = made.values(kind, int(seed)) if timeline.size and timeline.classes else np.zeros(timeline.shape)
    origin = Origin(f"{kind}, seed {seed}", form="simulated")
    return rows_of(found, grid, timeline.files, timeline.classes, origin)


@dataclass(frozen=True, slots=True)
class _Making:
    rows: EventTable
    pair: Recordings
    grid: Grid
    timeline: Timeline
    settings: Settings
    limits: Limits
    lengths: Mapping[str, float] | None
    recipe: Recipe

    def values(self, kind: str, seed: int) -> Floats:
        """Return what the system says, (n_classes, n_segments)."""
        recipe, timeline = self.recipe, self.timeline
        if kind == "beta-noise":
            return beta_noise(timeline, float(recipe.r or 0.0), seed)
        if kind == "perturb":
            return perturbed(timeline, self._of(self.pair), self._errors(), seed)
        if kind == "annotator":
            return one_annotator(timeline, *self._labels(), seed)
        if kind == "constant" and recipe.value != "prior":
            value = 0.5 if recipe.value is None else float(recipe.value)
            return constant(timeline, np.full(len(timeline.classes), value))
        return self._learned(kind, self._train(), seed)

    def _learned(self, kind: str, train: Floats, seed: int) -> Floats:
        if kind == "constant":
            return constant(self.timeline, Betas.fitted(train).mean)
        if kind == "data-sampling":
            if not train.shape[1]:
                raise InputError(Problem("train", "has no segment to draw; expected a table with rows"))
            return data_sampling(self.timeline, train, seed)
        fitted = (
            Betas.fitted(train)
            if self.recipe.fit == "moments"
            else Betas.likeliest(train, self.recipe.epsilon)
        )
        drawn = betas if kind == "betas" else shuffled_betas
        return drawn(self.timeline, fitted, seed)

    def _same(self) -> Settings:
        """Return the settings for other tables: the reference's classes, in its order."""
        return Settings.of(
            segment_length=self.settings.segment_length,
            pool=self.settings.pool,
            classes=self.timeline.classes,
        )

    def _of(self, pair: Recordings) -> Floats:
        return pool_rows(pair.system, self.grid, self.settings.pool)

    def _errors(self) -> Errors:
        recipe, segment = self.recipe, self.settings.segment_length
        # The odd number of segments that is nearest, as the median filter's.
        width = 2 * math.floor(recipe.smoothing / segment / 2 + 1e-9) + 1
        return Errors(recipe.drop, recipe.merge, recipe.jitter / segment, width, recipe.noise)

    def _train(self) -> Floats:
        """Return the segments of the training data, else of the reference, in the reference's classes."""
        if self.recipe.train is None:
            return self._of(self.pair)
        settings = self._same()
        rows = to_rows(self.recipe.train, "train", settings, self.limits)
        if {*self.timeline.classes}.isdisjoint(rows.classes):
            raise InputError(Problem(rows.origin.name, "has none of the reference's classes"))
        pair = align(rows, rows, settings)
        grid = Grid.over(pair.reach_ticks, settings.segment_ticks)
        grid.check_size(len(pair.classes))
        return pool_rows(pair.reference, grid, settings.pool)

    def _labels(self) -> tuple[list[Floats], npt.NDArray[np.bool_]]:
        """Return the values of each annotator, and who labelled which file."""
        settings = self._same()
        found, labelled = [], []
        lengths = dict(zip(self.pair.files, self.pair.length.tolist(), strict=True))
        for i, source in enumerate(self.recipe.labels):
            rows = to_rows(source, f"labels[{i}]", settings, self.limits)
            pair = align(self.pair.reference, rows, settings, lengths)
            found.append(self._of(pair))
            labelled.append([name not in pair.findings.missing for name in self.timeline.files])
        return found, np.array(labelled, dtype=bool).reshape(len(found), len(self.timeline.files))
