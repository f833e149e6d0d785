"""`--set compat=sed_eval`: the hard reading with the floats and NaN rules of sed_eval 0.2.1.

Differences from our rules, all of them read in its source:

- Segments start at floor(onset / length) and end at ceil(offset / length) in floats, so that at 0.1 s a third
  of the onsets on the grid begin one segment early. An event without extent off the grid is active in one
  segment.
- Collars are compared in floats: 0.9 s against 1.1 s at 0.2 s is a miss.
- Substitutions of events: unmatched events are paired in reference order, whatever the class. With optimal
  matching their number depends on the choice of the maximum matching, so sed_eval's choice is used.
- F is NaN (undefined) if precision or recall is; 2.2e-16 is added to denominators elsewhere, so that the
  error rate of a class without reference is 0, or 4.5e15 per false alarm.
- Macro averages are the mean over classes of the values that are not NaN: classes without reference count in
  error rates and sensitivity, classes never detected are left out of F. With event-based scores precision
  without any detection is 0 (`empty_system_output_handling="zero_score"`).
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index
from sedeval_soft.measures.base import Averaged, Table, mean_of
from sedeval_soft.measures.detection import DetectionCounts, count_scores
from sedeval_soft.measures.event import count_per_class, file_class
from sedeval_soft.measures.matching import Collars, PairCandidates, first_free_matching
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.regions import Regions

_EPS = np.spacing(1)


def grid_start(length: Floats, segment_length: float) -> Index:
    """Return the first segment of each file and the end of the last, (n_files + 1,).

    length: (n_files,) evaluated seconds.
    """
    n_segments = np.ceil(length * 1 / segment_length).astype(np.int64)
    return np.concatenate(([0], np.cumsum(n_segments)))


def runs_on_roll(events: Events, start: Index, segment_length: float) -> Regions:
    """Return the runs of segments that are active on sed_eval's event roll."""
    first = np.floor(events.onset_seconds * 1 / segment_length).astype(np.int64)
    last = np.ceil(events.offset_seconds * 1 / segment_length).astype(np.int64)
    end = np.diff(start)[events.file]
    base = start[events.file]
    return Regions.of(events.label, base + np.minimum(first, end), base + np.minimum(last, end))


def count_events(
    reference: Events, system: Events, n_files: int, n_classes: int, settings: Settings
) -> DetectionCounts:
    """Count matched events as sed_eval does."""
    match = match_events(reference, system, n_classes, settings)
    taken = np.zeros(len(system), dtype=bool)
    taken[match[match >= 0]] = True
    files = (reference.file.astype(np.int64), system.file.astype(np.int64))
    left, right = candidates(reference, system, *files, settings)
    open_edges = (match[left] < 0) & ~taken[right]
    leftover = first_free_matching(left[open_edges], right[open_edges], len(reference), len(system))
    substituted = np.bincount(reference.file[leftover >= 0], minlength=n_files).astype(np.int64)
    tp, n_ref, n_sys = (
        count_per_class(events, n_files, n_classes)
        for events in (reference.take(match >= 0), reference, system)
    )
    found = tp.sum(axis=1) + substituted
    missed, invented = n_ref.sum(axis=1) - found, n_sys.sum(axis=1) - found
    return DetectionCounts(tp, n_ref, n_sys, substituted, missed, invented)


def match_events(reference: Events, system: Events, n_classes: int, settings: Settings) -> Index:
    """Match events of one file and class as sed_eval does; return the partners, (n_ref,), -1 for none."""
    groups = file_class(reference, n_classes), file_class(system, n_classes)
    left, right = candidates(reference, system, *groups, settings)
    if settings.matching == "greedy":
        return first_free_matching(left, right, len(reference), len(system))
    return _their_maximum_matching(left, right, len(reference))


def candidates(
    reference: Events, system: Events, reference_group: Index, system_group: Index, settings: Settings
) -> tuple[Index, Index]:
    """Return the pairs of events of one group that sed_eval lets match: collars are compared as floats."""
    # Rounding to ticks moves a difference by one tick at most: two more ticks lose no candidate.
    wide = replace(Collars.of(settings), slack=2)
    near = PairCandidates.of(reference, system, (reference_group, system_group), wide)
    left, right = near.pairs()
    kept = np.ones(len(left), dtype=bool)
    if settings.onset:
        off = np.abs(reference.onset_seconds[left] - system.onset_seconds[right])
        kept &= off <= settings.onset_collar
    if settings.offset:
        annotated = reference.offset_seconds[left] - reference.onset_seconds[left]
        off = np.abs(reference.offset_seconds[left] - system.offset_seconds[right])
        kept &= off <= np.maximum(settings.offset_collar, settings.offset_collar_rate * annotated)
    return left[kept], right[kept]


def _their_maximum_matching(left: Index, right: Index, n_left: int) -> Index:
    """Return the maximum matching that sed_eval finds: its leftovers make its substitutions.

    Edges whose ends have no other are matched in any case; only the rest goes through their code.
    """
    match = np.full(n_left, -1, dtype=np.int64)
    if not len(left):
        return match
    alone = (np.bincount(left)[left] == 1) & (np.bincount(right)[right] == 1)
    match[left[alone]] = right[alone]
    graph: dict[int, list[int]] = {}
    for reference_event, system_event in zip(left[~alone].tolist(), right[~alone].tolist(), strict=True):
        graph.setdefault(system_event, []).append(reference_event)
    if graph:
        with warnings.catch_warnings():
            # Users cannot fix warnings between its packages.
            warnings.simplefilter("ignore")
            from sed_eval.util import bipartite_match
        for reference_event, system_event in bipartite_match(graph).items():
            match[reference_event] = system_event
    return match


def hard_scores(counts: DetectionCounts, n_segments: Array | None = None) -> Table:
    """Return the hard scores by sed_eval's formulas.

    counts: totals over files. n_segments: number of segments for segment-based scores, None for
    event-based ones. Values of averages that sed_eval does not have (weighted) leave NaN out.
    """
    tp, n_ref, n_sys = (column.astype(np.float64) for column in (counts.tp, counts.n_ref, counts.n_sys))
    tn = None if n_segments is None else np.asarray(n_segments)[..., None] - n_ref - n_sys + tp
    errors = counts.substitutions, counts.deletions, counts.insertions
    hits, all_ref, all_sys = (np.asarray(column.sum(axis=-1)) for column in (tp, n_ref, n_sys))
    classes = _scores(tp, n_ref, n_sys, tn, (np.zeros_like(tp), n_ref - tp, n_sys - tp))
    overall = _scores(hits, all_ref, all_sys, None if tn is None else tn.sum(axis=-1), errors)
    scores = {}
    for name, values in classes.items():
        macro, by_reference = (mean_of("mean", values, weight) for weight in (np.ones_like(n_ref), n_ref))
        scores[name] = Averaged(values, overall[name], macro, by_reference)
    scores["substitution_rate"] = Averaged(None, overall["substitution_rate"])
    return scores | count_scores(counts)


def _scores(
    tp: Array, n_ref: Array, n_sys: Array, tn: Array | None, errors: tuple[Array, Array, Array]
) -> dict[str, Array]:
    """Return their scores by name; tn: true negatives of segments, None for events.

    errors: substitutions, deletions and insertions.
    """
    precision = _divide(tp, n_sys, 0.0 if tn is None else np.nan)
    recall = _divide(tp, n_ref, np.nan)
    rates = [part / (n_ref + _EPS) for part in errors]
    scores = {
        "precision": precision,
        "recall": recall,
        "f1": _divide(2.0 * precision * recall, precision + recall, 0.0),
        "error_rate": rates[0] + rates[1] + rates[2],
        "substitution_rate": rates[0],
        "deletion_rate": rates[1],
        "insertion_rate": rates[2],
    }
    if tn is not None:
        fn, fp = n_ref - tp, n_sys - tp
        sensitivity, specificity = tp / (tp + fn + _EPS), tn / (tn + fp + _EPS)
        scores |= {
            "sensitivity": sensitivity,
            "specificity": specificity,
            "balanced_accuracy": (1 - 0.5) * sensitivity + 0.5 * specificity,
            "accuracy": (tp + tn) / (tp + tn + fn + fp + _EPS),
        }
    return scores


def _divide(numerator: Array, denominator: Array, otherwise: float) -> Floats:
    top, bottom = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    quotient: Floats = np.divide(top, bottom, out=np.full(np.shape(bottom), otherwise), where=bottom != 0)
    return quotient
