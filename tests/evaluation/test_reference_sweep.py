"""Scores over thresholds of the reference, against evaluations that have each of them as their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import FILES, random_table, rows_of
from tables import LABELS, long_rows

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.errors import SettingsError
from sedeval_soft.report import render
from sedeval_soft.settings import Settings

ASKED = Settings(
    classes=LABELS,
    only=("segment", "event", "intersection", "clip"),
    reference_sweep=True,
    segment_length=0.5,
)
TENTHS = tuple(k / 10 for k in range(1, 10))


def tenths(seed, n=40):
    """Rows with values in tenths, so that many are exactly at a threshold."""
    values = np.random.default_rng(seed).integers(0, 11, n) / 10
    rows = rows_of(random_table(seed, n=n))[:n]
    return long_rows([(*row[:4], value) for row, value in zip(rows, values, strict=True)], files=FILES)


@pytest.mark.parametrize("events", ["auto", "rows"])
@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_each_threshold_scores_as_if_it_were_that_of_the_evaluation(seed, inclusive, events):
    sides = tenths(seed), tenths(seed + 100)
    asked = replace(ASKED, inclusive=inclusive, events=events, beta=2.0)
    sweep = evaluate_rows(*sides, asked).sweep
    assert sweep.thresholds == TENTHS
    families = {tuple(name.split(".")[:2]) for name in sweep.scores}
    assert families == {
        (b, r) for b in ("segment", "event", "intersection", "clip") for r in ("hard", "optimal")
    }
    measures = {name.split(".", 2)[2] for name in sweep.scores}
    assert {"f1.macro", "fbeta.micro", "error_rate.micro", "precision.weighted", "n_ref.micro"} <= measures
    for k, threshold in enumerate(TENTHS):
        own = evaluate_rows(*sides, replace(asked, reference_sweep=False, reference_threshold=threshold))
        for name, values in sweep.scores.items():
            assert values[k] == pytest.approx(own[name], abs=1e-12), (name, threshold)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_what_is_exactly_at_a_threshold_is_what_the_sign_decides(seed):
    """As many segments (events) more are there with at-or-above than with above: merged events aside."""
    sides = tenths(seed), tenths(seed + 1)
    asked = replace(ASKED, events="rows")
    sweep = evaluate_rows(*sides, asked).sweep
    at = evaluate_rows(*sides, replace(asked, inclusive=True)).sweep
    for basis in ("segment", "event", "clip"):
        name = f"{basis}.hard.n_ref.micro"
        more = tuple(b - a for a, b in zip(sweep.scores[name], at.scores[name], strict=True))
        assert more == sweep.at[basis] == at.at[basis]


def test_by_hand():
    """Values 0.2, 0.5 and 0.8 in the reference, of which the system has the last two."""
    reference = long_rows([("x", 0, 1, "a", 0.2), ("x", 1, 2, "a", 0.5), ("x", 3, 4, "a", 0.8)])
    system = long_rows([("x", 1, 2, "a", 0.9), ("x", 3, 4, "a", 0.9)])
    scores = evaluate_rows(reference, system, Settings(only=("segment.hard",), reference_sweep=True))
    sweep = scores.sweep
    assert sweep.at == {"segment": (0, 1, 0, 0, 1, 0, 0, 1, 0)}
    assert sweep.scores["segment.hard.n_ref.micro"] == (3, 2, 2, 2, 1, 1, 1, 0, 0)
    f = (4 / 5, 1, 1, 1, 2 / 3, 2 / 3, 2 / 3, None, None)
    assert sweep.scores["segment.hard.f1.macro"] == pytest.approx(f)
    assert "segment.optimal.f1.macro" not in sweep.scores


def test_the_sweep_is_shown_and_in_json(tmp_path):
    scores = evaluate_rows(tenths(0), tenths(1), replace(ASKED, only=("segment", "event.hard")))
    text = render([scores])
    assert "Thresholds of the reference, segment-based, optimal reading" in text
    assert "Thresholds of the reference, event-based, hard reading" in text
    assert "Thresholds of the reference, event-based, optimal reading" not in text
    assert "\n0.5 *" in text
    found = scores.to_dict()["systems"][0]["sweep"]
    assert found["scores"]["segment.hard.f1.macro"] == list(scores.sweep.scores["segment.hard.f1.macro"])
    assert found["at"]["event"] == list(scores.sweep.at["event"])
    macro = render([scores], averages=["macro"])
    table = macro[macro.index("Thresholds of the reference, segment-based, hard") :].splitlines()
    assert table[1].split() == ["macro"]
    assert evaluate_rows(tenths(0), tenths(1), Settings()).sweep is None


@pytest.mark.parametrize(
    "values",
    [{"only": ("segment.soft",)}, {"compat": "sed_eval"}, {"matching": "greedy"}, {"reference_sweep": 1}],
)
def test_what_cannot_be_swept_is_refused(values):
    with pytest.raises(SettingsError, match="reference_sweep"):
        Settings.of(**{"reference_sweep": True} | values)


def test_the_file_of_curves_has_the_surface(tmp_path):
    import pyarrow.parquet as pq

    from sedeval_soft.report.delimited import write_curves

    scores = evaluate_rows(tenths(0), tenths(1), replace(ASKED, only=("segment.hard",)))
    path = tmp_path / "curves.parquet"
    write_curves(str(path), scores.curves)
    rows = pq.read_table(path).to_pandas()
    surface = rows[rows["reference_threshold"].notna()]
    assert len(surface) == (len(LABELS) + 2) * 99 * 99
    one = surface[(surface["class"] == "car") & (surface["reference_threshold"] == 0.3)]
    own = scores.curves.surfaces["segment"]
    assert one["tp"].tolist() == own.tp[LABELS.index("car"), 29].tolist()
    assert set(surface["average"].dropna()) == {"micro", "macro"}
