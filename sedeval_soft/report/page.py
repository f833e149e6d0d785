"""The page of one system. Every score stands in one of its tables, also one that `layout` does not know.

Only groups of classes and scenes are shown in brief: machines get all their scores. A section, such as that
of folds, is its tables and what a reader must know of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.details import Confusion
from sedeval_soft.evaluation.scores import Score, Scores
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.report.header import MOST_FOLDS, ends, families, header
from sedeval_soft.report.layout import AVERAGED, COUNTS, EXACT, OF_CLASSES, Averages, measure_label, of_parts
from sedeval_soft.report.table import Page, Table, exact, number, number_if_any, short

if TYPE_CHECKING:
    from sedeval_soft.evaluation.details import Offender

T = TypeVar("T")

_Column = tuple[str, str]
"""A heading, empty for none, and the measure below it."""

_Cells = dict[tuple[str, ...], dict[_Column, Score]]
"""The scores of each row, by their column."""

_Section = tuple[list[Table], list[str]]

_MOST_CLASSES = 50
"""Classes up to which their confusion is a table."""

_INDENT = "  "
"""What sets the names of an interval's ends off from the name of the row that they belong to."""

_COSTS = ("cost", "share", "missed", "inserted")


def page_of(scores: Scores) -> Page:
    """Return the page of one system."""
    sections = [_sweep(scores), _folds(scores), _worst(scores), _chance(scores)]
    tables = [*_of_scores(scores), *(table for tables, _ in sections for table in tables)]
    tables = [table for table in tables if table.rows]
    notes = [*_notes(scores, tables), *(note for _, notes in sections for note in notes)]
    return Page(
        scores.system,
        tuple(header(scores)),
        tuple(tables),
        tuple(notes),
        scores.warnings,
        (scores.signature,),
    )


def _of_scores(scores: Scores) -> list[Table]:
    """Return the tables of averages, the summary first, then those of classes, groups and scenes."""
    by_family = _by_family(scores, None)
    members: dict[Averages, list[Score]] = {layout: [] for layout in AVERAGED}
    others: list[Score] = []
    for score in (s for scores_of in by_family.values() for s in scores_of if s.average is not None):
        layout = next((each for each in AVERAGED if each.shows(score.measure, score.average)), None)
        (others if layout is None else members[layout]).append(score)
    tables = [_averages(scores, layout, shown) for layout, shown in members.items()]
    tables.append(_averages(scores, _other_averages(others), others))
    tables += _classes(scores, by_family)
    if len(scores.classes) <= _MOST_CLASSES:
        tables += map(_confusion, scores.confusion)
    # What folds score stands in the table of their spread.
    elsewhere = {None, *(scores.folds.names if scores.folds else ())}
    for part in dict.fromkeys(score.group for score in scores.scores.values()):
        if part is not None and part not in elsewhere:
            tables += _of_part(scores, part)
    return tables


def _by_family(scores: Scores, part: str | None) -> dict[tuple[str, str], list[Score]]:
    """Return the scores of the whole (None), of a group of classes or of a scene, by basis and reading."""
    members: dict[tuple[str, str], list[Score]] = {family: [] for family in families(scores)}
    for score in scores.scores.values():
        if score.group == part:
            members[score.basis, score.reading].append(score)
    return members


def _of_part(scores: Scores, part: str) -> list[Table]:
    """Return the tables of a group of classes or of a scene: a summary, and the classes of a scene."""
    by_family = _by_family(scores, part)
    title = f", {'group' if part in scores.settings.groups else 'scene'} {visible(part)}"
    averages = [s for members in by_family.values() for s in members if s.average is not None]
    layout = of_parts(score.average for score in averages)
    main = [score for score in averages if layout.shows(score.measure, score.average)]
    if not main:
        layout, main = _other_averages(averages), averages
    summary = _averages(scores, replace(layout, title=layout.title + title), main)
    return [summary, *_classes(scores, by_family, title)]


def _other_averages(scores: Sequence[Score]) -> Averages:
    """Return the table of the averages that no other table shows."""
    measures = tuple(dict.fromkeys(score.measure for score in scores))
    averages = tuple(dict.fromkeys(score.average or "" for score in scores))
    return Averages("Other averages", measures, averages, stacked=True)


def _averages(scores: Scores, layout: Averages, members: Sequence[Score]) -> Table:
    """Return a table of averages; its rows are in the order of its members' families."""
    # A title that is about one average needs no heading that repeats it.
    headings = not layout.stacked and len(layout.averages) > 1
    columns = [(average, measure) for average in layout.averages for measure in layout.measures]
    if not headings:
        columns = [("", measure) for measure in layout.measures]
    cells: _Cells = {}
    for family in dict.fromkeys((score.basis, score.reading) for score in members):
        rows = [(*family, average) for average in layout.averages] if layout.stacked else [family]
        cells |= dict[tuple[str, ...], dict[_Column, Score]]((row, {}) for row in rows)
    for score in members:
        average = score.average or ""
        row = (score.basis, score.reading, *([average] if layout.stacked else []))
        cells[row][average if headings else "", score.measure] = score
    names = ("basis", "reading", *(["average"] if layout.stacked else []))
    return _table(scores, layout.title, names, cells, columns)


def _classes(
    scores: Scores, by_family: dict[tuple[str, str], list[Score]], part: str = ""
) -> Iterable[Table]:
    """Yield the tables of the classes of each basis and reading, with a row for each class."""
    laid_out = {measure for _, measures in OF_CLASSES for measure in measures}
    for (basis, reading), members in by_family.items():
        of_classes = [score for score in members if score.class_name is not None]
        others = dict.fromkeys(score.measure for score in of_classes if score.measure not in laid_out)
        for suffix, measures in (*OF_CLASSES, (", other measures", (*others,))):
            cells: _Cells = {(label,): {} for label in scores.classes}
            for score in of_classes:
                if score.measure in measures:
                    cells[score.class_name or "",]["", score.measure] = score
            title = f"Classes, {basis}-based, {reading} reading{part}{suffix}"
            yield _table(scores, title, ("class",), cells, [("", measure) for measure in measures])


def _table(
    scores: Scores, title: str, names: tuple[str, ...], cells: _Cells, columns: Sequence[_Column]
) -> Table:
    """Return a table of the rows and columns that have any score, ends of intervals below their values."""
    columns = [column for column in columns if any(column in row for row in cells.values())]
    low, high = ends(scores.settings.confidence)
    width = max(len(low), len(high))
    rows: list[tuple[str, ...]] = []
    details: set[int] = set()
    for name, row in cells.items():
        if not row:
            continue
        members = [row.get(column) for column in columns]
        rows.append((*map(visible, name), *("" if s is None else _value(s) for s in members)))
        if any(s is not None and (s.low, s.high) != (None, None) for s in members):
            details |= {len(rows), len(rows) + 1}
            for end, text in (("low", low), ("high", high)):
                blank = [""] * (len(name) - 1)
                rows.append((*blank, f"{_INDENT}{text:>{width}}", *(_end(s, end) for s in members)))
    headings = tuple(heading for heading, _ in columns)
    head = (*names, *(measure_label(scores.settings, measure) for _, measure in columns))
    return Table(title, head, tuple(rows), len(names), headings if any(headings) else (), frozenset(details))


def _value(score: Score) -> str:
    return exact(score.value) if score.measure in EXACT else _rounded(score, score.value)


def _rounded(score: Score, value: float | int | None) -> str:
    return number(value, digits=2 if score.measure in COUNTS else 4)


def _end(score: Score | None, end: str) -> str:
    """Return an end of a score's interval for a cell; empty where there is none.

    Ends of counts fall between counts, so they have decimals; thresholds have no more than other numbers
    here, because an end is never typed in again.
    """
    return "" if score is None else number_if_any(getattr(score, end), 2 if score.measure in COUNTS else 4)


def _confusion(matrix: Confusion) -> Table:
    """Return the counts of pairs of classes, those without a partner at the ends."""
    names = tuple(map(visible, matrix.classes))
    rows = [
        (name, *map(str, pairs), str(missed))
        for name, pairs, missed in zip(names, matrix.pairs, matrix.missed, strict=True)
    ]
    rows.append(("(nothing)", *map(str, matrix.inserted), ""))
    title = f"Confusion of classes, {matrix.basis}-based: reference by row, system by column"
    return Table(title, ("class", *names, "(nothing)"), tuple(rows))


def _notes(scores: Scores, tables: Sequence[Table]) -> list[str]:
    """Return what a reader must know of all tables."""
    notes = []
    if any(table.details for table in tables):
        low, high = ends(scores.settings.confidence)
        notes.append(f"The rows {low} and {high} are the ends of the interval of the score above them.")
    if any(table.has_undefined for table in tables):
        notes.append("- is undefined: there is nothing to divide by, or nothing to cut.")
    if scores.confusion and len(scores.classes) > _MOST_CLASSES:
        size = len(scores.classes)
        notes.append(f"The confusion of {size} classes is in JSON and YAML: no table would hold it.")
    silent: dict[tuple[str, ...], list[str]] = {}
    for basis, reading in families(scores):
        sizes = {label: scores.scores.get(f"{basis}.{reading}.n_ref[{label}]") for label in scores.classes}
        absent = tuple(label for label, size in sizes.items() if size is not None and size.value == 0)
        if any(sizes.values()):
            silent.setdefault(absent, []).append(f"{basis} {reading}")
    for absent, where in silent.items():
        if absent:
            of = f" ({', '.join(where)})" if len(silent) > 1 else ""
            names = ", ".join(map(visible, absent))
            notes.append(f"Without reference, so left out of macro averages{of}: {names}.")
    return notes


def _sweep(scores: Scores) -> _Section:
    """Return what hard and optimal readings score at each threshold of the reference."""
    sweep = scores.sweep
    if sweep is None:
        return [], []
    names = [ScoreName.parse(name) for name in sweep.scores]
    tables = []
    for basis, reading in dict.fromkeys((name.basis, name.reading) for name in names):
        members = [name for name in names if (name.basis, name.reading) == (basis, reading)]
        # Not of one average: there is one size of the reference for all.
        size = [name for name in members if name.measure == "n_ref"]
        averages = [
            name
            for average in ("micro", "macro")
            for name in members
            if name.average == average and name.measure != "n_ref"
        ]
        columns = [
            [number(count, digits=0) for count in sweep.at[basis]],
            *([number(value, digits=0) for value in sweep.scores[str(name)]] for name in size),
            *([number(value) for value in sweep.scores[str(name)]] for name in averages),
        ]
        marked = (short(t) + " *" * (t == scores.settings.reference_cut) for t in sweep.thresholds)
        labels = (measure_label(scores.settings, name.measure) for name in (*size, *averages))
        tables.append(
            Table(
                f"Thresholds of the reference, {basis}-based, {reading} reading",
                ("reference", "exactly", *labels),
                tuple(zip(marked, *columns, strict=True)),
                headings=("",) * (1 + len(size)) + tuple(name.average or "" for name in averages),
            )
        )
    note = (
        "Exactly counts segments (clips, events) whose value in the reference is the threshold: whether they "
        "are active is decided by above or at; * marks the threshold of all other tables."
    )
    return tables, [note]


def _main(members: list[tuple[Score, T]]) -> list[tuple[Score, T]]:
    """Return the main averages of some scores, all scores where there are none of them."""
    layout = of_parts(score.average for score, _ in members)
    main = [(score, item) for score, item in members if layout.shows(score.measure, score.average)]
    return main or members


def _names(scores: Scores, score: Score) -> tuple[str, str, str, str]:
    """Return what says which score it is: basis, reading, measure, and average or class."""
    of = score.average or "" if score.class_name is None else visible(score.class_name)
    return score.basis, score.reading, measure_label(scores.settings, score.measure), of


def _folds(scores: Scores) -> _Section:
    """Return the spread over folds of the main scores, of all where there are no main ones."""
    folds = scores.folds
    everything = [
        (scores.scores[spread.name], spread)
        for spread in (folds.spreads if folds else ())
        if spread.name in scores.scores
    ]
    if folds is None or not everything:
        return [], []
    main = _main(everything)
    names = folds.names if len(folds.names) <= MOST_FOLDS else ()
    rows = [
        (
            *(*_names(scores, score), _value(score)),
            *(_rounded(score, value) for value in (spread.mean, spread.deviation)),
            *(_rounded(score, value) for value in (spread.values if names else ())),
        )
        for score, spread in main
    ]
    of = "of" if any(score.class_name is not None for score, _ in main) else "average"
    table = Table(
        "Folds: spread of scores (files are pooled, folds are never averaged)",
        ("basis", "reading", "measure", of, "pooled", "mean", "deviation", *map(visible, names)),
        tuple(rows),
        names=4,
        headings=("", "over folds", "over folds", *["folds"] * len(names)),
    )
    notes = [
        "Pooled is the score of all files together; mean and deviation only say how far folds lie apart."
    ]
    if len(main) < len(everything):
        notes.append("Spreads of all averages are in JSON and YAML; csv has what each fold scores.")
    elif not names:
        notes.append("What each fold scores is in csv, JSON and YAML.")
    return [table], notes


def _worst(scores: Scores) -> _Section:
    """Return the files, classes and segments that cost most."""
    worst = scores.worst
    if worst is None or not (worst.files or worst.classes or worst.segments):
        return [], []
    of = f"that cost most, {worst.basis}-based, {worst.reading} reading"
    files = [(visible(each.file or ""), *_costs(each, 2)) for each in worst.files]
    classes = [(visible(each.class_name or ""), *_costs(each, 2)) for each in worst.classes]
    segments = [
        (
            *(visible(each.file or ""), visible(each.class_name or "")),
            *("" if time is None else short(round(float(time), 6)) for time in (each.onset, each.offset)),
            *("" if value is None else number(value) for value in (each.reference, each.system)),
            *_costs(each, 4),
        )
        for each in worst.segments
    ]
    of_segments = ("file", "class", "onset", "offset", "reference", "system", *_COSTS)
    unit = "events" if worst.basis == "event" else "segments"
    cost = f"Cost is missed + inserted, in {unit}: what of the reference the system lacks, and"
    notes = [f"{cost} what it has beyond it; shares are of the cost of all."]
    if segments:
        notes.append(
            "The class of a segment is the one that costs most in it; the values are those of the class."
        )
    return [
        Table(f"Files {of}", ("file", *_COSTS), tuple(files)),
        Table(f"Classes {of}", ("class", *_COSTS), tuple(classes)),
        Table(f"Segments {of}", of_segments, tuple(segments), names=2),
    ], notes


def _costs(offender: Offender, digits: int) -> tuple[str, ...]:
    cost, missed, inserted = (
        number(value, digits) for value in (offender.cost, offender.missed, offender.inserted)
    )
    return cost, f"{number(100.0 * offender.share, 1)} %", missed, inserted


def _chance(scores: Scores) -> _Section:
    """Return the chance levels of the main averages, and of the F1 of classes."""
    chance = scores.chance
    if chance is None:
        return [], []
    levels = [(scores.scores[name], level) for name, level in chance.levels.items() if name in scores.scores]
    defined = [(score, level) for score, level in levels if level.chance is not None]
    rows = [
        (
            *(*_names(scores, score), number(score.value), number(level.chance)),
            *(number_if_any(level.error), number(level.normalised)),
        )
        for score, level in _main([(score, level) for score, level in defined if score.average is not None])
    ]
    head = ("basis", "reading", "measure", "average", "score", "chance", "error", "normalised")
    of_classes = {
        (f"{score.basis} {score.reading}", score.class_name): (number(level.chance), number(level.normalised))
        for score, level in defined
        if score.class_name is not None and score.measure == "f1"
    }
    names = tuple(dict.fromkeys(family for family, _ in of_classes))
    of_class = [
        (visible(label), *(text for name in names for text in of_classes.get((name, label), ("", ""))))
        for label in scores.classes
        if any((name, label) in of_classes for name in names)
    ]
    notes = ["Normalised is (score - chance) / (best - chance): 0 at chance, 1 for the best."]
    if any(level.error is not None for _, level in levels):
        draws = counted(chance.draws, "draw")
        notes.append(f"Error is the standard error of a mean over {draws}; without one the level is exact.")
    return [
        Table("Chance levels", head, tuple(rows), names=4),
        Table(
            "Chance levels of classes: F1",
            ("class", *("chance", "normalised") * len(names)),
            tuple(of_class),
            headings=tuple(name for name in names for _ in range(2)),
        ),
    ], notes
