"""Integrals over levels, the slow way: a table is cut at every level there is, and each cut is evaluated."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sedeval_soft import evaluate

CLASSES = ("car", "dog", "rain")
Table = dict[str, list]


def random_table(seed: int, *, binary: bool = False) -> Table:
    """A long table of touching seconds, with few different values: there are ties, and silence."""
    rng = np.random.default_rng(seed)
    table: Table = {name: [] for name in ("filename", "onset", "offset", "event_label", "value")}
    for file in range(3):
        for label in CLASSES:
            for second in range(12):
                value = float(rng.integers(0, 9)) / 8
                value = float(value > 0.5) if binary else value
                for name, cell in zip(table, (f"{file}.wav", second, second + 1, label, value), strict=True):
                    table[name].append(cell)
    return table


def cut(table: Table, level: float) -> Table:
    """The table with values of 1 where they are at least the level, else 0."""
    return {**table, "value": [float(value >= level) for value in table["value"]]}


def without_values(table: Table) -> Table:
    """The rows that are 1, as a table without values; every file is declared by its name."""
    kept = [i for i, value in enumerate(table["value"]) if value == 1]
    found = {name: [cells[i] for i in kept] for name, cells in table.items() if name != "value"}
    for file in sorted(set(table["filename"])):
        for name, cell in zip(found, (file, None, None, None), strict=True):
            found[name].append(cell)
    return found


def levels_of(*tables: Table) -> Iterator[tuple[float, float]]:
    """Yield each level at which something changes, and how far the one below it is."""
    ends = sorted({0.0, 1.0}.union(*(table["value"] for table in tables)))
    for low, high in zip(ends, ends[1:], strict=False):
        yield high, high - low


def at_levels(reference: Table, system: Table, names: list[str], **settings) -> tuple[np.ndarray, np.ndarray]:
    """Scores of both sides cut at each level, (n_levels, n_names), and how far levels are apart."""
    widths, found = [], []
    for level, width in levels_of(reference, system):
        scores = evaluate(cut(reference, level), cut(system, level), classes=CLASSES, **settings)
        widths.append(width)
        found.append([np.nan if scores[name] is None else scores[name] for name in names])
    return np.array(found, dtype=float), np.array(widths)
