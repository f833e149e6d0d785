"""Integrals over levels, the slow way: a table is cut at every level there is, and each cut is evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sedeval_soft import evaluate

CLASSES = ("car", "dog", "rain")
Table = dict[str, list]


def random_table(seed: int, *, binary: bool = False) -> Table:
    """A long table of touching seconds, with few different values: there are ties, and silence."""
    cells = [(file, label, second) for file in range(3) for label in CLASSES for second in range(12)]
    value = np.random.default_rng(seed).integers(0, 9, len(cells)) / 8
    return {
        "filename": [f"{file}.wav" for file, _, _ in cells],
        "onset": [second for *_, second in cells],
        "offset": [second + 1 for *_, second in cells],
        "event_label": [label for _, label, _ in cells],
        "value": (value > 0.5).astype(float).tolist() if binary else value.tolist(),
    }


def cut(table: Table, level: float) -> Table:
    """The table with values of 1 where they are at least the level, else 0."""
    return {**table, "value": [float(value >= level) for value in table["value"]]}


def without_values(table: Table) -> Table:
    """The rows that are 1, as a table without values; every file is declared by its name."""
    ones = [i for i, value in enumerate(table["value"]) if value == 1]
    rows = [[*row[:4]] for row in zip(*table.values(), strict=True)]
    chosen = [rows[i] for i in ones] + [[file, None, None, None] for file in sorted(set(table["filename"]))]
    return dict(zip(table, map(list, zip(*chosen, strict=True)), strict=False))


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


def every_statement(page: Path, tests: dict[str, Any]) -> None:
    """Assert that each statement of a page has a test of its number, and each test a statement."""
    told = re.findall(r"^\*\*Statement (\d+)\.\*\*", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert {*told} == {match[1] for name in tests if (match := re.match(r"test_(\d+)_", name))}
