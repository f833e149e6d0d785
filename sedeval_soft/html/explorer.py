"""What the threshold explorer moves over: values and counts from which the page finds hard scores itself.

A class has a table of levels, ascending, and whatever changes at them refers to their places: so every
threshold gives the numbers that the evaluator gives. Where that would be too much to embed, thresholds are
the hundredths from 0 to 1 and those of the settings: the numbers are the evaluator's at these, and the page
goes nowhere between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation.curves import Explored, explored_events, reference_thresholds
from sedeval_soft.html.arrays import Packer
from sedeval_soft.html.inputs import ReportInput
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import heads

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_ROOM = 2_900_000
"""Bytes that all this may take in a page when compressed, about, shared by its systems."""

_PLACE, _LEVEL, _CHANGE = 2, 8, 1.2
"""Bytes of a place, of a level and of a change of a count, about, when compressed."""

EVENTS = ("event", "intersection")


def explorer(inputs: ReportInput, pack: Packer, n_systems: int) -> dict[str, Any] | None:
    """Return what the explorer of a system needs; None where its hard scores are found in another way."""
    settings, tally = inputs.settings, inputs.tally
    if settings.compat is not None:
        return None
    plan = Plan.of(settings)
    thresholds = reference_thresholds(tally, settings)
    events = {
        basis: explored_events(tally, basis, settings, thresholds)
        for basis in EVENTS
        if plan.scores(basis) and _has_events(tally, thresholds) and settings.matching == "optimal"
    }
    cells = plan.scores("segment") and "segment.system" in tally.samples
    if not cells and not events:
        return None
    samples = [tally.samples[f"segment.{side}"] for side in ("reference", "system")] if cells else []
    levels = _levels(samples, events, len(tally.classes))
    exact = _bytes(samples, levels, events) * n_systems <= _ROOM
    grid = None if exact else _grid(settings)
    if grid is not None:
        levels = [grid] * len(levels)
    return {
        "exact": exact,
        "thresholds": list(thresholds),
        "threshold": settings.threshold,
        "reference_threshold": settings.reference_cut,
        "linked": settings.reference_threshold is None,
        "inclusive": settings.inclusive,
        "beta": settings.beta,
        "classes": list(tally.classes),
        # Behind those of the classes, those of all classes together.
        "levels": [pack(of, "f8") for of in levels],
        "segment": _cells(samples, levels, grid, pack, settings) if cells else None,
        **dict.fromkeys(EVENTS),
        **{
            basis: [_events(of, levels, grid, pack, settings) for of in found]
            for basis, found in events.items()
        },
    }


def _has_events(tally: Tally, thresholds: Sequence[float]) -> bool:
    """Return whether a tally kept the events that these thresholds of the reference ask for."""
    return "reference" in tally.events and (len(thresholds) == 1 or "levels" in tally.events)


def _levels(samples: Sequence[Floats], events: dict[str, list[Explored]], n_classes: int) -> list[Floats]:
    """Return the levels of the system at which anything changes, ascending: by class, then of all classes."""
    found = []
    for c in range(n_classes):
        parts = [samples[1][c]] if samples else []
        for explored in events.values():
            parts += [of.steps[c][0] for of in explored]
        found.append(np.unique(np.concatenate(parts)))
    paired = [of.paired[0] for explored in events.values() for of in explored if of.paired is not None]
    return [*found, np.unique(np.concatenate([np.zeros(1), *paired]))]


def _bytes(samples: Sequence[Floats], levels: Sequence[Floats], events: dict[str, list[Explored]]) -> float:
    counts = [
        count
        for of in {id(of): of for found in events.values() for of in found}.values()
        for count in (
            *np.concatenate([np.zeros((2, 0), dtype=np.int64), *(counts for _, counts in of.steps)], axis=1),
            *(() if of.paired is None else of.paired[1:]),
        )
    ]
    # What is the same at all thresholds of the reference, as events of the system are, is packed once.
    distinct = {count.tobytes(): count for count in counts}.values()
    changes = sum(int(np.count_nonzero(np.diff(count))) for count in distinct)
    return (
        _PLACE * sum(of.size for of in samples) + _LEVEL * sum(len(of) for of in levels) + _CHANGE * changes
    )


def _grid(settings: Settings) -> Floats:
    """Return the hundredths, and the thresholds of the settings."""
    own = {settings.threshold, settings.reference_cut}
    return np.array(sorted({k / 100 for k in range(101)} | own))


def _cells(
    samples: Sequence[Floats],
    levels: Sequence[Floats],
    grid: Floats | None,
    pack: Packer,
    settings: Settings,
) -> dict[str, Any]:
    """Return the segments: of each class the places of both sides' values, or how many have which places."""
    classes = []
    for c, (y, p) in enumerate(zip(*samples, strict=True)):
        if grid is None:
            ours = np.unique(y)
            place = np.searchsorted(ours, y), np.searchsorted(levels[c], p)
            classes.append({"reference_levels": pack(ours, "f8"), "places": [pack(of) for of in place]})
            continue
        # A value's place is how many thresholds it passes: whichever pass the same are one.
        ours, theirs = (
            np.searchsorted(grid, of, side="right" if settings.inclusive else "left") for of in (y, p)
        )
        pairs, count = np.unique(ours * (len(grid) + 1) + theirs, return_counts=True)
        places = np.divmod(pairs, len(grid) + 1)
        classes.append({"places": [pack(of) for of in places], "count": pack(count)})
    return {"classes": classes, "n": int(samples[0].shape[1])}


def _events(
    explored: Explored, levels: Sequence[Floats], grid: Floats | None, pack: Packer, settings: Settings
) -> dict[str, Any]:
    """Return counts, and the places of levels from which on they hold."""
    classes = []
    for c, (n_ref, (threshold, rows)) in enumerate(zip(explored.n_ref, explored.steps, strict=True)):
        counts = {}
        for name, count in zip(("tp", "n_sys"), rows, strict=True):
            low, at = _changes(threshold, count, grid, settings)
            table = levels[c]
            counts[name] = {"at": pack.steps(np.searchsorted(table, low)), "count": pack.steps(at)}
        classes.append({"n_ref": n_ref, **counts})
    if explored.paired is None:
        return {"classes": classes, "paired": None}
    low, count = _changes(*explored.paired, grid, settings)
    at = np.searchsorted(levels[-1], low)
    return {"classes": classes, "paired": {"at": pack.steps(at), "count": pack.steps(count)}}


def _changes(low: Floats, count: Index, grid: Floats | None, settings: Settings) -> tuple[Floats, Index]:
    """Return from which levels on, ascending, there are how many; on a grid, exactly at its thresholds."""
    if grid is not None:
        last = np.searchsorted(low, grid, side="left" if settings.inclusive else "right") - 1
        low, count = grid, count[np.maximum(last, 0)]
    at = heads(count)
    return low[at], count[at]
