"""The names of the kinds of errors of events, in the order of tables."""

KINDS = (
    *("missed", "background", "onset", "offset", "both_boundaries"),
    *("split", "merge", "duplicate", "confusion", "confusion_and_boundary"),
)
(MISSED, BACKGROUND, ONSET, OFFSET, BOTH, SPLIT, MERGE, DUPLICATE, CONFUSION, CONFUSED_BOUNDARY) = range(10)
"""The places of kinds in `KINDS`."""

HIT = -1
"""The code for no kind of error."""
