"""Batches of files are scored as all files at once: the same bytes, however they are split and merged."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from drawn_again import FILES, LABELS, random_table, random_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft import EvaluationError, Evaluator, SettingsError
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.report import render
from sedeval_soft.settings import GROUPS, READINGS, Settings

ALL = Settings(classes=LABELS, only=tuple(READINGS), psds="dcase-psds2", measures=GROUPS, worst=4)

SETTINGS = {
    "defaults": Settings(),
    "everything": ALL,
    "rows are events": replace(ALL, events="rows", psds=None, inclusive=True),
    "all that classes need not be named for": Settings(
        only=("segment", "event", "intersection", "clip"), measures=GROUPS, psds="dcase-psds1", worst=3
    ),
    "groups, scenes and intervals": Settings(
        groups={"animals": ("dog",), "two": ("rain", "car")}, scenes={"first": ("[ab]",), "rest": ("[!a]",)},
        only=("segment", "event"), measures=("divergence", "confusion"), ci="bca", replicates=3, worst=2,
    ),
    "intervals": replace(ALL, ci="jackknife", psds=None, measures=("divergence",)),
    "post-processing": Settings(
        median_filter=3.0, min_gap=1.5, min_duration={"car": 2.0}, only=("segment", "event", "intersection"),
    ),
    "median filters": Settings(only=("intersection",), psds_median_filters=(3.0, 0.0, 5.0)),
    "sed_eval": Settings(compat="sed_eval", segment_length=0.5),
    "mean": Settings(pool="mean", segment_length=0.7, t_norm="product"),
}  # fmt: skip


def row_tuples(rows):
    columns = zip(rows.file, rows.onset, rows.offset, rows.label, rows.value, strict=True)
    return [(rows.files[f], float(on), float(off), rows.classes[c], float(v)) for f, on, off, c, v in columns]


def batch_of(tables, files):
    """The rows of some files, which know no other files or classes; no rows have no column of values."""
    sides = (row_tuples(side) for side in (tables.reference, tables.system))
    return [long_rows([row for row in side if row[0] in files], files=files) for side in sides]


def json_of(scores):
    return render([scores], "json")


def together(tables, made, **parts):
    """All files in one batch."""
    return json_of(Evaluator(made).update(*batch_of(tables, FILES)).compute(**parts))


def grown(tables, made, order, cuts, tree, folder=None):
    """Batches in some order, each in an evaluator of its own, merged in some order, some by way of a file."""
    edges = [0, *sorted(set(cuts)), len(order)]
    batches = [order[a:b] for a, b in itertools.pairwise(edges)]
    parts = [Evaluator(made).update(*batch_of(tables, files)) for files in batches]
    while len(parts) > 1:
        at = next(tree, 0) % len(parts)
        taken = parts.pop(at)
        other = next(tree, 0) % len(parts)
        if next(tree, 0) % 3 == 0:
            json_of(taken.compute()) if not made.ci and not made.groups and not made.scenes else None
        if folder is not None and next(tree, 0) % 2:
            taken.save(folder / "part.tally")
            taken = Evaluator.load(folder / "part.tally")
        parts[other].merge(taken)
    return parts[0]


@pytest.mark.parametrize("chosen", SETTINGS)
@settings(max_examples=3)
@given(
    seed=st.integers(0, 2**20),
    form=st.sampled_from(["tied", "fine"]),
    n=st.integers(6, 50),
    order=st.permutations(FILES),
    cuts=st.lists(st.integers(1, len(FILES) - 1), max_size=4),
    tree=st.lists(st.integers(0, 11), max_size=20),
)
def test_any_split_gives_the_same_bytes(chosen, seed, form, n, order, cuts, tree, tmp_path_factory):
    made = SETTINGS[chosen]
    tables = random_tables(seed, form, n)
    if made.groups or made.scenes:
        # Groups are of classes that occur.
        known = {*tables.reference.classes, *tables.system.classes}
        made = replace(made, groups={name: of for name, of in made.groups.items() if {*of} <= known})
    folder = tmp_path_factory.mktemp("tallies")
    found = grown(tables, made, order, cuts, iter(tree), folder).compute()
    assert json_of(found) == together(tables, made)


def test_a_batch_is_what_evaluate_gives():
    """All but where things come from: names of what is in memory, and their number of rows."""
    tables = random_tables(3)
    batches = grown(tables, ALL, FILES, [1, 3], iter([]))
    ours, theirs = batches.compute(), evaluate_rows(tables.reference, tables.system, ALL)
    assert dict(ours) == dict(theirs) and list(ours) == list(theirs)
    assert (ours.files, ours.classes, ours.length, ours.worst) == (
        theirs.files, theirs.classes, theirs.length, theirs.worst,
    )  # fmt: skip
    assert [(i.role, i.rows, i.files, i.classes) for i in ours.inputs] == [
        (i.role, i.rows, i.files, i.classes) for i in theirs.inputs
    ]


def test_folds_and_scenes_are_the_same_however_files_are_split():
    tables = random_tables(4)
    parts = {
        "folds": dict.fromkeys(FILES, "1") | {"a": "2", "d": "2"},
        "by": dict(zip(FILES, "xxyyy", strict=True)),
    }
    made = Settings(ci="bootstrap", replicates=5)
    found = grown(tables, made, FILES[::-1], [2, 3], iter([1, 0, 1])).compute(**parts)
    assert json_of(found) == together(tables, made, **parts)
    assert found.folds is not None and "segment.hard.f1.micro@y" in found


def test_lengths_come_with_batches():
    tables = random_tables(5)
    lengths = {file: 20.0 + k for k, file in enumerate(FILES)}
    whole = Evaluator().update(*batch_of(tables, FILES), durations=lengths)
    split = Evaluator()
    for file in "cadbe":
        split.update(*batch_of(tables, [file]), durations={file: lengths[file]})
    assert json_of(split.compute()) == json_of(whole.compute())
    assert split.compute().length == sum(lengths.values())


def test_merging_does_not_touch_what_is_merged():
    tables = random_tables(7)
    one, two = (Evaluator().update(*batch_of(tables, files)) for files in (FILES[:2], FILES[2:]))
    before = json_of(two.compute())
    one.merge(two)
    assert json_of(two.compute()) == before
    two.update(*(random_table(np.random.default_rng(0), files=["new"]) for _ in range(2)))
    assert one.compute().files == FILES


def test_a_file_is_counted_once():
    tables = random_tables(8)
    evaluator = Evaluator().update(*batch_of(tables, "abc"))
    with pytest.raises(EvaluationError, match=r"file 'c' was counted before"):
        evaluator.update(*batch_of(tables, "cd"))
    with pytest.raises(EvaluationError, match=r"file 'b' was counted before"):
        evaluator.merge(Evaluator().update(*batch_of(tables, "eb")))
    with pytest.raises(EvaluationError, match="counted before"):
        evaluator.merge(evaluator)
    batches = Evaluator().update(*batch_of(tables, "e")).update(*batch_of(tables, "d"))
    with pytest.raises(EvaluationError, match=r"file 'a' was counted before"):
        evaluator.merge(batches.update(*batch_of(tables, "a")))
    # What was refused has left nothing behind.
    assert json_of(evaluator.compute()) == json_of(Evaluator().update(*batch_of(tables, "abc")).compute())


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"threshold": 0.4}, "threshold is 0.5 and 0.4"),
        ({"segment_length": 0.5}, "segment_length is 1.0 and 0.5"),
        ({"classes": ("car",)}, "classes is None and ['car']"),
        ({"measures": ("curves",)}, "measures is [] and ['curves']"),
        ({"groups": {"x": ("car",)}}, "groups is {} and {'x': ['car']}"),
        ({"beta": 2.0, "pool": "mean"}, "pool is 'max' and 'mean'; beta is 1.0 and 2.0"),
        ({"min_gap": {"car": 1.0}}, "min_gap is 0.0 and {'car': 1.0}"),
        ({"worst": 3}, "worst is 0 and 3"),
    ],
)
def test_other_settings_are_named(other, said):
    tables = random_tables(9)
    evaluator = Evaluator().update(*batch_of(tables, "ab"))
    with pytest.raises(EvaluationError, match=re.escape(said)):
        evaluator.merge(Evaluator(**other).update(*batch_of(tables, "cd")))
    # Of one that has counted nothing, too.
    with pytest.raises(EvaluationError, match=re.escape(said)):
        Evaluator().merge(Evaluator(**other))


def test_how_sure_scores_are_may_be_asked_differently(tmp_path):
    """Settings of resampling shape no statistic: the evaluator that computes has its way."""
    tables = random_tables(10)
    plain, sure = Settings(), Settings(ci="bootstrap", replicates=10, seed=4, fixed_thresholds=True)
    one = (
        Evaluator(sure)
        .update(*batch_of(tables, "ab"))
        .merge(Evaluator(plain).update(*batch_of(tables, "cde")))
    )
    assert json_of(one.compute()) == together(tables, sure)
    two = (
        Evaluator(plain)
        .update(*batch_of(tables, "ab"))
        .merge(Evaluator(sure).update(*batch_of(tables, "cde")))
    )
    assert json_of(two.compute()) == together(tables, plain)
    one.save(tmp_path / "a.tally")
    assert json_of(Evaluator.load(tmp_path / "a.tally").compute()) == together(tables, sure)


def test_strictness_waits_for_all_batches():
    """A class that a batch of the reference lacks may come with another one."""
    strict = Settings(strict=True)
    evaluator = Evaluator(strict)
    evaluator.update(*(long_rows([("a", 0.0, 1.0, label, 0.7)]) for label in ("car", "dog")))
    with pytest.raises(EvaluationError, match=r"(?s)class 'dog' is not in the reference.*strict makes"):
        evaluator.compute()
    evaluator.update(*(long_rows([("b", 0.0, 1.0, label, 0.7)]) for label in ("dog", "car")))
    assert evaluator.compute().classes == ("car", "dog")
    evaluator.update(long_rows([("c", 0.0, 1.0, "car", 0.7)]), long_rows([], files=()))
    with pytest.raises(EvaluationError, match="the system has no rows for 1 reference file"):
        evaluator.compute()


def test_scenes_that_no_file_of_a_batch_is_of():
    tables = random_tables(11)
    made = Settings(scenes={"last": ("e",)}, only=("segment.hard",))
    evaluator = Evaluator(made).update(*batch_of(tables, "ab"))
    with pytest.raises(EvaluationError, match="scene 'last': no file matches 'e'"):
        evaluator.compute()
    evaluator.update(*batch_of(tables, "cde"))
    assert json_of(evaluator.compute()) == together(tables, made)


def test_ranking_needs_the_same_classes_in_all_batches():
    sides = [
        [long_rows([(file, 0.0, 2.0, label, 0.7)]) for _ in range(2)]
        for file, label in (("a", "car"), ("b", "dog"))
    ]
    evaluator = Evaluator(only=("ranking",))
    for side in sides:
        evaluator.update(*side)
    with pytest.raises(EvaluationError, match=r"different classes, car and dog; name them by `classes`"):
        evaluator.compute()


def test_an_evaluator_that_counted_nothing_says_so(tmp_path):
    for action in (Evaluator().compute, Evaluator().shard, lambda: Evaluator().save(tmp_path / "x.tally")):
        with pytest.raises(EvaluationError, match="nothing was counted yet; expected a call of update"):
            action()
    assert not list(tmp_path.iterdir())
    tables = random_tables(12)
    whole = Evaluator().merge(Evaluator()).update(*batch_of(tables, FILES)).merge(Evaluator())
    assert json_of(whole.compute()) == together(tables, Settings())


def test_settings_come_as_one_or_as_keywords():
    assert Evaluator(Settings(beta=2.0)).settings == Evaluator(beta=2.0).settings
    with pytest.raises(SettingsError, match="settings are given; beta cannot be given beside them"):
        Evaluator(Settings(), beta=2.0)
    with pytest.raises(SettingsError, match="treshold"):
        Evaluator(treshold=0.3)
