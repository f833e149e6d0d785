"""Calls of the public API, with the types that users may rely on.

`tools/check.sh` checks this file with mypy in strict mode against the installed package, and runs it.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import assert_type

import numpy as np
import numpy.typing as npt
import pandas as pd

import sedeval_soft as sed


def evaluated(reference: str, system: str) -> sed.Scores:
    """Score a table, and check the types of the results."""
    settings = sed.Settings(segment_length=0.5)
    scores = sed.evaluate(reference, system, settings=settings, limits=sed.Limits(classes=100))
    assert_type(scores, sed.Scores)
    assert_type(sed.evaluate(reference, system, segment_length=0.5, only=["segment"]), sed.Scores)
    assert_type(sed.evaluate(reference, system, preset="maestro-soft", classes=["car"]), sed.Scores)
    if len(system) == 0:
        sed.evaluate(reference, system, segment_lenght=0.5)  # type: ignore[call-arg]
        sed.compare(reference, [system], pool="maximum")  # type: ignore[arg-type]
        sed.plot("pr", reference, system, segment_lenght=0.5)  # type: ignore[call-arg]
    assert_type(scores["segment.soft.f1.macro"], float | int | None)
    assert_type(scores.score("segment.soft.f1.macro"), sed.Score)
    assert_type(scores.score("segment.soft.f1.macro").low, float | None)
    assert_type(scores.classes, tuple[str, ...])
    assert_type(scores.to_pandas(), pd.DataFrame)
    return scores


def compared(reference: str, systems: list[str]) -> sed.Board:
    """Rank systems."""
    board = sed.compare(reference, systems, replicates=50)
    assert_type(board, sed.Board)
    assert_type(board.entries[0].rank, int)
    assert_type(board[systems[0]], sed.Scores)
    assert_type(board.to_pandas(), pd.DataFrame)
    assert_type(sed.mean_of_runs(reference, systems), sed.Scores)
    return board


def in_batches(system: str) -> sed.Scores:
    """Score in batches."""
    evaluator = sed.Evaluator(segment_length=1.0)
    table = {"filename": ["a.wav"], "onset": [0.0], "offset": [1.0], "event_label": ["car"]}
    evaluator.update(table, table)
    assert_type(evaluator.compute(), sed.Scores)
    try:
        evaluator.update(table, system)
    except sed.EvaluationError as error:
        assert_type(str(error), str)
    batch = np.zeros((2, 3, 4))
    assert_type(evaluator.reset().update(batch, batch, files=["a", "b"]), sed.Evaluator)
    events, steps = {"a.wav": [(0.0, 1.0, "car")]}, {"a.wav": pd.DataFrame(table)}
    assert_type(sed.evaluate(events, steps, durations={"a.wav": 1.0}), sed.Scores)
    return evaluator.compute()


def written(reference: str, system: str, folder: Path) -> None:
    """Write files, and catch the error of an impossible path."""
    assert_type(sed.convert(system, folder / "system.csv"), sed.Conversion)
    assert_type(sed.build_site(folder, reference, folder.parent / "site", reports=False), sed.Site)
    sed.plot("pr", reference, system, max_classes=2, width="double")
    choices = sed.Choices(title="A system", timelines=1)
    try:
        sed.write_report(reference, system, folder / "no" / "page.html", choices=choices)
    except sed.OutputError as error:
        assert_type(str(error), str)


def main(reference: str, system: str) -> None:
    """Run all functions."""
    evaluated(reference, system)
    compared(reference, [system, reference])
    in_batches(system)
    with TemporaryDirectory() as folder:
        (Path(folder) / "submissions").mkdir()
        written(reference, system, Path(folder) / "submissions")
    assert_type(sed.annotate([reference, system]), sed.Annotation)
    if agreed := sed.annotate([reference, system], consensus=True, same_iou=0.5).events:
        assert_type(agreed.events.confidence, npt.NDArray[np.float64])
    assert_type(sed.threshold_curves(reference, system), sed.Curves)
    assert_type(sed.validate(system, reference), sed.Validation)
    assert issubclass(sed.InputError, sed.EvaluationError)
    assert issubclass(sed.SettingsError, sed.EvaluationError)
    assert issubclass(sed.UnknownScoreError, KeyError)
    assert issubclass(sed.UnknownSystemError, KeyError)
    assert_type(sed.__version__, str)


if __name__ == "__main__":
    main(*sys.argv[1:])
