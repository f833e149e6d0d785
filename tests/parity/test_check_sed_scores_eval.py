"""`check --with sed_scores_eval`: its scores beside ours, and every difference explained."""

from __future__ import annotations

import numpy as np
import peer_intersection as peer
import pytest
from called import call
from shared_data import shared
from tables import long_rows

from sedeval_soft import Settings, SettingsError, evaluate
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.interop.sed_scores_eval import SILENT, STAIRS, check_sed_scores_eval
from sedeval_soft.timeline.recordings import align

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

ALL = {"only": ("segment", "event", "intersection"), "psds": "dcase-psds1", "measures": ("curves",)}


def compared(reference, system, durations=None, **chosen):
    made = Settings(**ALL | chosen)
    ours = evaluate(reference, system, settings=made, durations=durations)
    pair = align(reference, system, made, durations)
    return check_sed_scores_eval(pair, tally_pair(pair), made, ours)


def causes(rows):
    return {cause for row in rows for cause in row.causes}


def test_all_differences_are_explained_on_random_scores():
    seen = set()
    for seed in range(12):
        case = peer.made(seed, [None, 2, 5][seed % 3])
        rows, notes = compared(*case.sides(), case.durations(), segment_length=[1.0, 0.2][seed % 2])
        assert len(rows) > 60
        assert [row for row in rows if not row.explained] == []
        assert notes == []
        seen |= causes(rows)
    assert seen >= {SILENT, STAIRS}


def test_classes_without_a_reference_are_left_out():
    reference = long_rows([("a", 0, 1, "car"), ("a", 2, 3.5, "dog")])
    system = long_rows([("a", 0, 1, "car", 0.9), ("a", 3, 4, "dog", 0.3), ("a", 1, 2, "bird", 0.8)])
    rows, notes = compared(reference, system, {"a": 6.0})
    assert [row for row in rows if not row.explained] == []
    assert notes == ["sed_scores_eval refuses classes without a reference; left out: bird."]
    assert not any("bird" in row.name for row in rows)
    assert SILENT in causes(rows)


def test_files_that_a_side_lacks():
    reference = long_rows([("a", 0, 1, "car"), ("b", 2, 3, "car")])
    system = long_rows([("a", 0, 1.5, "car", 0.9), ("c", 0, 1, "car", 0.4)])
    rows, _ = compared(reference, system, {"a": 5.0, "b": 5.0, "c": 5.0})
    assert [row for row in rows if not row.explained] == []
    assert [row for row in rows if not row.agrees] == [row for row in rows if causes([row])]


def test_maestro():
    folder = shared("maestro")
    from sedeval_soft.api.sources import to_rows

    made = Settings(**ALL)
    reference = to_rows(folder / "soft_gt_dev.csv", "reference", made)
    rng = np.random.default_rng(0)
    from dataclasses import replace

    values = tuple(np.clip(v + 0.1 * rng.normal(size=len(v)), 0, 1) for v in reference.values)
    rows, _ = compared(reference, replace(reference, values=values))
    assert [row for row in rows if not row.explained] == []


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"only": ("segment.soft",), "psds": None}, "--only leaves them out"),
        ({"pool": "mean"}, "--set pool=max"),
        ({"offset": False}, "onsets and offsets"),
        ({"events": "rows"}, "--set events=merge"),
    ],
)
def test_what_it_cannot_be_asked(chosen, said):
    rows = [("a", 0, 1, "car", 0.9), ("a", 1, 2, "car", 0.9)]
    with pytest.raises(SettingsError, match=said):
        compared(long_rows(rows), long_rows(rows), **chosen)


def test_the_command_prints_it(tmp_path):
    table = tmp_path / "t.tsv"
    table.write_text("filename\tonset\toffset\tevent_label\tvalue\na\t0\t1\tcar\t0.9\na\t2\t3\tdog\t0.4\n")
    called = call("check", table, table, "--with", "sed_scores_eval")
    assert called.code == 0
    assert "Second opinion: sed_scores_eval" in called.out
    assert "left out: dog" in called.out
