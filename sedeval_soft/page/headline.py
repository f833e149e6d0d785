"""What stands first on the page: scores by basis and reading, and why the readings differ."""

from __future__ import annotations

from dataclasses import dataclass

from sedeval_soft.core.scores import Score, Scores
from sedeval_soft.report.table import number, short

BASES = ("segment", "event", "intersection")
READINGS = ("hard", "optimal", "tuned", "soft")


@dataclass(frozen=True, slots=True)
class Shown:
    """A score in the matrix: what it is called, its name, its value and interval as text."""

    label: str
    name: str
    value: str
    interval: str


@dataclass(frozen=True, slots=True)
class Row:
    """A basis in the matrix; cells: the scores of each reading, none where it was not asked for."""

    basis: str
    cells: tuple[tuple[Shown, ...], ...]


_MEASURES = (("macro F1", "f1.macro"), ("micro F1", "f1.micro"), ("micro ER", "error_rate.micro"))


def matrix(scores: Scores) -> tuple[Row, ...]:
    """Return the rows of bases that have scores, a cell for each of `READINGS`."""
    rows = []
    for basis in BASES:
        cells = tuple(_cell(scores, f"{basis}.{reading}") for reading in READINGS)
        if any(cells):
            rows.append(Row(basis, cells))
    return tuple(rows)


def _cell(scores: Scores, family: str) -> tuple[Shown, ...]:
    found = []
    for label, measure in _MEASURES:
        name = f"{family}.{measure}"
        if name in scores:
            score = scores.score(name)
            found.append(Shown(label, name, number(score.value), _interval(score)))
    return tuple(found)


def _interval(score: Score) -> str:
    if score.low is None or score.high is None:
        return ""
    return f"{number(score.low)} to {number(score.high)}"


def explained(scores: Scores) -> str:
    """Return in a few sentences what differs between the readings, and why."""
    settings = scores.settings
    ours, theirs = short(settings.reference_cut), short(settings.threshold)
    cut = f"both sides at {ours}" if ours == theirs else f"the reference at {ours}, the system at {theirs}"
    said = [f"The hard reading cuts {cut}"]
    said.append("optimal cuts each class where its F is best on these very files, which flatters")
    if settings.tunes:
        said.append("tuned cuts where it was best on other files, or as was said")
    said.append("soft compares the values of both sides at all levels at once, and cuts nothing")
    return "; ".join(said) + "." + _here(scores)


def _here(scores: Scores) -> str:
    hard, soft = (scores.scores.get(f"segment.{reading}.f1.micro") for reading in ("hard", "soft"))
    if hard is None or soft is None or hard.value is None or soft.value is None:
        return ""
    numbers = f" Here micro F1 of segments is {number(soft.value)} soft and {number(hard.value)} hard: "
    if soft.value > hard.value:
        return (
            f"{numbers}values near the annotators', but on the other side of the threshold, are errors to "
            "the hard reading and mostly right to the soft one."
        )
    if soft.value < hard.value:
        return (
            f"{numbers}values on the right side of the threshold, but far from the annotators', are right to "
            "the hard reading and partly errors to the soft one."
        )
    return f"{numbers}as they are where all values are 0 or 1."
