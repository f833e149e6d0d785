"""Tallies add lawfully: any split of the files, merged in any order, is the same to the last byte."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.evaluation.scores import score_tally
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.recordings import align

FILES = tuple("abcdef")
MANY = tuple(f"class{i:02}" for i in range(21))
"""More than eight: numpy sums that many or more in another order than fewer."""


def rows_of(seed: int) -> list[tuple[str, float, float, str, float]]:
    """Random values of random classes; each file has a few classes only."""
    rng = np.random.default_rng(seed)
    rows = []
    for file in FILES:
        known = rng.choice(MANY, size=rng.integers(1, 16), replace=False)
        for _ in range(60):
            onset = float(rng.integers(0, 15))
            rows.append(
                (file, onset, onset + rng.integers(1, 3), str(rng.choice(known)), float(rng.random()))
            )
    return rows


def tally(reference, system, files, made):
    sides = (long_rows([row for row in side if row[0] in files], files=files) for side in (reference, system))
    return tally_pair(align(*sides, made), made)


def bytes_of(tally):
    groups = (tally.per_class, tally.per_file, tally.samples)
    return [
        tally.files,
        tally.classes,
        tally.recipe,
        *[
            {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in sorted(group.items())}
            for group in groups
        ],
    ]


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1), st.permutations(FILES), st.lists(st.integers(0, 5), max_size=4), st.booleans()
)
def test_any_split_in_any_order_gives_the_same_bytes(seed, order, cuts, named):
    made = Settings(classes=MANY if named else None)
    sides = rows_of(seed), rows_of(seed + 1)
    whole = tally(*sides, FILES, made)
    edges = [0, *sorted(set(cuts) - {0}), len(FILES)]
    parts = [tally(*sides, order[a:b], made) for a, b in itertools.pairwise(edges)]
    merged = Tally.merge(parts)
    assert bytes_of(merged) == bytes_of(whole)
    one_by_one = Tally()
    for part in reversed(parts):
        one_by_one = one_by_one + part
    assert bytes_of(one_by_one) == bytes_of(whole)
    assert repr(score_tally(merged, made)) == repr(score_tally(whole, made))


def made(*files):
    rows = [(file, 0.0, 1.0, "car", 0.7) for file in files]
    return tally(rows, rows, files, Settings())


def test_the_empty_tally_changes_nothing():
    one = made("a", "b")
    assert bytes_of(one + Tally()) == bytes_of(Tally() + one) == bytes_of(one)
    assert bytes_of(Tally.merge([])) == bytes_of(Tally() + Tally()) == bytes_of(Tally())


def test_a_file_twice_is_an_error():
    with pytest.raises(EvaluationError, match="'b' was tallied twice"):
        made("a", "b") + made("b", "c")


def test_tallies_of_other_settings_do_not_add():
    other = tally([("c", 0.0, 1.0, "car", 0.7)], [], ("c",), Settings(onset_collar=0.3))
    with pytest.raises(EvaluationError, match=r"onset_collar=0\.2.*onset_collar=0\.3"):
        made("a") + other


@pytest.mark.parametrize(
    "change",
    [
        {"files": ("b", "a")},
        {"files": ("a", "a")},
        {"files": ("a",)},
        {"classes": ("car", "dog")},
        {"samples": {"segment.system": np.zeros((1, 5))}},
    ],
)
def test_a_tally_checks_its_own_shape(change):
    with pytest.raises(ValueError, match=r"tally|shape"):
        replace(made("a", "b"), **change)


def test_classes_that_a_part_lacks_count_zero():
    a = tally([("a", 0.0, 2.0, "car", 0.7)], [], ("a",), Settings())
    b = tally([("b", 0.0, 3.0, "ant", 0.7)], [], ("b",), Settings())
    both = b + a
    assert both.classes == ("ant", "car")
    assert both.per_class["segment.hard.n_ref"].tolist() == [[0, 2], [3, 0]]
    assert both.samples["segment.reference"].tolist() == [[0.0] * 2 + [0.7] * 3, [0.7] * 2 + [0.0] * 3]
