"""What the event-based scores are called and what they mean."""

from __future__ import annotations

from sedeval_soft.measures import detection
from sedeval_soft.measures.measure import Family
from sedeval_soft.measures.segment.spec import THRESHOLD

FAMILIES: tuple[Family, ...] = (
    Family("event", "hard", "events of both sides at one threshold each, in collars", detection.MEASURES),
    Family(
        "event", "optimal", "the system cut at each class's best threshold", (*detection.MEASURES, THRESHOLD)
    ),
    Family("event", "soft", "hard counts integrated over all levels of both sides", detection.MEASURES),
)
