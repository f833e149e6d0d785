"""Scores that were chosen by name, side by side: the table of a paper in any form.

Systems in rows and scores in columns, or classes in rows, below them the averages, and in columns the scores
of each system. A number has three digits and its interval beside it; in csv and tsv both are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sedeval_soft.errors import visible
from sedeval_soft.evaluation.scores import Score, Scores
from sedeval_soft.measures.registry import OVERALL, ScoreName
from sedeval_soft.names import told_apart
from sedeval_soft.report.legend import measure_label, settings_of
from sedeval_soft.report.shown import in_order
from sedeval_soft.report.table import Table, number
from sedeval_soft.settings import split_name

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
    order = in_order(systems[0])
    stems = dict.fromkeys(parsed or [(*family, f, "") for family in order])
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
