"""Evaluate sound event detection against hard and soft references.

What is called:

- `evaluate(reference, system, **settings)` compares two tables and returns `Scores`.
- `compare(reference, systems, **settings)` ranks several systems and returns a `Board`.
- `mean_of_runs(reference, runs, **settings)` returns the mean scores of repeated trainings.
- `threshold_curves(reference, system, **settings)` returns scores over all thresholds: `Curves`, for plots.
- `operating_points(folder)` returns the tables of a folder by the thresholds in their names, for `evaluate`.
- `Evaluator` scores in batches, saves what it has counted, and merges.
- `validate(system, reference)` returns all that is wrong with a table, and what looks wrong: a `Validation`.
- `convert(source, target, to=...)` writes a table in another form, and says in a `Conversion` what is lost.
- `simulate(kind, reference, seed=...)` returns the output of a made-up system, to read scores against.
- `annotate(annotators)` makes a reference of several annotators' labels, and says how far they agree: an
  `Annotation`.
- `plot(kind, reference, *systems, **settings)` draws a figure, as a matplotlib Figure.
- `write_report(reference, systems, path, **settings)` writes a page of HTML to look at.
- `build_site(submissions, reference, site, **settings)` writes a leaderboard of a folder of submissions, and
  says of each, in a `Site`, what came of it.

What is returned, beside `Board`, `Curves`, `Validation`, `Conversion`, `Annotation` and `Site`:

- `Scores` maps score names such as `segment.soft.f1.macro` to numbers.
- `Score` is one of them, with its interval.

What is given:

- `Settings` holds every setting that shapes the numbers, with its default.
- `Limits` holds the most that an input may have, for files of strangers.
- `Choices` holds the title of a report, and which recordings it shows.

What is raised:

- `EvaluationError` is the base of everything this package raises on bad input or settings.
- `InputError` has the problems of a table, each with its place; `SettingsError` is of settings and arguments,
  `UnknownScoreError` of the name of a score that there is not, `OutputError` of what cannot be written.

Names are imported when first used, so that `soft-sed-eval --help` starts at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sedeval_soft.api.comparison import compare, mean_of_runs
    from sedeval_soft.api.evaluation import evaluate, threshold_curves
    from sedeval_soft.api.evaluator import Evaluator
    from sedeval_soft.api.plotting import plot
    from sedeval_soft.api.report import write_report
    from sedeval_soft.api.sources import operating_points
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.errors import EvaluationError, InputError, SettingsError
    from sedeval_soft.evaluation.curves import Curves
    from sedeval_soft.evaluation.scores import Score, Scores, UnknownScoreError
    from sedeval_soft.html.report_page import Choices
    from sedeval_soft.report.write import OutputError
    from sedeval_soft.settings import Settings
    from sedeval_soft.tables.limits import Limits
    from sedeval_soft.tools.annotate import Annotation, annotate
    from sedeval_soft.tools.convert import Conversion, convert
    from sedeval_soft.tools.simulate import simulate
    from sedeval_soft.tools.site import Site, build_site
    from sedeval_soft.tools.validate import Validation, validate

__version__ = "0.1.0"

__all__ = [
    "Annotation", "Board", "Choices", "Conversion", "Curves", "EvaluationError", "Evaluator",
    "InputError", "Limits", "OutputError", "Score", "Scores", "Settings", "SettingsError", "Site",
    "UnknownScoreError", "Validation", "__version__", "annotate", "build_site", "compare",
    "convert", "evaluate", "mean_of_runs", "operating_points", "plot", "simulate", "threshold_curves",
    "validate", "write_report",
]  # fmt: skip

_NAMES = {
    "api.comparison": "compare mean_of_runs",
    "api.evaluation": "evaluate threshold_curves",
    "api.evaluator": "Evaluator",
    "api.plotting": "plot",
    "api.report": "write_report",
    "api.sources": "operating_points",
    "comparison.board": "Board",
    "errors": "EvaluationError InputError SettingsError",
    "evaluation.curves": "Curves",
    "evaluation.scores": "Score Scores UnknownScoreError",
    "html.report_page": "Choices",
    "report.write": "OutputError",
    "settings": "Settings",
    "tables.limits": "Limits",
    "tools.annotate": "Annotation annotate",
    "tools.convert": "Conversion convert",
    "tools.simulate": "simulate",
    "tools.site": "Site build_site",
    "tools.validate": "Validation validate",
}
"""The public names that each module has."""

_HOME = {name: f"sedeval_soft.{module}" for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module protocol (PEP 562)
    """Import a public name at its first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
