"""Means over all ways to put the values of a system beside those of a reference: closed forms.

Where every segment of the system is as likely to stand beside any segment of the reference, the mean of a
sum over segments is the sum over all pairs of segments, divided by the number of segments. What a class has
in all, N_ref and N_sys, does not depend on the order: so every score that is linear in TP has a closed form.
Arrays: (n_classes, n_segments).
"""

from __future__ import annotations

import numpy as np

from sedeval_soft.fields import TNorm
from sedeval_soft.measures.base import Floats

_TINY = float(np.finfo(np.float64).tiny)


def expected_common(reference: Floats, system: Floats, t_norm: TNorm) -> Floats:
    """Return the mean of sum T(y, p) of each class, (n_classes,)."""
    n = reference.shape[1]
    if not n:
        return np.zeros(len(reference))
    if t_norm == "product":
        return np.asarray(reference.sum(axis=1) * system.sum(axis=1) / n)
    if t_norm == "lukasiewicz":
        # max(0, y + p - 1) = y - min(y, 1 - p)
        return np.asarray(reference.sum(axis=1) - _minima(reference, 1.0 - system) / n)
    return np.asarray(_minima(reference, system) / n)


def _minima(reference: Floats, system: Floats) -> Floats:
    """Return the sum of min(y, p) over all pairs, (n_classes,)."""
    found = np.empty(len(reference))
    for k, (y, p) in enumerate(zip(reference, system, strict=True)):
        ordered = np.sort(p)
        below = np.searchsorted(ordered, y)
        total = np.concatenate(([0.0], np.cumsum(ordered)))
        found[k] = (total[below] + y * (len(p) - below)).sum()
    return found


def expected_kl(reference: Floats, system: Floats, eps: float) -> Floats:
    """Return the mean of the sum of Kullback-Leibler divergences of each class, (n_classes,), in nats."""
    n = reference.shape[1]
    if not n:
        return np.zeros(len(reference))
    own = np.zeros(len(reference))
    for of in (reference, 1.0 - reference):
        own += (of * np.log(np.maximum(of, _TINY))).sum(axis=1)
    inside = np.clip(system, eps, 1.0 - eps)
    crossed = reference.sum(axis=1) * np.log(inside).sum(axis=1)
    crossed += (1.0 - reference).sum(axis=1) * np.log(1.0 - inside).sum(axis=1)
    return np.asarray(own - crossed / n)
