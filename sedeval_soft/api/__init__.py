"""The library: the only place that wires the steps together.

import sedeval_soft

scores = sedeval_soft.evaluate("ref.tsv", "sys.tsv", segment_length=1.0)
scores["segment.soft.f1.macro"]

Names are imported when first used, and `api.conversion`, `api.validation` and others by who needs them:
start-up is a feature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sedeval_soft.api.comparison import compare, mean_of_runs
    from sedeval_soft.api.evaluation import (
        evaluate,
        evaluate_rows,
        for_lists_of_events,
        settings_of_points,
        threshold_curves,
        with_curves,
    )
    from sedeval_soft.api.evaluator import Evaluator, merge_tallies, read_tally
    from sedeval_soft.api.sources import (
        operating_points,
        read_lengths,
        read_parts,
        sides_of,
        to_rows,
        with_points,
    )

__all__ = [
    "Evaluator",
    "compare",
    "evaluate",
    "evaluate_rows",
    "for_lists_of_events",
    "mean_of_runs",
    "merge_tallies",
    "operating_points",
    "read_lengths",
    "read_parts",
    "read_tally",
    "settings_of_points",
    "sides_of",
    "threshold_curves",
    "to_rows",
    "with_curves",
    "with_points",
]

_HOME = {
    "comparison": ("compare", "mean_of_runs"),
    "evaluator": ("Evaluator", "merge_tallies", "read_tally"),
    "sources": (
        "operating_points",
        "read_lengths",
        "read_parts",
        "sides_of",
        "to_rows",
        "with_points",
    ),
}
"""The modules of names that are not in `evaluation`."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module protocol (PEP 562)
    """Import a name at its first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = next((module for module, names in _HOME.items() if name in names), "evaluation")
    return getattr(import_module(f"{__name__}.{home}"), name)
