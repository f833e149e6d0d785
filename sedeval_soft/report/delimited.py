"""Rows for other programs: scores as csv or tsv, curves over all thresholds as tsv or Parquet.

Scores: a head, and one row per score, or per system of a board, numbers exact. There is nothing else, so that
`pandas.read_csv` needs no options. An undefined value is an empty field, which readers take for a missing
number; `-` would turn the column into text. The signature is beside the rows, never in them: the command
writes it to a file of its own, or to standard error.

A name that a spreadsheet would run as a formula has an apostrophe before it, and control characters in names
are written as escapes; JSON has all names as they are. Numbers stay numbers, even negative ones.

Curves: one row for each threshold of each class; undefined values are empty fields, nulls in Parquet.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.comparison.board import Board, board_rows
from sedeval_soft.evaluation.scores import OF_SCORE, Scores
from sedeval_soft.report.escape import cell
from sedeval_soft.report.fitted import UNDEFINED
from sedeval_soft.report.table import exact
from sedeval_soft.report.write import replaced

if TYPE_CHECKING:
    from sedeval_soft.evaluation.ordered import Curves
    from sedeval_soft.measures.curve_scores import Curve

HEAD = ("system", "name", "basis", "reading", "measure", "average", "class", "group", "value", "low", "high")

CHANCE = ("chance", "chance_error", "normalised")
"""Columns after the others if chance levels were asked for."""

_INDEX_HEAD = (
    *(
        "system",
        "rank",
        "letters",
        "place",
        "value",
        "low",
        "high",
        "best_place",
        "worst_place",
        "compared_to",
    ),
    *("difference_value", "difference_low", "difference_high", "difference_p_adjusted"),
)


def delimited(systems: Sequence[Scores], board: Board | None, delimiter: str) -> str:
    """Return the scores of systems, or the entries of their board, in rows."""
    if board is not None:
        entries = board_rows(board)
        return lines([*entries[0]], ([*fields.values()] for fields in entries), delimiter)
    has_chance = any(scores.chance is not None for scores in systems)
    rows = []
    for scores in systems:
        for score in scores.scores.values():
            chance = chance_of(scores, score.name) if has_chance else []
            rows.append([scores.system, *(getattr(score, name) for name in OF_SCORE), *chance])
    return lines((*HEAD, *CHANCE * has_chance), rows, delimiter)


def chance_of(scores: Scores, name: str) -> list[float | None]:
    """Return the chance level of a score, its error, and the score between chance and the best."""
    level = scores.chance.levels.get(name) if scores.chance else None
    return [level.chance, level.error, level.normalised] if level else [None] * len(CHANCE)


def delimited_columns(board: Board, names: Sequence[str], delimiter: str) -> str:
    """Return a row for each system of a board: its rank, the score that ranks, and further scores by name."""
    others = [name for name in names if name != board.rank_by]
    called = {"value": board.rank_by, "difference_value": "difference", "difference_p_adjusted": "p_adjusted"}
    rows = [
        [*(fields[name] for name in _INDEX_HEAD), *map(scores.get, others)]
        for scores, fields in zip(board.systems, board_rows(board), strict=True)
    ]
    head = (*(called.get(name, name) for name in _INDEX_HEAD), *others)
    return lines(head, rows, delimiter)


def lines(head: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str) -> str:
    """Return a head and rows as lines: None and an undefined number are empty fields, "" is quoted."""
    quoted = re.compile(rf'[{re.escape(delimiter)}"#\r\n]|^\s|\s$|^$|^:')

    def field(value: str | float | None) -> str:
        if not isinstance(value, str):
            text = exact(value)
            return "" if text == UNDEFINED else text
        text = cell(value)
        return '"' + text.replace('"', '""') + '"' if quoted.search(text) else text

    text = "".join(f"{delimiter.join(map(field, row))}\n" for row in (head, *rows))
    # Bytes of a name that are not text become escapes, so that it can be written.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


# Curves.


_POINTS = ("threshold", "tp", "n_sys", "precision", "recall", "f1", "error_rate")
_RATES = ("false_positive_rate", "false_negative_rate")
_NUMBERS = (
    *("threshold", "tp", "n_sys", "n_ref", *_POINTS[3:], *_RATES, "det_false_positive", "det_false_negative"),
    *("efpr", "etpr", "bin_size", "mean_score", "mean_reference", "reference_threshold"),
)
COLUMNS = ("system", "basis", "reading", "class", "average", "bins", *_NUMBERS)
"""Columns of a row of curves. `efpr` and `etpr` are the rates of the PSD-ROC, and rows with `bins` are rows
of reliability diagrams, which use no other column. Rows with a `reference_threshold` are hard counts over
both sides' thresholds.
"""


def write_curves(path: str, systems: Mapping[str, Curves]) -> None:
    """Write all curves of systems, by name, to a text table or Parquet as the path ends, or nothing at all.

    Parquet keeps names unchanged, even names that a spreadsheet would run as formulas. Raises OutputError if
    the file cannot be written.
    """
    import pyarrow as pa
    from pyarrow import csv
    from pyarrow import parquet as pq

    in_parquet = path.endswith(".parquet")
    schema = pa.schema([(name, pa.float64() if name in _NUMBERS else pa.string()) for name in COLUMNS])

    def array(field: pa.Field, column: Any, size: int) -> pa.Array:  # noqa: ANN401 - a text, numbers or None
        if column is None:
            return pa.nulls(size, field.type)
        if isinstance(column, str):
            text = column if in_parquet else cell(column)
            return pa.repeat(pa.scalar(text, field.type), size)
        # NaN is nothing.
        return pa.array(np.asarray(column, dtype=np.float64), from_pandas=True)

    def write(target: Path) -> None:
        if in_parquet:
            writer = pq.ParquetWriter(os.fspath(target), schema)
        else:
            writer = csv.CSVWriter(os.fspath(target), schema, write_options=csv.WriteOptions(delimiter="\t"))
        with writer:
            every = (
                {"system": name, **columns} for name, curves in systems.items() for columns in _curves(curves)
            )
            for columns in every:
                size = max(len(column) for column in columns.values() if not isinstance(column, str))
                arrays = [array(field, columns.get(field.name), size) for field in schema]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema))

    replaced(path, write)


def _curves(curves: Curves) -> Iterator[dict[str, Any]]:
    """Yield the columns of each curve; a text is repeated in every row."""
    for (basis, reading), by_class in curves.families().items():
        members = [("class", label, curve) for label, curve in by_class.items()]
        pooled = curves.pooled.get(f"{basis}.{reading}")
        members += [] if pooled is None else [("average", "micro", pooled)]
        for kind, name, curve in members:
            yield {"basis": basis, "reading": reading, kind: name, **_points(curve)}
    for name, of_classes in curves.reliability.items():
        basis, reading = name.split(".")
        for label, kinds in of_classes.items():
            for kind, bins in zip(("equal_width", "equal_mass"), kinds, strict=True):
                numbers = {"bin_size": bins.size, "mean_score": bins.score, "mean_reference": bins.reference}
                yield {"basis": basis, "reading": reading, "class": label, "bins": kind, **numbers}
    for basis, surface in curves.surfaces.items():
        # Of each class, and of all together: counts and F for every pair of thresholds.
        ours, theirs = (axis.ravel() for axis in np.meshgrid(*[surface.thresholds] * 2, indexing="ij"))
        axes = {"basis": basis, "reading": "hard", "reference_threshold": ours, "threshold": theirs}
        counts = (surface.tp, surface.n_ref, surface.n_sys)
        sides = [("class", *each) for each in zip(curves.classes, *counts, surface.f, strict=True)]
        sides.append(("average", "micro", *(count.sum(axis=0) for count in counts), surface.micro_f))
        for kind, name, tp, n_ref, n_sys, f1 in sides:
            sizes = np.broadcast_to(n_ref[:, None], tp.shape), np.broadcast_to(n_sys, tp.shape)
            columns = dict(zip(("tp", "n_ref", "n_sys", "f1"), (tp, *sizes, f1), strict=True))
            yield {**axes, kind: name, **{each: values.ravel() for each, values in columns.items()}}
        yield {**axes, "average": "macro", "f1": surface.macro_f.ravel()}
    for name, roc in (("psd_roc", curves.psd_roc), ("pi_psd_roc", curves.pi_psd_roc)):
        if roc is not None:
            yield {"basis": "intersection", "reading": name, "efpr": roc.efpr, "etpr": roc.etpr}


def _points(curve: Curve) -> dict[str, Any]:
    columns = {name: getattr(curve, name) for name in _POINTS}
    columns["n_ref"] = np.full(len(curve.threshold), curve.n_ref, dtype=np.float64)
    if curve.fp is not None:
        columns |= {name: getattr(curve, name) for name in _RATES}
        columns["det_false_positive"], columns["det_false_negative"] = curve.det
    return columns
