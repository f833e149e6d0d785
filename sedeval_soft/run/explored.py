"""Counts at every threshold of the system, for some thresholds of the reference: what a slider moves over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.core.tally import Tally
from sedeval_soft.errors import EvaluationError
from sedeval_soft.measures.event.pairs import Collars, candidate_pairs
from sedeval_soft.measures.steps import Steps, stacked
from sedeval_soft.run.thresholds import paired_events, steps_of
from sedeval_soft.settings import Settings

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_MOST_PAIRS = 100_000
"""Pairs up to which it is found what is paired whatever its class: of more, that would take long."""

STEPS = 20
"""The reference's thresholds are multiples of 1/20, and the one that the settings have."""


@dataclass(frozen=True, slots=True)
class Explored:
    """Counts of events over all thresholds of the system, the reference cut at one.

    steps: of each class. paired: (low, count), each (n,), how many events are paired whatever their class
    from each threshold on; None where these are not matched by class, or are too many.
    """

    steps: Steps
    paired: tuple[Floats, Index] | None


def reference_thresholds(tally: Tally, settings: Settings) -> tuple[float, ...]:
    """Return the thresholds of the reference in ascending order, that of the settings among them."""
    own = settings.reference_cut
    if "levels" not in tally.events and "segment.reference" not in tally.samples:
        return (own,)
    return tuple(sorted({own, *(k / STEPS for k in range(1, STEPS))}))


def explored_events(
    tally: Tally, basis: str, settings: Settings, thresholds: Sequence[float]
) -> list[Explored]:
    """Return the counts of a basis, `event` or `intersection`, with the reference cut at each threshold."""
    own = settings.reference_cut
    paired = basis == "event" and _competing(tally, settings) <= _MOST_PAIRS
    found: list[Explored] = []
    before: npt.NDArray[np.bool_] | None = None
    for threshold in thresholds:
        if threshold == own:
            found.append(_explored(tally, basis, settings, paired=paired))
            before = None
            continue
        levels = tally.events["levels"]
        alive = levels.alive(threshold, settings.inclusive)
        if before is None or np.any(alive != before):
            reference = EventLifetimes.from_events(levels.take(alive).events())
            cut = replace(tally, events={**tally.events, "reference": reference})
            found.append(_explored(cut, basis, settings, paired=paired))
        else:
            # Between two values of the reference nothing changes.
            found.append(found[-1])
        before = alive
    return found


def _competing(tally: Tally, settings: Settings) -> int:
    """Return how many pairs of events could match if classes did not matter."""
    reference, system = tally.events["reference"].events(), tally.events["system"]
    files = reference.file.astype(np.int64), system.file.astype(np.int64)
    return len(candidate_pairs(reference, system, *files, Collars.of(settings))[0])


def _explored(tally: Tally, basis: str, settings: Settings, *, paired: bool) -> Explored:
    steps = steps_of(tally, basis, settings)
    if not paired:
        return Explored(steps, None)
    try:
        _, low, (count,) = stacked(1, [paired_events(tally, settings)])
    except EvaluationError:
        return Explored(steps, None)
    return Explored(steps, (low, count))
