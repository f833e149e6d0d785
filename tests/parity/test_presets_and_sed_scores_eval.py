"""Presets against sed_scores_eval, called as the challenges' baselines do, on MAESTRO and random scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from shared_data import shared

from sedeval_soft import evaluate
from sedeval_soft.settings_files import load_preset

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

import peer_intersection as peer


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
    """A noisy system on MAESTRO, no two of its scores the same: our arguments, and theirs."""
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
    theirs = {
        "scores": {
            name: part[["onset", "offset", *labels]].reset_index(drop=True)
            for name, part in system.groupby("filename")
        },
        "ground_truth": {name: truth.get(name, []) for name in names},
        "audio_durations": {name: float(part.offset.max()) for name, part in soft.groupby("filename")},
        "segment_length": 1.0,
    }
    ours = (hard, system.assign(**{"coffee machine": 0.9}))
    return ours, theirs


def test_maestro_of_2024_and_task_4b_of_2023(maestro):
    from sed_scores_eval import segment_based

    ours, theirs = maestro
    scores, before = (
        evaluate(*ours, durations=theirs["audio_durations"], preset=preset)
        for preset in ("dcase2024-task4-maestro", "dcase2023-task4b")
    )
    partial = segment_based.auroc(**theirs, max_fpr=0.1)[0]
    area = segment_based.auroc(**theirs)[0]
    best = segment_based.best_fscore(**theirs)[0]
    at_half, *_ = segment_based.fscore(**theirs, threshold=0.5)
    labels = load_preset("dcase2024-task4-maestro")["classes"]
    assert {*partial} == {*labels, "mean"}
    values = {"hard.partial_auc": partial, "hard.roc_auc": area, "optimal.f1": best}
    for name, of_class in values.items():
        mean = "macro_average" if of_class is best else "mean"
        assert scores[f"segment.{name}.macro"] == pytest.approx(of_class[mean], abs=1e-12)
        for label in labels:
            assert scores[f"segment.{name}[{label}]"] == pytest.approx(of_class[label], abs=1e-12)
    assert 0.1 < partial["mean"] < 0.9
    assert before["segment.optimal.f1.macro"] == pytest.approx(best["macro_average"], abs=1e-12)
    assert before["segment.hard.f1.micro"] == pytest.approx(at_half["micro_average"], abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_desed_of_2024(seed):
    case = peer.made(seed, labels=load_preset("dcase2024-task4-desed")["classes"])
    theirs = peer.psds(case, dtc=0.7, gtc=0.7, alpha_ct=0, alpha_st=1)
    # A class that is no class of the challenge must change nothing.
    wider = {
        name: (edges, np.column_stack((values, np.full(len(values), 0.9))))
        for name, (edges, values) in case.frames().items()
    }
    system = peer.score_rows((*case.labels, "coffee machine"), wider)
    got = evaluate(case.sides()[0], system, durations=case.durations(), preset="dcase2024-task4-desed")
    assert got["intersection.hard.psds"] == pytest.approx(theirs["psds"], abs=1e-12)
    assert 0.001 < theirs["psds"] < 1
    assert {*theirs["by_class"]} == {*case.labels}
