"""Where fields stand in their lines: programs that mark a place in a file count characters, not fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from sedeval_soft.errors import Problem
from sedeval_soft.formats.lines import DELIMITERS
from sedeval_soft.formats.records import numbered
from sedeval_soft.formats.source import Source

Places: TypeAlias = dict[tuple[str, int, int], tuple[int, int]]
"""By source, line and field, all from 1: the first character, and the one after the last, from 1."""


def characters(problems: Iterable[Problem], sources: Mapping[str, tuple[Source, str | None]]) -> Places:
    """Return where the fields of some problems stand; sources: texts by name, with their delimiters."""
    wanted: dict[str, dict[int, set[int]]] = {}
    for problem in problems:
        if problem.line is not None and problem.column is not None and problem.source in sources:
            wanted.setdefault(problem.source, {}).setdefault(problem.line, set()).add(problem.column)
    places: Places = {}
    for name, lines in wanted.items():
        source, delimiter = sources[name]
        last = max(lines)
        for number, content in numbered(source):
            if number in lines:
                text = content if isinstance(content, str) else content.decode("utf-8", "replace")
                spans = spans_of(text, delimiter or max(DELIMITERS, key=text.count))
                for column in lines[number]:
                    if column <= len(spans):
                        places[name, number, column] = spans[column - 1]
            if number >= last:
                break
    return places


def spans_of(text: str, delimiter: str) -> list[tuple[int, int]]:
    """Return for each field of a line its first character and the one after its last, from 1."""
    spans: list[tuple[int, int]] = []
    begin = at = 0
    while at <= len(text):
        if at == begin and text.startswith('"', at):
            at = _behind_quotes(text, at + 1)
            continue
        if at == len(text) or text[at] == delimiter:
            spans.append((begin + 1, at + 1))
            begin = at + 1
        at += 1
    return spans


def _behind_quotes(text: str, at: int) -> int:
    """Return where a field in quotes that begins before a position is closed."""
    while at < len(text):
        if text[at] == '"':
            if not text.startswith('""', at):
                return at + 1
            at += 1
        at += 1
    return len(text)
