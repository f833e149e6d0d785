"""Random event tables, the same for a seed on every machine: for golden numbers of other evaluators.

    for case in random_cases("few-shot", 10_000, Options(label_ignored="UNK")):
        case.reference, case.system        # rows, in the order in which a table has them

Golden files hold numbers and a seed, not the tables, so **what a seed gives must never change**: add options
whose default draws nothing, and leave the order of the draws as it is. Only the stream of `random.Random`
that Python guarantees is used, so that an old Python that runs old code draws the same. The scripts
`make_*.py` run in an environment of the evaluator, so this module needs nothing but Python 3.8.

Times are whole steps of a coarse grid that is drawn for each case (`per_second` steps a second), so that
equal times, touching events, and overlaps at exactly a third, a half or 0.3 come up all the time. A time is
`steps / per_second`, the float nearest to the decimal number that a table has. About half of the detections
are an event of the reference, moved by a few steps at either end; the others lie anywhere.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Row(NamedTuple):
    """An event: name of the file, seconds, class, and its score (None unless `scores`)."""

    file: str
    onset: float
    offset: float
    label: str
    score: float | None = None


@dataclass(frozen=True)
class Options:
    """What tables look like.

    files: the most files of a case, at least one. classes: names to draw from; a case has some of them.
    events: the most events in a file of either side. length: the longest time of a file in steps of the
    grid. longest: the longest event in steps. shortest: the shortest, 0 for events without an extent.
    grids: steps a second; one is drawn for each case. empty: how likely a file has no event, for each side
    by itself. repeated: how likely a row is there twice. shuffled: how likely the rows of a side are in any
    order; else they are by file and onset. apart: whether events of one class and file never overlap
    (touching ones do come up). label_ignored: a class that `ignored` of the reference's events get instead
    of their own, such as "UNK". alone: how likely a file is one that only one side knows, half of them each.
    least: the fewest events of the reference in a file that is not empty. scores: the system's rows have a
    score, of twentieths, often equal ones.
    """

    files: int = 4
    classes: tuple[str, ...] = ("a", "b", "c")
    events: int = 8
    length: int = 60
    longest: int = 12
    shortest: int = 1
    grids: tuple[int, ...] = (1, 4, 10, 20)
    empty: float = 0.15
    repeated: float = 0.1
    shuffled: float = 0.5
    apart: bool = False
    label_ignored: str = ""
    ignored: float = 0.25
    alone: float = 0.0
    least: int = 0
    scores: bool = False


DEFAULTS = Options()


@dataclass
class Case:
    """Two tables. files: all names, also of files without rows; length: of every file, in seconds."""

    number: int
    per_second: int
    files: list[str] = field(default_factory=list)
    length: float = 0.0
    reference: list[Row] = field(default_factory=list)
    system: list[Row] = field(default_factory=list)


class Draws:
    """Draws from the stream of numbers in [0, 1) that Python keeps the same for a seed."""

    def __init__(self, seed: str) -> None:
        self._next = random.Random(seed).random  # noqa: S311 - nothing secret

    def below(self, n: int) -> int:
        """Draw a whole number from 0 up to n - 1."""
        return int(self._next() * n)

    def between(self, low: int, high: int) -> int:
        """Draw a whole number from low up to high, both possible."""
        return low + self.below(high - low + 1)

    def chance(self, probability: float) -> bool:
        """Draw whether something is so."""
        return self._next() < probability

    def one_of(self, items):
        """Draw one of some items."""
        return items[self.below(len(items))]

    def shuffle(self, items) -> None:
        """Put the items of a list into any order."""
        for k in range(len(items) - 1, 0, -1):
            other = self.below(k + 1)
            items[k], items[other] = items[other], items[k]


def random_cases(seed: str, count: int, options: Options = DEFAULTS, first: int = 0) -> Iterator[Case]:
    """Yield cases `first` to `count - 1` of a seed; each depends on the seed and its own number only."""
    for number in range(first, count):
        yield random_case(seed, number, options)


def random_case(seed: str, number: int, options: Options = DEFAULTS) -> Case:
    """Return one case of a seed."""
    draws = Draws(f"{seed} {number}")
    case = Case(number, draws.one_of(options.grids))
    case.length = options.length / case.per_second
    case.files = [f"file{k}.wav" for k in range(draws.between(1, options.files))]
    classes = options.classes[: draws.between(1, len(options.classes))]
    for name in case.files:
        lone = draws.below(2) if options.alone and draws.chance(options.alone) else None
        reference = [] if draws.chance(options.empty) else _events(draws, options, classes, None)
        system = [] if draws.chance(options.empty) else _events(draws, options, classes, reference)
        if options.label_ignored:
            reference = [
                (onset, offset, options.label_ignored if draws.chance(options.ignored) else label)
                for onset, offset, label in reference
            ]
        for rows, events, side in ((case.reference, reference, 0), (case.system, system, 1)):
            if lone in (None, side):
                for onset, offset, label in events:
                    score = draws.between(1, 20) / 20 if options.scores and side else None
                    row = Row(name, onset / case.per_second, offset / case.per_second, label, score)
                    rows.extend([row] * (1 + draws.chance(options.repeated)))
    for rows in (case.reference, case.system):
        if draws.chance(options.shuffled):
            draws.shuffle(rows)
        else:
            rows.sort(key=lambda row: (row.file, row.onset))
    return case


def _events(draws, options, classes, reference):
    """Return events (onset, offset, class) in steps of one file; some near those of the reference."""
    events = []
    most = options.events
    for _ in range(draws.between(0 if reference is not None else min(options.least, most), most)):
        if reference and draws.chance(0.5):
            onset, offset, label = draws.one_of(reference)
            onset, offset = onset + draws.between(-2, 2), offset + draws.between(-2, 2)
            if draws.chance(0.1):
                label = draws.one_of(classes)
        else:
            onset = draws.below(options.length)
            offset = onset + draws.between(options.shortest, options.longest)
            label = draws.one_of(classes)
        onset = min(max(onset, 0), options.length - options.shortest)
        offset = min(max(offset, onset + options.shortest), options.length)
        overlapping = (x for x in events if x[2] == label and x[0] < offset and onset < x[1])
        if not options.apart or next(overlapping, None) is None:
            events.append((onset, offset, label))
    return events
