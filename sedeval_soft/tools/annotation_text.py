"""What several annotators say of a reference, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sedeval_soft.errors import counted, visible
from sedeval_soft.report.table import Page, Table, number
from sedeval_soft.report.text import text
from sedeval_soft.settings import short_fraction

if TYPE_CHECKING:
    from sedeval_soft.tools.annotate import Annotation

_MOST_COLUMNS = 8
"""Annotators up to which the ceiling has a column for each."""

_MADE = {
    "mean": "mean of those who labelled",
    "competence": "mean of those who labelled, weighted by competence",
    "majority": "majority of those who labelled",
}
"""How references are made, in words."""


def annotation_text(annotation: Annotation) -> str:
    """Return all but the reference as tables."""
    rows, settings = annotation.reference, annotation.settings
    method = _MADE.get(annotation.method, annotation.method)
    files, classes = counted(len(rows.files), "file"), counted(len(rows.classes), "class")
    length = short_fraction(settings["segment_length"]).removesuffix(".0")
    segments = f"{counted(annotation.segments, 'segment')} of {length} s"
    lacking = "one without events" if settings["all_files"] else "missing"
    lines = (
        ("reference", f"{method}: {files}, {segments}, {classes}"),
        ("labels", f"values above {settings['threshold']:g}; a file that a table lacks is {lacking}"),
    )
    annotators = [
        (visible(a.name), str(a.files), number(a.competence), number(a.says_yes))
        for a in annotation.annotators
    ]
    agreement = [
        ("(all)" if a.class_name is None else visible(a.class_name), number(a.nominal), number(a.interval))
        for a in annotation.agreement
    ]
    pairs = [
        (visible(p.first), visible(p.second), number(p.f1_micro), number(p.f1_macro), str(p.segments))
        for p in annotation.pairs
    ]
    tables = (
        Table("Annotators", ("annotator", "files", "competence", "says yes"), tuple(annotators)),
        Table("Agreement: alpha", ("class", "labels (nominal)", "values (interval)"), tuple(agreement)),
        Table(
            "Soft F of two annotators",
            ("annotator", "and", "micro", "macro", "segments"),
            tuple(pairs),
            names=2,
        ),
        _ceiling(annotation),
    )
    share = "; the share is the system's mean against these references by theirs"
    notes = (
        "Alpha is Krippendorff's. Soft F of two annotators is over the segments that both labelled, its",
        "macro average over the classes that either uses. The ceiling is each annotator against the",
        f"reference of the others, in the files that both labelled{share * (annotation.system is not None)}.",
        "- is undefined: there is nothing to divide by.",
    )
    return text([Page("", lines, tables, notes)])


def _ceiling(annotation: Annotation) -> Table:
    each = annotation.annotators if len(annotation.annotators) <= _MOST_COLUMNS else ()
    system = ("system", "share") if annotation.system is not None else ()
    rows = (
        (
            visible(c.score),
            *map(number, c.annotators if each else ()),
            *(number(getattr(c, name)) for name in ("mean", *system)),
        )
        for c in annotation.ceiling
    )
    head = ("score", *(visible(a.name) for a in each), "mean", *system)
    return Table("Ceiling: what annotators reach", head, tuple(rows))
