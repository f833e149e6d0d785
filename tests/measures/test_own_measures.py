"""Measures of one's own: the values of their formulas, under names like any other."""

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


SIDES = np.random.default_rng(1).integers(0, 2, (2, 40, 3)).astype(float)


def test_they_have_averages_and_intervals():
    batch = [np.stack([side[:20], side[20:]]) for side in SIDES]
    found = evaluate(*batch, only=("segment", "event.hard"), measures=[JACCARD, G_MEAN], ci="jackknife")
    columns = [(*(side[:, k] for side in SIDES), f"[{k}]") for k in range(3)]
    for y, p, form in (*columns, (*(side.ravel() for side in SIDES), ".micro")):
        both = recall_score(y, p) * recall_score(y, p, pos_label=0)
        assert found[f"segment.hard.jaccard{form}"] == pytest.approx(jaccard_score(y, p))
        assert found[f"segment.hard.g_mean{form}"] == pytest.approx(both**0.5)
    classes = [jaccard_score(y, p) for y, p, _ in columns]
    score = found.score("segment.soft.jaccard.macro")
    assert score.low <= score.value == pytest.approx(np.mean(classes)) and score.value <= score.high
    assert "event.hard.jaccard.micro" in found and "event.hard.g_mean.micro" not in found


def test_they_are_taken_from_a_file(tmp_path):
    (tmp_path / "own.py").write_text(
        "from sedeval_soft.measures.base import Measure, ratio\n"
        "JACCARD = Measure('jaccard', 'overlap', 'TP / union',\n"
        "                  lambda c: ratio(c.tp, c.n_ref + c.n_sys - c.tp))\n"
    )
    found = evaluate(*SIDES, only="segment", measures=f"{tmp_path}/own.py:JACCARD")
    assert found["segment.hard.jaccard.micro"] == pytest.approx(jaccard_score(*map(np.ravel, SIDES)))


@pytest.mark.parametrize(
    "wrong",
    [
        *(
            JACCARD._replace(**changes)
            for changes in ({"name": "f1"}, {"name": "My measure"}, {"value": None})
        ),
        *(f"{__file__}:NONE", "/none.py:X"),
    ],
)
def test_names_that_are_taken_and_measures_without_formula_are_refused(wrong):
    with pytest.raises(SettingsError):
        evaluate(*SIDES, measures=[wrong])
