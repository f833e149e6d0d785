"""Writes tests/data/published/birdnet.json: numbers of BirdNET-Analyzer's evaluation. Run by hand.

    python tests/apps/published/make_birdnet.py BirdNET-Analyzer

with a checkout of https://github.com/birdnet-team/BirdNET-Analyzer at commit 37912401, and numpy, pandas,
scikit-learn and matplotlib. Its package imports models when it is imported, so only the part that evaluates
is. That gets tables in memory, in place of folders of them: pandas reads floats from text, which is not what
is compared here.
"""

import sys
import types
from pathlib import Path

import pandas as pd
from made_numbers import STOPS, make
from random_tables import Options, random_cases

COMMIT = "37912401d881c6228e149dd7d3524d1df14b984e"
SEED, COUNT = "birdnet", 10_200
TABLES = {"files": 3, "events": 5, "shortest": 0, "alone": 0.1, "least": 1, "scores": True}
METRICS = ("auroc", "precision", "recall", "f1", "ap", "accuracy")
OPTIONS = [
    {},
    {"averaging": "micro"},
    {"averaging": "weighted", "threshold": 0.5},
    {"sample_duration": 1.0, "min_overlap": 1.0, "threshold": 0.3},
    {"score_unannotated_as_empty": 1.0},
    {"sample_duration": 0.7, "min_overlap": 0.1, "averaging": "micro", "score_unannotated_as_empty": 1.0},
    {"recording_duration": 20.0},
]
"""Of the cases in turn; of every other case the length of the recordings is known."""


def evaluation(folder):
    """Return the part of the package that evaluates."""
    package = types.ModuleType("birdnet_analyzer")
    package.__path__ = [str(Path(folder) / "birdnet_analyzer")]
    sys.modules["birdnet_analyzer"] = package
    import birdnet_analyzer.evaluation as module

    return module


def frame(rows, length):
    """Return a table as the script reads it from a folder; length: of the recordings, if it is known."""
    columns = ["Recording", "Start Time", "End Time", "Class", "Confidence"]
    table = pd.DataFrame(rows, columns=columns).astype({"Start Time": float, "End Time": float})
    if length is not None:
        table["Duration"] = length
    return table


def scored(module, case, options):
    """Return what the script prints, overall and by class."""
    length = case.length if case.number % 2 else None
    tables = {
        "annotations": frame(case.reference, length).drop(columns="Confidence"),
        "predictions": frame(case.system, length),
    }
    processor = sys.modules["birdnet_analyzer.evaluation.preprocessing.data_processor"]
    processor.read_and_concatenate_files_in_directory = lambda name: tables[name].copy()
    options = {**options, "score_unannotated_as_empty": bool(options.get("score_unannotated_as_empty"))}
    try:
        result = module.process_data("annotations", "predictions", metrics_list=METRICS, **options)
    except KeyError as error:
        # No recording has a window, so that the table of windows has no columns.
        if error.args != ("filename",):
            raise
        return STOPS
    by_class = result.pa.calculate_metrics(
        result.predictions, result.labels, per_class_metrics=True, include_support=True
    )
    numbers = {f"Overall {name}": value for name, value in result.metrics_df["Overall"].items()}
    for label in result.classes:
        numbers.update((f"{label}: {name}", value) for name, value in by_class[label].items())
        numbers[f"{label}: Support"] = int(numbers[f"{label}: Support"])
    return numbers


if __name__ == "__main__":
    module = evaluation(sys.argv[1])
    make(
        lambda case, _: scored(module, case, OPTIONS[case.number % len(OPTIONS)]),
        random_cases(SEED, COUNT, Options(**TABLES)), "birdnet-team/BirdNET-Analyzer", COMMIT,
        ["numpy", "pandas", "scikit-learn"], seed=SEED, tables=TABLES, options=OPTIONS,
    )  # fmt: skip
