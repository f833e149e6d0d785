"""Scores can be differentiated and compiled; nothing undefined gets into a gradient."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from libraries import AVERAGES, SCORES, array, library, need, soft_labels

from sedeval_soft.apps.training import functional as soft

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
SCORES = SCORES | {"lukasiewicz": lambda *sides, **how: soft.soft_f1(*sides, t_norm="lukasiewicz", **how)}


def labels(seed=0, shape=(2, 12, 4)):
    """Return sides without ties, where minima and orders have a corner, and away from clipping."""
    values = np.linspace(0.05, 0.93, 2 * int(np.prod(shape)))
    y, p = np.random.default_rng(seed).permutation(values).reshape(2, *shape)
    y[..., 1] = 0.0
    return y, p


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", SCORES)
def test_gradients_are_slopes_and_the_same_in_all_libraries(name, average):
    torch = need("torch")
    y, p = labels()
    target, system = torch.tensor(y), torch.tensor(p, requires_grad=True)
    mask = torch.tensor(np.random.default_rng(1).random((2, 12)) < 0.8)

    def defined(*sides, **given):
        """Return the values of classes that have one: a check of gradients cannot do with NaN."""
        values = SCORES[name](*sides, average=average, **given)
        return values[~torch.isnan(values)]

    assert torch.autograd.gradcheck(lambda x: defined(target, x, mask=mask), (system,))
    assert torch.autograd.gradcheck(lambda x: defined(x, target), (system,))
    sums = {"torch": torch.nansum, "jax": need("jax").numpy.nansum}
    ours, theirs = (
        gradient_of(each, lambda *sides, total=total: total(SCORES[name](*sides, average=average)), y, p)
        for each, total in sums.items()
    )
    np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-12)
    assert np.isfinite(theirs).all()


SIDES = {
    "silence": (np.zeros((2, 5, 3)), np.zeros((2, 5, 3))),
    "no reference": (np.zeros((2, 5, 3)), np.full((2, 5, 3), 0.5)),
    "no detection": (np.full((2, 5, 3), 0.5), np.zeros((2, 5, 3))),
    "certain, and wrong": (np.zeros((2, 5, 3)), np.ones((2, 5, 3))),
    "certain, and right": (np.ones((2, 5, 3)), np.ones((2, 5, 3))),
    "no segment": (np.zeros((2, 0, 3)), np.zeros((2, 0, 3))),
}


@pytest.mark.parametrize("library_name", [library("torch"), library("jax")])
@pytest.mark.parametrize("case", SIDES)
def test_undefined_scores_have_gradients_that_are_numbers(library_name, case):
    y, p = SIDES[case]
    nothing = array(library_name, np.zeros(y.shape[:2], dtype=bool))
    for score, average, mask in itertools.product(SCORES.values(), AVERAGES, (None, nothing)):
        assert np.isfinite(gradient_of(library_name, score, y, p, average=average, mask=mask)).all()


@pytest.mark.parametrize("library_name", [library("torch"), library("jax")])
def test_padding_gets_no_gradient(library_name):
    mask = np.arange(12) < np.array([12, 7])[:, None]
    y, p = (np.where(mask[..., None], side, np.nan) for side in labels(3))
    for score in SCORES.values():
        found = gradient_of(library_name, score, y, p, average="macro", mask=array(library_name, mask))
        assert (found[~mask] == 0).all() and np.isfinite(found).all() and (found[mask] != 0).any()


def gradient_of(name, score, y, p, **given):
    """Return the gradient of the sum of scores in a library."""
    if name == "jax":
        jax = need("jax")
        reference = array("jax", y)
        return np.asarray(jax.grad(lambda x: score(reference, x, **given).sum())(array("jax", p)))
    torch = need("torch")
    system = torch.tensor(p, requires_grad=True)
    score(torch.tensor(y), system, **given).sum().backward()
    return system.grad.numpy()


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", SCORES)
def test_jax_compiles_scores_and_maps_them(name, average):
    jax = need("jax")
    y, p = (array("jax", side) for side in soft_labels(4, (3, 30, 5)))
    mask = array("jax", np.random.default_rng(1).random((3, 30)) < 0.8)

    def score(y, p, mask):
        return SCORES[name](y, p, average=average, mask=mask)

    np.testing.assert_allclose(jax.jit(score)(y, p, mask), score(y, p, mask), rtol=1e-12)
    each = [score(*item) for item in zip(y, p, mask, strict=True)]
    np.testing.assert_allclose(jax.vmap(score)(y, p, mask), each, rtol=1e-12)
