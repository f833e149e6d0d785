"""Made-up systems: they show the worth of a score before a model exists."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import Any

import numpy as np

from sedeval_soft.api import Durations, limits_from, read_lengths, to_rows
from sedeval_soft.arrays import Floats, Index
from sedeval_soft.errors import InputError, Problem, SettingsError, counted
from sedeval_soft.evaluation import stream
from sedeval_soft.memory import check_room
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import Schema, Settings, in_form
from sedeval_soft.tables import EventTable, Limits, Origin, listing
from sedeval_soft.timeline import Grid, Recordings, align, pool_rows, rows_of

FITS = ("moments", "likelihood")
"""The methods of fitting beta distributions."""

KINDS = (
    "betas", "shuffled-betas", "data-sampling", "constant", "beta-noise", "perturb", "annotator",
)  # fmt: skip
"""What can be simulated."""

_ERRORS = ("noise", "jitter", "smoothing", "drop", "merge", "scale")


def _number(least: float, most: float) -> Schema:
    return {"type": "number", "minimum": least, "maximum": most}


_SHARE, _SIZE = _number(0.0, 1.0), _number(0.0, 1e9)

_ARGUMENTS: dict[str, tuple[Any, tuple[Schema, ...], tuple[str, ...]]] = {
    "value": (0.5, (_SHARE, {"enum": ["prior"]}), ("constant",)),
    "train": (None, (), KINDS[:4]),
    "fit": ("moments", ({"enum": FITS},), KINDS[:2]),
    "epsilon": (1e-7, (_number(1e-15, 0.1),), KINDS[:2]),
    "r": (None, (_number(1e-6, 1e6),), ("beta-noise",)),
    "noise": (0.0, (_number(0.0, 1e3),), ("perturb",)),
    **dict.fromkeys(("jitter", "smoothing"), (0.0, (_SIZE,), ("perturb",))),
    **dict.fromkeys(("drop", "merge"), (0.0, (_SHARE,), ("perturb",))),
    "scale": (None, (_SIZE,), ("perturb",)),
    "labels": ((), (), ("annotator",)),
}
"""For arguments that not all kinds take: the default, the forms of a value, and the kinds that take them."""

System = Callable[[str, slice], Floats]
"""Says of a recording, of its name and segments, the values of all classes."""

_BYTES_PER_CELL = 64


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
    **values: Any,  # noqa: ANN401 - the arguments of a kind
) -> EventTable:
    """Return the output of a made-up system: rows of one segment each, to be evaluated or converted.

    - reference: the table that the output is scored against; it has the files and classes, and the lengths of
      files, unless `durations` has them.
    - kind: `betas` (a beta distribution for each class, fitted to `train`, else to the reference, by `fit`);
      `shuffled-betas` (each class has the distribution of another).
    - fit: `"moments"`, or `"likelihood"` with values cut to [`epsilon`, 1 - `epsilon`], 1e-7.
    - `data-sampling` draws whole time steps of `train`, else of the reference, with replacement.
    - `constant` has a `value`, 0.5 if none is given, or `"prior"`: the mean of each class in `train`, else in
      the reference. `beta-noise` has alpha = beta = `r`.
    - `perturb` is the reference with events dropped and gaps filled, with probabilities `drop` and `merge`.
      Events are shifted by about `jitter` seconds, values averaged over about `smoothing` seconds and
      multiplied by `scale`, and `noise` is added.
    - `annotator` takes each file from a random one of its annotators; `labels`: a table of each annotator.
    - seed: of the random numbers; each file and class has its own stream by name, in any order.
    - segment_length, pool, classes: as in `Settings`. Values of 0 have no row.

    Raises InputError for tables that cannot be read, SettingsError for arguments.
    """
    arguments = _checked(kind, values)
    seed = in_form("seed", seed, [{"type": "integer", "minimum": 0, "maximum": 2**63 - 1}])
    settings = Settings.of(segment_length=segment_length, pool=pool, classes=classes)
    limits = limits_from(limits)
    rows = to_rows(reference, "reference", settings, limits)
    unknown = [name for name in settings.classes or () if name not in rows.classes]
    if unknown:
        hint = did_you_mean(unknown[0], rows.classes)
        raise SettingsError(f"classes: the reference does not have {listing(unknown, 'class')}{hint}")
    pair = align(rows, rows, settings, read_lengths(durations, limits))
    grid = Grid.over(pair.reach_ticks, settings.segment_ticks)
    cells = max(grid.size, 1) * max(len(pair.classes), 1)
    what = f"{counted(grid.size, 'segment')} x {counted(len(pair.classes), 'class')}"
    check_room(_BYTES_PER_CELL * cells, f"to simulate {what}", "A larger --segment-length gives fewer")
    simulated = np.zeros((len(pair.classes), grid.size))
    if simulated.size:
        # Other tables are of the reference's classes, in its order.
        settings = Settings.of(segment_length=segment_length, pool=pool, classes=pair.classes)
        system = _system(kind, arguments, pair, grid, settings, limits, seed)
        for name, segments in zip(pair.files, starmap(slice, pairwise(grid.start.tolist())), strict=True):
            simulated[:, segments] = system(name, segments)
    origin = Origin(f"{kind}, seed {seed}", form="simulated")
    return rows_of(simulated, grid, pair.files, pair.classes, origin)


def _checked(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments; raises SettingsError for those that a kind does not take, or that are wrong."""
    in_form("kind", kind, [{"enum": KINDS}])
    for name in sorted(values.keys() - _ARGUMENTS.keys()):
        raise SettingsError(f"unknown argument {name!r}{did_you_mean(name, _ARGUMENTS)}")
    arguments = {name: default for name, (default, _, _) in _ARGUMENTS.items()}
    for name, (_, forms, kinds) in _ARGUMENTS.items():
        value = values.get(name)
        if value is not None and kind not in kinds:
            takes = ", ".join(each for each, (_, _, kinds) in _ARGUMENTS.items() if kind in kinds)
            raise SettingsError(f"{kind} does not take {name}; it takes {takes}")
        if value is not None:
            arguments[name] = in_form(name, value, forms) if forms else value
    labels = arguments["labels"]
    lacks = {
        "r, with which alpha = beta = r": kind == "beta-noise" and arguments["r"] is None,
        f"one of {', '.join(_ERRORS)}": kind == "perturb"
        and not any(arguments[name] for name in _ERRORS)
        and arguments["scale"] is None,
        "labels, the tables of one or more annotators": kind == "annotator"
        and (isinstance(labels, str) or not len(labels)),
    }
    for needed, is_lacking in lacks.items():
        if is_lacking:
            raise SettingsError(f"{kind} needs {needed}")
    return arguments


def _system(
    kind: str,
    arguments: Mapping[str, Any],
    pair: Recordings,
    grid: Grid,
    settings: Settings,
    limits: Limits,
    seed: int,
) -> System:
    """Return a made-up system; pair: the reference on both sides. settings: with the reference's classes."""
    if kind == "annotator":
        return _one_annotator(arguments["labels"], pair, grid, settings, limits, seed)
    if arguments["train"] is None:
        train = pool_rows(pair.system, grid, settings.pool)
    else:
        train = _segments_of(arguments["train"], settings, limits)
    of_classes = [*enumerate(pair.classes)]
    if kind == "data-sampling":
        n_steps = train.shape[1]
        if not n_steps:
            raise InputError(Problem("train", "has no segment to draw; expected a table with rows"))
        # Whole time steps, all classes together, with replacement.
        return lambda name, segments: train[:, stream(seed, kind, name).integers(0, n_steps, _size(segments))]
    if kind == "perturb":
        # The odd number of segments that is nearest, as the median filter's.
        width = 2 * math.floor(arguments["smoothing"] / settings.segment_length / 2 + 1e-9) + 1
        errors = {name: arguments[name] for name in ("drop", "merge", "scale", "noise")}
        errors |= {"jitter": arguments["jitter"] / settings.segment_length, "smoothing": width}
        return lambda name, segments: np.stack(
            [perturbed(train[k, segments], seed, name, label, **errors) for k, label in of_classes]
        )
    constant = np.ones(len(train))
    if kind == "beta-noise":
        # alpha = beta = r: the less r, the wider.
        fitted = Betas(0.5 * constant, 2.0 * arguments["r"] * constant)
    elif kind == "constant" and arguments["value"] != "prior":
        fitted = Betas(float(arguments["value"]) * constant, np.inf * constant)
    elif arguments["fit"] == "moments":
        fitted = Betas.fitted(train)
    else:
        fitted = Betas.likeliest(train, arguments["epsilon"])
    if kind == "constant":
        return lambda _, __: fitted.mean[:, None]
    drawn = shuffled(fitted, pair.classes, seed) if kind == "shuffled-betas" else fitted
    return lambda name, segments: np.stack(
        [drawn.draw(stream(seed, kind, name, label), k, _size(segments)) for k, label in of_classes]
    )


def _size(segments: slice) -> int:
    return int(segments.stop - segments.start)


def _segments_of(source: Any, settings: Settings, limits: Limits) -> Floats:  # noqa: ANN401
    """Return the segments of training data, (n_classes, n_segments)."""
    rows = to_rows(source, "train", settings, limits)
    if set(settings.classes or ()).isdisjoint(rows.classes):
        raise InputError(Problem(rows.origin.name, "has none of the reference's classes"))
    pair = align(rows, rows, settings)
    grid = Grid.over(pair.reach_ticks, settings.segment_ticks)
    grid.check_size(len(pair.classes))
    return pool_rows(pair.reference, grid, settings.pool)


def _one_annotator(
    sources: Sequence[Any], pair: Recordings, grid: Grid, settings: Settings, limits: Limits, seed: int
) -> System:
    """Return one random annotator's rows of each recording, nothing for recordings that nobody labelled."""
    labels: list[tuple[Container[str], Floats]] = []
    lengths = dict(zip(pair.files, pair.length.tolist(), strict=True))
    for i, source in enumerate(sources):
        rows = to_rows(source, f"labels[{i}]", settings, limits)
        other = align(pair.reference, rows, settings, lengths)
        labels.append((other.findings.missing, pool_rows(other.system, grid, settings.pool)))

    def system(name: str, segments: slice) -> Floats:
        who = [i for i, (missing, _) in enumerate(labels) if name not in missing]
        if not who:
            return np.zeros((len(pair.classes), 1))
        return labels[int(stream(seed, "annotator", name).choice(who))][1][:, segments]

    return system


# Systems that know nothing of the recordings they are scored on: the betas, the shuffled betas and the data
# sampling of Harju & Mesaros 2023, and the beta noise of its Figure 3. All values are in [0, 1], of shape
# (n_classes, n_segments).


_COIN = 1e-3
"""The sum alpha + beta below which a beta distribution is drawn as its limit, a coin."""

_MEAN = 1e15
"""The sum alpha + beta from which a beta distribution is drawn as its limit, its mean."""

_FLAT, _STEPS = 1e-2, 500
"""The lowest start of Newton's method, and the most steps that it may take."""


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
        # The mean of equal values may be off by rounding: they have no variance all the same.
        equal = values.max(axis=1) == values.min(axis=1)
        mean = np.where(equal, values[:, 0], values.mean(axis=1))
        variance = np.where(equal, 0.0, values.var(axis=1))
        most = mean * (1.0 - mean)
        varied = variance > most / _MEAN
        size = np.divide(most, variance, out=np.full(len(mean), np.inf), where=varied) - 1.0
        return cls(mean, np.maximum(size, 0.0))

    @classmethod
    def likeliest(cls, values: Floats, epsilon: float = 1e-7) -> Betas:
        """Fit by maximum likelihood, values cut to [eps, 1 - eps]: at 0 and 1 the likelihood has no bound.

        values: (n_classes, n_segments). The distance of the cut from 0 and 1 matters if many values are
        there: the closer, the wider the distribution. Classes that have no variance, or none within the cut,
        are as by moments. Newton's method in alpha and beta, from the fit by moments.
        """
        from scipy.special import polygamma, psi

        by_moments = cls.fitted(values)
        if not values.shape[1]:
            return by_moments
        inside = np.clip(values, epsilon, 1.0 - epsilon)
        varied = inside.max(axis=1) > inside.min(axis=1)
        start = cls.fitted(inside)
        shapes = np.stack([start.mean * start.size, (1.0 - start.mean) * start.size], axis=-1)[varied]
        shapes = np.clip(shapes, _FLAT, 1e9)
        logs = np.stack([np.log(inside).mean(axis=1), np.log1p(-inside).mean(axis=1)], axis=-1)[varied]
        for _ in range(_STEPS):
            whole = shapes.sum(axis=-1, keepdims=True)
            slope = psi(whole) - psi(shapes) + logs
            # The Hessian is t - diag(u), the same t in all places: its inverse is known.
            t, u = polygamma(1, whole), polygamma(1, shapes)
            share = (t * slope / u).sum(axis=-1, keepdims=True) / (1.0 - (t / u).sum(axis=-1, keepdims=True))
            before = shapes
            # No step takes away more than half: shapes stay above 0.
            shapes = np.maximum(shapes + (slope + share) / u, shapes / 2)
            if np.all(np.abs(shapes - before) <= 1e-12 * before):
                break
        mean, size = by_moments.mean.copy(), by_moments.size.copy()
        mean[varied], size[varied] = shapes[:, 0] / shapes.sum(axis=-1), shapes.sum(axis=-1)
        return cls(mean, size)

    def draw(self, rng: np.random.Generator, k: int, n: int) -> Floats:
        """Return n values of a class."""
        mean, size = float(self.mean[k]), float(self.size[k])
        if size >= _MEAN or mean in {0.0, 1.0}:
            return np.full(n, mean)
        if size < _COIN:
            return (rng.random(n) < mean).astype(np.float64)
        return np.asarray(rng.beta(mean * size, (1.0 - mean) * size, n))


def shuffled(fitted: Betas, classes: Sequence[str], seed: int) -> Betas:
    """Return for each class the distribution of another: one permutation, without fixed points.

    Classes are put in a random order by their names, and each has the distribution of the next in it.
    """
    keys = [stream(seed, "order of shuffled-betas", label).random() for label in classes]
    cycle = np.argsort(np.array(keys), kind="stable")
    order = np.empty(len(keys), dtype=np.int64)
    order[cycle] = np.roll(cycle, -1)
    return Betas(fitted.mean[order], fitted.size[order])


# A reference with errors of known effect: dropped and merged events, shifts in time, smoothing, scale, noise.
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
# - scaled: values are multiplied, and cut to [0, 1]. In the soft reading all that is lost is too low, or too
#   high, and nothing is confused.
# - noisy: normally distributed noise, the result cut to [0, 1]; in between, the mean absolute error is
#   sqrt(2 / pi) = 0.798 of its standard deviation.


def perturbed(
    values: Floats,
    seed: int,
    *names: str,
    drop: float = 0.0,
    merge: float = 0.0,
    jitter: float = 0.0,
    smoothing: int = 1,
    scale: float | None = None,
    noise: float = 0.0,
) -> Floats:
    """Return values of a class in a recording, (n_segments,) in [0, 1], with errors.

    names: of the recording and the class, for random numbers. drop, merge: probabilities for each event, for
    each gap. jitter: standard deviation of shifts, smoothing: width of the moving average, both in segments.
    scale: a factor of values. noise: standard deviation.
    """
    for kind, size, change in (
        ("drop", drop, _dropped),
        ("merge", merge, _merged),
        ("jitter", jitter, _shifted),
    ):
        if size and values.any():
            values = change(values, size, stream(seed, kind, *names))
    if smoothing > 1 and values.any():
        values = _smoothed(values, smoothing)
    if scale is not None:
        values = np.clip(values * scale, 0.0, 1.0)
    if noise:
        values = values + stream(seed, "noise", *names).normal(0.0, noise, len(values))
    return np.clip(values, 0.0, 1.0)


def _runs(values: Floats) -> tuple[Index, Index]:
    """Return where events begin and end."""
    edges = np.diff((values > 0).astype(np.int8), prepend=0, append=0)
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)


def _dropped(values: Floats, share: float, rng: np.random.Generator) -> Floats:
    begin, end = _runs(values)
    result = values.copy()
    result[values > 0] *= np.repeat(rng.random(len(begin)) >= share, end - begin)
    return result


def _merged(values: Floats, share: float, rng: np.random.Generator) -> Floats:
    begin, end = _runs(values)
    level = (rng.random(len(begin) - 1) < share) * np.minimum(values[end[:-1] - 1], values[begin[1:]])
    result = values.copy()
    inside = result[begin[0] : end[-1]]
    inside[inside == 0] = np.repeat(level, begin[1:] - end[:-1])
    return result


def _shifted(values: Floats, deviation: float, rng: np.random.Generator) -> Floats:
    begin, end = _runs(values)
    most = float(len(values))
    shift = np.rint(np.clip(rng.normal(0.0, deviation, len(begin)), -most, most)).astype(np.int64)
    at = np.flatnonzero(values > 0)
    to = at + np.repeat(shift, end - begin)
    inside = (to >= 0) & (to < len(values))
    result = np.zeros(len(values))
    np.maximum.at(result, to[inside], values[at[inside]])
    return result


def _smoothed(values: Floats, width: int) -> Floats:
    total = np.concatenate(([0.0], np.cumsum(values)))
    at = np.arange(len(values))
    first, last = np.maximum(at - width // 2, 0), np.minimum(at + width // 2 + 1, len(values))
    return np.asarray(np.clip((total[last] - total[first]) / (last - first), 0.0, 1.0))
