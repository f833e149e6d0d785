"""A board as a page: the leaderboard, the systems side by side, and how sure their order is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sedeval_soft.comparison.board import Agreement, Board
from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.measures.names import AVERAGES, OVERALL, ScoreNameError, spell
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.report.layout import measure_label
from sedeval_soft.report.page import (
    METHODS,
    ends,
    families,
    fixed_thresholds,
    input_line,
    percent,
    resampled,
    scoring,
)
from sedeval_soft.report.table import UNDEFINED, Page, Table, number, number_if_any, short, signed

_MOST_INPUTS = 10
"""Systems up to which what was read of each is said."""

_MOST_DISCORDANCES = 20
"""Rows up to which classes in which systems differ are a table to read."""

_SIDE_BY_SIDE = (
    ("f1", ("macro", "micro", "weighted")),
    ("error_rate", AVERAGES),
    ("kl_divergence", AVERAGES),
    ("psds", (OVERALL,)),
    ("pipsds", (OVERALL,)),
)
"""The measures in which systems stand side by side: each in the first of the averages that there is."""


def board_page(board: Board) -> Page:
    """Return the page of a board."""
    mcnemar, mcnemar_notes = _mcnemar(board)
    drawn = (_leaderboard(board), _side_by_side(board), _agreement(board.agreement), mcnemar)
    tables = tuple(table for table in drawn if table.rows)
    notes = _notes(board, mcnemar_notes)
    if any(UNDEFINED in row[table.names :] for table in tables for row in table.rows):
        notes.append("- is undefined: there is nothing to divide by, or nothing that varies.")
    return Page(
        f"Comparison of {counted(len(board.systems), 'system')}",
        tuple(_header(board)),
        tables,
        tuple(notes),
        tuple(dict.fromkeys(warning for scores in board.systems for warning in scores.warnings)),
        tuple(dict.fromkeys(scores.signature for scores in board.systems)),
    )


def p_value(p: float | None) -> str:
    """Return a p-value with four decimals, a smaller one by powers of ten; never as 0."""
    if p is None or not math.isfinite(p):
        return UNDEFINED
    if p >= 0.0001:
        return f"{p:.4f}"
    return f"{p:.1e}" if p > 0 else "< 1e-300"


def _header(board: Board) -> list[tuple[str, str]]:
    first = board.systems[0]
    inputs = {(item.role, item.name): item for scores in board.systems for item in scores.inputs}
    few = len(board.systems) <= _MOST_INPUTS
    lines = [input_line(item) for item in inputs.values() if few or item.role != "system"]
    if not few:
        lines.append(("systems", f"{len(board.systems)}; JSON says what was read of each"))
    lines += scoring(first)
    direction = direction_of(board.rank_by)
    better = "" if direction == "none" else f"; {direction} is better"
    lines.append(("ranked by", f"{visible(board.rank_by)}{better}"))
    which = "the first of the ranking" if board.baseline is None else "the baseline"
    lines.append(("against", f"{visible(board.compared_to)}, {which}"))
    drawn = resampled(board.replicates, len(first.files), board.seed)
    lines.append(("resampled", f"{drawn}; {percent(board.confidence)} confidence"))
    if first.settings.ci is not None:
        lines.append(("intervals", f"{METHODS[first.settings.ci]}{fixed_thresholds(first.settings)}"))
    return lines


def _leaderboard(board: Board) -> Table:
    interval = ends(board.confidence)
    width = max((len(str(entry.rank)) for entry in board.entries), default=1)
    rows = []
    for entry in board.entries:
        off = entry.difference
        difference: tuple[str, ...] = ("",) * 6
        if off is not None:
            apart = (signed(off.value), *("" if end is None else signed(end) for end in (off.low, off.high)))
            difference = (*apart, *map(p_value, (off.p_bootstrap, off.p_exchange, off.p_adjusted)))
        places = dict.fromkeys(str(p) for p in (entry.best_place, entry.worst_place) if p is not None)
        rows.append(
            (
                f"{entry.rank:>{width}}{'=' if entry.tied else ''}",
                visible(entry.system),
                *(number(entry.value), number_if_any(entry.low), number_if_any(entry.high)),
                *difference,
                "" if entry.stability is None else f"{number(100.0 * entry.stability, 1)} %",
                "-".join(places),
            )
        )
    return Table(
        f"Leaderboard by {visible(board.rank_by)}",
        (
            *("rank", "system", "value", *interval, "value", *interval),
            *("bootstrap", "exchange", "Holm", "stable", "range"),
        ),
        tuple(rows),
        names=2,
        headings=(*["score"] * 3, *["difference"] * 3, *["p"] * 3, *["place"] * 2),
    )


def side_by_side(systems: Sequence[Scores]) -> list[tuple[str, str, str]]:
    """Return the scores in which systems stand side by side, as (basis and reading, measure, name)."""
    columns, kinds = [], _kinds(systems)
    for basis, reading in dict.fromkeys(family for scores in systems for family in families(scores)):
        for measure, average in kinds:
            name = spell(basis, reading, measure, average)
            if any(name in scores for scores in systems):
                columns.append((f"{basis} {reading}", measure, name))
    return columns


def _side_by_side(board: Board) -> Table:
    """Return the main scores of all systems in rows, those of each basis and reading beside one another."""
    settings = board.systems[0].settings
    columns = side_by_side(board.systems)
    rows = tuple(
        (visible(scores.system), *(number(scores[name]) if name in scores else "" for *_, name in columns))
        for scores in board.systems
    )
    averages = [f"{average} {measure_label(settings, measure)}" for measure, average in _kinds(board.systems)]
    return Table(
        f"Systems side by side: {', '.join(text.removeprefix(f'{OVERALL} ') for text in averages)}",
        ("system", *(measure_label(settings, measure) for _, measure, _ in columns)),
        rows if columns else (),
        headings=tuple(heading for heading, *_ in columns),
    )


def _kinds(systems: Sequence[Scores]) -> list[tuple[str, str]]:
    """Return the measures in which systems stand side by side, each with its average."""
    present = {
        (s.measure, s.average) for scores in systems for s in scores.scores.values() if s.group is None
    }
    kinds = []
    for measure, averages in _SIDE_BY_SIDE:
        kinds += [(measure, average) for average in averages if (measure, average) in present][:1]
    return kinds


def _agreement(agreement: Agreement) -> Table:
    """Return Kendall's tau of every two scores; columns are headed by the number of their score."""
    width = len(str(len(agreement.names)))
    numbers = [f"{i:>{width}}" for i in range(1, len(agreement.names) + 1)]
    rows = [
        (place, visible(name), *(number(tau, 3) for tau in row))
        for place, name, row in zip(numbers, agreement.names, agreement.tau, strict=True)
    ]
    title = "How alike scores rank the systems: Kendall's tau"
    return Table(title, ("", "score", *(place.strip() for place in numbers)), tuple(rows), names=2)


def _mcnemar(board: Board) -> tuple[Table, list[str]]:
    """Return the classes in which systems differ, the surest first, and what a reader must know of them."""
    # Of 1 - 0.95 only the first digits are meant.
    level = round(1 - board.confidence, 12)
    sure = sorted(
        (item for item in board.discordances if item.p_adjusted < level),
        key=lambda item: (item.p_adjusted, item.p),
    )
    rows = tuple(
        (
            *(visible(item.system), visible(item.class_name)),
            *(str(item.only_system), str(item.only_other), p_value(item.p), p_value(item.p_adjusted)),
        )
        for item in sure[:_MOST_DISCORDANCES]
    )
    table = Table(
        f"Classes in which a system and {visible(board.compared_to)} differ: McNemar's test, hard reading",
        ("system", "class", "only it", "only other", "exact", "Holm"),
        rows,
        names=2,
        headings=(*["segments right"] * 2, *["p"] * 2),
    )
    if not board.discordances:
        return table, []
    pairs = counted(len(board.discordances), "pair")
    verb = "has" if len(sure) == 1 else "have"
    more = len(sure) - _MOST_DISCORDANCES
    hidden = f", {more} more than are shown" if more > 0 else ""
    independent = "it treats segments as independent, which flatters small differences"
    significant = (
        f"{len(sure)} of {pairs} of a class and a system {verb} a Holm-adjusted p below {short(level)}"
    )
    return table, [
        f"McNemar: segments that only one of two systems has right; {independent}.",
        f"McNemar: {significant}{hidden}; JSON has all.",
    ]


def _notes(board: Board, of_mcnemar: Sequence[str]) -> list[str]:
    """Return what a reader must know, a line for each thing."""
    sure = percent(board.confidence)
    notes = []
    if any(entry.tied for entry in board.entries):
        notes.append(
            f"= marks a rank that is shared: at {sure} confidence these systems cannot be told apart."
        )
    compared = sum(entry.difference is not None for entry in board.entries)
    if compared:
        direction = direction_of(board.rank_by)
        better = {"higher": ", better above 0", "lower": ", better below 0"}.get(direction, "")
        minus = f"the score minus that of {visible(board.compared_to)}{better}"
        least = f"No p of these can be below {p_value(1 / (board.replicates + 1))}, 1 in replicates + 1."
        notes += [
            f"difference: {minus}; both are resampled by the same files.",
            "p bootstrap: two-sided, of no difference, files of both drawn anew together.",
            "p exchange: two-sided, of no difference, files exchanged between the two at random.",
            f"p Holm: p exchange adjusted for {counted(compared, 'comparison')}. {least}",
        ]
    notes.append(f"stable: replicates in which a system has its place; range: where it is in {sure} of them.")
    if board.agreement.names:
        turned = "scores of which lower is better are turned round"
        notes.append(f"tau: 1 where two scores rank all systems alike, -1 where in reverse; {turned}.")
    notes += of_mcnemar
    if any(score.group is not None for scores in board.systems for score in scores.scores.values()):
        notes.append("Scores of groups, scenes and folds are in JSON and YAML.")
    if any(scores.worst for scores in board.systems):
        notes.append("What costs most in each system is in JSON and YAML.")
    return notes


def direction_of(name: str) -> str:
    """Return which way a score is better; `none` of a score of another kind."""
    try:
        return measure_of(name).direction
    except ScoreNameError:
        return "none"
