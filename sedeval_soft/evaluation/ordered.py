"""Scores that need all values in order: curves, calibration and correlation of cells, precisions of events.

They are of files with weights: how often each counts. Every file has an owner, a number. What the files of
one owner count is added up first, and weights are of owners: for the scores of all files there is one owner,
which counts once; for replicates each file is an owner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.evaluation.count import evaluated_cells
from sedeval_soft.measures.base import Averaged, Table, Tables, WeightedTables, averaged
from sedeval_soft.measures.calibration import BinCounts
from sedeval_soft.measures.correlations import Moments, RankCounts
from sedeval_soft.measures.curve_scores import CurveCounts, Units, d_primes
from sedeval_soft.measures.divergence import MISSING, ROUNDING, Logarithms
from sedeval_soft.measures.event_precision import Detections, weighted_precisions
from sedeval_soft.measures.tally import Tally, cells_of, evaluated_of
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import in_order
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.recordings import positive

Cut = Callable[[Array], Array]
"""What is done to reference values first: nothing, or binarising them."""

_Measures = Callable[[Floats], Mapping[str, Floats]]
"""Returns measures of weighted files by name, (n_weights,) each."""


def cut_of(reading: str, settings: Settings) -> Cut:
    """Return what a reading does to reference values."""
    return (lambda values: values) if reading == "soft" else (lambda values: positive(values, settings))


def cell_tables(tally: Tally, basis: str, settings: Settings, owner: Index) -> WeightedTables:
    """Return what gives the tables of a basis, `segment` or `clip`, that need all cells in order.

    owner: (n_files,) numbers from 0. Weights are (n_weights, n_owners).
    """
    plan, n_owners, n_classes = Plan.of(settings), int(owner.max(initial=0)) + 1, len(tally.classes)
    reference, system = (tally.samples[f"{basis}.{side}"] for side in ("reference", "system"))
    lengths = tally.per_file[cells_of(basis)]
    inside = evaluated_cells(lengths, tally.per_file[evaluated_of(basis)])
    if inside is None:
        inside = np.ones(reference.shape[1], dtype=bool)
    file = np.repeat(owner.astype(np.int32), lengths)
    # The cells of each class, and of all together, of which those that others expect count for most.
    expected = (inside & tally.is_expected[:, None]).reshape(-1)
    parts = [(ours, theirs, file, inside) for ours, theirs in zip(reference, system, strict=True)]
    parts.append((reference.reshape(-1), system.reshape(-1), np.tile(file, n_classes), expected))
    of_classes, measured, sizes = [Units.of(row) for row in reference], {}, {}
    for reading in ("hard", "soft"):
        if plan.scores(basis, reading):
            cut, units = cut_of(reading, settings), [Units()] * len(parts)
            if reading == "soft":
                units = [*of_classes, Units.common(of_classes, reference.size)]
            measured[reading] = [
                _measures(cut(part[0]), *part[1:], n_owners, unit, reading, plan)
                for part, unit in zip(parts, units, strict=True)
            ]
            sums = [np.bincount(file, y, n_owners) for y in cut(reference) * inside]
            sizes[reading] = np.reshape(sums, (n_classes, n_owners)).T

    def tables(weights: Floats) -> Tables:
        return {
            (basis, reading): _table(of_parts, weights, weights @ sizes[reading], reference.size)
            for reading, of_parts in measured.items()
        }

    return tables


def _measures(
    reference: Array, system: Floats, file: Array, inside: Bools, n_owners: int, units: Units, reading: str,
    plan: Plan,
) -> list[_Measures]:  # fmt: skip
    """Return what gives the measures of some cells, (n,) each.

    inside: which of them are evaluated; others are false alarms in average precisions, and in nothing else.
    """
    settings, measures = plan.settings, list[_Measures]()
    if plan.asks_for("curves"):
        order = in_order(system)[1][::-1]
        p, y, of = (column[order] for column in (system, reference, file))
        curve = CurveCounts.of(p, y, of, n_owners, units, inside[order])
        measures.append(partial(curve.scores, rates=(settings.max_fpr, settings.max_fnr)))
    y, p, file = (column[inside] for column in (reference, system, file))
    if plan.asks_for("calibration"):
        measures.append(BinCounts.of(p, y, file, n_owners, settings.bins).scores)
    if reading == "soft" and plan.asks_for("divergence"):
        measures.append(RankCounts.of(y, p, file, n_owners).scores)
        measures.append(Moments.of("pearson", (y, p), file, n_owners).scores)
        entropies = Logarithms.of(y).entropy(), Logarithms.of(p).entropy()
        measures.append(Moments.of("entropy_correlation", entropies, file, n_owners, ROUNDING).scores)
    return measures


def _table(parts: Sequence[Sequence[_Measures]], weights: Floats, n_ref: Floats, size: int) -> Table:
    """Return the measures of each class and of all cells, which come last, with their averages."""
    pairs = [(k, each) for k, own in enumerate(parts) for each in own]
    values: list[dict[str, Floats]] = [{} for _ in parts]
    columns = for_each(lambda pair: pair[1](weights), pairs, size * len(weights))
    for (k, _), own in zip(pairs, columns, strict=True):
        values[k] |= own
    *classes, pooled = values
    shape = len(classes), len(weights)
    table = {
        name: averaged(np.reshape([own[name] for own in classes], shape).T, micro, n_ref, MISSING.get(name))
        for name, micro in pooled.items()
    }
    if "d_prime" in table:
        # An area of 1 has no d' to average: averages are those of the average areas.
        area = table["roc_auc"]
        micro, macro, weighted = (
            d_primes(np.asarray(mean)) for mean in (area.micro, area.macro, area.weighted)
        )
        table["d_prime"] = Averaged(table["d_prime"].classes, micro, macro, weighted)
    return table


def event_tables(tally: Tally, settings: Settings, owner: Index) -> WeightedTables:
    """Return what gives the average precisions of events, ranked by value; owner: as above."""
    detections = Detections.of(tally.events["system"], settings.threshold, settings.inclusive)
    # Of equal overlaps the earlier event is taken, which must not be that of the earlier row.
    reference = tally.events["reference"].events().in_order()
    precisions = weighted_precisions(reference, detections, owner, len(tally.classes), settings.iou)
    return lambda weights: {("event", "hard"): precisions(weights)}
