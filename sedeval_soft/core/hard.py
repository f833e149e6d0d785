"""The hard reading of a pair: what is active on either side at its threshold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.events import Events, active, active_rows, events_of
from sedeval_soft.core.pair import Pair
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def merges(rows: EventTable, settings: Settings) -> bool:
    """Return whether touching rows of a table are one event."""
    return rows.has_values if settings.events == "auto" else settings.events == "merge"


def hard_events(pair: Pair, settings: Settings) -> tuple[Events, Events]:
    """Return the events of the reference and of the system, merged or not as the settings say."""
    # Greedy matching, and sed_eval's, go by the order of the table. Which optimal one is found must not.
    as_read = settings.matching == "greedy" or settings.compat is not None

    def side(rows: EventTable, cut: float) -> Events:
        merge = merges(rows, settings)
        events = events_of(rows, cut, settings.inclusive, merge)
        if merge:
            return events.by_time() if as_read else events
        return events if as_read else events.in_order()

    return side(pair.reference, settings.reference_cut), side(pair.system, settings.threshold)


def rowwise_events(pair: Pair, settings: Settings) -> tuple[Events, Events]:
    """Return the active rows of the reference and of the system, each an event of its own."""
    return (
        active_rows(pair.reference, settings.reference_cut, settings.inclusive),
        active_rows(pair.system, settings.threshold, settings.inclusive),
    )


def positive(reference: Floats, settings: Settings) -> Bools:
    """Return where reference values are active."""
    return active(reference, settings.reference_cut, settings.inclusive)


def detected(system: Floats, settings: Settings) -> Bools:
    """Return where system values are active."""
    return active(system, settings.threshold, settings.inclusive)
