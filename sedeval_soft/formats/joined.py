"""Several tables as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.rows import LongRows, Origin, Rows, WideRows


def _codes(parts: Sequence[Rows], files: tuple[str, ...]) -> npt.NDArray[np.int32]:
    position = {name: code for code, name in enumerate(files)}
    return _concatenated(_recoded(rows.file, rows.files, position) for rows in parts).astype(
        np.int32, copy=False
    )


def _recoded(
    codes: npt.NDArray[np.int32], names: Sequence[str], position: Mapping[str, int]
) -> npt.NDArray[np.int32]:
    """Return the codes of names by their position."""
    lookup = np.array([position[name] for name in names], dtype=np.int32)
    return codes if np.array_equal(lookup, np.arange(len(lookup))) else lookup[codes]


def _concatenated(arrays: Iterator[npt.NDArray[np.generic]]) -> npt.NDArray[np.generic]:
    found = list(arrays)
    return np.concatenate(found) if found else np.zeros(0)


def join_wide(parts: Sequence[WideRows], files: tuple[str, ...], origin: Origin) -> WideRows:
    """Return the rows of some wide tables as one, with the classes of all."""
    classes = tuple(dict.fromkeys(name for rows in parts for name in rows.classes))
    columns = [dict(zip(rows.classes, rows.values, strict=True)) for rows in parts]
    return WideRows(
        files,
        classes,
        _codes(parts, files),
        np.concatenate([rows.onset for rows in parts]),
        np.concatenate([rows.offset for rows in parts]),
        tuple(
            np.concatenate(
                [own.get(name, np.zeros(len(rows))) for own, rows in zip(columns, parts, strict=True)]
            )
            for name in classes
        ),
        origin,
    )


def join_long(parts: Sequence[LongRows], files: tuple[str, ...], origin: Origin) -> LongRows:
    """Return the rows of some long tables as one, with the classes of all."""
    classes = tuple(dict.fromkeys(name for rows in parts for name in rows.classes))
    position = {name: code for code, name in enumerate(classes)}
    labels = [_recoded(rows.label, rows.classes, position) for rows in parts]
    valued = any(rows.value is not None for rows in parts)
    values = [np.ones(len(rows)) if rows.value is None else rows.value for rows in parts]
    return LongRows(
        files,
        classes,
        _codes(parts, files),
        np.concatenate(labels) if labels else np.zeros(0, dtype=np.int32),
        np.concatenate([rows.onset for rows in parts]) if parts else np.zeros(0),
        np.concatenate([rows.offset for rows in parts]) if parts else np.zeros(0),
        np.concatenate(values) if valued else None,
        origin,
    )


def join_rows(parts: Sequence[Rows]) -> Rows:
    """Return the rows of some parts of one table, at least one, as one; it is from where the first is."""
    files = tuple(dict.fromkeys(name for rows in parts for name in rows.files))
    wide = [rows for rows in parts if isinstance(rows, WideRows)]
    if wide:
        return join_wide(wide, files, parts[0].origin)
    return join_long([rows for rows in parts if isinstance(rows, LongRows)], files, parts[0].origin)


def of_files(rows: Rows, kept: npt.NDArray[np.bool_]) -> Rows:
    """Return the rows of some files, (n_files,), in order; views of columns where the rows stand together."""
    files = tuple(name for name, keep in zip(rows.files, kept.tolist(), strict=True) if keep)
    code = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)[rows.file]
    at = np.flatnonzero(code >= 0)
    own: Any = slice(0, 0)
    if len(at):
        together = at[-1] - at[0] + 1 == len(at)
        own = slice(int(at[0]), int(at[-1]) + 1) if together else at
    columns: dict[str, Any] = {"files": files, "file": code[own]}
    columns |= {name: getattr(rows, name)[own] for name in ("onset", "offset")}
    if isinstance(rows, WideRows):
        return replace(rows, **columns, values=tuple(column[own] for column in rows.values))
    value = None if rows.value is None else rows.value[own]
    return replace(rows, **columns, label=rows.label[own], value=value)
