"""Writes tests/data/psds_eval/dcase2019.json: numbers of psds_eval. Not a test; run by hand.

    tests/golden/psds_eval_environment.sh /tmp/psds_eval
    /tmp/psds_eval/bin/python tests/golden/make_psds_eval.py ../shared/data/dcase2019_task4

The data is the example of psds_eval: DCASE 2019 task 4, public evaluation set, the baseline at five operating
points. The script writes only numbers, with all digits; the data is not part of the project. psds_eval adds a
class "world", with one event per file of the metadata; its numbers are not written.

In four files the ground truth has events of one class that overlap (DESED 1.3.6 corrected them). psds_eval
has refused such tables since 0.4.0. So the script writes two sets of numbers:

- joined: events that overlap become one event before psds_eval reads them;
- as_is: each row is an event, and only psds_eval's check is switched off. Time that two events share counts
  for both.
"""

import json
import platform
import re
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from psds_eval import PSDSEval

LEVELS = ("0.1", "0.3", "0.5", "0.7", "0.9")
OUTPUT = Path(__file__).parents[1] / "data" / "psds_eval" / "dcase2019.json"

CRITERIA = {
    "example": {"dtc": 0.5, "gtc": 0.5, "cttc": 0.3},
    "psds1": {"dtc": 0.7, "gtc": 0.7, "cttc": 0.3},
    "psds2": {"dtc": 0.1, "gtc": 0.1, "cttc": 0.3},
}
"""DCASE's PSDS 1 has no cross-triggers in its score, but psds_eval counts them with any criterion."""

SCORES = {
    "example": [(0.0, 0.0, 100.0), (1.0, 0.0, 100.0), (0.0, 1.0, 100.0), (1.0, 1.0, 100.0), (0.0, 0.0, None)],
    "psds1": [(0.0, 1.0, 100.0), (0.0, 0.0, 100.0), (0.0, 1.0, 30.0)],
    "psds2": [(0.5, 1.0, 100.0), (0.5, 0.0, 100.0), (0.5, 1.0, 1000.0)],
}
"""alpha_ct, alpha_st, max_efpr; without the last, psds_eval takes the largest rate of any class."""


def table(path: Path) -> pd.DataFrame:
    """Read a table; pandas' default parser may be wrong in the last digit of a float."""
    return pd.read_csv(path, sep="\t", float_precision="round_trip")


class Unchecked(PSDSEval):
    """psds_eval without the check for overlapping events."""

    def _validate_input_table_with_events(self, df: pd.DataFrame, name: str) -> None:
        pass


def joined(events: pd.DataFrame) -> pd.DataFrame:
    """Join events of a file and class that overlap into one event."""
    rows: list[list[object]] = []
    for row in events.sort_values(["filename", "event_label", "onset"]).itertuples(index=False):
        last = rows[-1] if rows else None
        if last and (last[0], last[3]) == (row.filename, row.event_label) and row.onset < last[2]:
            last[2] = max(last[2], row.offset)
        else:
            rows.append([row.filename, row.onset, row.offset, row.event_label])
    return pd.DataFrame(rows, columns=["filename", "onset", "offset", "event_label"])


def number(value: float) -> float | None:
    """Return None for NaN: psds_eval gives a class that is never found no F, and leaves it out of macro F."""
    return None if np.isnan(value) else float(value)


def at_one_point(evaluator: PSDSEval, detections: pd.DataFrame, point: pd.Series) -> dict[str, object]:
    """Return the counts of an operating point by class, and the F that psds_eval computes from them."""
    classes = evaluator.class_names[:-1]
    assert evaluator.class_names[-1].startswith("injected_psds_world"), "the world sorts last here"
    macro, by_class = evaluator.compute_macro_f_score(detections)
    n_ref = evaluator._get_dataset_counts()
    tp = np.diag(point.counts)[:-1].astype(int)
    triggers = point.counts[:-1, :-1].astype(int) - np.diag(tp)

    def named(values: np.ndarray) -> dict[str, object]:
        return dict(zip(classes, values.tolist(), strict=True))

    return {
        "tp": named(tp),
        "fp": named(point.counts[:-1, -1].astype(int)),
        "fn": named(n_ref[classes].to_numpy() - tp),
        "ct": {
            c: {other: n for other, n in named(row).items() if n}
            for c, row in zip(classes, triggers, strict=True)
        },
        "f1": {c: number(value) for c, value in by_class.items()},
        "f1_macro": number(macro),
    }


def evaluated(folder: Path, name: str, overlaps: str) -> dict[str, object]:
    """Return all numbers under one set of criteria."""
    criteria = CRITERIA[name]
    ground_truth = table(folder / "dcase2019t4_gt.csv")
    evaluator = (Unchecked if overlaps == "as_is" else PSDSEval)(
        *(criteria["dtc"], criteria["gtc"], criteria["cttc"]),
        ground_truth=ground_truth if overlaps == "as_is" else joined(ground_truth),
        metadata=table(folder / "dcase2019t4_meta.csv"),
    )
    detections = {level: table(folder / f"baseline_{level}.csv") for level in LEVELS}
    for level, rows in detections.items():
        evaluator.add_operating_point(rows, info={"level": level})
    points = {point.level: point for _, point in evaluator.operating_points.iterrows()}
    lengths, total = evaluator._get_dataset_duration()
    return {
        "criteria": criteria,
        "seconds": float(total),
        "reference_seconds": {c: float(lengths[c]) for c in evaluator.class_names[:-1]},
        "at": {level: at_one_point(evaluator, detections[level], points[level]) for level in LEVELS},
        "psds": [
            {"alpha_ct": ct, "alpha_st": st, "max_efpr": float(score.max_efpr), "value": float(score.value)}
            for ct, st, limit in SCORES[name]
            for score in [evaluator.psds(alpha_ct=ct, alpha_st=st, max_efpr=limit)]
        ],
    }


def main() -> None:
    """Write the file."""
    # pandas announces future changes.
    warnings.simplefilter("ignore", FutureWarning)
    warnings.simplefilter("ignore", pd.errors.SettingWithCopyWarning)
    folder = Path(sys.argv[1])
    made_by = {name: version(name) for name in ("psds_eval", "numpy", "pandas")}
    numbers = {
        "made_by": "tests/golden/make_psds_eval.py",
        "versions": {"python": platform.python_version(), **made_by},
        "data": "psds_eval's example: DCASE 2019 task 4 public evaluation, baseline at five operating points",
        "unit": "hour",
        "results": {
            overlaps: {name: evaluated(folder, name, overlaps) for name in CRITERIA}
            for overlaps in ("joined", "as_is")
        },
    }
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(numbers, indent=1, allow_nan=False)
    # One line for each table of numbers by class.
    text = re.sub(r"\{[^{}]*\}", lambda found: re.sub(r"\s+", " ", found[0]), text)
    OUTPUT.write_text(text + "\n")


if __name__ == "__main__":
    main()
