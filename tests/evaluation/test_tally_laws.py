"""Tally files whose numbers contradict one another are refused; what is accepted scores within the ranges.

Each number of these may be possible by itself. They go through `Evaluator.of_bytes` or `merge`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from called import call
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from shards import EVERYTHING, members_of, packed, shard, with_array

from sedeval_soft import Evaluator
from sedeval_soft.errors import InputError
from sedeval_soft.evaluation.tally_file import pack_shard
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.settings import Settings

FILES = ("a", "b", "c", "d")
CLASSES = ["car", "dog", "b\u00ebll"]
SETTINGS = {
    "full": {
        **EVERYTHING, "groups": {"z": ["dog", "car"]}, "psds": "dcase-psds1", "psds_median_filters": [0.5],
        "classes": CLASSES,
    },
    "plain": {},
    "product": {"t_norm": "product", "measures": "divergence"},
    "lukasiewicz": {"t_norm": "lukasiewicz", "only": "all", "pool": "mean"},
    "sed_eval": {"compat": "sed_eval", "only": "all", "measures": "all"},
    "greedy": {"matching": "greedy", "events": "rows", "only": ["event", "intersection"]},
    "inclusive": {"threshold": 0.25, "inclusive": True, "only": "all"},
    "everything passes": {"threshold": 0, "reference_threshold": 0.5, "only": "all"},
    "epsilon": {"epsilon": 0.1, "only": "all", "measures": "all"},
    "tiny epsilon": {"epsilon": 1e-9, "only": "all", "measures": "all"},
    "third": {"segment_length": 1 / 3, "only": "all", "groups": {"z": ["car"], "y": ["dog", "car"]}},
}  # fmt: skip
TALLY = packed(FILES, **SETTINGS["full"])


def arrays_of(data: bytes) -> list[str]:
    return [name.removesuffix(".npy") for name in members_of(data) if name.endswith(".npy")]


def fast(names, *some):
    """Parameters of which all but some are slow."""
    return [pytest.param(name, marks=[] if name in some else pytest.mark.slow) for name in names]


def out_of_range(data: bytes) -> list[tuple[str, float]]:
    """Return the scores of a tally that cannot be; rounding of float sums is let pass."""
    wrong = []
    for name, value in Evaluator.of_bytes(data).compute().items():
        measure = measure_of(name.partition("@")[0])
        low = -math.inf if measure.low is None else measure.low - 1e-6
        high = math.inf if measure.high is None else measure.high + 1e-6
        if value is not None and not (math.isfinite(value) and low <= value <= high):
            wrong.append((name, value))
    return wrong


def entries(where: str, how: str, factor: float, places: list[int]) -> Callable[[np.ndarray], np.ndarray]:
    """Return a change of some entries of an array, of the one furthest from 0, of all, or of their order."""

    def change(array: np.ndarray) -> np.ndarray:
        new = array.copy()
        flat = new.reshape(-1)
        if where == "order":
            np.random.default_rng(places[0]).shuffle(flat)
        elif flat.size:
            some = {"all": slice(None), "largest": [int(np.argmax(np.abs(flat)))]}
            at = some.get(where, np.unique(np.array(places) % flat.size))
            old = flat[at]
            changed = {"plus": old + factor, "set": 0 * old + factor, "times": old * factor}[how]
            flat[at] = changed.astype(old.dtype)
        return new

    return change


CHANGES = (
    *(("all", "times", factor) for factor in (3.0, -1.0, 0.0)),
    *(("largest", "plus", factor) for factor in (1.0, -1.0)),
    *(("largest", "set", factor) for factor in (np.nan, np.inf)),
    ("order", "", 0.0),
)
ARRAYS = [name for name in arrays_of(TALLY) if name.startswith("whole/")]


@pytest.mark.parametrize("name", fast(ARRAYS, *ARRAYS[::9]))
def test_a_change_of_any_array_is_refused_or_leads_to_scores_that_can_be(name):
    for change in CHANGES:
        with np.errstate(invalid="ignore", over="ignore"):
            data = with_array(TALLY, name, entries(*change, [0]))
        try:
            assert out_of_range(data) == [], change
        except InputError:
            continue


@pytest.mark.parametrize("asked", SETTINGS.values(), ids=SETTINGS)
def test_what_is_counted_keeps_all_laws(asked):
    made = Settings.of(**asked)
    if "ranking" in made.only:
        # Of other classes, tallies of these cannot be merged.
        made = Settings.of(**{**asked, "classes": CLASSES})
    sets = (("a", "b", "c"), tuple("defgh"), ("i",))
    first, *others = (
        Evaluator.of_bytes(pack_shard(shard(made, files, seed), "0.1")) for seed, files in enumerate(sets)
    )
    for other in others:
        first.merge(other)
    # Merged, too: classes that one part lacks are 0 in it.
    Evaluator.of_bytes(first.to_bytes())


FACTORS = st.sampled_from([0.0, 1.0, -1.0, 2.0, 3.0, 0.5, 1e-9, -1e-9, 1e-300, 1e300, 2.0**40, 1 + 1e-9])
CHANGE = st.builds(
    entries,
    st.sampled_from(["some", "all", "largest", "order"]),
    st.sampled_from(["times", "plus", "set"]),
    FACTORS | st.floats(-3, 3),
    st.lists(st.integers(0, 1000), min_size=1, max_size=4),
)


@pytest.mark.parametrize("chosen", fast(SETTINGS, "plain", "greedy"))
def test_no_tally_that_is_accepted_has_scores_that_cannot_be(chosen):
    data = packed(FILES, **SETTINGS[chosen])
    outcomes = {"refused": 0, "accepted": 0}

    @hypothesis_settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.tuples(st.sampled_from(arrays_of(data)), CHANGE), min_size=1, max_size=3))
    def check(changes):
        made = data
        for name, change in changes:
            with np.errstate(all="ignore"):
                made = with_array(made, name, change)
        try:
            assert out_of_range(made) == []
            outcomes["accepted"] += 1
        except InputError:
            outcomes["refused"] += 1

    check()
    assert outcomes["refused"] > 0


def test_merge_refuses_a_tally_that_contradicts_itself(tmp_path):
    """TP times 3 merged to an F of 2.39."""
    sides = [tmp_path / "ref.tsv", tmp_path / "sys.tsv"]
    head = "filename\tonset\toffset\tevent_label\tvalue\n"
    sides[0].write_text(f"{head}a.wav\t0\t3\tcar\t0.8\na.wav\t2\t5\tdog\t0.7\nb.wav\t1\t4\tcar\t1\n")
    sides[1].write_text(f"{head}a.wav\t0\t2\tcar\t0.9\na.wav\t1\t5\tdog\t0.7\nb.wav\t1\t5\tcar\t1\n")
    path, other = tmp_path / "s.tally", tmp_path / "other.tally"
    assert call(*sides, "--only", "segment.hard", "-q", "--save-tally", path).code == 0
    whole = call("merge", path, "--score", "segment.hard.f1.micro")
    assert (whole.code, float(whole.out) <= 1) == (0, True)
    other.write_bytes(with_array(path.read_bytes(), "whole/per_class/segment.hard.tp", lambda tp: tp * 3))
    done = call("merge", other, "--score", "segment.hard.f1.micro")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"{other}: contradicts itself: segment.hard.tp of class 'car' in file 'a.wav' is 6; expected at most "
        "N_ref 3; write it anew with --save-tally\n"
    )
    # Of several tallies the one that is wrong is named.
    assert str(other) in call("merge", path, other).err
