"""Presets against sed_scores_eval, called as the challenges' baselines do, on MAESTRO and random scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from shared_data import shared

from sedeval_soft import evaluate
from sedeval_soft.settings_files import load_preset

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

from peer_intersection import score_rows, score_tables, truth_rows


def merged(rows):
    """Return events by file, touching ones of a class as one, as the peer demands."""
    events = {}
    for (name, label), group in rows.groupby(["filename", "event_label"]):
        kept = events.setdefault(name, [])
        for onset, offset in sorted(zip(group.onset, group.offset, strict=True)):
            if kept and kept[-1][2] == label and onset <= kept[-1][1]:
                kept[-1] = (kept[-1][0], max(offset, kept[-1][1]), label)
            else:
                kept.append((onset, offset, label))
    return events


@pytest.fixture(scope="module")
def maestro():
    """A noisy system on MAESTRO, no two of its scores the same: our arguments, and the peer's."""
    folder = shared("maestro")
    hard = pd.read_csv(folder / "gt_dev.csv", sep="\t")
    soft = pd.read_csv(folder / "soft_gt_dev.csv", sep="\t")
    labels = load_preset("dcase2024-task4-maestro")["classes"]
    rng = np.random.default_rng(2024)
    noise = rng.random((len(soft), len(labels)))
    # A class that is no class of the challenge must change nothing.
    system = soft.assign(**{label: 0.4 * soft[label] + 0.6 * noise[:, i] for i, label in enumerate(labels)})
    truth = merged(hard)
    names = list(soft.filename.unique())
    peer = {
        "scores": {
            name: part[["onset", "offset", *labels]].reset_index(drop=True)
            for name, part in system.groupby("filename")
        },
        "ground_truth": {name: truth.get(name, []) for name in names},
        "audio_durations": {name: float(part.offset.max()) for name, part in soft.groupby("filename")},
        "segment_length": 1.0,
    }
    ours = (hard, system.assign(**{"coffee machine": 0.9}))
    return ours, peer


def test_maestro_of_2024(maestro):
    from sed_scores_eval import segment_based

    ours, peer = maestro
    scores = evaluate(*ours, durations=peer["audio_durations"], preset="dcase2024-task4-maestro")
    partial = segment_based.auroc(**peer, max_fpr=0.1)[0]
    area = segment_based.auroc(**peer)[0]
    best = segment_based.best_fscore(**peer)[0]
    labels = load_preset("dcase2024-task4-maestro")["classes"]
    assert {*partial} == {*labels, "mean"}
    values = {"hard.partial_auc": partial, "hard.roc_auc": area, "optimal.f1": best}
    for name, theirs in values.items():
        mean = "macro_average" if theirs is best else "mean"
        assert scores[f"segment.{name}.macro"] == pytest.approx(theirs[mean], abs=1e-12)
        for label in labels:
            assert scores[f"segment.{name}[{label}]"] == pytest.approx(theirs[label], abs=1e-12)
    assert 0.1 < partial["mean"] < 0.9


def test_task_4b_of_2023(maestro):
    from sed_scores_eval import segment_based

    ours, peer = maestro
    scores = evaluate(*ours, durations=peer["audio_durations"], preset="dcase2023-task4b")
    best = segment_based.best_fscore(**peer)[0]
    at_half, *_ = segment_based.fscore(**peer, threshold=0.5)
    assert scores["segment.optimal.f1.macro"] == pytest.approx(best["macro_average"], abs=1e-12)
    assert scores["segment.hard.f1.micro"] == pytest.approx(at_half["micro_average"], abs=1e-12)


def desed(seed):
    """Scores and events of all classes in every file, times on grids on which no rounding decides."""
    rng = np.random.default_rng(seed)
    labels = load_preset("dcase2024-task4-desed")["classes"]
    scores, truth = {}, {}
    edges = np.round(np.arange(51) * 0.2, 6)
    for name in "abc":
        values = rng.random((50, len(labels)))
        truth[name] = []
        for i, label in enumerate(labels):
            times = np.sort(rng.choice(np.arange(0, 200), size=4, replace=False)) * 0.05
            for onset, offset in np.round(times.reshape(2, 2), 6):
                truth[name].append((float(onset), float(offset), label))
                inside = (edges[:-1] < offset) & (edges[1:] > onset)
                values[inside, i] = 0.93 + 0.07 * values[inside, i]
        scores[name] = values
    return labels, edges, scores, truth


@pytest.mark.parametrize("seed", range(10))
def test_desed_of_2024(seed):
    from sed_scores_eval import intersection_based

    labels, edges, scores, truth = desed(seed)
    durations = dict.fromkeys(scores, 60.0)
    psds, classes, *_ = intersection_based.psds(
        scores=score_tables(labels, {name: (edges, values) for name, values in scores.items()}),
        ground_truth=truth,
        audio_durations=durations,
        dtc_threshold=0.7,
        gtc_threshold=0.7,
        cttc_threshold=None,
        alpha_ct=0,
        alpha_st=1,
    )
    # A class that is no class of the challenge must change nothing.
    wider = {name: (edges, np.column_stack((values, np.full(50, 0.9)))) for name, values in scores.items()}
    reference, system = truth_rows(truth), score_rows((*labels, "coffee machine"), wider)
    got = evaluate(reference, system, durations=durations, preset="dcase2024-task4-desed")
    assert got["intersection.hard.psds"] == pytest.approx(psds, abs=1e-12)
    assert 0.001 < psds < 1
    assert {*classes} == {*labels}
