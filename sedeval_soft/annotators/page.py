"""How far annotators agree, and what they reach, as a page of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.annotators import consensus
from sedeval_soft.annotators.references import METHODS
from sedeval_soft.errors import counted, visible
from sedeval_soft.report.table import Page, Table, number, text
from sedeval_soft.settings import short_fraction

if TYPE_CHECKING:
    from sedeval_soft.annotators.annotate import Annotation
    from sedeval_soft.annotators.consensus import Consensus
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
    annotators = annotation.annotators if len(annotation.annotators) <= _MOST_COLUMNS else ()
    system = () if annotation.system is None else ("system", "share")

    def table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]], names: int = 1) -> Table:
        cells = [tuple(visible(x) if isinstance(x, str) else number(x) for x in row) for row in rows]
        return Table(title, tuple(head), tuple(cells), names=names)

    confusions = annotation.confusions if annotators and annotation.method == "dawid-skene" else ()
    each_class = table(
        "Sensitivity / specificity",
        ("class", "prevalence", *(visible(a.name) for a in annotators)),
        [
            (c.class_name, c.prevalence, *map(" / ".join, zip(*(map(number, x) for x in c[2:]), strict=True)))
            for c in confusions
        ],
    )
    tables = (
        table(
            "Annotators",
            ("annotator", "files", "competence", "says yes", "sensitivity", "specificity"),
            annotation.annotators,
        ),
        *([each_class] if confusions else []),
        table(
            "Agreement: alpha",
            ("class", "labels (nominal)", "values (interval)", "events (unitizing)"),
            [("(all)" if each[0] is None else each[0], *each[1:]) for each in annotation.agreement],
        ),
        table(
            "Soft F of two annotators",
            ("annotator", "and", "micro", "macro", "segments", "event micro"),
            [(*pair.annotators, *pair[1:]) for pair in annotation.pairs],
            names=2,
        ),
        table(
            "Ceiling: what annotators reach",
            ("score", *(visible(a.name) for a in annotators), "mean", *system),
            [
                (c.score, *(c.annotators if annotators else ()), c.mean, *c[3:][: len(system)])
                for c in annotation.ceiling
            ],
        ),
        *(
            ()
            if annotation.events is None
            else (
                table("Consensus events", *_by_annotators(annotation.events)),
                table("Boundaries of annotators, in seconds", _BOUNDARIES, annotation.boundaries),
            )
        ),
    )
    if annotation.systems:
        tables += _of_systems(annotation)
    share = "; the share is the system's mean against these references by theirs" if system else ""
    notes: tuple[str, ...] = (
        "Alpha is Krippendorff's. Soft F of two annotators is over the segments that both labelled, its",
        "macro average over the classes that either uses, of events the mean of either being the reference.",
        f"The ceiling is each annotator against the reference of the others, in the files of both{share}.",
        *(_CONSENSUS if annotation.events is not None else ()),
        "- is undefined: there is nothing to divide by.",
    )
    if annotation.systems:
        notes += _NOTES
        share_of_sets = 100 * float(annotation.settings["confidence"])
        notes += (f"which on at least {share_of_sets:.4g} % of sets rank the systems as all annotators do.",)
    return text([Page("", lines, tables, notes)])


def _of_systems(annotation: Annotation) -> tuple[Table, ...]:
    """Return how sure the scores of systems are, over how many annotators, and against each."""
    confidence = float(annotation.settings["confidence"])
    low, high = (f"{100 * level:.4g} %" for level in ((1 - confidence) / 2, (1 + confidence) / 2))
    names = [visible(annotator.name) for annotator in annotation.annotators]
    names = names if len(names) <= _MOST_COLUMNS else []
    pairs = [
        (each, visible(system.name), system.scores[k])
        for k, each in enumerate(score.score for score in annotation.systems[0].scores)
        for system in annotation.systems
    ]
    sizes = [str(point.annotators) for point in pairs[0][2].over]
    whole = len(annotation.annotators) + 1

    def table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]], names: int = 2) -> Table:
        cells = [tuple(x if isinstance(x, str) else number(x) for x in row) for row in rows]
        return Table(title, tuple(head), tuple(cells), names=names)

    tables = [
        table(
            "Systems against the reference of all annotators: how sure",
            ("score", "system", "value", low, high, "by annotators", "by files"),
            [(name, system, *each[1:6]) for name, system, each in pairs],
        ),
        table(
            "Systems over the number of annotators",
            ("score", "system", *sizes),
            [(name, system, *(point.value for point in each.over)) for name, system, each in pairs],
        ),
        table(
            "Systems against each annotator",
            ("score", "system", *names, "mean", "deviation", "place"),
            [
                (name, system, *(each.against if names else ()), each.mean, each.deviation,
                 "-" if each.place is None else f"{each.place} of {whole}")
                for name, system, each in pairs
            ],
        ),
        table(
            "Average distances of systems from annotators (LeWiDi 2025)",
            ("system", "error rate", "normalized absolute", "Manhattan", "Wasserstein"),
            [(visible(system.name), *system.distances) for system in annotation.systems],
            names=1,
        ),
    ]  # fmt: skip
    if annotation.rankings:
        ranks = table(
            "How many annotators rank the systems as all do: share of sets of so many",
            ("score", *sizes, "enough"),
            [(each.score, *(share for _, share in each.over), each.enough) for each in annotation.rankings],
            names=1,
        )
        tables.insert(2, ranks)
    return tuple(tables)


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
