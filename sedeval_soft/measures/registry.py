"""All measures by name: what `--list-scores`, the help, the docs and the contract tests go through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sedeval_soft.measures import calibration, curves, detection, divergence, ranking
from sedeval_soft.measures.base import Family, Measure
from sedeval_soft.measures.event import measures as event
from sedeval_soft.measures.intersection import measures as intersection
from sedeval_soft.measures.names import ScoreName, ScoreNameError
from sedeval_soft.measures.segment import measures as segment
from sedeval_soft.names import MEASURE_ALIASES, did_you_mean, meant

_KINDS = {
    "segment": (segment, divergence, curves, calibration, detection),
    "event": (event, detection, curves),
    "intersection": (intersection, detection),
    "clip": (segment, divergence, curves, calibration, detection),
    "ranking": (ranking,),
}
"""The modules that have families of each basis."""

FAMILIES: tuple[Family, ...] = tuple(
    family for basis, kinds in _KINDS.items() for kind in kinds for family in kind.families(basis)
)
"""Every basis and reading with its measures, in the order in which scores are printed."""

MEASURE_ALIASES.update(
    {alias: each.name for family in FAMILIES for each in family.measures for alias in each.aliases}
)


def measure_of(name: ScoreName | str) -> Measure:
    """Return the measure that a score name means.

    Raises ScoreNameError, with close matches, for a name that no measure has.
    """
    return family_of(name)[1]


def group_of(name: ScoreName | str) -> str:
    """Return the group of measures that a score belongs to, empty for one that comes with its basis.

    Raises ScoreNameError as `measure_of`.
    """
    return family_of(name)[0].group


def family_of(name: ScoreName | str) -> tuple[Family, Measure]:
    """Return the family and the measure that a score name means; raises ScoreNameError as `measure_of`."""
    parsed = _parsed(name) if isinstance(name, str) else name
    for family in FAMILIES:
        if (family.basis, family.reading) == (parsed.basis, parsed.reading):
            for measure in family.measures:
                if measure.name == parsed.measure and _has_form(measure, parsed):
                    return family, measure
    stem = f"{parsed.basis}.{parsed.reading}.{parsed.measure}"
    whole = replace(parsed, group=None)
    spelled = str(whole) if parsed.class_name is None else f"{stem}[class]"
    hint = (
        meant(str(whole), score_names())
        or did_you_mean(spelled, score_names())
        or "; --list-scores prints all names"
    )
    raise ScoreNameError(f"no score is named {parsed}{hint}")


def _parsed(name: str) -> ScoreName:
    """Read a score's name, answering what is none with those that may be meant."""
    try:
        return ScoreName.parse(name)
    except ScoreNameError as error:
        hint = meant(name, score_names()) or did_you_mean(name, score_names())
        raise ScoreNameError(f"{error}{hint}") from None


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
