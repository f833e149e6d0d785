"""Writes tests/data/published/soft_f1.json: soft F of Kurniawan et al. 2025, by their code. Not a test.

    python tests/golden/make_soft_f1.py train-eval-hlv

The argument is a checkout of https://github.com/kmkurn/train-eval-hlv at commit a4b0e7a9. The script calls
its `evaluation.py` with the installed NumPy, SciPy and scikit-learn. Values are sixteenths: no sum rounds.
"""

import platform
import random
import sys
import warnings
from importlib import import_module
from importlib.metadata import version

import numpy as np
from golden_numbers import write_numbers

COMMIT = "a4b0e7a9d902a278a823171f8a5a214c53b896f9"
SEED, COUNT = "soft-f1", 10_000
SHAPE = 6, 4


def random_values(seed, count):
    """Return two arrays (count, 6, 4) of sixteenths, labels and predictions; some classes have only 0."""
    draw = random.Random(seed).random  # noqa: S311 - nothing secret
    sides = np.zeros((2, count, *SHAPE))
    for case in range(count):
        for side in sides:
            for label in range(SHAPE[1]):
                active = draw()
                for segment in range(SHAPE[0]):
                    value = int(draw() * 17) / 16
                    side[case, segment, label] = value if draw() < 1.5 * active - 0.3 else 0.0
    return sides


def main(folder):
    """Call their code for each case, and write its results."""
    sys.path.insert(0, folder)
    evaluation = import_module("evaluation")
    cases = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for y_true, y_pred in zip(*random_values(SEED, COUNT), strict=True):
            columns = evaluation.soft_precision_recall_fscore_support(y_true, y_pred)[:3]
            numbers = {"micro": float(evaluation.soft_micro_f1(y_true, y_pred))}
            for name, column in zip(("precision", "recall", "f1"), columns, strict=True):
                numbers |= {f"{name}[{label}]": float(value) for label, value in enumerate(column)}
            cases.append(numbers)
    about = {
        "repository": "https://github.com/kmkurn/train-eval-hlv",
        "commit": COMMIT,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        "seed": SEED,
    }
    write_numbers("soft_f1.json", about, cases)


if __name__ == "__main__":
    main(sys.argv[1])
