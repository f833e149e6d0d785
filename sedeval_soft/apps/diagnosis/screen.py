"""The error analysis of one system or of two: a screen, a document, and rows of errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from sedeval_soft.apps.diagnosis.results import (
    OF_ERROR,
    Diagnosis,
    Difference,
    KindOfError,
    lost_of,
    measure_of_f,
    place_of,
)
from sedeval_soft.errors import visible
from sedeval_soft.evaluation import plain
from sedeval_soft.report import (
    Family,
    Table,
    has_thresholds,
    interval,
    json_document,
    lines,
    lines_of,
    name_of,
    number,
    shortened,
    signature_lines,
    signed,
    styled,
    title_lines,
    wrapped,
)

WIDTH = 80
"""Cells of a terminal in a line."""

_MOST = 4
"""Classes, and groups of events, on a screen."""

_LONGEST_FILE, _SHORTEST = 32, 22
"""Cells for the name of a file, and for the first column of a table at the least."""

_ROUNDING = 1e-6
"""The largest distance of a sum of shared errors from the whole number that they make."""

T = TypeVar("T")

_LEGENDS = (
    ("share: part of 1 - F lost to a kind of error", "gain: rise of F without the kind"),
    ("lost: cost of the errors, all together 1 - F", "B wins: loss of A minus loss of B"),
)
"""The words of tables of one system, and of two."""


def render_diagnoses(
    diagnoses: Sequence[Diagnosis], form: str = "text", *, width: int = WIDTH, color: bool = False
) -> str:
    """Return the errors of one system, or the differences between two, as text in a form.

    form: `text`, `json`, `csv` or `tsv`. width, color: of the screen, which is text.
    """
    one, *others = diagnoses
    if form == "json":
        document = {
            "systems": [each.to_dict() for each in diagnoses],
            "differences": plain(one.differences(others[0])),
            "differences_by_class": plain(one.differences(others[0], by_class=True)),
        } if others else one.to_dict()  # fmt: skip
        return json_document(document)
    if form == "text":
        return _screen(diagnoses, width, color)
    return _rows(diagnoses, "," if form == "csv" else "\t")


def _rows(diagnoses: Sequence[Diagnosis], delimiter: str) -> str:
    """Return a row for each kind of error in each average of each system, as pandas reads them.

    For two systems a column has the gains of the second.
    """
    won, rows = {}, []
    if len(diagnoses) > 1:
        won = {place_of(each): each.won for each in diagnoses[0].differences(diagnoses[1])}
    for diagnosis in diagnoses:
        for each in diagnosis.errors:
            more = [won.get(place_of(each)) if diagnosis is not diagnoses[0] else None] * bool(won)
            rows.append([diagnosis.scores.system, *(getattr(each, name) for name in OF_ERROR), *more])
    return lines(("system", *OF_ERROR, *["won"] * bool(won)), rows, delimiter)


def _screen(diagnoses: Sequence[Diagnosis], width: int, color: bool) -> str:
    """Return a page in short: the first basis and reading, and the first rows of the other tables."""
    first, *others = _families(diagnoses)
    text = title_lines(_scored(diagnoses), diagnoses[0].scores, width, color=color)
    for table in _tables(diagnoses, first):
        text += ["", styled(table.title, "bold", color=color)]
        text += lines_of(table.columns, width, shortest=_SHORTEST, color=color)
    more = [f"{_heading(diagnoses, family)}: --only {'.'.join(family)}" for family in others]
    text += ["", *more, *wrapped(_LEGENDS[len(diagnoses) > 1], width)]
    for each in diagnoses:
        text += signature_lines(each.scores.short_signature, width)
    return "\n".join(text) + "\n"


def _scored(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the name of a system; of two also their letters, and their folders if these alone differ."""
    paths = [each.scores.system for each in diagnoses]
    names = [name_of(path) for path in paths]
    if len(names) == 1:
        return names[0]
    shown = names if names[0] != names[1] else map(visible, paths)
    return ", ".join(f"{letter}: {name}" for letter, name in zip("AB", shown, strict=True))


def _families(diagnoses: Sequence[Diagnosis]) -> list[Family]:
    """Return the bases and readings that people see: without values the soft one repeats the hard one."""
    every = [family for family in diagnoses[0].families if family in diagnoses[-1].families]
    if any(has_thresholds(each.scores) for each in diagnoses):
        return every
    return [family for family in every if family[1] == "hard"] or every


def _heading(diagnoses: Sequence[Diagnosis], family: Family) -> str:
    """Return the name of F and its values."""
    name = f"{'.'.join(family)}.{measure_of_f(diagnoses[0].scores.settings)}.micro"
    micro, *second = (each.f(*family) for each in diagnoses)
    if second:
        return f"{name}: A {number(micro)}, B {number(second[0])}"
    macro = diagnoses[0].f(*family, "macro")
    return f"{name} {number(micro)}, lost {number(lost_of(micro))}; macro {number(macro)}"


def _tables(diagnoses: Sequence[Diagnosis], family: Family) -> Iterator[Table]:
    """Yield the tables of a basis and reading."""
    one, *others = diagnoses
    heading = _heading(diagnoses, family)
    if others:
        yield from _tables_of_two(one, others[0], family, heading)
        return
    yield from _tables_of_errors(one, family, heading)
    for score in dict.fromkeys(each.score for each in one.suggestions):
        yield _table(
            f"Settings that raise {score}, tuned on these files: confirm on others",
            [each for each in one.suggestions if each.score == score],
            {"settings": lambda e: e.settings, "without": lambda e: number(e.before),
             "with": lambda e: number(e.after), "gain": lambda e: signed(e.after - e.before)},
        )  # fmt: skip
    if bins := [each for each in one.bins if each.differs > 0][:_MOST]:
        yield _table(
            "Recall and precision by duration and polyphony",
            bins,
            {"events": lambda e: f"{e.measure}, {e.factor}: {visible(e.name)}",
             "here": lambda e: number(e.value), "interval": lambda e: interval(e.low, e.high),
             "elsewhere": lambda e: number(e.rest), "n": lambda e: str(e.n)},
        )  # fmt: skip


def _table(title: str, rows: Iterable[T], columns: Mapping[str, Callable[[T], str]]) -> Table:
    """Return a table with a column for each name, made of rows by functions."""
    every = [*rows]
    return Table.of(title, [(None, name, map(text, every)) for name, text in columns.items()])


def _tables_of_errors(one: Diagnosis, family: Family, heading: str) -> Iterator[Table]:
    """Yield the kinds of errors with their sum, then the costliest classes with the worst example of each."""
    kinds = [each for each in one.table(*family) if each.count]
    fp, fn = sum(each.fp for each in kinds), sum(each.fn for each in kinds)
    whole = KindOfError(*family, "micro", "sum", fp, fn, lost_of(one.f(*family)))
    yield _table(heading, [*kinds, whole], {
        "kind": _in_words, "FP": lambda e: _count(e.fp), "FN": lambda e: _count(e.fn),
        "share": lambda e: number(e.share), "interval": lambda e: interval(e.low, e.high),
        "gain": lambda e: "" if e is whole else number(e.gain),
    })  # fmt: skip

    def example(cost: KindOfError) -> str:
        return "".join(f"{shortened(visible(at.file), _LONGEST_FILE)} at {at.onset:.1f} s" for at in cost.at)

    if classes := [each for each in one.classes if (each.basis, each.reading) == family]:
        yield _table(
            "Costliest errors by class",
            classes[:_MOST],
            {"class and kind": _in_words, "share": lambda each: number(each.share), "worst example": example},
        )


def _tables_of_two(one: Diagnosis, other: Diagnosis, family: Family, heading: str) -> Iterator[Table]:
    """Yield the losses by kind of error with their sum, then the largest differences by class."""
    first, second = (lost_of(each.f(*family)) for each in (one, other))
    won = None if first is None or second is None else first - second
    whole = Difference(*family, "micro", "sum", None, first, second, won)
    kinds, classes = (
        [each for each in some if place_of(each)[:3] == (*family, "micro") and (each.first or each.second)]
        for some in (one.differences(other), one.differences(other, by_class=True))
    )
    columns = {
        "kind": _in_words,
        "lost by A": lambda each: number(each.first),
        "lost by B": lambda each: number(each.second),
        "B wins": lambda each: signed(each.won),
    }
    yield _table(heading, [*kinds, whole], columns)
    yield _table(f"Largest differences by class in {'.'.join(family)}", classes[:_MOST], columns)


def _in_words(error: KindOfError | Difference) -> str:
    """Return the kind of an error in words, after its class if it has one."""
    of = "" if error.class_name is None else f"{visible(error.class_name)}: "
    return f"{of}{error.kind.replace('_', ' ')}"


def _count(value: float) -> str:
    """Return a number of errors, one decimal if segments or values share them; a dash for none."""
    if not value:
        return "-"
    return f"{value:.0f}" if abs(value - round(value)) < _ROUNDING else f"{value:.1f}"
