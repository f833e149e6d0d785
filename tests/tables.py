"""Tables built in memory for tests."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sedeval_soft.tables import EventTable, Origin

Row = tuple[str, float, float, str] | tuple[str, float, float, str, float]


def long_rows(rows: Sequence[Row], files: Sequence[str] = (), name: str = "rows") -> EventTable:
    """Build a long table of (filename, onset, offset, label[, value]); `files`: files without rows."""
    names = tuple(dict.fromkeys([*(row[0] for row in rows), *files]))
    classes = tuple(dict.fromkeys(row[3] for row in rows))
    return EventTable(
        names,
        classes,
        np.array([names.index(row[0]) for row in rows], dtype=np.int32),
        np.array([row[1] for row in rows], dtype=np.float64),
        np.array([row[2] for row in rows], dtype=np.float64),
        (np.array([row[4] for row in rows], dtype=np.float64),) if rows and len(rows[0]) == 5 else (),
        Origin(name),
        np.array([classes.index(row[3]) for row in rows], dtype=np.int32),
    )


def columns_of(rows: Sequence[Row], files: Sequence[str] = ()) -> dict[str, list]:
    """Build columns of (filename, onset, offset, label[, value]); `files`: files without events."""
    width = len(rows[0]) if rows else 5
    every = [*rows, *((name, *[None] * (width - 1)) for name in files)]
    names = ("filename", "onset", "offset", "event_label", "value")[:width]
    return {name: [row[k] for row in every] for k, name in enumerate(names)}


def wide_rows(values: np.ndarray, length: float = 1.0, files: int = 1, name: str = "rows") -> EventTable:
    """Build a wide table of frames from (n_segments, n_classes) values, split evenly over some files."""
    n, n_classes = values.shape
    per_file = -(-n // files)
    index = np.arange(n)
    step = index % per_file
    return EventTable(
        tuple(f"file{i}" for i in range(files)),
        tuple(f"class{i}" for i in range(n_classes)),
        (index // per_file).astype(np.int32),
        step * length,
        (step + 1) * length,
        tuple(np.ascontiguousarray(values[:, i], dtype=np.float64) for i in range(n_classes)),
        Origin(name),
    )


FILES = ("a", "b", "c")
LABELS = ("car", "dog", "people talking")


def random_table(
    rng: np.random.Generator, *, files: Sequence[str], labels: Sequence[str], n: int = 40,
    form: str = "tied",
) -> EventTable:  # fmt: skip
    """Build rows of random files and classes; the table declares all files.

    form: `tied` (whole seconds, values in quarters), `fine` (tenths of seconds, no two values equal), `sure`
    (values of 1) or `plain` (no values).
    """
    scale, rows = 1.0 if form != "fine" else 10.0, []
    for _ in range(n):
        file, label = str(rng.choice(files)), str(rng.choice(labels))
        onset, length = int(rng.integers(0, 15)), int(rng.integers(1, 4))
        value = {"tied": int(rng.integers(0, 5)) / 4, "fine": float(rng.random())}.get(form, 1.0)
        rows.append((file, onset / scale, (onset + length) / scale, label, value))
    made = long_rows(rows, files=files)
    return made if form != "plain" else replace(made, values=())


def random_rows(seed: int, *, binary: bool = False, n: int = 40, fine: bool = False) -> EventTable:
    """Build rows of three files and classes; binary: all values are 1."""
    form = "sure" if binary else "fine" if fine else "tied"
    return random_table(np.random.default_rng(seed), files=FILES, labels=LABELS, n=n, form=form)
