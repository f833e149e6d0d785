"""Soft F as a loss of PyTorch, and soft scores as metrics of torchmetrics.

- `SoftFLoss`: 1 - soft F, for training. Needs the extra `soft-sed-eval[torch]`.
- `sedeval_soft.torch.metrics`: `SoftPrecision`, `SoftRecall`, `SoftFBeta`, `SoftErrorRate` and
  `SoftKLDivergence`, which add up counts over batches and processes. Needs the extra
  `soft-sed-eval[torchmetrics]`.

As everywhere in PyTorch the output of a network comes first and the target second; in
`sedeval_soft.functional` and `sedeval_soft.evaluate` the reference comes first.
"""

try:
    import torch as _torch  # noqa: F401 - says early, and what to do, if it is not there
except ImportError as error:
    raise ImportError("sedeval_soft.torch needs PyTorch: pip install 'soft-sed-eval[torch]'") from error

from sedeval_soft.torch.loss import SoftFLoss

__all__ = ["SoftFLoss"]
