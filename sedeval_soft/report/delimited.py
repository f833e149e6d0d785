"""Scores as csv or tsv: one row per score, numbers exact.

An undefined value is an empty field, which readers take for a missing number; `-` would make the column one
of text. The signature is the last line and begins with `# `, one line for each that differs among the
systems: so the first line is the head that any reader expects. A field with a `#` in it is quoted, so
that `pandas.read_csv(..., comment="#")` drops the signature and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sedeval_soft.core.value import Scores
from sedeval_soft.report.table import UNDEFINED, exact, visible

HEAD = ("system", "name", "basis", "reading", "measure", "average", "class", "group", "value", "low", "high")


def delimited(systems: Sequence[Scores], delimiter: str) -> str:
    """Return all scores of some systems in rows, and their signatures as comments."""
    quoted = re.compile(rf'[{re.escape(delimiter)}"#\r\n]|^\s|\s$|^$')
    lines = [delimiter.join(HEAD)]
    for scores in systems:
        # None is a field with nothing in it; an empty name is quoted.
        lines += [
            delimiter.join("" if field is None else _field(field, quoted) for field in row)
            for row in _rows(scores)
        ]
    lines += dict.fromkeys(f"# {visible(scores.signature)}" for scores in systems)
    return "".join(f"{line}\n" for line in lines)


def _rows(scores: Scores) -> Iterator[tuple[str | None, ...]]:
    for score in scores.scores.values():
        yield (
            *(scores.system, score.name, score.basis, score.reading, score.measure),
            *(score.average, score.class_name, score.group),
            *map(_number, (score.value, score.low, score.high)),
        )


def _number(value: float | int | None) -> str | None:
    text = exact(value)
    return None if text == UNDEFINED else text


def _field(text: str, quoted: re.Pattern[str]) -> str:
    return '"' + text.replace('"', '""') + '"' if quoted.search(text) else text
