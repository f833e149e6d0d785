"""The best threshold among those that satisfy a constraint, exact over all of them.

A threshold for which nothing is detected is one of them: it has no precision, and so reaches none. Where no
threshold satisfies the constraint, what comes nearest to it is told, and nothing is best. sed_scores_eval
answers with a precision of 1 at F = 0, and takes constraints of its best error rate the wrong way round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.ticks import TICKS_PER_SECOND
from sedeval_soft.measures.averages import Averaged, ratio
from sedeval_soft.measures.candidates import Candidates
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.settings import AT_LEAST, Constraint

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_TICKS_PER_HOUR = 3600.0 * TICKS_PER_SECOND

_AT_ONCE = 1 << 18
"""Numbers in an array that is made for some weights."""

NAMES = ("threshold", "constraint", "f", "precision", "recall")
"""What is told of the best threshold: it, the constrained measure there, and F, precision and recall."""


@dataclass(frozen=True, slots=True)
class _Counts:
    """Counts of weighted files at candidates, (n_weights, n_candidates), and what all share, (n_weights, 1).

    paired: TP, or pairs whatever their class. length: of the recordings in ticks, as whole as counts are:
    hours would be rounded, and a rate that is just at its limit be above it.
    """

    tp: Floats
    n_sys: Floats
    paired: Floats
    n_ref: Floats
    length: Floats
    beta: float


_VALUE: Mapping[str, Callable[[_Counts], Floats]] = {
    "f": lambda of: f_beta(of.tp, of.n_ref, of.n_sys, of.beta),
    "precision": lambda of: ratio(of.tp, of.n_sys),
    "recall": lambda of: ratio(of.tp, of.n_ref),
    "fpr_per_hour": lambda of: ratio((of.n_sys - of.tp) * _TICKS_PER_HOUR, of.length),
    "substitution_rate": lambda of: ratio(of.paired - of.tp, of.n_ref),
    "deletion_rate": lambda of: ratio(of.n_ref - of.paired, of.n_ref),
    "insertion_rate": lambda of: ratio(of.n_sys - of.paired, of.n_ref),
    "error_rate": lambda of: ratio(of.n_ref + of.n_sys - of.paired - of.tp, of.n_ref),
}
"""S = M - TP, D = N_ref - M and I = N_sys - M, as everywhere; of one class M is TP."""


def satisficed_scores(
    classes: Sequence[Candidates],
    pooled: Candidates,
    weights: Floats,
    length: Index,
    constraint: Constraint,
    beta: float,
    *,
    inclusive: bool,
) -> dict[str, Averaged]:
    """Return what is told of the best threshold of each class, and of the best one for all, by name.

    classes: the candidates of each class. pooled: those of all classes as one, with what is `paired` where
    the constraint needs it. weights: (n_weights, n_files). length: (n_files,) of the recordings in ticks.
    """
    how = constraint, beta, inclusive
    found = [_satisficed(own, weights, length, *how) for own in (*classes, pooled)]
    *of_classes, overall = found
    none = np.zeros((len(weights), 0))
    return {
        f"satisficed_{name}": Averaged(
            np.stack([of[name] for of in of_classes], axis=1) if of_classes else none, overall=overall[name]
        )
        for name in NAMES
    }


def _satisficed(
    own: Candidates, weights: Floats, length: Index, constraint: Constraint, beta: float, inclusive: bool
) -> dict[str, Floats]:
    rows = max(1, _AT_ONCE // max(len(own.value), len(own.n_sys.file), 1))
    parts = [
        _best(own, weights[begin : begin + rows], length, constraint, beta)
        for begin in range(0, len(weights), rows)
    ]
    at, feasible, *values = (np.concatenate(column) for column in zip(*parts, strict=True))
    threshold = own.thresholds(weights, at, inclusive=inclusive)
    value, *reached = values
    return dict(
        zip(NAMES, (threshold, value, *(np.where(feasible, of, np.nan) for of in reached)), strict=True)
    )


def _best(
    own: Candidates, weights: Floats, length: Index, constraint: Constraint, beta: float
) -> tuple[npt.NDArray[Any], ...]:
    """Return the best candidates, and what they reach, (n_weights,) each.

    These are their positions, -1 without reference; whether they satisfy the constraint; and the constrained
    measure, F, precision and recall there.
    """
    n_ref = (weights @ own.n_ref)[:, None]
    tp, n_sys = own.tp.weighted(weights), own.n_sys.weighted(weights)
    paired = tp if own.paired is None else own.paired.weighted(weights)
    counts = _Counts(tp, n_sys, paired, n_ref, (weights @ length)[:, None], beta)
    value, goal = _VALUE[constraint.measure](counts), _VALUE[constraint.best](counts)
    at_least = constraint.measure in AT_LEAST
    holds = value >= constraint.number if at_least else value <= constraint.number
    feasible = np.any(holds, axis=1)
    # What has no value cannot be nearest, and is not best.
    near = np.where(np.isnan(value), -np.inf, value if at_least else -value)
    merit = np.where(holds & ~np.isnan(goal), -goal if constraint.best == "error_rate" else goal, -np.inf)
    row = np.arange(len(weights))
    at = np.where(feasible, np.argmax(merit, axis=1), np.argmax(near, axis=1))
    reached = (_VALUE[name](counts)[row, at] for name in ("f", "precision", "recall"))
    present = (n_ref > 0)[:, 0]
    shown = (np.where(present, of, np.nan) for of in (value[row, at], *reached))
    return np.where(present, at, -1), feasible, *shown
