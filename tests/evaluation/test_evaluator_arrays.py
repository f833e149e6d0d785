"""Batches of arrays: one file or many, names for each, and scikit-learn's answers."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_again import FILES, LABELS, random_tables

from sedeval_soft import EvaluationError, Evaluator, InputError, evaluate
from sedeval_soft.report import render
from sedeval_soft.settings import GROUPS


def json_of(scores):
    return render([scores], "json")


def arrays(seed, shape=(4, 30, 3)):
    rng = np.random.default_rng(seed)
    return np.round(rng.random(shape), 2), np.round(rng.random(shape), 2)


def test_arrays_of_one_file_or_many():
    y, p = arrays(0)
    names = ["w", "x", "y", "z"]
    made = {"classes": LABELS, "segment_length": 0.5, "measures": GROUPS}
    whole = Evaluator(**made).update(y, p, files=names)
    singly = Evaluator(**made)
    for k in (2, 0, 3, 1):
        singly.update(y[k], p[k], files=names[k])
    pairs = (
        Evaluator(**made)
        .update(y[:2], p[:2], files=names[:2])
        .merge(Evaluator(**made).update(y[2:], p[2:], files=tuple(names[2:])))
    )
    listed = Evaluator(**made).update(y, p, files=tuple(names))
    assert (
        json_of(whole.compute())
        == json_of(singly.compute())
        == json_of(pairs.compute())
        == json_of(listed.compute())
    )
    assert whole.compute().files == tuple(names)
    one = Evaluator(**made).update(y[0], p[0], files="w").compute()
    assert dict(one) == dict(evaluate(y[0], p[0], **made))


@pytest.mark.parametrize(
    ("shape", "files", "said"),
    [
        ((2, 5, 3), None, "expected 2 names"),
        ((2, 5, 3), "a", "expected 2 names"),
        ((2, 5, 3), ["a"], "expected 2 names"),
        ((2, 5, 3), ["a", 3], "expected 2 names"),
        ((2, 5, 3), ["a", ""], "expected 2 names"),
        ((5, 3), None, "expected 1 name, one"),
        ((5, 3), ["a", "b"], "expected 1 name, one"),
        ((2, 2, 5, 3), ["a", "b"], "expected numbers of shape"),
        ((5,), "a", "expected"),
    ],
)  # fmt: skip
def test_arrays_without_fitting_names_are_refused(shape, files, said):
    with pytest.raises(InputError, match=said):
        Evaluator().update(np.zeros(shape), np.zeros(shape), files=files)


def test_arrays_are_counted_as_a_whole_or_not_at_all():
    y, p = arrays(1)
    evaluator = Evaluator().update(y[:1], p[:1], files=["a"])
    with pytest.raises(EvaluationError, match="'a' was counted before"):
        evaluator.update(y[1:3], p[1:3], files=["b", "a"])
    assert evaluator.compute().files == ("a",)
    with pytest.raises(EvaluationError):
        evaluator.update(y[1:3], p[1:3], files=["c", "c"])
    assert evaluator.compute().files == ("a",)
    bad = y[1:3].copy()
    bad[1, 0, 0] = 1.5
    with pytest.raises(InputError, match="expected a value in"):
        evaluator.update(bad, p[1:3], files=["d", "e"])
    assert evaluator.compute().files == ("a",)


def test_arrays_must_fit_one_another():
    y, p = arrays(2)
    with pytest.raises(InputError, match=r"array of shape \(3, 30, 3\); expected that of the reference"):
        Evaluator().update(y, p[:3], files=list("abcd"))
    tables = random_tables(0)
    with pytest.raises(InputError, match="files: given for tables"):
        Evaluator().update(tables.reference, tables.system, files=list(FILES))
    # The arrays are not kept: what becomes of them is nobody's business.
    evaluator = Evaluator().update(y, p, files=list("abcd"))
    before = json_of(evaluator.compute())
    y[:], p[:] = 0, 1
    assert json_of(evaluator.compute()) == before


@pytest.mark.parametrize("seed", range(4))
def test_scikit_learn_agrees_on_labels_of_many_batches(seed):
    """Averages of F, precision, recall, and what else has a peer there.

    Classes without reference are in scikit-learn's macro averages as 0 (zero_division), here they are left
    out: it is given the labels of the others. Precision of a class that is never detected is 0 in both.
    """
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    shape = (6, 40, 5)
    y = (rng.random(shape) < 0.3).astype(float)
    p = np.round(np.clip(0.6 * y + rng.random(shape) * 0.6, 0, 1), 3)
    if seed % 2:
        y[..., 2] = 0
    if seed >= 2:
        p[..., 1] = 0.0
    evaluator = Evaluator(only=("segment.hard",), measures=("curves", "divergence"))
    for k in rng.permutation(6):
        evaluator.update(y[k], p[k], files=f"file{k}")
    scores = evaluator.compute()
    truth, found, values = y.reshape(-1, 5) > 0.5, p.reshape(-1, 5) > 0.5, p.reshape(-1, 5)
    present = [c for c in range(5) if truth[:, c].any()]
    for average in ("micro", "macro", "weighted"):
        labels = None if average == "micro" else present
        precision, recall, f1, _ = metrics.precision_recall_fscore_support(
            truth, found, average=average, labels=labels, zero_division=0
        )
        for name, wanted in (("precision", precision), ("recall", recall), ("f1", f1)):
            assert scores[f"segment.hard.{name}.{average}"] == pytest.approx(wanted, abs=1e-12), (
                name,
                average,
            )
    each = metrics.f1_score(truth, found, average=None, zero_division=0)
    matrices = metrics.multilabel_confusion_matrix(truth, found)
    for c in range(5):
        (tn, fp), (fn, tp) = matrices[c]
        wanted = {
            "tp": tp,
            "fp": fp,
            "fn": fn,
            "tn": tn,
            "accuracy": metrics.accuracy_score(truth[:, c], found[:, c]),
        }
        if c in present:
            labels, detections, ranked = truth[:, c], found[:, c], values[:, c]
            wanted["f1"] = each[c]
            wanted["balanced_accuracy"] = metrics.balanced_accuracy_score(labels, detections)
            wanted["roc_auc"] = metrics.roc_auc_score(labels, ranked)
            wanted["average_precision"] = metrics.average_precision_score(labels, ranked)
        for name, value in wanted.items():
            assert scores[f"segment.hard.{name}[{c}]"] == pytest.approx(value, abs=1e-12), (name, c)
    assert scores["segment.hard.accuracy.micro"] == pytest.approx(
        metrics.accuracy_score(truth.ravel(), found.ravel()), abs=1e-12
    )
    assert scores["segment.hard.accuracy.micro"] == pytest.approx(
        1 - metrics.hamming_loss(truth, found), abs=1e-12
    )
    assert scores["segment.hard.brier.micro"] == pytest.approx(
        metrics.brier_score_loss(truth.ravel(), values.ravel()), abs=1e-12
    )
