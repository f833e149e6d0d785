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
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import chain

from sedeval_soft.comparison.board import Board
from sedeval_soft.errors import visible
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.report.escape import cell, commented, encodable
from sedeval_soft.report.table import UNDEFINED, exact

_Row = tuple[str | float | None, ...]

HEAD = ("system", "name", "basis", "reading", "measure", "average", "class", "group", "value", "low", "high")

CHANCE = ("chance", "chance_error", "normalised")
"""Columns behind the others where chance levels were asked for."""

BOARD_HEAD = (
    *("system", "rank", "tied", "place", "rank_by", "value", "low", "high", "compared_to"),
    *("difference_value", "difference_low", "difference_high"),
    *("difference_p_bootstrap", "difference_p_exchange", "difference_p_adjusted"),
    *("stability", "best_place", "worst_place"),
)

_INDEX_HEAD = (
    *("system", "rank", "tied", "place", "value", "low", "high", "best_place", "worst_place", "compared_to"),
    *("difference_value", "difference_low", "difference_high", "difference_p_adjusted"),
)


def delimited(systems: Sequence[Scores], delimiter: str, *, raw: bool = False) -> str:
    """Return all scores of some systems in rows, and their signatures as comments; raw: names as they are."""
    chance = any(scores.chance is not None for scores in systems)
    rows: list[_Row] = []
    for scores in systems:
        levels = scores.chance.levels if scores.chance else {}
        for s in scores.scores.values():
            level = levels.get(s.name)
            of_chance = (level.chance, level.error, level.normalised) if level else (None, None, None)
            rows.append(
                (
                    *(scores.system, s.name, s.basis, s.reading, s.measure, s.average, s.class_name, s.group),
                    *(s.value, s.low, s.high, *(of_chance if chance else ())),
                )
            )
    return _lines((*HEAD, *(CHANCE if chance else ())), rows, systems, delimiter, raw=raw)


def delimited_board(board: Board, delimiter: str, *, raw: bool = False) -> str:
    """Return the entries of a board in rows, and the signatures of all systems as comments; raw: as above."""
    rows = [tuple(fields[name] for name in BOARD_HEAD) for fields in _fields(board)]
    return _lines(BOARD_HEAD, rows, board.systems, delimiter, raw=raw)


def delimited_columns(board: Board, names: Sequence[str], delimiter: str) -> str:
    """Return a row for each system of a board: its rank, the score that ranks, and further scores by name."""
    others = [name for name in names if name != board.rank_by]
    called = {"value": board.rank_by, "difference_value": "difference", "difference_p_adjusted": "p_adjusted"}
    rows = [
        (*(fields[name] for name in _INDEX_HEAD), *(scores.get(name) for name in others))
        for scores, fields in zip(board.systems, _fields(board), strict=True)
    ]
    head = (*(called.get(name, name) for name in _INDEX_HEAD), *others)
    return _lines(head, rows, board.systems, delimiter, raw=False)


def _fields(board: Board) -> list[dict[str, str | float | None]]:
    """Return all that there is to say of each entry."""
    differences = [asdict(each.difference) if each.difference else {} for each in board.entries]
    return [
        {
            **dict.fromkeys(BOARD_HEAD),
            **asdict(entry),
            **{f"difference_{name}": value for name, value in difference.items()},
            "tied": str(entry.tied).lower(),
            "rank_by": board.rank_by,
            "compared_to": board.compared_to,
        }
        for entry, difference in zip(board.entries, differences, strict=True)
    ]


def _lines(head: _Row, rows: Iterable[_Row], systems: Sequence[Scores], delimiter: str, *, raw: bool) -> str:
    """Return rows as lines: None is a field with nothing in it, as is an undefined number; "" is quoted."""
    quoted = re.compile(rf'[{re.escape(delimiter)}"#\r\n]|^\s|\s$|^$')

    def field(value: str | float | None) -> str:
        if not isinstance(value, str):
            text = exact(value)
            return "" if text == UNDEFINED else text
        text = value if raw else cell(value)
        return '"' + text.replace('"', '""') + '"' if quoted.search(text) else text

    lines = [delimiter.join(map(field, row)) for row in chain([head], rows)]
    signatures = (visible(scores.signature) for scores in systems)
    lines += dict.fromkeys(f"# {text if raw else commented(text, delimiter)}" for text in signatures)
    return encodable("".join(f"{line}\n" for line in lines))
