"""Thresholds found by trying all of them, and systems cut at them by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.measures.thresholds import threshold_between
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable, Origin

BASES = ("segment", "clip", "event", "intersection")
LABELS = ("car", "dog", "talk")
FILES = ("a", "b", "c", "d", "e")
FRAMES = 10
LEVELS = 8
"""Values are multiples of 1 / LEVELS, so that many are equal."""

ALL = Settings(classes=LABELS, only=BASES, onset_collar=1.0, offset_collar=1.0)
GAPS = [(level + 0.5) / LEVELS for level in range(LEVELS)]
"""Between all values."""


def frames(values: np.ndarray, name: str) -> EventTable:
    """Return rows of one second each, from values of shape (n_files, FRAMES, n_classes)."""
    onset = np.tile(np.arange(FRAMES, dtype=np.float64), len(values))
    file = np.repeat(np.arange(len(values), dtype=np.int32), FRAMES)
    columns = tuple(np.ascontiguousarray(column) for column in values.reshape(-1, len(LABELS)).T)
    return EventTable(FILES, LABELS, file, onset, onset + 1, columns, Origin(name))


def sides(seed: int) -> tuple[EventTable, EventTable]:
    """Return a reference, and a system that knows something of it, better in some classes than in others."""
    rng = np.random.default_rng(seed)
    shape = len(FILES), FRAMES, len(LABELS)
    sounding = np.repeat(rng.integers(0, LEVELS + 1, (shape[0], FRAMES // 2, shape[2])), 2, axis=1)
    reference = sounding * (rng.random(shape) < 0.8)
    noise = rng.integers(-3, 4, shape) * (rng.random(shape) < 0.5) - np.array([0, 2, 3])
    system = np.clip(reference + noise, 0, LEVELS) * (rng.random(shape) < 0.9)
    return frames(reference / LEVELS, "reference"), frames(system / LEVELS, "system")


def some(rows: EventTable, files: Sequence[str]) -> EventTable:
    """Return the rows of some files; no others are declared."""
    chosen = tuple(name for name in rows.files if name in files)
    table = rows.take(np.flatnonzero(np.isin(rows.file, [rows.files.index(name) for name in chosen])))
    file = np.array([chosen.index(rows.files[code]) for code in table.file], dtype=np.int32)
    return replace(table, files=chosen, file=file)


def cut(
    rows: EventTable, thresholds: Mapping[str, Mapping[str, float]], *, inclusive: bool = False
) -> EventTable:
    """Return a system that is 1 where a value is active, 0 elsewhere; thresholds: by file and class."""
    own = np.array([[thresholds[file][label] for label in LABELS] for file in rows.files])[rows.file]
    values = np.stack(rows.values, axis=1)
    active = values >= own if inclusive else values > own
    return replace(rows, values=tuple(np.ascontiguousarray(c, dtype=np.float64) for c in active.T))


def counts(scores: Mapping[str, float], stem: str, label: str) -> tuple[int, int, int]:
    return tuple(int(scores[f"{stem}.{name}[{label}]"]) for name in ("tp", "n_sys", "n_ref"))


def merit(counted: tuple[int, int, int], objective: str, beta: float) -> Fraction:
    """Return F, or how far the errors are below none at all."""
    tp, n_sys, n_ref = counted
    if objective.endswith("error_rate"):
        return Fraction(2 * tp - n_sys - n_ref, n_ref)
    square = Fraction(beta) ** 2
    return (1 + square) * tp / (n_sys + square * n_ref)


def best(
    reference: EventTable, system: EventTable, objective: str, settings: Settings
) -> dict[str, tuple[float, Fraction] | None]:
    """Return the highest of the best thresholds of each class and its merit, None without reference.

    It is where the package has it between two neighbours among the values that count; 1.5 is above all.
    """
    basis = objective.partition(".")[0]
    cells = basis in ("segment", "clip")
    # Events are of what has values: below all of them only segments and clips have more.
    tried = [1.5, *reversed(GAPS), *([-1.0] if cells else [])]
    names = ("segment_length", "events", "onset_collar", "offset_collar", "min_gap", "min_duration")
    of = replace(Settings(), reference_threshold=settings.reference_cut, inclusive=settings.inclusive)
    of = replace(of, **{name: getattr(settings, name) for name in (*names, "median_filter", "classes")})
    reached: dict[str, list[tuple[Fraction, int]]] = {label: [] for label in LABELS}
    for threshold in tried:
        at = of
        if of.inclusive and threshold < 0:
            # Below 0 silence passes, whether thresholds do or not: the reference keeps its own rule.
            at = replace(of, inclusive=False, reference_threshold=math.nextafter(of.reference_cut, 0.0))
        at = replace(at, threshold=threshold, only=(basis,))
        scores = evaluate_rows(reference, system, at)
        # What counts of events changes where a frame of them does.
        fine = replace(at, only=("segment",), segment_length=1.0)
        active = scores if cells else evaluate_rows(reference, system, fine)
        for label in LABELS:
            counted = counts(scores, f"{basis}.hard", label)
            n_active = int(active[f"{basis if cells else 'segment'}.hard.n_sys[{label}]"])
            if counted[2]:
                reached[label].append((merit(counted, objective, settings.beta), n_active))
    highest = {label: _highest(tried, of_class, settings.inclusive) for label, of_class in reached.items()}
    if basis != "intersection":
        return highest
    # Counts of intersections stay as they are over several values, and where is for that reading to say.
    optimal = evaluate_rows(reference, system, replace(of, beta=settings.beta, only=("intersection",)))
    measure = "threshold" if objective.endswith("f1") else "best_error_rate_threshold"
    thresholds = {label: optimal[f"intersection.optimal.{measure}[{label}]"] for label in LABELS}
    return {label: of_class and (thresholds[label], of_class[1]) for label, of_class in highest.items()}


def _highest(
    tried: Sequence[float], reached: Sequence[tuple[Fraction, int]], inclusive: bool
) -> tuple[float, Fraction] | None:
    if not reached:
        return None
    most = max(own for own, _ in reached)
    active = next(count for own, count in reached if own == most)
    alike = [threshold for threshold, (_, count) in zip(tried, reached, strict=True) if count == active]
    if 1.5 in alike:
        return 1.5, most
    half = 0.5 / LEVELS
    low, high = (math.nan if -1.0 in alike else min(alike) - half), max(0.0, max(alike) + half)
    return float(threshold_between(low, high, inclusive)), most


def held_out(
    reference: EventTable, system: EventTable, folds: Mapping[str, str], objective: str, settings: Settings
) -> dict[str, dict[str, float]]:
    """Return thresholds by file and class: those best for the files of all other folds."""
    by_file = {}
    for fold in sorted(set(folds.values())):
        others = [file for file in FILES if folds[file] != fold]
        own = best(some(reference, others), some(system, others), objective, settings)
        row = {label: settings.threshold if of is None else of[0] for label, of in own.items()}
        by_file |= {file: row for file in FILES if folds[file] == fold}
    return by_file
