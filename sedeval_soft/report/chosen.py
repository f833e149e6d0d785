"""Chosen scores of systems in one of the forms of results: a table of them, or documents with these alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.report.forms import for_programs, pages_of
from sedeval_soft.report.score_table import ScoreTable, by_system, expanded, of_each_class, value
from sedeval_soft.report.shown import with_scores
from sedeval_soft.report.table import Page, exact, markdown, text

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board


def render_chosen(
    systems: Sequence[Scores],
    names: Sequence[str],
    form: str,
    *,
    board: Board | None = None,
    by_class: bool = False,
    averages: Sequence[str] = (),
) -> str:
    """Return the named scores of systems in one of `FORMATS`.

    JSON and YAML are the documents of all scores with these alone, the others a table. As text they are one
    number in a line, or, if there are more numbers, columns with heads. by_class: with classes in rows,
    averages below them, as for names with `[*]`.
    """
    if form in {"json", "yaml"}:
        members = [with_scores(scores, expanded([scores], names)) for scores in systems]
        return for_programs(members, form, board and replace(board, systems=tuple(members)))
    of_classes = by_class or expanded(systems, names) != [*names]
    table = of_each_class(systems, names, averages) if of_classes else by_system(systems, names)
    has_more = len(systems) > 1 or _has_ends(systems) or systems[0].chance is not None
    if form == "text" and not of_classes and not has_more:
        return "".join(f"{exact(systems[0][name])}\n" for name in names)
    if form in {"csv", "tsv"} or (form == "text" and not of_classes):
        return _lines(systems, table, "," if form == "csv" else "\t")
    if form == "latex":
        from sedeval_soft.report.latex import latex_scores

        return latex_scores(systems, table)
    page = replace(pages_of(systems, board)[0], tables=(table.drawn(value),), notes=())
    return markdown([page]) if form == "markdown" else text([replace(page, lines=())])


def _lines(systems: Sequence[Scores], table: ScoreTable, delimiter: str) -> str:
    """Return a table of scores in rows, exact.

    After a value come the ends of its interval, and its chance level, if they were asked for.
    """
    from sedeval_soft.report.delimited import CHANCE, chance_of, lines

    has_ends = _has_ends(systems)
    head, columns = [*table.head], [*zip(*table.labels, strict=True)]
    for _, _, key, scores in table.columns:
        head += [key, *(f"{key}.{end}" for end in ("low", "high") if has_ends)]
        fields = ("value", *("low", "high") * has_ends)
        columns += [tuple(getattr(score, field, None) for score in scores) for field in fields]
        # Only one system has chance levels.
        if systems[0].chance is not None:
            head += [f"{key}.{name}" for name in CHANCE]
            columns += zip(
                *(chance_of(systems[0], score.name if score else "") for score in scores), strict=True
            )
    return lines(head, zip(*columns, strict=True), delimiter)


def _has_ends(systems: Sequence[Scores]) -> bool:
    return any(scores.settings.ci or scores.runs for scores in systems)


def chosen_page(systems: Sequence[Scores], names: Sequence[str], board: Board | None) -> Page:
    """Return the page of systems with one table, of the named scores."""
    return replace(pages_of(systems, board)[0], tables=(by_system(systems, names).drawn(value),), notes=())
