"""Small tables of cells with everything that is special about some of them, and how answers are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tables import wide_rows

from sedeval_soft import evaluate
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.settings import Settings

Table = np.ndarray
"""(n_segments, n_classes)."""


def tied(seed: int, shape: tuple[int, int] = (12, 3)) -> tuple[Table, Table]:
    """Values in eighths, so that many are equal, a third of them 0."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 9, (2, *shape)) / 8 * (rng.random((2, *shape)) < 2 / 3)
    return values[0], values[1]


def fine(seed: int, shape: tuple[int, int] = (15, 3)) -> tuple[Table, Table]:
    """Values none of which are equal, and whose sums round."""
    values = np.random.default_rng(seed).random((2, *shape))
    return values[0], values[1]


def _column(side: Table, value: float) -> Table:
    changed = side.copy()
    changed[:, 1] = value
    return changed


_Y, _P = tied(99)

SPECIAL: dict[str, tuple[Table, Table]] = {
    "a class without reference": (_column(_Y, 0.0), _P),
    "a class always active": (_column(_Y, 1.0), _P),
    "a class with one value": (_Y, _column(_P, 0.625)),
    "no reference": (0 * _Y, _P),
    "active throughout": (np.ones_like(_Y), _P),
    "empty system": (_Y, 0 * _P),
    "system always at 1": (_Y, np.ones_like(_P)),
    "a perfect system": (_Y, _Y),
    "binary": ((_Y > 0.25).astype(float), (_P > 0.25).astype(float)),
    "one segment": (_Y[:1], _P[:1]),
    "one class": (_Y[:, :1], _P[:, :1]),
    "one cell": (np.array([[0.75]]), np.array([[0.5]])),
    "no segments": (_Y[:0], _P[:0]),
}

CASES: dict[str, tuple[Table, Table]] = (
    {f"tied {seed}": tied(seed) for seed in range(6)}
    | {f"fine {seed}": fine(seed) for seed in range(4)}
    | {f"tied, many classes {seed}": tied(seed, (4, 8)) for seed in range(2)}
    | SPECIAL
)

SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "other settings": {
        "threshold": 0.25, "reference_threshold": 0.375, "inclusive": True, "max_fpr": 0.3, "max_fnr": 0.25,
        "bins": 4, "entropy_unit": "bits", "epsilon": 1e-3,
    },
}  # fmt: skip


def labels(n_classes: int) -> tuple[str, ...]:
    return tuple(f"class{k}" for k in range(n_classes))


def scored(reference: Table, system: Table, settings: Mapping[str, Any], files: int = 1) -> Scores:
    """Evaluate two tables, split evenly over some files; settings hold at least `only`."""
    chosen = {"segment_length": 1.0, "classes": labels(reference.shape[1]), **settings}
    if files == 1:
        return evaluate(reference, system, **chosen)
    return evaluate(*(wide_rows(side, files=files) for side in (reference, system)), **chosen)


def chosen(settings: Mapping[str, Any], n_classes: int) -> Settings:
    return Settings.of(classes=labels(n_classes), **settings)


def clips(values: Table, files: int) -> Table:
    """The highest value of each class in each file, (files, n_classes), as `scored` splits them."""
    size = -(-len(values) // files)
    return np.array([values[k : k + size].max(axis=0) for k in range(0, len(values), size)])


def agree(scores: Scores, stem: str, wanted: Mapping[str, float | None], tolerance: float = 1e-12) -> None:
    """Require each wanted value under its name, and no number where none is wanted."""
    assert wanted
    for name, value in wanted.items():
        got = scores[f"{stem}.{name}"]
        if value is None or got is None:
            assert got is None and value is None, (f"{stem}.{name}", got, value)
        else:
            assert abs(got - value) <= tolerance * max(1.0, abs(value)), (f"{stem}.{name}", got, value)
