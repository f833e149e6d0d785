"""Evaluate sound event detection against hard and soft references.

The public names:

- `evaluate(reference, system, **settings)` compares two tables and returns `Scores`.
- `compare(reference, systems, **settings)` ranks several systems and returns a `Board`.
- `mean_of_runs(reference, runs, **settings)` returns the mean scores of repeated trainings.
- `Evaluator` scores in batches, saves what it has counted, and merges.
- `annotate(annotators)` makes a reference of several annotators' labels, and says how far they agree.
- `build_site(submissions, reference, site, **settings)` writes a leaderboard of a folder of submissions.
- `convert(source, target, to=...)` writes a table in another form, and says what is lost by it.
- `simulate(kind, reference, seed=...)` returns the output of a made-up system, to read scores against.
- `Scores` maps score names such as `segment.soft.f1.macro` to numbers.
- `Settings` holds every setting that shapes the numbers, with its default.
- `Limits` holds the most that an input may have, for files of strangers.
- `plot(kind, reference, *systems, **settings)` draws a figure, as a matplotlib Figure.
- `threshold_curves(reference, system, **settings)` returns scores over all thresholds, for plots.
- `validate(system, reference)` returns all that is wrong with a table, and what looks wrong.
- `write_report(reference, systems, path, **settings)` writes a page of HTML to look at.
- `EvaluationError` is the base of everything this package raises on bad input or settings.

Names are imported when first used, so that `soft-sed-eval --help` starts at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sedeval_soft.api import Evaluator, compare, evaluate, mean_of_runs, threshold_curves
    from sedeval_soft.api.annotation import annotate
    from sedeval_soft.api.conversion import convert
    from sedeval_soft.api.plotting import plot
    from sedeval_soft.api.report import write_report
    from sedeval_soft.api.simulation import simulate
    from sedeval_soft.api.site import build_site
    from sedeval_soft.api.validation import validate
    from sedeval_soft.core.board import Board
    from sedeval_soft.core.errors import EvaluationError, InputError, SettingsError
    from sedeval_soft.core.intake import Limits
    from sedeval_soft.core.settings import Settings
    from sedeval_soft.core.value import Score, Scores
    from sedeval_soft.validation import Validation

__version__ = "0.1.0"

__all__ = [
    "Board",
    "EvaluationError",
    "Evaluator",
    "InputError",
    "Limits",
    "Score",
    "Scores",
    "Settings",
    "SettingsError",
    "Validation",
    "__version__",
    "annotate",
    "build_site",
    "compare",
    "convert",
    "evaluate",
    "mean_of_runs",
    "plot",
    "simulate",
    "threshold_curves",
    "validate",
    "write_report",
]

_HOME = {
    "Board": "sedeval_soft.core.board",
    "Evaluator": "sedeval_soft.api",
    "annotate": "sedeval_soft.api.annotation",
    "build_site": "sedeval_soft.api.site",
    "compare": "sedeval_soft.api",
    "convert": "sedeval_soft.api.conversion",
    "evaluate": "sedeval_soft.api",
    "mean_of_runs": "sedeval_soft.api",
    "plot": "sedeval_soft.api.plotting",
    "simulate": "sedeval_soft.api.simulation",
    "threshold_curves": "sedeval_soft.api",
    "validate": "sedeval_soft.api.validation",
    "write_report": "sedeval_soft.api.report",
    "EvaluationError": "sedeval_soft.core.errors",
    "InputError": "sedeval_soft.core.errors",
    "SettingsError": "sedeval_soft.core.errors",
    "Limits": "sedeval_soft.core.intake",
    "Settings": "sedeval_soft.core.settings",
    "Score": "sedeval_soft.core.value",
    "Scores": "sedeval_soft.core.value",
    "Validation": "sedeval_soft.validation",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module protocol (PEP 562)
    """Import a public name at its first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
