"""The data that a report embeds for a system: its curves.

Arrays follow one another, compressed, as one text that the page unpacks; the data have notes of their
positions.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Array, Floats, Index
from sedeval_soft.evaluation import Scores, curves_of
from sedeval_soft.measures import Curve, Tally
from sedeval_soft.report import has_thresholds, shown_families
from sedeval_soft.settings import Settings
from sedeval_soft.timeline import Recordings

_POINTS = 300  # points that a curve is drawn with at the most
_MOST_CLASSES = 60  # classes up to which each has its curves


@dataclass(frozen=True, slots=True)
class ReportInput:
    """A system that was scored, and what its scores came from.

    settings: for the tally, which keeps more than the scores need. signatures: the settings from which the
    scores, and their intervals, can be computed again. bases: the requested ones; the page has more.
    errors: the kinds of errors of hard events, as a `Diagnosis` has them; why_no_errors: the text
    without kinds.
    """

    scores: Scores
    pair: Recordings
    tally: Tally
    settings: Settings
    signatures: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    errors: Sequence[Any] = ()
    why_no_errors: str = ""


class Packer:
    """Collects arrays, and gives each a note of its position, which replaces the array in the page's data."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._at: dict[tuple[str, bytes], int] = {}

    def __call__(self, array: Array, kind: str | None = None) -> dict[str, Any]:
        """Keep an array, (n,), nothing below 0; kind: of numbers, None for the smallest sufficient one."""
        if kind is None:
            # Numbers of JavaScript are floats.
            kind = np.min_scalar_type(int(array.max(initial=0))).str[1:].replace("u8", "f8")
            kind = "f8" if array.dtype.kind == "f" else kind
        data = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
        # Several systems share a reference: what is there already is not kept again.
        key = kind, hashlib.sha256(data).digest()
        at = self._at.setdefault(key, len(self._data))
        if at == len(self._data):
            # Browsers read numbers only from multiples of 8 bytes.
            self._data += data + bytes(-len(data) % 8)
        return {"$": kind, "at": at, "n": int(array.size)}

    def steps(self, array: npt.NDArray[np.integer[Any]]) -> dict[str, Any]:
        """Keep integers that change little from one to the next, (n,), by their differences.

        Differences 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ...
        """
        change = np.diff(array.astype(np.int64), prepend=0)
        return self(np.where(change < 0, -2 * change - 1, 2 * change)) | {"steps": True}

    def text(self) -> str:
        """Return all arrays as base64 of zlib's format."""
        return packed_bytes(self._data)


def packed_bytes(data: bytes | bytearray) -> str:
    """Return bytes as base64 of zlib's format."""
    return base64.b64encode(zlib.compress(data, 4)).decode("ascii")


def curves(inputs: ReportInput, pack: Packer) -> dict[str, Any]:
    """Return the curves of a system by family (`segment.hard`), and the reliability diagrams and PSD-ROC.

    A system with one threshold has none.
    """
    if not has_thresholds(inputs.scores, "system"):
        return {"families": {}, "reliability": {}, "psd_roc": None, "pi_psd_roc": None}
    shown = {".".join(family) for family in shown_families(inputs.scores)}

    def draw(source: object, *names: str) -> dict[str, Any]:
        # Seven digits are more than a screen can show.
        return {name: pack(np.asarray(getattr(source, name), dtype=np.float32), "f4") for name in names}

    def drawn(curve: Curve) -> dict[str, Any]:
        names = ["threshold", "precision", "recall", "f1"]
        names += [] if curve.fp is None else ["false_positive_rate", "false_negative_rate"]
        columns = {name: getattr(curve, name) for name in names}
        at = chosen(columns)
        columns |= {} if curve.fp is None else dict(zip(("det_x", "det_y"), curve.det, strict=True))
        return {name: pack(column[at].astype(np.float32), "f4") for name, column in columns.items()}

    system, families = curves_of(inputs.tally, inputs.settings), {}
    for (basis, reading), by_class in system.families().items():
        name, many = f"{basis}.{reading}", len(by_class) > _MOST_CLASSES
        if by_class and name in shown:
            families[name] = {
                "pooled": drawn(system.pooled[name]) if name in system.pooled else None,
                "classes": [{"name": c, **drawn(curve)} for c, curve in by_class.items() if not many],
                "left_out": len(by_class) if many else 0,
            }
    reliability = {
        name: [
            {"name": label, **draw(width, "size", "score", "reference")}
            for label, (width, _) in list(by_class.items())[:_MOST_CLASSES]
        ]
        for name, by_class in system.reliability.items()
        if name in shown
    }
    rocs = {"psd_roc": system.psd_roc, "pi_psd_roc": system.pi_psd_roc}
    return {
        "families": families,
        "reliability": reliability,
        **{name: roc and draw(roc, "efpr", "etpr") for name, roc in rocs.items()},
    }


def chosen(columns: Mapping[str, Floats]) -> Index:
    """Return the places of points that show a curve in all its columns, (m,) ascending, ends included.

    Between two neighbours no rate moves visibly on a screen: they are at even steps of the joint movement of
    all columns.
    """
    n = len(columns["threshold"])
    if n <= _POINTS:
        return np.arange(n)
    rates = np.clip(np.stack([*columns.values()]), 0.0, 1.0)
    so_far = np.append(0.0, np.cumsum(np.abs(np.nan_to_num(np.diff(rates))).sum(axis=0)))
    steps = np.searchsorted(so_far, np.linspace(0.0, so_far[-1], _POINTS - 1))
    return np.unique(np.concatenate((steps, [0, n - 1])))
