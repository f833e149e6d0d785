"""Soft scores as metrics of torchmetrics: counts of batches and processes add up, rates never do.

Counts are kept in double precision, so that long epochs lose nothing: the scores equal the scores of all
batches at once, for any split. On devices without double precision (MPS) call
`metric.set_dtype(torch.float32)` first.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import torch

from sedeval_soft.apps.training.functional import (
    AVERAGES,
    T_NORMS,
    DivergenceSums,
    SoftCounts,
    divergence_sums,
    score_of,
    soft_counts,
)
from sedeval_soft.errors import SettingsError, counted, install_command

try:
    import torchmetrics
except ImportError as error:
    raise ImportError(
        f"sedeval_soft.apps.training.torchmetrics needs torchmetrics: {install_command('torchmetrics')}"
    ) from error

__all__ = ["SoftErrorRate", "SoftFBeta", "SoftKLDivergence", "SoftPrecision", "SoftRecall"]


class _Added(torchmetrics.Metric):  # type: ignore[misc]  # untyped package
    """A score of counts that add up.

    num_classes: how many there are. average: `macro`, `micro`, `weighted`, or None for the values of classes.
    from_logits: whether predictions go through a sigmoid first. class_axis: where the classes are.
    how: what shapes the counts. It ends the names of states: collections share the counts of metrics whose
        states have the same names and, after one batch, the same values.
    kwargs: as of all metrics of torchmetrics (`dist_sync_on_step`, `sync_on_compute` ...).
    """

    is_differentiable = True
    full_state_update = False
    higher_is_better = True
    plot_lower_bound = 0.0
    plot_upper_bound: float | None = 1.0
    measure: ClassVar[str]
    count: ClassVar[Any] = staticmethod(soft_counts)
    statistics: ClassVar[Any] = SoftCounts
    counted: ClassVar[tuple[str, ...]] = ("tp", "n_ref", "n_sys")
    beta, eps = 1.0, 0.0

    def __init__(
        self,
        num_classes: int,
        *,
        average: str | None = "macro",
        from_logits: bool = False,
        class_axis: int = -1,
        how: dict[str, Any],
        **kwargs: Any,  # noqa: ANN401 - torchmetrics' own
    ) -> None:
        super().__init__(**kwargs)
        self.how, self.setup = how, "".join("_" + re.sub(r"\W", "_", str(value)) for value in how.values())
        if average not in AVERAGES:
            raise SettingsError(f"average {average!r}: expected micro, macro, weighted or None")
        if not isinstance(num_classes, int) or num_classes < 1:
            raise SettingsError(f"num_classes {num_classes!r}: expected a whole number above 0")
        self.num_classes, self.average = num_classes, average
        self.from_logits, self.class_axis = from_logits, class_axis
        for name in self.counted:
            shape = () if name in {"substitutions", "deletions", "insertions"} else (num_classes,)
            zeros = torch.zeros(shape, dtype=torch.float64)
            self.add_state(f"{name}{self.setup}", default=zeros, dist_reduce_fx="sum")

    def update(
        self,
        preds: torch.Tensor,
        target: torch.Tensor,
        mask: torch.Tensor | None = None,
        weights: torch.Tensor | None = None,
    ) -> None:
        """Count a batch: predictions and soft references, (..., n_segments, n_classes) each.

        mask: True for cells, or segments, that count. weights: the weight of each segment.
        """
        precision = getattr(self, f"n_ref{self.setup}").dtype
        system = torch.sigmoid(preds.to(precision)) if self.from_logits else preds.to(precision)
        layout = {"mask": mask, "weights": weights, "class_axis": self.class_axis}
        counts = self.count(target.to(precision), system, **self.how, **layout)
        n_classes = counts.n_ref.shape[-1]
        if n_classes != self.num_classes:
            raise SettingsError(
                f"{counted(n_classes, 'class')} along axis {self.class_axis}; expected {self.num_classes}"
            )
        for name in self.counted:
            state = f"{name}{self.setup}"
            setattr(self, state, getattr(self, state) + getattr(counts, name))

    def compute(self) -> torch.Tensor:
        """Return the score of all batches; NaN where undefined."""
        counts = self.statistics(*(getattr(self, f"{name}{self.setup}") for name in self.counted))
        score: torch.Tensor = score_of(
            counts, self.measure, average=self.average, beta=self.beta, eps=self.eps
        )
        return score


class _Fuzzy(_Added):
    """A score of fuzzy sets. t_norm: what both sides have in common."""

    def __init__(self, num_classes: int, *, t_norm: str = "minimum", **kwargs: Any) -> None:  # noqa: ANN401
        if t_norm not in T_NORMS:
            raise SettingsError(f"t_norm {t_norm!r}: expected one of {', '.join(T_NORMS)}")
        how = {"t_norm": t_norm, "errors": "substitutions" in self.counted}
        super().__init__(num_classes, how=how, **kwargs)
        self.t_norm = t_norm


class SoftPrecision(_Fuzzy):
    """Sum of T(y, p) per sum of p, as `segment.soft.precision`."""

    measure = "precision"


class SoftRecall(_Fuzzy):
    """Sum of T(y, p) per sum of y, as `segment.soft.recall`."""

    measure = "recall"


class SoftFBeta(_Fuzzy):
    """(1 + b^2) TP / (b^2 N_ref + N_sys + eps), as `segment.soft.fbeta`; F1 with beta 1.

    With t_norm `product` and eps 1e-7 it is 1 - `segment.soft.soft_f1_loss`.
    """

    measure = "fbeta"

    def __init__(self, num_classes: int, *, beta: float = 1.0, eps: float = 0.0, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(num_classes, **kwargs)
        self.beta, self.eps = beta, eps


class SoftErrorRate(_Fuzzy):
    """(S + D + I) / N_ref, as `segment.soft.error_rate`; its micro average knows substitutions."""

    higher_is_better = False
    plot_upper_bound = None
    measure = "error_rate"
    counted = SoftCounts._fields

    def __init__(self, num_classes: int, *, average: str | None = "micro", **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(num_classes, average=average, **kwargs)


class SoftKLDivergence(_Added):
    """Mean divergence of the predictions from the reference in nats, as `segment.soft.kl_divergence`."""

    higher_is_better = False
    plot_upper_bound = None
    measure = "kl_divergence"
    count = staticmethod(divergence_sums)
    statistics = DivergenceSums
    counted = DivergenceSums._fields

    def __init__(
        self,
        num_classes: int,
        *,
        eps: float = 1e-7,
        average: str | None = "micro",
        **kwargs: Any,  # noqa: ANN401 - see _Added
    ) -> None:
        super().__init__(num_classes, average=average, how={"eps": eps}, **kwargs)
        self.eps = eps
