"""Where a score went, for people and for programs: a screen, a page, a document, and rows of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any

from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.diagnosis import (
    CostOfClass,
    Diagnosis,
    KindOfError,
    Suggestion,
    f_of,
    families,
    measure_of_f,
)
from sedeval_soft.evaluation.scores import Scores, plain
from sedeval_soft.evaluation.sensitivity import Bin
from sedeval_soft.measures.errors import LEVELS
from sedeval_soft.report.fitted import Column, interval, lines_of, number, styled, wrapped
from sedeval_soft.report.heading import name_of, signature_lines, title_lines
from sedeval_soft.report.table import Page, Table, cells

WIDTH = 80

_MOST_SENTENCES = 3
_MOST_BINS = 5

_ROUNDING = 1e-6
"""How far sums of shares of errors may be from a whole number that they make."""

_LEAST = 0.02
"""The part of all that is lost from which a class's errors of a kind are worth a sentence."""


def diagnosis_text(diagnosis: Diagnosis, *, width: int = WIDTH, color: bool = False) -> str:
    """Return one screen: kinds of errors, what costs most, what was tried, and what recall depends on."""
    scores = diagnosis.scores
    lines = title_lines(name_of(scores.system), scores, width, color=color)
    first, *others = shown_of(scores)
    lines += ["", *_table_lines(diagnosis, *first, width, color=color)]
    if first == ("event", "hard"):
        lines += _by_chance(diagnosis)
    for basis, reading in others:
        lines += ["", *_brief_lines(diagnosis, basis, reading, width, color=color)]
    costly = sentences(diagnosis)
    if costly:
        lines += ["", styled("What costs most", "bold", color=color)]
        lines += [line for text in costly for line in _filled(text, width)]
    if diagnosis.suggestions:
        lines += ["", styled("What was tried, and helps", "bold", color=color)]
        lines += [line for each in diagnosis.suggestions for line in _filled(_suggested(each), width)]
    telling = telling_bins(diagnosis)
    if telling:
        title = "Where recall or precision differs most from that of the others"
        lines += ["", styled(title, "bold", color=color), *_bin_lines(telling, width, color=color)]
    lines += ["", *_legend(others, width)]
    return "\n".join([*lines, *signature_lines(scores.short_signature, width)]) + "\n"


def _legend(others: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return what the columns are, and what to type next."""
    more = [f"--only {'.'.join(others[0])}: its table"] if others else []
    texts = [
        ["share: what of 1 - F a kind makes", "gain: how much F would rise without it"],
        [*more, "plot errors: a picture"],
    ]
    return [line for parts in texts for line in wrapped(parts, width)]


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
        return [title, "  no errors"]
    shares = [each.share for each in kinds if each.share is not None]
    lost = sum(shares) if len(shares) == len(kinds) else None
    rows = [*kinds, replace(kinds[0], kind="sum", fp=0, fn=0, share=lost, low=None, high=None)]
    columns = [
        Column("", "", [f"  {named(each.kind)}" for each in rows], left=True),
        Column("", "FP", [_count(each.fp) for each in rows]),
        Column("", "FN", [_count(each.fn) for each in rows]),
        Column("", "share", [number(each.share) for each in rows]),
        Column("", "", [interval(each.low, each.high) for each in rows], left=True, rank=2),
        Column("", "of lost", [*(_percent(each.of_lost) for each in kinds), "1 - F"]),
        Column("", "gain", [*(_signed(each.gain) for each in kinds), ""]),
        *(
            Column("right at a", level, [*(_right_at(each, level) for each in kinds), ""], rank=1)
            for level in (LEVELS if any(each.lower or each.higher for each in kinds) else ())
        ),
    ]
    return [title, *lines_of(columns, width, shortest=max(map(cells, columns[0].texts)), color=color)]


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


def _signed(value: float | None) -> str:
    text = number(value)
    return text if value is None or value < 0 else f"+{text}"


def _right_at(each: KindOfError, level: str) -> str:
    """Return how many of the misses are right at a lower threshold, or at a higher one."""
    count: float | None = getattr(each, level)
    if count is None or not each.fn:
        return ""
    return _percent(count / each.fn) if count else "-"


def _by_chance(diagnosis: Diagnosis) -> list[str]:
    """Return how many misses are right at another threshold, beside how many would be by chance."""
    kinds = diagnosis.table("event", "hard")
    missed = sum(each.fn for each in kinds)
    right = sum((each.lower or 0.0) + (each.higher or 0.0) for each in kinds)
    if not missed or not right:
        return []
    chance = "" if diagnosis.by_chance is None else f" ({_percent(diagnosis.by_chance)} by chance)"
    return [f"  {_percent(right / missed)} of all misses are right at another threshold{chance}"]


_SENTENCES = {
    "missed": ("", "{misses} of {name} missed"),
    "background": ("{alarms} of {name} with nothing there that explains them", ""),
    "onset": ("", "{misses} of {name} with a wrong onset"),
    "offset": ("", "{misses} of {name} with a wrong offset"),
    "both_boundaries": ("", "{misses} of {name} with a wrong onset and offset"),
    "split": ("{alarms} of {name} that are a part of an event", "{misses} of {name} found in pieces"),
    "merge": ("{alarms} of {name} that hold several events", "{misses} of {name} lost in one with others"),
    "duplicate": ("{alarms} of {name} of events that are found already", ""),
    "confusion": (
        "{alarms} of {name} that are of another class",
        "{misses} of {name} taken for another class",
    ),
    "confusion_and_boundary": (
        "{alarms} of {name} that are of another class, and last otherwise",
        "{misses} of {name} taken for another class, and longer or shorter",
    ),
}
"""What is said of false alarms, and of misses, of events of a class."""

_BOTH = {
    "split": "{misses} of {name} found in {fp:.0f} pieces",
    "merge": "{alarms} of {name} that hold several events, and {fn:.0f} misses with them",
}
"""What is said where both sides have errors, in place of both."""

_OF_SEGMENTS = {
    "boundary": ("{alarms} of {name} beside an event", "{misses} of {name} at an end of an event"),
    "missed": ("", "{misses} of {name} missed"),
    "background": ("{alarms} of {name} with nothing there", ""),
    "confusion": (
        "{alarms} of {name} in place of other classes",
        "{misses} of {name} taken for other classes",
    ),
    "too_low": ("", "values of {name} too low"),
    "too_high": ("values of {name} too high", ""),
}
"""The same of segments."""


def sentences(diagnosis: Diagnosis) -> list[str]:
    """Return the costliest things in plain words: of events, else of segments."""
    every = families(diagnosis.scores)
    f = f_of(diagnosis.scores, *every[0], "micro") if every else None
    if f is None or f >= 1:
        return []
    costs = [each for each in diagnosis.classes if (each.basis, each.reading) == every[0]]
    costly = [each for each in costs if (each.share or 0.0) >= _LEAST * (1 - f)] or costs[:1]
    return [
        f"{_percent((each.share or 0.0) / (1 - f))} of what is lost: {_sentence(each)}."
        for each in costly[:_MOST_SENTENCES]
    ]


def _sentence(cost: CostOfClass) -> str:
    """Return in words what a kind of error costs a class; of a side without errors nothing is said."""
    events = cost.basis == "event"
    of_alarms, of_misses = (_SENTENCES if events else _OF_SEGMENTS)[cost.kind]
    names = {
        "name": visible(cost.class_name),
        "alarms": _counted(cost.fp, "detection" if events else "false segment"),
        "misses": _counted(cost.fn, "event" if events else "segment"),
    }
    if events and cost.kind in _BOTH and cost.fp and cost.fn:
        return _BOTH[cost.kind].format(**names, fp=cost.fp, fn=cost.fn)
    parts = [form.format(**names) for form, n in ((of_misses, cost.fn), (of_alarms, cost.fp)) if form and n]
    return " and ".join(parts)


def _counted(value: float, noun: str) -> str:
    return counted(round(value), noun) if abs(value - round(value)) < _ROUNDING else f"{value:.1f} {noun}s"


def _filled(text: str, width: int) -> list[str]:
    """Return a sentence on as many lines as it needs."""
    return wrap(text, width, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)


def _suggested(each: Suggestion) -> str:
    return f"{each.settings}: {each.score} {number(each.before)} to {number(each.after)}"


def telling_bins(diagnosis: Diagnosis) -> list[Bin]:
    """Return the bins whose recall, or precision, differs most from that of the rest, and surely differs."""
    return [each for each in diagnosis.bins if each.differs > 0][:_MOST_BINS]


def _bin_lines(bins: Sequence[Bin], width: int, *, color: bool) -> list[str]:
    names = [f"  {each.measure}, {each.factor}: {visible(each.name)}" for each in bins]
    columns = [
        Column("", "", names, left=True),
        Column("", "here", [number(each.value) for each in bins]),
        Column("", "", [interval(each.low, each.high) for each in bins], left=True, rank=1),
        Column("", "others", [number(each.rest) for each in bins]),
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
    )
    for basis, reading in shown_of(scores):
        rows = [
            (named(each.kind), _count(each.fp), _count(each.fn), number(each.share),
             interval(each.low, each.high), _percent(each.of_lost), _signed(each.gain),
             *(_right_at(each, level) for level in LEVELS))
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
    notes = (*sentences(diagnosis), *map(_suggested, diagnosis.suggestions))
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
    "lower", "higher",
)  # fmt: skip
"""Columns of rows of errors."""


def diagnosis_rows(diagnoses: Sequence[Diagnosis], delimiter: str) -> str:
    """Return a row for each kind of error in each average of each system, as pandas reads them."""
    from sedeval_soft.report.delimited import SIGNATURE, lines

    rows = [
        [own.scores.system, *(getattr(each, name) for name in OF_ERROR), own.scores.short_signature]
        for own in diagnoses
        for each in own.errors
    ]
    return lines(("system", *OF_ERROR, SIGNATURE), rows, delimiter)


# Two systems: what each won where. Shares of one basis and reading add up to 1 - F, so that their differences
# add up to that of F.


def compared_text(one: Diagnosis, other: Diagnosis, *, width: int = WIDTH, color: bool = False) -> str:
    """Return what each of two systems won where: differences of shares, which add up to that of their F."""
    names = [name_of(each.scores.system) for each in (one, other)]
    lines = title_lines(f"{names[0]} and {names[1]}", one.scores, width, color=color)
    both_shown = {*shown_of(one.scores), *shown_of(other.scores)}
    for basis, reading in (family for family in families(one.scores) if family in both_shown):
        both = [{each.kind: each for each in own.table(basis, reading)} for own in (one, other)]
        won = {kind: (each.share or 0.0) - (both[1][kind].share or 0.0) for kind, each in both[0].items()}
        order = [kind for kind in sorted(won, key=lambda kind: -abs(won[kind])) if won[kind]]
        fs = [f_of(each.scores, basis, reading, "micro") for each in (one, other)]
        name = f"{basis}.{reading}.{measure_of_f(one.scores.settings)}.micro"
        title = f"{name}: {number(fs[0])} and {number(fs[1])}"
        shares = [[number(own[kind].share) for kind in order] for own in both]
        columns = [
            Column("", "", [f"  {named(kind)}" for kind in order] + ["  sum"], left=True),
            *(
                Column("lost by", letter, [*of_one, number(None if f is None else 1 - f)])
                for letter, of_one, f in zip("AB", shares, fs, strict=True)
            ),
            Column("", "B gains", [*(_signed(won[kind]) for kind in order), _signed(sum(won.values()))]),
        ]
        lines += ["", styled(title, "bold", color=color), *lines_of(columns, width, color=color)]
    lines += ["", f"A: {names[0]}; B: {names[1]}. What B gains adds up to its F minus that of A."]
    return "\n".join([*lines, "", *signature_lines(one.scores.short_signature, width)]) + "\n"
