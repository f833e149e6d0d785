"""The library: the only place that wires the steps together.

import sedeval_soft

scores = sedeval_soft.evaluate("ref.tsv", "sys.tsv", segment_length=1.0)
scores["segment.soft.f1.macro"]
"""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.api.comparison import named_sources
    from sedeval_soft.api.evaluation import evaluate_rows
    from sedeval_soft.api.sources import Durations, limits_from, read_lengths, settings_from, shown, to_rows

__all__ = [
    "Durations",
    "evaluate_rows",
    "limits_from",
    "named_sources",
    "read_lengths",
    "settings_from",
    "shown",
    "to_rows",
]

__getattr__ = face(
    __name__,
    {
        "comparison": "named_sources",
        "evaluation": "evaluate_rows",
        "sources": "Durations limits_from read_lengths settings_from shown to_rows",
    },
)
