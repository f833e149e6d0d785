"""Several tables as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.rows import LongRows, Origin, Rows, WideRows


def _codes(parts: Sequence[Rows], files: tuple[str, ...]) -> npt.NDArray[np.int32]:
    position = {name: code for code, name in enumerate(files)}
    return _concatenated(
        np.array([position[name] for name in rows.files], dtype=np.int32)[rows.file] for rows in parts
    ).astype(np.int32)


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
    labels = [
        np.array([position[name] for name in rows.classes], dtype=np.int32)[rows.label] for rows in parts
    ]
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
