"""Presets against sed_scores_eval, called as the challenges' baselines do, on MAESTRO and random scores."""

import numpy as np
import pandas as pd
import pytest
from shared_data import shared

from sedeval_soft import evaluate
from sedeval_soft.settings_files import load_preset

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

import peer_intersection as peer

MAESTRO = load_preset("dcase2024-task4-maestro")["classes"]


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
    hard, soft = (
        pd.read_csv(shared("maestro") / name, sep="\t") for name in ("gt_dev.csv", "soft_gt_dev.csv")
    )
    noise = np.random.default_rng(2024).random((len(soft), len(MAESTRO)))
    system = soft.assign(**{label: 0.4 * soft[label] + 0.6 * noise[:, i] for i, label in enumerate(MAESTRO)})
    truth, parts = merged(hard), dict([*system.groupby("filename")])
    columns = ["onset", "offset", *MAESTRO]
    theirs = {
        "scores": {name: part[columns].reset_index(drop=True) for name, part in parts.items()},
        "ground_truth": {name: truth.get(name, []) for name in parts},
        "audio_durations": {name: float(part.offset.max()) for name, part in parts.items()},
        "segment_length": 1.0,
    }
    # A class that is no class of the challenge must change nothing.
    return (hard, system.assign(**{"coffee machine": 0.9})), theirs


def test_maestro_of_2024_and_task_4b_of_2023(maestro):
    from sed_scores_eval import segment_based

    ours, theirs = maestro
    scores, before = (
        evaluate(*ours, durations=theirs["audio_durations"], preset=preset)
        for preset in ("dcase2024-task4-maestro", "dcase2023-task4b")
    )
    partial, area = (segment_based.auroc(**theirs, **how)[0] for how in ({"max_fpr": 0.1}, {}))
    best, at_half = segment_based.best_fscore(**theirs)[0], segment_based.fscore(**theirs, threshold=0.5)[0]
    for name, of_class, mean in (
        ("hard.partial_auc", partial, "mean"),
        ("hard.roc_auc", area, "mean"),
        ("optimal.f1", best, "macro_average"),
    ):
        for label in MAESTRO:
            assert scores[f"segment.{name}[{label}]"] == pytest.approx(of_class[label], abs=1e-12)
        assert scores[f"segment.{name}.macro"] == pytest.approx(of_class[mean], abs=1e-12)
    assert {*partial} == {*MAESTRO, "mean"} and 0.1 < partial["mean"] < 0.9
    found = before["segment.optimal.f1.macro"], before["segment.hard.f1.micro"]
    assert found == pytest.approx((best["macro_average"], at_half["micro_average"]), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_desed_of_2024(seed):
    case = peer.made(seed, labels=load_preset("dcase2024-task4-desed")["classes"])
    theirs, by_class = peer.psds(case, dtc=0.7, gtc=0.7, alpha_ct=0, alpha_st=1)
    # A class that is no class of the challenge must change nothing.
    wider = {
        name: np.column_stack((values, np.full(len(values), 0.9))) for name, values in case.scores.items()
    }
    sides = peer.Case(wider, case.truth, (*case.labels, "coffee machine")).sides()
    got = evaluate(*sides, durations=case.durations(), preset="dcase2024-task4-desed")
    assert got["intersection.hard.psds"] == pytest.approx(theirs, abs=1e-12)
    assert 0.001 < theirs < 1 and {*by_class} == {*case.labels}
