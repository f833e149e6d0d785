"""Just the scores that were asked for by name: documents and rows of these, and small tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sedeval_soft.errors import visible
from sedeval_soft.evaluation.scores import Score, Scores
from sedeval_soft.report.render import pages_of, render
from sedeval_soft.report.shown import with_scores
from sedeval_soft.report.table import Page, Table, markdown, number

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board


def render_chosen(
    systems: Sequence[Scores],
    names: Sequence[str],
    form: str,
    *,
    board: Board | None = None,
    raw_names: bool = False,
) -> str:
    """Return the named scores of systems in a form of `FORMATS` other than text.

    JSON and YAML are the documents of all scores with these alone; csv and tsv have a row for each system and
    score; Markdown and LaTeX a table of them. Other arguments as for `render`.
    """
    if form in {"csv", "tsv"}:
        from sedeval_soft.report.delimited import delimited_scores

        return delimited_scores(systems, names, "," if form == "csv" else "\t", raw=raw_names)
    if form == "markdown":
        return markdown([chosen_page(systems, names, board)])
    if form == "latex":
        from sedeval_soft.report.board import escaped, tabular

        rows = [
            (escaped(system), escaped(score.name), value(score)) for system, score in _rows(systems, names)
        ]
        comments = dict.fromkeys(scores.signature for scores in systems)
        return tabular(Table("", ("system", "score", "value"), tuple(rows), names=2), "ll", comments)
    members = [with_scores(scores, names) for scores in systems]
    return render(members, form, board=board and replace(board, systems=tuple(members)))


def chosen_page(systems: Sequence[Scores], names: Sequence[str], board: Board | None) -> Page:
    """Return the page of systems with one table, of the named scores."""
    rows = [(visible(system), visible(score.name), value(score)) for system, score in _rows(systems, names)]
    table = Table("Scores", ("system", "score", "value"), tuple(rows), names=2)
    return replace(pages_of(systems, board)[0], tables=(table,), notes=())


def _rows(systems: Sequence[Scores], names: Sequence[str]) -> list[tuple[str, Score]]:
    return [(scores.system, scores.score(name)) for scores in systems for name in dict.fromkeys(names)]


def value(score: Score) -> str:
    """Return a value as tables have it, with its interval where it has one."""
    if score.low is None or score.high is None:
        return number(score.value)
    return f"{number(score.value)} [{number(float(score.low))}, {number(float(score.high))}]"
