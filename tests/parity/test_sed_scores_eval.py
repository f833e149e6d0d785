"""Against sed_scores_eval itself: segment-based best F with its thresholds, on random scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft import Settings, evaluate
from sedeval_soft.tables.event_table import EventTable

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

LABELS = ("car", "dog")
FILES = ("a", "b")


def make(seed: int, levels: int, frame: float, n: int):
    """Make scores of frames and a ground truth that sed_scores_eval takes: apart, every class present."""
    rng = np.random.default_rng(seed)
    scores = {name: rng.integers(0, levels + 1, (n, len(LABELS))) / levels for name in FILES}
    truth = {name: [] for name in FILES}
    for name in FILES:
        for label in LABELS:
            edges = np.sort(rng.choice(np.arange(1, 10 * int(n * frame)), size=4, replace=False)) / 10
            truth[name] += [(edges[0], edges[1], label), (edges[2], edges[3], label)]
    return scores, truth


def tables_of(scores, frame, n):
    """Return the peer's tables of scores, and the durations of their files."""
    edges = np.round(np.arange(n + 1) * frame, 6)
    tables = {
        name: pd.DataFrame(
            {"onset": edges[:-1], "offset": edges[1:]}
            | {label: values[:, i] for i, label in enumerate(LABELS)}
        )
        for name, values in scores.items()
    }
    return tables, {name: float(edges[-1]) for name in FILES}


def theirs(scores, truth, frame, segment_length, n):
    from sed_scores_eval import segment_based

    tables, durations = tables_of(scores, frame, n)
    return segment_based.best_fscore(
        scores=tables, ground_truth=truth, audio_durations=durations, segment_length=segment_length
    )


def rows_of(scores, truth, frame, n):
    """Return our rows of both sides."""
    edges = np.round(np.arange(n + 1) * frame, 6)
    system = EventTable.wide(
        *(FILES, LABELS),
        file=np.repeat(np.arange(len(FILES), dtype=np.int32), n),
        onset=np.tile(edges[:-1], len(FILES)),
        offset=np.tile(edges[1:], len(FILES)),
        values=tuple(np.concatenate([scores[name][:, i] for name in FILES]) for i in range(len(LABELS))),
    )
    reference = long_rows([(name, *event) for name in FILES for event in truth[name]])
    return reference, system


def ours(scores, truth, frame, segment_length, n):
    chosen = Settings(segment_length=segment_length, only=("segment.optimal",))
    durations = tables_of(scores, frame, n)[1]
    return evaluate(*rows_of(scores, truth, frame, n), settings=chosen, durations=durations)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    levels=st.sampled_from([2, 5, 50, 10_000]),
    form=st.sampled_from([(1.0, 1.0, 8), (0.2, 1.0, 40), (0.25, 0.5, 24), (0.2, 0.2, 30)]),
)
def test_best_f_and_thresholds(seed, levels, form):
    frame, segment_length, n = form
    scores, truth = make(seed, levels, frame, n)
    f, p, r, thresholds, _ = theirs(scores, truth, frame, segment_length, n)
    got = ours(scores, truth, frame, segment_length, n)
    tied = False
    for label in LABELS:
        form = f"[{label}]"
        assert got[f"segment.optimal.f1{form}"] == pytest.approx(f[label], abs=1e-12)
        mine, other = got[f"segment.optimal.threshold{form}"], thresholds[label]
        if got[f"segment.optimal.recall{form}"] != pytest.approx(r[label], abs=1e-12):
            # Two thresholds with the same F, which their floats tell apart: ours is the highest.
            assert mine > other
            tied = True
            continue
        assert got[f"segment.optimal.precision{form}"] == pytest.approx(p[label], abs=1e-12)
        # The middle of the same two neighbouring scores; below all of them theirs is minus infinity.
        found = _segment_scores(scores, label, frame, segment_length)
        assert ((found > mine) == (found > other)).all()
        if np.isfinite(other):
            assert mine == pytest.approx(other, rel=1e-15)
    assert got["segment.optimal.f1.macro"] == pytest.approx(f["macro_average"], abs=1e-12)
    if not tied:
        assert got["segment.optimal.f1.micro"] == pytest.approx(f["micro_average"], abs=1e-12)


def _segment_scores(scores, label, frame, segment_length):
    per = round(segment_length / frame)
    column = LABELS.index(label)
    return np.unique(
        np.concatenate(
            [
                values[: len(values) // per * per, column].reshape(-1, per).max(axis=1)
                for values in scores.values()
            ]
        )
    )
