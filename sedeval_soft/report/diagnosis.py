"""Where a score went, for people and for programs: a screen, a page, a document, and rows of errors."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from sedeval_soft.errors import visible
from sedeval_soft.evaluation.diagnosis import (
    Diagnosis,
    Difference,
    KindOfError,
    families,
    measure_of_f,
)
from sedeval_soft.evaluation.scores import Scores, plain
from sedeval_soft.evaluation.sensitivity import Bin
from sedeval_soft.measures.errors import LEVELS
from sedeval_soft.report.costs_in_words import sentences
from sedeval_soft.report.fitted import Column, cells, interval, lines_of, number, styled, wrapped
from sedeval_soft.report.heading import name_of, signature_lines, title_lines
from sedeval_soft.report.table import Page, Table

WIDTH, LINES = 80, 40
"""What a screen holds."""

_MOST_BINS = 5

_ROUNDING = 1e-6
"""How far sums of shares of errors may be from a whole number that they make."""


def diagnosis_text(diagnosis: Diagnosis, *, width: int = WIDTH, color: bool = False) -> str:
    """Return one screen: kinds of errors, what costs most, what was tried, and what recall depends on."""
    scores = diagnosis.scores
    lines = title_lines(name_of(scores.system), scores, width, color=color)
    first, *others = shown_of(scores)
    lines += ["", *_table_lines(diagnosis, *first, width, color=color)]
    for basis, reading in others:
        lines += ["", *_brief_lines(diagnosis, basis, reading, width, color=color)]
    for title, texts in _in_words(diagnosis):
        lines += ["", styled(title, "bold", color=color)]
        lines += [line for text in texts for line in _filled(text, width)]
    levels = first == ("event", "hard") and _has_levels(diagnosis.table(*first))
    last = ["", *_legend(others, width, levels=levels), *signature_lines(scores.short_signature, width)]
    # As many as there is room for: a blank line, a title and names of columns stand above them.
    telling = telling_bins(diagnosis)[: max(LINES - len(lines) - len(last) - 3, 0)]
    if telling:
        title = "Where recall or precision differs most"
        lines += ["", styled(title, "bold", color=color), *_bin_lines(telling, width, color=color)]
    return "\n".join([*lines, *last]) + "\n"


def _legend(others: Sequence[tuple[str, str]], width: int, *, levels: bool) -> list[str]:
    """Return what the columns are, and what to type next; levels: whether right thresholds are among them."""
    more = [f"--only {'.'.join(others[0])}: its table"] if others else []
    texts = [
        ["share: what of 1 - F the kind makes", "gain: how much F would rise without it"],
        ["right at another threshold: part of FN", "chance: with files exchanged"] if levels else [],
        [*more, "plot errors: a picture"],
    ]
    return [line for parts in texts if parts for line in wrapped(parts, width)]


def shown_of(scores: Scores) -> list[tuple[str, str]]:
    """Return the bases and readings that people are shown: without values the soft one repeats the hard."""
    every = families(scores)
    if any(item.has_values for item in scores.inputs):
        return every
    return [family for family in every if family[1] == "hard"] or every


def named(kind: str) -> str:
    """Return the name of a kind of errors in words."""
    return kind.replace("_", " ")


def heading(diagnosis: Diagnosis, basis: str, reading: str) -> str:
    """Return F and what is lost, of both averages; of hard segments also at the best thresholds.

    That is a macro average: the best threshold of each class makes this one largest.
    """
    micro, macro = (each for each in diagnosis.lost if (each.basis, each.reading) == (basis, reading))
    name = f"{basis}.{reading}.{measure_of_f(diagnosis.scores.settings)}.micro"
    text = f"{name} {number(micro.f)}, lost {number(micro.lost)}; macro {number(macro.f)}"
    if basis == "segment" and macro.optimal is not None:
        text += f", at best thresholds {number(macro.optimal)}"
    return text


def _table_lines(diagnosis: Diagnosis, basis: str, reading: str, width: int, *, color: bool) -> list[str]:
    """Return the kinds of errors of a basis and reading, and what they add up to."""
    kinds = [each for each in diagnosis.table(basis, reading) if each.count]
    title = styled(heading(diagnosis, basis, reading), "bold", color=color)
    if not kinds:
        return [title, "no errors"]
    rows = [*kinds, _sum(diagnosis, kinds)]
    columns = [
        Column("", "", [named(each.kind) for each in rows], left=True),
        Column("", "FP", [_count(each.fp) for each in rows]),
        Column("", "FN", [_count(each.fn) for each in rows]),
        Column("", "share", [number(each.share) for each in rows]),
        Column("", "", [interval(each.low, each.high) for each in rows], left=True, rank=2),
        Column("", "lost", [_percent(each.of_lost) for each in rows]),
        Column("", "gain", [*(number(each.gain) for each in kinds), ""]),
    ]
    if _has_levels(kinds):
        right = [_right_at(each) for each in rows]
        columns += [
            Column("right at another threshold", name, texts, rank=1)
            for name, texts in zip((*LEVELS, "chance"), zip(*right, strict=True), strict=True)
        ]
    return [title, *lines_of(columns, width, shortest=max(map(cells, columns[0].texts)), color=color)]


def _has_levels(kinds: Sequence[KindOfError]) -> bool:
    """Return whether any miss is right at another threshold."""
    return any(each.lower or each.higher for each in kinds)


def _sum(diagnosis: Diagnosis, kinds: Sequence[KindOfError]) -> KindOfError:
    """Return all kinds of errors of a basis and reading as one."""
    first = kinds[0]
    (lost,) = (
        each.lost
        for each in diagnosis.lost
        if (each.basis, each.reading, each.average) == (first.basis, first.reading, first.average)
    )
    fp, fn, lower, higher = (
        float(sum(getattr(each, name) or 0.0 for each in kinds)) for name in ("fp", "fn", *LEVELS)
    )
    return KindOfError(
        first.basis, first.reading, first.average, "sum", fp, fn, lost, None, None, 1.0 if lost else None,
        None, lower, higher, by_chance=diagnosis.by_chance,
    )  # fmt: skip


def _brief_lines(diagnosis: Diagnosis, basis: str, reading: str, width: int, *, color: bool) -> list[str]:
    """Return the shares of the kinds of errors of a basis and reading on a line or two."""
    kinds = [each for each in diagnosis.table(basis, reading) if each.count]
    shares = [f"{named(each.kind)} {number(each.share)}" for each in kinds]
    title = styled(heading(diagnosis, basis, reading), "bold", color=color)
    return [title, *wrapped(shares or ["no errors"], width, "  ")]


def _count(value: float) -> str:
    """Return a number of errors, one decimal where segments or values share them; a dash for none."""
    if not value:
        return "-"
    return f"{value:.0f}" if abs(value - round(value)) < _ROUNDING else f"{value:.1f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"


def _right_at(each: KindOfError) -> tuple[str, str, str]:
    """Return which part of the misses is right at a lower threshold, at a higher one, and by chance."""
    if not each.fn or each.lower is None or each.higher is None:
        return "", "", ""
    lower, higher = (_percent(count / each.fn) if count else "-" for count in (each.lower, each.higher))
    return lower, higher, "" if each.by_chance is None else _percent(each.by_chance)


def _filled(text: str, width: int) -> list[str]:
    """Return a sentence on as many lines as it needs."""
    return wrap(text, width, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)


def _in_words(diagnosis: Diagnosis) -> list[tuple[str, list[str]]]:
    """Return what costs most, and what raises F: a title and texts each, if there are any."""
    raised: dict[str, list[str]] = {}
    for each in diagnosis.suggestions:
        before, after = number(each.before), number(each.after)
        if after != before:
            text = f"{each.settings}: from {before} to {after}"
            raised.setdefault(f"What raises {each.score}, tried on these files", []).append(text)
    costly = sentences(diagnosis)
    return [("What costs most, in percent of what is lost", costly)] * bool(costly) + [*raised.items()]


def telling_bins(diagnosis: Diagnosis) -> list[Bin]:
    """Return the bins whose recall, or precision, differs most from that of the rest, and surely differs."""
    return [each for each in diagnosis.bins if each.differs > 0][:_MOST_BINS]


def _bin_lines(bins: Sequence[Bin], width: int, *, color: bool) -> list[str]:
    names = [f"  {each.measure}, {each.factor}: {visible(each.name)}" for each in bins]
    columns = [
        Column("", "", names, left=True),
        Column("", "here", [number(each.value) for each in bins]),
        Column("", "", [interval(each.low, each.high) for each in bins], left=True, rank=1),
        Column("", "elsewhere", [number(each.rest) for each in bins]),
        Column("", "n", [str(each.n) for each in bins]),
    ]
    return lines_of(columns, width, shortest=30, color=color)


def diagnosis_page(diagnosis: Diagnosis) -> Page:
    """Return all tables, for Markdown."""
    scores, tables = diagnosis.scores, []
    head = (
        "kind",
        "FP",
        "FN",
        "share",
        "interval",
        "of lost",
        "gain",
        "right at a lower threshold",
        "at a higher one",
        "at one of these by chance",
    )
    for basis, reading in shown_of(scores):
        rows = [
            (named(each.kind), _count(each.fp), _count(each.fn), number(each.share),
             interval(each.low, each.high), _percent(each.of_lost), number(each.gain),
             *_right_at(each))
            for each in diagnosis.table(basis, reading)
        ]  # fmt: skip
        tables.append(Table(heading(diagnosis, basis, reading), head, tuple(rows)))
    if diagnosis.bins:
        rows_of_bins = tuple(
            (each.measure, each.factor, visible(each.name), number(each.value), interval(each.low, each.high),
             number(each.rest), str(each.n), number(each.share))
            for each in diagnosis.bins
        )  # fmt: skip
        columns = ("measure", "factor", "events", "value", "interval", "others", "n", "share")
        title = "What recall and precision of events depend on"
        tables.append(Table(title, columns, rows_of_bins, names=3))
    notes = tuple(f"{title}: {text}" for title, texts in _in_words(diagnosis) for text in texts)
    title = f"Where the score of {name_of(scores.system)} went"
    return Page(title, (), tuple(tables), notes, scores.warnings, (scores.short_signature,))


def diagnosis_document(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return the JSON document: `errors` is a list of objects, one for each kind in each average."""
    scores = diagnosis.scores
    return {
        "version": scores.version,
        "signature": scores.signature,
        "system": scores.system,
        "lost": plain(diagnosis.lost),
        "errors": [{**plain(each), "count": each.count} for each in diagnosis.errors],
        "classes": plain(diagnosis.classes),
        "sensitivity": plain(diagnosis.bins),
        "right_by_chance": diagnosis.by_chance,
        "sentences": sentences(diagnosis),
        "suggestions": plain(diagnosis.suggestions),
        "warnings": list(scores.warnings),
    }


OF_ERROR = (
    "basis", "reading", "average", "kind", "count", "fp", "fn", "share", "low", "high", "of_lost", "gain",
    "lower", "higher", "lower_by", "higher_by", "by_chance", "fp_lower", "fp_higher", "share_lower",
    "share_higher",
)  # fmt: skip
"""Columns of rows of errors."""


def diagnosis_rows(
    diagnoses: Sequence[Diagnosis], delimiter: str, differences: Sequence[Difference] = ()
) -> str:
    """Return a row for each kind of error in each average of each system, as pandas reads them.

    differences: what the second of two systems won, in a column of its own.
    """
    from sedeval_soft.report.delimited import SIGNATURE, lines

    won = {(each.basis, each.reading, each.average, each.kind): each.won for each in differences}
    rows = []
    for place, own in enumerate(diagnoses):
        for each in own.errors:
            row = [own.scores.system, *(getattr(each, name) for name in OF_ERROR)]
            if differences:
                kind = each.basis, each.reading, each.average, each.kind
                row.append(won.get(kind) if place else None)
            rows.append([*row, own.scores.short_signature])
    more = ("won",) if differences else ()
    return lines(("system", *OF_ERROR, *more, SIGNATURE), rows, delimiter)
