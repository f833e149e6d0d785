"""The case of a challenge: its evaluation from tables to scores, as whole processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from case import COMMAND, Bench, Command, DisagreementError, Result, faster, processes

_DATA = Path(__file__).parents[2] / "shared" / "data" / "dcase2019_task4"
"""The tables of DCASE 2019 task 4, which are not part of a checkout."""

_SCORES = """
metrics = [
    sed_eval.sound_event.EventBasedMetrics(
        event_label_list=labels, t_collar=0.2, percentage_of_length=0.2, event_matching_type="optimal"
    ),
    sed_eval.sound_event.SegmentBasedMetrics(event_label_list=labels, time_resolution=1.0),
]
for name, length in lengths.items():
    sides = events(reference, name), events(system, name)
    metrics[0].evaluate(*sides)
    metrics[1].evaluate(*sides, evaluated_length_seconds=length)
print([each.results()["overall"]["f_measure"]["f_measure"] for each in metrics])
"""

_WAYS = {
    "sed_eval, files by pandas": """
import sys, warnings
warnings.simplefilter("ignore")
import pandas, sed_eval
reference, system, lengths = (pandas.read_csv(path, sep="\\t") for path in sys.argv[1:])
lengths = lengths.drop_duplicates("filename").set_index("filename")["duration"]
labels = sorted(reference["event_label"].dropna().unique())
def events(table, name):
    return table[table["filename"] == name].dropna().to_dict("records")
""",
    "sed_eval, files by a dictionary": """
import csv, sys, warnings
warnings.simplefilter("ignore")
import sed_eval
reference, system, lengths = (list(csv.DictReader(open(path), delimiter="\\t")) for path in sys.argv[1:])
lengths = {row["filename"]: float(row["duration"]) for row in lengths}
labels = sorted({row["event_label"] for row in reference if row["event_label"]})
def by_file(rows):
    files = {name: [] for name in lengths}
    for row in rows:
        if row["event_label"]:
            times = {"onset": float(row["onset"]), "offset": float(row["offset"])}
            files[row["filename"]].append(row | times)
    return files
reference, system = by_file(reference), by_file(system)
def events(files, name):
    return files[name]
""",
}
"""How the events of a file are found: as the challenge's own script does it, and as fast as can be."""


def challenge(bench: Bench) -> Iterator[Result]:
    """Score a submission of DCASE 2019 task 4 by events and segments, against sed_eval."""
    tables = [_DATA / name for name in ("dcase2019t4_gt.csv", "baseline_0.5.csv", "dcase2019t4_meta.csv")]
    *sides, durations = tables
    asked = ["--only", "event.hard", "--only", "segment.hard", "--offset-collar-rate", "0.2"]
    ours: Command = [COMMAND, *sides, "--durations", durations, *asked]
    for way, reads in _WAYS.items():
        case = f"DCASE 2019 task 4, event- and segment-based, whole processes: {way}"
        if not _DATA.exists():
            yield Result(case, "-", "the challenge's data are not installed")
            continue
        other: Command = [sys.executable, "-c", reads + _SCORES, *tables]
        printed = subprocess.run(other, capture_output=True, text=True, check=True).stdout
        # Micro F of events and of segments, which are held against ours in tests/golden.
        if not printed.startswith("[0.238375350140056, 0.641694752046220"):
            raise DisagreementError(f"{case}: theirs is {printed}")
        costs = processes(bench, ours, other, ".238", runs=min(bench.runs, 3))
        yield faster(case, costs, way, 10)
