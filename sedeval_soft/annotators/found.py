"""What is found of several annotators: values, without formatting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sedeval_soft.tables.event_table import EventTable


@dataclass(frozen=True, slots=True)
class Annotator:
    """One annotator: the name of the table, how many files it labels, and what `competence` finds.

    says_yes: how often yes is said where the annotator does not know.
    """

    name: str
    files: int
    competence: float
    says_yes: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha of a class, None for all: of labels (nominal) and of values (interval)."""

    class_name: str | None
    nominal: float | None
    interval: float | None


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Soft F of two annotators over the segments that both labelled."""

    first: str
    second: str
    f1_micro: float | None
    f1_macro: float | None
    segments: int


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What annotators reach against one another.

    score: the name of a score. annotators: of each, the score against the reference of the others, None where
    undefined. mean: of those. system, share: the mean of a system against the same references, and what share
    of the annotators' mean that is; None where no system is given.
    """

    score: str
    annotators: tuple[float | None, ...]
    mean: float | None
    system: float | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A reference made of what several annotators say, and how far they agree.

    reference: rows to be evaluated against or converted. method: how it was made. settings: what else shaped
    it. system: the name of the system whose share of the ceiling was asked for.
    """

    reference: EventTable
    method: str
    settings: Mapping[str, Any]
    annotators: tuple[Annotator, ...]
    agreement: tuple[Agreement, ...]
    pairs: tuple[PairAgreement, ...]
    ceiling: tuple[Ceiling, ...]
    segments: int
    warnings: tuple[str, ...] = ()
    system: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all but the reference as plain values, as `soft-sed-eval annotate --format json` has it."""
        names = {"files": len(self.reference.files), "classes": len(self.reference.classes)}
        return {
            "schema": "soft-sed-eval-annotation/1",
            "method": self.method,
            "settings": dict(self.settings),
            "warnings": list(self.warnings),
            **names,
            "segments": self.segments,
            "annotators": [
                {"name": a.name, "files": a.files, "competence": a.competence, "says_yes": a.says_yes}
                for a in self.annotators
            ],
            "agreement": [
                {"class": a.class_name, "nominal": a.nominal, "interval": a.interval} for a in self.agreement
            ],
            "pairs": [
                {
                    "annotators": [p.first, p.second],
                    "f1_micro": p.f1_micro,
                    "f1_macro": p.f1_macro,
                    "segments": p.segments,
                }
                for p in self.pairs
            ],
            "system": self.system,
            "ceiling": [
                {
                    "score": c.score,
                    "annotators": list(c.annotators),
                    "mean": c.mean,
                    "system": c.system,
                    "share": c.share,
                }
                for c in self.ceiling
            ],
        }
