"""Writes tests/data/published/biodcase.json: numbers of the script of BioDCASE 2025 task 2. Not a test.

    python tests/apps/published/make_biodcase.py task2_2025/evaluation

with a checkout of https://github.com/marinebioCASE/task2_2025 at commit ca44f3f9, and pandas, numpy and tqdm.
The script is called as it is. Its tables, printed with six digits, are written as they were before that.
"""

from __future__ import annotations

import contextlib
import io
import sys
from datetime import datetime, timedelta

from made_numbers import make
from random_tables import Options, random_cases

COMMIT = "ca44f3f9fbc136958bf85662b3315a40f2a9d47f"
SEED, COUNT = "biodcase", 10_000
TABLES = {
    "classes": ["bma", "bp20", "bmabz", "other"],
    "files": 3,
    "events": 7,
    "shortest": 0,
    "alone": 0.1,
}
HEADER = "dataset,filename,annotation,start_datetime,end_datetime\n"
BEGIN = datetime(2014, 2, 18, 21)


def place(name):
    """Return data set and file of a drawn name: two data sets have files of the same names."""
    hours = int(name[4]) // 2
    return ("kerguelen2014", "casey2017")[int(name[4]) % 2], f"2014-02-18T{21 + hours}-00-00_000.wav"


def line(row):
    """Return a row as the script reads it; times count from when the file begins."""
    data_set, name = place(row.file)
    begin = BEGIN + timedelta(hours=int(row.file[4]) // 2)
    times = ((begin + timedelta(microseconds=round(1e6 * t))) for t in (row.onset, row.offset))
    text = ",".join(time.isoformat(timespec="microseconds") + "+00:00" for time in times)
    return f"{data_set},{name},{row.label},{text}\n"


def written(case, folder):
    """Write the tables of a case; return the paths of the system's and of the reference's."""
    for name, rows in (("system.csv", case.system), ("reference.csv", case.reference)):
        (folder / name).write_text(HEADER + "".join(map(line, rows)))
    return [str(folder / name) for name in ("system.csv", "reference.csv")]


def scored(evaluation, case, folder):
    """Return the tables that the script prints: title, class and column of each number."""
    paths, tables = written(case, folder), []
    count = evaluation.compute_confusion_matrix

    def kept(*arguments):
        tables.append(count(*arguments))
        return tables[-1]

    evaluation.compute_confusion_matrix = kept
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        evaluation.run(*paths)
    evaluation.compute_confusion_matrix = count
    titles = [text for text in printed.getvalue().splitlines() if text.startswith(("Results", "Final"))]
    numbers = {}
    for title, table in zip(titles, tables, strict=True):
        for label, row in table.iterrows():
            for word, value in row.items():
                counted = word in ("tp", "fp", "fn")
                numbers[f"{title} {label} {word}"] = int(value) if counted else float(value)
    return numbers


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import evaluation

    evaluation.tqdm = lambda rows, **_: rows
    make(
        lambda case, folder: scored(evaluation, case, folder),
        random_cases(SEED, COUNT, Options(**TABLES)), "marinebioCASE/task2_2025", COMMIT, ["numpy", "pandas"],
        seed=SEED, tables=TABLES,
    )  # fmt: skip
