"""What the event-based scores are called and what they mean."""

from __future__ import annotations

from sedeval_soft.measures import detection
from sedeval_soft.measures.measure import Family

FAMILIES: tuple[Family, ...] = (
    Family(
        "event", "hard", "events of both sides at one threshold each, matched in collars", detection.MEASURES
    ),
)
