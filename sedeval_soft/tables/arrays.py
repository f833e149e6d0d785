"""Arrays of any library as numpy's: objects with `__array__` or `__dlpack__`, on the CPU.

No library is imported for it. Values of half precision (float16, bfloat16) stay the decimals that they were
written as.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from sedeval_soft.arrays import Array
from sedeval_soft.errors import InputError, Problem, one_line
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import as_written

_TABLES = ("pandas", "polars", "pyarrow")
"""Libraries whose series and frames are columns and tables, though they convert to arrays as well."""

_CPU = 1
"""The processor, as DLPack numbers kinds of devices."""


def array_of(source: Any, role: str) -> Array | None:  # noqa: ANN401 - see evaluate
    """Return an array of any library as one of numpy, of the same shape; None for other objects.

    role: the name in messages. Raises InputError for an array that cannot be read on the CPU, as one that is
    on a device or takes part in a gradient.
    """
    if not is_array(source):
        return None
    brief = not isinstance(source, np.ndarray) and str(getattr(source, "dtype", "")).endswith("bfloat16")
    # numpy has no such type; its own library widens it without loss.
    array = _read(source.float() if brief and hasattr(source, "float") else source, role)
    if brief or array.dtype.name == "bfloat16":
        return as_written(array.astype(np.float32), bfloat16=True)
    return array


def is_array(source: object) -> bool:
    """Return whether an object is an array, and not a table."""
    if isinstance(source, np.ndarray):
        return True
    if isinstance(source, str | os.PathLike | Mapping | list | tuple | EventTable) or _is_frame(source):
        return False
    return hasattr(source, "__array__") or hasattr(source, "__dlpack__")


def as_mapping(source: Any) -> Any:  # noqa: ANN401
    """Return an object with keys as a mapping, such as a reader of files in a folder; any other unchanged."""
    if isinstance(source, Mapping) or not (hasattr(source, "keys") and hasattr(source, "__getitem__")):
        return source
    return source if _is_frame(source) else {key: source[key] for key in source.keys()}  # noqa: SIM118


def _is_frame(source: object) -> bool:
    """Return whether something is a data frame, or a column of one."""
    is_known = type(source).__module__.partition(".")[0] in _TABLES
    return is_known or hasattr(source, "__arrow_c_stream__") or hasattr(source, "__dataframe__")


def _read(source: Any, role: str) -> Array:  # noqa: ANN401
    if isinstance(source, np.ndarray):
        return source
    said = ""
    for protocol, read in (("__array__", np.asarray), ("__dlpack__", _exchanged)):
        if hasattr(source, protocol):
            try:
                return read(source)
            except Exception as error:  # a user's object may raise anything when it is asked for its values
                said = said or one_line(error)
    kind = type(source)
    mend = "array.detach().cpu()" if hasattr(source, "detach") else "its copy on the CPU, of plain numbers"
    wrong = f"{kind.__module__}.{kind.__qualname__} cannot be read as an array on the CPU ({said})"
    raise InputError(Problem(role, f"{wrong}; expected {mend}"))


def _exchanged(source: Any) -> Array:  # noqa: ANN401
    """Return an array that was handed over by DLPack; one on a device is asked for a copy."""
    on_cpu = not hasattr(source, "__dlpack_device__") or source.__dlpack_device__()[0] == _CPU
    return np.from_dlpack(source) if on_cpu else np.from_dlpack(source, device="cpu")
