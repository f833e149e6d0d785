"""Measures of one's own: the values of their formulas, under names like any other."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import jaccard_score, recall_score

from sedeval_soft import SettingsError, evaluate
from sedeval_soft.measures.base import Measure, ratio

JACCARD = Measure("jaccard", "intersection over union of cells", "TP / (N_ref + N_sys - TP)",
                  lambda c: ratio(c.tp, c.n_ref + c.n_sys - c.tp), table="rates")  # fmt: skip
G_MEAN = Measure("g_mean", "geometric mean of sensitivity and specificity", "sqrt(TPR TNR)",
                 lambda c: np.sqrt(ratio(c.tp, c.n_ref) * ratio(c.tn, c.silent)),
                 table="negatives")  # fmt: skip


@pytest.fixture
def sides():
    return np.random.default_rng(1).integers(0, 2, (2, 40, 3)).astype(float)


def test_they_have_averages_intervals_and_explanations(sides):
    plain = evaluate(*sides, only=("segment", "event.hard"))
    y, p = sides
    batch = [np.stack([side[:20], side[20:]]) for side in sides]
    found = evaluate(*batch, only=("segment", "event.hard"), measures=[JACCARD, G_MEAN], ci="jackknife")
    for k in range(3):
        ours = (y[:, k], p[:, k])
        assert found[f"segment.hard.jaccard[{k}]"] == pytest.approx(jaccard_score(*ours))
        both = recall_score(*ours) * recall_score(*ours, pos_label=0)
        assert found[f"segment.hard.g_mean[{k}]"] == pytest.approx(both**0.5)
    assert found["segment.hard.jaccard.micro"] == pytest.approx(jaccard_score(y.ravel(), p.ravel()))
    classes = [found[f"segment.hard.jaccard[{k}]"] for k in range(3)]
    assert found["segment.hard.jaccard.macro"] == pytest.approx(np.mean(classes))
    score = found.score("segment.soft.jaccard.macro")
    assert score.low <= score.value <= score.high
    assert "event.hard.jaccard.micro" in found and "event.hard.g_mean.micro" not in found
    # What was there before is the same.
    assert not [name for name in plain if name.endswith("micro") and "jaccard" in name]


def test_they_are_taken_from_a_file(tmp_path, sides):
    path = tmp_path / "own.py"
    path.write_text(
        "from sedeval_soft.measures.base import Measure, ratio\n"
        "JACCARD = Measure('jaccard', 'overlap', 'TP / union',\n"
        "                  lambda c: ratio(c.tp, c.n_ref + c.n_sys - c.tp))\n"
    )
    found = evaluate(*sides, only="segment", measures=f"{path}:JACCARD")
    assert found["segment.hard.jaccard.micro"] == pytest.approx(
        jaccard_score(*(side.ravel() for side in sides))
    )
    for text, words in (
        (f"{path}:NONE", "has no Measure called 'NONE'"),
        (f"{tmp_path}/none.py:X", "cannot be run"),
    ):
        with pytest.raises(SettingsError, match=words):
            evaluate(*sides, measures=text)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "f1"}, "cannot be called 'f1'"),
        ({"name": "My measure"}, "cannot be called"),
        ({"value": None}, "has no formula"),
    ],
)
def test_names_that_are_taken_and_measures_without_formula_are_refused(sides, changes, words):
    with pytest.raises(SettingsError, match=words):
        evaluate(*sides, measures=[JACCARD._replace(**changes)])
