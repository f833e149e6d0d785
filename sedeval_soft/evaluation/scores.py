"""Scores as named values, and what is beside them: intervals, folds, what costs most, chance levels.

No formatting is here, and no arithmetic but the spread over folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Self

from sedeval_soft.errors import EvaluationError, counted
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import Settings

if TYPE_CHECKING:
    import pandas as pd


class UnknownScoreError(EvaluationError, KeyError):
    """No score of that name was computed."""

    def __str__(self) -> str:
        """Return the message itself: KeyError would quote it."""
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Score:
    """One number with its name.

    name: `basis.reading.measure.average` or `basis.reading.measure[class]`, and `@group` of a part.
    average: `micro`, `macro` or `weighted`; None for the score of one class.
    class_name: the class; None for an average.
    value: a count (int), a number (float) or None where the measure is undefined.
    group: the group of classes, the scene or the fold that it is a score of; None for the whole.
    low, high: the ends of its interval; None where none was asked for, or it has none.
    """

    name: str
    basis: str
    reading: str
    measure: str
    average: str | None
    class_name: str | None
    value: float | int | None
    group: str | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """What was read: name, SHA-256 of its bytes (None for data in memory), sizes and form."""

    name: str
    role: str
    sha256: str | None
    rows: int
    files: int
    classes: int
    form: str
    has_values: bool
    events: str
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Confusion:
    """Which class was taken for which.

    basis, reading: of what. classes: names. pairs: counts by reference class, then by system class.
    missed: by reference class, where no system class is. inserted: by system class, where there is no
    reference class.
    """

    basis: str
    reading: str
    classes: tuple[str, ...]
    pairs: tuple[tuple[int, ...], ...]
    missed: tuple[int, ...]
    inserted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """The chance level of a score.

    chance: the mean score of the same output where it knows nothing of the recordings; None where undefined.
    error: the standard error of that mean; None of a mean that is exact. normalised: (score - chance) / (best
    - chance): 0 at chance, 1 for the best; None where there is no best, or it is at chance.
    """

    chance: float | None
    error: float | None
    normalised: float | None


@dataclass(frozen=True, slots=True)
class Chance:
    """The chance levels of scores, by name.

    draws: how many arrangements in time were looked at; everything: whether these are all that there are.
    seed: of the random numbers.
    """

    draws: int
    seed: int
    everything: bool
    levels: Mapping[str, Level]


@dataclass(frozen=True, slots=True)
class Spread:
    """How a score differs between folds.

    name: of the score of all folds pooled. values: of each fold, None where undefined. mean, deviation: of
    the defined ones, and their standard deviation (divided by their number less 1); None of fewer than two.
    """

    name: str
    values: tuple[float | int | None, ...]
    mean: float | None
    deviation: float | None

    @classmethod
    def of(cls, name: str, values: Sequence[float | int | None]) -> Self:
        """Return the spread of a score that has these values in the folds."""
        from statistics import fmean, stdev

        known = [float(value) for value in values if value is not None]
        several = len(known) > 1
        return cls(name, tuple(values), fmean(known) if several else None, stdev(known) if several else None)


@dataclass(frozen=True, slots=True)
class Folds:
    """The folds by name, how many files each has, and the spread of scores over them."""

    names: tuple[str, ...]
    files: tuple[int, ...]
    spreads: tuple[Spread, ...]


@dataclass(frozen=True, slots=True)
class Offender:
    """A file, a class, or a segment that costs much.

    file: None for a class. class_name: of a segment the class that costs most in it; None for a file.
    onset, offset: of a segment, in seconds. cost: missed + inserted. share: of the cost of all, in [0, 1].
    missed, inserted: what of the reference the system lacks, and what it has beyond it, in segments (or
    events): sums of values for the soft reading. reference, system: the values of a segment's class.
    """

    file: str | None
    class_name: str | None
    cost: float | int
    share: float
    missed: float | int
    inserted: float | int
    onset: float | None = None
    offset: float | None = None
    reference: float | None = None
    system: float | None = None


@dataclass(frozen=True, slots=True)
class Worst:
    """What costs most, the worst first.

    basis, reading: of which counts; `segment.soft` if it is evaluated. Segments are listed for segments only.
    """

    basis: str
    reading: str
    files: tuple[Offender, ...]
    classes: tuple[Offender, ...]
    segments: tuple[Offender, ...]


THRESHOLDS = tuple(k / 10 for k in range(1, 10))
"""Thresholds of the reference at which scores are told."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Averages of scores at each of some thresholds of the reference.

    thresholds: (n,) ascending. at: by basis, (n,) how many segments or clips of a class have exactly that
    value in the reference, or how many of its events are there up to it and not above: whether these count is
    decided by > or >=. scores: by name, (n,) values, None where undefined.
    """

    thresholds: tuple[float, ...]
    at: Mapping[str, tuple[int, ...]]
    scores: Mapping[str, tuple[float | int | None, ...]]


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Mapping[str, "float | int | None"]):
    """All scores of one system, by name.

    `scores["segment.soft.f1.macro"]` is a float, an int for counts, or None where undefined.
    Iteration and `list(scores.values())` follow the order in which scores are printed.

    system: the system's name. classes: the evaluated classes in order. confusion: which class was taken for
    which, of segments and of events, if `measures` asks for it. runs: the names of repeated
    trainings that scores are the means of. folds: the spread over folds, if there are
    any. worst: what costs most, sweep: scores over thresholds of the reference, if the settings ask for it.
    chance: the chance levels of scores, if they were asked for.
    """

    scores: Mapping[str, Score]
    system: str
    classes: tuple[str, ...]
    files: tuple[str, ...]
    length: float
    n_segments: int
    settings: Settings
    inputs: tuple[Input, ...] = ()
    warnings: tuple[str, ...] = ()
    signature: str = ""
    version: str = field(default="")
    confusion: tuple[Confusion, ...] = ()
    runs: tuple[str, ...] = ()
    folds: Folds | None = None
    worst: Worst | None = None
    sweep: Sweep | None = None
    chance: Chance | None = None
    make_curves: Callable[[], Any] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """Return a short form: the numbers are many."""
        size = f"{counted(len(self.files), 'file')}, {counted(len(self.classes), 'class')}"
        return f"<{counted(len(self.scores), 'score')} of {self.system!r}: {size}>"

    def __getitem__(self, name: str) -> float | int | None:
        """Return the value of a score; raise UnknownScoreError with close matches if there is none."""
        return self.score(name).value

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all scores."""
        return iter(self.scores)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a score of that name, without looking for close matches."""
        return isinstance(name, str) and name in self.scores

    def __len__(self) -> int:
        """Return the number of scores."""
        return len(self.scores)

    def score(self, name: str) -> Score:
        """Return the Score of that name; raise UnknownScoreError with close matches if there is none."""
        if not isinstance(name, str):
            raise UnknownScoreError(
                f"no score is named {name!r}; expected a text such as segment.soft.f1.macro"
            )
        found = self.scores.get(name)
        if found is None:
            from sedeval_soft.names import meant

            hint = meant(name, self.scores) or did_you_mean(name, self.scores)
            hint = hint or "; --list-scores prints all names"
            raise UnknownScoreError(f"no score is named {name!r}{hint}")
        return found

    @property
    def curves(self) -> Any:  # noqa: ANN401 - the Curves of a later stage, which nothing here may import
        """Return the `Curves` over all thresholds, made anew each time.

        None unless `measures` names them or calibration, the system is one of operating points, or the
        reference is swept.
        """
        return None if self.make_curves is None else self.make_curves()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, in the form of the JSON output."""
        return document([self])

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with one row per score; what is undefined or not there is missing (pd.NA)."""
        import pandas as pd

        columns = ("name", "basis", "reading", "measure", "average", "class", "group")
        table = [
            (s.name, s.basis, s.reading, s.measure, s.average, s.class_name, s.group)
            for s in self.scores.values()
        ]
        frame = pd.DataFrame(table, columns=list(columns))
        for name in ("value", "low", "high"):
            frame[name] = pd.array([getattr(s, name) for s in self.scores.values()], dtype="Float64")
        return frame


SCHEMA = "soft-sed-eval/1"

_OFFENDER = (
    *("file", "class_name", "onset", "offset", "cost", "share", "missed", "inserted", "reference", "system"),
)
"""The order of what JSON says of an offender."""

_JSON_NAMES = {"class_name": "class", "ignored": "ignored_columns"}


def document(systems: Sequence[Scores]) -> dict[str, Any]:
    """Return the JSON document of one or more systems scored against the same reference.

    Its `board` is null: `board_document` returns the document of systems that are compared.
    """
    first = systems[0]
    inputs = {(item.role, item.name): item for scores in systems for item in scores.inputs}
    return {
        "schema": SCHEMA,
        "version": first.version,
        "signature": first.signature,
        "settings": first.settings.to_dict(),
        "inputs": [_input(item) for item in inputs.values()],
        "warnings": list(dict.fromkeys(warning for scores in systems for warning in scores.warnings)),
        "board": None,
        "systems": [_system(scores) for scores in systems],
    }


def plain(value: Any) -> Any:  # noqa: ANN401 - any part of a result
    """Return a part of a result as JSON has it: dicts of fields by their names, lists, numbers and texts."""
    if is_dataclass(value):
        names = _OFFENDER if isinstance(value, Offender) else [field.name for field in fields(value)]
        return {_JSON_NAMES.get(name, name): plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, tuple) else value


def _input(item: Input) -> dict[str, Any]:
    whole = plain(item)
    return {"path": whole.pop("name"), **whole}


def _system(scores: Scores) -> dict[str, Any]:
    runs = {"names": list(scores.runs), "confidence": scores.settings.confidence}
    return {
        "name": scores.system,
        "files": len(scores.files),
        "length": scores.length,
        "segments": scores.n_segments,
        "classes": list(scores.classes),
        "scores": [_score(score) for score in scores.scores.values()],
        "confusion": plain(scores.confusion),
        "runs": runs if scores.runs else None,
        "folds": plain(scores.folds),
        "worst": plain(scores.worst),
        "sweep": plain(scores.sweep),
        **({} if scores.chance is None else {"chance": _chance(scores.chance, scores)}),
    }


def _score(score: Score) -> dict[str, Any]:
    return {
        "name": score.name,
        "basis": score.basis,
        "reading": score.reading,
        "measure": score.measure,
        "average": score.average,
        "class": score.class_name,
        "group": score.group,
        "value": score.value,
        "low": score.low,
        "high": score.high,
    }


def _chance(chance: Chance, scores: Scores) -> dict[str, Any]:
    return {
        "draws": chance.draws,
        "seed": chance.seed,
        "everything": chance.everything,
        "levels": [{"name": name, **plain(level)} for name, level in chance.levels.items() if name in scores],
    }
