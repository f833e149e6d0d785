"""Writes tests/data/published/biodcase_ranking.json: what the ranking of BioDCASE task 2 says. Not a test.

    python tests/apps/published/make_biodcase_ranking.py task2_2025_2026/evaluation

with a checkout of https://github.com/marinebioCASE/task2_2025_2026 at commit fda86ef (branch
submission_evaluation), and pandas, numpy and tqdm. Only `run` is called, and what the script does with its
tables after that is done here as there, but for means of 0 and 0: it stops there with newer pandas, F is NaN.
"""

from __future__ import annotations

import contextlib
import io
import sys

from made_numbers import make
from make_biodcase import TABLES, written
from random_tables import Options, random_cases

COMMIT = "fda86efceccaa0cc9a461fae44e9dc0fc16353c4"
SEED, COUNT = "biodcase ranking", 10_000


def scored(script, case, folder):
    """Return mean recall, mean precision and F of each data set and of all together."""
    if not (case.system and case.reference):
        return {"stops": 1}
    with contextlib.redirect_stdout(io.StringIO()):
        results = script.run(*written(case, folder))
    means = results[["recall", "precision", "dataset"]].groupby("dataset").mean().astype(float)
    means["f1"] = 2 * (means["precision"] * means["recall"]) / (means["precision"] + means["recall"])
    order = [*sorted({*means.index} - {"joined"}), "joined"]
    return {f"{name} {word}": float(means.loc[name, word]) for name in order for word in means.columns}


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import evaluation_submissions as script

    script.tqdm = lambda rows, **_: rows
    make(
        lambda case, folder: scored(script, case, folder),
        random_cases(SEED, COUNT, Options(**TABLES)), "marinebioCASE/task2_2025_2026", COMMIT,
        ["numpy", "pandas"], seed=SEED, tables=TABLES,
    )  # fmt: skip
