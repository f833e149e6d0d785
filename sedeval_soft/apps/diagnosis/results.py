"""A diagnosis: the cost of each kind of error, also by class, examples, and settings that help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sedeval_soft.apps.diagnosis.prices import AVERAGES, Counts, averages, gain, intervals, prices, share
from sedeval_soft.apps.diagnosis.sensitivity import Bin
from sedeval_soft.arrays import Floats
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation import Scores, finite, plain
from sedeval_soft.settings import Settings

if TYPE_CHECKING:
    import pandas as pd


Family = tuple[str, str]
"""A basis and a reading."""

MOST_EXAMPLES = 3
"""The most examples of each kind of error."""


@dataclass(frozen=True, slots=True)
class Example:
    """The place of an error: the file, the onset in seconds, and the class."""

    file: str
    onset: float
    class_name: str


@dataclass(frozen=True, slots=True)
class KindOfError:
    """The cost of one kind of error.

    fp, fn: the numbers of false positives and false negatives of the kind. share: of 1 - F, with its
    interval. gain: the rise of F without the kind. Shares and gains are None where F is undefined.
    at: the worst examples, of events in the micro average. class_name: None for all classes; the share of a
    class is its part of the micro average's, without interval and gain.
    """

    basis: str
    reading: str
    average: str
    kind: str
    fp: float
    fn: float
    share: float | None
    low: float | None = None
    high: float | None = None
    gain: float | None = None
    at: tuple[Example, ...] = ()
    class_name: str | None = None

    @property
    def count(self) -> float:
        """The number of errors of the kind."""
        return self.fp + self.fn


OF_ERROR = ("basis", "reading", "average", "kind", "count", "fp", "fn", "share", "low", "high", "gain")
"""The columns of rows of errors."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Settings with which a score rises, which was tried: its value without and with them."""

    settings: str
    score: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The cost of errors of one kind for each of two systems: shares of 1 - F, None if F is undefined.

    class_name: the class; None for all together. won: how much less they cost the second system. Summed over
    all kinds of a basis, reading and average, it is F of the second minus F of the first.
    """

    basis: str
    reading: str
    average: str
    kind: str
    class_name: str | None
    first: float | None
    second: float | None
    won: float | None


def place_of(each: KindOfError | Difference) -> tuple[str, str, str, str]:
    """Return of which basis, reading, average and kind something is."""
    return each.basis, each.reading, each.average, each.kind


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """The losses of the scores of a system.

    scores: all that were computed. errors: by basis, reading, average and kind.
    - classes: the parts of classes in micro averages, the costliest first.
    - bins: recall and precision of events by their factors, the largest difference first.
    - suggestions: settings that were tried on these files, and help.
    """

    scores: Scores
    errors: tuple[KindOfError, ...]
    classes: tuple[KindOfError, ...]
    bins: tuple[Bin, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()

    def __str__(self) -> str:
        """Return the text that the command prints."""
        # The screen imports this module.
        screen: Any = import_module("sedeval_soft.apps.diagnosis.screen")
        text: str = screen.render_diagnoses([self])
        return text.removesuffix("\n")

    def __repr__(self) -> str:
        """Return a short form: the numbers are many."""
        return f"<diagnosis of {self.scores.system!r}: {len(self.errors)} kinds of errors>"

    @property
    def families(self) -> list[Family]:
        """The bases and readings whose errors have kinds here."""
        return list(dict.fromkeys((each.basis, each.reading) for each in self.errors))

    def f(self, basis: str, reading: str, average: str = "micro") -> float | None:
        """Return F, the measure whose loss the shares add up to; None if it is undefined."""
        name = f"{basis}.{reading}.{measure_of_f(self.scores.settings)}.{average}"
        return self.scores[name] if self.scores[f"{basis}.{reading}.n_ref.micro"] else None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, in the form of the JSON output."""
        scores = self.scores
        return {
            "version": scores.version,
            "signature": scores.signature,
            "system": scores.system,
            "lost": [
                {"basis": family[0], "reading": family[1], "average": average, "f": f, "lost": lost_of(f)}
                for family in self.families
                for average in AVERAGES
                for f in (self.f(*family, average),)
            ],
            "errors": [{name: getattr(each, name) for name in OF_ERROR} for each in self.errors],
            "classes": [
                {
                    **{name: getattr(each, name) for name in ("basis", "reading", "kind")},
                    "class": each.class_name,
                    **{name: getattr(each, name) for name in ("fp", "fn", "share")},
                    "example": plain(each.at[0]) if each.at else None,
                }
                for each in self.classes
            ],
            "sensitivity": plain(self.bins),
            "suggestions": plain(self.suggestions),
            "warnings": list(scores.warnings),
        }

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for each kind of error in each average."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["errors"])

    def differences(self, other: Diagnosis, *, by_class: bool = False) -> tuple[Difference, ...]:
        """Return what another system won over this one, by kind of error.

        other: of the same reference. by_class: the parts of single classes in micro averages, in place of all
        classes together in both averages. The largest difference comes first in each basis, reading and
        average. Raises SettingsError where the two have no F of the same reference and the same beta.
        """
        common = [family for family in self.families if family in other.families]
        bases = [
            (
                s.settings.beta,
                [(i.sha256, i.rows, i.files, i.classes) for i in s.inputs if i.role == "reference"],
            )
            for s in (self.scores, other.scores)
        ]
        if bases[0] != bases[1] or not common:
            raise SettingsError(
                "two systems are compared by F of one reference, with one beta; these two have none in common"
            )
        sides = [
            {(*place_of(e), e.class_name): e.share for e in (each.classes if by_class else each.errors)}
            for each in (self, other)
        ]
        differences = []
        for key in dict.fromkeys(key for side in sides for key in side if key[:2] in common):
            # A class that has no errors of a kind costs nothing, unless nothing is known of all.
            first, second = (
                side.get(key, None if each.f(*key[:3]) is None else 0.0)
                for side, each in zip(sides, (self, other), strict=True)
            )
            won = None if first is None or second is None else first - second
            differences.append(Difference(*key, first, second, won))
        # Sorting keeps the order of the kinds, and of the classes, of what differs by as much.
        order = {family: k for k, family in enumerate(common)}
        differences.sort(
            key=lambda e: (order[e.basis, e.reading], AVERAGES.index(e.average), -abs(e.won or 0.0))
        )
        return tuple(differences)

    def table(self, basis: str, reading: str, average: str = "micro") -> list[KindOfError]:
        """Return the kinds of errors of a basis and reading, the costliest first."""
        family = basis, reading, average
        kinds = [each for each in self.errors if (each.basis, each.reading, each.average) == family]
        return sorted(kinds, key=lambda each: -(each.share or 0.0))


def measure_of_f(settings: Settings) -> str:
    """Return the name of the F that errors make."""
    return "f1" if settings.beta == 1 else "fbeta"


def lost_of(f: float | None) -> float | None:
    """Return the loss of an F, 1 - F, None if it is undefined."""
    return None if f is None else 1.0 - f


def kinds_of(
    family: Family, counts: Counts, examples: Sequence[tuple[str, Example]], settings: Settings
) -> Iterator[KindOfError]:
    """Yield the cost of each kind of error, by average; examples: of a kind each, the worst first."""
    fp, fn, n_ref = counts.sums()
    shares, gains = (averages(value, fp, fn, n_ref, settings.beta) for value in (share, gain))

    def again(weights: Floats) -> Floats:
        return averages(share, *counts.sums(weights), settings.beta)

    low, high = intervals(again, shares, len(counts.n_ref), settings)
    for k, average in enumerate(AVERAGES):
        for number, kind in enumerate(counts.kinds):
            part, least, most, risen = (finite(each[k, number].item()) for each in (shares, low, high, gains))
            yield KindOfError(
                *family, average, kind, fp[number].sum().item(), fn[number].sum().item(), part, least, most,
                risen,
                tuple(at for of, at in examples if (of, average) == (kind, "micro"))[:MOST_EXAMPLES],
            )  # fmt: skip


def classes_of(
    family: Family,
    counts: Counts,
    examples: Sequence[tuple[str, Example]],
    classes: tuple[str, ...],
    beta: float,
) -> Iterator[KindOfError]:
    """Yield the cost of each kind in each class that has it: at the prices of all classes pooled."""
    worst = {(kind, at.class_name): at for kind, at in reversed(examples)}
    fp, fn, n_ref = counts.sums()
    of_fp, of_fn = prices(n_ref.sum() - fn.sum(), fp.sum(), fn.sum(), beta)
    for kind, false, missed in zip(counts.kinds, fp.tolist(), fn.tolist(), strict=True):
        for label, n_false, n_missed in zip(classes, false, missed, strict=True):
            if n_false or n_missed:
                part = finite(float(n_false * of_fp + n_missed * of_fn))
                at = (worst[kind, label],) if (kind, label) in worst else ()
                errors = float(n_false), float(n_missed)
                yield KindOfError(*family, "micro", kind, *errors, part, at=at, class_name=label)
