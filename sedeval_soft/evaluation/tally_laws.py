"""What a tally that is read must keep: its statistics are held against the laws of what counts them.

The numbers of a tally file may come from anywhere. Scores are made of them by division, and a TP above N_ref
makes a recall above 1. So every column is held against the others, against the segments and events it was
counted from where these are kept, and the counts of groups against those of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation.count import evaluated_cells
from sedeval_soft.evaluation.shard import Shard
from sedeval_soft.measures.base import Array
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE
from sedeval_soft.measures.divergence import KL, PROPER, SOFT
from sedeval_soft.measures.event import DEVIATIONS, file_class, sum_groups
from sedeval_soft.measures.laws import (
    Columns,
    Law,
    at_least,
    at_most,
    beyond_laws,
    cell_laws,
    detection_laws,
    deviation_laws,
    divergence_laws,
    equal,
    ranking_laws,
    size_of,
)
from sedeval_soft.measures.ranking import CLASS_SUMS, CUT_SUMS, SUMS
from sedeval_soft.measures.segment import count_files, count_hard, fuzzy_and, sum_files
from sedeval_soft.measures.tally import Tally, cells_of, evaluated_of
from sedeval_soft.plan import CELLS
from sedeval_soft.settings import READINGS, Settings
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.events import EventLifetimes
from sedeval_soft.timeline.recordings import detected, positive

Index = npt.NDArray[np.int64]

_CUT = ("reference", "detected")
"""Lists of events that were cut at a threshold: they live at every level."""


def contradiction(shard: Shard) -> str | None:
    """Return what in a shard contradicts a law, as a sentence; None where all are kept.

    Its tallies must have the columns that its settings count.
    """
    parts: list[tuple[str, Tally]] = [("", shard.tally)]
    parts += [(f"group {name!r}: ", tally) for name, tally in shard.groups.items()]
    for where, tally in parts:
        laws = _laws(tally, shard.settings)
        if where:
            strange = sorted({*tally.classes} - {*shard.tally.classes})
            if strange:
                return f"{where}class {strange[0]!r} is not in the whole"
            laws = chain(laws, _part_laws(shard.tally, tally))
        for law in laws:
            if not np.all(law.holds):
                return where + _sentence(law, tally)
    return None


def _sentence(law: Law, tally: Tally) -> str:
    """Say where a law is first broken, in the order of files."""
    at = tuple(int(i) for i in np.argwhere(~law.holds)[0])
    value, limit = (
        None if of is None else np.broadcast_to(of, law.holds.shape)[at].item()
        for of in (law.values, law.limit)
    )
    of_class = f" of class {tally.classes[at[1]]!r}" if len(at) > 1 else ""
    held = "" if limit is None else f" {limit:.12g}"
    found = f"{value:.12g}"
    if limit is not None and found == held.strip():
        found, held = repr(value), f" {limit!r}"
    return f"{law.column}{of_class} in file {tally.files[at[0]]!r} is {found}; expected {law.says}{held}"


def _laws(tally: Tally, settings: Settings) -> Iterator[Law]:
    """Yield all laws of the statistics of a tally by themselves."""
    yield from _length_laws(tally, settings)
    for basis, readings in READINGS.items():
        for reading in readings:
            if f"{basis}.{reading}.tp" in tally.per_class:
                for law in _family_laws(tally, basis, reading, settings):
                    yield law.below(f"{basis}.{reading}")
    for reading in ("hard", "soft"):
        names = (*SUMS, *CUT_SUMS, *CLASS_SUMS) if reading == "hard" else SUMS
        columns = _columns(tally, f"ranking.{reading}", names)
        if "weight" in columns:
            n_cells, n_classes = tally.per_file[evaluated_of("segment")], len(tally.classes)
            laws = ranking_laws(columns, n_cells, n_classes, settings.epsilon, hard=reading == "hard")
            yield from (law.below(f"ranking.{reading}") for law in laws)
            if "segment.reference" in tally.samples:
                yield _weight_law(tally, columns, settings, reading).below(f"ranking.{reading}")
    yield from _event_laws(tally)


def _weight_law(tally: Tally, columns: Columns, settings: Settings, reading: str) -> Law:
    """Return the law that segments weigh as much as their highest reference value."""
    reference, _, start = _evaluated(tally, "segment")
    reference = reference[tally.is_expected]
    values = positive(reference, settings).astype(np.float64) if reading == "hard" else reference
    weight = sum_files(values.max(axis=0, initial=0.0), start)
    return equal(columns, "weight", weight, "what the highest values of its segments add up to,", weight)


def _columns(tally: Tally, prefix: str, names: tuple[str, ...]) -> dict[str, Array]:
    """Return the columns below a prefix that a tally has."""
    found: dict[str, Array] = {}
    for name in names:
        column = tally.per_class.get(f"{prefix}.{name}", tally.per_file.get(f"{prefix}.{name}"))
        if column is not None:
            found[name] = np.asarray(column)
    return found


def _length_laws(tally: Tally, settings: Settings) -> Iterator[Law]:
    """Yield the laws of lengths: a file has as many segments as it takes to cover it."""
    columns = tally.per_file
    yield at_least(columns, "length", 0)
    covered = columns["length"] / (settings.segment_length * TICKS_PER_SECOND)
    name = evaluated_of("segment")
    # A grid that no whole ticks make may have one segment more or less.
    yield at_least(columns, name, covered - 1, "what covers the file,", covered)
    yield at_most(columns, name, covered + 1, "what covers the file,", covered)
    for basis in CELLS:
        if cells_of(basis) in columns:
            yield at_least(columns, evaluated_of(basis), 0)
            yield at_most(
                columns, evaluated_of(basis), columns[cells_of(basis)], "the number of cells of the file"
            )
    if "n_clips" in columns:
        yield equal(columns, "n_clips", 1, "one clip in each file,")


def _family_laws(tally: Tally, basis: str, reading: str, settings: Settings) -> Iterator[Law]:
    """Yield the laws of what is counted of a basis in a reading."""
    prefix = f"{basis}.{reading}"
    columns = _columns(tally, prefix, (*PER_CLASS, *PER_FILE))
    yield from detection_laws(columns, crowded=prefix == "event.soft")
    if basis == "intersection":
        yield equal(columns, "substitutions", 0, "0, as nothing is matched one to one:")
    if basis in CELLS:
        yield from _cell_laws(tally, basis, reading, columns, settings)
    if prefix == "event.hard":
        matched = _columns(tally, prefix, ("matched", *DEVIATIONS))
        if settings.compat is None:
            yield equal(matched, "matched", columns["tp"], "TP,")
        for of, says in (("n_ref", "N_ref"), ("n_sys", "N_sys")):
            yield at_most(matched, "matched", columns[of], says)
        yield at_least(matched, "matched", 0)
        yield from deviation_laws(matched, settings.onset_collar if settings.onset else None)


def _cell_laws(
    tally: Tally, basis: str, reading: str, columns: dict[str, Array], settings: Settings
) -> Iterator[Law]:
    """Yield the laws of what is counted of segments or clips in a reading."""
    prefix, n_cells = f"{basis}.{reading}", tally.per_file[cells_of(basis)]
    n_evaluated = tally.per_file[evaluated_of(basis)]
    cut = reading == "hard"
    theirs = cut and settings.compat == "sed_eval"
    if cut:
        own = _columns(tally, prefix, ("n_cells", "beyond"))
        yield at_least(own, "n_cells", 0)
        if theirs:
            # sed_eval lays a grid of its own, in floats.
            yield at_most(own, "n_cells", n_cells + (basis == "segment"), "the number of cells of the file")
            yield from cell_laws(columns, own["n_cells"])
        else:
            yield equal(own, "n_cells", n_evaluated, "the number of evaluated cells of the file,")
            yield from cell_laws(columns, n_cells)
        yield from beyond_laws(columns | own)
    elif reading == "soft" or settings.compat is None:
        yield from cell_laws(columns, n_cells)
    sums = _columns(tally, prefix, ("sounding", *SOFT))
    if "sounding" in sums:
        names = PROPER if cut else SOFT if "divergence" in settings.measures else KL
        t_norm = settings.t_norm if reading == "soft" else None
        beyond = n_cells - n_evaluated
        yield from divergence_laws(
            columns | sums, n_evaluated, beyond, names, settings.epsilon, t_norm=t_norm
        )
        if cut and not theirs:
            yield at_most(columns, "n_ref", sums["sounding"], "the number of cells that are not silent")
        if f"{basis}.system" in tally.samples and not (cut and _silence_passes(settings)):
            reference, system, start = _evaluated(tally, basis)
            active = positive(reference, settings) if cut else reference > 0
            sounding = count_files(active | (system > 0), start)
            yield equal(sums, "sounding", sounding, "what its cells have,")
    if not theirs and f"{basis}.system" in tally.samples:
        yield from _counted_laws(tally, basis, reading, columns, settings)


def _counted_laws(
    tally: Tally, basis: str, reading: str, columns: Columns, settings: Settings
) -> Iterator[Law]:
    """Yield the laws that counts are those of the values of the cells, where these are kept."""
    reference, system = tally.samples[f"{basis}.reference"], tally.samples[f"{basis}.system"]
    start = np.append(0, np.cumsum(tally.per_file[cells_of(basis)]))
    if reading == "hard" and not _silence_passes(settings):
        counts = count_hard(positive(reference, settings), detected(system, settings), start)
        for name in (*PER_CLASS, *PER_FILE):
            yield equal(columns, name, getattr(counts, name), "what its cells have,")
    if reading == "soft":
        shared = fuzzy_and(reference, system, settings.t_norm)
        scale = columns["n_ref"] + columns["n_sys"]
        for name, values in (("tp", shared), ("n_ref", reference), ("n_sys", system)):
            yield equal(columns, name, sum_files(values, start).T, "what its cells have,", scale)


def _evaluated(tally: Tally, basis: str) -> tuple[Array, Array, Index]:
    """Return the evaluated cells of both sides, (n_classes, n_cells), and the first one of each file."""
    n_evaluated = tally.per_file[evaluated_of(basis)]
    sides = tally.samples[f"{basis}.reference"], tally.samples[f"{basis}.system"]
    inside = evaluated_cells(tally.per_file[cells_of(basis)], n_evaluated)
    reference, system = sides if inside is None else (side[:, inside] for side in sides)
    return reference, system, np.append(0, np.cumsum(n_evaluated))


def _silence_passes(settings: Settings) -> bool:
    """Return whether silence is detected: classes that a batch does not know are not counted in it, then."""
    return settings.threshold < 0


def _event_laws(tally: Tally) -> Iterator[Law]:
    """Yield the laws of events, and those of what was counted of them."""
    shape = (len(tally.files), len(tally.classes))
    for name, events in tally.events.items():
        if name not in _CUT:
            continue
        group = file_class(events, shape[1])
        off = {f"events {name}": sum_groups(group, events.born + np.abs(events.dies - 1.0), shape)}
        yield equal(off, f"events {name}", 0, "events that live at all levels, and are off by")
        if "event.hard.tp" in tally.per_class:
            many = np.bincount(group, minlength=shape[0] * shape[1]).reshape(shape)
            columns, of = (
                _columns(tally, "event.hard", PER_CLASS),
                "n_ref" if name == "reference" else "n_sys",
            )
            yield equal(columns, of, many, f"the number of events {name},").below("event.hard")
    for name, of in (("levels", "n_ref"), ("system", "n_sys")):
        if name in tally.events and "event.soft.tp" in tally.per_class:
            columns = _columns(tally, "event.soft", PER_CLASS)
            events = tally.events[name]
            lived = sum_groups(file_class(events, shape[1]), events.dies - events.born, shape)
            says = f"how many levels the events {name} live at,"
            yield equal(columns, of, lived, says, size_of(lived)).below("event.soft")


def _part_laws(whole: Tally, part: Tally) -> Iterator[Law]:
    """Yield the laws that what a group of classes has is what these classes have in the whole."""
    at = np.array([whole.classes.index(name) for name in part.classes], dtype=np.int64)
    sizes = [
        name for basis in CELLS for name in (cells_of(basis), evaluated_of(basis), f"{basis}.hard.n_cells")
    ]
    for name in ("length", *sizes):
        if name in part.per_file:
            yield equal(part.per_file, name, whole.per_file[name], "what it is in the whole,")
    for prefix in (f"{basis}.{reading}" for basis in READINGS for reading in ("hard", "soft")):
        names = (*PER_CLASS, "beyond", "sounding", *SOFT) if f"{prefix}.tp" in part.per_class else ()
        columns, others = _columns(part, prefix, names), _columns(whole, prefix, names)
        for name, values in columns.items():
            other = others[name][:, at]
            law = equal(columns, name, other, "what it is in the whole,", size_of(values, other))
            yield law.below(prefix)
    # Of so many segments and events it is enough to say that they differ, not which does.
    for name, samples in part.samples.items():
        if name in whole.samples:
            yield _alike(part, f"samples {name}", np.array_equal(samples, whole.samples[name][at]))
    code = np.full(len(whole.classes), -1, dtype=np.int32)
    code[at] = np.arange(len(at))
    for name, events in part.events.items():
        theirs = whole.events[name]
        theirs = replace(theirs, label=code[theirs.label]).take(code[theirs.label] >= 0)
        yield _alike(part, f"events {name}", np.array_equal(_in_order(events), _in_order(theirs)))


def _alike(part: Tally, name: str, holds: bool) -> Law:
    """Return the law that segments or events are those of the whole."""
    differ = np.full(len(part.files), 0 if holds else 1)
    return Law(name, "what the whole has of its classes, with differences", differ == 0, differ, 0)


def _in_order(events: EventLifetimes) -> Array:
    """Return all that tells events apart, (6, n), in an order that is theirs."""
    columns = [getattr(events, at) for at in ("file", "label", "onset", "offset", "born", "dies")]
    return np.array([column.astype(np.float64) for column in columns])[:, np.lexsort(columns)]
