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
from sedeval_soft.measures.event import ENDS
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


class Law(NamedTuple):
    """What is true of a column.

    values: what it has. relation: `at least`, `at most`, or nothing for equal. limit: what it is held
    against, which `says` tells. Both are (n_files, n_classes) or (n_files,), or become so. scale: the size of
    what was summed in floats, 0 where the law is exact. unless: where it need not hold.
    """

    column: str
    values: Array
    relation: str
    limit: Array | float
    says: str = ""
    scale: Array | float = 0.0
    unless: Array | bool = False

    def broken(self) -> Array:
        """Return where it does not hold."""
        slack = ROUNDING * np.asarray(self.scale)
        over = self.values - self.limit
        holds = {"at least": over >= -slack, "at most": over <= slack, "": np.abs(over) <= slack}
        broken: Array = ~((np.isfinite(self.values) & holds[self.relation]) | self.unless)
        return broken


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
            for law in _laws(tally, shard.settings):
                broken = law.broken()
                if broken.any():
                    return where + _sentence(law, broken, tally)
    return None


def _sentence(law: Law, broken: Array, tally: Tally) -> str:
    """Say where a law is first broken, in the order of files."""
    at = tuple(int(i) for i in np.argwhere(broken)[0])
    value, limit = (np.broadcast_to(each, broken.shape)[at].item() for each in (law.values, law.limit))
    of_class = f" of class {tally.classes[at[1]]!r}" if len(at) > 1 else ""
    has, expected = (f"{number:.12g}" for number in (value, limit))
    if has == expected:
        has, expected = repr(value), repr(limit)
    where = f"{law.column}{of_class} in file {tally.files[at[0]]!r}"
    return f"{where} is {has}; expected {' '.join(filter(None, (law.relation, law.says, expected)))}"


def _laws(tally: Tally, settings: Settings) -> Iterator[Law]:
    columns = {
        name: np.asarray(column) for name, column in (*tally.per_class.items(), *tally.per_file.items())
    }
    covered = columns["length"] / (settings.segment_length * TICKS_PER_SECOND)
    name = evaluated_of("segment")
    # A grid that no whole ticks make may have one segment more or less.
    yield Law(name, columns[name], "at least", covered - 1, "what covers the file,", covered)
    yield Law(name, columns[name], "at most", covered + 1, "what covers the file,", covered)
    if "n_clips" in columns:
        yield Law("n_clips", columns["n_clips"], "", 1, "one clip in each file,")
    for basis in CELLS:
        if cells_of(basis) in columns:
            name, n_cells = evaluated_of(basis), columns[cells_of(basis)]
            yield Law(name, columns[name], "at most", n_cells, "the number of cells of the file")
    for basis, readings in READINGS.items():
        for reading in readings:
            if f"{basis}.{reading}.tp" in columns:
                yield from _family_laws(columns, basis, reading, settings)
    for reading in ("hard", "soft"):
        if f"ranking.{reading}.weight" in columns:
            yield from _ranking_laws(columns, reading, len(tally.classes), settings)


def _below(columns: Columns, prefix: str) -> dict[str, Array]:
    """Return the columns below a prefix, such as `segment.hard`, by the rest of their names."""
    return {name[len(prefix) + 1 :]: of for name, of in columns.items() if name.startswith(f"{prefix}.")}


def _family_laws(columns: Columns, basis: str, reading: str, settings: Settings) -> Iterator[Law]:
    """Yield the laws of what is counted of a basis in a reading: those of detection, and its own."""
    prefix, own = f"{basis}.{reading}", _below(columns, f"{basis}.{reading}")
    tp, n_ref, n_sys = (own[name] for name in PER_CLASS)
    for name in PER_CLASS:
        yield Law(f"{prefix}.{name}", own[name], "at least", 0)
    # No order of adding makes TP larger than what it is a part of: these are exact in floats, too.
    yield Law(f"{prefix}.tp", tp, "at most", n_ref, "N_ref")
    yield Law(f"{prefix}.tp", tp, "at most", n_sys, "N_sys")
    errors = [own[name] for name in PER_FILE]
    # Those of a file are all unknown where too many soft events overlap.
    unknown = np.logical_and.reduce([np.isnan(column) for column in errors]) & (prefix == "event.soft")
    size = np.abs(n_ref).sum(axis=1) + np.abs(n_sys).sum(axis=1)
    for name, values in zip(PER_FILE, errors, strict=True):
        yield Law(f"{prefix}.{name}", values, "at least", 0, unless=unknown)
    for name, values, whole, called in (
        ("deletions", errors[1], n_ref, "N_ref"),
        ("insertions", errors[2], n_sys, "N_sys"),
    ):
        left = (whole - tp).sum(axis=1) - errors[0]
        says = f"the sum over classes of {called} - TP, less the substitutions,"
        yield Law(f"{prefix}.{name}", values, "", left, says, size, unknown)
    if basis in CELLS:
        yield from _cell_laws(columns, own, basis, reading, settings)
    if prefix == "event.hard":
        yield from _event_laws(own, prefix, settings)


def _cell_laws(columns: Columns, own: Columns, basis: str, reading: str, settings: Settings) -> Iterator[Law]:
    """Yield the laws of segments and clips, and of sums over them."""
    prefix, n_evaluated = f"{basis}.{reading}", columns[evaluated_of(basis)]
    tp, n_ref, n_sys = (own[name] for name in PER_CLASS)
    cut, n_cells = reading == "hard", columns[cells_of(basis)]
    both = n_ref + n_sys
    if cut:
        # sed_eval lays a grid of its own, in floats.
        theirs = settings.compat == "sed_eval"
        most = n_cells + (basis == "segment") if theirs else n_evaluated
        yield Law(f"{prefix}.n_cells", own["n_cells"], "at most", most, "the number of cells of the file")
        alarms, beyond = n_sys - tp, own["beyond"]
        yield Law(f"{prefix}.beyond", beyond, "at least", 0)
        yield Law(f"{prefix}.beyond", beyond, "at most", alarms, "the number of false alarms")
        silent = own["n_cells"][:, None] - (n_ref + alarms - beyond)
        yield Law(f"{prefix}.true negatives", silent, "at least", 0)
        n_cells = own["n_cells"] if theirs else n_cells
    if reading != "optimal" or settings.compat is None:
        says = "the number of cells of the file"
        for name, values in (("n_ref", n_ref), ("n_sys", n_sys)):
            yield Law(f"{prefix}.{name}", values, "at most", n_cells[:, None], says, values)
        # No T-norm is below y + p - 1: together both sides fill no more than there is.
        yield Law(
            f"{prefix}.tp", tp, "at least", both - n_cells[:, None], f"N_ref + N_sys less {says},", both
        )
    if "sounding" not in own:
        return
    sounding = own["sounding"]
    yield Law(f"{prefix}.sounding", sounding, "at least", 0)
    yield Law(
        f"{prefix}.sounding", sounding, "at most", n_evaluated[:, None], "the number of cells of the file"
    )
    largest = {"jensen_shannon": math.log(2), "brier": 1.0, "mean_absolute_error": 1.0, "product": 1.0}
    for name in PROPER if cut else SOFT if "divergence" in settings.measures else KL:
        most = largest.get(name, -math.log(settings.epsilon)) * sounding
        says = "what so many cells can add, each at its worst,"
        yield Law(f"{prefix}.{name}", own[name], "at least", 0.0, scale=most)
        yield Law(f"{prefix}.{name}", own[name], "at most", most, says, most)
    if "product" in own:
        # Of its square and the two sides' a cosine is made.
        for says, values in (("N_ref", n_ref), ("N_sys", n_sys)):
            yield Law(f"{prefix}.product", own["product"], "at most", values, says, values)


def _event_laws(own: Columns, prefix: str, settings: Settings) -> Iterator[Law]:
    """Yield the laws of how far matched events are off."""
    n = own["matched"]
    yield Law(f"{prefix}.matched", n, "at least", 0)
    for of, says in (("n_ref", "N_ref"), ("n_sys", "N_sys")):
        yield Law(f"{prefix}.matched", n, "at most", own[of], says)
    for end in ENDS:
        total, squares = own[end], own[f"{end}_squares"]
        most = settings.onset_collar if end == "onset" and settings.onset else LONGEST
        says = "what so many matched events can be off,"
        yield Law(f"{prefix}.{end}", np.abs(total), "at most", most * n, says, most * n)
        yield Law(f"{prefix}.{end}_squares", squares, "at most", most**2 * n, f"{says} squared,", most**2 * n)
        # The mean of squares is at least the square of the mean; nothing is off where nothing is matched.
        says = f"the square of the sum, {end}, over the matched events,"
        mean = total * total / np.maximum(n, 1)
        yield Law(f"{prefix}.{end}_squares", squares, "at least", mean, says, mean)


def _ranking_laws(columns: Columns, reading: str, n_classes: int, settings: Settings) -> Iterator[Law]:
    """Yield the laws of sums over the segments of how classes are ordered in them."""
    prefix = f"ranking.{reading}"
    own = _below(columns, prefix)
    weight, n_cells = own["weight"], columns[evaluated_of("segment")]
    yield Law(f"{prefix}.weight", weight, "at least", 0.0)
    yield Law(f"{prefix}.weight", weight, "at most", n_cells, "the number of segments of the file", weight)
    largest = {
        "coverage": float(n_classes),
        "misordered": n_classes * (n_classes - 1) / 2,
        "cross_entropy": n_classes * -math.log(settings.epsilon),
        "distance": float(n_classes),
    }
    for name in (*SUMS[1:], *(CUT_SUMS if reading == "hard" else ())):
        most = largest.get(name, 1.0) * weight
        least = weight if name == "coverage" else 0.0
        says = "what segments of this weight can add, each at its most,"
        yield Law(f"{prefix}.{name}", own[name], "at least", least, scale=most)
        yield Law(f"{prefix}.{name}", own[name], "at most", most, says, most)
    if reading == "hard":
        heavy = weight[:, None]
        for name, most, says in (
            ("n_ref", heavy, "the weight of the segments"),
            ("prefix", heavy, "the weight of the segments"),
            ("prefix_hits", own["prefix"], "what is in the prefix"),
            ("prefix_hits", own["n_ref"], "N_ref"),
        ):
            yield Law(f"{prefix}.{name}", own[name], "at least", 0.0)
            yield Law(f"{prefix}.{name}", own[name], "at most", most, says, own[name])
        # Each segment's prefix has as many places as it has active classes.
        places, active = own["prefix"].sum(axis=1), own["n_ref"].sum(axis=1)
        yield Law(
            f"{prefix}.prefix", places, "", active, "in all classes together, as many as N_ref,", active
        )
