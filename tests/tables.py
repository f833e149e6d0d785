"""Tables built in memory for tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sedeval_soft.tables.event_table import EventTable, Origin

Row = tuple[str, float, float, str] | tuple[str, float, float, str, float]


def long_rows(rows: Sequence[Row], files: Sequence[str] = (), name: str = "rows") -> EventTable:
    """Build a long table of (filename, onset, offset, label[, value]); `files` declares some without rows."""
    names = tuple(dict.fromkeys([*(row[0] for row in rows), *files]))
    classes = tuple(dict.fromkeys(row[3] for row in rows))
    return EventTable.long(
        names,
        classes,
        np.array([names.index(row[0]) for row in rows], dtype=np.int32),
        np.array([classes.index(row[3]) for row in rows], dtype=np.int32),
        np.array([row[1] for row in rows], dtype=np.float64),
        np.array([row[2] for row in rows], dtype=np.float64),
        np.array([row[4] for row in rows], dtype=np.float64) if rows and len(rows[0]) == 5 else None,
        Origin(name),
    )


def wide_rows(values: np.ndarray, length: float = 1.0, files: int = 1, name: str = "rows") -> EventTable:
    """Build a wide table of frames from (n_segments, n_classes) values, split evenly over some files."""
    n, n_classes = values.shape
    per_file = -(-n // files)
    index = np.arange(n)
    step = index % per_file
    return EventTable.wide(
        tuple(f"file{i}" for i in range(files)),
        tuple(f"class{i}" for i in range(n_classes)),
        (index // per_file).astype(np.int32),
        step * length,
        (step + 1) * length,
        tuple(np.ascontiguousarray(values[:, i], dtype=np.float64) for i in range(n_classes)),
        Origin(name),
    )
