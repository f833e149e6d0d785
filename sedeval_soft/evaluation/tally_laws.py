"""What a tally that is read must keep, so that no rate that is made of its counts lies outside its range.

The numbers of a tally file may come from anywhere. A TP above N_ref makes a recall above 1: counts are held
against those that bound them, for all files and classes at once.
"""

from __future__ import annotations

import numpy as np

from sedeval_soft.evaluation.shard import Shard
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import READINGS


def contradiction(shard: Shard) -> str | None:
    """Return what in a shard contradicts itself, as a sentence; None where nothing does.

    Its tallies must have the columns that its settings count.
    """
    for name, tally in [(None, shard.tally), *shard.groups.items()]:
        where = "" if name is None else f"group {name!r}: "
        strange = sorted({*tally.classes} - {*shard.tally.classes})
        if strange:
            return f"{where}class {strange[0]!r} is not in the whole"
        for basis, readings in READINGS.items():
            for reading in readings:
                broken = _broken(tally, f"{basis}.{reading}")
                if broken is not None:
                    return where + broken
    return None


def _broken(tally: Tally, prefix: str) -> str | None:
    """Return which count of a basis and reading is not within its limits, the first in the order of files."""
    if f"{prefix}.tp" not in tally.per_class:
        return None
    for name in PER_FILE:
        # Those of a file are unknown where too many soft events overlap.
        below = np.flatnonzero(np.asarray(tally.per_file[f"{prefix}.{name}"]) < 0)
        if len(below):
            return f"{prefix}.{name} in file {tally.files[below[0]]!r} is below 0"
    tp, n_ref, n_sys = (np.asarray(tally.per_class[f"{prefix}.{name}"]) for name in PER_CLASS)
    # No order of adding makes TP larger than what it is a part of: these are exact in floats, too.
    limits = [
        ("tp", tp, tp >= 0, "at least", 0 * tp),
        ("tp", tp, tp <= n_ref, "at most N_ref", n_ref),
        ("tp", tp, tp <= n_sys, "at most N_sys", n_sys),
    ]
    if f"{prefix}.beyond" in tally.per_class:
        beyond = np.asarray(tally.per_class[f"{prefix}.beyond"])
        n_cells = np.broadcast_to(tally.per_file[f"{prefix}.n_cells"][:, None], tp.shape)
        silent = n_cells - (n_ref + n_sys - tp - beyond)
        limits += [
            ("beyond", beyond, beyond >= 0, "at least", 0 * tp),
            ("beyond", beyond, beyond <= n_sys - tp, "at most N_sys - TP", n_sys - tp),
            ("true negatives", silent, silent >= 0, "at least", 0 * tp),
        ]
    for name, values, holds, says, limit in limits:
        broken = np.argwhere(~holds)
        if len(broken):
            file, label = broken[0]
            has, expected = (f"{each[file, label]:.12g}" for each in (values, limit))
            where = f"{prefix}.{name} of class {tally.classes[label]!r} in file {tally.files[file]!r}"
            return f"{where} is {has}; expected {says} {expected}"
    return None
