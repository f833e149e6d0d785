"""The loss, 1 - soft F; torchmetrics, whose batches score like one pass; and the page about both."""

import copy
import pickle

import numpy as np
import pytest
from documents import ROOT, blocks, script
from libraries import evaluated, expected, soft_labels

from sedeval_soft import SettingsError

torch = pytest.importorskip("torch")
SoftFLoss = pytest.importorskip("sedeval_soft.apps.training.torch").SoftFLoss
torchmetrics = pytest.importorskip("torchmetrics")
metrics = pytest.importorskip("sedeval_soft.apps.training.torchmetrics")

pytestmark = pytest.mark.filterwarnings("ignore")
KINDS = {
    "precision": metrics.SoftPrecision,
    "recall": metrics.SoftRecall,
    "f1": metrics.SoftFBeta,
    "fbeta": lambda n, **given: metrics.SoftFBeta(n, beta=2.0, **given),
    "soft_f1_loss": lambda n, **given: metrics.SoftFBeta(n, t_norm="product", eps=1e-7, **given),
    "error_rate": metrics.SoftErrorRate,
    "kl_divergence": metrics.SoftKLDivergence,
}
Y, P = soft_labels(0, (12, 30, 5))


def told(measure, average, y=Y, p=P, **how):
    value = expected(evaluated(y, p, beta=2.0, **how), measure, average)
    return 1.0 - value if measure == "soft_f1_loss" else value


@pytest.mark.parametrize("average", ["micro", "macro", "weighted", None])
@pytest.mark.parametrize("measure", KINDS)
@pytest.mark.parametrize("sizes", [[1] * 12, [3, 3, 6]])
def test_batches_give_the_scores_of_one_pass(measure, average, sizes):
    metric = KINDS[measure](5, average=average)
    for y, p in zip(*(torch.split(torch.tensor(side), sizes) for side in (Y, P)), strict=True):
        metric.update(p.float(), y.float())
    assert metric.compute().dtype == torch.float64
    np.testing.assert_allclose(metric.compute(), told(measure, average), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("measure", KINDS)
def test_metrics_of_parts_merge_and_reset_forgets(measure):
    whole, *others = metrics_of = [KINDS[measure](5) for _ in range(3)]
    average = "micro" if measure in {"error_rate", "kl_divergence"} else "macro"
    for i, metric in enumerate(metrics_of):
        of_batch = metric(torch.tensor(P[i::3]), torch.tensor(Y[i::3]))
        assert of_batch == pytest.approx(told(measure, average, Y[i::3], P[i::3]), rel=1e-12, abs=1e-12)
    for other in others:
        whole.merge_state(other)
    np.testing.assert_allclose(whole.compute(), told(measure, average), rtol=1e-12, atol=1e-12)
    whole.reset()
    whole.update(torch.tensor(P[2::3]), torch.tensor(Y[2::3]))
    assert whole.compute() == of_batch


def test_logits_masks_weights_and_class_axis():
    rng, (p, y) = np.random.default_rng(1), map(torch.tensor, (P, Y))
    mask, logits = rng.random((12, 30)) < 0.7, rng.normal(size=Y.shape)
    kept = Y[mask], 1 / (1 + np.exp(-logits[mask]))
    metric, weighted = metrics.SoftErrorRate(5, from_logits=True, class_axis=1), metrics.SoftKLDivergence(5)
    metric.update(torch.tensor(logits).transpose(1, 2), y.transpose(1, 2), mask=torch.tensor(mask))
    weighted.update(p, y, weights=torch.tensor(mask).double())
    assert metric.compute() == pytest.approx(told("error_rate", "micro", *kept), rel=1e-12)
    assert weighted.compute() == pytest.approx(told("kl_divergence", "micro", Y[mask], P[mask]), rel=1e-9)


def test_collections_share_counts_only_where_these_are_the_same():
    """All T-norms have the same counts for hard labels: the first batch must not decide for the others."""
    made = {
        "precision": metrics.SoftPrecision(5),
        "f1": metrics.SoftFBeta(5),
        "product": metrics.SoftFBeta(5, t_norm="product"),
        "divergence": metrics.SoftKLDivergence(5),
        "coarse": metrics.SoftKLDivergence(5, eps=0.1),
    }
    together, alone = torchmetrics.MetricCollection(made), copy.deepcopy(made)
    # The first batch has no clipped values, and no reference between 0 and 1.
    for sides in ((np.full_like(Y, 0.5), np.round(Y)), (P, Y)):
        for metric in (together, *alone.values()):
            metric.update(*map(torch.tensor, sides))
    assert together.compute() == {name: metric.compute() for name, metric in alone.items()}
    assert {"precision", "f1"} in [set(group) for group in together.compute_groups.values()]


def test_counts_stay_in_double_precision_unless_asked():
    metric, single = metrics.SoftFBeta(2).half().float(), metrics.SoftFBeta(2)
    single.set_dtype(torch.float32)
    for each, dtype in ((metric, torch.float64), (single, torch.float32)):
        each.update(torch.rand(3, 10, 2).half(), torch.rand(3, 10, 2).half())
        assert each.compute().dtype == dtype


# The loss.


SIDES = torch.tensor(P), torch.tensor(Y)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("t_norm", ["minimum", "product", "lukasiewicz"])
def test_the_loss_is_what_f_lacks_to_1(average, t_norm):
    p, y = SIDES
    loss = SoftFLoss(average=average, t_norm=t_norm, beta=2.0, eps=0.0, class_axis=1)
    turned = loss(p.transpose(1, 2), y.transpose(1, 2), weights=torch.ones(12, 30))
    assert turned.item() == pytest.approx(1 - told("fbeta", average, t_norm=t_norm), abs=1e-12)
    with_eps = SoftFLoss(average=average, t_norm="product", eps=1e-7)(p, y)
    assert 1 - with_eps.item() == pytest.approx(told("soft_f1_loss", average), abs=1e-12)
    assert SoftFLoss(from_logits=True)(p, y) == SoftFLoss()(torch.sigmoid(p), y)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("eps", [0.0, 1e-7])
@pytest.mark.parametrize("value", [0.3, 0.0])
def test_a_batch_without_reference_teaches_nothing(average, eps, value):
    p = torch.full((2, 5, 3), value, requires_grad=True)
    loss = SoftFLoss(average=average, eps=eps)(p, torch.zeros(2, 5, 3))
    loss.backward()
    assert 0 <= loss.item() <= 1 and (p.grad == 0).all()


@pytest.mark.parametrize(
    ("average", "slope", "absent"),
    [("micro", 1 / 45, 1 / 45), ("macro", 1 / 20, 0.0), ("weighted", 1 / 20, 0.0)],
)
def test_slopes_of_equal_values_and_of_absent_classes(average, slope, absent):
    """At p = y, a higher output only adds false alarms; only micro learns from an absent class."""
    p, y = torch.full((20, 2), 0.5, requires_grad=True), torch.full((20, 2), 0.5)
    y[:, 1] = 0.0
    SoftFLoss(average=average, eps=0.0)(p, y).backward()
    np.testing.assert_allclose(p.grad, np.tile([slope, absent], (20, 1)), rtol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_the_loss_has_the_type_of_the_output_and_shows_nan(dtype):
    p, y = (side.to(dtype) for side in SIDES)
    loss = SoftFLoss()(p, y)
    assert (loss.dtype, loss.item()) == (dtype, pytest.approx(SoftFLoss()(*SIDES).item(), abs=2e-2))
    assert SoftFLoss()(p * float("nan"), y).isnan()


def test_the_loss_is_a_module_like_others():
    loss = SoftFLoss(average="micro", beta=2.0, from_logits=True)
    assert "average='micro', beta=2.0" in repr(loss) and list(loss.parameters()) == []
    assert repr(copy.deepcopy(loss)) == repr(pickle.loads(pickle.dumps(loss))) == repr(loss)  # noqa: S301
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    assert compiled(*SIDES).item() == loss(*SIDES).item()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: metrics.SoftFBeta(0), "num_classes 0"),
        (lambda: metrics.SoftFBeta(5, average="none"), "average 'none'"),
        (lambda: metrics.SoftFBeta(5, t_norm="min"), "t_norm 'min'"),
        (lambda: metrics.SoftFBeta(4).update(torch.tensor(P), torch.tensor(Y)), "5 classes along axis -1"),
        (lambda: metrics.SoftFBeta(5).update(torch.tensor(P[:3]), torch.tensor(Y)), "shape"),
        (lambda: SoftFLoss(average=None), "average"),
        (lambda: SoftFLoss(average="none"), "average"),
        (lambda: SoftFLoss(t_norm="min"), "t_norm"),
        (lambda: SoftFLoss(beta=0), "beta"),
        (lambda: SoftFLoss(beta=-1), "beta"),
        (lambda: SoftFLoss(eps=-1e-9), "eps"),
    ],
)
def test_wrong_calls_are_refused(call, said):
    with pytest.raises(SettingsError, match=said):
        call()


# The page about training, and its example.


def test_the_example_with_lightning_learns():
    pytest.importorskip("lightning")
    before, after = script("examples/train_with_lightning").main()
    assert before["f1_macro"] < 0.6 and min(after["f1_macro"], after["f1_micro"]) > 0.9
    assert after["error_rate"] < 0.2 < before["error_rate"]
    assert after["divergence"] < before["divergence"] / 10


def test_the_python_of_the_page_runs():
    pytest.importorskip("jax")
    # Later blocks use results of earlier ones, as for a reader who runs all of them.
    code = blocks((ROOT / "docs/guides/training.md").read_text(encoding="utf-8"), "py(?:thon)?")
    assert code
    exec(compile("\n".join(code), "docs/guides/training.md", "exec"), {})  # noqa: S102 - our own document
