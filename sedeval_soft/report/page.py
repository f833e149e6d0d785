"""The page of one system: what was read and how it is scored, the tables of its scores, and notes on these.

Every score stands in one of the tables, also one that `layout` does not know. Only groups of classes and
scenes are shown in brief: machines get all their scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING

from sedeval_soft.errors import counted, visible
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.plan import Plan
from sedeval_soft.report.layout import (
    AVERAGED,
    COUNTS,
    EXACT,
    OF_CLASSES,
    OF_PARTS,
    TABLE_OF,
    Averages,
    measure_label,
)
from sedeval_soft.report.table import UNDEFINED, Page, Table, exact, number, number_if_any, short
from sedeval_soft.settings import Constraint, Settings, short_fraction

if TYPE_CHECKING:
    from sedeval_soft.evaluation.details import Chance, Confusion, Folds, Offender, Sweep, Worst
    from sedeval_soft.evaluation.scores import Input, Score, Scores

_Column = tuple[str, str]
"""A heading, empty for none, and the measure below it."""

_Cells = dict[tuple[str, ...], dict[_Column, "Score"]]
"""The scores of each row, by their column."""

_ByFamily = dict[tuple[str, str], list["Score"]]
"""Scores by their basis and reading."""

_Section = tuple[list[Table], list[str]]
"""Tables, and what a reader must know of them."""

METHODS = {
    "bootstrap": "bootstrap percentiles",
    "bca": "BCa",
    "expanded": "expanded BCa",
    "jackknife": "delete-one jackknife",
}
"""What the ways to find an interval are called."""

_MOST_FOLDS = 10
"""Folds up to which each is shown by itself."""

_MOST_CLASSES = 50
"""Classes up to which their confusion is a table."""

_COSTS = ("cost", "share", "missed", "inserted")


def page_of(scores: Scores) -> Page:
    """Return the page of one system."""
    sections: list[_Section] = []
    if scores.sweep is not None:
        sections.append(_sweep(scores, scores.sweep))
    if scores.folds is not None:
        sections.append(_folds(scores, scores.folds))
    if scores.worst is not None:
        sections.append(_worst(scores.worst))
    if scores.chance is not None:
        sections.append(_chance(scores, scores.chance))
    tables = [*_tables(scores), *(table for tables, _ in sections for table in tables)]
    tables = [table for table in tables if table.rows]
    notes = [*_notes(scores, tables), *(note for _, notes in sections for note in notes)]
    signatures = (scores.signature,)
    return Page(
        scores.system, tuple(_header(scores)), tuple(tables), tuple(notes), scores.warnings, signatures
    )


# What was read, and how it is scored: lines of a name and a text.


def families(scores: Scores) -> list[tuple[str, str]]:
    """Return each basis and reading that has scores: those of the registry in its order, then others."""
    present = dict.fromkeys((score.basis, score.reading) for score in scores.scores.values())
    registered = dict.fromkeys((family.basis, family.reading) for family in FAMILIES)
    return [family for family in {**registered, **present} if family in present]


def _header(scores: Scores) -> list[tuple[str, str]]:
    settings, folds, chance = scores.settings, scores.folds, scores.chance
    lines = [*map(input_line, scores.inputs), *scoring(scores)]
    if folds is not None:
        each = zip(map(visible, folds.names), folds.files, strict=True)
        sizes = ": " + ", ".join(f"{name} ({counted(size, 'file')})" for name, size in each)
        if len(folds.names) > _MOST_FOLDS:
            sizes = f", of {min(folds.files)} to {counted(max(folds.files), 'file')}"
        lines.append(("folds", f"{len(folds.names)}{sizes}"))
    files = len(scores.files)
    if scores.runs:
        trainings = f"{len(scores.runs)}, means over trainings"
        sure = percent(settings.confidence)
        lines.append(("runs", f"{trainings}; {sure} intervals by the jackknife over runs"))
    elif settings.ci is not None and files > 1:
        drawn = f", {resampled(settings.replicates, files, settings.seed)}"
        if settings.ci == "jackknife":
            drawn = f" over {counted(files, 'file')}"
        sure = percent(settings.confidence)
        lines.append(("intervals", f"{sure} {METHODS[settings.ci]}{drawn}{fixed_thresholds(settings)}"))
    if chance is not None:
        drawn = f"all {chance.draws} moves there are" if chance.everything else counted(chance.draws, "move")
        moved = "the same output moved in time by whole segments"
        lines.append(("chance", f"{moved}: {drawn}, seed {chance.seed}"))
    return lines


def input_line(item: Input) -> tuple[str, str]:
    """Return what was read, as (role, text)."""
    sizes = ((item.rows, "row"), (item.files, "file"), (item.classes, "class"))
    parts = [
        f"{visible(item.name)}: {', '.join(counted(size, noun) for size, noun in sizes)}",
        visible(item.form),
        "with values" if item.has_values else "without values",
        "touching rows are one event" if item.events == "merge" else "each row is an event",
    ]
    if item.ignored:
        parts.append(f"ignored columns: {', '.join(map(visible, item.ignored))}")
    return item.role, "; ".join(parts)


def scoring(scores: Scores) -> list[tuple[str, str]]:
    """Return how scores are found, as (name, text)."""
    settings = scores.settings
    sign = "at or above" if settings.inclusive else "above"
    cut = f"active {sign} {short(settings.threshold)}"
    if settings.reference_cut != settings.threshold:
        cut += f" (reference {sign} {short(settings.reference_cut)})"
    lines = [("files", f"{len(scores.files)}, {short(round(scores.length, 6))} s; {cut}")]
    if settings.postprocesses:
        lines.append(("process", _processing(settings)))
    lines += _of_bases(scores)
    if settings.tunes:
        lines.append(("tuned", _tuned(settings)))
    if settings.satisfice is not None:
        lines.append(("satisfice", f"best thresholds where {_satisfice(settings.satisfice)}"))
    if settings.measures:
        rates = f"FPR {short(settings.max_fpr)}, FNR {short(settings.max_fnr)}, IoU {short(settings.iou)}"
        details = {
            "curves": f" ({rates})",
            "divergence": f" ({settings.entropy_unit}, eps {settings.epsilon:g})",
            "calibration": f" ({settings.bins} bins)",
        }
        lines.append(("measures", ", ".join(name + details.get(name, "") for name in settings.measures)))
    if Plan.of(settings).psds:
        name = f"{settings.psds}: " if settings.psds else ""
        keys = ("alpha_ct", "alpha_st", "max_efpr")
        weights = ", ".join(f"{key} {short(settings.criterion(key))}" for key in keys)
        lines.append(
            ("PSDS", f"{name}{weights}, cross triggers covered by {_share(settings.criterion('cttc'))}")
        )
    if settings.compat:
        lines.append(("compat", f"the hard reading follows {settings.compat}"))
    return lines


def _of_bases(scores: Scores) -> Iterator[tuple[str, str]]:
    """Yield what is to be known of the scores of each basis that has any."""
    settings = scores.settings
    bases = {score.basis for score in scores.scores.values()}
    if "segment" in bases:
        pooled = "" if settings.pool == "max" else ", time-weighted means"
        t_norm = "" if settings.t_norm == "minimum" else f"; {settings.t_norm} T-norm"
        length = short_fraction(settings.segment_length).removesuffix(".0")
        yield "segments", f"{scores.n_segments} of {length} s{pooled}{t_norm}"
    if "event" in bases:
        parts = []
        if settings.onset:
            parts.append(f"onsets within {short(settings.onset_collar)} s")
        if settings.offset:
            share = _share(settings.offset_collar_rate)
            parts.append(f"offsets within {short(settings.offset_collar)} s or {share} of the length")
        yield "events", f"{', '.join(parts)}; {settings.matching} matching"
    if "intersection" in bases:
        dtc, gtc = (_share(settings.criterion(name)) for name in ("dtc", "gtc"))
        yield "overlaps", f"detections covered by {dtc} or more, reference events by {gtc} or more"


def _share(value: float) -> str:
    return f"{short(round(100 * value, 9))}%"


def _processing(settings: Settings) -> str:
    parts = []
    for name, text in (
        ("median_filter", "median filter"),
        ("min_gap", "no gap below"),
        ("min_duration", "no event below"),
    ):
        value = getattr(settings, name)
        if isinstance(value, dict):
            lengths = ", ".join(f"{visible(label)} {short(seconds)} s" for label, seconds in value.items())
            parts += [f"{text} by class ({lengths})"] if any(value.values()) else []
        elif value:
            parts.append(f"{text} {short(value)} s")
    return f"system: {', '.join(parts)}"


def _tuned(settings: Settings) -> str:
    if isinstance(settings.thresholds, str):
        return f"the system cut at the {settings.thresholds} of each class"
    if settings.thresholds is not None:
        return f"the system cut at given thresholds of {counted(len(settings.thresholds), 'class')}"
    count = settings.cross_tune
    each = "each fold" if count == "folds" else f"each of {count} parts of the files (seed {settings.seed})"
    best = settings.objective or "F of each basis"
    return f"{each} cut at the thresholds with the best {best} on the others"


def _satisfice(text: str) -> str:
    constraint = Constraint.parse(text)
    measure = constraint.measure.replace("_", " ").replace("fpr per", "false positives per")
    best = {"f": "highest F", "error_rate": "lowest error rate"}.get(constraint.best)
    return f"{measure} {constraint.sign} {short(constraint.number)}: {best or f'highest {constraint.best}'}"


def percent(share: float | Decimal) -> str:
    """Return a share, such as a confidence, as a percentage with all its digits: `95 %`."""
    text = f"{100 * Decimal(str(share)):f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def ends(confidence: float) -> tuple[str, str]:
    """Return what the ends of an interval are called: `2.5 %` and `97.5 %` for a confidence of 0.95."""
    whole = Decimal(repr(confidence))
    return percent((1 - whole) / 2), percent((1 + whole) / 2)


def resampled(replicates: int, files: int, seed: int) -> str:
    """Return how often files are drawn anew: `1000 replicates of 49 files, seed 0`."""
    return f"{counted(replicates, 'replicate')} of {counted(files, 'file')}, seed {seed}"


def fixed_thresholds(settings: Settings) -> str:
    """Return what intervals leave as it is."""
    return ", thresholds fixed" if settings.fixed_thresholds else ""


# The tables of scores.


def _tables(scores: Scores) -> list[Table]:
    """Return the tables of averages, the summary first, then those of classes, groups and scenes."""
    order = families(scores)
    # What folds score stands in the table of their spread.
    elsewhere = scores.folds.names if scores.folds else ()
    by_part: dict[str | None, _ByFamily] = {None: {family: [] for family in order}}
    for score in scores.scores.values():
        if score.group is None or score.group not in elsewhere:
            members = by_part.setdefault(score.group, {family: [] for family in order})
            members[score.basis, score.reading].append(score)
    whole = by_part.pop(None)
    by_layout: dict[Averages | None, list[Score]] = {}
    for score in (score for members in whole.values() for score in members):
        if score.average is not None:
            by_layout.setdefault(TABLE_OF.get((score.measure, score.average)), []).append(score)
    tables = [_averages(scores, layout, by_layout.get(layout, ())) for layout in AVERAGED]
    if None in by_layout:
        tables.append(_averages(scores, _other_averages(by_layout[None]), by_layout[None]))
    tables += _classes(scores, whole)
    if len(scores.classes) <= _MOST_CLASSES:
        tables += map(_confusion, scores.confusion)
    for part, members in by_part.items():
        title = f", {'group' if part in scores.settings.groups else 'scene'} {visible(str(part))}"
        averages = [s for family in members.values() for s in family if s.average is not None]
        layout, main = _main(averages)
        tables.append(_averages(scores, replace(layout, title=layout.title + title), main))
        tables += _classes(scores, members, title)
    return tables


def _main(members: Sequence[Score]) -> tuple[Averages, Sequence[Score]]:
    """Return the main ones of some scores and the table for them; all of them where there are no main ones.

    As in the summary of the whole, weighted averages stand aside; here they have no table of their own.
    """
    layout = OF_PARTS
    if {"micro", "macro"} <= {score.average for score in members}:
        layout = replace(layout, averages=tuple(each for each in layout.averages if each != "weighted"))
    main = [s for s in members if s.measure in layout.measures and s.average in layout.averages]
    return (layout, main) if main else (_other_averages(members), members)


def _other_averages(scores: Sequence[Score]) -> Averages:
    """Return the table of the averages that no other table shows."""
    measures = tuple(dict.fromkeys(score.measure for score in scores))
    averages = tuple(dict.fromkeys(score.average or "" for score in scores))
    return Averages("Other averages", measures, averages, stacked=True)


def _averages(scores: Scores, layout: Averages, members: Sequence[Score]) -> Table:
    """Return a table of averages; its rows are in the order of its members' families."""
    # A title that is about one average needs no heading that repeats it.
    side_by_side = not layout.stacked and len(layout.averages) > 1
    headings = layout.averages if side_by_side else ("",)
    columns = [(heading, measure) for heading in headings for measure in layout.measures]
    rows: list[tuple[str, ...]] = [(average,) for average in layout.averages] if layout.stacked else [()]
    cells: _Cells = {(score.basis, score.reading, *row): {} for score in members for row in rows}
    for score in members:
        average = score.average or ""
        row = (score.basis, score.reading, *([average] if layout.stacked else []))
        cells[row][average if side_by_side else "", score.measure] = score
    names = ("basis", "reading", *(["average"] if layout.stacked else []))
    return _table(scores, layout.title, names, cells, columns)


def _classes(scores: Scores, by_family: _ByFamily, part: str = "") -> Iterator[Table]:
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
    scores: Scores, title: str, names: tuple[str, ...], cells: _Cells, columns: Iterable[_Column]
) -> Table:
    """Return a table of the rows and columns that have any score, ends of intervals below their values."""
    columns = [column for column in columns if any(column in row for row in cells.values())]
    rows: list[tuple[str, ...]] = []
    details: set[int] = set()
    for name, row in cells.items():
        if not row:
            continue
        members = [row.get(column) for column in columns]
        rows.append((*map(visible, name), *("" if score is None else _value(score) for score in members)))
        if any(score is not None and (score.low, score.high) != (None, None) for score in members):
            details |= {len(rows), len(rows) + 1}
            texts = ends(scores.settings.confidence)
            width = max(map(len, texts))
            for end, text in zip(("low", "high"), texts, strict=True):
                # Two blanks set the name of an end off from the name of the row that it belongs to.
                blank = [""] * (len(name) - 1)
                rows.append((*blank, f"  {text:>{width}}", *(_end(score, end) for score in members)))
    headings = tuple(heading for heading, _ in columns)
    head = (*names, *(measure_label(scores.settings, measure) for _, measure in columns))
    return Table(title, head, tuple(rows), len(names), headings if any(headings) else (), frozenset(details))


def _value(score: Score) -> str:
    """Return the value of a score for a cell."""
    if score.measure in EXACT:
        return exact(score.value)
    return number(score.value, 2 if score.measure in COUNTS else 4)


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
    if any(UNDEFINED in row[table.names :] for table in tables for row in table.rows):
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
            which = f" ({', '.join(where)})" if len(silent) > 1 else ""
            names = ", ".join(map(visible, absent))
            notes.append(f"Without reference, so left out of macro averages{which}: {names}.")
    return notes


# Sections that few pages have.


def _sweep(scores: Scores, sweep: Sweep) -> _Section:
    """Return what hard and optimal readings score at each threshold of the reference."""
    tables = []
    marked = [short(t) + " *" * (t == scores.settings.reference_cut) for t in sweep.thresholds]
    members = [ScoreName.parse(name) for name in sweep.scores]
    for basis, reading in dict.fromkeys((name.basis, name.reading) for name in members):
        of_family = [name for name in members if (name.basis, name.reading) == (basis, reading)]
        # Not of one average: there is one size of the reference for all.
        size = [name for name in of_family if name.measure == "n_ref"]
        averages = [
            name
            for average in ("micro", "macro")
            for name in of_family
            if name.average == average and name.measure != "n_ref"
        ]
        columns = [
            [number(count, digits=0) for count in sweep.at[basis]],
            *([number(value, digits=0) for value in sweep.scores[str(name)]] for name in size),
            *([number(value) for value in sweep.scores[str(name)]] for name in averages),
        ]
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


def _names(scores: Scores, score: Score) -> tuple[str, str, str, str]:
    """Return what says which score it is: basis, reading, measure, and average or class."""
    last = score.average or "" if score.class_name is None else visible(score.class_name)
    return score.basis, score.reading, measure_label(scores.settings, score.measure), last


def _folds(scores: Scores, folds: Folds) -> _Section:
    """Return the spread over folds of the main scores, of all where there are no main ones."""
    spreads = {spread.name: spread for spread in folds.spreads if spread.name in scores.scores}
    if not spreads:
        return [], []
    _, main = _main([scores.scores[name] for name in spreads])
    names = folds.names if len(folds.names) <= _MOST_FOLDS else ()
    rows = []
    for score in main:
        spread, digits = spreads[score.name], 2 if score.measure in COUNTS else 4
        values = (spread.mean, spread.deviation, *(spread.values if names else ()))
        rows.append((*_names(scores, score), _value(score), *(number(value, digits) for value in values)))
    last = "of" if any(score.class_name is not None for score in main) else "average"
    table = Table(
        "Folds: spread of scores (files are pooled, folds are never averaged)",
        ("basis", "reading", "measure", last, "pooled", "mean", "deviation", *map(visible, names)),
        tuple(rows),
        names=4,
        headings=("", "over folds", "over folds", *["folds"] * len(names)),
    )
    notes = [
        "Pooled is the score of all files together; mean and deviation only say how far folds lie apart."
    ]
    if len(main) < len(spreads):
        notes.append("Spreads of all averages are in JSON and YAML; csv has what each fold scores.")
    elif not names:
        notes.append("What each fold scores is in csv, JSON and YAML.")
    return [table], notes


def _worst(worst: Worst) -> _Section:
    """Return the files, classes and segments that cost most."""
    if not (worst.files or worst.classes or worst.segments):
        return [], []
    which = f"that cost most, {worst.basis}-based, {worst.reading} reading"
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
        values = "the values are those of the class"
        notes.append(f"The class of a segment is the one that costs most in it; {values}.")
    files = tuple((visible(each.file or ""), *_costs(each, 2)) for each in worst.files)
    classes = tuple((visible(each.class_name or ""), *_costs(each, 2)) for each in worst.classes)
    return [
        Table(f"Files {which}", ("file", *_COSTS), files),
        Table(f"Classes {which}", ("class", *_COSTS), classes),
        Table(f"Segments {which}", of_segments, tuple(segments), names=2),
    ], notes


def _costs(each: Offender, digits: int) -> tuple[str, ...]:
    cost, missed, inserted = (number(value, digits) for value in (each.cost, each.missed, each.inserted))
    return cost, f"{number(100.0 * each.share, 1)} %", missed, inserted


def _chance(scores: Scores, chance: Chance) -> _Section:
    """Return the chance levels of the main averages, and of the F1 of classes."""
    levels = {name: level for name, level in chance.levels.items() if name in scores.scores}
    defined = [scores.scores[name] for name, level in levels.items() if level.chance is not None]
    rows = []
    for score in _main([score for score in defined if score.average is not None])[1]:
        level = levels[score.name]
        numbers = (number(level.chance), number_if_any(level.error), number(level.normalised))
        rows.append((*_names(scores, score), number(score.value), *numbers))
    of_classes = {
        (f"{score.basis} {score.reading}", score.class_name): levels[score.name]
        for score in defined
        if score.class_name is not None and score.measure == "f1"
    }
    names = tuple(dict.fromkeys(family for family, _ in of_classes))
    of_class = []
    for label in scores.classes:
        of_label = [of_classes.get((name, label)) for name in names]
        if any(of_label):
            pairs = (map(number, (each.chance, each.normalised)) if each else ("", "") for each in of_label)
            of_class.append((visible(label), *chain.from_iterable(pairs)))
    notes = ["Normalised is (score - chance) / (best - chance): 0 at chance, 1 for the best."]
    if any(level.error is not None for level in levels.values()):
        draws = counted(chance.draws, "draw")
        notes.append(f"Error is the standard error of a mean over {draws}; without one the level is exact.")
    head = ("basis", "reading", "measure", "average", "score", "chance", "error", "normalised")
    return [
        Table("Chance levels", head, tuple(rows), names=4),
        Table(
            "Chance levels of classes: F1",
            ("class", *("chance", "normalised") * len(names)),
            tuple(of_class),
            headings=tuple(name for name in names for _ in range(2)),
        ),
    ], notes
