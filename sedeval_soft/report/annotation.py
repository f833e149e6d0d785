"""What is found of several annotators, as text or JSON."""

from __future__ import annotations

from sedeval_soft.annotators.found import Annotation
from sedeval_soft.errors import counted, visible
from sedeval_soft.report.escape import json_text
from sedeval_soft.report.plain import plain_table
from sedeval_soft.report.table import Table, number
from sedeval_soft.settings import short_fraction

_MOST_COLUMNS = 8
"""Annotators up to which the ceiling has a column for each."""


def annotation_json(annotation: Annotation) -> str:
    """Return all but the reference as JSON."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(_encodable(annotation.to_dict())), indent=2).decode()
    return json_text(text) + "\n"


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {key: _encodable(part) for key, part in value.items()}
    return [_encodable(part) for part in value] if isinstance(value, list) else value


def annotation_text(annotation: Annotation) -> str:
    """Return all but the reference as tables."""
    rows, settings = annotation.reference, annotation.settings
    made = _MADE.get(annotation.method, annotation.method)
    files, classes = counted(len(rows.files), "file"), counted(len(rows.classes), "class")
    length = short_fraction(settings["segment_length"]).removesuffix(".0")
    segments = f"{counted(annotation.segments, 'segment')} of {length} s"
    lacking = "one without events" if settings["all_files"] else "missing"
    lines = (
        f"reference  {made}: {files}, {segments}, {classes}\n"
        f"labels     values above {settings['threshold']:g}; a file that a table lacks is {lacking}\n"
    )
    tables = (_annotators(annotation), _agreement(annotation), _pairs(annotation), _ceiling(annotation))
    return "\n".join([lines, *map(plain_table, tables), _notes(annotation)])


_MADE = {
    "mean": "mean of those who labelled",
    "competence": "mean of those who labelled, weighted by competence",
    "majority": "majority of those who labelled",
}
"""How references are made, in words."""


def _notes(annotation: Annotation) -> str:
    notes = (
        "Alpha is Krippendorff's. Soft F of two annotators is over the segments that both labelled, its\n"
        "macro average over the classes that either uses. The ceiling is each annotator against the\n"
        "reference of the others, in the files that both labelled"
    )
    if annotation.system is not None:
        notes += "; the share is the system's mean against these references by theirs"
    return notes + ".\n- is undefined: there is nothing to divide by.\n"


def _annotators(annotation: Annotation) -> Table:
    rows = [
        (visible(a.name), str(a.files), number(a.competence), number(a.says_yes))
        for a in annotation.annotators
    ]
    return Table("Annotators", ("annotator", "files", "competence", "says yes"), tuple(rows))


def _agreement(annotation: Annotation) -> Table:
    rows = [
        ("(all)" if a.class_name is None else visible(a.class_name), number(a.nominal), number(a.interval))
        for a in annotation.agreement
    ]
    return Table("Agreement: alpha", ("class", "labels (nominal)", "values (interval)"), tuple(rows))


def _pairs(annotation: Annotation) -> Table:
    rows = [
        (visible(p.first), visible(p.second), number(p.f1_micro), number(p.f1_macro), str(p.segments))
        for p in annotation.pairs
    ]
    head = ("annotator", "and", "micro", "macro", "segments")
    return Table("Soft F of two annotators", head, tuple(rows), names=2)


def _ceiling(annotation: Annotation) -> Table:
    each = annotation.annotators if len(annotation.annotators) <= _MOST_COLUMNS else ()
    of_system = ("system", "share") if annotation.system is not None else ()
    rows = [
        (
            c.score,
            *(number(value) for value in (c.annotators if each else ())),
            number(c.mean),
            *((number(c.system), number(c.share)) if of_system else ()),
        )
        for c in annotation.ceiling
    ]
    head = ("score", *(visible(a.name) for a in each), "mean", *of_system)
    return Table("Ceiling: what annotators reach", head, tuple((visible(r[0]), *r[1:]) for r in rows))
