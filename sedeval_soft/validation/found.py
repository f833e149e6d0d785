"""What was found: problems as they come in, and those that are told."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sedeval_soft.core.codes import RULES
from sedeval_soft.errors import Problem, Severity
from sedeval_soft.formats.source import Source

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From the worst."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The outcome of a validation.

    source: what was looked at, as the user named it. problems: those that are told, by place. counts: how
    many there are of each code, told or not. form: how the table was read; rows, files, classes: how many it
    has. mends: what was corrected in a copy. characters: where the fields of problems stand in their lines.
    """

    source: str
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    form: str = ""
    rows: int = 0
    files: int = 0
    classes: int = 0
    mends: tuple[str, ...] = ()
    characters: Mapping[tuple[str, int, int], tuple[int, int]] = field(default_factory=dict)

    @property
    def more(self) -> int:
        """Return how many problems are not told."""
        return sum(self.counts.values()) - len(self.problems)

    def count(self, severity: Severity) -> int:
        """Return how many problems have a severity, told or not."""
        return sum(number for code, number in self.counts.items() if RULES[code].severity == severity)

    @property
    def ok(self) -> bool:
        """Whether the table can be scored: there may be warnings and notes."""
        return not self.count("error")


@dataclass(slots=True)
class Log:
    """Problems as they are found: all are counted, the first `most` of each code are kept.

    sources: the texts that were looked at, with their delimiters where these are known. unplaced: names of
    sources that are no text, whose problems have no line.
    """

    most: int
    counts: Counter[str] = field(default_factory=Counter)
    kept: dict[str, list[Problem]] = field(default_factory=dict)
    sources: dict[str, tuple[Source, str | None]] = field(default_factory=dict)
    unplaced: set[str] = field(default_factory=set)

    def add(self, *problems: Problem) -> None:
        """Enter some problems."""
        for problem in problems:
            self.add_many(problem.code, 1, [problem])

    def add_many(self, code: str, number: int, problems: Iterable[Problem]) -> None:
        """Enter `number` problems of one code, of which those given are known by their place."""
        if not number:
            return
        self.counts[code] += number
        kept = self.kept.setdefault(code, [])
        for problem in problems:
            if len(kept) >= self.most:
                break
            kept.append(problem)

    def told(self) -> tuple[Problem, ...]:
        """Return up to `most` problems by place: the worst first, and of these the kinds that are rare.

        What is wrong in each of a million lines does not hide what is wrong once.
        """
        chosen: list[Problem] = []
        rank = {severity: i for i, severity in enumerate(SEVERITIES)}
        for code in sorted(self.kept, key=lambda code: (rank[RULES[code].severity], self.counts[code])):
            chosen += self.kept[code][: self.most - len(chosen)]
        chosen = [replace(p, line=None, column=None) if p.source in self.unplaced else p for p in chosen]
        sources = {source: i for i, source in enumerate(dict.fromkeys(problem.source for problem in chosen))}
        return tuple(
            sorted(
                chosen,
                # What has no line is of the whole file, and comes last.
                key=lambda p: (sources[p.source], p.line or math.inf, p.column or 0, rank[p.severity]),
            )
        )
