"""How far annotators agree, and what they reach, as a page of tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.apps.annotators import consensus
from sedeval_soft.apps.annotators.references import METHODS
from sedeval_soft.errors import counted, visible
from sedeval_soft.report.table import Page, Table, number, text
from sedeval_soft.settings import short_fraction

if TYPE_CHECKING:
    from sedeval_soft.apps.annotators.annotate import Annotation
    from sedeval_soft.apps.annotators.consensus import Consensus
    from sedeval_soft.arrays import Bools

_MOST_COLUMNS = 8
"""Annotators up to which the ceiling has a column for each in a text."""

_CONSENSUS = (
    "Consensus events are counted by how many annotators have them. Spreads are the mean distances of their",
    "onsets and offsets from the median, in seconds: the median of all events. Boundaries are of events that",
    "others have, too: bias from the mean annotator, negative where early, and jitter, a standard deviation.",
)

_BOUNDARIES = ("annotator", "events", "onset bias", "onset jitter", "offset bias", "offset jitter")


def annotation_text(annotation: Annotation) -> str:
    """Return all but the reference as tables."""
    rows, settings = annotation.reference, annotation.settings
    length = short_fraction(settings["segment_length"]).removesuffix(".0")
    segments = f"{counted(round(annotation.segments), 'segment')} of {length} s"
    if settings["continuous"]:
        segments = f"{number(annotation.segments * float(settings['segment_length']))} s in continuous time"
    size = f"{counted(len(rows.files), 'file')}, {segments}, {counted(len(rows.classes), 'class')}"
    lacking = "one without events" if settings["all_files"] else "missing"
    method, labels = METHODS[annotation.method], f"values above {settings['threshold']:g}"
    if annotation.events is not None:
        method = f"consensus events, {consensus.METHODS[annotation.method]}"
        labels += f", one event where their mean IoU is {settings['same_iou']:g} or more"
    lines = (
        ("reference", f"{method}: {size}"),
        ("labels", f"{labels}; a file that a table lacks is {lacking}"),
    )
    share = "; the share is the system's mean against these references by theirs" if annotation.system else ""
    notes: tuple[str, ...] = (
        "Alpha is Krippendorff's. Soft F of two annotators is over the segments that both labelled, its",
        "macro average over the classes that either uses, of events the mean of either being the reference.",
        f"The ceiling is each annotator against the reference of the others, in the files of both{share}.",
        *(_CONSENSUS if annotation.events is not None else ()),
        "- is undefined: there is nothing to divide by.",
    )
    tables = _of_annotators(annotation)
    if annotation.systems:
        tables += _of_systems(annotation)
        enough = 100 * float(annotation.settings["confidence"])
        notes += (*_NOTES, f"which on at least {enough:.4g} % of sets rank the systems as all annotators do.")
    return text([Page("", lines, tuple(tables), notes)])


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]], names: int = 1) -> Table:
    """Return a table of names and numbers; cells of a row beyond the head are left out."""
    cells = [tuple(visible(x) if isinstance(x, str) else number(x) for x in row[: len(head)]) for row in rows]
    return Table(title, tuple(map(visible, head)), tuple(cells), names=names)


def _of_annotators(annotation: Annotation) -> list[Table]:
    """Return what annotators are like, how far they agree, and what they reach."""
    names = _names(annotation)
    continuous = annotation.settings["continuous"]
    # Without a grid it is a length of time.
    unit, each_lasts = (
        ("seconds", float(annotation.settings["segment_length"])) if continuous else ("segments", 1)
    )
    system = () if annotation.system is None else ("system", "share")
    tables = [
        _table(
            "Annotators",
            ("annotator", "files", "competence", "says yes", "sensitivity", "specificity"),
            annotation.annotators,
        ),
        _table(
            "Agreement: alpha",
            ("class", "labels (nominal)", "values (interval)"),
            [each._replace(class_name=each.class_name or "(all)") for each in annotation.agreement],
        ),
        _table(
            "Soft F of two annotators",
            ("annotator", "and", "micro", "macro", unit, "event micro"),
            [
                (*pair.annotators, *pair._replace(segments=pair.segments * each_lasts)[1:])
                for pair in annotation.pairs
            ],
            names=2,
        ),
        _table(
            "Ceiling: what annotators reach",
            ("score", *names, "mean", *system),
            [(c.score, *(c.annotators if names else ()), *c[2:]) for c in annotation.ceiling],
        ),
    ]
    if names and annotation.method == "dawid-skene":
        both = "Sensitivity / specificity"
        rows = [
            (
                each.class_name,
                each.prevalence,
                *map(" / ".join, zip(*(map(number, x) for x in each[2:]), strict=True)),
            )
            for each in annotation.confusions
        ]
        tables.insert(1, _table(both, ("class", "prevalence", *names), rows))
    if annotation.events is not None:
        tables.append(_table("Consensus events", *_by_annotators(annotation.events)))
        tables.append(_table("Boundaries of annotators, in seconds", _BOUNDARIES, annotation.boundaries))
    return tables


def _names(annotation: Annotation) -> tuple[str, ...]:
    """Return the names of annotators that have a column each, none where they are too many."""
    annotators = annotation.annotators
    return tuple(each.name for each in annotators) if len(annotators) <= _MOST_COLUMNS else ()


def _of_systems(annotation: Annotation) -> list[Table]:
    """Return how sure the scores of systems are, over how many annotators, and against each."""
    confidence = float(annotation.settings["confidence"])
    low, high = (f"{100 * level:.4g} %" for level in ((1 - confidence) / 2, (1 + confidence) / 2))
    names, whole = _names(annotation), len(annotation.annotators) + 1
    each_score = zip(*(system.scores for system in annotation.systems), strict=True)
    pairs = [
        (score.score, system.name, score)
        for scores in each_score
        for system, score in zip(annotation.systems, scores, strict=True)
    ]
    sizes = [str(point.annotators) for point in pairs[0][2].over]
    tables = [
        _table(
            "Systems against the reference of all annotators: how sure",
            ("score", "system", "value", low, high, "by annotators", "by files"),
            [(*name, *each[1:6]) for *name, each in pairs],
            names=2,
        ),
        _table(
            "Systems over the number of annotators",
            ("score", "system", *sizes),
            [(*name, *(point.value for point in each.over)) for *name, each in pairs],
            names=2,
        ),
        _table(
            "Systems against each annotator",
            ("score", "system", *names, "mean", "deviation", "place"),
            [
                (*name, *(each.against if names else ()), each.mean, each.deviation,
                 "-" if each.place is None else f"{each.place} of {whole}")
                for *name, each in pairs
            ],
            names=2,
        ),
        _table(
            "Average distances of systems from annotators (LeWiDi 2025)",
            ("system", "error rate", "normalized absolute", "Manhattan", "Wasserstein"),
            [(system.name, *system.distances) for system in annotation.systems],
        ),
    ]  # fmt: skip
    if annotation.rankings:
        ranks = _table(
            "How many annotators rank the systems as all do: share of sets of so many",
            ("score", *sizes, "enough"),
            [(each.score, *(share for _, share in each.over), each.enough) for each in annotation.rankings],
        )
        tables.insert(2, ranks)
    return tables


_NOTES = (
    "Intervals are over annotators and files: another reference of as many annotators, in other files. By",
    "annotators, by files: standard errors from either. Of fewer annotators a score is the mean over sets",
    "of them. The place is that among the annotators, each against the others; enough is the number from",
)


def _by_annotators(agreed: Consensus) -> tuple[Sequence[str], list[Sequence[Any]]]:
    """Return how many events how many annotators have, and their spreads, as names of columns and rows."""
    events = agreed.events
    number_of = events.annotators

    def row(name: str, chosen: Bools) -> Sequence[Any]:
        spreads = [each[chosen & (number_of > 1)] for each in (events.onset_spread, events.offset_spread)]
        medians = [float(np.median(each)) if len(each) else None for each in spreads]
        share = int(chosen.sum()) / len(events) if len(events) else None
        return name, int(chosen.sum()), share, *medians

    rows = [row(str(n), number_of == n) for n in range(1, len(agreed.annotators) + 1)]
    head = ("annotators", "events", "share", "onset spread", "offset spread")
    return head, [*rows, row("(all)", number_of > 0)]
