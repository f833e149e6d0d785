"""Where scores went, of one system or of two: a screen, pages, a document, and rows of errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from textwrap import TextWrapper
from typing import Any, TypeVar

from sedeval_soft.apps.diagnosis.results import Diagnosis, Difference, KindOfError, measure_of_f
from sedeval_soft.apps.diagnosis.sensitivity import Bin
from sedeval_soft.apps.diagnosis.sentences import sentences
from sedeval_soft.errors import visible
from sedeval_soft.evaluation import plain
from sedeval_soft.report import (
    Column,
    Family,
    Page,
    Table,
    cells,
    has_thresholds,
    interval,
    json_document,
    lines,
    lines_of,
    markdown,
    name_of,
    number,
    signature_lines,
    signed,
    styled,
    title_lines,
    wrapped,
)

WIDTH, LINES = 80, 40
"""What a screen holds."""

_MOST_BINS, _MOST_CLASSES, _MOST_ROWS = 5, 5, 20
"""Bins, and classes and kinds, that differ most: on a screen, and the latter on a page."""

_ROUNDING = 1e-6
"""How far sums of shares of errors may be from a whole number that they make."""

_SENSITIVITY = "What recall and precision of events depend on"

_LEGEND_OF_TWO = (
    "lost: what the errors cost, all together 1 - F",
    "B wins: what A loses more; the sum is F of B minus F of A",
)

T = TypeVar("T")


def render_diagnoses(
    diagnoses: Sequence[Diagnosis], form: str = "text", *, width: int = WIDTH, color: bool = False
) -> str:
    """Return what one system lost where, or what each of two won where, as text in a form.

    form: `text`, `json`, `csv`, `tsv` or `markdown`. width, color: of the screen, which is text.
    """
    one, several = diagnoses[0], len(diagnoses) > 1
    if form == "json":
        return json_document(_document_of_two(diagnoses) if several else diagnosis_document(one))
    if form == "markdown":
        return markdown([*([_page_of_two(diagnoses)] if several else ()), *map(_page, diagnoses)])
    if form == "text":
        return _screen_of_two(diagnoses, width, color) if several else _screen(one, width, color)
    return _rows(diagnoses, "," if form == "csv" else "\t")


def diagnosis_document(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return the JSON document: `errors` is a list of objects, one for each kind in each average."""
    scores = diagnosis.scores
    return {
        "version": scores.version,
        "signature": scores.signature,
        "system": scores.system,
        "lost": plain(diagnosis.lost),
        "errors": [{name: getattr(each, name) for name in _OF_ERROR} for each in diagnosis.errors],
        "classes": plain(diagnosis.classes),
        "sensitivity": plain(diagnosis.bins),
        "sentences": sentences(diagnosis),
        "suggestions": plain(diagnosis.suggestions),
        "warnings": list(scores.warnings),
    }


def _document_of_two(both: Sequence[Diagnosis]) -> dict[str, Any]:
    """Return the JSON document of two systems: of each its own, and what the second won over the first."""
    one, other = both
    return {
        "systems": [*map(diagnosis_document, both)],
        "differences": plain(one.differences(other)),
        "differences_by_class": plain(one.differences(other, by_class=True)),
    }


_OF_ERROR = (
    "basis", "reading", "average", "kind", "count", "fp", "fn", "share", "low", "high", "of_lost", "gain",
)  # fmt: skip
"""Columns of rows of errors."""


def _rows(diagnoses: Sequence[Diagnosis], delimiter: str) -> str:
    """Return a row for each kind of error in each average of each system, as pandas reads them.

    Of two systems a column has what the second won.
    """
    won, rows = {}, []
    if len(diagnoses) > 1:
        won = {_place(each): each.won for each in diagnoses[0].differences(diagnoses[1])}
    for diagnosis in diagnoses:
        for each in diagnosis.errors:
            more = [won.get(_place(each)) if diagnosis is not diagnoses[0] else None] * bool(won)
            of_error = (getattr(each, name) for name in _OF_ERROR)
            rows.append([diagnosis.scores.system, *of_error, *more])
    return lines(("system", *_OF_ERROR, *["won"] * bool(won)), rows, delimiter)


def _place(each: KindOfError | Difference) -> tuple[str, str, str, str]:
    return each.basis, each.reading, each.average, each.kind


# What a screen and a page have of one system.


def _shown_families(diagnosis: Diagnosis) -> list[Family]:
    """Return the bases and readings that people are shown: without values the soft one repeats the hard."""
    every = diagnosis.families
    if has_thresholds(diagnosis.scores):
        return every
    return [family for family in every if family[1] == "hard"] or every


def _screen(diagnosis: Diagnosis, width: int, color: bool) -> str:
    """Return one screen: kinds of errors, what costs most, what was tried, and what recall depends on."""
    scores = diagnosis.scores
    first, *others = _shown_families(diagnosis)
    blocks = [(_heading(diagnosis, first), _table_lines(diagnosis, first, width, color))]
    for family in others:
        kinds = [each for each in diagnosis.table(*family) if each.count]
        shares = [f"{_in_words(each.kind)} {number(each.share)}" for each in kinds]
        blocks.append((_heading(diagnosis, family), wrapped(shares or ["no errors"], width, "  ")))
    filled = TextWrapper(width, "  ", "      ", break_on_hyphens=False)
    for title, texts in _advice(diagnosis):
        blocks.append((title, [line for text in texts for line in filled.wrap(text)]))
    more = [f"--only {'.'.join(others[0])}: its table"] if others else []
    legend = [
        ["share: what of 1 - F the kind makes", "gain: how much F would rise without it"],
        [*more, "plot errors: a picture"],
    ]
    return _fit(
        title_lines(name_of(scores.system), scores, width, color=color),
        blocks,
        [line for texts in legend for line in wrapped(texts, width)]
        + signature_lines(scores.short_signature, width),
        "Where recall or precision differs most",
        [each for each in diagnosis.bins if each.differs > 0][:_MOST_BINS],
        lambda bins: _bin_lines(bins, width, color),
        color=color,
    )


def _fit(
    head: Sequence[str],
    blocks: Sequence[tuple[str, Sequence[str]]],
    foot: Sequence[str],
    title: str,
    rows: Sequence[T],
    draw: Callable[[Sequence[T]], list[str]],
    *,
    color: bool,
) -> str:
    """Return a screen: its first lines, blocks below their titles, as many rows as fit, its last lines.

    draw: returns the lines of some rows, which stand below a title of their own.
    """
    above = [*head]
    for each, block in blocks:
        above += ["", styled(each, "bold", color=color), *block]
    # A blank line, the title and names of columns stand above the rows, a blank line above the last lines.
    rows = rows[: max(LINES - len(above) - len(foot) - 4, 0)]
    if rows:
        above += ["", styled(title, "bold", color=color), *draw(rows)]
    return "\n".join([*above, "", *foot]) + "\n"


def _in_words(kind: str) -> str:
    """Return the name of a kind of errors in words."""
    return kind.replace("_", " ")


def _heading(diagnosis: Diagnosis, family: Family) -> str:
    """Return F and what is lost, of both averages; of hard segments also at the best thresholds.

    That is a macro average: the best threshold of each class makes this one largest.
    """
    micro, macro = (each for each in diagnosis.lost if (each.basis, each.reading) == family)
    name = f"{'.'.join(family)}.{measure_of_f(diagnosis.scores.settings)}.micro"
    text = f"{name} {number(micro.f)}, lost {number(micro.lost)}; macro {number(macro.f)}"
    if family[0] == "segment" and macro.optimal is not None:
        text += f", at best thresholds {number(macro.optimal)}"
    return text


def _columns(kinds: Sequence[KindOfError]) -> list[list[str]]:
    """Return the texts of kinds of errors by column: those of a page."""
    return [
        [_in_words(each.kind) for each in kinds],
        [_count(each.fp) for each in kinds],
        [_count(each.fn) for each in kinds],
        [number(each.share) for each in kinds],
        [interval(each.low, each.high) for each in kinds],
        [_percent(each.of_lost) for each in kinds],
        ["" if each.kind == "sum" else number(each.gain) for each in kinds],
    ]


def _table_lines(diagnosis: Diagnosis, family: Family, width: int, color: bool) -> list[str]:
    """Return the kinds of errors of a basis and reading, and what they add up to."""
    kinds = [each for each in diagnosis.table(*family) if each.count]
    if not kinds:
        return ["no errors"]
    names, fp, fn, share, ends, lost, gain = _columns([*kinds, _sum(diagnosis, kinds)])
    columns = [
        Column("", "", names, left=True),
        *(Column("", name, texts) for name, texts in (("FP", fp), ("FN", fn), ("share", share))),
        Column("", "", ends, left=True, rank=2),
        *(Column("", name, texts) for name, texts in (("lost", lost), ("gain", gain))),
    ]
    return lines_of(columns, width, shortest=max(map(cells, names)), color=color)


def _sum(diagnosis: Diagnosis, kinds: Sequence[KindOfError]) -> KindOfError:
    """Return all kinds of errors of a basis and reading as one."""
    place = _place(kinds[0])[:3]
    lost = next(each.lost for each in diagnosis.lost if (each.basis, each.reading, each.average) == place)
    fp, fn = (float(sum(getattr(each, name) for each in kinds)) for name in ("fp", "fn"))
    return replace(
        kinds[0], kind="sum", fp=fp, fn=fn, share=lost, low=None, high=None, of_lost=1.0 if lost else None,
    )  # fmt: skip


def _count(value: float) -> str:
    """Return a number of errors, one decimal where segments or values share them; a dash for none."""
    if not value:
        return "-"
    return f"{value:.0f}" if abs(value - round(value)) < _ROUNDING else f"{value:.1f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"


def _advice(diagnosis: Diagnosis) -> list[tuple[str, list[str]]]:
    """Return what costs most, and what raises F: a title and texts each, if there are any."""
    raised: dict[str, list[str]] = {}
    for each in diagnosis.suggestions:
        before, after = number(each.before), number(each.after)
        if after != before:
            text = f"{each.settings}: from {before} to {after}"
            raised.setdefault(f"What raises {each.score}, tried on these files", []).append(text)
    costly = sentences(diagnosis)
    return [("What costs most, in percent of what is lost", costly)] * bool(costly) + [*raised.items()]


def _bin_lines(bins: Sequence[Bin], width: int, color: bool) -> list[str]:
    columns = [
        Column(
            "", "", [f"  {each.measure}, {each.factor}: {visible(each.name)}" for each in bins], left=True
        ),
        Column("", "here", [number(each.value) for each in bins]),
        Column("", "", [interval(each.low, each.high) for each in bins], left=True, rank=1),
        Column("", "elsewhere", [number(each.rest) for each in bins]),
        Column("", "n", [str(each.n) for each in bins]),
    ]
    return lines_of(columns, width, shortest=30, color=color)


def _page(diagnosis: Diagnosis) -> Page:
    """Return all tables of one system."""
    scores, tables = diagnosis.scores, []
    head = ("kind", "FP", "FN", "share", "interval", "of lost", "gain")
    for family in _shown_families(diagnosis):
        columns = zip(head, _columns(diagnosis.table(*family)), strict=True)
        tables.append(Table.of(_heading(diagnosis, family), [(None, *column) for column in columns]))
    if diagnosis.bins:
        rows = tuple(
            (each.measure, each.factor, visible(each.name), number(each.value), interval(each.low, each.high),
             number(each.rest), str(each.n), number(each.share))
            for each in diagnosis.bins
        )  # fmt: skip
        names = ("measure", "factor", "events", "value", "interval", "others", "n", "share")
        tables.append(Table(_SENSITIVITY, names, rows, names=3))
    notes = tuple(f"{title}: {text}" for title, texts in _advice(diagnosis) for text in texts)
    title = f"Where the score of {name_of(scores.system)} went"
    return Page(title, (), tuple(tables), notes, scores.warnings, (scores.short_signature,))


# What they have of two systems.


def _screen_of_two(both: Sequence[Diagnosis], width: int, color: bool) -> str:
    """Return one screen: what each kind of error costs each of two systems, and where classes differ most."""
    one, other = both
    differences = one.differences(other)
    first, *others = _families_of_two(both)
    table = [*_of_family(differences, first), _sum_of_two(both, first)]
    blocks = [(_heading_of_two(both, first), _lines_of_two(table, width, color))]
    for family in others:
        won = [f"{_in_words(each.kind)} {signed(each.won)}" for each in _of_family(differences, family)]
        parts = [f"B wins {won[0]}", *won[1:]] if won else ["no difference"]
        blocks.append((_heading_of_two(both, family), wrapped(parts, width, "  ")))
    signatures = [line for text in _signatures(both) for line in signature_lines(text, width)]
    return _fit(
        title_lines(_title_of_two(both), one.scores, width, color=color),
        blocks,
        [*wrapped(_LEGEND_OF_TWO, width), *signatures],
        _title_of_classes(first),
        _of_family(one.differences(other, by_class=True), first)[:_MOST_CLASSES],
        lambda classes: _lines_of_two(classes, width, color),
        color=color,
    )


def _signatures(both: Sequence[Diagnosis]) -> list[str]:
    return [f"{letter}: {each.scores.short_signature}" for letter, each in zip("AB", both, strict=True)]


def _title_of_two(both: Sequence[Diagnosis]) -> str:
    """Return the names of both systems, with their folders where these alone tell them apart."""
    paths = [each.scores.system for each in both]
    names = [name_of(path) for path in paths]
    one, other = names if names[0] != names[1] else map(visible, paths)
    return f"A: {one}, B: {other}"


def _title_of_classes(family: Family) -> str:
    return f"Classes and kinds that differ most in {'.'.join(family)}"


def _families_of_two(both: Sequence[Diagnosis]) -> list[Family]:
    """Return the bases and readings that are shown of two systems: that both have, and one shows alone."""
    shown = {family for each in both for family in _shown_families(each)}
    return [family for family in both[0].families if family in {*both[1].families} & shown]


def _heading_of_two(both: Sequence[Diagnosis], family: Family) -> str:
    name = f"{'.'.join(family)}.{measure_of_f(both[0].scores.settings)}.micro"
    one, other = (number(each.f_of(*family, "micro")) for each in both)
    return f"{name}: A {one}, B {other}"


def _of_family(differences: Sequence[Difference], family: Family) -> list[Difference]:
    """Return the differences of a micro average that are any."""
    of_average = (each for each in differences if _place(each)[:3] == (*family, "micro"))
    return [each for each in of_average if each.first or each.second]


def _sum_of_two(both: Sequence[Diagnosis], family: Family) -> Difference:
    """Return what all kinds cost together, which is what was lost."""
    first, second = (None if (f := each.f_of(*family, "micro")) is None else 1.0 - f for each in both)
    won = None if first is None or second is None else first - second
    return Difference(*family, "micro", "sum", None, first, second, won)


def _columns_of_two(differences: Sequence[Difference]) -> Iterator[tuple[str, list[str]]]:
    """Yield names and texts of the columns of differences."""
    classes = ["" if each.class_name is None else f"{visible(each.class_name)}: " for each in differences]
    yield "kind", [f"{of}{_in_words(each.kind)}" for of, each in zip(classes, differences, strict=True)]
    yield "lost by A", [number(each.first) for each in differences]
    yield "lost by B", [number(each.second) for each in differences]
    yield "B wins", [signed(each.won) for each in differences]


def _lines_of_two(differences: Sequence[Difference], width: int, color: bool) -> list[str]:
    (_, names), *numbers = _columns_of_two(differences)
    columns = [Column("", "", names, left=True), *(Column("", *column) for column in numbers)]
    return lines_of(columns, width, shortest=30, color=color)


def _page_of_two(both: Sequence[Diagnosis]) -> Page:
    """Return what each of two systems won where."""
    (one, other), tables = both, []
    differences, of_classes = (one.differences(other, by_class=by_class) for by_class in (False, True))
    for family in _families_of_two(both):
        for title, some in (
            (_heading_of_two(both, family), [*_of_family(differences, family), _sum_of_two(both, family)]),
            (_title_of_classes(family), _of_family(of_classes, family)[:_MOST_ROWS]),
        ):
            tables.append(Table.of(title, [(None, *column) for column in _columns_of_two(some)]))
    notes = tuple(f"{text[0].upper()}{text[1:]}." for text in _LEGEND_OF_TWO)
    return Page(_title_of_two(both), (), tuple(tables), notes, (), tuple(_signatures(both)))
