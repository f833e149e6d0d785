"""Measures of detection by hand, sums of confusion tables, and measures of users."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import jaccard_score, recall_score
from tables import long_rows

from sedeval_soft import SettingsError, evaluate
from sedeval_soft.measures.base import Measure, ratio
from sedeval_soft.measures.detection import (
    DetectionCounts,
    confusion_scores,
    count_scores,
    detection_scores,
)

NAN = np.nan


# Three classes: one is found, one is never found, and the reference lacks one.

TP, N_REF, N_SYS = [3, 0, 0], [4, 6, 0], [5, 0, 2]
ERRORS = {"substitutions": 1, "deletions": 6, "insertions": 3}
COUNTS = DetectionCounts(*(np.array(column) for column in (TP, N_REF, N_SYS, *ERRORS.values())))

MEASURED = {
    "precision": ([3 / 5, NAN, 0.0], 3 / 7, 3 / 5 / 2, 3 / 5 * 4 / 10),
    "recall": ([3 / 4, 0.0, NAN], 3 / 10, 3 / 4 / 2, 3 / 10),
    "f1": ([6 / 9, 0.0, 0.0], 6 / 17, 6 / 9 / 2, 6 / 9 * 4 / 10),
    "fbeta": ([15 / 21, 0.0, 0.0], 15 / 47, 15 / 21 / 2, 15 / 21 * 4 / 10),
    "error_rate": ([3 / 4, 1.0, NAN], 10 / 10, 7 / 8, (3 + 6) / 10),
    "substitution_rate": (None, 1 / 10, None, None),
    "deletion_rate": ([1 / 4, 1.0, NAN], 6 / 10, 5 / 8, 7 / 10),
    "insertion_rate": ([2 / 4, 0.0, NAN], 3 / 10, 1 / 4, 2 / 10),
}
"""Values of classes, micro, macro and weighted averages; F has a beta of 1 and of 2."""
COUNTED = {
    "tp": (TP, 3, None, None),
    "n_ref": (N_REF, 10, None, None),
    "n_sys": (N_SYS, 7, None, None),
    "fp": ([2, 0, 2], 4, None, None),
    "fn": ([1, 6, 0], 7, None, None),
    **{name: (None, number, None, None) for name, number in ERRORS.items()},
}


# Ten segments of two classes: 4 detections find 2 of 3 active segments, and 1 finds 1 of 1.

OF_SEGMENTS = DetectionCounts(*map(np.array, ([2, 1], [3, 1], [4, 1], 0, 0, 0)))
NEGATIVES = {
    "tn": ([5, 9], 14, None, None),
    "sensitivity": ([2 / 3, 1.0], 3 / 4, 5 / 6, 3 / 4),
    "specificity": ([5 / 7, 1.0], 14 / 16, 6 / 7, (3 * 5 / 7 + 1) / 4),
    "accuracy": ([0.7, 1.0], 17 / 20, 0.85, (3 * 0.7 + 1) / 4),
    "balanced_accuracy": ([29 / 42, 1.0], 13 / 16, 71 / 84, (3 * 29 / 42 + 1) / 4),
    "npv": ([5 / 6, 1.0], 14 / 15, 11 / 12, (3 * 5 / 6 + 1) / 4),
    "mcc": (
        [8 / 504**0.5, 1.0], (3 * 14 - 2 * 1) / (5 * 4 * 16 * 15) ** 0.5,
        (8 / 504**0.5 + 1) / 2, (3 * 8 / 504**0.5 + 1) / 4,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (detection_scores(COUNTS, beta=2.0), MEASURED),
        (count_scores(COUNTS), COUNTED),
        (confusion_scores(OF_SEGMENTS, np.array(10)), NEGATIVES),
    ],
    ids=["measures", "counts", "true negatives"],
)
def test_every_measure_by_hand(scores, expected):
    for name, wanted in expected.items():
        of = scores[name]
        for got, value in zip((of.classes, of.micro, of.macro, of.weighted), wanted, strict=True):
            assert got is value if value is None else got == pytest.approx(value, nan_ok=True), name


def test_rates_beyond_1_are_rounding_but_for_insertions_and_beta_is_asked_for():
    # Counts are divided as fractions, and rounding gives no share above 1.
    assert ratio(np.array([3, 0]), np.array([2, 0])) == pytest.approx([1.5, NAN], nan_ok=True)
    beyond = np.nextafter(1.0, 2.0)
    scores = detection_scores(DetectionCounts(*map(np.array, ([0.0], [1.0], [1.0], beyond, beyond, 2.0))))
    rates = [scores[f"{name}_rate"].micro for name in ("substitution", "deletion", "insertion")]
    assert rates == [1.0, 1.0, 2.0] and "fbeta" not in scores


# Confusion tables add up to the counts of the hard reading, whatever the settings.

FILES, LABELS = ("a", "b"), ("car", "dog", "talk")


def steps(seed):
    rng = np.random.default_rng(seed)
    cells = itertools.product(FILES, LABELS, range(6))
    rows = [(file, k, k + 1, label, float(rng.choice([0.0, 0.25, 0.5, 1.0]))) for file, label, k in cells]
    return long_rows([row for row in rows if rng.random() < 0.7], files=FILES)


@pytest.mark.parametrize(("threshold", "inclusive"), [(0.25, False), (0.5, True)])
@pytest.mark.parametrize(("events", "pool"), [("merge", "max"), ("merge", "mean"), ("rows", "max")])
@pytest.mark.parametrize("matching", ["optimal", "greedy"])
def test_confusion_of_events_and_cells_is_that_of_the_hard_reading(
    threshold, inclusive, events, pool, matching
):
    scores = evaluate(
        *(steps(0), steps(1)),
        threshold=threshold, inclusive=inclusive, events=events, pool=pool, matching=matching,
        measures="confusion", only=("segment.hard", "clip.hard", "event.hard"),
    )  # fmt: skip
    assert [table.basis for table in scores.confusion] == ["segment", "clip", "event"]
    for table in scores.confusion:
        pairs, missed, inserted = map(np.array, (table.pairs, table.missed, table.inserted))
        n_ref, n_sys, tp = (
            np.array([scores[f"{table.basis}.hard.{name}[{label}]"] for label in table.classes])
            for name in ("n_ref", "n_sys", "tp")
        )
        if table.basis == "event":
            assert (pairs.sum(axis=1) + missed).tolist() == n_ref.tolist()
            assert (pairs.sum(axis=0) + inserted).tolist() == n_sys.tolist()
        else:
            assert ((tp + missed <= n_ref) & (tp + inserted <= n_sys)).all()
        # A greedy matching may find fewer hits than an optimal one.
        fewer = table.basis == "event" and matching == "greedy"
        assert (np.diag(pairs) >= tp if fewer else np.diag(pairs) == tp).all()


def test_confusion_of_events_goes_neither_by_the_order_of_rows_nor_by_the_matching():
    rng, sides = np.random.default_rng(0), []
    for _ in range(2):
        onsets, labels = (rng.integers(0, 30, 40) / 10).tolist(), rng.choice(LABELS, 40).tolist()
        sides.append([("a", on, on + 1, label) for on, label in zip(onsets, labels, strict=True)])
    asked = {"only": "event.hard", "measures": "confusion"}
    ways = ({}, {"matching": "greedy"}, {"compat": "sed_eval"})
    first, *others = [
        evaluate(*(long_rows(order(side)) for side in sides), **asked, **way).confusion
        for order in (sorted, list)
        for way in ways
    ]
    assert sum(map(sum, first[0].pairs)) > sum(first[0].pairs[k][k] for k in range(3)) > 0
    assert others == [first] * 5


# Measures of users: their scores have the values of the formulas, and names like any other.

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
