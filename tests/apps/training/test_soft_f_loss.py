"""1 - soft F as a loss."""

from __future__ import annotations

import copy
import pickle

import pytest
from libraries import need, soft_labels

from sedeval_soft import SettingsError, evaluate

torch = need("torch")
SoftFLoss = need("sedeval_soft.apps.training.torch").SoftFLoss

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def sides(seed=0, shape=(3, 40, 5)):
    y, p = soft_labels(seed, shape)
    return torch.tensor(p, requires_grad=True), torch.tensor(y)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("t_norm", ["minimum", "product", "lukasiewicz"])
def test_the_loss_is_what_f_lacks_to_1(average, t_norm):
    p, y = sides()
    flat = (side.detach().numpy().reshape(-1, 5) for side in (y, p))
    scores = evaluate(*flat, only=["segment.soft"], measures=["divergence"], beta=0.5, t_norm=t_norm)
    loss = SoftFLoss(average=average, t_norm=t_norm, beta=0.5, eps=0.0, class_axis=1)
    turned = loss(p.transpose(1, 2), y.transpose(1, 2), weights=torch.ones(3, 40))
    assert turned.item() == pytest.approx(1 - scores[f"segment.soft.fbeta.{average}"], abs=1e-12)
    if t_norm == "product":
        loss = SoftFLoss(average=average, t_norm="product", eps=1e-7)(p, y)
        assert loss.item() == pytest.approx(scores[f"segment.soft.soft_f1_loss.{average}"], abs=1e-12)
    assert SoftFLoss(from_logits=True)(p, y) == SoftFLoss()(torch.sigmoid(p), y)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("eps", [0.0, 1e-7])
@pytest.mark.parametrize("value", [0.3, 0.0])
def test_a_batch_without_reference_teaches_nothing(average, eps, value):
    p = torch.full((2, 5, 3), value, requires_grad=True)
    loss = SoftFLoss(average=average, eps=eps)(p, torch.zeros(2, 5, 3))
    loss.backward()
    assert 0 <= loss.item() <= 1 and (p.grad == 0).all()


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_slopes_of_equal_values_and_of_absent_classes(average):
    """At p = y more of the system is only more false alarms; only micro learns from an absent class."""
    p, y = torch.full((20, 2), 0.5, requires_grad=True), torch.full((20, 2), 0.5)
    y[:, 1] = 0.0
    SoftFLoss(average=average, eps=0.0)(p, y).backward()
    assert (p.grad[:, 0] > 0).all() and torch.unique(p.grad[:, 0]).numel() == 1
    assert (p.grad[:, 1] > 0).all() if average == "micro" else (p.grad[:, 1] == 0).all()


def test_equal_values_have_one_slope():
    """At p = y more of the system is only more false alarms: a step down lowers nothing that is in common."""
    p, y = torch.full((20, 2), 0.5, requires_grad=True), torch.full((20, 2), 0.5)
    SoftFLoss(average="micro", eps=0.0)(p, y).backward()
    assert torch.allclose(p.grad, torch.tensor(1 / 40))


@pytest.mark.parametrize("target", [0.0, 1.0])
def test_numbers_that_are_none_are_seen(target):
    p = torch.full((2, 3), float("nan"))
    assert SoftFLoss()(p, torch.full((2, 3), target)).isnan()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_the_loss_has_the_type_of_the_output(dtype):
    p, y = (side.detach().to(dtype) for side in sides())
    loss = SoftFLoss()(p, y)
    assert loss.dtype == dtype
    assert loss.item() == pytest.approx(SoftFLoss()(*sides()).item(), abs=2e-2)


def test_the_loss_is_a_module_like_others():
    loss = SoftFLoss(average="micro", beta=2.0, from_logits=True)
    assert "average='micro', beta=2.0" in repr(loss)
    assert repr(copy.deepcopy(loss)) == repr(pickle.loads(pickle.dumps(loss))) == repr(loss)  # noqa: S301
    assert list(loss.parameters()) == []
    p, y = sides()
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    assert compiled(p, y).item() == loss(p, y).item()


@pytest.mark.parametrize(
    "given",
    [{"average": None}, {"average": "none"}, {"t_norm": "min"}, {"beta": 0}, {"beta": -1}, {"eps": -1e-9}],
)
def test_wrong_settings_are_refused(given):
    with pytest.raises(SettingsError, match=next(iter(given))):
        SoftFLoss(**given)
