"""Scores as named values: no formatting, no arithmetic. `details` has what may stand beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from sedeval_soft.errors import EvaluationError, counted
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

    from sedeval_soft.evaluation.details import Chance, Confusion, Folds, Sweep, Worst


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
    version: str = ""
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

_JSON_NAMES = {"class_name": "class", "ignored": "ignored_columns"}
_OF_SCORE = ("name", "basis", "reading", "measure", "average", "class_name", "group", "value", "low", "high")


def document(systems: Sequence[Scores]) -> dict[str, Any]:
    """Return the JSON document of one or more systems scored against the same reference.

    Its `board` is null: `board_document` returns the document of systems that are compared.
    """
    first = systems[0]
    inputs = {(item.role, item.name): plain(item) for scores in systems for item in scores.inputs}
    return {
        "schema": SCHEMA,
        "version": first.version,
        "signature": first.signature,
        "settings": first.settings.to_dict(),
        "inputs": [{"path": item.pop("name"), **item} for item in inputs.values()],
        "warnings": list(dict.fromkeys(warning for scores in systems for warning in scores.warnings)),
        "board": None,
        "systems": [_system(scores) for scores in systems],
    }


def plain(value: Any) -> Any:  # noqa: ANN401 - any part of a result
    """Return a part of a result as JSON has it: dicts of fields by their names, lists, numbers and texts."""
    if is_dataclass(value):
        return {
            _JSON_NAMES.get(part.name, part.name): plain(getattr(value, part.name)) for part in fields(value)
        }
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, tuple) else value


def _system(scores: Scores) -> dict[str, Any]:
    runs = {"names": list(scores.runs), "confidence": scores.settings.confidence}
    names = [(_JSON_NAMES.get(name, name), name) for name in _OF_SCORE]
    system: dict[str, Any] = {
        "name": scores.system,
        "files": len(scores.files),
        "length": scores.length,
        "segments": scores.n_segments,
        "classes": list(scores.classes),
        "scores": [{key: getattr(score, name) for key, name in names} for score in scores.scores.values()],
        "confusion": plain(scores.confusion),
        "runs": runs if scores.runs else None,
        "folds": plain(scores.folds),
        "worst": plain(scores.worst),
        "sweep": plain(scores.sweep),
    }
    if scores.chance is not None:
        chance = plain(scores.chance)
        levels = chance.pop("levels")
        chance["levels"] = [{"name": name, **level} for name, level in levels.items() if name in scores]
        system["chance"] = chance
    return system
