"""What comes of a submission: who submits it, and either its scores or what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sedeval_soft.errors import Problem
from sedeval_soft.evaluation.scores import Input, Score, Scores
from sedeval_soft.settings import Settings


@dataclass(frozen=True, slots=True)
class About:
    """What a file says of a submission; empty where it does not. url: of a page on the web."""

    team: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()
    url: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of a submission that a board shows, and what stands beside them.

    tally: the bytes by which it is compared with others.
    """

    scores: tuple[Score, ...]
    classes: tuple[str, ...]
    files: tuple[str, ...]
    length: float
    n_segments: int
    inputs: tuple[Input, ...]
    warnings: tuple[str, ...]
    signature: str
    version: str
    tally: bytes

    @classmethod
    def of_scores(cls, scores: Scores, names: Iterable[str], tally: bytes) -> Scored:
        """Return what a board needs of scores: averages, and those of some names."""
        wanted = {*names}
        chosen = (
            score
            for score in scores.scores.values()
            if score.name in wanted or (score.average is not None and score.group is None)
        )
        return cls(
            *(tuple(chosen), scores.classes, scores.files, scores.length, scores.n_segments),
            *(scores.inputs, scores.warnings, scores.signature, scores.version, tally),
        )


@dataclass(frozen=True, slots=True)
class Record:
    """A submission that was looked at: either scored, or with problems.

    key: a hash of all that shaped this. name: the submission's. problems: those that are told, of
    `n_problems`. pages: SHA-256 of the files of the site that are made of it alone, by path; made_by: what
    made them.
    """

    key: str
    name: str
    scored: Scored | None = None
    problems: tuple[Problem, ...] = ()
    n_problems: int = 0
    pages: dict[str, str] = field(default_factory=dict)
    made_by: str = ""

    def scores(self, settings: Settings) -> Scores:
        """Return its scores; settings: by which they were found. Raises ValueError where there are none."""
        scored = self.scored
        if scored is None:
            raise ValueError(f"{self.name!r} was not scored")
        return Scores(
            scores={score.name: score for score in scored.scores},
            system=self.name,
            classes=scored.classes,
            files=scored.files,
            length=scored.length,
            n_segments=scored.n_segments,
            settings=settings,
            inputs=scored.inputs,
            warnings=scored.warnings,
            signature=scored.signature,
            version=scored.version,
        )
