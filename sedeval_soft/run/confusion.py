"""Which class was taken for which, from a tally."""

from __future__ import annotations

from sedeval_soft.core.hard import detected, positive
from sedeval_soft.core.tally import Tally
from sedeval_soft.core.value import Confusion
from sedeval_soft.measures.confusion import ConfusionCounts, confuse_events, confuse_segments
from sedeval_soft.measures.event.pairs import Collars
from sedeval_soft.settings import Settings


def confusion_tables(tally: Tally, settings: Settings) -> tuple[Confusion, ...]:
    """Return the confusions that the settings ask for: of segments, clips and events, both sides cut."""
    if "confusion" not in settings.measures:
        return ()
    found = [
        (basis, _of_cells(tally, basis, settings))
        for basis in ("segment", "clip")
        if settings.wants(basis, "hard")
    ]
    if settings.wants("event", "hard"):
        # Which of the largest matchings is found must not depend on the order of the table.
        reference, system = (tally.events[side].events().in_order() for side in ("reference", "detected"))
        found.append(("event", confuse_events(reference, system, len(tally.classes), Collars.of(settings))))
    return tuple(_named(basis, tally.classes, counts) for basis, counts in found)


def _of_cells(tally: Tally, basis: str, settings: Settings) -> ConfusionCounts:
    reference, system = tally.samples[f"{basis}.reference"], tally.samples[f"{basis}.system"]
    return confuse_segments(positive(reference, settings), detected(system, settings))


def _named(basis: str, classes: tuple[str, ...], counts: ConfusionCounts) -> Confusion:
    pairs = tuple(tuple(row) for row in counts.pairs.tolist())
    return Confusion(
        basis, "hard", classes, pairs, tuple(counts.missed.tolist()), tuple(counts.inserted.tolist())
    )
