"""Results as they are asked for: of all scores, of chosen scores, by class, or of single files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sedeval_soft.fields import FORMATS

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.evaluation.scores import Scores


def render(
    systems: Sequence[Scores],
    form: str = "text",
    *,
    board: Board | None = None,
    color: bool = False,
    width: int | None = None,
    verbose: int = 0,
    by_class: bool = False,
    words: bool = False,
    wanted: Sequence[str] = (),
    averages: Sequence[str] = (),
    per_file: bool = False,
) -> str:
    """Return the scores of one or more systems as text in one of `FORMATS`.

    board: The comparison of these systems, shown instead of them. JSON and YAML still have all scores of all
    systems, and csv and tsv a row for each system. color, width: Draw `text` for a terminal so many cells
    wide (None: 80, and tables at their full width). verbose: 0 for the first screen, 1 for all tables, 2 for
    tables and full signatures. by_class: The screen has all classes, however many. words: The screen explains
    its words. wanted: Names of the only scores that are shown. averages: Averages that are shown with these,
    or in rows of files. per_file: Show the scores of files in rows. Raises ValueError for another form, or
    for no system.
    """
    if not systems:
        raise ValueError("there is no system to show")
    if form not in FORMATS:
        raise ValueError(f"{form!r} is not one of {', '.join(FORMATS)}")
    if per_file:
        from sedeval_soft.report.per_file import render_files

        how: dict[str, Any] = {"every": verbose > 0, "color": color, "width": width}
        return render_files(systems, form, names=wanted, averages=averages, **how)
    if wanted or (by_class and form in {"csv", "tsv", "markdown", "latex"}):
        from sedeval_soft.report.chosen import render_chosen

        return render_chosen(systems, wanted, form, board=board, by_class=by_class, averages=averages)
    if form not in {"text", "markdown"}:
        from sedeval_soft.report.forms import for_programs

        return for_programs(systems, form, board)
    if form == "text" and not verbose:
        from sedeval_soft.report.screen import NARROWEST, WIDTH, Screen

        how = {"width": max(width or WIDTH, NARROWEST), "color": color, "by_class": by_class}
        if board is None:
            return "\n".join([Screen(scores, **how).text(words=words) for scores in systems])
        from sedeval_soft.report.board_screen import BoardScreen

        return BoardScreen(board, **how).text(words=words)
    from sedeval_soft.report.forms import pages_of
    from sedeval_soft.report.table import markdown, text

    pages = pages_of(systems, board, in_full=verbose > 1)
    return markdown(pages) if form == "markdown" else text(pages, color=color, width=width)
