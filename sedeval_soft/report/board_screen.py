"""The screen of a board: systems by place, which of them may differ by chance alone, and where they differ.

Its content does not depend on the terminal, as on the screen of one system. All tables are on the page of
`report.board`, which `-v` prints.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sedeval_soft.comparison.board import Board, ties
from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.scores import has_soft_reference, main_score
from sedeval_soft.measures.registry import OVERALL, ScoreName, measure_of
from sedeval_soft.names import told_apart
from sedeval_soft.report.board import places
from sedeval_soft.report.fitted import (
    UNDEFINED,
    Column,
    cells,
    folded,
    interval,
    lines_and_rest,
    number,
    shortened,
    styled,
    wrapped,
)
from sedeval_soft.report.heading import name_of, signature_lines, title_lines, word_lines
from sedeval_soft.report.legend import footnotes, marked, measure_label, percent
from sedeval_soft.report.screen import WIDTH
from sedeval_soft.report.shown import families, in_order, ranked_first, shown_of_board

_MOST_SYSTEMS = 8
"""Systems that are ranked on the screen, and that stand side by side where there is room."""

_MOST_ROWS = 10
"""Bases and readings of the score that ranks."""

_MOST_CLASSES = 6
"""Classes that are shown unless all are asked for."""

_LABEL = 22
"""Cells that names of scores and classes may take in any case."""

_NARROWEST, _NAMED = 7, 13
"""Cells of a column of numbers; from the second on names above are shortened, below are places alone."""

_RANKS = " <"
"""Behind the score that ranks."""


def board_screen(
    board: Board, *, width: int = WIDTH, color: bool = False, by_class: bool = False, words: bool = False
) -> str:
    """Return the screen of a board, lines of at most `width` cells of a terminal.

    by_class: show every class. words: say what the words on it mean.
    """
    return _BoardScreen(shown_of_board(board), width, color=color, by_class=by_class).text(words=words)


class _Group(NamedTuple):
    """Scores in which systems stand side by side: rows of a label and the name of a score.

    most: rows that are shown. option: which shows all.
    """

    title: str
    rows: Sequence[tuple[str, str]]
    most: int
    option: str


class _BoardScreen:
    """What is shown of a board, and how.

    ranks: the score that ranks. names: what the systems are called, by place. is_tested: whether there are
    p-values of their differences. order: the bases and readings of any system.
    """

    def __init__(self, board: Board, width: int, *, color: bool, by_class: bool) -> None:
        self.board, self.width, self.color, self.by_class = board, width, color, by_class
        self.settings = board.systems[0].settings
        self.ranks = ScoreName.parse(board.rank_by)
        files = [*map(name_of, board)]
        self.names = files if len({*files}) == len(files) else [*map(visible, board)]
        offs = [entry.difference for entry in board.entries]
        self.is_tested = any(off is not None and off.p_adjusted is not None for off in offs)
        present = dict.fromkeys(family for scores in board.systems for family in families(scores))
        self.order = ranked_first(in_order([*present], board.systems[0]), self.ranks)

    def text(self, *, words: bool) -> str:
        """Return all lines."""
        blocks = [self._head(), self._ranking(), *self._side_by_side()]
        scores = self.board.systems[0]
        blocks.append(word_lines(scores, self.order, (), self.width) if words else [])
        blocks.append(self._foot())
        return "\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)

    def _first(self, count: int) -> list[int]:
        """Return the numbers of the first so many systems, among which the baseline is in any case."""
        shown = [*range(min(count, len(self.names)))]
        if self.board.baseline is not None:
            shown[-1] = max(shown[-1], [*self.board].index(self.board.baseline))
        return shown

    def _dim(self, lines: Sequence[str]) -> list[str]:
        return [styled(line, "dim", color=self.color) for line in lines]

    # What is compared, and by which score.

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
        board, tied = self.board, ties(self.board)
        # One more takes no more room than to say that there is one.
        shown = self._first(_MOST_SYSTEMS + (len(board) == _MOST_SYSTEMS + 1))
        entries = [board.entries[i] for i in shown]
        size = max(len(str(entry.place)) for entry in entries)
        names = [f"{entry.place:>{size}}  {self.names[i]}" for i, entry in zip(shown, entries, strict=True)]
        offs = [entry.difference for entry in entries]
        alone, undefined = ("none", UNDEFINED) if self.is_tested else ("", "")
        first = Column("", f"{'':>{size}}  system", names, left=True)
        ends, dim = [interval(each.low, each.high) for each in entries], ["dim"] * len(entries)
        values, tied_with = (
            [number(each.value) for each in entries],
            [[e.place for e in tied[i]] for i in shown],
        )
        versus = [_signed(off.value) if off else "" for off in offs]
        p_values = [_p(off.p_adjusted) or undefined if off else "" for off in offs]
        columns = {
            "score": Column("", "score", values, ["bold"] * len(entries)),
            "intervals": Column("", percent(board.confidence), ends, dim, left=True, rank=3),
            "differences": Column("", self._versus(), versus, rank=2),
            "p": Column("", "p", p_values, rank=1),
            "ties": Column("", "tied with", [places(each) or alone for each in tied_with]),
        }
        lines = lines_and_rest(first, columns, self.width, color=self.color)
        if len(board) > len(shown):
            lines.append(f"{'':>{size}}  and {len(board) - len(shown)} more: -v")
        return lines

    def _versus(self) -> str:
        """Return what stands above differences: the place of the system from which they are taken."""
        return f"vs {self.board.entries[[*self.board].index(self.board.compared_to)].place}"

    # Where systems differ.

    def _side_by_side(self) -> Iterator[list[str]]:
        """Yield what systems score in other readings and by class."""
        groups = [*self._groups()]
        shown = self._first(min(_MOST_SYSTEMS, max(1, (self.width - _LABEL) // _NARROWEST)))
        places_of = [str(self.board.entries[i].place) for i in shown]
        heads = [f"{place} {self.names[i]}" for place, i in zip(places_of, shown, strict=True)]
        size = min(max(_NARROWEST, *map(cells, heads)) + 2, (self.width - _LABEL) // len(shown))
        if size < _NAMED and size < max(map(cells, heads)) + 2:
            heads = places_of
        heads = [shortened(head, size - 2) for head in heads]
        longest = max((cells(text) for group in groups for text, _ in group.rows), default=0)
        label = min(longest + 1, self.width - size * len(shown))
        for title, rows, most, option in groups:
            cut = rows if len(rows) <= most + 1 else rows[:most]
            lines = [styled(_aligned(title, label, heads, size), "dim", color=self.color)]
            lines += [self._line(text, label, name, shown, size) for text, name in cut]
            if len(cut) < len(rows):
                lines.append(f"... and {len(rows) - len(cut)} more: {option}")
            yield lines

    def _line(self, text: str, label: int, name: str, shown: Sequence[int], size: int) -> str:
        """Return a score of systems."""
        line = _aligned(text, label)
        style = "bold" if name == self.board.rank_by else ""
        for value in (self.board.systems[i].get(name) for i in shown):
            cell = number(value)
            line += " " * (size - cells(cell)) + styled(cell, style, color=self.color)
        return line

    def _groups(self) -> Iterator[_Group]:
        """Yield what systems are compared in: the score that ranks in all readings, or F1, and of classes."""
        same = self._readings(self.ranks)
        # One row alone would say again what is said above.
        if len(same.rows) < 2:
            main = main_score(self.board.systems[0])
            same = self._readings(ScoreName.parse(main)) if main else same
        yield from [same] if same.rows else []
        yield from self._classes()

    def _readings(self, like: ScoreName) -> _Group:
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
        lower = measure_of(str(like)).direction == "lower"
        title = (
            f"{average}{measure_label(self.settings, like.measure)}{of_class}{', lower is better' * lower}"
        )
        return _Group(title, rows, _MOST_ROWS, "-v")

    def _classes(self) -> list[_Group]:
        """Return the score that ranks, or else F1, of each class, the most different first."""
        systems, labels = self.board.systems, self.board.systems[0].classes
        names = {label: visible(label) for label in labels} | told_apart(labels)
        for measure in (self.ranks.measure, "f1"):
            like = self.ranks._replace(measure=measure, average=None)
            of_classes = {label: str(like._replace(class_name=label)) for label in labels}
            values = {name: [scores.get(name) for scores in systems] for name in of_classes.values()}
            rows = [
                (names[label], name)
                for label, name in of_classes.items()
                if any(v is not None for v in values[name])
            ]
            if len(rows) > 1:
                rows.sort(key=lambda row: -_spread(values[row[1]]))
                title = f"{measure_label(self.settings, measure)} by class"
                most = len(rows) if self.by_class else _MOST_CLASSES
                return [_Group(title, rows, most, "--by-class")]
        return []

    # What must be known, and what to do next.

    def _foot(self) -> list[str]:
        board, columns, notes = self.board, [], []
        if any(entry.difference is not None for entry in board.entries):
            versus = self._versus()
            p = ", p after Holm" if self.is_tested else "; it was not tested"
            columns.append(f"{versus}: difference to place {versus.split()[1]}{p}")
        if any(entry.tied for entry in board.entries):
            columns.append(f"tied with: not told apart at {percent(board.confidence)}")
        columns.append(f"{_RANKS.strip()}: ranks the systems")
        if any(len(group.rows) > 1 and "by class" in group.title for group in self._groups()):
            columns.append("classes: those that differ most first")
        notes = footnotes(board.systems[0], self.order)
        hints = [
            "-v all tables",
            "--words meanings",
            "--by-class",
            "--baseline SYSTEM",
            "soft-sed-eval report",
        ]
        return [
            *wrapped(columns, self.width),
            *(line for note in notes for line in folded(note, self.width)),
            "",
            *self._dim(folded(f"More: {' | '.join(hints)}", self.width)),
            *self._dim(signature_lines(board.systems[0].short_signature, self.width)),
        ]


def _aligned(text: str, label: int, heads: Sequence[str] = (), size: int = 0) -> str:
    """Return a label, and what stands above columns of one size."""
    text = shortened(text, label - 1)
    above = (" " * (size - cells(head)) + head for head in heads)
    return text + " " * (label - cells(text)) + "".join(above)


def _signed(value: float | None) -> str:
    text = number(value)
    return text if text[0] == "-" or not text.strip("0.") else f"+{text}"


def _p(p: float | None) -> str:
    if p is None:
        return ""
    return "<.001" if p < 0.001 else number(p)


def _spread(values: Sequence[float | int | None]) -> float:
    """Return how far values are apart; those that only some systems have are farthest."""
    defined = [value for value in values if value is not None]
    return max(defined) - min(defined) if len(defined) == len(values) else math.inf
