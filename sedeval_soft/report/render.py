r"""Choose a presentation.

Every output carries the signature, the line that makes it repeatable; `delimited` says how csv and tsv do.
Every output can be encoded: a byte of a file's name that is no text is shown as `\udcff`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sedeval_soft.evaluation.scores import Scores, document
from sedeval_soft.measures.names import AVERAGES

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board

FORMATS = ("text", "json", "csv", "tsv", "markdown", "yaml", "latex")

_DELIMITERS = {"csv": ",", "tsv": "\t"}


def render(
    systems: Sequence[Scores],
    form: str = "text",
    *,
    averages: Collection[str] = (),
    color: bool = False,
    width: int | None = None,
    raw_names: bool = False,
) -> str:
    """Return the scores of one or more systems as text in one of `FORMATS`.

    averages: show only these of `micro`, `macro` and `weighted`; all if none is named.
    color, width: draw the tables of `text` for a terminal so many cells wide (None: as wide as they are).
    raw_names: names stay in csv and tsv as they are, also those that a spreadsheet would run as formulas.
    Raises ValueError for another form or average, or for no system.
    """
    return _rendered(tuple(systems), None, form, averages, color, width, raw_names)


def render_board(
    board: Board,
    form: str = "text",
    *,
    averages: Collection[str] = (),
    color: bool = False,
    width: int | None = None,
    raw_names: bool = False,
) -> str:
    """Return the comparison of systems as text in one of `FORMATS`.

    JSON and YAML have all scores of all systems, as `render` has them, csv and tsv a row for each system.
    averages, color, width, raw_names: as of `render`. Raises ValueError as that does.
    """
    return _rendered(board.systems, board, form, averages, color, width, raw_names)


def _rendered(
    systems: tuple[Scores, ...],
    board: Board | None,
    form: str,
    averages: Collection[str],
    color: bool,
    width: int | None,
    raw_names: bool,
) -> str:
    if not systems:
        raise ValueError("there is no system to show")
    if form not in FORMATS:
        raise ValueError(f"{form!r} is not one of {', '.join(FORMATS)}")
    if averages:
        systems = tuple(with_averages(scores, averages) for scores in systems)
        board = board and replace(board, systems=systems)
    if form in _DELIMITERS:
        from sedeval_soft.report.delimited import delimited, delimited_board

        sign = _DELIMITERS[form]
        return (
            delimited_board(board, sign, raw=raw_names) if board else delimited(systems, sign, raw=raw_names)
        )
    if form == "latex":
        from sedeval_soft.report.latex import latex, latex_board

        return latex_board(board) if board else latex(systems)
    if form in {"json", "yaml"}:
        from sedeval_soft.comparison.board import board_document
        from sedeval_soft.report.json import json_document, yaml_document

        whole = document(systems) if board is None else board_document(board)
        return json_document(whole) if form == "json" else yaml_document(whole)
    if board is None:
        from sedeval_soft.report.page import page_of

        pages = [page_of(scores) for scores in systems]
    else:
        from sedeval_soft.report.board import board_page

        pages = [board_page(board)]
    if form == "markdown":
        from sedeval_soft.report.markdown import markdown

        return markdown(pages)
    from sedeval_soft.report.text import text

    return text(pages, color=color, width=width)


def with_averages(scores: Scores, averages: Collection[str]) -> Scores:
    """Return the scores without averages of other kinds; those of classes, and over all classes, stay.

    averages: of `AVERAGES`. Raises ValueError for any other.
    """
    for average in averages:
        if average not in AVERAGES:
            raise ValueError(f"{average!r} is not one of {', '.join(AVERAGES)}")
    unwanted = {*AVERAGES} - {*averages}
    shown = {name: score for name, score in scores.scores.items() if score.average not in unwanted}
    folds, sweep = scores.folds, scores.sweep
    if folds is not None:
        folds = replace(folds, spreads=tuple(spread for spread in folds.spreads if spread.name in shown))
    if sweep is not None:
        sweep = replace(
            sweep, scores={name: values for name, values in sweep.scores.items() if name in shown}
        )
    return replace(scores, scores=shown, folds=folds, sweep=sweep)
