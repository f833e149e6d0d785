"""The library: the only place that wires the steps together.

import sedeval_soft

scores = sedeval_soft.evaluate("ref.tsv", "sys.tsv", segment_length=1.0)
scores["segment.soft.f1.macro"]

`api.conversion` and `api.validation` are imported by who converts or validates: start-up is a feature.
"""

from sedeval_soft.api.comparison import compare, mean_of_runs
from sedeval_soft.api.evaluation import (
    evaluate,
    evaluate_rows,
    has_points,
    of_points,
    shard_of_rows,
    threshold_curves,
    with_chance,
    with_curves,
)
from sedeval_soft.api.evaluator import Evaluator, merge_tallies, read_tally
from sedeval_soft.api.sources import read_lengths, read_parts, sides_of, to_rows

__all__ = [
    "Evaluator",
    "compare",
    "evaluate",
    "evaluate_rows",
    "has_points",
    "mean_of_runs",
    "merge_tallies",
    "of_points",
    "read_lengths",
    "read_parts",
    "read_tally",
    "shard_of_rows",
    "sides_of",
    "threshold_curves",
    "to_rows",
    "with_chance",
    "with_curves",
]
