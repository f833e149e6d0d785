"""Scores in tables. Every score stands in one of them, also one that `layout` does not know.

Only groups of classes and scenes are shown in brief: machines get all their scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sedeval_soft.core.value import Confusion, Score, Scores
from sedeval_soft.errors import visible
from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.report.chance import chance_notes, chance_tables
from sedeval_soft.report.intervals import end_cell, end_names, ends, has_interval
from sedeval_soft.report.layout import AVERAGED, COUNTS, EXACT, OF_CLASSES, Averages, measure_label, of_parts
from sedeval_soft.report.spread import folds_notes, folds_tables, worst_notes, worst_tables
from sedeval_soft.report.sweep import sweep_notes, sweep_tables
from sedeval_soft.report.table import UNDEFINED, Table, exact, number

_MOST_CLASSES = 50
"""Classes up to which their confusion is a table."""

_Column = tuple[str, str]
"""A heading, empty for none, and the measure below it."""

_Cells = dict[tuple[str, ...], dict[_Column, Score]]
"""The scores of each row, by their column."""


def families(scores: Scores) -> list[tuple[str, str]]:
    """Return each basis and reading that has scores: those of the registry in its order, then others."""
    present = dict.fromkeys((score.basis, score.reading) for score in scores.scores.values())
    known = dict.fromkeys((family.basis, family.reading) for family in FAMILIES)
    return [*(row for row in known if row in present), *(row for row in present if row not in known)]


def tables(scores: Scores) -> list[Table]:
    """Return all tables of one system, the summary first."""
    by_family = _by_family(scores, None)
    rest = [s for members in by_family.values() for s in members if s.average is not None]
    found = []
    for of in AVERAGED:
        found.append(_averages(scores, of, [s for s in rest if of.shows(s.measure, s.average)]))
        rest = [s for s in rest if not of.shows(s.measure, s.average)]
    found.append(_averages(scores, _others(rest), rest))
    for (basis, reading), members in by_family.items():
        title = f"Classes, {basis}-based, {reading} reading"
        found += _classes(scores, title, [s for s in members if s.class_name is not None])
    if len(scores.classes) <= _MOST_CLASSES:
        found += [_confusion(matrix) for matrix in scores.confusion]
    # What folds score stands in the table of their spread.
    aside = {None, *(scores.folds.names if scores.folds else ())}
    for part in dict.fromkeys(score.group for score in scores.scores.values()):
        if part is not None and part not in aside:
            found += _of_part(scores, part)
    found += [
        *sweep_tables(scores),
        *folds_tables(scores),
        *worst_tables(scores.worst),
        *chance_tables(scores),
    ]
    return [table for table in found if table.rows]


def _by_family(scores: Scores, part: str | None) -> dict[tuple[str, str], list[Score]]:
    """Return the scores of the whole (None), of a group of classes or of a scene, by basis and reading."""
    members: dict[tuple[str, str], list[Score]] = {family: [] for family in families(scores)}
    for score in scores.scores.values():
        if score.group == part:
            members[score.basis, score.reading].append(score)
    return members


def _of_part(scores: Scores, part: str) -> list[Table]:
    """Return the tables of a group of classes or of a scene: a summary, and the classes of a scene."""
    by_family = _by_family(scores, part)
    title = f", {'group' if part in scores.settings.groups else 'scene'} {visible(part)}"
    averages = [s for members in by_family.values() for s in members if s.average is not None]
    of = of_parts(s.average for s in averages)
    main = [s for s in averages if of.shows(s.measure, s.average)]
    of, main = (of, main) if main else (_others(averages), averages)
    found = [_averages(scores, replace(of, title=of.title + title), main)]
    for (basis, reading), members in by_family.items():
        of_classes = [s for s in members if s.class_name is not None]
        found += _classes(scores, f"Classes, {basis}-based, {reading} reading{title}", of_classes)
    return found


def _confusion(matrix: Confusion) -> Table:
    """Return the counts of pairs of classes, those without a partner at the ends."""
    names = tuple(map(visible, matrix.classes))
    rows = [
        (name, *map(str, pairs), str(missed))
        for name, pairs, missed in zip(names, matrix.pairs, matrix.missed, strict=True)
    ]
    rows.append(("(nothing)", *map(str, matrix.inserted), ""))
    title = f"Confusion of classes, {matrix.basis}-based: reference by row, system by column"
    return Table(title, ("class", *names, "(nothing)"), tuple(rows), names=1, groups=())


def _others(rest: Sequence[Score]) -> Averages:
    """Return the table of the averages that no other table shows."""
    measures = tuple(dict.fromkeys(score.measure for score in rest))
    averages = tuple(dict.fromkeys(score.average or "" for score in rest))
    return Averages("Other averages", measures, averages, stacked=True)


def _averages(scores: Scores, of: Averages, members: Sequence[Score]) -> Table:
    """Return a table of averages; its rows are in the order of its members' families."""
    found = dict.fromkeys((score.basis, score.reading) for score in members)
    if of.stacked:
        cells: _Cells = {(*family, average): {} for family in found for average in of.averages}
        for score in members:
            cells[score.basis, score.reading, score.average or ""]["", score.measure] = score
        columns = [("", measure) for measure in of.measures]
        return _table(scores, of.title, ("basis", "reading", "average"), cells, columns)
    cells = {family: {} for family in found}
    # A title that is about one average needs no heading that repeats it.
    headings = {average: average if len(of.averages) > 1 else "" for average in of.averages}
    for score in members:
        cells[score.basis, score.reading][headings[score.average or ""], score.measure] = score
    columns = [(heading, measure) for heading in headings.values() for measure in of.measures]
    return _table(scores, of.title, ("basis", "reading"), cells, columns)


def _classes(scores: Scores, title: str, members: Sequence[Score]) -> list[Table]:
    """Return the tables of the classes of one basis and reading, with a row for each class."""
    known = {measure for _, measures in OF_CLASSES for measure in measures}
    others = tuple(dict.fromkeys(score.measure for score in members if score.measure not in known))
    found = []
    for suffix, measures in (*OF_CLASSES, (", other measures", others)):
        cells: _Cells = {(label,): {} for label in scores.classes}
        for score in members:
            if score.measure in measures:
                cells[score.class_name or "",]["", score.measure] = score
        columns = [("", measure) for measure in measures]
        found.append(_table(scores, title + suffix, ("class",), cells, columns))
    return found


def _table(
    scores: Scores, title: str, names: tuple[str, ...], cells: _Cells, columns: Sequence[_Column]
) -> Table:
    """Return a table of the rows and columns that have any score."""
    columns = [column for column in columns if any(column in row for row in cells.values())]
    headings = [heading for heading, _ in columns]
    groups = [(heading, headings.count(heading)) for heading in dict.fromkeys(headings)]
    rows, details = _rows(scores.settings.confidence, cells, columns)
    return Table(
        title,
        (*names, *(measure_label(scores.settings, measure) for _, measure in columns)),
        rows,
        names=len(names),
        groups=(("", len(names)), *groups) if any(headings) else (),
        details=details,
    )


def _rows(
    confidence: float, cells: _Cells, columns: Sequence[_Column]
) -> tuple[tuple[tuple[str, ...], ...], frozenset[int]]:
    """Return the rows of values, each with the ends of their intervals below it; and which rows are ends."""
    rows: list[tuple[str, ...]] = []
    details: set[int] = set()
    for name, row in cells.items():
        if not row:
            continue
        members = [row.get(column) for column in columns]
        rows.append((*map(visible, name), *map(_cell, members)))
        if any(map(has_interval, members)):
            below, above = end_names(confidence, len(name))
            details |= {len(rows), len(rows) + 1}
            rows.append((*below, *(end_cell(member, upper=False) for member in members)))
            rows.append((*above, *(end_cell(member, upper=True) for member in members)))
    return tuple(rows), frozenset(details)


def _cell(score: Score | None) -> str:
    """Return a value for a cell, empty where there is no such score."""
    if score is None:
        return ""
    if score.measure in EXACT:
        return exact(score.value)
    return number(score.value, digits=2 if score.measure in COUNTS else 4)


def notes(scores: Scores, shown: Iterable[Table]) -> list[str]:
    """Return what a reader must know of the tables that are shown."""
    shown = list(shown)
    found = []
    if any(table.details for table in shown):
        low, high = ends(scores.settings.confidence)
        found.append(f"The rows {low} and {high} are the ends of the interval of the score above them.")
    if any(UNDEFINED in row[table.names :] for table in shown for row in table.rows):
        found.append("- is undefined: there is nothing to divide by, or nothing to cut.")
    if scores.confusion and len(scores.classes) > _MOST_CLASSES:
        size = len(scores.classes)
        found.append(f"The confusion of {size} classes is in JSON and YAML: no table would hold it.")
    silent: dict[tuple[str, ...], list[str]] = {}
    for basis, reading in families(scores):
        sizes = {label: scores.scores.get(f"{basis}.{reading}.n_ref[{label}]") for label in scores.classes}
        absent = tuple(label for label, size in sizes.items() if size is not None and size.value == 0)
        if any(sizes.values()):
            silent.setdefault(absent, []).append(f"{basis} {reading}")
    for absent, where in silent.items():
        if absent:
            of = f" ({', '.join(where)})" if len(silent) > 1 else ""
            names = ", ".join(map(visible, absent))
            found.append(f"Without reference, so left out of macro averages{of}: {names}.")
    found += [*sweep_notes(scores.sweep), *folds_notes(scores), *worst_notes(scores.worst)]
    return [*found, *chance_notes(scores)]
