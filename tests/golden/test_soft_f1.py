"""Soft F of segments is the soft F that Kurniawan et al. 2025 define for text, by the numbers of their code.

Their precision, recall and F of a class are sum min(y, p) over sum p, over sum y, and twice that over both
sums; their micro F is the last over all labels. The macro average differs where a class is nowhere in the
reference: theirs is the mean of all classes, NaN if one is undefined.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from golden_numbers import digest, read_numbers
from make_soft_f1 import SHAPE, random_values

from sedeval_soft import evaluate

MEASURES = ("precision", "recall", "f1")


@pytest.fixture(scope="module")
def ours():
    """All cases as files of one evaluation, as a row for each."""
    golden = read_numbers("soft_f1.json")
    sides = random_values(golden["seed"], golden["count"])
    labels = range(SHAPE[1])
    names = [f"segment.soft.{measure}[{label}]" for measure in MEASURES for label in labels]
    names += ["segment.soft.f1.micro", "segment.soft.f1.macro"]
    files = evaluate(*sides, only="segment.soft").per_file(*names)
    files.index = files["filename"].astype(int)
    return golden, sides, files.sort_index()[names].astype(float)


def test_every_number_is_that_of_their_code(ours):
    golden, _, files = ours
    assert golden["count"] == len(golden["digests"]) == len(files) >= 10_000
    theirs = ["segment.soft.f1.micro", *(name for name in files if name.endswith("]"))]
    keys = ["micro", *(name.removeprefix("segment.soft.") for name in theirs[1:])]
    for case, row in enumerate(files[theirs].itertuples(index=False)):
        numbers = dict(zip(keys, map(float, row), strict=True))
        assert digest(numbers) == golden["digests"][case], numbers


def test_shown_numbers_follow_their_definition(ours):
    """The numbers that the file has in full follow the definition, so that its digests mean something."""
    golden, (reference, system), _ = ours
    for numbers, y, p in zip(golden["shown"], reference, system, strict=False):
        common = np.minimum(y, p)
        assert numbers["micro"] == 2 * common.sum() / (y.sum() + p.sum())
        for label in range(SHAPE[1]):
            both = y[:, label].sum() + p[:, label].sum()
            assert numbers[f"f1[{label}]"] == (2 * common[:, label].sum() / both if both else None)


def test_macro_is_the_mean_of_their_classes_with_a_reference(ours):
    _, (reference, _), files = ours
    classes = files[[f"segment.soft.f1[{label}]" for label in range(SHAPE[1])]].to_numpy()
    present = reference.sum(axis=1) > 0
    assert present.all(axis=1).sum() > 1000 and (~present).any(axis=1).sum() > 1000
    for macro, own, there in zip(files["segment.soft.f1.macro"], classes, present, strict=True):
        expected = own[there].mean() if there.any() else math.nan
        assert math.isclose(macro, expected, rel_tol=1e-15) or (math.isnan(macro) and math.isnan(expected))
