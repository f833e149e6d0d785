"""Scores that were chosen by name, side by side: the table of a paper in any form.

Systems in rows and scores in columns, or classes in rows, below them the averages, and in columns the scores
of each system. A number has three digits and its interval beside it; in csv and tsv both are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from sedeval_soft.errors import visible
from sedeval_soft.evaluation.scores import Score, Scores
from sedeval_soft.measures.registry import OVERALL, ScoreName
from sedeval_soft.names import told_apart
from sedeval_soft.report.forms import pages_of, render
from sedeval_soft.report.legend import measure_label, settings_of
from sedeval_soft.report.shown import families, with_scores
from sedeval_soft.report.table import Page, Table, exact, markdown, number, text
from sedeval_soft.settings import split_name

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board

EVERY = "*"
"""In the place of a class: the score of each."""


class ScoreTable(NamedTuple):
    """Scores in columns.

    head: the names of the columns of labels. labels: of each row. columns: heading, name, name in csv, and
    scores of each column, None for a missing score.
    """

    title: str
    head: tuple[str, ...]
    labels: Sequence[tuple[str, ...]]
    columns: Sequence[tuple[str, str, str, Sequence[Score | None]]]

    def drawn(
        self, cell: Callable[[Score | None], str], name: Callable[[str], str] = visible, title: str = ""
    ) -> Table:
        """Return the table of texts. cell: formats a score; name: formats a label."""
        labels = [("", head, [name(row[at]) for row in self.labels]) for at, head in enumerate(self.head)]
        numbers = [(heading, label, map(cell, scores)) for heading, label, _, scores in self.columns]
        return Table.of(title or self.title, [*labels, *numbers], names=len(self.head))


def by_system(systems: Sequence[Scores], names: Iterable[str], title: str = "Scores") -> ScoreTable:
    """Return systems in rows and the scores of these names in columns."""
    columns = []
    for key in dict.fromkeys(names):
        name = ScoreName.parse(key)
        which = name.class_name if name.average is None else name.average.removeprefix(OVERALL)
        group = "" if name.group is None else f"@{name.group}"
        settings = settings_of(systems[0].settings, name.group)
        label = f"{measure_label(settings, name.measure)} {which or ''}".strip() + group
        scores = [each.scores.get(key) for each in systems]
        columns.append((f"{name.basis} {name.reading}", visible(label), key, scores))
    return ScoreTable(title, ("system",), [(each.system,) for each in systems], columns)


def of_each_class(
    systems: Sequence[Scores], names: Iterable[str], averages: Iterable[str] = ()
) -> ScoreTable:
    """Return classes in rows, below them averages, and in columns the measures of these names.

    names: of scores; without any F of each basis and reading. averages: macro and micro if none are named.
    """
    settings = systems[0].settings
    f = "f1" if settings.beta == 1 else "fbeta"
    parsed = [(*name[:3], split_name(str(name))[1]) for name in map(ScoreName.parse, names)]
    stems = dict.fromkeys(parsed or [(*family, f, "") for family in families(systems[0])])
    labels, columns = {label: visible(label) for each in systems for label in each.classes}, []
    rows: list[tuple[str | None, str | None]] = [(None, label) for label in labels]
    rows += [(average, None) for average in averages or ("macro", "micro")]
    for stem in stems:
        for each in systems:
            own = f"@{stem[3]}" if stem[3] else ""
            found = [each.scores.get(f"{ScoreName(*stem[:3], *row)}{own}") for row in rows]
            heading = f"{stem[0]} {stem[1]}"
            label = f"{measure_label(settings_of(settings, stem[3]), stem[2])}{own}"
            key = f"{'.'.join(stem[:3])}{own}"
            if len(systems) > 1:
                heading, label, key = f"{heading} {label}", visible(each.system), f"{key} {each.system}"
            if any(found):
                columns.append((heading, label, key, found))
    kept = [at for at in range(len(rows)) if any(column[-1][at] for column in columns)]
    shown = labels | told_apart([*labels])
    return ScoreTable(
        "Scores by class",
        ("class",),
        [(shown[label] if label else average or "",) for average, label in (rows[at] for at in kept)],
        [(*column[:-1], [column[-1][at] for at in kept]) for column in columns],
    )


def expanded(systems: Sequence[Scores], names: Iterable[str]) -> list[str]:
    """Return names of scores, with `[*]` expanded to all classes that any system has."""
    every = []
    for key in names:
        name, found = ScoreName.parse(key), [key]
        if name.class_name == EVERY and all(key not in each for each in systems):
            labels = dict.fromkeys(label for each in systems for label in each.classes)
            found = [str(name._replace(class_name=label)) for label in labels] or found
        every += found
    return every


def value(score: Score | None) -> str:
    """Return a value as tables show it, with its interval if it has one."""
    if score is None or score.low is None or score.high is None:
        return number(score.value) if score else ""
    return f"{number(score.value)} [{number(float(score.low))}, {number(float(score.high))}]"


# The forms of results.


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
    averages below them, as for names with `[*]`. Other arguments as for `render`.
    """
    if form in {"json", "yaml"}:
        members = [with_scores(scores, expanded([scores], names)) for scores in systems]
        return render(members, form, board=board and replace(board, systems=tuple(members)))
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
