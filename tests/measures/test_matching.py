"""Maximum matchings of graphs, from any start."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import is_matching, maximum_size

from sedeval_soft.measures import matching
from sedeval_soft.measures.matching import first_free_matching, maximum_matching

NONE = np.zeros(0, dtype=np.int64)


@settings(max_examples=50)
@given(
    *(st.integers(0, 2**32), st.sampled_from([0, 1, 3, 10, 400])),
    *(st.sampled_from([None, "first", "any"]), st.booleans()),
)
def test_maximum_matching_of_larger_graphs(seed, max_steps, start, slim):
    """It is maximum whatever way it takes and wherever it starts.

    max_steps: when scipy takes over, if it is there (slim: it is not).
    """
    rng = np.random.default_rng(seed)
    n_left, n_right = (int(n) for n in rng.integers(1, 40, 2))
    edges = np.argwhere(rng.random((n_left, n_right)) < rng.choice([0.02, 0.05, 0.1, 0.3]))
    left, right = rng.permutation(edges).T
    begin = None
    if start is not None:
        order = rng.permutation(n_left) if start == "any" else np.arange(n_left)
        begin = first_free_matching(order[left], right, n_left, n_right)[order]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_MAX_STEPS", max_steps)
        if slim:
            patch.setitem(sys.modules, "scipy.sparse", None)
        found = maximum_matching(left, right, n_left, n_right, start=begin)
    known = list(map(tuple, edges.tolist()))
    assert is_matching(found.tolist(), known)
    assert (found >= 0).sum() == maximum_size(known, n_left, n_right)


def test_a_matching_with_nothing_to_add_is_kept():
    """A start is a matching even where there are no edges; and vertices without any have no partner."""
    assert maximum_matching(NONE, NONE, 2, 3).tolist() == [-1, -1]
    assert maximum_matching(NONE, NONE, 2, 3, start=np.array([-1, 2])).tolist() == [-1, 2]
