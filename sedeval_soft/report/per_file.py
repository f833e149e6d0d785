"""Scores of single files: a row for each file of each system, in any form.

Programs get all files in the order of their names, and all scores. People get the worst files first; a screen
has so many of these, and of their scores, as fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from sedeval_soft.errors import EvaluationError, counted, visible
from sedeval_soft.evaluation.resample import FileScores
from sedeval_soft.evaluation.scores import Scores, document, finite
from sedeval_soft.evaluation.signature import sign_together
from sedeval_soft.measures.registry import ScoreName, measure_of
from sedeval_soft.report import fitted
from sedeval_soft.report.fitted import Column, lines_and_rest, shortened, styled
from sedeval_soft.report.forms import encoded
from sedeval_soft.report.legend import measure_label
from sedeval_soft.report.page import input_line
from sedeval_soft.report.screen import WIDTH, signature_lines
from sedeval_soft.report.shown import in_order, shown_families
from sedeval_soft.report.table import Page, Table, markdown, number

SCHEMA = "soft-sed-eval-files/1"

_MOST_FILES = 30
"""Number of files on a screen unless all are asked for."""

_SHORTEST, _SYSTEM = 32, 20
"""Cells of a file's name below which columns are left out first, and of a system's name."""

_FIRST = ("system", "filename", "length")

_Row = list[Any]
"""The name of a system, the name of a file, and numbers, None if undefined."""


def render_files(
    systems: Sequence[Scores],
    form: str = "text",
    *,
    names: Sequence[str] = (),
    averages: Sequence[str] = (),
    every: bool = False,
    color: bool = False,
    width: int | None = None,
) -> str:
    """Return the scores of each file of each system as text in one of `FORMATS`.

    names: of the scores; without any the main ones, restricted to `averages` if any are named. every: the
    screen also has all files. color, width: as for `render`. Raises EvaluationError for scores
    that single files do not have.
    """
    tables = [scores.file_scores(names) for scores in systems]
    columns = [
        name
        for name in dict.fromkeys(name for table in tables for name in table.scores)
        if names or not averages or ScoreName.parse(name).average in averages
    ]
    if not columns:
        shown = "micro and macro averages" if averages else "precision, recall, F and error rate"
        raise EvaluationError(f"--per-file has {shown}, and there are none here; --score names other scores")
    if form in {"json", "yaml"}:
        whole, head = document(systems), (*_FIRST, *columns)
        context = {key: whole[key] for key in ("version", "signature", "settings", "inputs", "warnings")}
        files = [dict(zip(head, row, strict=True)) for row in _rows(systems, tables, columns)]
        return encoded({"schema": SCHEMA, **context, "files": files}, form)
    if form in {"csv", "tsv"}:
        from sedeval_soft.report.delimited import lines

        delimiter = "," if form == "csv" else "\t"
        return lines((*_FIRST, *columns), _rows(systems, tables, columns), delimiter)
    picked = [*(_chosen if names else _main)(systems, columns)]
    f = (name for name, _ in picked if ScoreName.parse(name).measure in {"f1", "fbeta"})
    by, several, is_text = names[0] if names else next(f, picked[0][0]), len(systems) > 1, form == "text"
    rows, title = _worst_first(systems, tables, by, [name for name, _ in picked]), _title(systems, by)
    # One more row takes no more room than a line about it.
    n_left = 0 if every or not is_text or len(rows) <= _MOST_FILES + 1 else len(rows) - _MOST_FILES
    rows = rows[: len(rows) - n_left]
    first = Column("", "file", [visible(row[1]) for row in rows], left=True)
    called = [visible(PurePath(row[0]).name) for row in rows]
    owners = Column("", "system", [shortened(name, _SYSTEM) for name in called], left=True)
    numbers = {
        name: column._replace(texts=[_cell(row[k], name, is_text) for row in rows])
        for k, (name, column) in enumerate(picked, 2)
    }
    alone = systems[0].signature, systems[0].short_signature
    signature, short = sign_together(systems) if several else alone
    if is_text:
        beside = {"system": owners} if several else {}
        screen = [styled(title, "bold", color=color)]
        if rows:
            how: dict[str, Any] = {"shortest": _SHORTEST, "see": "--format csv", "color": color}
            screen += ["", *lines_and_rest(first, beside | numbers, width or WIDTH, **how)]
        if n_left:
            screen += ["", f"... and {n_left} more: -v shows all files, --format csv all of their scores"]
        screen += ["", *signature_lines(short, width or WIDTH, most=None)]
        return "".join(f"{line}\n" for line in screen)
    table = Table.of(title, [*[owners] * several, first, *numbers.values()], 1 + several)
    if form == "latex":
        from sedeval_soft.report.latex import escaped, latex_table

        cells = tuple((*map(escaped, row[: table.names]), *row[table.names :]) for row in table.rows)
        return latex_table(replace(table, rows=cells), f"{title}.", (signature,))
    inputs = dict.fromkeys(input_line(item) for scores in systems for item in scores.inputs)
    page = Page("Scores of single files", tuple(inputs), (table,), (), signatures=(short,))
    return markdown([page])


def _rows(systems: Sequence[Scores], tables: Sequence[FileScores], names: Sequence[str]) -> Iterator[_Row]:
    """Yield the row of each file: its system, name and length, and its scores, None for a missing score."""
    for scores, table in zip(systems, tables, strict=True):
        nothing = np.full(len(table.files), np.nan)
        columns = [table.scores.get(name, nothing) for name in names]
        for file, *row in zip(table.files, *(c.tolist() for c in (table.length, *columns)), strict=True):
            yield [scores.system, file, *map(finite, row)]


# For people.


def _cell(value: float | None, name: str, is_text: bool) -> str:
    """Return a number as a screen or a document shows it, of a count one decimal on a screen."""
    if is_text and measure_of(name).direction != "none":
        return fitted.number(value)
    return number(value, 1 if is_text else 3)


def _chosen(systems: Sequence[Scores], names: Sequence[str]) -> Iterator[tuple[str, Column]]:
    """Yield the scores that were asked for, each with its column."""
    for rank, name in enumerate(names):
        score = ScoreName.parse(name)
        which = f"[{visible(score.class_name)}]" if score.class_name else f" {score.average}"
        heading = f"{score.basis} {score.reading}"
        label = f"{measure_label(systems[0].settings, score.measure)}{which}"
        # At least as wide as its heading.
        yield name, Column(heading, label.rjust(len(heading)), (), rank=rank)


def _main(systems: Sequence[Scores], names: Sequence[str]) -> Iterator[tuple[str, Column]]:
    """Yield the size of the reference, F, error rate, precision and recall of each basis and reading."""
    settings = systems[0].settings
    f = "f1" if settings.beta == 1 else "fbeta"
    order = in_order(*systems, of=shown_families)
    for place, basis in enumerate(dict.fromkeys(basis for basis, _ in order)):
        readings = [reading for of, reading in order if of == basis]
        # F of all readings comes first, then the size of the reference, then the error rate of the first one.
        sized = "hard" if "hard" in readings else readings[0]
        members = [("n_ref", sized, 10), *((f, reading, 0) for reading in readings)]
        members += [("error_rate", each, 20 if each == readings[0] else 30) for each in readings]
        members += [(measure, reading, 40) for reading in readings for measure in ("precision", "recall")]
        for measure, reading, rank in members:
            stem = f"{basis}.{reading}.{measure}"
            name = next((name for name in names if name in {f"{stem}.micro", f"{stem}.macro"}), None)
            label = "n" if measure == "n_ref" else f"{reading} {measure_label(settings, measure)}"
            if name is not None:
                yield name, Column(basis, label, (), rank=rank + place + 100 * (reading == "optimal"))


def _worst_first(
    systems: Sequence[Scores], tables: Sequence[FileScores], by: str, names: Sequence[str]
) -> list[_Row]:
    """Return the system, the file and the scores of each row in the order of a score, the worst first."""
    direction = measure_of(by).direction
    rows = [*_rows(systems, tables, [by, *names])]
    values = np.array([row[3] for row in rows], dtype=np.float64)
    if direction != "none":
        order = np.argsort(-values if direction == "lower" else values, kind="stable")
        rows = [rows[k] for k in order]
    return [[*row[:2], *row[4:]] for row in rows]


def _title(systems: Sequence[Scores], by: str) -> str:
    """Return the content and the order of the table."""
    if not any(scores.files for scores in systems):
        return "no files"
    several = f" of {len(systems)} systems" if len(systems) > 1 else ""
    title = f"{counted(len(systems[0].files), 'file')}{several}"
    first = {"higher": "lowest", "lower": "highest"}.get(measure_of(by).direction)
    return title if first is None else f"{title}, the {first} {visible(by)} first"
