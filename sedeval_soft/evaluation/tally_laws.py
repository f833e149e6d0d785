"""What a tally that is read must keep, so that no rate that is made of its counts lies outside its range.

The numbers of a tally file may come from anywhere. A TP above N_ref makes a recall above 1: counts are held
against those that bound them, for all files and classes at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Array
from sedeval_soft.evaluation.shard import Shard
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import READINGS

ROUNDING = 1e-9
"""How far two float sums of the same n numbers may differ, relative to what was summed.

An order of adding them is off by n rounding errors of 1.1e-16 at most: this is enough for nine million.
"""


class Law(NamedTuple):
    """What is true of a column: its values lie in a range.

    values, least, most: (n_files, n_classes) or (n_files,). expected: the limit in words. slack: how far
    beyond it rounding may carry a value. unless: where the law need not hold.
    """

    column: str
    values: Array
    least: Array | float
    most: Array | float
    expected: str
    slack: Array | float = 0.0
    unless: Array | bool = False

    def broken(self) -> Array:
        """Return where it does not hold."""
        inside = (self.values >= self.least - self.slack) & (self.values <= self.most + self.slack)
        broken: Array = ~(inside & np.isfinite(self.values) | self.unless)
        return broken


def contradiction(shard: Shard) -> str | None:
    """Return what in a shard contradicts a law, as a sentence; None where all are kept.

    Its tallies must have the columns that its settings count.
    """
    for name, tally in [(None, shard.tally), *shard.groups.items()]:
        where = "" if name is None else f"group {name!r}: "
        strange = sorted({*tally.classes} - {*shard.tally.classes})
        if strange:
            return f"{where}class {strange[0]!r} is not in the whole"
        with np.errstate(invalid="ignore", over="ignore"):
            for law in _laws({**tally.per_class, **tally.per_file}):
                broken = law.broken()
                if broken.any():
                    return where + _sentence(law, broken, tally)
    return None


def _sentence(law: Law, broken: Array, tally: Tally) -> str:
    """Say where a law is first broken, in the order of files."""
    at = tuple(int(i) for i in np.argwhere(broken)[0])
    value, least, most = (
        np.broadcast_to(each, broken.shape)[at].item() for each in (law.values, law.least, law.most)
    )
    of_class = f" of class {tally.classes[at[1]]!r}" if len(at) > 1 else ""
    has, limit = (f"{number:.12g}" for number in (value, least if least > -np.inf else most))
    where = f"{law.column}{of_class} in file {tally.files[at[0]]!r}"
    return f"{where} is {has}; expected {law.expected} {limit}"


def _laws(columns: Mapping[str, Array]) -> Iterator[Law]:
    """Yield the laws of all bases and readings that a tally has counts of."""
    for prefix in (f"{basis}.{reading}" for basis, readings in READINGS.items() for reading in readings):
        if f"{prefix}.tp" not in columns:
            continue
        counts = {name: np.asarray(columns[f"{prefix}.{name}"]) for name in (*PER_CLASS, *PER_FILE)}
        tp, n_ref, n_sys, substitutions, *rest = counts.values()
        # Those of a file are all unknown where too many soft events overlap.
        unknown = np.isnan([counts[name] for name in PER_FILE]).all(axis=0) & (prefix == "event.soft")
        for name, values in counts.items():
            unless = unknown if name in PER_FILE else False
            yield Law(f"{prefix}.{name}", values, 0, np.inf, "at least", 0.0, unless)
        # No order of adding makes TP larger than what it is a part of: these are exact in floats, too.
        for says, whole in (("N_ref", n_ref), ("N_sys", n_sys)):
            yield Law(f"{prefix}.tp", tp, -np.inf, whole, f"at most {says}")
        size = ROUNDING * (n_ref + n_sys).sum(axis=1)
        for name, values, says, whole in zip(
            PER_FILE[1:], rest, ("N_ref", "N_sys"), (n_ref, n_sys), strict=True
        ):
            left = (whole - tp).sum(axis=1) - substitutions
            expected = f"the sum over classes of {says} - TP, less the substitutions,"
            yield Law(f"{prefix}.{name}", values, left, left, expected, size, unknown)
        if f"{prefix}.beyond" in columns:
            n_cells, beyond = (np.asarray(columns[f"{prefix}.{name}"]) for name in ("n_cells", "beyond"))
            yield Law(f"{prefix}.beyond", beyond, 0, n_sys - tp, "at least 0 and not above the false alarms:")
            silent = n_cells[:, None] - (n_ref + n_sys - tp - beyond)
            yield Law(f"{prefix}.true negatives", silent, 0, np.inf, "at least")
