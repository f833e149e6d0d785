"""Best F under a least precision or recall, against sed_scores_eval; and unreachable ones."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from tables import wide_rows

from sedeval_soft import evaluate

peer = pytest.importorskip("sed_scores_eval", reason="sed_scores_eval is not installed")


FILES, LABELS, LENGTH = ("file0", "file1"), ("class0", "class1"), 40


def both(seed):
    """Return values and what is active, (n_segments, n_classes), of two files; and the form of the peer."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 9, (2 * LENGTH, 2)) / 8
    hits = rng.random(scores.shape) < (scores + 0.3) / 2
    hits[1::2] = False  # the peer refuses events that touch
    tables, events = {}, {}
    for file, own, active in zip(FILES, np.split(scores, 2), np.split(hits, 2), strict=True):
        edges = {"onset": np.arange(LENGTH) * 1.0, "offset": np.arange(LENGTH) + 1.0}
        tables[file] = pd.DataFrame(edges | dict(zip(LABELS, own.T, strict=True)))
        events[file] = [(k * 1.0, k + 1.0, LABELS[c]) for k, c in np.argwhere(active)]
    return scores, hits, (tables, events, dict.fromkeys(FILES, LENGTH * 1.0))


def ours(scores, hits, constraint):
    return evaluate(
        *(wide_rows(of, files=2) for of in (hits, scores)), only="segment.optimal", satisfice=constraint
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("measure", "number"), [("precision", 0.5), ("precision", 0.7), ("recall", 0.8)])
def test_the_best_f_under_a_constraint_is_the_peers(seed, measure, number):
    scores, hits, theirs = both(seed)
    f, p, r, *_ = peer.segment_based.best_fscore(*theirs, segment_length=1.0, **{f"min_{measure}": number})
    found = ours(scores, hits, f"{measure}>={number}")
    for label in LABELS:
        own = [found[f"segment.optimal.satisficed_{name}[{label}]"] for name in ("f", "precision", "recall")]
        if own[0] is None:
            assert (f[label], p[label], r[label]) == (0.0, 1.0, 0.0)
        else:
            assert own == pytest.approx([f[label], p[label], r[label]], abs=1e-12)


def test_an_unreachable_precision_is_told_where_the_peer_makes_it_one():
    scores, hits, theirs = both(0)
    f, p, r, threshold, _ = peer.segment_based.best_fscore(*theirs, segment_length=1.0, min_precision=0.999)
    assert (f["class0"], p["class0"], r["class0"], threshold["class0"]) == (0.0, 1.0, 0.0, math.inf)
    found = ours(scores, hits, "precision>=0.999")
    assert found["segment.optimal.satisficed_precision[class0]"] is None
    nearest = found["segment.optimal.satisficed_constraint[class0]"]
    assert 0 < nearest < 0.999
    assert any("no threshold reaches precision>=0.999" in text for text in found.warnings)
