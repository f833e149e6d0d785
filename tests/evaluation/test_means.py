"""Harmonic and geometric means over classes, and means over files, scenes and groups."""

import math

import numpy as np
import pandas as pd
import pytest
from called import call, written
from hypothesis import example, given
from hypothesis import strategies as st
from laws import mean_in_fractions
from tables import columns_of, random_table

from sedeval_soft import Evaluator, compare, evaluate
from sedeval_soft.measures.base import mean_of
from sedeval_soft.measures.registry import ScoreNameError, measure_of
from sedeval_soft.settings import CLASS_MEANS, MEANS, PART_MEANS

LABELS, FILES = ("car", "dog", "rain"), tuple("abcdef")
VALUES = (
    st.floats(0, 1e3, allow_subnormal=False) | st.just(0.0) | st.just(math.nan) | st.floats(1e-300, 1e-290)
)


@given(st.sampled_from(("mean", *CLASS_MEANS)), st.lists(st.tuples(VALUES, st.integers(0, 3)), max_size=6))
@example("harmonic", [(1e-300, 1), (1.0, 1)])
@example("geometric", [(1 / 3, 1)] * 5)
@example("harmonic", [(0.0, 0), (0.5, 2)])
def test_means_are_those_of_fractions(kind, pairs):
    values, weights = (np.array([pair[k] for pair in pairs], dtype=np.float64) for k in (0, 1))
    mean = float(mean_of(kind, values, weights))
    expected = mean_in_fractions(kind, values.tolist(), weights.tolist())
    assert math.isnan(mean) if expected is None else math.isclose(mean, expected, rel_tol=1e-12, abs_tol=0)
    known = values[(weights > 0) & ~np.isnan(values)]
    # A rounded mean stays in the range of its values.
    assert kind == "mean" or expected is None or known.min() <= mean <= known.max()


def table(seed, n=60):
    return random_table(np.random.default_rng(seed), files=FILES, labels=LABELS, n=n)


def test_over_files_they_are_those_over_scenes_of_one_file_each():
    sides = table(1, n=25), table(2, n=25)
    means = [mean for mean in PART_MEANS if not mean.startswith("groups")]
    asked = {"only": ("segment", "event", "intersection.hard"), "classes": LABELS, "means": means}
    scores = evaluate(*sides, by={file: file for file in FILES}, **asked)
    names = [name for name in scores if "@files" in name and ".optimal." not in name]
    for name in names:
        wanted = scores[name.replace("@files", "@scenes")]
        assert scores[name] == (wanted and pytest.approx(wanted, rel=1e-12)), name
    # Only averages have means over files; optimal ones use the best thresholds of all files.
    assert {"event.hard.f1.macro@files.harmonic", "event.optimal.f1.micro@files.mean"} <= {*scores}
    assert not any("[" in name for name in names)


def test_a_part_without_reference_is_left_out():
    """One file is half found, one is missed, and one has only false alarms."""
    rows, found = (columns_of([(f, 0, end, "car") for f in of]) for of, end in (("ab", 4), ("ac", 2)))
    scores = evaluate(rows, found, only="segment.hard", means=("files.mean", "files.harmonic"))
    names = ("recall.micro@files.mean", "precision.micro@files.mean", "precision.micro@files.harmonic")
    assert [scores[f"segment.hard.{name}"] for name in names] == [0.25, 0.5, 0.0]


@pytest.mark.parametrize(
    "ci", ["expanded", *(pytest.param(ci, marks=pytest.mark.slow) for ci in ("bca", "bootstrap"))]
)
def test_they_have_intervals_where_the_macro_average_has_them(ci):
    parts = {
        "groups": {"traffic": ("car",), "others": ("dog", "rain")},
        "by": {file: "one" if file < "c" else "two" for file in FILES},
    }
    how = {"classes": LABELS, "means": MEANS, "replicates": 40}
    scores = evaluate(table(7, n=120), table(8, n=120), ci=ci, **how, **parts)
    for name in (
        "segment.hard.f1.harmonic", "event.hard.f1.harmonic", "segment.soft.f1.micro@scenes.harmonic",
        "event.hard.recall.macro@scenes.mean", "segment.hard.f1.micro@files.harmonic",
        "event.soft.f1.macro@files.mean", "segment.soft.f1.macro@groups.geometric",
        "segment.soft.f1[car]@scenes.mean", "segment.optimal.f1.harmonic",
        "event.optimal.f1.micro@scenes.mean",
    ):  # fmt: skip
        score = scores.score(name)
        assert score.low < score.value < score.high or score.value == 0, name
    # A file has no best thresholds of its own.
    assert scores.score("event.optimal.f1.micro@files.mean").low is None


# Means that are asked for.


HARMONIC = "segment.hard.f1.harmonic"


def test_they_come_when_they_are_asked_for(tmp_path):
    sides, tally = [written(tmp_path / str(seed), table(seed)) for seed in (1, 2)], tmp_path / "t"
    expected = evaluate(*sides, means="harmonic")
    Evaluator().update(*sides).save(tally)
    for words in (sides, ("merge", tally)):
        done = call(*words, "-q", "--score", HARMONIC, "--score", "event.soft.f1.harmonic")
        assert done.out.split() == [repr(expected[name]) for name in (HARMONIC, "event.soft.f1.harmonic")]
    plain = evaluate(*sides)
    assert {name: expected[name] for name in plain} == dict(plain)
    assert evaluate(*sides, rank_by=HARMONIC).settings.means == ("harmonic",)


@pytest.mark.parametrize(
    ("average", "fixed", "mean", "parts"),
    [
        ("soft.f1.micro", False, "scenes.harmonic", {"by": dict.fromkeys(FILES, "all")}),
        ("optimal.f1.macro", True, "groups.mean", {"groups": {"all": LABELS}}),
    ],
)
def test_a_board_by_the_mean_over_one_scene_or_group_is_that_by_the_score(average, fixed, mean, parts):
    how = {"classes": LABELS, "only": "segment", "replicates": 30, "fixed_thresholds": fixed}
    systems = {"x": table(2), "y": table(3), "z": table(4)}
    plain = compare(table(1), systems, rank_by=f"segment.{average}", **how).to_pandas()
    board = compare(table(1), systems, rank_by=f"segment.{average}@{mean}", **how, **parts).to_pandas()
    numbers = [*plain.select_dtypes("number")]
    assert len(numbers) > 9 and board["system"].tolist() == plain["system"].tolist()
    pd.testing.assert_frame_equal(board[numbers], plain[numbers], rtol=1e-9, atol=1e-12)


def test_a_board_by_the_mean_over_files():
    systems, name = {"x": table(1), "y": table(3), "z": table(1)}, "segment.soft.f1.micro@files.harmonic"
    best, same, worse = compare(table(1), systems, rank_by=name, classes=LABELS).entries
    assert (best.place, same.place, worse.place, best.value) == (1, 1, 3, 1.0)
    assert worse.difference.high < 0 and worse.difference.p_bootstrap < 0.01


@pytest.mark.parametrize(
    "name",
    ["segment.hard.n_ref.harmonic", "segment.hard.error_rate.geometric", "segment.hard.d_prime.harmonic",
     "event.hard.onset_bias.harmonic", "segment.optimal.threshold.harmonic", "segment.hard.f1.harmonic@a@b",
     "event.hard.error_rate.micro@scenes.harmonic", "event.hard.n_ref.micro@files.mean",
     "event.hard.f1[car]@files.mean", "event.hard.f1[car]@groups.mean", "intersection.hard.psds.harmonic"],
)  # fmt: skip
def test_what_has_no_such_mean(name):
    with pytest.raises(ScoreNameError):
        measure_of(name)
