"""Tally files whose counts contradict one another are refused. Each number may be possible by itself."""

from __future__ import annotations

import pytest
from called import call
from shards import EVERYTHING, packed, shard, with_array

from sedeval_soft import Evaluator
from sedeval_soft.errors import InputError
from sedeval_soft.evaluation.tally_file import pack_shard
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
    "everything passes": {"threshold": -1, "reference_threshold": 0.5, "only": "all"},
    "third": {"segment_length": 1 / 3, "only": "all", "groups": {"z": ["car"], "y": ["dog", "car"]}},
}  # fmt: skip


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


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("per_class/segment.soft.n_ref", lambda n: n / 9, r"segment\.soft\.tp .*expected at most N_ref"),
        ("per_class/event.hard.tp", lambda tp: tp + 9, r"event\.hard\.tp of class .*expected at most N_ref"),
        ("per_class/segment.hard.beyond", lambda n: n + 99, "expected at most N_sys - TP"),
        # Segments that are active beyond those that there are led to an accuracy of -6e9.
        ("per_class/segment.hard.n_sys", lambda n: n + 10**10, r"segment\.hard\.\w+ .*expected"),
    ],
)
def test_counts_that_contradict_one_another_are_refused(name, change, text):
    with pytest.raises(InputError, match=f"contradicts itself: .*{text}"):
        Evaluator.of_bytes(with_array(packed(FILES), f"whole/{name}", change))
