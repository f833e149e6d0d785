"""Tables in, statistics out: of all recordings at once, or of some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation.groups import scenes_of
from sedeval_soft.evaluation.optimal import counts_at, error_rate_table, optimal_table, threshold_counts
from sedeval_soft.evaluation.partition import Part
from sedeval_soft.evaluation.shard import Shard, Tables, in_memory
from sedeval_soft.evaluation.system_scores import describe, shard_of, tuned_shard
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE, DetectionCounts
from sedeval_soft.measures.tally import Tally
from sedeval_soft.measures.threshold_counts import ThresholdCounts, error_merit, f_merit
from sedeval_soft.plan import CELLS, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import to_ticks
from sedeval_soft.timeline.recordings import align

if TYPE_CHECKING:
    from sedeval_soft.timeline.postprocess import TimeGrid

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

Key = tuple[str | None, str]
"""The name of a group or scene, None for the whole, and a basis."""

Best = Mapping[Key, tuple[Floats, tuple[Floats, Index, Index]]]
"""The thresholds of the best F of each class; those of the fewest errors, with TP and N_sys there."""

_PLAIN: dict[str, Any] = {
    "psds": None,
    "alpha_ct": None,
    "alpha_st": None,
    "max_efpr": None,
    "psds_median_filters": (),
}
"""Settings that ask for no PSDS."""


def shard_of_rows(
    reference: EventTable,
    system: EventTable,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    name: str | None = None,
    *,
    batch: bool = False,
    cells: bool = False,
) -> Shard:
    """Return the statistics of rows; arguments as for `evaluate`.

    batch: whether more files will follow, so that what is missing here may not be missing in all.
    cells: whether the values of all segments are kept, as comparing systems segment by segment needs.
    """
    pair = align(reference, system, settings, durations)
    inputs = describe(reference, "reference", settings), describe(system, "system", settings)
    if batch:
        inputs = in_memory(inputs[0]), in_memory(inputs[1])
    else:
        # What is refused is refused before much is computed.
        if settings.strict:
            pair.findings.warnings(settings)
        scenes_of(pair.files, pair.classes, settings)
    return shard_of(pair, inputs, settings, name or system.origin.name, durations, cells=cells)


@dataclass(frozen=True, slots=True)
class Rounds:
    """What is counted of each part.

    in_two_rounds: the bases whose segments or events are not kept: their counts at every threshold are, and
    the parts are counted again at the best ones.
    """

    settings: Settings
    in_two_rounds: tuple[str, ...] = ()

    @property
    def second(self) -> Settings:
        """Return the settings of the second round: what looks for best thresholds, and nothing else."""
        only = tuple(f"{basis}.optimal" for basis in self.in_two_rounds)
        # What follows another tool needs its hard readings.
        only = self.settings.only if self.settings.compat else only
        return replace(self.settings, only=only, measures=(), thresholds=None, objective=None, **_PLAIN)


class AtThresholds(NamedTuple):
    """The counts of a part at every threshold.

    apart: the same where it is known that no events of one level overlap, None where some do: which levels
    are told of follows from it, and must be decided for all parts alike.
    """

    counts: ThresholdCounts
    apart: ThresholdCounts | None


class Counted(NamedTuple):
    """The statistics of a part, and its counts at thresholds of what is not kept in them."""

    shard: Shard
    levels: Mapping[Key, AtThresholds]


def time_grids(settings: Settings, part: Part) -> dict[tuple[str, ...], TimeGrid]:
    """Return what the rows of a part tell of their time step: those of all classes, and of each group."""
    from sedeval_soft.timeline.postprocess import TimeGrid

    plain = replace(settings, median_filter=0.0, psds_median_filters=(), min_gap=0.0, min_duration=0.0)
    pair = align(*part.sides(), plain, part.durations)
    groups = [tuple(c for c in labels if c in pair.classes) for labels in settings.groups.values()]
    sides = {classes: pair.with_classes(classes).raw for classes in (pair.classes, *groups)}
    return {
        classes: TimeGrid.of(to_ticks(rows.onset), to_ticks(rows.offset)) for classes, rows in sides.items()
    }


def count(rounds: Rounds, part: Part) -> Counted:
    """Return the statistics of a part: everything that happens to rows happens here."""
    settings = rounds.settings
    shard = shard_of_rows(*part.sides(), settings, part.durations, batch=True)
    if not rounds.in_two_rounds:
        return Counted(shard.slim(), {})
    if isinstance(settings.thresholds, dict):
        # Counts at given thresholds need no other files, but the values that go now.
        shard = tuned_shard(shard)
    levels = {
        (name, basis): _at_thresholds(tally, basis, settings)
        for name, tally in _scopes(shard.tally, shard.groups, settings)
        for basis in rounds.in_two_rounds
    }
    groups = {name: _without(tally, settings) for name, tally in shard.groups.items()}
    shard = replace(shard, tally=_without(shard.tally, settings), groups=groups)
    return Counted(shard.slim(), levels)


def count_again(
    rounds: Rounds, thresholds: Mapping[Key, Floats], part: Part
) -> Mapping[Key, DetectionCounts]:
    """Return the counts of a part at the best thresholds, summed over its files."""
    settings = rounds.second
    reference, system = part.sides()
    shard = shard_of_rows(reference, system, settings, part.durations, batch=True)
    return {
        (name, basis): counts_at(tally, basis, thresholds[name, basis], settings).total()
        for name, tally in _scopes(shard.tally, shard.groups, settings)
        for basis in rounds.in_two_rounds
    }


def best_thresholds(parts: Sequence[Counted], settings: Settings) -> Best:
    """Return the best thresholds of all parts together, by scope and basis."""
    found: dict[Key, tuple[Floats, tuple[Floats, Index, Index]]] = {}
    for key in dict.fromkeys(key for part in parts for key in part.levels):
        own = [part.levels[key] for part in parts if key in part.levels]
        apart = [of.apart for of in own if of.apart is not None]
        levels = apart if len(apart) == len(own) else [of.counts for of in own]
        n_classes = len(levels[0].n_ref)
        counts = ThresholdCounts.merge(levels, [np.arange(n_classes)] * len(levels), n_classes)
        threshold, _, _ = counts.best(f_merit(settings.beta), inclusive=settings.inclusive)
        found[key] = threshold, counts.best(error_merit, inclusive=settings.inclusive)
    return found


def optimal_tables(
    best: Best,
    counts: Sequence[Mapping[Key, DetectionCounts]],
    settings: Settings,
) -> dict[str | None, Tables]:
    """Return the tables of optimal readings by scope; counts: of each part at the best thresholds."""
    tables: dict[str | None, Tables] = {}
    for (name, basis), (threshold, (errors_at, tp, n_sys)) in best.items():
        own = [part[name, basis] for part in counts if (name, basis) in part]
        total = DetectionCounts(
            *(np.sum([getattr(each, column) for each in own], axis=0) for column in (*PER_CLASS, *PER_FILE))
        )
        table = optimal_table(total, threshold, settings)
        if basis not in CELLS:
            table |= error_rate_table(tp, n_sys, total.n_ref, errors_at)
        tables.setdefault(name, {})[basis, "optimal"] = table
    return tables


def _scopes(
    tally: Tally, groups: Mapping[str, Tally], settings: Settings
) -> Iterator[tuple[str | None, Tally]]:
    """Yield the whole, the groups of classes and the scenes of a part, those without any file left out."""
    yield None, tally
    yield from groups.items()
    for name, patterns in settings.scenes.items():
        files = [i for i, file in enumerate(tally.files) if any(fnmatchcase(file, p) for p in patterns)]
        if files:
            yield name, tally.take(np.array(files, dtype=np.int64))


def _at_thresholds(tally: Tally, basis: str, settings: Settings) -> AtThresholds:
    counts = threshold_counts(tally, basis, settings, apart=False)
    if basis != "intersection":
        return AtThresholds(counts, None)
    from sedeval_soft.measures.intersection_counts import Criteria
    from sedeval_soft.measures.intersection_thresholds import Judged

    sides = tally.events["reference"].events(), tally.events["system"]
    is_apart = Judged.of(*sides, len(tally.classes), Criteria.of(settings)).is_apart()
    return AtThresholds(counts, threshold_counts(tally, basis, settings, apart=True) if is_apart else None)


def _without(tally: Tally, settings: Settings) -> Tally:
    """Return a tally without its segments and, unless PSDS looks at them, without its events."""
    return replace(tally, samples={}, events=tally.events if Plan.of(settings).psds else {})
