r"""Scores in LaTeX: a `table` with caption, label and the rules of booktabs.

For one system it is the summary, for several the leaderboard: systems in rows, the best of each column bold.
Intervals are subscripts. A page has room for the F of each basis and reading of a leaderboard, and for the
intervals of the score by which systems are ranked. The signature is a comment above. Names are escaped, for
any engine; letters that its fonts lack are left to the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product

from sedeval_soft.comparison.board import Board
from sedeval_soft.errors import visible
from sedeval_soft.evaluation.scores import Score, Scores
from sedeval_soft.measures.registry import AVERAGES, ScoreName, measure_of
from sedeval_soft.report.board import side_by_side
from sedeval_soft.report.fitted import UNDEFINED
from sedeval_soft.report.legend import intervals_by, measure_label, percent
from sedeval_soft.report.score_table import ScoreTable, by_system
from sedeval_soft.report.shown import in_order
from sedeval_soft.report.table import Table, number
from sedeval_soft.settings import CLASS_MEANS

_F = ("f1", "fbeta")
_MEASURES = ("f1", "precision", "recall", "error_rate")

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
    """Return a text for LaTeX on one line, also at the begin of a row, where `[` and `*` have a meaning."""
    return re.sub("-(?=-)", "-{}", "".join(_SIGNS.get(c, c) for c in visible(text)))


def latex(systems: Sequence[Scores], board: Board | None) -> str:
    """Return the leaderboard of a board, or without one the summaries of systems, one below another."""
    if board is not None:
        return _leaderboard(board)
    return "\n".join(latex_scores([scores], _summary(scores)) for scores in systems)


def latex_scores(systems: Sequence[Scores], table: ScoreTable) -> str:
    """Return a table of scores of systems, with their intervals."""
    settings = systems[0].settings
    sure = f" with {percent(settings.confidence)} intervals ({intervals_by(settings)})" if settings.ci else ""
    of = f" of {visible(systems[0].system)}" if len(systems) == 1 else ""
    comments = dict.fromkeys(scores.signature for scores in systems)
    return latex_table(table.drawn(_cell, escaped), f"{table.title}{of}{sure}.", comments)


def _leaderboard(board: Board) -> str:
    """Return the systems in the order of a board, with F of each basis and reading."""
    systems = board.systems
    names = [name for *_, name in side_by_side(systems) if name.split(".")[2] in _F]
    if board.rank_by not in names:
        names.insert(0, board.rank_by)
    columns = by_system(systems, names).columns
    headings = [heading for heading, *_ in columns]
    labels = [(str(e.place), s.system, e.letters) for e, s in zip(board.entries, systems, strict=True)]
    tested = any(entry.letters for entry in board.entries)
    head = ("place", "system", *["group"] * tested)
    # Columns of one basis and reading lie together: those that `rank_by` set apart would not be counted.
    ordered = sorted(columns, key=lambda column: headings.index(column[0]))
    plain = ScoreTable("", head, [label[: len(head)] for label in labels], ())
    table = [*plain.drawn(_cell, escaped).columns]
    for heading, label, name, scores in ordered:
        # The best of a column is bold; equal texts are all the best.
        values = [score.value for score in scores if score is not None and score.value is not None]
        best = {"higher": max, "lower": min}.get(measure_of(name).direction)
        bold = number(best(values)) if best and len(values) > 1 else UNDEFINED
        cells = [_cell(score, bold, ends=name == board.rank_by) for score in scores]
        table.append(table[0]._replace(heading=heading, name=label, texts=cells, left=False))
    caption = f"Systems ranked by {visible(board.rank_by)}."
    if tested:
        sure = percent(board.confidence)
        caption += f" Systems that share a letter are not significantly different ({sure})."
    comments = (f"ranked by {board.rank_by}", *dict.fromkeys(scores.signature for scores in systems))
    return latex_table(Table.of("", table, names=len(head)), caption, comments)


def _summary(scores: Scores) -> ScoreTable:
    present = {score.average for score in scores.scores.values() if score.group is None}
    aside = {"micro", "macro"} <= present
    averages = [a for a in AVERAGES if a in present and (a != "weighted" or not aside)]
    averages = averages or [a for a in CLASS_MEANS if a in present] or ["micro"]
    found = in_order(scores)
    columns = [
        (average, measure_label(scores.settings, measure), measure,
         [scores.scores.get(str(ScoreName(*family, measure, average))) for family in found])
        for average, measure in product(averages, _MEASURES)
    ]  # fmt: skip
    kept = [at for at in range(len(found)) if any(column[-1][at] for column in columns)]
    return ScoreTable(
        "Scores",
        ("basis", "reading"),
        [found[at] for at in kept],
        [(*column[:-1], [column[-1][at] for at in kept]) for column in columns],
    )


def _cell(score: Score | None, bold: str = UNDEFINED, *, ends: bool = True) -> str:
    """Return a value, the ends of its interval as a subscript; empty without such a score."""
    if score is None:
        return ""
    text = plain = number(score.value)
    if plain == UNDEFINED:
        text = "--"
    elif plain.startswith("-"):
        text = f"$-${plain[1:]}"
    if plain == bold != UNDEFINED:
        text = rf"\textbf{{{text}}}"
    if not ends or score.low is None or score.high is None:
        return text
    return f"{text}$_{{[{number(float(score.low))}, {number(float(score.high))}]}}$"


def latex_table(table: Table, caption: str, comments: Iterable[str]) -> str:
    """Return a table with cells in LaTeX, with a caption."""
    above, rules, at = [""] * table.names, "", table.names + 1
    for heading, count in table.groups[1:]:
        above.append(rf"\multicolumn{{{count}}}{{c}}{{{escaped(heading)}}}")
        rules += rf"\cmidrule(lr){{{at}-{at + count - 1}}}"
        at += count
    head, *rows = (rf"{' & '.join(row)} \\" for row in (map(escaped, table.head), *table.rows))
    lines = [
        *(f"% {visible(comment)}" for comment in comments),
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(caption)}}}",
        r"\label{tab:scores}",
        rf"\begin{{tabular}}{{{'l' * table.names}{'r' * (len(table.head) - table.names)}}}",
        r"\toprule",
        *((rf"{' & '.join(above)} \\", rules) if rules else ()),
        *(head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", r"\end{table}"),
    ]
    return "".join(f"{line}\n" for line in lines)
