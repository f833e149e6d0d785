"""Soft F as a loss of PyTorch, and soft scores as metrics of torchmetrics.

- `SoftFLoss`: 1 - soft F, for training. Needs the extra `torch`.
- `sedeval_soft.apps.training.torchmetrics`: `SoftPrecision`, `SoftRecall`, `SoftFBeta`, `SoftErrorRate` and
  `SoftKLDivergence`, which add up counts over batches and processes. Needs the extra
  `torchmetrics`.

As everywhere in PyTorch the output of a network comes first and the target second; in
`sedeval_soft.apps.training.functional` and `sedeval_soft.evaluate` the reference comes first.
"""

from __future__ import annotations

from sedeval_soft.errors import SettingsError, install_command

try:
    import torch
except ImportError as error:
    raise ImportError(
        f"sedeval_soft.apps.training.torch needs PyTorch: {install_command('torch')}"
    ) from error

from sedeval_soft.apps.training.arrays import Layout, in_type_of
from sedeval_soft.apps.training.functional import T_NORMS, score_of, soft_counts

__all__ = ["SoftFLoss"]

AVERAGES = ("micro", "macro", "weighted")


class SoftFLoss(torch.nn.Module):  # type: ignore[misc]  # untyped package
    """1 - soft F of a batch: (1 + b^2) TP / (b^2 N_ref + N_sys + eps) with TP = sum T(y, p).

    A batch is scored as one, all its recordings together: F of a batch is not the mean of F of its parts, so
    batches should be large enough for most classes. A class without reference in the batch has TP 0 for any
    prediction: `macro` and `weighted` leave it out, and only `micro` learns from its false alarms. A loss
    that sees every cell, such as cross entropy, beside this one teaches silence.

    average: `macro`, `micro` or `weighted`. beta: how many times recall counts more than precision.

    t_norm: `minimum`, whose best value is at p = y; `product`, which is smooth, and drives p to 0 and 1 where
        annotators are uncertain; or `lukasiewicz`.
    eps: added below. from_logits: whether the output of the network goes through a sigmoid first. Logits need
        it: without it their loss is meaningless, even negative. Values are not looked at, since a device
        would have to be waited for.
    class_axis: where the classes are, if not last.
    """

    def __init__(
        self,
        *,
        average: str = "macro",
        beta: float = 1.0,
        t_norm: str = "minimum",
        eps: float = 1e-7,
        from_logits: bool = False,
        class_axis: int = -1,
    ) -> None:
        super().__init__()
        if average not in AVERAGES:
            raise SettingsError(f"average {average!r}: expected one of {', '.join(AVERAGES)}")
        if t_norm not in T_NORMS:
            raise SettingsError(f"t_norm {t_norm!r}: expected one of {', '.join(T_NORMS)}")
        if not (0 < beta < float("inf") and 0 <= eps < float("inf")):
            raise SettingsError(f"beta {beta!r}, eps {eps!r}: expected beta above 0 and eps of at least 0")
        self.average, self.beta, self.t_norm, self.eps = average, beta, t_norm, eps
        self.from_logits, self.class_axis = from_logits, class_axis

    def forward(
        self,
        input: torch.Tensor,  # noqa: A002 - as the losses of PyTorch call it
        target: torch.Tensor,
        mask: torch.Tensor | None = None,
        weights: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the loss, a scalar in [0, 1]; 0 where F is undefined: nothing can be learned there.

        input: probabilities, or logits with `from_logits`, (..., n_segments, n_classes). target: the soft
        reference, of that shape. mask: True for cells, or segments, that count; values of padding do not
        matter. weights: the weight of each segment.
        """
        system = torch.sigmoid(input) if self.from_logits else input
        layout: Layout = {"mask": mask, "weights": weights, "class_axis": self.class_axis}
        counts = soft_counts(target, system, t_norm=self.t_norm, errors=False, **layout)
        score = score_of(counts, "fbeta", average=self.average, beta=self.beta, eps=self.eps)
        # NaN in the input must stay seen: only where there is no reference F is undefined.
        nothing = (counts.n_ref.sum() == 0) & ~torch.isnan(counts.n_sys.sum()) & torch.isnan(score)
        loss = torch.where(nothing, torch.zeros_like(score), 1.0 - score)
        return in_type_of((target, system), loss)

    def extra_repr(self) -> str:
        """Return the settings, as `print(model)` shows them."""
        return (
            f"average={self.average!r}, beta={self.beta}, t_norm={self.t_norm!r}, eps={self.eps}, "
            f"from_logits={self.from_logits}, class_axis={self.class_axis}"
        )
