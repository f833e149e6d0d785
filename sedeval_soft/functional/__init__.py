"""Soft scores of arrays of any library that speaks the Python array API: for training and on devices.

NumPy, PyTorch, JAX (and CuPy) arrays go in, and what comes out is of the same kind, dtype and device; in
PyTorch and JAX it can be differentiated, and compiled. The numbers are those of `sedeval_soft.evaluate` on
the same arrays; what that leaves undefined (None) is NaN here, with a gradient of 0.

- `soft_precision`, `soft_recall`, `soft_f1`, `soft_fbeta`, `soft_error_rate`: fuzzy sets, as `segment.soft`.
- `product_soft_f1`: F of the product T-norm with eps below, 1 - `segment.soft.soft_f1_loss`.
- `kl_divergence`: as `segment.soft.kl_divergence`.
- `soft_counts`, `divergence_sums`: what these are made of; they add up over batches, rates do not.
- `score_of`: a score from such counts.

Nothing looks at values, so that all of it can be compiled: values outside of [0, 1] give numbers without
meaning. Needs array-api-compat: the extra `soft-sed-eval[functional]`.
"""

from sedeval_soft.functional.scores import (
    DivergenceSums,
    SoftCounts,
    divergence_sums,
    kl_divergence,
    product_soft_f1,
    score_of,
    soft_counts,
    soft_error_rate,
    soft_f1,
    soft_fbeta,
    soft_precision,
    soft_recall,
)

__all__ = [
    "DivergenceSums",
    "SoftCounts",
    "divergence_sums",
    "kl_divergence",
    "product_soft_f1",
    "score_of",
    "soft_counts",
    "soft_error_rate",
    "soft_f1",
    "soft_fbeta",
    "soft_precision",
    "soft_recall",
]
