"""Groups of classes and scenes score like evaluations of only their classes, or only their files."""

import fnmatch
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import ALL
from tables import FILES, LABELS, random_rows, wide_rows

from sedeval_soft import EvaluationError, evaluate
from sedeval_soft.api import evaluate_rows
from sedeval_soft.settings import Settings

EVERY = replace(
    ALL, measures=("all",), beta=2.0, psds_median_filters=(3.0,), thresholds={"car": 0.25, "dog": 0.6}
)
PLAIN = replace(ALL, measures=("all",), classes=None)
MEASURED = {
    "every score": EVERY,
    "coarse segments": replace(EVERY, segment_length=2.5, pool="mean"),
    "rows are events": replace(PLAIN, events="rows", matching="greedy"),
    "PSDS of filters, post-processed": replace(EVERY, min_gap=2.0, min_duration=2.0),
    "post-processed by class": replace(PLAIN, min_gap={"car": 2.0, "people talking": 3.0}),
    "sed_eval": replace(PLAIN, means=(), compat="sed_eval", only=("segment", "event")),
}


def check_parts(reference, system, chosen, groups, scenes, durations=None):
    """Compare all scores of groups and scenes to evaluations of only their classes and files."""
    found = evaluate_rows(reference, system, replace(chosen, groups=groups, scenes=scenes), durations)
    whole = evaluate_rows(reference, system, chosen, durations)
    expected = dict(whole)
    for name, classes in groups.items():
        alone = evaluate_rows(reference, system, replace(chosen, classes=classes), durations)
        expected |= {f"{s.name}@{name}": s.value for s in alone.scores.values() if s.average is not None}
    for name, patterns in scenes.items():
        files = [file for pattern in patterns for file in fnmatch.filter(reference.files, pattern)]
        sides = (side.only_files(np.isin(side.files, files)) for side in (reference, system))
        lengths = durations and {file: durations[file] for file in files}
        alone = evaluate_rows(*sides, replace(chosen, classes=whole.classes), lengths)
        expected |= {f"{s.name}@{name}": s.value for s in alone.scores.values()}
    assert list(found.items()) == list(expected.items())
    return found


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[] if name in ("every score", "rows are events", "sed_eval") else pytest.mark.slow
        )
        for name in MEASURED
    ],
)
@settings(max_examples=1)
@given(
    st.integers(0, 2**20),
    st.lists(st.sampled_from(LABELS), min_size=1, unique=True),
    st.lists(st.sampled_from(FILES), min_size=1, unique=True),
)
def test_any_part_is_scored_as_if_it_were_all(name, seed, classes, files):
    sides = random_rows(seed, n=15, fine=True), random_rows(seed + 1, n=15)
    occurring = {*sides[0].classes, *sides[1].classes}
    classes = tuple(label for label in classes if label in occurring) or tuple(sorted(occurring))
    check_parts(*sides, MEASURED[name], {"g": classes}, {"s": tuple(files)})


def test_tables_without_values_and_wide_ones_have_parts_and_lengths_are_those_of_the_whole():
    sides = [replace(random_rows(seed), values=()) for seed in (4, 5)]
    found = check_parts(*sides, Settings(), {"g": ("car",)}, {"s": ("a",)}, {"a": 60.0, "b": 23.0, "c": 5.0})
    assert found.score("segment.hard.n_ref.micro@s").group == "s"
    rng = np.random.default_rng(0)
    wide = [wide_rows(np.round(rng.random((30, 3)), 1), files=3) for _ in range(2)]
    check_parts(
        *wide,
        Settings(median_filter=3.0, min_gap=2.0),
        {"ends": ("class2", "class0")},
        {"last.two": ("file2", "file[1-9]")},
    )


def test_operating_points_have_parts():
    low, high = ({"filename": ["a", "b"], "onset": [0, at], "offset": [1.0, at + 1.0],
                  "event_label": ["car", "dog"]} for at in (0.0, 5.0))  # fmt: skip
    chosen = {"only": "all", "psds": "dcase-psds1"}
    found = evaluate(low, {0.3: low, 0.7: high}, groups={"g": "dog"}, scenes={"s": "a"}, **chosen)
    alone = evaluate(low, {0.3: low, 0.7: high}, classes=["dog"], **chosen)
    assert all(found[f"{s.name}@g"] == s.value for s in alone.scores.values() if s.average)
    assert found["event.optimal.f1.macro@s"] == 1.0


def test_groups_and_scenes_that_name_nothing_are_refused_all_at_once():
    rows = random_rows(0)
    asked = Settings(groups={"g": ("car", "doog")}, scenes={"s": ("A", "street_*"), "t": ("a",)})
    with pytest.raises(EvaluationError) as error:
        evaluate_rows(rows, rows, asked)
    group, scene = str(error.value).splitlines()
    assert all(name in group for name in ("'g'", "'doog'", "'dog'"))
    assert all(name in scene for name in ("'s'", "'A'", "'street_*'", "'a'"))
