"""`evaluate` and `Evaluator` take arrays of any library as sides: they are what numpy's say."""

import numpy as np
import pytest
from libraries import LIBRARIES, MAKERS, array, soft_labels

from sedeval_soft import EvaluationError, Evaluator, InputError, evaluate

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
    rng = np.random.default_rng(1)
    ours = [side.round() if kind == "bool" else side.round(2) for side in rng.random((2, 40, 5))]
    module = pytest.importorskip("torch" if name == "torch" else "jax.numpy")
    theirs = [getattr(module, MAKERS[name][1])(side, dtype=getattr(module, kind)) for side in ours]
    assert dict(evaluate(*theirs, **HOW)) == dict(evaluate(*ours, **HOW))


@pytest.mark.parametrize("how", ["requires_grad", "meta", "sparse"])
def test_tensors_that_cannot_be_read_as_they_are(how):
    torch = pytest.importorskip("torch")
    made = torch.rand(40, 5, requires_grad=how == "requires_grad", device="meta" if how == "meta" else "cpu")
    made = made.to_sparse() if how == "sparse" else made
    for action in (
        lambda: evaluate(SIDES[0][0], made, **HOW),
        lambda: Evaluator(**HOW).update(SIDES[0][0], made, files="a"),
        lambda: evaluate({"a": SIDES[0][0]}, {"a": made}, **HOW),
    ):
        with pytest.raises(EvaluationError, match=r"system.*: torch\.Tensor cannot .*array\.detach\(\)\.cpu"):
            action()
    if how == "requires_grad":
        assert evaluate(SIDES[0][0], made.detach().cpu(), **HOW).n_segments == 40


def test_columns_of_any_library():
    torch = pytest.importorskip("torch")
    table = {"onset": [0.0, 1.0], "offset": [0.5, 2.0], "event_label": ["a", "b"]}
    columns = {name: torch.tensor(table[name]) for name in ("onset", "offset")}
    assert dict(evaluate(table, table | columns)) == dict(evaluate(table, table))
    with pytest.raises(InputError, match=r"'onset'.*: torch\.Tensor cannot be read"):
        evaluate(table, table | {"onset": columns["onset"].requires_grad_()})
