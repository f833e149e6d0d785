"""Counts at all pairs of a reference and a system threshold, each counted by itself."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures import curve_scores
from sedeval_soft.measures.curve_scores import Surface

THRESHOLDS = np.arange(1, 100) / 100


def cut(values, threshold, inclusive):
    return values >= threshold if inclusive else values > threshold


def values_at_thresholds(rng, shape):
    """Half of the values are thresholds, with the neighbours of some, 0 and 1."""
    values = rng.integers(0, 101, shape) / 100
    return np.where(rng.random(shape) < 0.25, np.nextafter(values, rng.choice([0.0, 1.0], shape)), values)


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("at_once", [7, 1 << 16])
def test_each_count_is_that_of_two_cuts(inclusive, at_once, monkeypatch):
    monkeypatch.setattr(curve_scores, "_AT_ONCE", at_once)
    rng = np.random.default_rng(1)
    reference, system = (values_at_thresholds(rng, (3, 60)) for _ in range(2))
    reference[2] = 0.0
    found = Surface.of(reference, system, 2.0, inclusive=inclusive)
    assert found.thresholds.tolist() == THRESHOLDS.tolist()
    assert found.beta == 2.0
    for c in range(3):
        ours = np.array([cut(reference[c], t, inclusive) for t in THRESHOLDS])
        theirs = np.array([cut(system[c], t, inclusive) for t in THRESHOLDS])
        assert found.n_ref[c].tolist() == ours.sum(axis=1).tolist()
        assert found.n_sys[c].tolist() == theirs.sum(axis=1).tolist()
        assert found.tp[c].tolist() == (ours.astype(int) @ theirs.astype(int).T).tolist()


def test_scores_of_a_surface():
    """F of a class, of all counts, and the mean of the classes with a reference there."""
    rng = np.random.default_rng(2)
    reference, system = values_at_thresholds(rng, (3, 20)), values_at_thresholds(rng, (3, 20))
    reference[2] *= 0.5
    found = Surface.of(reference, system, 2.0)
    for r in (0, 30, 60, 98):
        for s in (0, 45, 98):
            own, counts = [], np.zeros(3)
            for c in range(3):
                y, p = reference[c] > THRESHOLDS[r], system[c] > THRESHOLDS[s]
                tp, n_ref, n_sys = int((y & p).sum()), int(y.sum()), int(p.sum())
                counts += tp, n_ref, n_sys
                f = 5 * tp / (4 * n_ref + n_sys) if n_ref + n_sys else np.nan
                assert found.f[c, r, s] == pytest.approx(f, abs=1e-12, nan_ok=True)
                own += [f] if n_ref else []
            micro = 5 * counts[0] / (4 * counts[1] + counts[2]) if counts[1] + counts[2] else np.nan
            assert found.micro_f[r, s] == pytest.approx(micro, abs=1e-12, nan_ok=True)
            macro = np.mean(own) if own else np.nan
            assert found.macro_f[r, s] == pytest.approx(macro, abs=1e-12, nan_ok=True)
    assert Surface.of(reference, system).beta == 1.0


def test_without_classes_there_is_nothing_to_count():
    found = Surface.of(np.zeros((0, 4)), np.zeros((0, 4)))
    assert found.tp.shape == (0, 99, 99)
    assert found.n_ref.shape == found.n_sys.shape == (0, 99)
    assert {found.tp.dtype, found.n_ref.dtype, found.n_sys.dtype} == {np.dtype(np.int64)}
