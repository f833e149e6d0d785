"""Against sed_scores_eval itself: best F of segments, average precision, areas under the ROC.

Frames fit segments or cross them, files end within one, lengths differ.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sedeval_soft import evaluate

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

import peer_intersection as peer
from peer_intersection import LABELS, score_rows, score_tables, truth_rows

# Of a class that is active throughout the peer divides 0 by 0.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning")

CASES = {
    "seed": st.integers(0, 2**32 - 1),
    "frame": st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.64, 1.0]),
    "length": st.sampled_from([0.2, 0.5, 1.0]),
}


def truth_of(rng, seconds: float) -> list[tuple[float, float, str]]:
    """Events of each class that neither touch nor overlap, on eighths of a second (exact in floats).

    Each class has one at the beginning: the others may lie beyond the recording's end, and sed_scores_eval
    refuses classes without any.
    """
    events = []
    for label in LABELS:
        n = 2 * int(rng.integers(1, 4))
        edges = np.sort(rng.choice(np.arange(3, max(int(8 * seconds), 10)), size=n, replace=False))
        events.append((0.125, 0.25, label))
        events += [(float(a) / 8, float(b) / 8, label) for a, b in edges.reshape(-1, 2)]
    return events


def made(seed: int, frame: float, levels: int | None):
    """Return for each file its edges, values, events and duration; levels None: no two values the same."""
    rng = np.random.default_rng(seed)
    files = {}
    for name in "abc":
        n = int(rng.integers(14, 30))  # longer than what durations may be short of, at any frame
        edges = np.round(np.arange(n + 1) * frame, 6)
        values = rng.random((n, len(LABELS)))
        if levels is not None:
            values = np.round(values * levels) / levels
        # The recording may end before the last frame does, or after it.
        duration = round(float(edges[-1]) + float(rng.choice([-1.3, 0.0, 0.37, 2.5])), 6)
        files[name] = (edges, values, truth_of(rng, float(edges[-1])), duration)
    return files


def asked(files, length):
    """Return what the peer's functions take."""
    return {
        "scores": score_tables(LABELS, {name: each[:2] for name, each in files.items()}),
        "ground_truth": {name: truth for name, (_, _, truth, _) in files.items()},
        "audio_durations": {name: duration for name, (*_, duration) in files.items()},
        "segment_length": length,
    }


def ours(files, length, **chosen):
    arguments = asked(files, length)
    system = score_rows(LABELS, {name: each[:2] for name, each in files.items()})
    given = {"durations": arguments["audio_durations"], "segment_length": length}
    return evaluate(truth_rows(arguments["ground_truth"]), system, **given, **chosen)


@settings(max_examples=120, deadline=None)
@given(**CASES, levels=st.sampled_from([2, 5, 20, None]))
def test_best_f_and_thresholds(seed, frame, length, levels):
    from sed_scores_eval import segment_based

    files = made(seed, frame, levels)
    f, precision, recall, thresholds, statistics = segment_based.best_fscore(**asked(files, length))
    got = ours(files, length, only=("segment.optimal",))
    same = True
    for label in LABELS:
        assert got[f"segment.optimal.n_ref[{label}]"] == statistics[label]["n_ref"]
        mine, other = got[f"segment.optimal.threshold[{label}]"], thresholds[label]
        mine = np.inf if mine is None else mine
        if got[f"segment.optimal.f1[{label}]"] != pytest.approx(f[label], abs=1e-12):
            # At minus infinity theirs detects values of 0, too; here no threshold is below 0.
            assert other == -np.inf and got[f"segment.optimal.f1[{label}]"] < f[label]
            same = False
            continue
        if got[f"segment.optimal.n_sys[{label}]"] != statistics[label]["n_sys"]:
            # The same F twice; in their floats the last digit differs. Ours is the highest threshold.
            assert mine > other
            same = False
            continue
        assert got[f"segment.optimal.tp[{label}]"] == statistics[label]["tps"]
        assert got[f"segment.optimal.precision[{label}]"] == pytest.approx(precision[label], abs=1e-12)
        assert got[f"segment.optimal.recall[{label}]"] == pytest.approx(recall[label], abs=1e-12)
        scores = segment_scores(files, LABELS.index(label), length)
        lowest = min(score for score in scores if score > other)
        below = max((score for score in scores if score <= other), default=-np.inf)
        assert below <= mine < lowest
    if same:
        for ours_, theirs_ in (("f1", f), ("precision", precision), ("recall", recall)):
            assert got[f"segment.optimal.{ours_}.macro"] == pytest.approx(theirs_["macro_average"], abs=1e-12)
            assert got[f"segment.optimal.{ours_}.micro"] == pytest.approx(theirs_["micro_average"], abs=1e-12)


def segment_scores(files, column, length):
    """The largest score of the frames that overlap each segment, frame by frame."""
    scores = []
    for edges, values, _, duration in files.values():
        for k in range(int(np.ceil(round(duration / length, 6)))):
            begin, end = round(k * length, 6), round((k + 1) * length, 6)
            inside = [
                v[column] for a, b, v in zip(edges, edges[1:], values, strict=False) if a < end and b > begin
            ]
            scores.append(float(max(inside, default=0.0)))
    return scores


@settings(max_examples=120, deadline=None)
@given(**CASES, levels=st.sampled_from([2, 5, 50, None]), max_fpr=st.sampled_from([0.1, 0.33, 1.0]))
def test_average_precision_and_areas(seed, frame, length, levels, max_fpr):
    """Average precision agrees; areas of ties are theirs by steps below the line, ours by the line."""
    from sed_scores_eval import segment_based

    files = made(seed, frame, levels)
    arguments = asked(files, length)
    theirs = {
        "average_precision": segment_based.average_precision(**arguments)[0],
        "roc_auc": segment_based.auroc(**arguments)[0],
        "partial_auc": segment_based.auroc(**arguments, max_fpr=max_fpr)[0],
    }
    got = ours(files, length, only=("segment.hard",), measures=("curves",), max_fpr=max_fpr)
    # A frame that is the highest of two segments ties them, too.
    scores = [segment_scores(files, column, length) for column in range(len(LABELS))]
    tied = any(len({*column}) < len(column) for column in scores)
    event(f"tied: {tied}")
    for name, values in theirs.items():
        mine = {label: got[f"segment.hard.{name}[{label}]"] for label in LABELS}
        for label, value in mine.items():
            if value is None:
                assert name != "average_precision"
            elif name == "roc_auc" and tied:
                assert value >= values[label] - 1e-12
            elif name == "average_precision" or not tied:
                assert value == pytest.approx(values[label], abs=1e-12), name
        if None not in mine.values() and (name == "average_precision" or not tied):
            assert got[f"segment.hard.{name}.macro"] == pytest.approx(values["mean"], abs=1e-12)


CONSTRAINTS = [("precision", 0.5), ("precision", 0.7), ("precision", 0.999), ("recall", 0.8)]


@pytest.mark.parametrize(("measure", "number"), CONSTRAINTS)
def test_the_best_f_under_a_constraint(measure, number):
    """A precision that no threshold reaches is undefined and told; theirs is 1 there."""
    from sed_scores_eval import segment_based

    reached = set()
    for seed in range(8):
        case = peer.made(seed, (5, None)[seed % 2])
        durations = {name: float(edges[-1]) for name, (edges, _) in case.frames().items()}
        arguments = {**case.both(), "audio_durations": durations, "segment_length": 1.0}
        theirs = segment_based.best_fscore(**arguments, **{f"min_{measure}": number})
        constraint = f"{measure}>={number}"
        got = evaluate(*case.sides(), durations=durations, only="segment.optimal", satisfice=constraint)
        for label in LABELS:
            prefix, expected = "segment.optimal.satisficed", [values[label] for values in theirs[:4]]
            own = [got[f"{prefix}_{name}[{label}]"] for name in ("f", "precision", "recall")]
            reached.add(own[0] is not None)
            if own[0] is not None:
                assert own == pytest.approx(expected[:3], abs=1e-12)
                continue
            assert expected == [0.0, 1.0, 0.0, np.inf] and own[1] is None
            assert 0 < got[f"{prefix}_constraint[{label}]"] < number
            assert any(f"no threshold reaches {constraint}" in text for text in got.warnings)
    # A recall can always be reached.
    assert reached >= ({True} if measure == "recall" or number < 0.6 else {True, False})
