"""What a tally that is read must keep, so that no score of it lies outside its range.

The numbers of a tally file may come from anywhere. Scores are made of them by division, and a TP above N_ref
makes a recall above 1: each column is held against those that bound it, for all files and classes at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Array
from sedeval_soft.evaluation.shard import Shard
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE
from sedeval_soft.measures.divergence import KL, PROPER, SOFT
from sedeval_soft.measures.errors import KINDS_OF_ERRORS, LEVELS, ONE_SIDED
from sedeval_soft.measures.event import ENDS
from sedeval_soft.measures.grounding import COLUMNS as GROUNDING
from sedeval_soft.measures.ranking import CUT_SUMS, SUMS
from sedeval_soft.measures.tally import Tally, cells_of, evaluated_of
from sedeval_soft.plan import CELLS
from sedeval_soft.settings import READINGS, Settings
from sedeval_soft.tables.event_table import LONGEST
from sedeval_soft.tables.ticks import TICKS_PER_SECOND

Columns = Mapping[str, Array]
"""Columns of a tally by name: (n_files, n_classes) or (n_files,)."""

ROUNDING = 1e-9
"""How far two float sums of the same n numbers may differ, relative to what was summed.

An order of adding them is off by n rounding errors of 1.1e-16 at most: this is enough for nine million.
"""

_ALL_CELLS = "the number of cells of the file"


class Law(NamedTuple):
    """What is true of a column.

    relation: `at least`, `at most`, or nothing for equal. limit: what it is held against, which `says` tells.
    scale: the size of what was summed in floats, 0 where the law is exact. values: what is compared with the
    limit, if not the column itself. All arrays are (n_files, n_classes) or (n_files,), or become so.
    """

    column: str
    relation: str
    limit: Array | float
    says: str = ""
    scale: Array | float = 0.0
    values: Array | None = None


def contradiction(shard: Shard) -> str | None:
    """Return what in a shard contradicts a law, as a sentence; None where all are kept.

    Its tallies must have the columns that its settings count.
    """
    for name, tally in [(None, shard.tally), *shard.groups.items()]:
        where = "" if name is None else f"group {name!r}: "
        strange = sorted({*tally.classes} - {*shard.tally.classes})
        if strange:
            return f"{where}class {strange[0]!r} is not in the whole"
        with np.errstate(invalid="ignore", over="ignore"):
            sentence = _first_broken(tally, shard.settings)
        if sentence:
            return where + sentence
    return None


def _first_broken(tally: Tally, settings: Settings) -> str | None:
    """Say which law a tally breaks, and where first in the order of files; None where all are kept."""
    columns = {
        name: np.asarray(column) for name, column in (*tally.per_class.items(), *tally.per_file.items())
    }
    families = [("", columns, _file_laws(columns, settings))]
    for basis, readings in READINGS.items():
        for reading in readings:
            prefix = f"{basis}.{reading}."
            # A column of the family by the rest of its name, and those of files as they are called.
            counts = columns | {name.removeprefix(prefix): of for name, of in columns.items()}
            if "tp" in counts:
                families.append((prefix, counts, _family_laws(counts, basis, reading, settings)))
            elif "weight" in counts:
                laws = _ranking_laws(counts, reading, len(tally.classes), settings)
                families.append((prefix, counts, laws))
    for prefix, counts, laws in families:
        for law in laws:
            values = counts[law.column] if law.values is None else law.values
            over, slack = values - law.limit, ROUNDING * np.asarray(law.scale)
            holds = {"at least": over >= -slack, "at most": over <= slack, "": np.abs(over) <= slack}
            broken = ~(np.isfinite(values) & holds[law.relation])
            if broken.any():
                return _sentence(law, f"{prefix}{law.column}", values, broken, tally)
    return None


def _sentence(law: Law, column: str, values: Array, broken: Array, tally: Tally) -> str:
    """Say where a law is first broken, in the order of files."""
    at = tuple(int(i) for i in np.argwhere(broken)[0])
    value, limit = (np.broadcast_to(each, broken.shape)[at].item() for each in (values, law.limit))
    of_class = f" of class {tally.classes[at[1]]!r}" if len(at) > 1 else ""
    has, expected = (f"{number:.12g}" for number in (value, limit))
    if has == expected:
        has, expected = repr(value), repr(limit)
    where = f"{column}{of_class} in file {tally.files[at[0]]!r}"
    return f"{where} is {has}; expected {' '.join(filter(None, (law.relation, law.says, expected)))}"


def _between(
    column: str, most: Array | float, says: str, scale: Array | float = 0.0, least: Array | float = 0.0
) -> tuple[Law, Law]:
    """Return the laws of a column that has a least and a most; says: what the most is."""
    return Law(column, "at least", least, scale=scale), Law(column, "at most", most, says, scale)


def _file_laws(columns: Columns, settings: Settings) -> Iterator[Law]:
    """Yield the laws of how many cells files have."""
    covered = columns["length"] / (settings.segment_length * TICKS_PER_SECOND)
    # A grid that no whole ticks make may have one segment more or less.
    # Where segments are dropped, what is left covers more or less than the time that is evaluated.
    limits = (("at least", covered - 1), ("at most", covered + 1))
    for relation, segments in () if settings.drops_segments else limits:
        yield Law(evaluated_of("segment"), relation, segments, "what covers the file,", covered)
    if "n_clips" in columns:
        yield Law("n_clips", "", 1, "one clip in each file,")
    for basis in CELLS:
        if cells_of(basis) in columns:
            yield Law(evaluated_of(basis), "at most", columns[cells_of(basis)], _ALL_CELLS)


def _family_laws(columns: Columns, basis: str, reading: str, settings: Settings) -> Iterator[Law]:
    """Yield the laws of what is counted of a basis in a reading: those of detection, and its own."""
    tp, n_ref, n_sys = (columns[name] for name in PER_CLASS)
    for name in PER_CLASS:
        yield Law(name, "at least", 0)
    # No order of adding makes TP larger than what it is a part of: these are exact in floats, too.
    yield Law("tp", "at most", n_ref, "N_ref")
    yield Law("tp", "at most", n_sys, "N_sys")
    for name in PER_FILE:
        yield Law(name, "at least", 0)
    size = np.abs(n_ref).sum(axis=1) + np.abs(n_sys).sum(axis=1)
    for name, whole, called in (("deletions", n_ref, "N_ref"), ("insertions", n_sys, "N_sys")):
        left = (whole - tp).sum(axis=1) - columns["substitutions"]
        says = f"the sum over classes of {called} - TP, less the substitutions,"
        yield Law(name, "", left, says, size)
    if basis in CELLS:
        yield from _cell_laws(columns, basis, reading, settings)
    if basis == "event" and reading == "hard":
        yield from _event_laws(columns, settings)
    kinds, _ = KINDS_OF_ERRORS.get((basis, reading), ((), ()))
    if kinds and f"{kinds[0]}.fn" in columns:
        yield from _error_laws(columns, kinds)


def _error_laws(columns: Columns, kinds: tuple[str, ...]) -> Iterator[Law]:
    """Yield the laws of errors by kind: each error has one."""
    for what, called in (("fp", "n_sys"), ("fn", "n_ref")):
        names = [f"{kind}.{what}" for kind in kinds if ONE_SIDED.get(kind, what) == what]
        for name in names:
            yield Law(name, "at least", 0)
        total = np.sum([columns[name] for name in names], axis=0)
        says = f"with all other kinds {called.replace('n_', 'N_')} - TP,"
        yield Law(names[0], "", columns[called] - columns["tp"], says, columns[called], values=total)
    for kind in kinds:
        if f"{kind}.{LEVELS[0]}" not in columns:
            continue
        for level in LEVELS:
            yield Law(f"{kind}.{level}", "at least", 0)
        says = f"with those that are right at a {LEVELS[1]} threshold the false negatives of this kind,"
        total = np.sum([columns[f"{kind}.{level}"] for level in LEVELS], axis=0)
        yield Law(f"{kind}.{LEVELS[0]}", "at most", columns[f"{kind}.fn"], says, values=total)


def _cell_laws(columns: Columns, basis: str, reading: str, settings: Settings) -> Iterator[Law]:
    """Yield the laws of segments and clips, and of sums over them."""
    n_evaluated, n_cells = columns[evaluated_of(basis)], columns[cells_of(basis)]
    tp, n_ref, n_sys = (columns[name] for name in PER_CLASS)
    cut = reading == "hard"
    if cut:
        # sed_eval lays a grid of its own, in floats.
        theirs = settings.compat == "sed_eval"
        most = n_cells + (basis == "segment") if theirs else n_evaluated
        yield Law("n_cells", "at most", most, _ALL_CELLS)
        alarms = n_sys - tp
        yield from _between("beyond", alarms, "the number of false alarms")
        silent = columns["n_cells"][:, None] - (n_ref + alarms - columns["beyond"])
        yield Law("true negatives", "at least", 0, values=silent)
        n_cells = columns["n_cells"] if theirs else n_cells
    weighted = basis == "segment" and reading == "soft" and settings.ignore_class is not None
    if weighted:
        # Segments count as often as is known of them; those of the system after the end do, too.
        n_evaluated = columns["n_cells"]
        yield Law("n_ref", "at most", n_evaluated[:, None], _ALL_CELLS, columns["n_ref"])
    elif reading != "optimal" or settings.compat is None:
        for name in ("n_ref", "n_sys"):
            yield Law(name, "at most", n_cells[:, None], _ALL_CELLS, columns[name])
        # No T-norm is below y + p - 1: together both sides fill no more than there is.
        both = n_ref + n_sys
        yield Law("tp", "at least", both - n_cells[:, None], f"N_ref + N_sys less {_ALL_CELLS},", both)
    if "n_items" in columns:
        yield Law("n_items", "", (n_ref > 0).astype(np.int64), "1 where the reference is active, else 0,")
        most = columns["n_items"]
        yield from _between("iou", most, "1 for an item, else 0,")
        for name in GROUNDING[2:]:
            yield from _between(name, most, "1 for an item that has a lower overlap, else 0,")
            most = columns[name]
    if "sounding" not in columns:
        return
    yield from _between("sounding", n_evaluated[:, None], _ALL_CELLS, columns["sounding"])
    largest = {"jensen_shannon": math.log(2), "brier": 1.0, "mean_absolute_error": 1.0, "product": 1.0}
    for name in PROPER if cut else SOFT if "divergence" in settings.measures else KL:
        most = largest.get(name, -math.log(settings.epsilon)) * columns["sounding"]
        yield from _between(name, most, "what so many cells can add, each at its worst,", most)
    if "product" in columns:
        # Of its square and the two sides' a cosine is made.
        yield Law("product", "at most", n_ref, "N_ref", n_ref)
        yield Law("product", "at most", n_sys, "N_sys", n_sys)


def _event_laws(columns: Columns, settings: Settings) -> Iterator[Law]:
    """Yield the laws of how far matched events are off."""
    n = columns["matched"]
    yield from _between("matched", columns["n_ref"], "N_ref")
    yield Law("matched", "at most", columns["n_sys"], "N_sys")
    for end in ENDS:
        total, squares = columns[end], f"{end}_squares"
        in_collar = end == "onset" and settings.onset and settings.match_by == "collar"
        most = settings.onset_collar if in_collar else LONGEST
        says = "what so many matched events can be off,"
        yield Law(end, "at most", most * n, says, most * n, values=np.abs(total))
        yield Law(squares, "at most", most**2 * n, f"{says} squared,", most**2 * n)
        # The mean of squares is at least the square of the mean; nothing is off where nothing is matched.
        mean = total * total / np.maximum(n, 1)
        yield Law(squares, "at least", mean, f"the square of the sum, {end}, over the matched events,", mean)


def _ranking_laws(columns: Columns, reading: str, n_classes: int, settings: Settings) -> Iterator[Law]:
    """Yield the laws of sums over the segments of how classes are ordered in them."""
    weight = columns["weight"]
    n_segments = columns[evaluated_of("segment")]
    yield from _between("weight", n_segments, "the number of segments of the file", weight)
    largest = {
        "coverage": float(n_classes),
        "misordered": n_classes * (n_classes - 1) / 2,
        "cross_entropy": n_classes * -math.log(settings.epsilon),
        "distance": float(n_classes),
    }
    for name in (*SUMS[1:], *(CUT_SUMS if reading == "hard" else ())):
        most, least = largest.get(name, 1.0) * weight, weight if name == "coverage" else 0.0
        yield from _between(
            name, most, "what segments of this weight can add, each at its most,", most, least
        )
    if reading == "hard":
        for name, most, says in (
            ("n_ref", weight[:, None], "the weight of the segments"),
            ("prefix", weight[:, None], "the weight of the segments"),
            ("prefix_hits", columns["prefix"], "what is in the prefix"),
            ("prefix_hits", columns["n_ref"], "N_ref"),
        ):
            yield from _between(name, most, says, columns[name])
        # Each segment's prefix has as many places as it has active classes.
        places, active = columns["prefix"].sum(axis=1), columns["n_ref"].sum(axis=1)
        says = "in all classes together, as many as N_ref,"
        yield Law("prefix", "", active, says, active, values=places)
