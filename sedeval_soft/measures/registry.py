"""All measures by name: what `--list-scores`, the help, the docs and the contract tests go through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sedeval_soft.measures import curves, detection, divergence, ranking
from sedeval_soft.measures.base import Family, Measure
from sedeval_soft.measures.event import BOUNDARIES
from sedeval_soft.measures.names import ScoreName, ScoreNameError
from sedeval_soft.measures.segment import OF_CELLS
from sedeval_soft.names import MEASURE_ALIASES, did_you_mean, meant

_Row = tuple[str, str, tuple[Measure, ...]] | tuple[str, str, tuple[Measure, ...], str]
"""A reading, what the system and the reference are read as, the measures, and what must be asked for."""

_DETECTION, _OVERLAPS = detection.MEASURES, detection.OF_INTERSECTIONS
_BEST = (detection.THRESHOLD, *detection.BEST_ERROR_RATE)
_TUNED = "the system cut at thresholds that were found on other data, or on other files"
_OPTIMAL = "the system cut at each class's best threshold"
_LEVELS = "hard counts integrated over all levels of both sides"
_VALUES = "the system's values against the reference's"

_THRESHOLDS: tuple[_Row, ...] = (
    ("optimal", "the system cut where all classes together are best", detection.JOINT, "joint"),
    ("optimal", "the system cut where it is best among what --satisfice allows", detection.SATISFICED),
)

_CELLS: tuple[_Row, ...] = (
    ("hard", "reference and system cut at one threshold each", (*_DETECTION, *OF_CELLS)),
    ("tuned", _TUNED, (*_DETECTION, detection.TUNED_THRESHOLD)),
    ("optimal", _OPTIMAL, (*_DETECTION, detection.THRESHOLD)),
    ("soft", f"fuzzy sets: {_LEVELS}", _DETECTION),
    ("soft", _VALUES, (divergence.KL_DIVERGENCE,)),
    ("hard", "proper scores of the cut reference", divergence.OF_CUT, "divergence"),
    ("soft", _VALUES, divergence.OF_VALUES, "divergence"),
    ("hard", "all thresholds of the system, the reference cut at one", curves.CURVES, "curves"),
    ("soft", "all thresholds, a cell positive by y and negative by 1 - y", curves.CURVES, "curves"),
    (
        "hard", "the system's values as probabilities of the cut reference", curves.CALIBRATION,
        "calibration",
    ),
    ("soft", "the system's values as predictions of the reference's", curves.CALIBRATION, "calibration"),
    *_THRESHOLDS,
)  # fmt: skip

_BASES: dict[str, tuple[_Row, ...]] = {
    "segment": _CELLS,
    "event": (
        ("hard", "events of both sides at one threshold each, in collars", (*_DETECTION, *BOUNDARIES)),
        ("tuned", _TUNED, (*_DETECTION, detection.TUNED_THRESHOLD)),
        ("optimal", _OPTIMAL, (*_DETECTION, *_BEST)),
        ("soft", _LEVELS, _DETECTION),
        *_THRESHOLDS,
        ("hard", "events ranked by their values", curves.EVENTS, "curves"),
    ),
    "intersection": (
        (
            "hard", "events of both sides at one threshold each, by how much they cover",
            (*_OVERLAPS, detection.PSDS, detection.PIPSDS),
        ),
        ("tuned", _TUNED, (*_OVERLAPS, detection.TUNED_THRESHOLD)),
        ("optimal", _OPTIMAL, (*_OVERLAPS, *_BEST)),
        ("soft", _LEVELS, (*_OVERLAPS, detection.SOFT_PSDS)),
        *_THRESHOLDS,
    ),
    "clip": _CELLS,
    "ranking": (
        (
            "hard", "classes of a segment in order of value, the reference cut",
            (*ranking.SHARED, *ranking.HARD),
        ),
        (
            "soft", "a class active by y and silent by 1 - y; segments by their highest y",
            ranking.SHARED,
        ),
    ),
}  # fmt: skip

FAMILIES = tuple(Family(basis, *row) for basis, rows in _BASES.items() for row in rows)
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
    name = _parsed(name) if isinstance(name, str) else name
    for family in FAMILIES:
        if (family.basis, family.reading) == (name.basis, name.reading):
            for measure in family.measures:
                exists = measure.has_classes if name.average is None else name.average in measure.averages
                if measure.name == name.measure and exists:
                    return family, measure
    whole = str(replace(name, group=None))
    spelled = whole if name.class_name is None else f"{name.basis}.{name.reading}.{name.measure}[class]"
    hint = meant(whole, score_names()) or did_you_mean(spelled, score_names())
    raise ScoreNameError(f"no score is named {name}{hint or '; --list-scores prints all names'}")


def _parsed(text: str) -> ScoreName:
    try:
        return ScoreName.parse(text)
    except ScoreNameError as error:
        hint = meant(text, score_names()) or did_you_mean(text, score_names())
        raise ScoreNameError(f"{error}{hint}") from None


def score_names(classes: Sequence[str] = ("class",)) -> Iterator[str]:
    """Iterate over all score names; those of classes once as `[class]`, or for each given class."""
    for family in FAMILIES:
        for measure in family.measures:
            stem = (family.basis, family.reading, measure.name)
            for average in measure.averages:
                yield str(ScoreName(*stem, average=average))
            if measure.has_classes:
                for label in classes:
                    yield str(ScoreName(*stem, class_name=label))
