"""Curves for the page: as many points as can be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.html.arrays import Packer
from sedeval_soft.measures.calibration import Reliability
from sedeval_soft.measures.curve_scores import Curve
from sedeval_soft.run.curves import Curves

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_POINTS = 300
"""Points that a curve is drawn with at the most."""

_MOST_CLASSES = 60
"""Classes up to which each has its curves."""

_OF_CELLS = ("false_positive_rate", "false_negative_rate")


def curves(found: Curves, pack: Packer) -> dict[str, Any]:
    """Return the curves of a system by family (`segment.hard`), and the reliability diagrams and PSD-ROC."""
    families = {}
    for (basis, reading), of_classes in found.families().items():
        if not of_classes:
            continue
        name = f"{basis}.{reading}"
        pooled = found.pooled.get(name)
        kept = of_classes if len(of_classes) <= _MOST_CLASSES else {}
        families[name] = {
            "pooled": None if pooled is None else _curve(pooled, pack),
            "classes": [{"name": label, **_curve(curve, pack)} for label, curve in kept.items()],
            "left_out": len(of_classes) - len(kept),
        }
    rocs = {"psd_roc": found.psd_roc, "pi_psd_roc": found.pi_psd_roc}
    return {
        "families": families,
        "reliability": {name: _reliability(of, pack) for name, of in found.reliability.items()},
        **{
            name: None if roc is None else {"efpr": _drawn(roc.efpr, pack), "etpr": _drawn(roc.etpr, pack)}
            for name, roc in rocs.items()
        },
    }


def _curve(curve: Curve, pack: Packer) -> dict[str, Any]:
    names = ("precision", "recall", "f1", *(_OF_CELLS if curve.fp is not None else ()))
    columns = {"threshold": curve.threshold} | {name: getattr(curve, name) for name in names}
    if curve.fp is not None:
        columns["det_x"], columns["det_y"] = curve.det
    at = chosen(columns)
    return {name: _drawn(column[at], pack) for name, column in columns.items()}


def chosen(columns: Mapping[str, Floats]) -> Index:
    """Return the places of points that show a curve in all its columns, (m,) ascending, ends included.

    Between two neighbours no rate goes further than a screen can tell: they lie at even steps of how
    far all columns go together.
    """
    n = len(columns["threshold"])
    if n <= _POINTS:
        return np.arange(n)
    travelled = np.zeros(n - 1)
    for name, column in columns.items():
        if not name.startswith("det"):
            travelled += np.abs(np.nan_to_num(np.diff(np.clip(column, 0.0, 1.0))))
    so_far = np.append(0.0, np.cumsum(travelled))
    steps = np.searchsorted(so_far, np.linspace(0.0, so_far[-1], _POINTS - 1))
    return np.unique(np.concatenate((steps, [0, n - 1])))


def _drawn(column: Floats, pack: Packer) -> dict[str, Any]:
    """Keep numbers to draw: seven digits of each."""
    return pack(column.astype(np.float32), "f4")


def _reliability(
    of_classes: Mapping[str, tuple[Reliability, Reliability]], pack: Packer
) -> list[dict[str, Any]]:
    kept = list(of_classes.items())[:_MOST_CLASSES]
    return [
        {
            "name": label,
            **{
                kind: {name: _drawn(np.asarray(getattr(of, name), dtype=np.float64), pack) for name in _BINS}
                for kind, of in zip(("equal_width", "equal_mass"), both, strict=True)
            },
        }
        for label, both in kept
    ]


_BINS = ("size", "score", "reference")
