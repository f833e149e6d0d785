"""Against sed_scores_eval itself: average precision and areas under the ROC of segments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sed_scores_eval import FILES, LABELS, make, rows_of, tables_of

from sedeval_soft import Settings, evaluate

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

# Of a class that is active throughout the peer divides 0 by 0.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning")

FORMS = [(1.0, 1.0, 8), (0.2, 1.0, 40), (0.25, 0.5, 24), (0.2, 0.2, 30)]


def both(seed, levels, form, max_fpr, *, distinct):
    """Return our scores, and theirs: average precisions, areas and partial areas by class."""
    from sed_scores_eval import segment_based

    frame, segment_length, n = form
    scores, truth = make(seed, levels, frame, n)
    if distinct:
        rng = np.random.default_rng(seed)
        ranks = rng.permutation(len(FILES) * n * len(LABELS)).reshape(len(FILES), n, len(LABELS))
        scores = {name: (1 + ranks[i]) / (ranks.size + 1) for i, name in enumerate(FILES)}
    tables, durations = tables_of(scores, frame, n)
    common = {
        "scores": tables,
        "ground_truth": truth,
        "audio_durations": durations,
        "segment_length": segment_length,
    }
    peer = (
        segment_based.average_precision(**common)[0],
        segment_based.auroc(**common)[0],
        segment_based.auroc(**common, max_fpr=max_fpr)[0],
    )
    chosen = Settings(
        segment_length=segment_length, only=("segment.hard",), measures=("curves",), max_fpr=max_fpr
    )
    return evaluate(*rows_of(scores, truth, frame, n), settings=chosen, durations=durations), peer


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), form=st.sampled_from(FORMS), max_fpr=st.sampled_from([0.1, 0.33, 1.0]))
def test_scores_without_ties(seed, form, max_fpr):
    got, (precision, area, partial) = both(seed, 2, form, max_fpr, distinct=True)
    for name, peer in (("average_precision", precision), ("roc_auc", area), ("partial_auc", partial)):
        for label in LABELS:
            ours = got[f"segment.hard.{name}[{label}]"]
            if ours is None:
                assert name != "average_precision"
                continue
            assert ours == pytest.approx(peer[label], abs=1e-12), name
        if all(got[f"segment.hard.{name}[{label}]"] is not None for label in LABELS):
            assert got[f"segment.hard.{name}.macro"] == pytest.approx(peer["mean"], abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), levels=st.sampled_from([2, 5, 50]), form=st.sampled_from(FORMS))
def test_ties(seed, levels, form):
    """Average precision agrees; areas of ties are theirs by steps below the line, ours by the line."""
    got, (precision, area, _) = both(seed, levels, form, 0.1, distinct=False)
    for label in LABELS:
        assert got[f"segment.hard.average_precision[{label}]"] == pytest.approx(precision[label], abs=1e-12)
        ours = got[f"segment.hard.roc_auc[{label}]"]
        assert ours is None or ours >= area[label] - 1e-12
