r"""Choose a presentation.

Every output carries the signature, the line that makes it repeatable; `delimited` says how csv and tsv do.
Every output can be encoded: a byte of a file's name that is no text is shown as `\udcff`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sedeval_soft.core.value import Scores, document
from sedeval_soft.report.averages import with_averages
from sedeval_soft.report.escape import json_text

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.report.page import Page

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
    if not systems:
        raise ValueError("there is no system to show")
    if averages:
        systems = [with_averages(scores, averages) for scores in systems]
    if form in _DELIMITERS:
        from sedeval_soft.report.delimited import delimited

        return _encodable(delimited(systems, _DELIMITERS[form], raw=raw_names))
    if form in {"text", "markdown"}:
        from sedeval_soft.report.page import page_of

        return _drawn([page_of(scores) for scores in systems], form, color=color, width=width)
    if form == "latex":
        from sedeval_soft.report.latex import latex

        return latex(systems)
    return _written(document(systems), form)


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
    if not board.systems:
        raise ValueError("there is no system to show")
    if averages:
        board = replace(board, systems=tuple(with_averages(scores, averages) for scores in board.systems))
    if form in _DELIMITERS:
        from sedeval_soft.report.delimited import delimited_board

        return _encodable(delimited_board(board, _DELIMITERS[form], raw=raw_names))
    if form in {"text", "markdown"}:
        from sedeval_soft.report.board import board_page

        return _drawn([board_page(board)], form, color=color, width=width)
    if form == "latex":
        from sedeval_soft.report.latex import latex_board

        return latex_board(board)
    from sedeval_soft.comparison.board import board_document

    return _written(board_document(board), form)


def _drawn(pages: Sequence[Page], form: str, *, color: bool, width: int | None) -> str:
    if form == "text":
        from sedeval_soft.report.text import text

        return text(pages, color=color, width=width)
    from sedeval_soft.report.markdown import markdown

    return markdown(pages)


def _written(whole: dict[str, Any], form: str) -> str:
    if form == "json":
        import msgspec

        return json_text(msgspec.json.format(_json(whole), indent=2).decode()) + "\n"
    if form == "yaml":
        return _yaml(whole)
    raise ValueError(f"{form!r} is not one of {', '.join(FORMATS)}")


def _json(whole: dict[str, Any]) -> bytes:
    """Return a document as JSON. What is not finite becomes null, as undefined is: no NaN gets out."""
    import msgspec

    try:
        return msgspec.json.encode(whole)
    except UnicodeEncodeError:
        return msgspec.json.encode(_cleaned(whole))


def _yaml(whole: dict[str, Any]) -> str:
    """Return the very document that JSON has, so that the two cannot differ, as YAML."""
    import msgspec

    from sedeval_soft.config.plain_yaml import write_plain_yaml

    return write_plain_yaml(msgspec.json.decode(_json(whole)))


def _cleaned(value: Any) -> Any:  # noqa: ANN401 - any part of a document
    """Return a part of a document with every text in it encodable."""
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, dict):
        return {key: _cleaned(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_cleaned(part) for part in value]
    return value


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
