"""Writes tests/data/published/few_shot.json: numbers of the script of DCASE few-shot. Not a test.

    python tests/apps/published/make_few_shot.py dcase-few-shot-bioacoustic/evaluation_metrics

with a checkout of https://github.com/c4dm/dcase-few-shot-bioacoustic at commit 33a2119c, in Python 3.8 with
what its requirements.txt pins: numpy 1.20.1, pandas 1.2.2, scipy 1.6.0, mir_eval 0.6. The script is called as
it is, with files in a folder of their own for each case. Subsets are put in the order of their names; the
file system of whoever runs it may decide otherwise, which shows in the last digits of harmonic means.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from ast import literal_eval

from made_numbers import STOPS, make
from random_tables import Options, random_cases

COMMIT = "33a2119cecb9ecd0c892b9b87e8476bdbe8c023c"
SEED, COUNT = "few-shot", 10_000
TABLES = {
    "classes": ["POS"],
    "files": 2,
    "events": 28,
    "least": 12,
    "label_ignored": "UNK",
    "ignored": 0.25,
    "shuffled": 0.3,
    "empty": 0.03,
    "repeated": 0.15,
    "shortest": 0,
}


def subset(name):
    """Return the subset of a file."""
    return "HB" if name[4] == "0" else "PB"


def scored(evaluation, case, folder):
    """Return what the script prints, and the rest of its report, by the words it has."""
    reference, report = folder / "reference", folder / "report"
    for name in case.files:
        place = reference / subset(name) / (name[:-4] + ".csv")
        place.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            f"{name},{row.onset!r},{row.offset!r},{row.label}\n" for row in case.reference if row.file == name
        ]
        place.write_text("Audiofilename,Starttime,Endtime,Q\n" + "".join(lines))
    report.mkdir(parents=True)
    rows = [f"{row.file},{row.onset!r},{row.offset!r}\n" for row in case.system]
    (folder / "system.csv").write_text("Audiofilename,Starttime,Endtime\n" + "".join(rows))
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            evaluation.evaluate(str(folder / "system.csv"), str(reference), "team", "VAL", str(report))
    except IndexError:
        return STOPS
    numbers = {}
    for line in printed.getvalue().splitlines():
        if line[:4] == "file":
            name, counts = line.split(" ", 1)
            numbers.update((f"{name} {word}", value) for word, value in literal_eval(counts).items())
        elif line.startswith("Overall_scores: "):
            numbers.update(literal_eval(line.split(" ", 1)[1]))
    written = json.loads(next(report.glob("*.json")).read_text())
    for part, order in (
        ("scores_per_subset", str),
        ("scores_per_audiofile", lambda name: (subset(name), name)),
    ):
        for name in sorted(written[part], key=order):
            for word, value in written[part][name].items():
                numbers[f"{part} {name} {word}"] = value
    return numbers


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import evaluation

    listed = os.listdir
    evaluation.os.listdir = lambda path: sorted(listed(path))
    make(
        lambda case, folder: scored(evaluation, case, folder),
        random_cases(SEED, COUNT, Options(**TABLES)), "c4dm/dcase-few-shot-bioacoustic", COMMIT,
        ["numpy", "pandas", "scipy", "mir_eval"], seed=SEED, tables=TABLES,
    )  # fmt: skip
