"""Scores as csv or tsv: one row per score, or per system of a board, numbers exact.

An undefined value is an empty field, which readers take for a missing number; `-` would make the column one
of text. The signature is the last line and begins with `# `, one line for each that differs among the
systems: so the first line is the head that any reader expects. A field with a `#` in it is quoted, so
that `pandas.read_csv(..., comment="#")` drops the signature and nothing else.

A name that a spreadsheet would run as a formula has an apostrophe before it, and control characters in names
are written as escapes, unless raw names are asked for. Numbers stay numbers, those below 0 as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from sedeval_soft.comparison.board import Board, Difference, Entry
from sedeval_soft.core.chance import Level
from sedeval_soft.core.value import Scores
from sedeval_soft.core.visible import visible
from sedeval_soft.report.escape import cell, commented
from sedeval_soft.report.table import UNDEFINED, exact

_Row = tuple[str | None, ...]

HEAD = ("system", "name", "basis", "reading", "measure", "average", "class", "group", "value", "low", "high")

CHANCE = ("chance", "chance_error", "normalised")
"""Columns behind the others where chance levels were asked for."""


BOARD_HEAD = (
    *("system", "rank", "tied", "place", "rank_by", "value", "low", "high", "compared_to"),
    *("difference_value", "difference_low", "difference_high"),
    *("difference_p_bootstrap", "difference_p_exchange", "difference_p_adjusted"),
    *("stability", "best_place", "worst_place"),
)


def delimited(systems: Sequence[Scores], delimiter: str, *, raw: bool = False) -> str:
    """Return all scores of some systems in rows, and their signatures as comments; raw: names as they are."""
    chance = any(scores.chance is not None for scores in systems)
    rows = chain.from_iterable(_rows(scores, chance=chance) for scores in systems)
    return _lines((*HEAD, *(CHANCE if chance else ())), rows, systems, delimiter, raw=raw)


def delimited_board(board: Board, delimiter: str, *, raw: bool = False) -> str:
    """Return the entries of a board in rows, and the signatures of all systems as comments; raw: as above."""
    entries = (_entry(board, entry) for entry in board.entries)
    return _lines(BOARD_HEAD, entries, board.systems, delimiter, raw=raw)


def delimited_columns(board: Board, names: Sequence[str], delimiter: str) -> str:
    """Return a row for each system of a board: its rank, the score that ranks, and further scores by name."""
    others = [name for name in names if name != board.rank_by]
    head = (
        *("system", "rank", "tied", "place", board.rank_by, "low", "high", "best_place", "worst_place"),
        *("compared_to", "difference", "difference_low", "difference_high", "p_adjusted", *others),
    )
    rows = []
    for scores, entry in zip(board.systems, board.entries, strict=True):
        off = entry.difference or Difference(None, None, None, None, None, None)
        rows.append(
            (
                *(entry.system, str(entry.rank), "true" if entry.tied else "false", str(entry.place)),
                *map(_number, (entry.value, entry.low, entry.high, entry.best_place, entry.worst_place)),
                *(board.compared_to, *map(_number, (off.value, off.low, off.high, off.p_adjusted))),
                *(_number(scores[name]) if name in scores else None for name in others),
            )
        )
    return _lines(head, rows, board.systems, delimiter, raw=False)


def _lines(head: _Row, rows: Iterable[_Row], systems: Sequence[Scores], delimiter: str, *, raw: bool) -> str:
    quoted = re.compile(rf'[{re.escape(delimiter)}"#\r\n]|^\s|\s$|^$')
    # None is a field with nothing in it; an empty name is quoted.
    lines = [
        delimiter.join("" if field is None else _field(_safe(field, raw=raw), quoted) for field in row)
        for row in chain([head], rows)
    ]
    signatures = (visible(scores.signature) for scores in systems)
    lines += dict.fromkeys(f"# {text if raw else commented(text, delimiter)}" for text in signatures)
    return "".join(f"{line}\n" for line in lines)


def _entry(board: Board, entry: Entry) -> _Row:
    off = entry.difference or Difference(None, None, None, None, None, None)
    return (
        *(entry.system, str(entry.rank), "true" if entry.tied else "false", str(entry.place)),
        *(board.rank_by, *map(_number, (entry.value, entry.low, entry.high))),
        *(board.compared_to, *map(_number, (off.value, off.low, off.high))),
        *map(_number, (off.p_bootstrap, off.p_exchange, off.p_adjusted)),
        *map(_number, (entry.stability, entry.best_place, entry.worst_place)),
    )


def _rows(scores: Scores, *, chance: bool) -> Iterator[_Row]:
    levels = {} if scores.chance is None else scores.chance.levels
    for score in scores.scores.values():
        level = levels.get(score.name, Level(None, None, None))
        of_chance = map(_number, (level.chance, level.error, level.normalised)) if chance else ()
        yield (
            *(scores.system, score.name, score.basis, score.reading, score.measure),
            *(score.average, score.class_name, score.group),
            *map(_number, (score.value, score.low, score.high)),
            *of_chance,
        )


class _Number(str):
    """A field that is a number: a sign before it is no formula."""

    __slots__ = ()


def _number(value: float | int | None) -> str | None:
    text = exact(value)
    return None if text == UNDEFINED else _Number(text)


def _safe(text: str, *, raw: bool) -> str:
    return text if raw or isinstance(text, _Number) else cell(text)


def _field(text: str, quoted: re.Pattern[str]) -> str:
    return '"' + text.replace('"', '""') + '"' if quoted.search(text) else text
