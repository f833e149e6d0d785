"""What settings with a few possible values can be."""

from __future__ import annotations

from typing import Literal, get_args

from sedeval_soft.core.criteria import PSDS

Pool = Literal["max", "mean"]
Matching = Literal["optimal", "greedy"]
EventForm = Literal["auto", "merge", "rows"]
Compat = Literal["sed_eval"]
TNorm = Literal["minimum", "product", "lukasiewicz"]
EntropyUnit = Literal["nats", "bits"]
Interval = Literal["bootstrap", "bca", "expanded", "jackknife"]

CHOICES: dict[str, tuple[str, ...]] = {
    "pool": get_args(Pool),
    "matching": get_args(Matching),
    "events": get_args(EventForm),
    "t_norm": get_args(TNorm),
    "entropy_unit": get_args(EntropyUnit),
}

OPTIONAL_CHOICES: dict[str, tuple[str, ...]] = {
    "compat": get_args(Compat),
    "psds": tuple(PSDS),
    "ci": get_args(Interval),
}
