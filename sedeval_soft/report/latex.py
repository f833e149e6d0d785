r"""Scores as LaTeX: a `tabular` with the rules of booktabs, to be put into a table of one's own.

Of one system it is the summary, of several the leaderboard: systems in rows, the best of each column bold.
Intervals are subscripts; on a leaderboard the score by which systems are ranked has them: a page has no room
for more. The signature is a comment above. Names are escaped, for any engine; letters that
the engine's fonts lack are left to the document.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sedeval_soft.comparison.board import Board
from sedeval_soft.errors import visible
from sedeval_soft.evaluation.scores import Score, Scores
from sedeval_soft.measures.names import AVERAGES, OVERALL, ScoreName, spell
from sedeval_soft.report.board import direction_of, side_by_side
from sedeval_soft.report.layout import measure_label
from sedeval_soft.report.page import families
from sedeval_soft.report.table import UNDEFINED, Table, number

_MEASURES = ("precision", "recall", "f1", "error_rate")

_SIGNS = {
    **{c: f"\\{c}" for c in "#$%&_{}"},
    **{c: f"{{{c}}}" for c in "[]*"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # Of some languages babel makes it a command, in braces too.
    '"': r"\char34{}",
}


def escaped(text: str) -> str:
    """Return a text for LaTeX on one line, also at the begin of a row, where `[` and `*` mean something."""
    return "".join(_SIGNS.get(c, c) for c in visible(text)).replace("--", "-{}-")


def latex(systems: Sequence[Scores]) -> str:
    """Return the summaries of some systems, one below another."""
    return "\n".join(map(_summary, systems))


def latex_board(board: Board) -> str:
    """Return the leaderboard: the systems in its order, and the scores in which they stand side by side."""
    settings = board.systems[0].settings
    columns = side_by_side(board.systems)
    if all(name != board.rank_by for *_, name in columns) and board.rank_by in board.systems[0]:
        first = board.systems[0].score(board.rank_by)
        columns.insert(0, (f"{first.basis} {first.reading}", first.measure, first.name))
    headings = [heading for heading, *_ in columns]
    # Columns of one basis and reading lie together: those that `rank_by` set apart would not be counted.
    columns.sort(key=lambda column: headings.index(column[0]))
    labels = []
    for _, measure, name in columns:
        parsed = ScoreName.parse(name)
        which = parsed.class_name if parsed.average is None else parsed.average.removeprefix(OVERALL)
        part = "" if parsed.group is None else f"@{parsed.group}"
        labels.append(f"{measure_label(settings, measure)} {which}".strip() + part)
    ranks = [f"{entry.rank}{'$^=$' if entry.tied else ''}" for entry in board.entries]
    names = [escaped(scores.system) for scores in board.systems]
    cells = [_column(board.systems, name, ends=name == board.rank_by) for *_, name in columns]
    table = Table(
        "",
        ("rank", "system", *labels),
        tuple(zip(ranks, names, *cells, strict=True)),
        names=2,
        headings=tuple(heading for heading, *_ in columns),
    )
    comments = (f"ranked by {board.rank_by}", *dict.fromkeys(scores.signature for scores in board.systems))
    return _tabular(table, "rl", comments)


def _summary(scores: Scores) -> str:
    present = {score.average for score in scores.scores.values() if score.group is None}
    aside = {"micro", "macro"} <= present
    averages = [a for a in AVERAGES if a in present and (a != "weighted" or not aside)] or ["micro"]
    rows = []
    for basis, reading in families(scores):
        names = [spell(basis, reading, measure, average) for average in averages for measure in _MEASURES]
        if any(name in scores for name in names):
            cells = (_cell(scores.scores.get(name)) for name in names)
            rows.append((escaped(basis), escaped(reading), *cells))
    labels = [measure_label(scores.settings, measure) for measure in _MEASURES]
    table = Table(
        "",
        ("basis", "reading", *labels * len(averages)),
        tuple(rows),
        names=2,
        headings=tuple(average for average in averages for _ in labels),
    )
    return _tabular(table, "ll", (scores.system, scores.signature))


def _column(systems: Sequence[Scores], name: str, *, ends: bool) -> list[str]:
    """Return the cells of one score, the best of them bold; those that look the same are all the best."""
    scores = [system.scores.get(name) for system in systems]
    values = [s.value for s in scores if s is not None and s.value is not None and math.isfinite(s.value)]
    direction = direction_of(name)
    if direction == "none" or len(values) < 2:
        return [_cell(score, ends=ends) for score in scores]
    best = number(max(values) if direction == "higher" else min(values))
    return [_cell(s, ends=ends, bold=s is not None and number(s.value) == best) for s in scores]


def _cell(score: Score | None, *, ends: bool = True, bold: bool = False) -> str:
    """Return a value, the ends of its interval as a subscript; empty where there is no such score."""
    if score is None:
        return ""
    text = number(score.value)
    if text == UNDEFINED:
        text = "--"
    elif text.startswith("-"):
        text = f"$-${text[1:]}"
    if bold:
        text = rf"\textbf{{{text}}}"
    if not ends or score.low is None or score.high is None:
        return text
    return f"{text}$_{{[{number(float(score.low))}, {number(float(score.high))}]}}$"


def _tabular(table: Table, names: str, comments: Iterable[str]) -> str:
    """Return a table whose cells are LaTeX; names: how the columns of names are aligned, such as `ll`."""
    lines = [*(f"% {visible(comment)}" for comment in comments), r"% \usepackage{booktabs}"]
    lines.append(rf"\begin{{tabular}}{{{names}{'r' * (len(table.head) - len(names))}}}")
    lines.append(r"\toprule")
    if table.headings:
        above, rules, at = [""] * table.names, "", table.names + 1
        for heading, count in table.groups[1:]:
            above.append(rf"\multicolumn{{{count}}}{{c}}{{{escaped(heading)}}}")
            rules += rf"\cmidrule(lr){{{at}-{at + count - 1}}}"
            at += count
        lines += [_row(above), rules]
    lines += [_row(map(escaped, table.head)), r"\midrule", *map(_row, table.rows)]
    return "".join(f"{line}\n" for line in (*lines, r"\bottomrule", r"\end{tabular}"))


def _row(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"
