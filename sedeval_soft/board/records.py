"""What is kept of a submission from one run to the next: its scores, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from sedeval_soft.core.value import Input, Score, Scores
from sedeval_soft.errors import Problem, Severity
from sedeval_soft.settings import Settings

MOST_PROBLEMS = 100
"""Problems of a submission that are told; all are counted."""


class Fault(msgspec.Struct, frozen=True):
    """A `Problem`."""

    source: str
    message: str
    line: int | None
    column: int | None
    code: str
    severity: Severity
    mend: str


class Number(msgspec.Struct, frozen=True):
    """A `Score`."""

    name: str
    basis: str
    reading: str
    measure: str
    average: str | None
    class_name: str | None
    group: str | None
    value: float | int | None
    low: float | None
    high: float | None


class Read(msgspec.Struct, frozen=True):
    """An `Input`."""

    name: str
    role: str
    sha256: str | None
    rows: int
    files: int
    classes: int
    form: str
    has_values: bool
    events: str
    ignored: tuple[str, ...]


class Scored(msgspec.Struct, frozen=True):
    """The scores of a submission that a board shows, and what stands beside them."""

    scores: tuple[Number, ...]
    classes: tuple[str, ...]
    files: tuple[str, ...]
    length: float
    n_segments: int
    inputs: tuple[Read, ...]
    warnings: tuple[str, ...]
    signature: str
    version: str


class Record(msgspec.Struct, frozen=True):
    """A submission that was looked at: either scored, or with faults.

    key: a hash of all that shaped this. name: the submission's. faults: those that are told, of `n_faults`.
    pages: SHA-256 of the files of the site that are made of it alone, by path; made_by: what made them.
    tally: SHA-256 of what it is compared with others by.
    """

    key: str
    name: str
    scored: Scored | None = None
    faults: tuple[Fault, ...] = ()
    n_faults: int = 0
    pages: dict[str, str] = {}
    made_by: str = ""
    tally: str = ""


def scored_of(scores: Scores, wanted: Iterable[str]) -> Scored:
    """Return what is kept of scores: averages, and what else is wanted by name."""
    names = {*wanted}
    kept = [
        s for s in scores.scores.values() if s.name in names or (s.average is not None and s.group is None)
    ]
    fields = Number.__struct_fields__
    return Scored(
        scores=tuple(Number(*(getattr(score, name) for name in fields)) for score in kept),
        classes=scores.classes,
        files=scores.files,
        length=scores.length,
        n_segments=scores.n_segments,
        inputs=tuple(
            Read(*(getattr(item, name) for name in Read.__struct_fields__)) for item in scores.inputs
        ),
        warnings=scores.warnings,
        signature=scores.signature,
        version=scores.version,
    )


def scores_of(record: Record, settings: Settings) -> Scores:
    """Return the scores of a record that has some; settings: by which they were found."""
    kept = record.scored
    if kept is None:
        raise ValueError(f"{record.name!r} was not scored")
    return Scores(
        scores={number.name: Score(**msgspec.structs.asdict(number)) for number in kept.scores},
        system=record.name,
        classes=kept.classes,
        files=kept.files,
        length=kept.length,
        n_segments=kept.n_segments,
        settings=settings,
        inputs=tuple(Input(**msgspec.structs.asdict(item)) for item in kept.inputs),
        warnings=kept.warnings,
        signature=kept.signature,
        version=kept.version,
    )


def problem_of(fault: Fault) -> Problem:
    """Return the problem that was kept."""
    return Problem(*(getattr(fault, name) for name in Fault.__struct_fields__))


def faults_of(problems: Iterable[Problem]) -> tuple[Fault, ...]:
    """Return what is kept of problems."""
    fields = Fault.__struct_fields__
    return tuple(Fault(*(getattr(problem, name) for name in fields)) for problem in problems)
