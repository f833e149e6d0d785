"""A board as a page: the leaderboard, the systems side by side, and how sure their order is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sedeval_soft.comparison.board import Agreement, Board, Difference, Discordance, Entry
from sedeval_soft.core.counted import counted
from sedeval_soft.core.value import Scores
from sedeval_soft.core.visible import visible
from sedeval_soft.measures.names import AVERAGES, OVERALL, ScoreNameError, spell
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.report.header import read, scoring
from sedeval_soft.report.intervals import METHODS, ends, of_confidence, resampled
from sedeval_soft.report.layout import measure_label
from sedeval_soft.report.page import Page
from sedeval_soft.report.table import UNDEFINED, Table, number, short
from sedeval_soft.report.tables import families

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
    drawn = (_leaderboard(board), _side_by_side(board), _agreement(board.agreement), _mcnemar(board))
    shown = [table for table in drawn if table.rows]
    return Page(
        title=f"Comparison of {counted(len(board.systems), 'system')}",
        lines=tuple(_header(board)),
        warnings=tuple(dict.fromkeys(warning for scores in board.systems for warning in scores.warnings)),
        tables=tuple(shown),
        notes=tuple(_notes(board, shown)),
        signatures=tuple(dict.fromkeys(scores.signature for scores in board.systems)),
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
    lines = read(item for item in inputs.values() if few or item.role != "system")
    if not few:
        lines.append(("systems", f"{len(board.systems)}; JSON says what was read of each"))
    lines += scoring(first)
    direction = _direction(board)
    better = "" if direction == "none" else f"; {direction} is better"
    lines.append(("ranked by", f"{visible(board.rank_by)}{better}"))
    which = "the first of the ranking" if board.baseline is None else "the baseline"
    lines.append(("against", f"{visible(board.compared_to)}, {which}"))
    drawn = resampled(board.replicates, len(first.files), board.seed)
    lines.append(("resampled", f"{drawn}; {of_confidence(board.confidence)} confidence"))
    if first.settings.ci is not None:
        fixed = ", thresholds fixed" if first.settings.fixed_thresholds else ""
        lines.append(("intervals", f"{METHODS[first.settings.ci]}{fixed}"))
    return lines


def _leaderboard(board: Board) -> Table:
    interval = ends(board.confidence)
    width = max((len(str(entry.rank)) for entry in board.entries), default=1)
    rows = tuple(
        (
            f"{entry.rank:>{width}}{'=' if entry.tied else ''}",
            visible(entry.system),
            *(number(entry.value), _end(entry.low), _end(entry.high)),
            *_difference(entry.difference),
            *_place(entry),
        )
        for entry in board.entries
    )
    return Table(
        f"Leaderboard by {visible(board.rank_by)}",
        (
            *("rank", "system", "value", *interval, "value", *interval),
            *("bootstrap", "exchange", "Holm", "stable", "range"),
        ),
        rows,
        names=2,
        groups=(("", 2), ("score", 3), ("difference", 3), ("p", 3), ("place", 2)),
    )


def _difference(difference: Difference | None) -> tuple[str, ...]:
    if difference is None:
        return ("",) * 6
    return (
        *(_signed(difference.value), _signed(difference.low, ""), _signed(difference.high, "")),
        *map(p_value, (difference.p_bootstrap, difference.p_exchange, difference.p_adjusted)),
    )


def _place(entry: Entry) -> tuple[str, str]:
    stable = "" if entry.stability is None else f"{number(100.0 * entry.stability, 1)} %"
    known = [str(place) for place in (entry.best_place, entry.worst_place) if place is not None]
    return stable, "-".join(dict.fromkeys(known))


def _end(value: float | None) -> str:
    return "" if value is None else number(float(value))


def _signed(value: float | None, missing: str = UNDEFINED) -> str:
    text = missing if value is None else number(value)
    return text if not text or text[0] == "-" or float(text) == 0 else f"+{text}"


def side_by_side(systems: Sequence[Scores]) -> list[tuple[str, str, str]]:
    """Return the scores in which systems stand side by side, as (basis and reading, measure, name)."""
    kinds = _kinds(systems)
    found = dict.fromkeys(family for scores in systems for family in families(scores))
    columns = []
    for basis, reading in found:
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
    headings = [heading for heading, *_ in columns]
    averages = [f"{average} {measure_label(settings, measure)}" for measure, average in _kinds(board.systems)]
    return Table(
        f"Systems side by side: {', '.join(text.removeprefix(f'{OVERALL} ') for text in averages)}",
        ("system", *(measure_label(settings, measure) for _, measure, _ in columns)),
        rows if columns else (),
        groups=(("", 1), *((heading, headings.count(heading)) for heading in dict.fromkeys(headings))),
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


def _discordances(board: Board) -> list[Discordance]:
    """Return the classes in which systems differ, the surest first."""
    found = [item for item in board.discordances if item.p_adjusted < _level(board)]
    return sorted(found, key=lambda item: (item.p_adjusted, item.p))


def _mcnemar(board: Board) -> Table:
    rows = tuple(
        (
            *(visible(item.system), visible(item.class_name)),
            *(str(item.only_system), str(item.only_other), p_value(item.p), p_value(item.p_adjusted)),
        )
        for item in _discordances(board)[:_MOST_DISCORDANCES]
    )
    title = f"Classes in which a system and {visible(board.compared_to)} differ: McNemar's test, hard reading"
    return Table(
        title,
        ("system", "class", "only it", "only other", "exact", "Holm"),
        rows,
        names=2,
        groups=(("", 2), ("segments right", 2), ("p", 2)),
    )


def _notes(board: Board, shown: Iterable[Table]) -> list[str]:
    """Return what a reader must know, a line for each thing."""
    other, sure = visible(board.compared_to), of_confidence(board.confidence)
    found = []
    if any(entry.tied for entry in board.entries):
        found.append(
            f"= marks a rank that is shared: at {sure} confidence these systems cannot be told apart."
        )
    compared = sum(entry.difference is not None for entry in board.entries)
    if compared:
        better = {"higher": ", better above 0", "lower": ", better below 0"}.get(_direction(board), "")
        least = f"No p of these can be below {p_value(1 / (board.replicates + 1))}, 1 in replicates + 1."
        found += [
            f"difference: the score minus that of {other}{better}; both are resampled by the same files.",
            "p bootstrap: two-sided, of no difference, files of both drawn anew together.",
            "p exchange: two-sided, of no difference, files exchanged between the two at random.",
            f"p Holm: p exchange adjusted for {counted(compared, 'comparison')}. {least}",
        ]
    found.append(f"stable: replicates in which a system has its place; range: where it is in {sure} of them.")
    if board.agreement.names:
        turned = "scores of which lower is better are turned round"
        found.append(f"tau: 1 where two scores rank all systems alike, -1 where in reverse; {turned}.")
    found += _notes_of_mcnemar(board)
    if any(score.group is not None for scores in board.systems for score in scores.scores.values()):
        found.append("Scores of groups, scenes and folds are in JSON and YAML.")
    if any(scores.worst for scores in board.systems):
        found.append("What costs most in each system is in JSON and YAML.")
    if any(UNDEFINED in row[table.names :] for table in shown for row in table.rows):
        found.append("- is undefined: there is nothing to divide by, or nothing that varies.")
    return found


def _notes_of_mcnemar(board: Board) -> list[str]:
    if not board.discordances:
        return []
    of, different = len(board.discordances), len(_discordances(board))
    verb = "has" if different == 1 else "have"
    below = f"a Holm-adjusted p below {short(_level(board))}"
    said = f"{different} of {counted(of, 'pair')} of a class and a system {verb} {below}"
    more = different - _MOST_DISCORDANCES
    said += f", {more} more than are shown" if more > 0 else ""
    flatters = "it treats segments as independent, which flatters small differences"
    return [
        f"McNemar: segments that only one of two systems has right; {flatters}.",
        f"McNemar: {said}; JSON has all.",
    ]


def _level(board: Board) -> float:
    """Return the p-value below which a difference is shown; of 1 - 0.95 only the first digits are meant."""
    return round(1 - board.confidence, 12)


def _direction(board: Board) -> str:
    """Return which way the score by which systems are ranked is better; `none` of a score of another kind."""
    try:
        return measure_of(board.rank_by).direction
    except ScoreNameError:
        return "none"
