"""The screen of a board: systems by rank, systems that may differ by chance alone, and their differences.

Its content does not depend on the terminal, as on the screen of one system. All tables are on the page of
`report.board`, which `-v` prints.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from sedeval_soft.comparison.board import Board
from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.scores import has_soft_reference, main_score
from sedeval_soft.measures.registry import OVERALL, ScoreName, measure_of
from sedeval_soft.names import told_apart
from sedeval_soft.report.fitted import (
    Column,
    cells,
    folded,
    interval,
    left_out,
    lines_of,
    needed,
    number,
    rest,
    shortened,
    signed,
    styled,
    wrapped,
)
from sedeval_soft.report.legend import footnotes, marked, measure_label, percent
from sedeval_soft.report.screen import WIDTH, name_of, signature_lines, title_lines, word_lines
from sedeval_soft.report.shown import in_order, ranked_first, shown_of_board

_MOST_SYSTEMS = 8
"""Systems that the screen ranks, and compares side by side."""

_MOST_ROWS = 10
"""Bases and readings of the score that ranks."""

_MOST_CLASSES = 6
"""Classes that are shown unless all are asked for."""

_LABEL, _HEAD = 22, 13
"""Cells of labels of rows below which they are not shortened, and of names above columns."""

_RANKS = " <"
"""Behind the score that ranks."""

_Rows = Sequence[tuple[str, str]]
"""Labels of rows, each with the name of the score in it."""


class BoardScreen:
    """Content and style of the screen of a board, in lines of at most `width` cells of a terminal.

    by_class: show every class. ranks: the score that ranks. names: names of the systems, by rank. is_tested:
    whether their differences have p-values. order: the bases and readings of any system.
    """

    def __init__(
        self, board: Board, width: int = WIDTH, *, color: bool = False, by_class: bool = False
    ) -> None:
        """Choose the systems, the bases and the readings that are shown."""
        self.board, self.width, self.color, self.by_class = shown_of_board(board), width, color, by_class
        board = self.board
        self.settings = board.systems[0].settings
        self.ranks = ScoreName.parse(board.rank_by)
        files = [*map(name_of, board)]
        self.names = files if len({*files}) == len(files) else [*map(visible, board)]
        offs = [entry.difference for entry in board.entries]
        self.is_tested = any(off is not None and off.p_adjusted is not None for off in offs)
        self.order = ranked_first(in_order(*board.systems), self.ranks)
        # One more row takes no more room than a line about it.
        count = len(board) if len(board) == _MOST_SYSTEMS + 1 else min(_MOST_SYSTEMS, len(board))
        self.shown = [*range(count)]
        # Columns for which no table has room: they are named once, below all tables.
        self.left_out: dict[str, None] = {}
        if board.baseline is not None:
            self.shown[-1] = max(self.shown[-1], [*board].index(board.baseline))

    def text(self, *, words: bool) -> str:
        """Return all lines; words: explain the words on the screen."""
        scores = self.board.systems[0]
        blocks = [self._head(), self._ranking(), *self._side_by_side()]
        blocks.append(word_lines(scores, self.order, (), self.width) if words else [])
        blocks.append(self._foot())
        return "\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)

    # The systems that are compared, and the score.

    def _head(self) -> list[str]:
        title, better = counted(len(self.names), "system"), measure_of(self.board.rank_by).direction
        kind = "soft" if has_soft_reference(self.board.systems[0]) else "hard"
        why = "" if self.settings.rank_by == self.board.rank_by else f", as the reference is {kind}"
        ranked = f"ranked by {visible(self.board.rank_by)}{why}; {better} is better"
        return [
            *title_lines(title, self.board.systems[0], self.width, color=self.color),
            "",
            *(styled(line, "bold", color=self.color) for line in folded(ranked, self.width)),
        ]

    # The systems by place.

    def _ranking(self) -> list[str]:
        entries = [self.board.entries[i] for i in self.shown]
        size = max(len(str(entry.place)) for entry in entries)
        names = [f"{e.place:>{size}}  {self.names[i]}" for i, e in zip(self.shown, entries, strict=True)]
        offs, dim = [entry.difference for entry in entries], ["dim"] * len(entries)
        p_values = [_p(off.p_adjusted) if off and self.is_tested else "" for off in offs]
        above, below = "not significantly", f"different ({percent(self.board.confidence)})"
        columns = {
            "score": Column("", "score", [number(each.value) for each in entries], ["bold"] * len(entries)),
            "intervals": Column(
                *(
                    "",
                    percent(self.board.confidence),
                    [interval(each.low, each.high) for each in entries],
                    dim,
                ),
                left=True,
                rank=3,
            ),
            "differences": Column("", self._versus(), [signed(o.value) if o else "" for o in offs], rank=2),
            "p": Column("", "p", p_values, rank=1),
            "letters": Column(
                above, below, [each.letters if self.is_tested else "" for each in entries], left=True
            ),
        }
        first = Column("", f"{'':>{size}}  system", names, left=True)
        lines = self._lines(first, columns)
        left = len(self.board) - len(entries)
        return [*lines, *[f"{'':>{size}}  and {left} more: -v"] * (left > 0)]

    def _lines(self, first: Column, columns: Mapping[str, Column], shortest: int = 8) -> list[str]:
        """Return columns as lines, and note the columns that do not fit."""
        self.left_out |= dict.fromkeys(left_out(first, columns, self.width, shortest))
        return lines_of([first, *columns.values()], self.width, shortest=shortest, color=self.color)

    def _versus(self) -> str:
        """Return the heading of differences: the rank of the system from which they are taken."""
        return f"vs {self.board.entries[[*self.board].index(self.board.compared_to)].place}"

    # Differences of systems.

    def _side_by_side(self) -> Iterator[list[str]]:
        """Yield the scores of systems in other readings and by class."""
        groups = [*self._groups()]
        longest = max((cells(text) for _, rows, *_ in groups for text, _ in rows), default=0)
        for title, rows, most, option in groups:
            some = rows if len(rows) <= most + 1 else rows[:most]
            # Below one another, all tables have their columns in the same places.
            first = Column("", f"{title:<{longest}}", [text for text, _ in some], left=True)
            lines = self._lines(first, self._systems(first, some), shortest=_LABEL)
            left = len(rows) - len(some)
            yield [*lines, *[f"... and {left} more: {option}"] * (left > 0)]

    def _systems(self, first: Column, rows: _Rows) -> dict[str, Column]:
        """Return a column for each system, headed by its place, and by its name if there is room."""
        columns = {}
        styles = ["bold" if name == self.board.rank_by else "" for _, name in rows]
        for rank, i in enumerate(self.shown):
            scores, place = self.board.systems[i], self.board.entries[i].place
            head = f"{place} {shortened(self.names[i], _HEAD)}"
            values = [number(scores.get(name)) for _, name in rows]
            columns[head] = Column("", head, values, styles, rank=rank)
        if needed([first, *columns.values()]) <= self.width:
            return columns
        return {head: column._replace(name=head.partition(" ")[0]) for head, column in columns.items()}

    def _groups(self) -> Iterator[tuple[str, _Rows, int, str]]:
        """Yield tables of systems: the title, all rows, how many are shown, and which option shows all."""
        title, rows = self._readings(self.ranks)
        # One row alone would repeat the table above.
        main = main_score(self.board.systems[0])
        if len(rows) < 2 and main:
            title, rows = self._readings(ScoreName.parse(main))
        if rows:
            yield title, rows, _MOST_ROWS, "-v"
        title, rows = self._classes()
        if len(rows) > 1:
            yield title, rows, len(rows) if self.by_class else _MOST_CLASSES, "--by-class"

    def _readings(self, like: ScoreName) -> tuple[str, _Rows]:
        """Return a measure, in one average, of each basis and reading that has it."""
        systems, rows, last = self.board.systems, [], ""
        width = max((len(basis) for basis, _ in self.order), default=0)
        for basis, reading in self.order:
            name = str(like._replace(basis=basis, reading=reading))
            if any(name in scores for scores in systems):
                called = marked(reading, systems[0]) + _RANKS * (name == self.board.rank_by)
                rows.append((f"{basis if basis != last else '':<{width}}  {called}", name))
                last = basis
        average = "" if like.average in {None, OVERALL} else f"{like.average} "
        of_class = "" if like.class_name is None else f" of {visible(like.class_name)}"
        lower = ", lower is better" * (measure_of(str(like)).direction == "lower")
        return f"{average}{measure_label(self.settings, like.measure)}{of_class}{lower}", rows

    def _classes(self) -> tuple[str, _Rows]:
        """Return the score that ranks, or else F1, of each class, the most different first."""
        systems, labels = self.board.systems, self.board.systems[0].classes
        names = {label: visible(label) for label in labels} | told_apart(labels)
        for measure in (self.ranks.measure, "f1"):
            like = self.ranks._replace(measure=measure, average=None)
            of_classes = {str(like._replace(class_name=label)): names[label] for label in labels}
            values = {name: [scores.get(name) for scores in systems] for name in of_classes}
            rows = [(of_classes[name], name) for name, of in values.items() if {*of} != {None}]
            if len(rows) > 1:
                break
        return f"{measure_label(self.settings, measure)} by class", sorted(
            rows, key=lambda row: -_spread(values[row[1]])
        )

    # Notes, and the next steps.

    def _foot(self) -> list[str]:
        board, parts, versus = self.board, [], self._versus()
        if any(entry.difference is not None for entry in board.entries):
            p = ", p after Holm" if self.is_tested else "; it was not tested"
            parts.append(f"{versus}: difference to place {versus.split()[1]}{p}")
        if self.is_tested:
            parts.append("systems that share a letter are not significantly different")
        parts.append(f"{_RANKS.strip()}: ranks the systems")
        if len(self._classes()[1]) > 1:
            parts.append("classes: those that differ most first")
        hints = [
            "-v all tables",
            "--words meanings",
            "--by-class",
            "--baseline SYSTEM",
            "soft-sed-eval report",
        ]
        dim = [
            *folded(f"More: {' | '.join(hints)}", self.width),
            *signature_lines(board.systems[0].short_signature, self.width),
        ]
        return [
            *rest([*self.left_out], self.width),
            *wrapped(parts, self.width),
            *(line for note in footnotes(board.systems[0], self.order) for line in folded(note, self.width)),
            "",
            *(styled(line, "dim", color=self.color) for line in dim),
        ]


def _p(p: float | None) -> str:
    return "<.001" if p is not None and p < 0.001 else number(p)


def _spread(values: Sequence[float | int | None]) -> float:
    """Return the range of values; values that only some systems have are widest apart."""
    defined = [value for value in values if value is not None]
    return max(defined) - min(defined) if len(defined) == len(values) else math.inf
