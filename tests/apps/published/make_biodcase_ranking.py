"""Writes tests/data/published/biodcase_ranking.json: what the ranking of BioDCASE task 2 says. Not a test.

    python tests/apps/published/make_biodcase_ranking.py task2_2025_2026/evaluation

with a checkout of https://github.com/marinebioCASE/task2_2025_2026 at commit fda86ef (branch
submission_evaluation), and pandas, numpy and tqdm. Only `run` is called, and what the script does with its
tables after that is done here as there, but for means of 0 and 0: it stops there with newer pandas, F is NaN.
"""

from __future__ import annotations

import contextlib
import io
import platform
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

from golden_numbers import write_numbers
from make_biodcase import HEADER, TABLES, line
from random_tables import Options, random_cases

COMMIT = "fda86efceccaa0cc9a461fae44e9dc0fc16353c4"
SEED, COUNT = "biodcase ranking", 10_000


def scored(script, case, folder):
    """Return mean recall, mean precision and F of each data set and of all together."""
    paths = []
    for name, rows in (("system.csv", case.system), ("reference.csv", case.reference)):
        paths.append(folder / name)
        (folder / name).write_text(HEADER + "".join(map(line, rows)))
    if not (case.system and case.reference):
        return {"stops": 1}
    with contextlib.redirect_stdout(io.StringIO()):
        results = script.run(*paths)
    means = results[["recall", "precision", "dataset"]].groupby("dataset").mean().astype(float)
    means["f1"] = 2 * (means["precision"] * means["recall"]) / (means["precision"] + means["recall"])
    order = [*sorted({*means.index} - {"joined"}), "joined"]
    return {f"{name} {word}": float(means.loc[name, word]) for name in order for word in means.columns}


def main():
    """Write the file."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, sys.argv[1])
    import evaluation_submissions as script
    import numpy as np
    import pandas as pd

    script.tqdm = lambda rows, **_: rows
    results = []
    for case in random_cases(SEED, COUNT, Options(**TABLES)):
        folder = Path(tempfile.mkdtemp())
        results.append(scored(script, case, folder))
        shutil.rmtree(str(folder))
    about = {
        "made_by": "tests/apps/published/make_biodcase_ranking.py",
        "repository": "marinebioCASE/task2_2025_2026",
        "commit": COMMIT,
        "versions": {"python": platform.python_version(), "numpy": np.__version__, "pandas": pd.__version__},
        "seed": SEED,
        "tables": TABLES,
    }
    write_numbers("biodcase_ranking.json", about, results)


if __name__ == "__main__":
    main()
