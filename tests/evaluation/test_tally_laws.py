"""Tally files whose numbers contradict one another are refused; what is accepted scores within the ranges.

Each number of these may be possible by itself. They go through `Evaluator.of_bytes` or `merge`.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable

import numpy as np
import pytest
from called import call
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from shards import EVERYTHING, shard
from test_tally_file_refused import with_array

from sedeval_soft import Evaluator
from sedeval_soft.errors import InputError
from sedeval_soft.evaluation.tally_file import pack_shard
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.settings import Settings

FILES = ("a", "b", "c", "d")
FULL = {
    **EVERYTHING,
    "groups": {"z": ["dog", "car"]},
    "psds": "dcase-psds1",
    "psds_median_filters": [0.5],
    "classes": ["car", "dog", "b\u00ebll"],
}
TALLY = pack_shard(shard(Settings.of(**FULL), FILES), "0.1")

SETTINGS = {
    "full": FULL,
    "plain": {},
    "product": {"t_norm": "product", "measures": "divergence"},
    "lukasiewicz": {"t_norm": "lukasiewicz", "only": "all", "pool": "mean"},
    "sed_eval": {"compat": "sed_eval", "only": "all", "measures": "all"},
    "greedy": {"matching": "greedy", "events": "rows", "only": ["event", "intersection"]},
    "inclusive": {"threshold": 0.25, "inclusive": True, "only": "all"},
    "everything passes": {"threshold": -1, "reference_threshold": 0.5, "only": "all"},
    "epsilon": {"epsilon": 0.1, "only": "all", "measures": "all"},
    "tiny epsilon": {"epsilon": 1e-9, "only": "all", "measures": "all"},
    "third": {"segment_length": 1 / 3, "only": "all", "groups": {"z": ["car"], "y": ["dog", "car"]}},
}


def arrays_of(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


ARRAYS = arrays_of(TALLY)


def out_of_range(data: bytes) -> list[tuple[str, float]]:
    """Return the scores of a tally that cannot be; rounding of float sums is let pass."""
    found = []
    for name, value in Evaluator.of_bytes(data).compute().items():
        if value is None:
            continue
        measure = measure_of(name.partition("@")[0])
        low, high = (math.inf if of is None else of for of in (measure.low, measure.high))
        if (
            not math.isfinite(value)
            or value < (low if low != math.inf else -low) - 1e-6
            or value > high + 1e-6
        ):
            found.append((name, value))
    return found


def at_largest(change: Callable[[object], object]) -> Callable[[np.ndarray], np.ndarray]:
    """Return a change of the entry of an array that is furthest from 0."""

    def changed(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        flat = array.reshape(-1)
        if flat.size:
            place = int(np.argmax(np.abs(flat)))
            flat[place] = change(flat[place])
        return array

    return changed


CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "x3": lambda array: array * 3,
    "-1": at_largest(lambda value: value - 1),
    "+1": at_largest(lambda value: value + 1),
    "nan": lambda array: at_largest(lambda _: np.nan)(array) if array.dtype.kind == "f" else array,
    "infinite": lambda array: at_largest(lambda _: np.inf)(array) if array.dtype.kind == "f" else array,
    "negative": lambda array: np.where(array == 0, array, -array),
    "backwards": lambda array: array[::-1].copy(),
    "nothing": lambda array: array * 0,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name.startswith("whole/") else pytest.mark.slow) for name in ARRAYS],
)
def test_a_change_of_any_array_is_refused_or_leads_to_scores_that_can_be(name):
    for label, change in CHANGES.items():
        with np.errstate(invalid="ignore", over="ignore"):
            data = with_array(TALLY, name, lambda array, change=change: change(array).astype(array.dtype))
        try:
            assert out_of_range(data) == [], label
        except InputError:
            continue


@pytest.mark.parametrize("asked", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("seed", range(2))
def test_what_is_counted_keeps_all_laws(asked, seed):
    made = Settings.of(**asked)
    if "ranking" in made.only:
        # Of other classes, tallies of these cannot be merged.
        made = Settings.of(**{**asked, "classes": FULL["classes"]})
    sets = (("a", "b", "c"), tuple("defgh"), ("i",))
    first, *others = (
        Evaluator.of_bytes(pack_shard(shard(made, files, seed + i), "0.1")) for i, files in enumerate(sets)
    )
    for other in others:
        first.merge(other)
    # Merged, too: classes that one part lacks are 0 in it.
    Evaluator.of_bytes(first.to_bytes())


@st.composite
def corrupted(draw: st.DrawFn, names: list[str]) -> list[tuple[str, Callable[[np.ndarray], np.ndarray]]]:
    """Draw what is done to some arrays: to all of one, or to some entries."""

    def change(array: np.ndarray, how: str, factor: float, places: list[int]) -> np.ndarray:
        new = array.copy()
        flat = new.reshape(-1)
        if not flat.size:
            return new
        at = np.unique(np.array(places) % flat.size)
        rng = np.random.default_rng(places[0])
        if how == "times":
            flat[at] = (flat[at] * float(factor)).astype(flat.dtype)
        elif how == "plus":
            flat[at] = (flat[at] + float(factor)).astype(flat.dtype)
        elif how == "set":
            flat[at] = np.array(float(factor)).astype(flat.dtype)
        elif how == "all":
            flat[:] = (flat * float(factor)).astype(flat.dtype)
        else:
            rng.shuffle(flat)
        return new

    found = []
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=3)):
        how = draw(st.sampled_from(["times", "plus", "set", "all", "shuffle"]))
        factor = draw(
            st.sampled_from([0, 1, -1, 2, 3, 0.5, 1e-9, -1e-9, 1e-300, 1e300, 2**40, 1 + 1e-9])
            | st.floats(-3, 3)
        )
        places = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=4))
        found.append((name, lambda array, a=how, b=factor, c=places: change(array, a, b, c)))
    return found


@pytest.mark.parametrize("asked", SETTINGS.values(), ids=SETTINGS)
def test_no_tally_that_is_accepted_has_scores_that_cannot_be(asked):
    data = pack_shard(shard(Settings.of(**asked), FILES), "0.1")
    outcomes = {"refused": 0, "accepted": 0}

    @hypothesis_settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(corrupted(arrays_of(data)))
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
    row = "filename\tonset\toffset\tevent_label\tvalue\n"
    sides[0].write_text(f"{row}a.wav\t0\t3\tcar\t0.8\na.wav\t2\t5\tdog\t0.7\nb.wav\t1\t4\tcar\t1\n")
    sides[1].write_text(f"{row}a.wav\t0\t2\tcar\t0.9\na.wav\t1\t5\tdog\t0.7\nb.wav\t1\t5\tcar\t1\n")
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


def test_the_true_negatives_of_a_tally_are_not_below_0(tmp_path):
    """Segments that are active beyond those that there are led to an accuracy of -6e9."""
    made = pack_shard(shard(Settings.of(only="segment.hard"), FILES), "0.1")
    for change in (lambda n: n + 10**10, lambda n: n * 2):
        data = with_array(made, "whole/per_class/segment.hard.n_sys", change)
        with pytest.raises(InputError, match=r"segment\.hard\.\w+ .*expected"):
            Evaluator.of_bytes(data)
