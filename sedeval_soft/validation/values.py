"""Values that can be scored but look like something else: decisions, a constant, rounding."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.codes import problem
from sedeval_soft.validation.found import Log
from sedeval_soft.validation.tables import Table

_FEW = 10
"""Fewer values than this may be alike by chance."""

_SAMPLE = 1000


def check_values(table: Table, log: Log) -> None:
    """Note values that are all 0 or 1, all alike, or were rounded into [0, 1]."""
    rows = table.rows
    log.add(*(problem("value-rounded", table.name, note) for note in rows.origin.notes))
    columns = rows.values
    number = sum(map(len, columns))
    if not number:
        return
    column = None if rows.is_wide else table.column("soft_value")
    header = table.sniffed.skip or None
    if all(_is_hard(values) for values in columns):
        said = "the only value is" if number == 1 else f"all {number} values are"
        message = f"{said} 0 or 1; soft scores are between them"
        log.add(problem("values-all-hard", table.name, message, header, column))
    elif number >= _FEW and all(_is_constant(values, columns[0][0]) for values in columns):
        message = f"all {number} values are {columns[0][0]:.6g}"
        log.add(problem("values-all-equal", table.name, message, header, column))


def _is_constant(values: npt.NDArray[np.float64], value: float) -> bool:
    return bool((values[:_SAMPLE] == value).all()) and bool((values == value).all())


def _is_hard(values: npt.NDArray[np.float64]) -> bool:
    """Answer from the first values where that is enough."""
    return all(bool(((part == 0) | (part == 1)).all()) for part in (values[:_SAMPLE], values))
