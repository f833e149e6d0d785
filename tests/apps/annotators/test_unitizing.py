"""Alpha for unitizing: the definition piece by piece, ordinary alpha of atoms, and examples."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_continuous import FILES, table

from sedeval_soft import annotate

TICK = 1e-6
LENGTH = 60


def unitizing(people, files=FILES, length=LENGTH, **how):
    """Return alpha of all classes, and by class; people: lists of (file, begin, length, class), in ticks."""
    tables = [table(events, TICK, declared=labelled) for events, labelled in people]
    made = annotate(tables, durations=dict.fromkeys(files, length * TICK), missing="unlabelled", **how)
    return {each.class_name: each.unitizing for each in made.agreement}


def apart(events):
    """Return events of which those of one class that overlap are left out."""
    chosen = []
    for event in sorted(events):
        before = [each for each in chosen if (each[0], each[3]) == (event[0], event[3])]
        if all(each[1] + each[2] <= event[1] for each in before):
            chosen.append(event)
    return chosen


def segments(events, name, label):
    """Return units and gaps of a continuum: begin, end, and whether it is a unit."""
    units, at, found = sorted((b, b + n) for f, b, n, k in events if (f, k) == (name, label)), 0, []
    for begin, end in units:
        found += [(at, begin, False)] * (at < begin) + [(begin, end, True)]
        at = end
    return found + [(at, LENGTH, False)] * (at < LENGTH)


def slow(people, labels):
    """Return alpha by equations 1, 4 and 6 of Krippendorff et al. 2016, continua of files pooled."""
    observed, selves = np.zeros((2, 2)), np.zeros(2)
    for name in FILES:
        crowd = [events for events, labelled in people if name in labelled]
        for label in labels:
            cut = [segments(events, name, label) for events in crowd] if len(crowd) > 1 else []
            for one, other in permutations(cut, 2):
                for begin, end, c in one:
                    for start, stop, k in other:
                        observed[int(c), int(k)] += max(min(end, stop) - max(begin, start), 0) / (
                            len(crowd) - 1
                        )
            for begin, end, c in (each for own in cut for each in own):
                selves[int(c)] += (end - begin) ** 2 if c else end - begin
    margins, total = observed.sum(axis=1), observed.sum()
    expected = total * (np.outer(margins, margins) - np.diag(selves)) / max(total**2 - selves.sum(), 1)
    return 1 - observed[0, 1] / expected[0, 1] if margins.all() else None


EVENT = st.tuples(
    st.sampled_from(FILES), st.integers(0, LENGTH - 13), st.integers(1, 12), st.sampled_from("ab")
)
PERSON = st.tuples(st.lists(EVENT, max_size=6).map(apart), st.sets(st.sampled_from(FILES), min_size=1))


@settings(max_examples=10)
@given(st.lists(PERSON, min_size=2, max_size=4))
def test_it_is_that_of_the_definition(people):
    people = [([e for e in events if e[0] in labelled], sorted(labelled)) for events, labelled in people]
    made = unitizing(people, classes=("a", "b"))
    for label, labels in (("a", "a"), ("b", "b"), (None, "ab")):
        expected = slow(people, labels)
        assert made[label] == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_examples():
    """Three continua of 60 and of 56; the second is that of the tests of krippendorff-unitized-alpha 0.1.0.

    By hand: n = 180, n_1 = 24, n_0 = 156, o = (10 + 5 + 5) / 2 and c = 9 + 9 + 100 + 9 + 25 + 156. Of the
    second n = 168, n_1 = 105, n_0 = 63, o = (5 + 19 + 14) / 2 and c = 144 + 961 + 49 + 961 + 576 + 63. That
    package expects 0.56.
    """
    first = [
        [("x", 2, 3, "a")],
        [("x", 2, 3, "a"), ("x", 10, 10, "a")],
        [("x", 2, 3, "a"), ("x", 15, 5, "a")],
    ]
    made = unitizing([(each, ("x",)) for each in first], files=("x",))["a"]
    assert made == pytest.approx(1 - 10 * (180**2 - 308) / (180 * 24 * 156), abs=1e-12)
    second = [
        [("x", 3, 12, "a"), ("x", 22, 31, "a")],
        [("x", 3, 7, "a"), ("x", 22, 31, "a")],
        [("x", 22, 24, "a")],
    ]
    made = unitizing([(each, ("x",)) for each in second], files=("x",), length=56)["a"]
    assert made == pytest.approx(1 - 19 * (168**2 - 2754) / (168 * 105 * 63), abs=1e-12)
    assert made == pytest.approx(0.56, abs=0.005)
