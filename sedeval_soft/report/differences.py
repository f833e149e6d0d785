"""What each of two systems won where, for people and for programs: a screen, pages, and a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sedeval_soft.errors import visible
from sedeval_soft.evaluation.diagnosis import Diagnosis, Difference, f_of, families, measure_of_f
from sedeval_soft.evaluation.scores import plain
from sedeval_soft.report.diagnosis import (
    LINES,
    WIDTH,
    diagnosis_document,
    diagnosis_page,
    named,
    shown_of,
)
from sedeval_soft.report.fitted import Column, lines_of, number, signed, styled, wrapped
from sedeval_soft.report.heading import name_of, signature_lines, title_lines
from sedeval_soft.report.table import Page, Table

_MOST_CLASSES, _MOST_ROWS = 5, 20
"""Classes and kinds that differ most: on a screen, and on a page."""


def compared_text(one: Diagnosis, other: Diagnosis, *, width: int = WIDTH, color: bool = False) -> str:
    """Return one screen: what each kind of error costs each of two systems, and where classes differ most."""
    both = one, other
    lines = title_lines(_title(both), one.scores, width, color=color)
    differences = one.differences(other)
    first, *others = _families(both)
    lines += ["", styled(_heading(both, first), "bold", color=color)]
    lines += _table_lines([*_of(differences, first), _sum(both, first)], width, color=color)
    for family in others:
        won = [f"{named(each.kind)} {signed(each.won)}" for each in _of(differences, family)]
        lines += ["", styled(_heading(both, family), "bold", color=color)]
        lines += wrapped([f"B wins {won[0]}", *won[1:]] if won else ["no difference"], width, "  ")
    last = ["", *wrapped(_LEGEND, width)]
    for letter, each in zip("AB", both, strict=True):
        last += signature_lines(f"{letter}: {each.scores.short_signature}", width)
    # A blank line, a title and names of columns stand above them.
    room = max(LINES - len(lines) - len(last) - 3, 0)
    classes = _of(one.differences(other, by_class=True), first)[: min(room, _MOST_CLASSES)]
    if classes:
        title = f"Classes and kinds that differ most in {'.'.join(first)}"
        lines += ["", styled(title, "bold", color=color), *_table_lines(classes, width, color=color)]
    return "\n".join([*lines, *last]) + "\n"


_LEGEND = (
    "lost: what the errors cost, all together 1 - F",
    "B wins: what A loses more; the sum is F of B minus F of A",
)


def _title(both: tuple[Diagnosis, Diagnosis]) -> str:
    """Return the names of both systems, with their folders where these alone tell them apart."""
    paths = [each.scores.system for each in both]
    names = [name_of(path) for path in paths]
    one, other = names if names[0] != names[1] else map(visible, paths)
    return f"A: {one}, B: {other}"


def _families(both: tuple[Diagnosis, Diagnosis]) -> list[tuple[str, str]]:
    """Return the bases and readings that are shown of two systems: that both have, and one shows alone."""
    every = [{*families(each.scores)} for each in both]
    shown = {*shown_of(both[0].scores), *shown_of(both[1].scores)}
    return [family for family in families(both[0].scores) if family in every[1] and family in shown]


def _heading(both: tuple[Diagnosis, Diagnosis], family: tuple[str, str]) -> str:
    basis, reading = family
    name = f"{basis}.{reading}.{measure_of_f(both[0].scores.settings)}.micro"
    values = (number(f_of(each.scores, basis, reading, "micro")) for each in both)
    return f"{name}: A {next(values)}, B {next(values)}"


def _of(differences: Sequence[Difference], family: tuple[str, str]) -> list[Difference]:
    """Return the differences of a micro average that are any."""
    return [
        each
        for each in differences
        if (each.basis, each.reading) == family and each.average == "micro" and (each.first or each.second)
    ]


def _sum(both: tuple[Diagnosis, Diagnosis], family: tuple[str, str]) -> Difference:
    """Return what all kinds cost together, which is what was lost."""
    lost = [None if (f := f_of(each.scores, *family, "micro")) is None else 1.0 - f for each in both]
    won = None if lost[0] is None or lost[1] is None else lost[0] - lost[1]
    return Difference(*family, "micro", "sum", None, lost[0], lost[1], won)


def _named(each: Difference) -> str:
    before = "" if each.class_name is None else f"{visible(each.class_name)}: "
    return f"{before}{named(each.kind)}"


def _table_lines(differences: Sequence[Difference], width: int, *, color: bool) -> list[str]:
    columns = [
        Column("", "", [_named(each) for each in differences], left=True),
        Column("", "lost by A", [number(each.first) for each in differences]),
        Column("", "lost by B", [number(each.second) for each in differences]),
        Column("", "B wins", [signed(each.won) for each in differences]),
    ]
    return lines_of(columns, width, shortest=30, color=color)


def compared_pages(one: Diagnosis, other: Diagnosis) -> list[Page]:
    """Return what each of two systems won where, then all tables of each, for Markdown."""
    both, tables = (one, other), []
    differences, of_classes = (one.differences(other, by_class=by_class) for by_class in (False, True))
    for family in _families(both):
        classes = _of(of_classes, family)[:_MOST_ROWS]
        for title, some in (
            (_heading(both, family), [*_of(differences, family), _sum(both, family)]),
            (f"Classes and kinds that differ most in {'.'.join(family)}", classes),
        ):
            rows = ((_named(e), number(e.first), number(e.second), signed(e.won)) for e in some)
            tables.append(Table(title, ("kind", "lost by A", "lost by B", "B wins"), tuple(rows)))
    notes = tuple(f"{text[0].upper()}{text[1:]}." for text in _LEGEND)
    signatures = tuple(f"{letter}: {e.scores.short_signature}" for letter, e in zip("AB", both, strict=True))
    first = Page(_title(both), (), tuple(tables), notes, (), signatures)
    return [first, *map(diagnosis_page, both)]


def compared_document(one: Diagnosis, other: Diagnosis) -> dict[str, Any]:
    """Return the JSON document of two systems: of each its own, and what the second won over the first."""
    return {
        "systems": [diagnosis_document(each) for each in (one, other)],
        "differences": plain(one.differences(other)),
        "differences_by_class": plain(one.differences(other, by_class=True)),
    }
