"""Groups of classes and scenes: a pair's parts, each scored as if it alone had been evaluated.

A part is cut out of the pair that was aligned and post-processed already: files keep their lengths, and the
system's output is what it is in the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from sedeval_soft.core.errors import EvaluationError
from sedeval_soft.core.findings import listing
from sedeval_soft.core.hints import did_you_mean
from sedeval_soft.core.pair import Pair, with_classes, with_files
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.value import Score
from sedeval_soft.measures.names import spell
from sedeval_soft.run.psds import psds_notes
from sedeval_soft.run.scoring import score_tally
from sedeval_soft.run.single import tally_pair


@dataclass(frozen=True, slots=True)
class Part:
    """What belongs to a group of classes or to a scene: all files, or all classes, and some of the other."""

    name: str
    classes: tuple[str, ...]
    files: tuple[str, ...]
    is_scene: bool

    def of(self, pair: Pair) -> Pair:
        """Return the part of a pair."""
        return with_files(pair, self.files) if self.is_scene else with_classes(pair, self.classes)


def parts_of(pair: Pair, settings: Settings) -> list[Part]:
    """Return all groups and scenes of a pair.

    Raises EvaluationError, naming all that are wrong, for a group with a class that is not evaluated and for
    a scene that no file belongs to.
    """
    problems = [
        f"group {name!r}: {label!r} is not an evaluated class{did_you_mean(label, pair.classes)}"
        for name, labels in settings.groups.items()
        for label in labels
        if label not in pair.classes
    ]
    parts = [Part(name, labels, pair.files, is_scene=False) for name, labels in settings.groups.items()]
    for name, patterns in settings.scenes.items():
        files = tuple(file for file in pair.files if any(fnmatchcase(file, form) for form in patterns))
        parts.append(Part(name, pair.classes, files, is_scene=True))
        if not files:
            wanted = " or ".join(map(repr, patterns))
            problems.append(f"scene {name!r}: no file matches {wanted}, of {listing(pair.files, 'file')}")
    if problems:
        raise EvaluationError("\n".join(problems))
    return parts


def score_parts(
    pair: Pair, parts: Sequence[Part], settings: Settings
) -> tuple[dict[str, Score], tuple[str, ...]]:
    """Return the scores of parts of a pair by name, and what a reader must know of them.

    A scene has all scores. A group of classes has averages, and measures over all its classes, only.
    """
    scores: dict[str, Score] = {}
    notes: list[str] = []
    for part in parts:
        tally = tally_pair(part.of(pair), settings)
        found = score_tally(tally, settings).values()
        kept = [score for score in found if part.is_scene or score.average is not None]
        scores.update({score.name: score for score in _renamed(kept, part.name)})
        notes += psds_notes(tally, settings, part.name)
    return scores, tuple(notes)


def _renamed(scores: Sequence[Score], part: str) -> Iterator[Score]:
    for score in scores:
        stem = (score.basis, score.reading, score.measure, score.average, score.class_name)
        yield replace(score, name=spell(*stem, part), group=part)
