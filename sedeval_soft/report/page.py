"""The page of one system: its inputs and settings, the tables of its scores, and notes on these.

Each measure names its table, in which any basis and reading has its rows. Only groups of classes and scenes
are shown in brief: machines get all their scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING

from sedeval_soft.errors import counted, visible
from sedeval_soft.measures.registry import AVERAGES, FAMILIES, OVERALL, ScoreName
from sedeval_soft.names import told_apart
from sedeval_soft.report.fitted import UNDEFINED
from sedeval_soft.report.legend import intervals_by, measure_label, percent, scoring, settings_of, short
from sedeval_soft.report.shown import families, in_order
from sedeval_soft.report.table import AnyColumn, Page, Table, exact, number, number_if_any
from sedeval_soft.settings import CLASS_MEANS, PART_MEANS
from sedeval_soft.tables.event_table import WEAK

if TYPE_CHECKING:
    from sedeval_soft.evaluation.details import Chance, Confusion, Folds, Level, Offender, Sweep, Worst
    from sedeval_soft.evaluation.scores import Score, Scores
    from sedeval_soft.evaluation.shard import Input

_MOST_FOLDS = 10
"""Number of folds up to which the page shows each fold."""

_MOST_CLASSES = 50
"""Classes up to which their confusion is a table."""


# The table of each measure.


_MEASURES = tuple(measure for family in FAMILIES for measure in family.measures)
_EXACT = {measure.name for measure in _MEASURES if measure.exact}


def _in_table(table: str, *first: str) -> tuple[str, ...]:
    """Return the measures of a table: first the given ones, then others in the order of the registry."""
    return tuple(dict.fromkeys((*first, *(m.name for m in _MEASURES if m.table == table))))


_COUNTS = _in_table("counts", "n_ref", "n_sys", "tp", "fp", "fn", "tn")
_OVERALL = (OVERALL,)
_MAIN = _in_table("main", "f1", "fbeta", "precision", "recall")
_RATES, _PSDS = _in_table("rates"), _in_table("psds")
_DIVERGENCES = _in_table("divergence", "kl_divergence_reverse", "cross_entropy", "jensen_shannon")


@dataclass(frozen=True, slots=True)
class Layout:
    """A table of some measures: of averages with a row for each basis and reading, else one for each class.

    Several averages share a row, each with its measures below its name; if stacked, each has rows of its own.
    Without averages it is a table of classes. of_classes: the end of the title of the table of the same
    measures by class; None without such a table.
    """

    title: str
    measures: tuple[str, ...]
    averages: tuple[str, ...] = ()
    of_classes: str | None = None
    stacked: bool = False


_EVERY = (*AVERAGES, *CLASS_MEANS)
"""All averages over classes, including averages that are computed only when asked for."""

_OF_CELLS = Layout("Averages of measures with true negatives", _in_table("negatives", "tn"), _EVERY,
                   ", with true negatives", stacked=True)  # fmt: skip

AVERAGED = (
    Layout("Summary", _MAIN, ("micro", "macro")),
    Layout("Polyphonic sound detection score", _PSDS, _OVERALL),
    Layout("Averages weighted by the size of the reference", _MAIN, ("weighted",)),
    Layout("Harmonic means over classes", _MAIN, ("harmonic",)),
    Layout("Geometric means over classes", _MAIN, ("geometric",)),
    Layout("Counts and parts of the error rate, all classes together", (*_COUNTS, *_RATES), ("micro",)),
    Layout("Averages of the parts of the error rate", _RATES, ("macro", "weighted")),
    Layout("Lowest (FN + FP) / N_ref over all thresholds, a substitution counts twice",
           _in_table("best error rate"), _EVERY),
    Layout("Best micro F over class-wise thresholds, and over one for all classes",
           _in_table("joint"), _OVERALL),
    Layout("Best threshold for all classes under the constraint", _in_table("satisficed"), _OVERALL,
           ", best under the constraint"),
    _OF_CELLS,
    Layout("Averages of deviations in seconds", _in_table("deviations"), _EVERY,
           ", deviations in seconds", stacked=True),
    Layout("Average precision", _in_table("precision"), _EVERY, ", average precision", stacked=True),
    Layout("Receiver operating characteristic", _in_table("roc"), _EVERY,
           ", receiver operating characteristic", stacked=True),
    Layout("Divergences, losses and correlations", _DIVERGENCES, _EVERY,
           ", divergences, losses and correlations", stacked=True),
    Layout("Calibration", _in_table("calibration"), _EVERY, ", calibration", stacked=True),
    Layout("Intersection over union of the time of each class in each file", _in_table("grounding"), _EVERY,
           ", intersection over union", stacked=True),
    Layout("Ranking of the classes within segments", _in_table("ranking"), _OVERALL),
    Layout("Precision of classes among the highest of a segment", _in_table("label-wise"),
           ("macro", "weighted", *CLASS_MEANS), ", among the highest of a segment"),
)  # fmt: skip
"""The tables of averages in order."""

_TABLE_OF = {
    (measure, average): layout
    for layout in reversed(AVERAGED)
    for measure in layout.measures
    for average in layout.averages
}
"""The table of each average of a measure; the first of several."""

_OF_PARTS = Layout("Summary", (*_MAIN, *_PSDS), (*_EVERY, OVERALL))
"""The one table of averages that a group of classes or a scene has; its name follows the title."""

_OF_CLASSES = {
    "": (
        *("n_ref", "n_sys", "tp", "fp", "fn", "f1", "fbeta", "precision", "recall", "error_rate"),
        *("deletion_rate", "insertion_rate", "kl_divergence", *_PSDS),
        *("threshold", "joint_threshold", "best_error_rate", "best_error_rate_threshold"),
    ),
    **{each.of_classes: each.measures for each in AVERAGED if each.of_classes},
}
"""The tables of classes of each basis and reading: end of their title, and their measures."""


def page_of(scores: Scores, *, in_full: bool = False) -> Page:
    """Return the page of one system; in_full: with the whole signature."""
    sections = (("sweep", _sweep), ("folds", _folds), ("worst", _worst), ("chance", _chance))
    extra: list[Table | str] = []
    for name, section in sections:
        part = getattr(scores, name)
        extra += () if part is None else section(scores, part)
    tables = [*_tables(scores), *(part for part in extra if isinstance(part, Table))]
    tables = [table for table in tables if table.rows]
    notes = [*_notes(scores, tables), *(part for part in extra if isinstance(part, str))]
    shown = {visible(name): escapes for name, escapes in told_apart(scores.classes).items()}
    for name, escapes in shown.items():
        tables = [table.with_cells(name, escapes) for table in tables]
        notes = [note.replace(name, escapes) for note in notes]
    return Page(
        *(scores.system, tuple(_header(scores)), tuple(tables), tuple(notes)),
        *(scores.warnings, (scores.signature if in_full else scores.short_signature,)),
    )


# Inputs and settings: lines of a name and a text.


def _header(scores: Scores) -> list[tuple[str, str]]:
    settings, folds, chance, files = scores.settings, scores.folds, scores.chance, len(scores.files)
    lines = [*map(input_line, scores.inputs), *scoring(scores)]
    if folds is not None:
        each = zip(map(visible, folds.names), folds.files, strict=True)
        sizes = ": " + ", ".join(f"{name} ({counted(size, 'file')})" for name, size in each)
        if len(folds.names) > _MOST_FOLDS:
            sizes = f", of {min(folds.files)} to {counted(max(folds.files), 'file')}"
        lines.append(("folds", f"{len(folds.names)}{sizes}"))
    if scores.runs:
        intervals = f"{percent(settings.confidence)} intervals by Student's t over runs"
        lines.append(("runs", f"{len(scores.runs)}, means over trainings; {intervals}"))
    elif settings.ci is not None and files > 1:
        drawn = f", {resampled(settings.replicates, files, settings.seed)}"
        if settings.ci == "jackknife":
            drawn = f" over {counted(files, 'file')}"
        lines.append(("intervals", f"{percent(settings.confidence)} {intervals_by(settings, drawn)}"))
    if chance is not None:
        drawn = f"all {chance.draws} moves there are" if chance.everything else counted(chance.draws, "move")
        moved = "the same output moved in time by whole segments"
        lines.append(("chance", f"{moved}: {drawn}, seed {chance.seed}"))
    return lines


def input_line(item: Input) -> tuple[str, str]:
    """Return the inputs, as (role, text)."""
    sizes = ((item.rows, "row"), (item.files, "file"), (item.classes, "class"))
    parts = [
        f"{visible(item.name)}: {', '.join(counted(size, noun) for size, noun in sizes)}",
        visible(item.form),
        "with values" if item.has_values else "without values",
    ]
    if WEAK not in item.form:
        parts.append("touching rows are one event" if item.events == "merge" else "each row is an event")
    if item.ignored:
        parts.append(f"ignored columns: {', '.join(map(visible, item.ignored))}")
    return item.role, "; ".join(parts)


def ends(confidence: float) -> tuple[str, str]:
    """Return the names of the ends of an interval: `2.5 %` and `97.5 %` for a confidence of 0.95."""
    whole = Decimal(repr(confidence))
    return percent((1 - whole) / 2), percent((1 + whole) / 2)


def resampled(replicates: int, files: int, seed: int) -> str:
    """Return how often files are drawn anew: `1000 replicates of 49 files, seed 0`."""
    return f"{counted(replicates, 'replicate')} of {counted(files, 'file')}, seed {seed}"


# The tables of scores.


def _tables(scores: Scores) -> Iterator[Table]:
    """Yield the tables of averages, the summary first, then the tables of classes, then of parts."""
    order = {family: place for place, family in enumerate(in_order(scores))}
    # The table of folds has their scores.
    elsewhere = scores.folds.names if scores.folds else ()
    parts: dict[str | None, list[Score]] = {None: []}
    for score in scores.scores.values():
        if score.group is None or score.group not in elsewhere:
            parts.setdefault(score.group, []).append(score)
    common = scores
    for part, members in parts.items():
        scores = replace(common, settings=settings_of(common.settings, part))
        members.sort(key=lambda score: order[score.basis, score.reading])
        averages = [score for score in members if score.average is not None]
        if part is None:
            title = ""
            by_layout: dict[Layout, list[Score]] = {layout: [] for layout in AVERAGED}
            for score in averages:
                # A measure of one's own may have come later: it stands with the true negatives.
                layout = _TABLE_OF.get((score.measure, score.average or ""), _OF_CELLS)
                by_layout[layout].append(score)
            for layout, same in by_layout.items():
                yield _table(scores, layout, same)
        else:
            title = f", {_part(part, scores)}"
            layout, main = _main(averages)
            yield _table(scores, replace(layout, title=layout.title + title), main)
        of_classes = (score for score in members if score.class_name is not None)
        for (basis, reading), group in groupby(of_classes, lambda score: (score.basis, score.reading)):
            same = list(group)
            for suffix, measures in _OF_CLASSES.items():
                layout = Layout(f"Classes, {basis}-based, {reading} reading{title}{suffix}", measures)
                yield _table(scores, layout, [score for score in same if score.measure in measures])
        if part is None and len(scores.classes) <= _MOST_CLASSES:
            yield from map(_confusion, scores.confusion)


def _part(name: str, scores: Scores) -> str:
    """Return the name of a part: a group, a scene, a mean over them, or settings of its own."""
    if "=" in name:
        return f"by {name}"
    if name in PART_MEANS:
        parts, _, kind = name.partition(".")
        return f"{f'{kind} mean'.removeprefix('mean ')} over {parts}"
    return f"{'group' if name in scores.settings.groups else 'scene'} {visible(name)}"


def _main(members: Sequence[Score]) -> tuple[Layout, Sequence[Score]]:
    """Return the main ones of some scores and their table; all of them if none is a main score.

    Weighted averages are left out, as in the summary of the whole; here they have no table of their own.
    """
    layout = _OF_PARTS
    if {"micro", "macro"} <= {score.average for score in members}:
        layout = replace(layout, averages=tuple(each for each in layout.averages if each != "weighted"))
    main = [s for s in members if s.measure in layout.measures and s.average in layout.averages]
    if main:
        return layout, main
    measures = tuple(dict.fromkeys(score.measure for score in members))
    averages = tuple(dict.fromkeys(score.average or "" for score in members))
    return Layout("Other averages", measures, averages, stacked=True), members


def _table(scores: Scores, layout: Layout, members: Sequence[Score]) -> Table:
    """Return a table of the rows and columns that have any score, ends of intervals below their values.

    members: in the order of their rows.
    """
    names: tuple[str, ...] = ("basis", "reading", *["average"] * layout.stacked)
    if not layout.averages:
        names = ("class",)
    # A title that is about one average needs no heading that repeats it.
    aside = not layout.stacked and len(layout.averages) > 1
    cells: dict[tuple[str, ...], dict[tuple[str, str], Score]] = {}
    for score in members:
        average = score.average or ""
        row = (score.class_name or "",) if score.average is None else (score.basis, score.reading, average)
        cells.setdefault(row[: len(names)], {})[average if aside else "", score.measure] = score
    columns = [(above, name) for above in (layout.averages if aside else ("",)) for name in layout.measures]
    columns = [column for column in columns if any(column in row for row in cells.values())]
    rows: list[tuple[str, ...]] = []
    details: set[int] = set()
    for name, of_row in cells.items():
        in_row = [of_row.get(column) for column in columns]
        rows.append((*map(visible, name), *("" if score is None else _value(score) for score in in_row)))
        if any(score is not None and (score.low, score.high) != (None, None) for score in in_row):
            details |= {len(rows), len(rows) + 1}
            low, high = ends(scores.settings.confidence)
            for end, text in (("low", low), ("high", high)):
                # Two blanks set the name of an end off from the name of the row that it belongs to.
                indented = f"  {text:>{max(len(low), len(high))}}"
                numbers = ("" if score is None else _value(score, end) for score in in_row)
                rows.append((*[""] * (len(name) - 1), indented, *numbers))
    headings = tuple(heading for heading, _ in columns)
    head = (*names, *(measure_label(scores.settings, measure) for _, measure in columns))
    above = headings if any(headings) else ()
    return Table(layout.title, head, tuple(rows), len(names), above, frozenset(details))


def _value(score: Score, end: str = "") -> str:
    """Return the value of a score for a cell, or an end of its interval, empty without one.

    Values that users type in again have every digit: they must select the same rows. Ends of counts fall
    between counts, so they have decimals.
    """
    digits = 2 if score.measure in _COUNTS else 3
    if end:
        return number_if_any(getattr(score, end), digits)
    return exact(score.value) if score.measure in _EXACT else number(score.value, digits)


def _confusion(matrix: Confusion) -> Table:
    """Return the counts of pairs of classes; classes without a partner are at the ends."""
    names = [*map(visible, matrix.classes), "(nothing)"]
    counts = zip(*matrix.pairs, matrix.inserted, strict=True)
    columns: list[AnyColumn] = [(None, "class", names)]
    columns += [(None, name, map(str, column)) for name, column in zip(names[:-1], counts, strict=True)]
    columns.append((None, names[-1], [*map(str, matrix.missed), ""]))
    title = f"Confusion of classes, {matrix.basis}-based: reference by row, system by column"
    return Table.of(title, columns)


def _notes(scores: Scores, tables: Sequence[Table]) -> Iterator[str]:
    """Yield notes for the reader on all tables."""
    if any(table.details for table in tables):
        low, high = ends(scores.settings.confidence)
        yield f"The rows {low} and {high} are the ends of the interval of the score above them."
    if any(table.numbers_have(UNDEFINED) for table in tables):
        yield "- is undefined: there is nothing to divide by, or nothing to cut."
    size = len(scores.classes)
    if scores.confusion and size > _MOST_CLASSES:
        yield f"The confusion of {size} classes is in JSON and YAML: no table would hold it."
    silent: dict[tuple[str, ...], list[str]] = {}
    for basis, reading in families(scores):
        sizes = {label: scores.scores.get(f"{basis}.{reading}.n_ref[{label}]") for label in scores.classes}
        absent = tuple(label for label, n_ref in sizes.items() if n_ref is not None and n_ref.value == 0)
        if any(sizes.values()):
            silent.setdefault(absent, []).append(f"{basis} {reading}")
    for absent, where in silent.items():
        if absent:
            which = f" ({', '.join(where)})" if len(silent) > 1 else ""
            names = ", ".join(map(visible, absent))
            yield f"Without reference, so left out of macro averages{which}: {names}."


# Sections that few pages have: their tables and notes.


def _sweep(scores: Scores, sweep: Sweep) -> Iterator[Table | str]:
    """Yield the scores of hard and optimal readings at each threshold of the reference."""
    marked = [short(t) + " *" * (t == scores.settings.reference_cut) for t in sweep.thresholds]
    members = [ScoreName.parse(name) for name in sweep.scores]
    for basis, reading in dict.fromkeys((name.basis, name.reading) for name in members):
        columns: list[AnyColumn] = [("", "reference", marked), ("", "exactly", map(number, sweep.at[basis]))]
        # Not of one average: there is one size of the reference for all.
        for heading, average in (("", None), ("micro", "micro"), ("macro", "macro")):
            for name in members:
                is_size = name.measure == "n_ref"
                wanted = is_size if average is None else name.average == average and not is_size
                if wanted and (name.basis, name.reading) == (basis, reading):
                    label = measure_label(scores.settings, name.measure)
                    digits = 0 if is_size else 3
                    columns.append((heading, label, [number(v, digits) for v in sweep.scores[str(name)]]))
        yield Table.of(f"Thresholds of the reference, {basis}-based, {reading} reading", columns)
    yield (
        "Exactly counts segments (clips, events) whose value in the reference is the threshold: whether they "
        "are active is decided by above or at; * marks the threshold of all other tables."
    )


def _name_columns(scores: Scores, members: Sequence[Score], last: str = "average") -> list[AnyColumn]:
    """Return the columns that identify a score: basis, reading, measure, and average or class."""
    return [
        (None, "basis", [score.basis for score in members]),
        (None, "reading", [score.reading for score in members]),
        (None, "measure", [measure_label(scores.settings, score.measure) for score in members]),
        (None, last, [visible(score.class_name or score.average or "") for score in members]),
    ]


def _folds(scores: Scores, folds: Folds) -> Iterator[Table | str]:
    """Yield the spread over folds of the main scores, of all scores without a main score."""
    # A row has no column for settings of its own.
    whole = {name for name, score in scores.scores.items() if score.group is None}
    spreads = {spread.name: spread for spread in folds.spreads if spread.name in whole}
    if not spreads:
        return
    _, main = _main([scores.scores[name] for name in spreads])
    few = len(folds.names) <= _MOST_FOLDS
    each = [(spreads[score.name], 2 if score.measure in _COUNTS else 4) for score in main]
    last = "of" if any(score.class_name is not None for score in main) else "average"
    yield Table.of(
        "Folds: spread of scores (files are pooled, folds are never averaged)",
        [
            *_name_columns(scores, main, last),
            ("", "pooled", map(_value, main)),
            ("over folds", "mean", [number(spread.mean, digits) for spread, digits in each]),
            ("over folds", "deviation", [number(spread.deviation, digits) for spread, digits in each]),
            *(
                ("folds", visible(name), [number(spread.values[i], digits) for spread, digits in each])
                for i, name in enumerate(folds.names if few else ())
            ),
        ],
        names=4,
    )
    yield "Pooled is the score of all files together; mean and deviation only say how far folds lie apart."
    if len(main) < len(spreads):
        yield "Spreads of all averages are in JSON and YAML; csv has what each fold scores."
    elif not few:
        yield "What each fold scores is in csv, JSON and YAML."


def _worst(_: Scores, worst: Worst) -> Iterator[Table | str]:
    """Yield the files, classes and segments that cost most."""
    if not (worst.files or worst.classes or worst.segments):
        return
    costs = ("cost", "share", "missed", "inserted")
    of_segments = ("file", "class", "onset", "offset", "reference", "system")
    for title, fields, offenders, digits in (
        ("Files", ("file",), worst.files, 2),
        ("Classes", ("class",), worst.classes, 2),
        ("Segments", of_segments, worst.segments, 3),
    ):
        yield Table.of(
            f"{title} that cost most, {worst.basis}-based, {worst.reading} reading",
            [(None, name, [_of_offender(o, name, digits) for o in offenders]) for name in (*fields, *costs)],
            names=min(len(fields), 2),
        )
    unit = "events" if worst.basis == "event" else "segments"
    cost = f"Cost is missed + inserted, in {unit}: what of the reference the system lacks, and"
    yield f"{cost} what it has beyond it; shares are of the cost of all."
    if worst.segments:
        values = "the values are those of the class"
        yield f"The class of a segment is the one that costs most in it; {values}."


def _of_offender(offender: Offender, name: str, digits: int) -> str:
    value = getattr(offender, "class_name" if name == "class" else name)
    if value is None or isinstance(value, str):
        return visible(value or "")
    if name == "share":
        return f"{number(100.0 * value, 1)} %"
    return short(round(float(value), 6)) if name in {"onset", "offset"} else number(value, digits)


def _chance(scores: Scores, chance: Chance) -> Iterator[Table | str]:
    """Yield the chance levels of the main averages, and of the F1 of classes."""
    levels = {name: level for name, level in chance.levels.items() if name in scores.scores}
    defined = [scores.scores[name] for name, level in levels.items() if level.chance is not None]
    _, main = _main([score for score in defined if score.average is not None])
    each = [levels[score.name] for score in main]
    columns: list[AnyColumn] = [
        *_name_columns(scores, main),
        (None, "score", [number(score.value) for score in main]),
        (None, "chance", [number(level.chance) for level in each]),
        (None, "error", [number_if_any(level.error) for level in each]),
        (None, "normalised", [number(level.normalised) for level in each]),
    ]
    yield Table.of("Chance levels", columns, names=4)
    of_classes: dict[str, dict[str, Level]] = {}
    for score in defined:
        if score.class_name is not None and score.measure == "f1":
            of_family = of_classes.setdefault(f"{score.basis} {score.reading}", {})
            of_family[score.class_name] = levels[score.name]
    labels = [label for label in scores.classes if any(label in same for same in of_classes.values())]
    columns = [(None, "class", map(visible, labels))]
    for heading, same in of_classes.items():
        for name in ("chance", "normalised"):
            cells = [number(getattr(same[label], name)) if label in same else "" for label in labels]
            columns.append((heading, name, cells))
    yield Table.of("Chance levels of classes: F1", columns)
    yield "Normalised is (score - chance) / (best - chance): 0 at chance, 1 for the best."
    if any(level.error is not None for level in levels.values()):
        draws = counted(chance.draws, "draw")
        yield f"Error is the standard error of a mean over {draws}; without one the level is exact."
