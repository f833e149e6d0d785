r"""Forms for programs, with documents as equivalent JSON and YAML; and pages of systems, or of their board.

Every output carries the signature, the line that makes it repeatable; `delimited` explains csv and tsv. Every
output can be encoded: a byte of a file's name that is not text is shown as `\udcff`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sedeval_soft.evaluation.scores import Scores, document
from sedeval_soft.report.shown import shown, shown_of_board

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.report.table import Page


def for_programs(systems: Sequence[Scores], form: str, board: Board | None) -> str:
    """Return the scores of systems, or of their board, in a form for programs or for LaTeX."""
    if form in {"csv", "tsv"}:
        from sedeval_soft.report.delimited import delimited

        return delimited(systems, board, "," if form == "csv" else "\t")
    if form == "latex":
        from sedeval_soft.report.latex import latex

        return latex([*map(shown, systems)], board and shown_of_board(board))
    from sedeval_soft.comparison.board import board_document

    return encoded(document(systems) if board is None else board_document(board), form)


def pages_of(systems: Sequence[Scores], board: Board | None, *, in_full: bool = False) -> list[Page]:
    """Return the page of a board, or without one a page for each system.

    in_full: signatures have all settings and hashes.
    """
    if board is not None:
        from sedeval_soft.report.board import board_page

        return [board_page(shown_of_board(board), in_full=in_full)]
    from sedeval_soft.report.page import page_of

    return [page_of(shown(scores), in_full=in_full) for scores in systems]


def notebook(systems: Sequence[Scores], board: Board | None) -> str:
    """Return the first table of a page, the summary or the leaderboard, and its signature as HTML."""
    from sedeval_soft.report.table import html

    (page,) = pages_of(systems, board)
    return html(replace(page, tables=page.tables[: 1 if board is None else 2], notes=()))


def encoded(document: Any, form: str) -> str:  # noqa: ANN401 - plain values
    """Return plain values as JSON or YAML; both forms are equivalent."""
    if form == "json":
        return json_document(document)
    import msgspec

    from sedeval_soft.settings_files import write_plain_yaml

    return write_plain_yaml(msgspec.json.decode(_json(document)))


def json_document(document: Any) -> str:  # noqa: ANN401 - plain values
    """Return plain values as indented JSON without characters that a terminal obeys.

    Values that are not finite become null, like undefined values: no NaN is written.
    """
    import msgspec

    from sedeval_soft.report.escape import json_text

    return json_text(msgspec.json.format(_json(document), indent=2).decode()) + "\n"


def _json(document: Any) -> bytes:  # noqa: ANN401 - plain values
    """Return plain values as JSON; characters that cannot be encoded become escapes."""
    import json
    import re

    import msgspec

    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        text = json.dumps(document, ensure_ascii=False)
        text = re.sub("[\ud800-\udfff]", lambda match: rf"\\u{ord(match[0]):x}", text)
        return msgspec.json.encode(json.loads(text))
