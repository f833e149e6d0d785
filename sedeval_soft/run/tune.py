"""Thresholds that are best on some data, to be used on other data."""

from __future__ import annotations

import numpy as np

from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally
from sedeval_soft.core.tuning import TunedClass, Tuning
from sedeval_soft.measures.candidates import Best, error_merit, f_merit
from sedeval_soft.run.retuned import candidates_of


def tune(tally: Tally, settings: Settings) -> Tuning:
    """Return the best threshold of each class, for the objective that the settings name.

    A class without reference has none.
    """
    objective = settings.objective or "segment.f1"
    basis, _, measure = objective.partition(".")
    merit = f_merit(settings.beta) if measure == "f1" else error_merit
    every = np.ones((1, len(tally.files)))
    classes = {}
    for label, own in zip(
        tally.classes, candidates_of(tally, basis, settings, with_nothing=True), strict=True
    ):
        best = own.best(every, [merit])[0]
        if best.at[0] < 0:
            classes[label] = TunedClass(None, None, None, None, 0)
            continue
        threshold = float(own.thresholds(every, best.at, inclusive=settings.inclusive)[0])
        low, high = own.plateau(every, best.at[0], merit)
        classes[label] = TunedClass(threshold, _score(best, measure, settings), low, high, int(best.n_ref[0]))
    return Tuning(objective, settings.beta, settings.inclusive, classes)


def _score(best: Best, measure: str, settings: Settings) -> float:
    tp, n_sys, n_ref = (float(of[0]) for of in (best.tp, best.n_sys, best.n_ref))
    if measure == "error_rate":
        return (n_ref + n_sys - 2 * tp) / n_ref
    square = settings.beta * settings.beta
    return (1.0 + square) * tp / (square * n_ref + n_sys)
