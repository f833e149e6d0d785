"""The annotators' agreement and scores on a screen of 80 columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sedeval_soft.apps.annotators import consensus
from sedeval_soft.apps.annotators.crowd import MISSING
from sedeval_soft.apps.annotators.references import METHODS
from sedeval_soft.errors import counted, visible
from sedeval_soft.report import Column, folded, interval, lines_and_rest, name_of, number, wrapped
from sedeval_soft.settings import short_fraction

if TYPE_CHECKING:
    from sedeval_soft.apps.annotators.annotate import Annotation
    from sedeval_soft.apps.annotators.consensus import Boundaries, Consensus

_WIDTH = 80

Cell = str | float | None


def annotation_text(annotation: Annotation) -> str:
    """Return all but the reference as tables; annotators have numbers, by which columns are named."""
    people = [f"{k} {name_of(each.name)}" for k, each in enumerate(annotation.annotators, 1)]
    numbers = [str(k) for k in range(1, len(people) + 1)]
    blocks = [
        _heading(annotation),
        *_of_annotators(annotation, people, numbers),
        *(_of_consensus(annotation.events, annotation.boundaries, people) if annotation.events else ()),
        *(_of_systems(annotation, numbers) if annotation.systems else ()),
        [line for note in _notes(annotation) for line in folded(note, _WIDTH)],
    ]
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks)


def _heading(annotation: Annotation) -> list[str]:
    rows, settings = annotation.reference, annotation.settings
    time = f"{annotation.segments * float(settings['segment_length']):.4g} s in continuous time"
    if not settings["continuous"]:
        length = short_fraction(settings["segment_length"]).removesuffix(".0")
        time = f"{counted(round(annotation.segments), 'segment')} of {length} s"
    method, labels = METHODS[annotation.method], [f"values above {settings['threshold']:g}"]
    if annotation.events is not None:
        method = f"consensus events, {consensus.METHODS[annotation.method]}"
        labels.append(f"one event where their mean IoU is {settings['same_iou']:g} or more")
    if settings["missing"]:
        labels.append(f"a file that a table lacks {MISSING[settings['missing']]}")
    size = counted(len(rows.files), "file"), time, counted(len(rows.classes), "class")
    return [*wrapped([method, *size], _WIDTH, "reference  "), *wrapped(labels, _WIDTH, "labels     ")]


def _table(
    title: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    may_go: Collection[str] = (),
    heading: str = "",
) -> list[str]:
    """Return a title and a table of names and numbers.

    head: of the names, and of each number. may_go: columns that are left out together if the screen has no
    room for all. heading: the line above these.
    """
    texts = [[_text(cell) for cell in row] for row in rows]
    first, *others = (
        Column(heading if name in may_go else "", name, [row[k] for row in texts], rank=int(name in may_go))
        for k, name in enumerate(head)
    )
    columns = dict(zip(head[1:], others, strict=True))
    return [title, *lines_and_rest(first._replace(left=True), columns, _WIDTH, see="--format json")]


def _text(cell: Cell) -> str:
    if isinstance(cell, str):
        return visible(cell)
    return str(cell) if isinstance(cell, int) else number(cell)


def _of_annotators(annotation: Annotation, people: list[str], numbers: list[str]) -> Iterable[list[str]]:
    """Yield the parameters of annotators, their agreement, and their scores."""
    names = ["", "files", "competence", "says yes", "sensitivity", "specificity"]
    rows: list[Sequence[Cell]] = [
        (name, each.files, each.competence, each.says_yes, each.sensitivity, each.specificity)
        for name, each in zip(people, annotation.annotators, strict=True)
    ]
    yield _table("Annotators", names, rows)
    if annotation.method == "dawid-skene":
        rows = [
            (each.class_name, each.prevalence,
             *("/".join(map(number, both)) for both in zip(each.sensitivity, each.specificity, strict=True)))
            for each in annotation.confusions
        ]  # fmt: skip
        yield _table("Sensitivity/specificity", ["class", "prevalence", *numbers], rows, numbers)
    names = ["class", "labels (nominal)", "values (interval)"]
    alphas = [(each.class_name or "(all)", *each[1:3]) for each in annotation.agreement]
    yield _table("Agreement: alpha", names, alphas)
    # Without a grid it is a length of time.
    length, continuous = float(annotation.settings["segment_length"]), annotation.settings["continuous"]
    place = {each.name: name for each, name in zip(annotation.annotators, people, strict=True)}
    pairs = [
        (" and ".join(place[name] for name in each.annotators), each.f1_micro, each.f1_macro,
         each.event_f1_micro, each.segments * length if continuous else each.segments)
        for each in annotation.pairs
    ]  # fmt: skip
    names = ["annotators", "micro", "macro", "event micro", "seconds" if continuous else "segments"]
    yield _table("Soft F of two annotators", names, pairs)
    names = ["score", *numbers, "mean", *(("system", "share") if annotation.system else ())]
    reached = [(each.score, *each.annotators, *each[2:]) for each in annotation.ceiling]
    yield _table("Ceiling: what annotators reach", names, reached, numbers, "annotator")


def _of_consensus(
    agreed: Consensus, boundaries: Iterable[Boundaries], people: list[str]
) -> Iterable[list[str]]:
    """Yield how many consensus events how many annotators have, with spreads, and everyone's boundaries."""
    events, by, rows = agreed.events, agreed.events.annotators, list[Sequence[Cell]]()
    for n in (*range(1, len(people) + 1), "(all)"):
        some = by == n if isinstance(n, int) else by > 0
        spreads = (each[some & (by > 1)] for each in (events.onset_spread, events.offset_spread))
        medians = (float(np.median(each)) if len(each) else None for each in spreads)
        rows.append((str(n), int(some.sum()), int(some.sum()) / len(by) if len(by) else None, *medians))
    names = ["annotators", "events", "share", "onset spread", "offset spread"]
    yield _table("Consensus events", names, rows)
    names = ["", "events", "onset bias", "onset jitter", "offset bias", "offset jitter"]
    of_each = zip(people, boundaries, strict=True)
    yield _table("Boundaries of annotators, in seconds", names, [(name, *each[1:]) for name, each in of_each])


def _of_systems(annotation: Annotation, numbers: list[str]) -> Iterable[list[str]]:
    """Yield how sure the scores of systems are, over how many annotators, and against each."""
    pairs = [
        (f"{score.score} {name_of(system.name)}", score)
        for k in range(len(annotation.systems[0].scores))
        for system, score in ((system, system.scores[k]) for system in annotation.systems)
    ]
    sizes = [str(point.annotators) for point in pairs[0][1].over]
    confidence, errors = f"{100 * float(annotation.settings['confidence']):g} %", ["annotators", "files"]
    yield _table(
        "Systems against the reference of all annotators: how sure",
        ["score", "value", confidence, *errors],
        [(name, x.value, interval(x.low, x.high), x.by_annotators, x.by_files) for name, x in pairs],
        errors, "standard error by",
    )  # fmt: skip
    over = [(name, *(point.value for point in each.over)) for name, each in pairs]
    yield _table("Systems over the number of annotators", ["score", *sizes], over, sizes)
    if annotation.rankings:
        yield _table(
            "How many annotators rank the systems as all do: share of sets", ["score", *sizes, "enough"],
            [(each.score, *(share for _, share in each.over), each.enough) for each in annotation.rankings],
            sizes,
        )  # fmt: skip
    whole = len(numbers) + 1
    yield _table(
        "Systems against each annotator", ["score", *numbers, "mean", "deviation", "place"],
        [
            (name, *x.against, x.mean, x.deviation, f"{x.place} of {whole}" if x.place else "-")
            for name, x in pairs
        ],
        numbers, "annotator",
    )  # fmt: skip


def _notes(annotation: Annotation) -> Iterable[str]:
    """Yield notes for the reader on the tables that are shown."""
    yield (
        "Alpha is Krippendorff's. Soft F of two annotators is over the time that both labelled, its macro "
        "average over the classes that either uses, of events the mean of either being the reference."
    )
    share = "; the share is the system's mean against these references by theirs" if annotation.system else ""
    yield f"The ceiling is each annotator against the reference of the others, in the files of both{share}."
    if annotation.events is not None:
        yield (
            "Consensus events are counted by how many annotators have them. Spreads are the mean distances "
            "of their onsets and offsets from the median, in seconds: the median of all events. Boundaries "
            "are of events that others have, too: bias from the mean annotator, negative where early, and "
            "jitter, a standard deviation."
        )
    if annotation.systems:
        yield (
            "Intervals are over annotators and files: another reference of as many annotators, in other "
            "files. Of fewer annotators a score is the mean over sets of them. The place is that among the "
            "annotators, each against the others."
        )
    if annotation.rankings:
        enough = 100 * float(annotation.settings["confidence"])
        yield (
            f"Enough is the number of annotators from which on at least {enough:g} % of sets rank the "
            "systems as all annotators do."
        )
    yield "- is undefined: there is nothing to divide by."
