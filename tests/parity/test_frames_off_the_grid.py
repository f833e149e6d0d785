"""Against sed_scores_eval where nothing fits: frames cross segments, files end within one, lengths differ.

All averages of the optimal reading; `test_sed_scores_eval` has the frames that fit.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.tables.event_table import EventTable

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

LABELS = ("car", "dog", "talk")


def truth_of(rng, seconds: float) -> list[tuple[float, float, str]]:
    """Events of each class that neither touch nor overlap, on eighths of a second (exact in floats).

    Each class has one at the beginning: the others may lie beyond the recording's end, and sed_scores_eval
    refuses classes without any.
    """
    events = []
    for label in LABELS:
        edges = np.sort(
            rng.choice(np.arange(3, int(8 * seconds)), size=2 * int(rng.integers(1, 4)), replace=False)
        )
        events.append((0.125, 0.25, label))
        events += [(float(a) / 8, float(b) / 8, label) for a, b in edges.reshape(-1, 2)]
    return events


def made(seed: int, frame: float, levels: int):
    rng = np.random.default_rng(seed)
    files = {}
    for name in "abc":
        n = int(rng.integers(14, 30))  # longer than what durations may be short of, at any frame
        edges = np.round(np.arange(n + 1) * frame, 6)
        values = rng.integers(0, levels + 1, (n, len(LABELS))) / levels
        # The recording may end before the last frame does, or after it.
        duration = round(float(edges[-1]) + float(rng.choice([-1.3, 0.0, 0.37, 2.5])), 6)
        files[name] = (edges, values, truth_of(rng, float(edges[-1])), duration)
    return files


def theirs(files, segment_length):
    from sed_scores_eval import segment_based

    scores = {
        name: pd.DataFrame(
            {"onset": edges[:-1], "offset": edges[1:]} | dict(zip(LABELS, values.T, strict=True))
        )
        for name, (edges, values, _, _) in files.items()
    }
    return segment_based.best_fscore(
        scores=scores,
        ground_truth={name: truth for name, (_, _, truth, _) in files.items()},
        audio_durations={name: duration for name, (*_, duration) in files.items()},
        segment_length=segment_length,
    )


def ours(files, segment_length):
    system = EventTable.wide(
        *(tuple(files), LABELS),
        file=np.repeat(
            np.arange(len(files), dtype=np.int32), [len(values) for _, values, _, _ in files.values()]
        ),
        onset=np.concatenate([edges[:-1] for edges, *_ in files.values()]),
        offset=np.concatenate([edges[1:] for edges, *_ in files.values()]),
        values=tuple(np.concatenate([values for _, values, _, _ in files.values()]).T.copy()),
    )
    reference = long_rows([(name, *event) for name, (_, _, truth, _) in files.items() for event in truth])
    lengths = {name: duration for name, (*_, duration) in files.items()}
    return evaluate(
        reference, system, durations=lengths, segment_length=segment_length, only=("segment.optimal",)
    )


@settings(max_examples=120)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.1, 0.3, 0.64]),
    st.sampled_from([0.2, 0.5, 1.0]),
    st.sampled_from([3, 20, 10_000]),
)
def test_all_averages(seed, frame, segment_length, levels):
    files = made(seed, frame, levels)
    f, precision, recall, thresholds, statistics = theirs(files, segment_length)
    got = ours(files, segment_length)
    same = True
    for label in LABELS:
        assert got[f"segment.optimal.f1[{label}]"] == pytest.approx(f[label], abs=1e-12)
        assert got[f"segment.optimal.n_ref[{label}]"] == statistics[label]["n_ref"]
        mine, other = got[f"segment.optimal.threshold[{label}]"], thresholds[label]
        if got[f"segment.optimal.n_sys[{label}]"] != statistics[label]["n_sys"]:
            # The same F twice; in their floats the last digit differs. Ours is the highest threshold.
            assert mine > other
            same = False
            continue
        assert got[f"segment.optimal.tp[{label}]"] == statistics[label]["tps"]
        assert got[f"segment.optimal.precision[{label}]"] == pytest.approx(precision[label], abs=1e-12)
        assert got[f"segment.optimal.recall[{label}]"] == pytest.approx(recall[label], abs=1e-12)
        scores = _segment_scores(files, LABELS.index(label), segment_length)
        lowest = min(score for score in scores if score > other)
        below = max((score for score in scores if score <= other), default=-np.inf)
        assert below <= mine < lowest
    if same:
        for ours_, theirs_ in (("f1", f), ("precision", precision), ("recall", recall)):
            assert got[f"segment.optimal.{ours_}.macro"] == pytest.approx(theirs_["macro_average"], abs=1e-12)
            assert got[f"segment.optimal.{ours_}.micro"] == pytest.approx(theirs_["micro_average"], abs=1e-12)


def _segment_scores(files, column, segment_length):
    """The largest score of the frames that overlap each segment, frame by frame."""
    scores = set()
    for edges, values, _, duration in files.values():
        for k in range(int(np.ceil(round(duration / segment_length, 6)))):
            begin, end = round(k * segment_length, 6), round((k + 1) * segment_length, 6)
            inside = [
                v[column] for a, b, v in zip(edges, edges[1:], values, strict=False) if a < end and b > begin
            ]
            scores.add(float(max(inside, default=0.0)))
    return scores
