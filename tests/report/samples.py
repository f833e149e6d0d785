"""Scores built by hand for the tests of presentations: numbers that only have to look like scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sedeval_soft.evaluation.scores import Input, Score, Scores
from sedeval_soft.evaluation.system_scores import sign
from sedeval_soft.measures.names import OVERALL, ScoreName, spell
from sedeval_soft.measures.registry import score_names
from sedeval_soft.report.page import page_of
from sedeval_soft.report.table import Table
from sedeval_soft.settings import Settings

Value = float | int | None

RATIOS = ("precision", "recall", "f1", "error_rate", "deletion_rate", "insertion_rate")
COUNTS = ("n_ref", "n_sys", "tp", "fp", "fn")
ERRORS = ("substitutions", "deletions", "insertions")
NEGATIVES = ("sensitivity", "specificity", "accuracy", "balanced_accuracy", "npv")
AVERAGES = ("micro", "macro", "weighted")
READINGS = ("hard", "optimal", "soft")
BASES = ("segment", "event", "intersection")
ALL_FAMILIES = tuple((basis, reading) for basis in BASES for reading in READINGS)
FAMILIES = ALL_FAMILIES[:6]
DEVIATIONS = {"onset_bias": -0.0251, "onset_spread": 0.1102, "offset_bias": 0.3003, "offset_spread": 1.2504}

MAESTRO = (
    *("birds singing", "car", "people talking", "footsteps", "children voices", "wind blowing"),
    *("brakes squeaking", "large vehicle", "cutlery and dishes", "metro approaching", "metro leaving"),
    *("furniture dragging", "coffee machine", "door opens/closes", "announcement", "shopping cart"),
    "cash register beeping",
)
UNICODE = ("鳥の声", "café", "cafe\u0301", "Türklingel", "👏", "speech")
SIGNATURE_VERSION = "1.2.3"


def build(
    classes: Sequence[str] = ("car", "speech"),
    families: Sequence[tuple[str, str]] = FAMILIES,
    silent: Sequence[str] = (),
    missed: Sequence[str] = (),
    system: str = "sys.tsv",
    **chosen: object,
) -> Scores:
    """Build scores of some classes; `silent` have no reference, `missed` are never detected."""
    settings = Settings.of(**chosen)
    form = "long table with header, tab"
    reference = Input("ref.tsv", "reference", "0" * 64, 1200, 5, len(classes), form, True, "merge")
    output = Input("sys.tsv", "system", "f" * 64, 900, 4, 2, "wide table, comma", False, "rows", ("comment",))
    scores: dict[str, Score] = {}
    for family in families:
        for score in _family(*family, classes, silent, missed, settings.beta):
            scores[score.name] = score
    return Scores(
        scores=scores,
        system=system,
        classes=tuple(classes),
        files=("a", "b", "c", "d", "e"),
        length=1000.5,
        n_segments=1003,
        settings=settings,
        inputs=(reference, output),
        warnings=("no rows for file 'e' in the system",),
        signature=sign(SIGNATURE_VERSION, settings, (reference, output)),
        version=SIGNATURE_VERSION,
    )


def with_all_bases(classes: Sequence[str] = ("car", "speech"), **chosen: object) -> Scores:
    """Build scores of all bases, with PSDS (over all and of classes) and the deviations of events.

    The last class has no matched events, so no deviations.
    """
    scores = build(classes, ALL_FAMILIES, **chosen)
    extra = []
    for i, reading in enumerate(("hard", "soft")):
        extra.append(score("intersection", reading, "psds", OVERALL, 0.6 + i / 100, of_class=False))
        for k, label in enumerate(classes):
            extra.append(score("intersection", reading, "psds", label, 0.5 + (i + k) / 100, of_class=True))
    for measure, value in DEVIATIONS.items():
        extra += [score("event", "hard", measure, label, value, of_class=True) for label in classes[:-1]]
        extra.append(score("event", "hard", measure, classes[-1], None, of_class=True))
    return replace(scores, scores={**scores.scores, **{s.name: s for s in extra}})


def registered(classes: Sequence[str]) -> Scores:
    """Build a score of every name that the registry has, each with another value of six digits."""
    names = [ScoreName.parse(name) for name in score_names(classes)]
    found = [
        Score(str(n), n.basis, n.reading, n.measure, n.average, n.class_name, 100_000 + i)
        for i, n in enumerate(names)
    ]
    return replace(build(classes, (), beta=2.0), scores={s.name: s for s in found})


def revalued(scores: Scores, value: Callable[[int, Score], Value]) -> Scores:
    """Return the same scores with the value that a function gives to each, from its place and itself."""
    changed = {s.name: replace(s, value=value(i, s)) for i, s in enumerate(scores.scores.values())}
    return replace(scores, scores=changed)


def tables(scores: Scores) -> list[Table]:
    """Return the tables of the page of a system."""
    return list(page_of(scores).tables)


def without(scores: Scores, unwanted: Callable[[Score], bool]) -> Scores:
    """Return the scores without some."""
    return replace(scores, scores={s.name: s for s in scores.scores.values() if not unwanted(s)})


def score(basis: str, reading: str, measure: str, form: str, value: Value, *, of_class: bool) -> Score:
    """Build one score of a class or of an average."""
    average, label = (None, form) if of_class else (form, None)
    name = spell(basis, reading, measure, average, label)
    return Score(name, basis, reading, measure, None if of_class else form, form if of_class else None, value)


def _share(key: int) -> float:
    return (key * 7919 % 9973) / 9973


def _value(reading: str, measure: str, key: int, *, silent: bool = False, missed: bool = False) -> Value:
    """Return a number that looks like a measure's; 0 or None where a class has no reference or no output."""
    if (silent and measure in {"recall", "error_rate"}) or (missed and measure in {"precision", "threshold"}):
        return None
    if measure not in {*COUNTS, *ERRORS, "tn"}:
        return _share(key)
    nothing = (silent and measure in {"n_ref", "tp", "fn"}) or (missed and measure in {"n_sys", "tp", "fp"})
    count = 0.0 if nothing else _share(key) * 300
    return count if reading == "soft" else int(count)


def _measures(basis: str, reading: str, beta: float) -> dict[str, tuple[str, ...]]:
    """Return the measures of one basis in one reading, each with its averages."""
    negatives = (basis, reading) == ("segment", "hard")
    shares = [*RATIOS[:3], *(["fbeta"] if beta != 1 else []), *RATIOS[3:], *(NEGATIVES if negatives else [])]
    shares += ["kl_divergence"] if (basis, reading) == ("segment", "soft") else []
    micro = ["substitution_rate", *COUNTS, *(["tn"] if negatives else []), *ERRORS]
    found = dict.fromkeys(shares, AVERAGES) | dict.fromkeys(micro, AVERAGES[:1])
    return found | ({"threshold": ()} if reading == "optimal" else {})


def _family(
    basis: str,
    reading: str,
    classes: Sequence[str],
    silent: Sequence[str],
    missed: Sequence[str],
    beta: float,
) -> Iterator[Score]:
    seed = ALL_FAMILIES.index((basis, reading)) + 1
    for i, (measure, averages) in enumerate(_measures(basis, reading, beta).items()):
        for j, average in enumerate(averages):
            value = _value(reading, measure, seed * 1000 + i * 10 + j)
            yield score(basis, reading, measure, average, value, of_class=False)
        if measure in {"substitution_rate", *ERRORS}:
            continue
        for k, label in enumerate(classes):
            key = seed * 2000 + i * 100 + k
            value = _value(reading, measure, key, silent=label in silent, missed=label in missed)
            yield score(basis, reading, measure, label, value, of_class=True)
