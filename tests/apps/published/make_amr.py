"""Writes tests/data/published/amr.json: numbers of the script of DCASE 2026 task 6. Not a test.

    python tests/apps/published/make_amr.py lighthouse/training

with a checkout of https://github.com/line/lighthouse, whose `standalone_eval` is as of commit 03ea7b49, and
numpy and scikit-learn. The script is called as it is, but for its pool of processes.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys

from made_numbers import make

COMMIT = "03ea7b499922ad4811a0071d5f5a83ba082a4261"
COUNT = 10_000


def drawn(number):
    """Return the rows of a reference and of a system: ties, windows without extent, more than ten of them."""
    rng = random.Random(f"amr {number}")  # noqa: S311
    reference, system = [], []
    for qid in range(rng.randrange(1, 7)):

        def window():
            onset = rng.randrange(0, 40) / rng.choice((1, 2, 4))
            return [onset, onset + rng.randrange(rng.choice((0, 1)), 20) / rng.choice((1, 2))]

        ours = [window() for _ in range(rng.choice((1, 1, 2, 3, 12, 25)))]
        theirs = [
            [*rng.choice((window(), rng.choice(ours))), rng.choice((round(rng.random(), 4), 0.5))]
            for _ in range(rng.randrange(1, 15))
        ]
        if rng.random() < 0.05:
            ours = [[0, 1600.0]]
        if rng.random() < 0.002:
            theirs = []
        item = {"qid": qid, "query": "x", "vid": "v"}
        reference.append({**item, "relevant_windows": ours})
        system.append({**item, "pred_relevant_windows": theirs})
    rng.shuffle(system)
    return reference, system


def scored(script, number):
    """Return the numbers that the script prints in brief, or that it stops."""
    reference, system = drawn(number)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return dict(script.eval_submission(system, reference, verbose=False)["brief"])
    except (TypeError, ValueError, IndexError, KeyError, AssertionError):
        return {"stops": 1}


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import standalone_eval.eval as script

    in_pool = script.compute_mr_ap
    script.compute_mr_ap = lambda *rows, **_: in_pool(*rows, num_workers=1)
    make(lambda number, _: scored(script, number), range(COUNT), "line/lighthouse", COMMIT, ["numpy"])
