"""What costs most: where a person should listen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation.details import Offender, Worst
from sedeval_soft.measures.segment import fuzzy_and
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import to_seconds
from sedeval_soft.timeline.grid import Edges
from sedeval_soft.timeline.recordings import detected, positive

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Array = npt.NDArray[np.number]

_FAMILIES = (
    *(("segment", "soft"), ("segment", "hard"), ("event", "soft"), ("event", "hard")),
    *(("clip", "soft"), ("clip", "hard"), ("intersection", "soft"), ("intersection", "hard")),
)
"""The bases and readings whose costs are told of: the first that is evaluated."""


def family_of(settings: Settings) -> tuple[str, str] | None:
    """Return the basis and the reading of which it is told what costs most; None where there is none."""
    return next((family for family in _FAMILIES if family in Plan.of(settings).families), None)


def costs_of(tally: Tally, settings: Settings) -> tuple[Array, Array] | None:
    """Return what is missed and what is inserted in each file and class, (n_files, n_classes).

    None where nothing is evaluated that has costs.
    """
    family = family_of(settings)
    if family is None:
        return None
    tp, n_ref, n_sys = (
        np.asarray(tally.per_class[f"{'.'.join(family)}.{name}"]) for name in ("tp", "n_ref", "n_sys")
    )
    # Sums of soft values round: nothing costs less than nothing.
    return np.maximum(n_ref - tp, 0), np.maximum(n_sys - tp, 0)


def worst_of(tally: Tally, settings: Settings) -> Worst | None:
    """Return the files, classes and segments with the most misses and false alarms; None if not asked for.

    They are as many as the settings say; those that cost nothing are left out.
    """
    family, costs = family_of(settings), costs_of(tally, settings)
    if not settings.worst or family is None or costs is None:
        return None
    missed, inserted = costs
    by_file = _top(missed.sum(axis=1), inserted.sum(axis=1), settings.worst)
    by_class = _top(missed.sum(axis=0), inserted.sum(axis=0), settings.worst)
    return Worst(
        *family,
        files=tuple(Offender(tally.files[i], None, *numbers) for i, *numbers in by_file),
        classes=tuple(Offender(None, tally.classes[i], *numbers) for i, *numbers in by_class),
        segments=_segments(tally, family[1], settings) if family[0] == "segment" else (),
    )


def _top(missed: Array, inserted: Array, count: int) -> Sequence[tuple[int, float, float, float, float]]:
    """Return position, cost, share, missed and inserted of the worst, the first of equal ones first."""
    cost = missed + inserted
    total = cost.sum()
    kept = _highest(cost.astype(np.float64), count)
    return [(int(i), *(x.item() for x in (cost[i], cost[i] / total, missed[i], inserted[i]))) for i in kept]


def _highest(cost: Floats, count: int) -> Index:
    """Return the positions of the highest costs above 0, the first of equal ones first."""
    least = np.partition(cost, len(cost) - count)[len(cost) - count] if len(cost) > count else 0.0
    able = np.flatnonzero((cost >= least) & (cost > 0))
    found: Index = able[np.argsort(-cost[able], kind="stable")][:count]
    return found


def _segments(tally: Tally, reading: str, settings: Settings) -> tuple[Offender, ...]:
    reference, system = tally.samples["segment.reference"], tally.samples["segment.system"]
    missed, inserted, most = np.zeros((3, reference.shape[1]))
    worst = np.zeros(reference.shape[1], dtype=np.int64)
    for c, (y, p) in enumerate(zip(reference, system, strict=True)):
        ours, theirs, t_norm = y, p, settings.t_norm
        if reading == "hard":
            ours, theirs = (of.astype(np.float64) for of in (positive(y, settings), detected(p, settings)))
            t_norm = "minimum"
        shared = fuzzy_and(ours, theirs, t_norm)
        missed += ours - shared
        inserted += theirs - shared
        own = ours + theirs - 2 * shared
        worst[own > most] = c
        most = np.maximum(own, most)
    lengths = tally.per_file["n_segments"]
    start = np.cumsum(lengths) - lengths
    edges = Edges(settings.segment_ticks)
    total = float((missed + inserted).sum())
    found = []
    for i in _highest(missed + inserted, settings.worst).tolist():
        file = int(np.searchsorted(start, i, side="right")) - 1
        place = i - int(start[file])
        begin, end = edges.at(np.array([place, place + 1])).tolist()
        length = int(tally.per_file["length"][file])
        # What the system has after the end of a file may cost as much.
        end = end if begin >= length else min(end, length)
        onset, offset = (float(to_seconds(np.array(ticks))) for ticks in (begin, end))
        cost, c = float(missed[i] + inserted[i]), int(worst[i])
        numbers = cost, cost / total, float(missed[i]), float(inserted[i])
        values = float(reference[c, i]), float(system[c, i])
        found.append(
            Offender(tally.files[file], tally.classes[c], *numbers, *values, onset=onset, offset=offset)
        )
    return tuple(found)
