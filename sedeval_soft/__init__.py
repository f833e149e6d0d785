"""Evaluate sound event detection against hard and soft references.

A reference says which sounds are heard when: a table with a row for each event, its filename, onset, offset
and event_label. In a soft reference each row also has a value from 0 to 1: how sure the annotators were.
The output of a system is a table of the same kind. Scores say how well the two agree, in segments and in
events, with hard labels (values cut at a threshold) and with soft ones (values as they are). The command
`soft-sed-eval` does the same in a terminal.

Five uses, which run in the folder `sample_data` of the source:

1. Score a system. Tables are files, data frames, arrays or lists of events.

    >>> import sedeval_soft
    >>> scores = sedeval_soft.evaluate("ref.tsv", "sys.tsv", segment_length=1.0)
    >>> round(scores["segment.soft.f1.macro"], 3)
    0.78
    >>> scores["segment.hard.f1[car]"]
    1.0

`print(scores)` shows what the command prints. `list(scores)` has the names of all scores, and
`scores.to_pandas()` all of them as a data frame. A name says where labels are compared (segment, event ...),
in which reading (hard, optimal, soft), by which measure, and of which average or class.

2. Ask how sure a score is: files are resampled.

    >>> scores = sedeval_soft.evaluate("ref.tsv", "sys.tsv", ci="bootstrap", replicates=200)
    >>> score = scores.score("segment.soft.f1.macro")
    >>> score.low < score.value < score.high
    True

3. Compare systems: the best comes first, and their differences are tested.

    >>> board = sedeval_soft.compare("ref.tsv", ["sys_b.tsv", "sys.tsv"], replicates=200)
    >>> list(board)
    ['sys.tsv', 'sys_b.tsv']
    >>> board.entries[1].difference.p_adjusted < 0.05
    False
    >>> round(board["sys_b.tsv"]["event.soft.f1.macro"], 3)
    0.27

4. Score batch by batch while a network trains. Arrays have the shape (files, segments, classes).

    >>> import numpy as np
    >>> evaluator = sedeval_soft.Evaluator(segment_length=0.2, only=["segment"], classes=["car", "dog"])
    >>> target = np.random.default_rng(0).random((3, 50, 2))
    >>> for file in range(3):
    ...     batch = slice(file, file + 1)
    ...     _ = evaluator.update(target[batch], 0.9 * target[batch], files=[f"{file}.wav"])
    >>> round(evaluator.compute()["segment.soft.f1.micro"], 3)
    0.947

5. Find the problems of a table, and write a page to look at.

    >>> for problem in sedeval_soft.validate("sys.tsv", "ref.tsv").problems:
    ...     print(f"{problem.severity}: {problem.message}")
    note: class 'door opens' of those in the reference is never named
    >>> _ = sedeval_soft.write_report("ref.tsv", "sys.tsv", "report.html")

Functions:

- `evaluate(reference, system, **settings)` compares two tables and returns `Scores`.
- `compare(reference, systems, **settings)` ranks several systems and returns a `Board`.
- `mean_of_runs(reference, runs, **settings)` returns the mean scores of repeated trainings.
- `threshold_curves(reference, system, **settings)` returns scores over all thresholds: `Curves`, for plots.
- `operating_points(folder)` returns the tables of a folder by the thresholds in their names, for `evaluate`.
- `Evaluator` scores in batches, saves its statistics, and merges.
- `chance_levels(reference, system)` returns `Scores` with the scores of the same output if it is moved
  in time.
- `diagnose(reference, system)` returns the part of a score that each kind of error costs: a `Diagnosis`.
- `validate(system, reference)` returns the errors of a table, and doubtful values: a `Validation`.
- `convert(source, target, to=...)` writes a table in another form, and returns the losses: a `Conversion`.
- `simulate(kind, reference, seed=...)` returns the output of a made-up system, to read scores against.
- `annotate(annotators)` makes a reference of several annotators' labels, and measures how far they agree: an
  `Annotation`.
- `published_scores(name, reference, system)` returns the numbers of the script that a challenge published.
- `plot(kind, reference, *systems, **settings)` draws a figure, as a matplotlib Figure.
- `write_report(reference, systems, path, **settings)` writes a page of HTML to look at.
- `build_site(submissions, reference, site, **settings)` writes a leaderboard of a folder of submissions, and
  returns the outcome of each: a `Site`.

Results, beside `Board`, `Curves`, `Validation`, `Conversion`, `Annotation`, `Diagnosis` and `Site`:

- `Scores` maps score names such as `segment.soft.f1.macro` to numbers.
- `Score` is one of them, with its interval.

Arguments:
- `Settings` has every setting that shapes the numbers, with its default.
- `Measure` is a measure of your own, for `evaluate(..., measures=[...])`.
- `Limits` has the most that an input may have, for untrusted files.
- `Choices` has the title of a report, and the recordings that it shows.

Errors:

- `EvaluationError` is the base of everything this package raises on bad input or settings.
- `InputError` has the problems of a table, each with its place; `SettingsError` is of settings and arguments,
  `UnknownScoreError` and `UnknownSystemError` are of the unknown name of a score or a system, `OutputError`
  of a file that cannot be written.

More to read:

- `help(sedeval_soft.Settings)` explains all settings; most functions take them as keywords.
- `soft-sed-eval explain segment.soft.f1.macro`, in a terminal, explains a score with its formula and
  source; `soft-sed-eval --help` explains the command.
- `README.md` and `docs` of the source have a tutorial, guides and a reference.
- `sedeval_soft.apps.training` has soft scores of arrays of any library (`functional`), a loss for PyTorch
  (`torch`), metrics (`torchmetrics`) and scorers (`scikit_learn`).

Names are imported when first used, so that the command starts at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.api.comparison import compare, mean_of_runs
    from sedeval_soft.api.evaluation import evaluate, threshold_curves
    from sedeval_soft.api.evaluator import Evaluator
    from sedeval_soft.api.sources import operating_points
    from sedeval_soft.api.validation import validate
    from sedeval_soft.apps.annotators.annotate import Annotation, annotate
    from sedeval_soft.apps.board import Site, build_site
    from sedeval_soft.apps.chance import chance_levels
    from sedeval_soft.apps.diagnosis import Diagnosis, diagnose

    # Not public: the page of a report needs it.
    from sedeval_soft.apps.diagnosis import event_errors as event_errors
    from sedeval_soft.apps.page import Choices, write_report
    from sedeval_soft.apps.plots.run import plot
    from sedeval_soft.apps.published import published_scores
    from sedeval_soft.apps.simulate import simulate
    from sedeval_soft.checks.validate import Validation
    from sedeval_soft.comparison.board import Board, UnknownSystemError
    from sedeval_soft.errors import EvaluationError, InputError, SettingsError
    from sedeval_soft.evaluation.ordered import Curves
    from sedeval_soft.evaluation.scores import Score, Scores, UnknownScoreError
    from sedeval_soft.measures.base import Measure
    from sedeval_soft.report.write import OutputError
    from sedeval_soft.settings import Settings
    from sedeval_soft.tables.limits import Limits
    from sedeval_soft.tools.convert import Conversion, convert

__version__ = "0.1.0"

__all__ = [
    "Annotation", "Board", "Choices", "Conversion", "Curves", "Diagnosis", "EvaluationError", "Evaluator",
    "InputError", "Limits", "Measure", "OutputError", "Score", "Scores", "Settings", "SettingsError", "Site",
    "UnknownScoreError", "UnknownSystemError", "Validation", "__version__", "annotate", "build_site",
    "chance_levels", "compare", "convert", "diagnose", "evaluate", "mean_of_runs", "operating_points", "plot",
    "published_scores", "simulate", "threshold_curves", "validate", "write_report",
]  # fmt: skip

__getattr__ = face(__name__)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
