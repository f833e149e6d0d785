"""Simulated systems: tables in, the table of a made-up system out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.api.sources import Durations, limits_from, read_lengths, shown, to_rows
from sedeval_soft.core.intake import Limits
from sedeval_soft.core.room import check_room
from sedeval_soft.errors import InputError, Problem, SettingsError, counted
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import Settings
from sedeval_soft.simulation import systems
from sedeval_soft.simulation.perturb import Errors, perturbed
from sedeval_soft.simulation.streams import Timeline
from sedeval_soft.simulation.systems import Betas
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.timeline.grid import Grid
from sedeval_soft.timeline.recordings import Pair, align
from sedeval_soft.timeline.segments import pool_rows, rows_of

Floats = npt.NDArray[np.float64]

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
    pair: Pair
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
            return systems.beta_noise(timeline, float(recipe.r or 0.0), seed)
        if kind == "perturb":
            return perturbed(timeline, self._of(self.pair), self._errors(), seed)
        if kind == "annotator":
            return systems.one_annotator(timeline, *self._labels(), seed)
        if kind == "constant" and recipe.value != "prior":
            value = 0.5 if recipe.value is None else float(recipe.value)
            return systems.constant(timeline, np.full(len(timeline.classes), value))
        return self._learned(kind, self._train(), seed)

    def _learned(self, kind: str, train: Floats, seed: int) -> Floats:
        if kind == "constant":
            return systems.constant(self.timeline, Betas.fitted(train).mean)
        if kind == "data-sampling":
            if not train.shape[1]:
                raise InputError(Problem("train", "has no segment to draw; expected a table with rows"))
            return systems.data_sampling(self.timeline, train, seed)
        fitted = (
            Betas.fitted(train)
            if self.recipe.fit == "moments"
            else Betas.likeliest(train, self.recipe.epsilon)
        )
        drawn = systems.betas if kind == "betas" else systems.shuffled_betas
        return drawn(self.timeline, fitted, seed)

    def _same(self) -> Settings:
        """Return the settings for other tables: the reference's classes, in its order."""
        return Settings.of(
            segment_length=self.settings.segment_length,
            pool=self.settings.pool,
            classes=self.timeline.classes,
        )

    def _of(self, pair: Pair) -> Floats:
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
