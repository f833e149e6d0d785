"""Arrays of any library as sides of evaluations; their scores, differentiated and compiled."""

import itertools
import math
import re
import subprocess
import sys

import array_api_strict
import numpy as np
import pytest
from libraries import (
    AVERAGES,
    LIBRARIES,
    SCORES,
    TOLERANCE,
    array,
    back,
    evaluated,
    expected,
    soft_labels,
)

from sedeval_soft import EvaluationError, Evaluator, InputError, SettingsError, evaluate
from sedeval_soft.apps.training import functional as soft

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def check(sides, wanted, tolerance=1e-12, averages=AVERAGES, t_norm="minimum", **how):
    """Check all scores against `wanted`: a function of measure and average, or scores of the evaluator."""
    for measure, score in SCORES.items():
        given = how if measure in {"kl_divergence", "soft_f1_loss"} else {"t_norm": t_norm, **how}
        for average in averages:
            result = score(*sides, average=average, **given)
            assert result.dtype == sides[0].dtype and isinstance(result, type(sides[0]) | np.generic)
            value = wanted(measure, average) if callable(wanted) else expected(wanted, measure, average)
            name = f"{measure} {average}"
            np.testing.assert_allclose(back(result), value, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    ("t_norm", "hard"), [("minimum", True), ("minimum", False), ("product", False), ("lukasiewicz", False)]
)
def test_scores_are_those_of_the_evaluator(name, dtype, hard, t_norm):
    y, p = soft_labels(1, (300, 6), hard=hard)
    sides = [array(name, side.astype(dtype)) for side in (y, p)]
    check(sides, evaluated(y, p, beta=2.0, t_norm=t_norm), TOLERANCE[dtype], t_norm=t_norm)


def layouts():
    """Return sides, the evaluator's scores and arguments: weights, masks, the axis of classes, other axes."""
    y, p = soft_labels(2, (4, 70, 5))
    times = np.random.default_rng(1).integers(0, 4, (4, 70))
    mask, whole = times > 0, evaluated(y, p, beta=2.0)
    repeated = [np.repeat(side.reshape(-1, 5), times.ravel(), axis=0) for side in (y, p)]
    kept = evaluated(y[mask], p[mask], beta=2.0)
    hidden = [np.where(mask[..., None], side, np.nan) for side in (y, p)]
    parts = [evaluated(*pair, beta=2.0) for pair in zip(y, p, strict=True)]
    first, second = ([np.moveaxis(side, -1, place) for side in (y, p)] for place in (0, 1))

    def each(*which):
        return [expected(part, *which) for part in parts]

    return {
        "one batch": ([y, p], whole, {}),
        "weights": ([y, p], evaluated(*repeated, beta=2.0), {"weights": times.astype(np.float64)}),
        "mask of segments": (hidden, kept, {"mask": mask}),
        "mask of one class": (hidden, kept, {"mask": mask[..., None]}),
        "mask of cells": (hidden, kept, {"mask": np.broadcast_to(mask[..., None], y.shape)}),
        "classes first": (first, whole, {"class_axis": 0}),
        "classes second": (second, whole, {"class_axis": -2}),
        "each by itself": ([y, p], each, {"axis": 1}),
        "each by itself, from the end": ([y, p], each, {"axis": -2}),
        "each by itself, classes second": (second, each, {"axis": 2, "class_axis": 1}),
    }


LAYOUTS = layouts()


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("case", LAYOUTS)
def test_layouts_masks_and_weights(name, case):
    given, wanted, how = LAYOUTS[case]
    sides = [array(name, np.ascontiguousarray(side)) for side in given]
    arrays = {key: array(name, np.ascontiguousarray(how[key])) for key in {"mask", "weights"} & how.keys()}
    check(sides, wanted, **how | arrays)


def test_cells_may_be_left_out_of_single_classes():
    y, p = soft_labels(5, (80, 5))
    mask = np.random.default_rng(0).random(y.shape) < 0.7
    parts = [evaluated(y[m, c, None], p[m, c, None], beta=2.0) for c, m in enumerate(mask.T)]
    for measure in {*SCORES} - {"error_rate"}:
        values = [expected(part, measure, None)[0] for part in parts]
        found = SCORES[measure](y, p, mask=mask, average=None)
        assert found == pytest.approx(np.array(values), abs=1e-12, nan_ok=True), measure


@pytest.mark.parametrize("kind", [bool, np.int64, np.uint8])
def test_integers_and_booleans_are_hard_labels(kind):
    (y, p), (_, q) = soft_labels(7, (50, 4), hard=True), soft_labels(7, (50, 4))
    assert soft.soft_f1(y.astype(kind), q) == soft.soft_f1(y, q)
    assert soft.soft_f1(y.astype(kind), q.astype(np.float32)).dtype == np.float32
    assert soft.soft_f1(y.astype(kind), p.astype(kind)) == soft.soft_f1(y, p)


@pytest.mark.parametrize("name", ["numpy", "torch", "jax"])
def test_half_precision_sums_in_single_precision(name):
    # 70,000 ones: half precision cannot represent this sum, and drops every second one above 2,048.
    y = array(name, np.ones((70_000, 1), dtype=np.float16))
    for score, told in ((soft.soft_f1, 1.0), (soft.soft_error_rate, 0.0), (soft.product_soft_f1, 1.0)):
        assert (score(y, y).dtype, float(score(y, y))) == (y.dtype, told)
    n_ref = soft.soft_counts(y, y).n_ref
    assert n_ref.dtype != y.dtype and float(n_ref[0]) == 70_000


@pytest.mark.parametrize("name", LIBRARIES)
def test_long_sums_miss_no_segment_and_keep_single_precision(name):
    for size in (0, 1, 65, 4097, 64 * 64 * 3 + 7):
        ones = array(name, np.ones((size, 1)))
        assert float(soft.soft_counts(ones, ones).n_ref[0]) == size
    y, p = np.random.default_rng(8).random((2, 200_000, 2)).astype(np.float32)
    found = soft.soft_counts(array(name, y), array(name, p))
    for own, exact in ((found.n_ref, y), (found.tp, np.minimum(y, p))):
        np.testing.assert_allclose(back(own), exact.astype(np.float64).sum(axis=0), rtol=3e-7)


def test_nothing_but_the_standard_is_used_on_any_device():
    y, p = soft_labels(10, (3, 100, 4))
    device, cpu = map(array_api_strict.Device, ("device1", "CPU_DEVICE"))
    with array_api_strict.ArrayAPIStrictFlags(api_version="2023.12"):
        mask, weights, *there = (
            array_api_strict.asarray(each, device=device)
            for each in (np.ones((3, 100), dtype=bool), np.ones((3, 100)), y, p)
        )
        for (measure, score), average in itertools.product(SCORES.items(), AVERAGES):
            found = score(*there, average=average, mask=mask, weights=weights)
            assert found.device == device
            values, wanted = np.from_dlpack(found.to_device(cpu)), score(y, p, average=average)
            assert values == pytest.approx(wanted, abs=1e-12, nan_ok=True), measure


ZEROS, ONES = np.zeros((4, 3)), np.ones((4, 3))
UNDEFINED = {
    "no segment": (np.zeros((0, 3)), np.zeros((0, 3)), {*SCORES} - {"soft_f1_loss"}),
    "no class": (np.zeros((4, 0)), np.zeros((4, 0)), {*SCORES} - {"soft_f1_loss"}),
    "silence": (ZEROS, ZEROS, {"precision", "recall", "f1", "fbeta", "error_rate"}),
    "no reference": (ZEROS, ONES, {"recall", "error_rate"}),
    "no detection": (ONES, ZEROS, {"precision"}),
}


@pytest.mark.parametrize("case", UNDEFINED)
@pytest.mark.parametrize("name", LIBRARIES)
def test_undefined_scores_are_nan(case, name):
    *given, undefined = UNDEFINED[case]
    sides = [array(name, side) for side in given]
    if ZEROS.size == given[0].size:
        check(sides, evaluated(*given, beta=2.0))
    for measure, score in SCORES.items():
        micro, *means = (math.isnan(score(*sides, average=of)) for of in ("micro", "macro", "weighted"))
        assert micro == (measure in undefined), measure
        # If no class is in the reference, there is nothing to average.
        assert case == "no detection" or means == [True, True]


def test_values_that_are_no_numbers_are_not_hidden():
    y, p = soft_labels(11, (20, 4))
    p[3, 0] = np.nan
    for measure in {*SCORES} - {"recall"}:
        assert all(np.isnan(SCORES[measure](y, p, average=average)) for average in AVERAGES[:3]), measure


Y, P = soft_labels(12, (2, 20, 4))
WRONG = [
    (lambda: soft.soft_f1(Y, P[:, :10]), "(2, 10, 4)"),
    (lambda: soft.soft_f1(Y[0, 0], P[0, 0]), "(..., n_segments, n_classes)"),
    (lambda: soft.soft_f1(Y.tolist(), P.tolist()), "list"),
    (lambda: soft.soft_f1(np.ma.masked_array(Y), P), "masked"),
    (lambda: soft.soft_f1(Y, P, average="samples"), "'samples'"),
    (lambda: soft.soft_f1(Y, P, mask=np.ones((2, 20))), "mask"),
    (lambda: soft.soft_f1(Y, P, mask=np.ones((2, 20, 3), dtype=bool)), "(2, 20, 3)"),
    (lambda: soft.soft_f1(Y, P, weights=np.ones((2, 20, 4))), "weights"),
    (lambda: soft.soft_f1(Y, P, axis=(0, 0)), "axis"),
    (lambda: soft.soft_f1(Y, P, class_axis=-4), "-4"),
    (lambda: soft.kl_divergence(Y, P, eps=0.0), "0.0"),
    (lambda: soft.score_of(soft.soft_counts(Y, P), "kl_divergence"), "SoftCounts"),
    (lambda: soft.score_of(soft.soft_counts(Y, P, errors=False), "error_rate", average="micro"), "errors="),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_what_cannot_be_scored_is_refused(call, said):
    with pytest.raises(SettingsError, match=re.escape(said)):
        call()


@pytest.mark.parametrize("epsilon", [1e-7, 1e-12, 2.0**-53, 0.01])
def test_a_value_of_1_costs_what_one_of_0_does(epsilon):
    """A float keeps only nine digits of the 1e-7 in 1 - 1e-7; a correct 1 costs -ln(1 - epsilon)."""
    for y, p, cost in ((0, 1, -np.log(epsilon)), (1, 0, -np.log(epsilon)), (1, 1, -np.log1p(-epsilon))):
        found = soft.kl_divergence(np.array([[float(y)]]), np.array([[float(p)]]), eps=epsilon, average=None)
        assert found[0] == pytest.approx(cost, rel=1e-14)


@pytest.mark.parametrize(
    ("missing", "module", "package"),
    [
        ("array_api_compat", "functional", "array-api-compat>="),
        ("torchmetrics", "torchmetrics", "torchmetrics>="),
    ],
)
def test_what_is_missing_is_named_with_what_installs_it(missing, module, package):
    pytest.importorskip("numpy" if module == "functional" else "torch")
    code = f"import sys; sys.modules[{missing!r}] = None\nimport sedeval_soft.apps.training.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f'{sys.executable} -m pip install "{package}' in done.stderr.splitlines()[-1]


# Scores can be differentiated and compiled; no undefined value gets into a gradient.

SLOPED = SCORES | {"lukasiewicz": lambda *sides, **how: soft.soft_f1(*sides, t_norm="lukasiewicz", **how)}


def labels(seed=0, shape=(2, 12, 4)):
    """Return sides without clipped values, and without ties, at which minima and orders have a corner."""
    values = np.linspace(0.05, 0.93, 2 * int(np.prod(shape)))
    y, p = np.random.default_rng(seed).permutation(values).reshape(2, *shape)
    y[..., 1] = 0.0
    return y, p


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", SLOPED)
def test_gradients_are_slopes_and_the_same_in_all_libraries(name, average):
    torch = pytest.importorskip("torch")
    y, p = labels()
    target, system = torch.tensor(y), torch.tensor(p, requires_grad=True)
    mask = torch.tensor(np.random.default_rng(1).random((2, 12)) < 0.8)

    def defined(*sides, **given):
        """Return the values of the classes that have one: a check of gradients fails on NaN."""
        values = SLOPED[name](*sides, average=average, **given)
        return values[~torch.isnan(values)]

    assert torch.autograd.gradcheck(lambda x: defined(target, x, mask=mask), (system,))
    assert torch.autograd.gradcheck(lambda x: defined(x, target), (system,))
    sums = {"torch": torch.nansum, "jax": pytest.importorskip("jax").numpy.nansum}
    ours, theirs = (
        gradient_of(each, lambda *sides, total=total: total(SLOPED[name](*sides, average=average)), y, p)
        for each, total in sums.items()
    )
    np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-12, equal_nan=False)


EXTREME = {
    "silence": (np.zeros((2, 5, 3)), np.zeros((2, 5, 3))),
    "no reference": (np.zeros((2, 5, 3)), np.full((2, 5, 3), 0.5)),
    "no detection": (np.full((2, 5, 3), 0.5), np.zeros((2, 5, 3))),
    "certain, and wrong": (np.zeros((2, 5, 3)), np.ones((2, 5, 3))),
    "certain, and right": (np.ones((2, 5, 3)), np.ones((2, 5, 3))),
    "no segment": (np.zeros((2, 0, 3)), np.zeros((2, 0, 3))),
}


@pytest.mark.parametrize("library_name", ["torch", "jax"])
@pytest.mark.parametrize("case", EXTREME)
def test_undefined_scores_have_gradients_that_are_numbers(library_name, case):
    y, p = EXTREME[case]
    nothing = array(library_name, np.zeros(y.shape[:2], dtype=bool))
    for score, average, mask in itertools.product(SLOPED.values(), AVERAGES, (None, nothing)):
        assert np.isfinite(gradient_of(library_name, score, y, p, average=average, mask=mask)).all()


@pytest.mark.parametrize("library_name", ["torch", "jax"])
def test_padding_gets_no_gradient(library_name):
    mask = np.arange(12) < np.array([12, 7])[:, None]
    y, p = (np.where(mask[..., None], side, np.nan) for side in labels(3))
    for score in SLOPED.values():
        found = gradient_of(library_name, score, y, p, average="macro", mask=array(library_name, mask))
        assert (found[~mask] == 0).all() and np.isfinite(found).all() and (found[mask] != 0).any()


def gradient_of(name, score, y, p, **given):
    """Return the gradient of the sum of scores in a library."""
    if name == "jax":
        gradient = pytest.importorskip("jax").grad(lambda x: score(array("jax", y), x, **given).sum())
        return np.asarray(gradient(array("jax", p)))
    system = array("torch", p).requires_grad_()
    score(array("torch", y), system, **given).sum().backward()
    return system.grad.numpy()


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", SLOPED)
def test_jax_compiles_scores_and_maps_them(name, average):
    jax = pytest.importorskip("jax")
    y, p = (array("jax", side) for side in soft_labels(4, (3, 30, 5)))
    mask = array("jax", np.random.default_rng(1).random((3, 30)) < 0.8)

    def score(y, p, mask):
        return SLOPED[name](y, p, average=average, mask=mask)

    np.testing.assert_allclose(jax.jit(score)(y, p, mask), score(y, p, mask), rtol=1e-12)
    each = [score(*item) for item in zip(y, p, mask, strict=True)]
    np.testing.assert_allclose(jax.vmap(score)(y, p, mask), each, rtol=1e-12)


# Sides of `evaluate` and `Evaluator` may be arrays of any library.

HOW = {"segment_length": 0.5, "classes": ("a", "b", "c", "d", "e")}
SIDES = soft_labels(0, (3, 40, 5))


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_sides_of_any_library(name, kind):
    ours = [side.astype(kind) for side in SIDES]
    theirs, evaluator = [array(name, side) for side in ours], Evaluator(**HOW)
    for k in range(3):
        evaluator.update(*(side[k, ...] for side in theirs), files=str(k))
    files = [{str(k): side[k, ...] for k in range(3)} for side in theirs]
    whole = dict(evaluate(*ours, **HOW))
    for found in (evaluate(*theirs, **HOW), evaluator.compute(), evaluate(*files, **HOW)):
        assert dict(found) == whole


@pytest.mark.parametrize("name", ["torch", "jax"])
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "bool"])
def test_types_that_files_of_numbers_lack(name, kind):
    ours = np.random.default_rng(1).random((2, 40, 5)).round(0 if kind == "bool" else 2)
    module = pytest.importorskip("torch" if name == "torch" else "jax.numpy")
    theirs = [getattr(module, LIBRARIES[name][1])(side, dtype=getattr(module, kind)) for side in ours]
    assert dict(evaluate(*theirs, **HOW)) == dict(evaluate(*ours, **HOW))


@pytest.mark.parametrize("how", ["requires_grad", "meta", "sparse"])
def test_tensors_that_cannot_be_read_as_they_are(how):
    torch = pytest.importorskip("torch")
    made = {
        "requires_grad": lambda: torch.rand(40, 5, requires_grad=True),
        "meta": lambda: torch.rand(40, 5, device="meta"),
        "sparse": lambda: torch.rand(40, 5).to_sparse(),
    }[how]()
    for action in (
        lambda: evaluate(SIDES[0][0], made, **HOW),
        lambda: Evaluator(**HOW).update(SIDES[0][0], made, files="a"),
        lambda: evaluate({"a": SIDES[0][0]}, {"a": made}, **HOW),
    ):
        with pytest.raises(EvaluationError, match=r"system.*: torch\.Tensor cannot .*array\.detach\(\)\.cpu"):
            action()


def test_columns_of_any_library():
    torch = pytest.importorskip("torch")
    table = {"onset": [0.0, 1.0], "offset": [0.5, 2.0], "event_label": ["a", "b"]}
    columns = {name: torch.tensor(table[name]) for name in ("onset", "offset")}
    assert dict(evaluate(table, table | columns)) == dict(evaluate(table, table))
    with pytest.raises(InputError, match=r"'onset'.*: torch\.Tensor cannot be read"):
        evaluate(table, table | {"onset": columns["onset"].requires_grad_()})
