"""References of a crowd, of all annotators or of all but one: values over time, or consensus events."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.annotators.consensus import SAME_IOU, Consensus, agreed, annotated_events
from sedeval_soft.annotators.crowd import Crowd
from sedeval_soft.annotators.pooled import reference_of
from sedeval_soft.arrays import Bools, Index
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.timeline.events import Events


@dataclass(frozen=True, slots=True)
class References:
    """How references are made of annotators.

    method: one of METHODS of `pooled`, or of `consensus`. threshold: above which a value is a label. events:
    of each annotator where the reference has consensus events, else None. iou: from which on events mean the
    same.
    """

    crowd: Crowd
    method: str
    threshold: float
    events: tuple[Events, ...] | None = None
    iou: float = SAME_IOU

    @classmethod
    def of(
        cls, crowd: Crowd, method: str, threshold: float, settings: Settings, iou: float | None
    ) -> References:
        """Return references of values over time where `iou` is None, else of consensus events."""
        if iou is None:
            return cls(crowd, method, threshold)
        events = tuple(annotated_events(table, settings) for table in crowd.tables)
        return cls(crowd, method, threshold, events, iou)

    def ordered(self, annotators: Index) -> References:
        """Return the same of annotators in another order; positions, (n_annotators,)."""
        events = None if self.events is None else tuple(self.events[k] for k in annotators.tolist())
        return replace(self, crowd=self.crowd.of(annotators), events=events)

    def of_all(self) -> tuple[EventTable, Consensus | None]:
        """Return the reference that all annotators make, and its consensus events."""
        crowd, name = self.crowd, f"{self.method} of {len(self.crowd.names)} annotators"
        if self.events is None:
            return crowd.reference(reference_of(crowd.units, self.method, self.threshold), name)[0], None
        made = agreed(self.events, crowd.has_file, crowd.units, self.method, self.threshold, self.iou)
        consensus = Consensus(made, crowd.files, crowd.classes, crowd.names)
        return made.rows(crowd.files, crowd.classes, f"consensus, {name}"), consensus

    def of_some(self, who: Bools, files: Bools, name: str) -> tuple[EventTable, dict[str, float]]:
        """Return the reference that some annotators make of some files, and the lengths of these.

        who: (n_annotators,). files: (n_files,).
        """
        crowd, chosen = self.crowd, np.flatnonzero(who)
        units = crowd.units.of(chosen)
        if self.events is None:
            return crowd.reference(reference_of(units, self.method, self.threshold), name, files, units)
        events = [self.events[each] for each in chosen.tolist()]
        made = agreed(events, crowd.has_file[who], units, self.method, self.threshold, self.iou)
        return crowd.within(made.rows(crowd.files, crowd.classes, name), files)

    def settings_for(self, settings: Settings, system: EventTable | None) -> Settings:
        """Return settings to score with: consensus events that only touch stay two if nobody has steps."""
        sides = (*self.crowd.tables, *(() if system is None else (system,)))
        steps = any(table.has_values for table in sides)
        apart = self.events is not None and settings.events == "auto" and not steps
        return replace(settings, events="rows") if apart else settings
