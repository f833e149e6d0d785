"""Curves over all thresholds as a table: one row for each threshold of each class.

Undefined values are empty cells in a text table and nulls in Parquet.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.errors import SettingsError
from sedeval_soft.report.escape import cell
from sedeval_soft.report.write import replaced

if TYPE_CHECKING:
    from sedeval_soft.evaluation.curves import Curves

SUFFIXES = (".tsv", ".parquet")

_NUMBERS = (
    "threshold", "tp", "n_sys", "n_ref", "precision", "recall", "f1", "error_rate", "false_positive_rate",
    "false_negative_rate", "det_false_positive", "det_false_negative", "efpr", "etpr",
    "bin_size", "mean_score", "mean_reference", "reference_threshold",
)  # fmt: skip
COLUMNS = ("basis", "reading", "class", "average", "bins", *_NUMBERS)
"""What a row has. `efpr` and `etpr` are those of the PSD-ROC, and rows with `bins` those of reliability
diagrams, which have nothing else. Rows with a `reference_threshold` are hard counts over both sides'
thresholds."""


def check_curves_path(path: str) -> None:
    """Raise SettingsError for a name that does not end as a form in which curves are written."""
    if not path.endswith(SUFFIXES):
        raise SettingsError(f"--curves {path}: expected a name that ends with {' or '.join(SUFFIXES)}")


def write_curves(path: str, curves: Curves, *, raw_names: bool = False) -> None:
    """Write all curves of a system, to a text table or Parquet as the name ends; complete or not at all.

    raw_names: names stay in a text table as they are, also those that a spreadsheet would run as formulas;
    in Parquet they always do. Raises OutputError where it cannot be written.
    """
    parquet = path.endswith(".parquet")
    spell = str if raw_names or parquet else cell
    replaced(path, lambda target: _write(target, curves, spell, parquet=parquet))


def _write(path: Path, curves: Curves, spell: Callable[[str], str], *, parquet: bool) -> None:
    import pyarrow as pa
    from pyarrow import csv
    from pyarrow import parquet as pq

    schema = pa.schema([(name, pa.float64() if name in _NUMBERS else pa.string()) for name in COLUMNS])
    if parquet:
        writer = pq.ParquetWriter(os.fspath(path), schema)
    else:
        writer = csv.CSVWriter(os.fspath(path), schema, write_options=csv.WriteOptions(delimiter="\t"))
    with writer:
        for columns in _curves(curves):
            size = max(len(column) for column in columns.values() if not isinstance(column, str))
            arrays = []
            for field in schema:
                column = columns.get(field.name)
                if isinstance(column, str):
                    arrays.append(pa.repeat(pa.scalar(spell(column), field.type), size))
                elif column is None:
                    arrays.append(pa.nulls(size, field.type))
                else:
                    # NaN is nothing.
                    arrays.append(pa.array(np.asarray(column, dtype=np.float64), from_pandas=True))
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _curves(curves: Curves) -> Iterator[dict[str, Any]]:
    """Yield the columns of each curve; a text stands in every row."""
    for (basis, reading), by_class in curves.families().items():
        for label, curve in by_class.items():
            yield {"basis": basis, "reading": reading, "class": label, **_columns(curve)}
        pooled = curves.pooled.get(f"{basis}.{reading}")
        if pooled is not None:
            yield {"basis": basis, "reading": reading, "average": "micro", **_columns(pooled)}
    for name, of_classes in curves.reliability.items():
        basis, reading = name.split(".")
        for label, kinds in of_classes.items():
            for kind, bins in zip(("equal_width", "equal_mass"), kinds, strict=True):
                numbers = {"bin_size": bins.size, "mean_score": bins.score, "mean_reference": bins.reference}
                yield {"basis": basis, "reading": reading, "class": label, "bins": kind, **numbers}
    for basis, surface in curves.surfaces.items():
        yield from _of_surface(basis, curves.classes, surface)
    for name, roc in (("psd_roc", curves.psd_roc), ("pi_psd_roc", curves.pi_psd_roc)):
        if roc is not None:
            yield {"basis": "intersection", "reading": name, "efpr": roc.efpr, "etpr": roc.etpr}


def _of_surface(basis: str, labels: tuple[str, ...], surface: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - a Surface
    """Yield the columns of each class, and of all together: counts and F for every pair of thresholds."""
    ours, theirs = np.meshgrid(surface.thresholds, surface.thresholds, indexing="ij")
    axes = {
        "basis": basis,
        "reading": "hard",
        "reference_threshold": ours.ravel(),
        "threshold": theirs.ravel(),
    }

    def counts(tp: Any, n_ref: Any, n_sys: Any, f1: Any) -> dict[str, Any]:  # noqa: ANN401 - (n, n), (n,), (n,) and (n, n)
        both = np.broadcast_to(n_ref[:, None], tp.shape), np.broadcast_to(n_sys, tp.shape)
        return {"tp": tp.ravel(), "n_ref": both[0].ravel(), "n_sys": both[1].ravel(), "f1": f1.ravel()}

    columns = (surface.tp, surface.n_ref, surface.n_sys)
    for label, tp, n_ref, n_sys, f1 in zip(labels, *columns, surface.f, strict=True):
        yield {**axes, "class": label, **counts(tp, n_ref, n_sys, f1)}
    tp, n_ref, n_sys = (column.sum(axis=0) for column in columns)
    yield {**axes, "average": "micro", **counts(tp, n_ref, n_sys, surface.micro_f)}
    yield {**axes, "average": "macro", "f1": surface.macro_f.ravel()}


def _columns(curve: Any) -> dict[str, Any]:  # noqa: ANN401 - a Curve
    names = ("threshold", "tp", "n_sys", "precision", "recall", "f1", "error_rate")
    columns = {name: getattr(curve, name) for name in names}
    columns["n_ref"] = np.full(len(curve.threshold), curve.n_ref, dtype=np.float64)
    if curve.fp is not None:
        columns |= {name: getattr(curve, name) for name in ("false_positive_rate", "false_negative_rate")}
        columns["det_false_positive"], columns["det_false_negative"] = curve.det
    return columns
