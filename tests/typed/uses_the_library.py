"""What code that imports the package may rely on, as a type checker sees it.

`release/check.sh` has mypy check this file, strictly, against the package as it is installed, and runs it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import assert_type

import pandas as pd

import sedeval_soft
from sedeval_soft import (
    Annotation,
    Board,
    Choices,
    Conversion,
    Curves,
    EvaluationError,
    Evaluator,
    InputError,
    Limits,
    OutputError,
    Score,
    Scores,
    Settings,
    SettingsError,
    Site,
    UnknownScoreError,
    Validation,
)


def evaluated(reference: str, system: str) -> Scores:
    """Score a table, and look at what comes back."""
    settings = Settings(segment_length=0.5)
    scores = sedeval_soft.evaluate(reference, system, settings=settings, limits=Limits(classes=100))
    assert_type(scores, Scores)
    assert_type(sedeval_soft.evaluate(reference, system, segment_length=0.5, only=["segment"]), Scores)
    assert_type(sedeval_soft.evaluate(reference, system, preset="maestro-soft", classes=["car"]), Scores)
    if len(system) == 0:
        sedeval_soft.evaluate(reference, system, segment_lenght=0.5)  # type: ignore[call-arg]
        sedeval_soft.compare(reference, [system], pool="maximum")  # type: ignore[arg-type]
    assert_type(scores["segment.soft.f1.macro"], float | int | None)
    assert_type(scores.score("segment.soft.f1.macro"), Score)
    assert_type(scores.score("segment.soft.f1.macro").low, float | None)
    assert_type(scores.classes, tuple[str, ...])
    assert_type(scores.to_pandas(), pd.DataFrame)
    return scores


def compared(reference: str, systems: list[str]) -> Board:
    """Rank systems."""
    board = sedeval_soft.compare(reference, systems, replicates=50)
    assert_type(board, Board)
    assert_type(board.entries[0].rank, int)
    assert_type(sedeval_soft.mean_of_runs(reference, systems), Scores)
    return board


def in_batches(system: str) -> Scores:
    """Score in batches."""
    evaluator = Evaluator(segment_length=1.0)
    table = {"filename": ["a.wav"], "onset": [0.0], "offset": [1.0], "event_label": ["car"]}
    evaluator.update(table, table)
    assert_type(evaluator.compute(), Scores)
    try:
        evaluator.update(table, system)
    except EvaluationError as error:
        assert_type(str(error), str)
    return evaluator.compute()


def written(reference: str, system: str, folder: Path) -> None:
    """Write what people look at, and catch what cannot be written."""
    assert_type(sedeval_soft.convert(system, folder / "system.csv"), Conversion)
    assert_type(sedeval_soft.build_site(folder, reference, folder.parent / "site", reports=False), Site)
    sedeval_soft.plot("pr", reference, system, max_classes=2, width="double")
    choices = Choices(title="A system", timelines=1)
    try:
        sedeval_soft.write_report(reference, system, folder / "no" / "page.html", choices=choices)
    except OutputError as error:
        assert_type(str(error), str)


def main(reference: str, system: str) -> None:
    """Do all of it."""
    evaluated(reference, system)
    compared(reference, [system, reference])
    in_batches(system)
    with TemporaryDirectory() as folder:
        (Path(folder) / "submissions").mkdir()
        written(reference, system, Path(folder) / "submissions")
    assert_type(sedeval_soft.annotate([reference, system]), Annotation)
    assert_type(sedeval_soft.threshold_curves(reference, system), Curves)
    assert_type(sedeval_soft.validate(system, reference), Validation)
    assert issubclass(InputError, EvaluationError)
    assert issubclass(SettingsError, EvaluationError)
    assert issubclass(UnknownScoreError, KeyError)
    assert_type(sedeval_soft.__version__, str)


if __name__ == "__main__":
    main(*sys.argv[1:])
