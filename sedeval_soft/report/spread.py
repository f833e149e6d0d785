"""What stands beside scores: a table of their spread over folds, and tables of what costs most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sedeval_soft.core.value import Score, Scores
from sedeval_soft.errors import counted, visible
from sedeval_soft.report.layout import COUNTS, EXACT, measure_label, of_parts
from sedeval_soft.report.table import Table, exact, number, short

if TYPE_CHECKING:
    from sedeval_soft.core.spread import Folds, Offender, Spread, Worst

_MOST_FOLDS = 10
"""Folds up to which each has a column of its own."""


def folds_tables(scores: Scores) -> list[Table]:
    """Return the table of the spread of the main scores over folds.

    None without folds, or where no score has a spread; one of all scores where there are no main ones.
    """
    folds = scores.folds
    if folds is None:
        return []
    found = _main(_spreads(scores))
    shown = folds.names if len(folds.names) <= _MOST_FOLDS else ()
    rows = []
    for score, spread in found:
        values = spread.values if shown else ()
        rows.append(
            (
                *(score.basis, score.reading, measure_label(scores.settings, score.measure), _of(score)),
                _pooled(score),
                *(_cell(score, value) for value in (spread.mean, spread.deviation, *values)),
            )
        )
    of = "of" if any(score.class_name is not None for score, _ in found) else "average"
    table = Table(
        "Folds: spread of scores (files are pooled, folds are never averaged)",
        (*("basis", "reading", "measure", of), "pooled", "mean", "deviation", *map(visible, shown)),
        tuple(rows),
        names=4,
        groups=(("", 4), ("", 1), ("over folds", 2), *([("folds", len(shown))] if shown else [])),
    )
    return [table] if rows else []


def folds_notes(scores: Scores) -> list[str]:
    """Return what a reader must know of the table of folds."""
    if not folds_tables(scores) or scores.folds is None:
        return []
    found = [
        "Pooled is the score of all files together; mean and deviation only say how far folds lie apart."
    ]
    everything = _spreads(scores)
    if len(_main(everything)) < len(everything):
        found.append("Spreads of all averages are in JSON and YAML; csv has what each fold scores.")
    elif len(scores.folds.names) > _MOST_FOLDS:
        found.append("What each fold scores is in csv, JSON and YAML.")
    return found


def _spreads(scores: Scores) -> list[tuple[Score, Spread]]:
    """Return the scores that have a spread over folds, with it."""
    spreads = () if scores.folds is None else scores.folds.spreads
    return [(scores.scores[spread.name], spread) for spread in spreads if spread.name in scores.scores]


def _main(spreads: list[tuple[Score, Spread]]) -> list[tuple[Score, Spread]]:
    """Return the main averages, all there is where there are none of them."""
    of = of_parts(score.average for score, _ in spreads)
    main = [(score, spread) for score, spread in spreads if of.shows(score.measure, score.average)]
    return main or spreads


def said_of_folds(folds: Folds) -> str:
    """Return how many files each fold has."""
    if len(folds.names) > _MOST_FOLDS:
        return f"{len(folds.names)}, of {min(folds.files)} to {counted(max(folds.files), 'file')}"
    each = (
        f"{visible(name)} ({counted(n, 'file')})" for name, n in zip(folds.names, folds.files, strict=True)
    )
    return f"{len(folds.names)}: {', '.join(each)}"


def worst_tables(worst: Worst | None) -> list[Table]:
    """Return the tables of the files, classes and segments that cost most."""
    if worst is None:
        return []
    of = f"that cost most, {worst.basis}-based, {worst.reading} reading"
    found = [
        Table(f"Files {of}", ("file", *_COSTS), tuple((_name(o.file), *_costs(o)) for o in worst.files)),
        Table(
            f"Classes {of}",
            ("class", *_COSTS),
            tuple((_name(o.class_name), *_costs(o)) for o in worst.classes),
        ),
        Table(
            f"Segments {of}",
            ("file", "class", "onset", "offset", "reference", "system", *_COSTS),
            tuple(
                (
                    *(_name(o.file), _name(o.class_name), _seconds(o.onset), _seconds(o.offset)),
                    *(number(value) if value is not None else "" for value in (o.reference, o.system)),
                    *_costs(o, digits=4),
                )
                for o in worst.segments
            ),
            names=2,
        ),
    ]
    return [table for table in found if table.rows]


def worst_notes(worst: Worst | None) -> list[str]:
    """Return what a reader must know of the tables of what costs most."""
    if not worst_tables(worst) or worst is None:
        return []
    unit = "events" if worst.basis == "event" else "segments"
    cost = f"Cost is missed + inserted, in {unit}: what of the reference the system lacks, and"
    found = [f"{cost} what it has beyond it; shares are of the cost of all."]
    if worst.segments:
        found.append(
            "The class of a segment is the one that costs most in it; the values are those of the class."
        )
    return found


_COSTS = ("cost", "share", "missed", "inserted")


def _costs(offender: Offender, digits: int = 2) -> tuple[str, ...]:
    share = f"{number(100.0 * offender.share, 1)} %"
    return (
        number(offender.cost, digits),
        share,
        *(number(value, digits) for value in (offender.missed, offender.inserted)),
    )


def _name(text: str | None) -> str:
    return "" if text is None else visible(text)


def _seconds(value: float | None) -> str:
    return "" if value is None else short(round(float(value), 6))


def _of(score: Score) -> str:
    return visible(score.class_name) if score.class_name is not None else score.average or ""


def _pooled(score: Score) -> str:
    return exact(score.value) if score.measure in EXACT else _cell(score, score.value)


def _cell(score: Score, value: float | int | None) -> str:
    return number(value, digits=2 if score.measure in COUNTS else 4)
