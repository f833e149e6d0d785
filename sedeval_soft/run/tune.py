"""Thresholds that are best on some data, to be used on other data."""

from __future__ import annotations

import numpy as np

from sedeval_soft.core.tally import Tally
from sedeval_soft.measures.averages import ratio
from sedeval_soft.measures.candidates import Best
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.run.candidates import candidates_of
from sedeval_soft.run.tuned import merit_of
from sedeval_soft.settings import Settings, TunedClass, Tuning


def tune(tally: Tally, settings: Settings) -> Tuning:
    """Return the best threshold of each class, for the objective that the settings name.

    A class without reference has none.
    """
    objective = settings.objective or "segment.f1"
    basis, merit = merit_of(objective, settings.beta)
    candidates = candidates_of(tally, basis, settings, with_nothing=True, together=True)
    every, classes = np.ones((1, 1)), {}
    for label, own in zip(tally.classes, candidates, strict=True):
        best = own.best(every, [merit])[0]
        if best.at[0] < 0:
            classes[label] = TunedClass(None, None, None, None, 0)
            continue
        threshold = float(own.thresholds(every, best.at, inclusive=settings.inclusive)[0])
        low, high = own.plateau(every, best.at[0], merit)
        classes[label] = TunedClass(
            threshold, _score(best, objective, settings.beta), low, high, int(best.n_ref[0])
        )
    return Tuning(objective, settings.beta, settings.inclusive, classes)


def _score(best: Best, objective: str, beta: float) -> float:
    tp, n_sys, n_ref = best.tp[0], best.n_sys[0], best.n_ref[0]
    f = objective.endswith(".f1")
    return float(f_beta(tp, n_ref, n_sys, beta) if f else ratio(n_ref + n_sys - 2 * tp, n_ref))
