"""A board as a page: the leaderboard, the systems side by side, and how sure their order is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from sedeval_soft.comparison.board import Board, Discordance, Entry
from sedeval_soft.comparison.ranks import level_of
from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.measures.registry import AVERAGES, OVERALL, ScoreName, measure_of
from sedeval_soft.report.fitted import UNDEFINED
from sedeval_soft.report.legend import intervals_by, measure_label, percent, scoring, short
from sedeval_soft.report.page import ends, input_line, resampled
from sedeval_soft.report.shown import in_order
from sedeval_soft.report.table import AnyColumn, Page, Table, number, number_if_any, signed
from sedeval_soft.settings import CLASS_MEANS

_MOST_INPUTS = 10
"""Number of systems up to which the page lists the inputs of each."""

_MOST_DISCORDANCES = 20
"""Rows up to which classes in which systems differ are a table to read."""

_SIDE_BY_SIDE = (
    ("f1", ("macro", "micro", "weighted", *CLASS_MEANS)),
    ("error_rate", AVERAGES),
    ("kl_divergence", AVERAGES),
    ("psds", (OVERALL,)),
    ("pipsds", (OVERALL,)),
)
"""The measures of the side-by-side table: each with the first of the averages present."""


def board_page(board: Board, *, in_full: bool = False) -> Page:
    """Return the page of a board; in_full: with the whole signature."""
    tables = tuple(table for table in _tables(board) if table.rows)
    notes = [*_notes(board)]
    if any(table.numbers_have(UNDEFINED) for table in tables):
        notes.append("- is undefined: there is nothing to divide by, or nothing that varies.")
    return Page(
        f"Comparison of {counted(len(board.systems), 'system')}",
        tuple(_header(board)),
        tables,
        tuple(notes),
        tuple(dict.fromkeys(warning for scores in board.systems for warning in scores.warnings)),
        tuple(
            dict.fromkeys(scores.signature if in_full else scores.short_signature for scores in board.systems)
        ),
    )


def p_value(p: float | None) -> str:
    """Return a p-value with four decimals, a smaller one by powers of ten; never as 0."""
    if p is None or not math.isfinite(p):
        return UNDEFINED
    if p >= 0.0001:
        return f"{p:.4f}"
    return f"{p:.1e}" if p > 0 else "< 1e-300"


def _header(board: Board) -> Iterator[tuple[str, str]]:
    first, few = board.systems[0], len(board.systems) <= _MOST_INPUTS
    inputs = {(item.role, item.name): item for scores in board.systems for item in scores.inputs}
    yield from (input_line(item) for item in inputs.values() if few or item.role != "system")
    if not few:
        yield "systems", f"{len(board.systems)}; JSON says what was read of each"
    yield from scoring(first)
    yield "ranked by", f"{visible(board.rank_by)}; {measure_of(board.rank_by).direction} is better"
    which = "the first of the ranking" if board.baseline is None else "the baseline"
    yield "against", f"{visible(board.compared_to)}, {which}"
    drawn = resampled(board.replicates, len(first.files), board.seed)
    yield "resampled", f"{drawn}; {percent(board.confidence)} confidence"
    if first.settings.ci is not None:
        yield "intervals", intervals_by(first.settings)


def _tables(board: Board) -> Iterator[Table]:
    """Yield the leaderboard, systems side by side, agreement of the scores' rankings, and differences."""
    settings, agreement = board.systems[0].settings, board.agreement
    width, ends_of = max(len(str(entry.place)) for entry in board.entries), ends(board.confidence)
    p_values = "bootstrap", "exchange", "Holm"
    alike = f"different ({percent(board.confidence)})"
    yield Table(
        f"Leaderboard by {visible(board.rank_by)}",
        ("place", "system", *("value", *ends_of) * 2, *p_values, alike, "stable", "range"),
        tuple(_entry(entry, width) for entry in board.entries),
        names=2,
        headings=(
            *("score",) * 3, *("difference",) * 3, *("p",) * 3, "not significantly", *("place",) * 2
        ),
    )  # fmt: skip
    names = [visible(scores.system) for scores in board.systems]
    columns: list[AnyColumn] = [("", "system", names)]
    for heading, measure, name in side_by_side(board.systems):
        values = [number(scores[name]) if name in scores else "" for scores in board.systems]
        columns.append((heading, measure_label(settings, measure), values))
    kinds = (
        f"{average} {measure_label(settings, measure)}".removeprefix(f"{OVERALL} ")
        for measure, average in _kinds(board.systems)
    )
    if len(columns) > 1:
        yield Table.of(f"Systems side by side: {', '.join(kinds)}", columns)
    width = len(str(len(agreement.names)))
    numbers = [str(place).rjust(width) for place in range(1, len(agreement.names) + 1)]
    yield Table(
        "How alike scores rank the systems: Kendall's tau",
        ("", "score", *(place.strip() for place in numbers)),
        tuple(
            (place, visible(name), *(number(tau, 3) for tau in row))
            for place, name, row in zip(numbers, agreement.names, agreement.tau, strict=True)
        ),
        names=2,
    )
    yield Table(
        f"Classes in which a system and {visible(board.compared_to)} differ: McNemar's test, hard reading",
        ("system", "class", "only it", "only other", "exact", "Holm"),
        tuple(
            (
                *(visible(each.system), visible(each.class_name)),
                *(str(each.only_system), str(each.only_other)),
                *(p_value(each.p), p_value(each.p_adjusted)),
            )
            for each in _sure(board)[:_MOST_DISCORDANCES]
        ),
        names=2,
        headings=(*("segments right",) * 2, *("p",) * 2),
    )


def _entry(entry: Entry, width: int) -> tuple[str, ...]:
    """Return a row of the leaderboard; width: of the last place."""
    off, difference = entry.difference, [""] * 6
    if off is not None:
        difference = [signed(off.value), *("" if end is None else signed(end) for end in (off.low, off.high))]
        difference += map(p_value, (off.p_bootstrap, off.p_exchange, off.p_adjusted))
    return (
        f"{entry.place:>{width}}",
        visible(entry.system),
        number(entry.value),
        number_if_any(entry.low),
        number_if_any(entry.high),
        *difference,
        entry.letters,
        "" if entry.stability is None else f"{number(100.0 * entry.stability, 1)} %",
        "-".join(dict.fromkeys(str(k) for k in (entry.best_place, entry.worst_place) if k is not None)),
    )


def _sure(board: Board) -> list[Discordance]:
    """Return the classes in which systems differ, the surest first."""
    significant = [item for item in board.discordances if item.p_adjusted < level_of(board.confidence)]
    return sorted(significant, key=lambda item: (item.p_adjusted, item.p))


def side_by_side(systems: Sequence[Scores]) -> list[tuple[str, str, str]]:
    """Return the scores of the side-by-side table, as (basis and reading, measure, name)."""
    columns = [
        (f"{basis} {reading}", measure, str(ScoreName(basis, reading, measure, average)))
        for (basis, reading), (measure, average) in product(in_order(*systems), _kinds(systems))
    ]
    return [column for column in columns if any(column[-1] in scores for scores in systems)]


def _kinds(systems: Sequence[Scores]) -> list[tuple[str, str]]:
    """Return the measures of the side-by-side table, each with its average."""
    whole = [score for scores in systems for score in scores.scores.values() if score.group is None]
    present = {(score.measure, score.average) for score in whole}
    kinds = []
    for measure, averages in _SIDE_BY_SIDE:
        kinds += [(measure, average) for average in averages if (measure, average) in present][:1]
    return kinds


def _notes(board: Board) -> Iterator[str]:
    """Yield notes for the reader, a line each."""
    sure = percent(board.confidence)
    if any(entry.letters for entry in board.entries):
        yield (
            f"Systems that share a letter are not significantly different ({sure}): each was compared with "
            "those below it, p exchange after Holm."
        )
    compared = sum(each.difference is not None for each in board.entries)
    if compared:
        better = "above" if measure_of(board.rank_by).direction == "higher" else "below"
        yield (
            f"difference: the score minus that of {visible(board.compared_to)}, better {better} 0; both are "
            "resampled by the same files."
        )
        yield "p bootstrap: two-sided, of no difference, files of both resampled together."
        yield "p exchange: two-sided, of no difference, files exchanged between the two at random."
        yield (
            f"p Holm: p exchange adjusted for {counted(compared, 'comparison')}. No p of these can be below "
            f"{p_value(1 / (board.replicates + 1))}, 1 in replicates + 1."
        )
    yield f"stable: replicates in which a system has its place; range: where it is in {sure} of them."
    if board.agreement.names:
        yield (
            "tau: 1 where two scores rank all systems alike, -1 where in reverse; scores of which lower is "
            "better are turned round."
        )
    if board.discordances:
        yield (
            "McNemar: segments that only one of two systems has right; it treats segments as independent, "
            "which flatters small differences."
        )
        differ, pairs = len(_sure(board)), counted(len(board.discordances), "pair")
        more = f", {differ - _MOST_DISCORDANCES} more than are shown" if differ > _MOST_DISCORDANCES else ""
        yield (
            f"McNemar: {differ} of {pairs} of a class and a system {'has' if differ == 1 else 'have'} a "
            f"Holm-adjusted p below {short(level_of(board.confidence))}{more}; JSON has all."
        )
    if any(score.group is not None for scores in board.systems for score in scores.scores.values()):
        yield "Scores of groups, scenes and folds are in JSON and YAML."
    if any(scores.worst for scores in board.systems):
        yield "What costs most in each system is in JSON and YAML."
