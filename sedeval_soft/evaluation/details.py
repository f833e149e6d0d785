"""Details beside scores: confusions, chance levels, folds, a sweep of thresholds, the worst errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Self

import numpy as np

from sedeval_soft.arrays import Array, expand
from sedeval_soft.measures.segment import fuzzy_and
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import to_seconds
from sedeval_soft.timeline.grid import Edges
from sedeval_soft.timeline.recordings import (
    detected,
    positive,
)

THRESHOLDS = tuple(k / 10 for k in range(1, 10))
"""Thresholds of the reference in a sweep."""

_FAMILIES = tuple(product(("segment", "event", "clip", "intersection"), ("soft", "hard")))
"""The bases and readings for costs, in order of preference: the first evaluated one is used."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """Confusion of classes.

    basis, reading: the counted events or cells. classes: names. pairs: counts by reference class, then by
    system class. missed: by reference class, without any system class. inserted: by system class, without any
    reference class.
    """

    basis: str
    reading: str
    classes: tuple[str, ...]
    pairs: tuple[tuple[int, ...], ...]
    missed: tuple[int, ...]
    inserted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """The chance level of a score.

    - chance: the mean score of the same output if it were independent of the recordings; None if undefined.
    - error: the standard error of that mean; None for an exact mean.
    - normalised: (score - chance) / (best - chance): 0 at chance, 1 for the best; None without a best, or if
      the best is at chance.
    """

    chance: float | None
    error: float | None
    normalised: float | None


@dataclass(frozen=True, slots=True)
class Chance:
    """The chance levels of scores, by name.

    draws: the number of arrangements in time. everything: whether these are all possible ones. seed: of the
    random numbers.
    """

    draws: int
    seed: int
    everything: bool
    levels: Mapping[str, Level]


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of a score between folds.

    - name: name of the score of all folds pooled. values: of each fold, None if undefined.
    - mean, deviation: mean and standard deviation of the defined ones (divided by their number less 1); None
      for fewer than two.
    """

    name: str
    values: tuple[float | int | None, ...]
    mean: float | None
    deviation: float | None

    @classmethod
    def of(cls, name: str, values: Sequence[float | int | None]) -> Self:
        """Return the spread of a score that has these values in the folds."""
        from statistics import fmean, stdev

        known = [float(value) for value in values if value is not None]
        several = len(known) > 1
        return cls(name, tuple(values), fmean(known) if several else None, stdev(known) if several else None)


@dataclass(frozen=True, slots=True)
class Folds:
    """The folds by name, the number of files of each, and the spread of scores over them."""

    names: tuple[str, ...]
    files: tuple[int, ...]
    spreads: tuple[Spread, ...]


@dataclass(frozen=True, slots=True)
class Offender:
    """A file, a class, or a segment with a high cost.

    - file: None for a class. class_name: for a segment the class with the highest cost in it; None for a
      file.
    - onset, offset: of a segment, in seconds.
    - cost: missed + inserted. share: of the cost of all, in [0, 1].
    - missed: reference segments (or events) that the system lacks. inserted: system segments (or events) that
      the reference lacks. Both are sums of values for the soft reading.
    - reference, system: the values of a segment's class.
    """

    file: str | None
    class_name: str | None
    onset: float | None = field(default=None, kw_only=True)
    offset: float | None = field(default=None, kw_only=True)
    cost: float | int
    share: float
    missed: float | int
    inserted: float | int
    reference: float | None = None
    system: float | None = None


@dataclass(frozen=True, slots=True)
class Worst:
    """Files, classes and segments with the highest costs, the worst first.

    basis, reading: source of the counts; `segment.soft` if it is evaluated. Segments are listed for segments
    only.
    """

    basis: str
    reading: str
    files: tuple[Offender, ...]
    classes: tuple[Offender, ...]
    segments: tuple[Offender, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Averages of scores at each of some thresholds of the reference.

    - thresholds: (n,) ascending.
    - at: by basis, (n,) the number of segments or clips of a class with exactly that value in the reference,
      or of its events that end at this level. The choice between > and >= decides whether they count.
    - scores: by name, (n,) values, None if undefined.
    """

    thresholds: tuple[float, ...]
    at: Mapping[str, tuple[int, ...]]
    scores: Mapping[str, tuple[float | int | None, ...]]


# The worst errors: places where a person should listen.


def family_of(settings: Settings) -> tuple[str, str] | None:
    """Return the basis and the reading for costs; None if no evaluated one has costs."""
    return next((family for family in _FAMILIES if family in Plan.of(settings).families), None)


def costs_of(tally: Tally, settings: Settings) -> tuple[Array, Array] | None:
    """Return the missed and inserted amounts of each file and class, (n_files, n_classes).

    Returns None if no evaluated basis has costs.
    """
    family = family_of(settings)
    if family is None:
        return None
    names = (f"{'.'.join(family)}.{name}" for name in ("tp", "n_ref", "n_sys"))
    tp, n_ref, n_sys = (np.asarray(tally.per_class[name]) for name in names)
    # Sums of soft values round: no cost is below 0.
    return np.maximum(n_ref - tp, 0), np.maximum(n_sys - tp, 0)


def worst_of(tally: Tally, settings: Settings) -> Worst | None:
    """Return the files, classes and segments with the most errors; None if not requested.

    Their number is a setting; files, classes and segments without cost are left out.
    """
    family, costs, most = family_of(settings), costs_of(tally, settings), settings.worst
    if not most or family is None or costs is None:
        return None
    by_file, by_class = (_top(costs[0].sum(axis=axis), costs[1].sum(axis=axis), most) for axis in (1, 0))
    return Worst(
        *family,
        files=tuple(Offender(tally.files[i], None, *numbers) for i, numbers in by_file),
        classes=tuple(Offender(None, tally.classes[i], *numbers) for i, numbers in by_class),
        segments=tuple(_segments(tally, family[1], settings)) if family[0] == "segment" else (),
    )


def _top(missed: Array, inserted: Array, count: int) -> list[tuple[int, tuple[float, float, float, float]]]:
    """Return the worst, with cost, share, missed and inserted of each; the first of equal ones first."""
    cost = missed + inserted
    worst = np.argsort(-cost, kind="stable")[:count]
    worst = worst[cost[worst] > 0]
    columns = (column[worst].tolist() for column in (cost, cost / (cost.sum() or 1), missed, inserted))
    return list(zip(worst.tolist(), zip(*columns, strict=True), strict=True))


def _segments(tally: Tally, reading: str, settings: Settings) -> Iterator[Offender]:
    reference, system = tally.samples["segment.reference"], tally.samples["segment.system"]
    missed, inserted, most = np.zeros((3, reference.shape[1]))
    worst = np.zeros(reference.shape[1], dtype=np.int64)
    for c, (y, p) in enumerate(zip(reference, system, strict=True)):
        ours, theirs, t_norm = y, p, settings.t_norm
        if reading == "hard":
            ours, theirs = (
                cells.astype(np.float64) for cells in (positive(y, settings), detected(p, settings))
            )
            t_norm = "minimum"
        shared = fuzzy_and(ours, theirs, t_norm)
        missed += ours - shared
        inserted += theirs - shared
        cost = ours + theirs - 2 * shared
        worst[cost > most] = c
        most = np.maximum(cost, most)
    ends, edges = np.cumsum(tally.per_file["n_segments"]), Edges(settings.segment_ticks)
    if settings.drops_segments:
        # Which segment of its file each remaining one is, and the run that it belongs to.
        runs = tally.events["segments"]
        runs = runs.take(np.lexsort((runs.onset, runs.file)))
        run, places = expand(edges.before(runs.onset), edges.after(runs.offset))
    for i, numbers in _top(missed, inserted, settings.worst):
        file, c = int(np.searchsorted(ends, i, side="right")), int(worst[i])
        place = i - int(ends[file] - tally.per_file["n_segments"][file])
        length = int(tally.per_file["length"][file])
        if settings.drops_segments:
            place, length = int(places[i]), int(runs.offset[run[i]])
        begin, end = edges.at(np.array([place, place + 1])).tolist()
        # Activity of the system after the end of a file may cost as much.
        onset, offset = to_seconds(np.array([begin, end if begin >= length else min(end, length)])).tolist()
        values = float(reference[c, i]), float(system[c, i])
        yield Offender(tally.files[file], tally.classes[c], *numbers, *values, onset=onset, offset=offset)
