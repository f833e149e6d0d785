"""All measures by name: what `--list-scores`, the help, the docs and the contract tests go through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sedeval_soft.core.hints import did_you_mean
from sedeval_soft.measures.divergence.spec import FAMILIES as DIVERGENCE
from sedeval_soft.measures.event.spec import FAMILIES as EVENT
from sedeval_soft.measures.intersection.spec import FAMILIES as INTERSECTION
from sedeval_soft.measures.measure import Family, Measure
from sedeval_soft.measures.names import ScoreName, ScoreNameError
from sedeval_soft.measures.segment.spec import FAMILIES as SEGMENT

FAMILIES: tuple[Family, ...] = (*SEGMENT, *DIVERGENCE, *EVENT, *INTERSECTION)
"""Every basis and reading with its measures, in the order in which scores are printed."""


def measure_of(name: ScoreName | str) -> Measure:
    """Return the measure that a score name means.

    Raises ScoreNameError, with close matches, for a name that no measure has.
    """
    parsed = ScoreName.parse(name) if isinstance(name, str) else name
    for family in FAMILIES:
        if (family.basis, family.reading) == (parsed.basis, parsed.reading):
            for measure in family.measures:
                if measure.name == parsed.measure and _has_form(measure, parsed):
                    return measure
    stem = f"{parsed.basis}.{parsed.reading}.{parsed.measure}"
    spelled = str(parsed) if parsed.class_name is None else f"{stem}[class]"
    hint = did_you_mean(spelled, score_names()) or "; --list-scores prints all names"
    raise ScoreNameError(f"no score is named {parsed}{hint}")


def _has_form(measure: Measure, name: ScoreName) -> bool:
    return measure.has_classes if name.average is None else name.average in measure.averages


def score_names(classes: Sequence[str] | None = None) -> Iterator[str]:
    """Iterate over all score names; those of classes once as `[class]`, or for each given class."""
    labels = ["class"] if classes is None else classes
    for family in FAMILIES:
        for measure in family.measures:
            stem = (family.basis, family.reading, measure.name)
            for average in measure.averages:
                yield str(ScoreName(*stem, average=average))
            if measure.has_classes:
                for label in labels:
                    yield str(ScoreName(*stem, class_name=label))
