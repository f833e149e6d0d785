"""The kinds of errors of events: their names, and what each is."""

EVENT_KINDS = {
    "missed": "a reference event without a detection that could be meant for it",
    "background": "a detection without a reference event that it could be meant for",
    "onset": "a detection of the right class whose onset is wrong",
    "offset": "a detection of the right class whose offset is wrong",
    "both_boundaries": "a detection of the right class whose onset and offset are wrong",
    "split": "one reference event in two or more detections",
    "merge": "two or more reference events in one detection",
    "duplicate": "one more detection of an event that is detected already",
    "confusion": "a detection at the right time, of the wrong class",
    "confusion_and_boundary": "a detection of the wrong class that shares half of the time with the event",
}

KINDS = tuple(EVENT_KINDS)

(MISSED, BACKGROUND, ONSET, OFFSET, BOTH, SPLIT, MERGE, DUPLICATE, CONFUSION, CONFUSED_BOUNDARY) = range(10)
"""The places of kinds in `KINDS`."""

HIT = -1
"""What stands in the place of a kind where there is no error."""
