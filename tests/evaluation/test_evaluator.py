"""Batches of files give the same bytes as all files at once, however they are split and merged."""

import itertools
import pickle
import random
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest
from drawn_again import FILES, LABELS, random_tables, tuples
from tables import long_rows

from sedeval_soft import EvaluationError, Evaluator
from sedeval_soft.api import evaluate_rows
from sedeval_soft.report import render
from sedeval_soft.settings import GROUPS, READINGS, Settings

ALL = Settings(classes=LABELS, only=tuple(READINGS), psds="dcase-psds2", measures=GROUPS, worst=4)

SETTINGS = {
    "everything": ALL,
    "all that classes need not be named for": Settings(
        only=("segment", "event", "intersection", "clip"), measures=GROUPS, psds="dcase-psds1", worst=3
    ),
    "groups, scenes and intervals": Settings(
        groups={"animals": ("dog",), "two": ("rain", "car")}, scenes={"first": ("[ab]",), "rest": ("[!a]",)},
        only=("segment", "event"), measures=("divergence", "confusion"), ci="bca", replicates=3, worst=2,
    ),
    "sed_eval": Settings(compat="sed_eval", segment_length=0.5),
}  # fmt: skip


def batch_of(tables, files):
    """Return tables of some files, without other files or classes; an empty one has no column of values."""
    sides = tables.reference, tables.system
    return [long_rows([row for row in tuples(side) if row[0] in files], files=files) for side in sides]


LENGTHS = {file: 20.0 + k for k, file in enumerate(FILES)}


def counted(tables, files=FILES, made=None, **given):
    return Evaluator(made, **given).update(
        *batch_of(tables, files), durations={file: LENGTHS[file] for file in files}
    )


def json_of(evaluator):
    return render([evaluator.compute()], "json")


def grown(tables, made, rng, folder):
    """Count batches in random order, one evaluator each; merge these in random order, some through a file."""
    order = rng.sample(FILES, len(FILES))
    edges = [0, *sorted(rng.sample(range(1, len(FILES)), rng.randint(1, 4))), len(order)]
    parts = [counted(tables, order[a:b], made) for a, b in itertools.pairwise(edges)]
    while len(parts) > 1:
        taken = parts.pop(rng.randrange(len(parts)))
        if rng.random() < 0.3 and not (made.ci or made.groups or made.scenes):
            taken.compute()
        if rng.random() < 0.5:
            taken.save(folder / "part.tally")
            taken = Evaluator.load(folder / "part.tally")
        rng.choice(parts).merge(taken)
    return parts[0]


@pytest.mark.parametrize("chosen", SETTINGS)
@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.slow) for k in (2, 3))])
def test_any_split_gives_the_same_bytes(chosen, seed, tmp_path):
    """One batch of all files also gives the scores of `evaluate`."""
    rng, made = random.Random(f"{chosen} {seed}"), SETTINGS[chosen]  # noqa: S311
    tables = random_tables(seed, rng.choice(["tied", "fine"]), rng.randint(6, 50))
    # Keep groups whose classes all occur.
    made = replace(made, groups={
        name: of for name, of in made.groups.items()
        if {*of} <= {*tables.reference.classes, *tables.system.classes}
    })  # fmt: skip
    whole, plain = counted(tables, made=made), evaluate_rows(tables.reference, tables.system, made, LENGTHS)
    assert json_of(grown(tables, made, rng, tmp_path)) == json_of(whole)
    for name in ("scores", "files", "classes", "length", "worst"):
        assert getattr(whole.compute(), name) == getattr(plain, name)
    of_inputs = attrgetter("role", "rows", "files", "classes")
    assert [*map(of_inputs, whole.compute().inputs)] == [*map(of_inputs, plain.inputs)]


def test_a_file_is_counted_once():
    tables = random_tables(8)
    evaluator = counted(tables, "abc")
    with pytest.raises(EvaluationError, match="file 'c.*' was counted before"):
        evaluator.update(*batch_of(tables, "cd"))
    batches = counted(tables, "e").update(*batch_of(tables, "d")).update(*batch_of(tables, "a"))
    for other in (counted(tables, "ea"), evaluator, batches):
        with pytest.raises(EvaluationError, match="file 'a.*' was counted before"):
            evaluator.merge(other)
    # A refused batch leaves the evaluator as it was.
    assert json_of(evaluator) == json_of(counted(tables, "abc"))


def test_how_sure_scores_are_may_be_asked_differently():
    """Statistics do not depend on settings of resampling: the evaluator that computes applies its own."""
    tables, sure = random_tables(10), Settings(ci="bootstrap", replicates=10, seed=4, fixed_thresholds=True)
    for made, other in itertools.permutations((Settings(), sure)):
        one = counted(tables, "ab", made).merge(counted(tables, "cde", other))
        assert json_of(one) == json_of(counted(tables, made=made))


def test_what_cannot_be_computed_may_come_with_another_batch():
    """The reference of the first batch lacks a class; the next batch has it."""
    car, dog = ({name: long_rows([(name, 0.0, 1.0, of, 0.7)]) for name in "ab"} for of in ("car", "dog"))
    evaluator = Evaluator(Settings(strict=True)).update(car["a"], dog["a"])
    with pytest.raises(EvaluationError, match=r"(?s)class 'dog' is not in the reference.*strict makes"):
        evaluator.compute()
    assert evaluator.update(dog["b"], car["b"]).compute().classes == ("car", "dog")


# --- arrays ---------------------------------------------------------------------------------------


def test_arrays_of_one_file_or_many_are_counted_as_a_whole_or_not_at_all():
    """An evaluator does not keep the arrays."""
    y, p = np.random.default_rng(0).random((2, 4, 30, 3)).round(2)
    made = {"classes": LABELS, "segment_length": 0.5, "measures": GROUPS}
    whole, singly = Evaluator(**made).update(y, p, files=list("wxyz")), Evaluator(**made)
    for k in (2, 0, 3, 1):
        singly.update(y[k], p[k], files="wxyz"[k])
    before = json_of(singly)
    bad = np.where(np.arange(30)[:, None] == 3, 1.5, y[1:3])
    for values, files in ((y[1:3], "bw"), (y[1:3], "cc"), (bad, "de"), (y, "defg")):
        with pytest.raises(EvaluationError):
            singly.update(values, p[1:3], files=[*files])
    y[:], p[:] = 0, 1
    assert json_of(whole) == before == json_of(singly)


# --- added, pickled, and handed over as bytes ------------------------------------------------------


def test_handed_over_and_added():
    one, other = (counted(random_tables(8), file, segment_length=0.5, name="x") for file in "ab")
    for again in (pickle.loads(pickle.dumps(one)), Evaluator.of_bytes(one.to_bytes())):  # noqa: S301 - our own
        both = again + other
        assert [len(each.compute().files) for each in (again, other, both)] == [1, 1, 2]
        assert json_of(again) == json_of(one) and json_of(other + again) == json_of(both)
