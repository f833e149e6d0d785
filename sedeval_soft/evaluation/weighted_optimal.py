"""Best thresholds of weighted files, and scores at them: of each weights anew, or at those of all files.

What depends on the files is sorted and matched once: TP and N_sys of all weights are weighted cumulative
sums. Only M, what is counted regardless of class, needs a look at all classes together at the thresholds that
are best: S = M - TP, D = N_ref - M, I = N_sys - M.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.evaluation.count import Columns as CountedColumns
from sedeval_soft.evaluation.count import columns_of, with_columns
from sedeval_soft.evaluation.optimal import (
    best_of,
    counts_at,
    error_rate_table,
    merits_of,
    optimal_scores,
    optimal_table,
    pooled_counts,
    satisficed,
)
from sedeval_soft.measures.base import Averaged, Table, Tables, WeightedTables
from sedeval_soft.measures.candidates import Candidates, joint_scores
from sedeval_soft.measures.detection import DetectionCounts, f_beta, totals
from sedeval_soft.measures.event import count_regardless
from sedeval_soft.measures.pairs import pair_rule
from sedeval_soft.measures.segment import sum_files
from sedeval_soft.measures.tally import Mixtures, Tally, cells_of
from sedeval_soft.plan import CELLS, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import distinct
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.ranges import expand
from sedeval_soft.timeline.recordings import positive

_CELLS = 1 << 18
"""Cells of some weights that are looked at together."""

_EVENTS = 1 << 20
"""Events that are matched at a time."""

_Regardless = Callable[[Floats, Index], Floats]
"""Returns M of weights, (n_weights,), at thresholds that pass so many levels, (n_weights, n_classes)."""

_POOLED = {"joint_threshold": "joint_f", "single_threshold": "single_f"}
"""The F of all classes together that thresholds are best for."""


def optimal_of_weights(
    tally: Tally, basis: str, classes: Sequence[Candidates], settings: Settings
) -> WeightedTables:
    """Return what gives the optimal reading of a basis, each weights at best thresholds of their own.

    classes: the candidates of each class.
    """
    owner, pooled = np.arange(len(tally.files)), list[Candidates]()
    if "joint" in settings.measures:
        pooled.append(Candidates.of(pooled_counts(tally, basis, settings, owner)))
    inclusive, size = settings.inclusive, sum(len(own.value) for own in classes)
    levels = [distinct(own.table.level) for own in classes]
    regardless: _Regardless | None = None
    if basis in CELLS:
        regardless = _paired_cells(tally, basis, levels, settings)
    elif basis == "event":
        regardless = _paired_events(tally, levels, settings)
    under = satisficed(tally, basis, settings, owner) if settings.satisfice else None

    def tables(weights: Floats) -> Tables:
        of_classes = for_each(partial(best_of, weights, basis, settings), classes, len(weights) * size)
        shape = len(classes), len(merits_of(basis, settings)), 4, len(weights)
        by_f, *rest = np.ascontiguousarray(np.moveaxis(np.reshape(of_classes, shape), 0, -1))
        tp, n_sys, n_ref, thresholds = by_f
        tp_all, sys_all, ref_all = (column.sum(axis=1) for column in (tp, n_sys, n_ref))
        m = tp_all
        if regardless is not None:
            passed = np.zeros(thresholds.shape, dtype=np.int64)
            for c, of_class in enumerate(levels):
                passed[:, c] = np.searchsorted(of_class, thresholds[:, c], "left" if inclusive else "right")
            m = regardless(weights, passed)
        counts = DetectionCounts(tp, n_ref, n_sys, m - tp_all, ref_all - m, sys_all - m)
        table = optimal_table(counts, thresholds, settings)
        for every in pooled:
            table |= joint_scores(classes, every, weights, settings.beta, inclusive=inclusive)
        for fewest in rest:
            table |= error_rate_table(*fewest)
        if under is not None:
            table |= under(weights)
        return {(basis, "optimal"): table}

    return tables


def _paired_cells(tally: Tally, basis: str, levels: Sequence[Floats], settings: Settings) -> _Regardless:
    """Return what counts the classes of a cell that are paired, whichever they are."""
    scores = tally.samples[f"{basis}.system"]
    sizes = positive(tally.samples[f"{basis}.reference"], settings).sum(axis=0)
    # Only where the reference has something can anything be paired with it.
    sounding = np.flatnonzero(sizes)
    n_ref = sizes[sounding].astype(np.min_scalar_type(max(len(levels), 1)))
    start = np.searchsorted(sounding, np.append(0, np.cumsum(tally.per_file[cells_of(basis)])))
    # How many levels are up to each cell: small numbers are compared fast.
    small = np.min_scalar_type(max(map(len, levels), default=0))
    place = np.zeros((len(levels), len(sounding)), dtype=small)
    for c, of_class in enumerate(levels):
        place[c] = np.searchsorted(of_class, scores[c, sounding], side="right")

    def regardless(weights: Floats, passed: Index) -> Floats:
        at, rows = passed.astype(small), max(1, _CELLS // max(len(sounding), 1))

        def count(begin: int) -> Floats:
            n_sys = np.zeros((len(weights[begin : begin + rows]), len(sounding)), dtype=n_ref.dtype)
            for c, of_class in enumerate(place):
                n_sys += of_class > at[begin : begin + rows, c, None]
            pairs = sum_files(np.minimum(n_sys, n_ref, out=n_sys), start, np.int64)
            counts: Floats = np.einsum("ij,ij->i", weights[begin : begin + rows], pairs)
            return counts

        return np.concatenate(
            for_each(count, range(0, max(len(weights), 1), rows), place.size * len(weights))
        )

    return regardless


def _paired_events(tally: Tally, levels: Sequence[Floats], settings: Settings) -> _Regardless:
    """Return what counts the events that are matched regardless of class."""
    rule, files = pair_rule(settings), np.arange(len(tally.files))
    sides = [tally.events[side] for side in ("reference", "system")]
    reference, system = (side.take(np.argsort(side.file, kind="stable")) for side in sides)
    starts = [np.searchsorted(side.file, np.arange(len(files) + 1)) for side in (reference, system)]
    step = max(1, _EVENTS // int(np.add(*map(np.diff, starts)).max(initial=1)))
    # How many levels a threshold passes, at the least and at fewer than the last, where an event exists.
    born, dies = np.zeros((2, len(system)), dtype=np.int64)
    for c, of_class in enumerate(levels):
        mine = system.label == c
        for ranks, values in ((born, system.born), (dies, system.dies)):
            ranks[mine] = np.searchsorted(of_class, values[mine], side="right")

    def states(passed: Index) -> Index:
        """Return numbers that are equal where the same events of a file exist, (n_files, n_weights)."""
        state = np.repeat(files[:, None], len(passed), axis=1)
        for c in range(len(levels)):
            mine = system.label == c
            n, owner = int(dies[mine].max(initial=0)) + 1, system.file[mine].astype(np.int64)
            # Between two of them nothing changes in a file.
            changes = np.unique([owner * n + ends[mine] for ends in (born, dies)])
            ranks, rank = np.unique(passed[:, c], return_inverse=True)
            at = np.searchsorted(changes, files[:, None] * n + np.minimum(ranks, n - 1), side="right")
            number = state * (len(changes) + 1) + at.take(rank, axis=1)
            state = np.unique(number, return_inverse=True)[1].reshape(number.shape)
        return state

    def regardless(weights: Floats, passed: Index) -> Floats:
        # The same events of a file exist at many thresholds: each such state is matched once.
        _, example, back = np.unique(states(passed), return_index=True, return_inverse=True)
        file, row = np.divmod(example, len(passed))
        pairs = np.zeros(len(example))
        for begin in range(0, len(example), step):
            some = slice(begin, begin + step)
            (owner, mine), (other, at_all) = (
                expand(start[file[some]], start[file[some] + 1]) for start in starts
            )
            rank = passed[row[some][other], system.label[at_all]]
            alive = (born[at_all] <= rank) & (rank < dies[at_all])
            ours, theirs = (
                replace(side.take(chosen), file=of.astype(np.int32)).events()
                for side, chosen, of in ((reference, mine, owner), (system, at_all[alive], other[alive]))
            )
            pairs[some] = count_regardless(ours, theirs, len(file[some]), rule)
        total: Floats = (weights * pairs[back].reshape(len(files), len(passed)).T).sum(axis=1)
        return total

    return regardless


# Scores at thresholds that are kept.


def with_fixed(tally: Tally, settings: Settings) -> tuple[Tally, Tables]:
    """Return the optimal readings of all files, and a tally with what is counted at their thresholds."""
    columns: CountedColumns = {}
    families = Plan.of(settings).thresholded
    fixed: Tables = {family: optimal_scores(tally, family[0], settings) for family in families}
    for (basis, _), best in fixed.items():
        for use, thresholds in _thresholds(best, len(tally.classes)).items():
            columns |= columns_of(f"{basis}.{use}", counts_at(tally, basis, thresholds, settings))
    return with_columns(tally, columns), fixed


def fixed_of_weights(tally: Tally, settings: Settings, fixed: Tables) -> WeightedTables:
    """Return what gives the optimal readings at thresholds of all files.

    fixed: what these have there, as `with_fixed` returns it beside the tally.
    """

    def tables(weights: Floats) -> Tables:
        sums = tally.mixtures(lambda column: weights @ column)
        return {family: _fixed_table(family[0], best, sums, settings) for family, best in fixed.items()}

    return tables


def _fixed_table(basis: str, best: Table, sums: Mixtures, settings: Settings) -> Table:
    """Return the scores of weighted files at thresholds of all files, whose own table is `best`."""
    uses = _thresholds(best, len(sums.classes))
    counts = {use: totals(sums, f"{basis}.{use}") for use in uses}
    table = optimal_table(counts["threshold"], uses["threshold"], settings)
    for use, total in counts.items():
        if use == "best_error_rate_threshold":
            table |= error_rate_table(total.tp, total.n_sys, total.n_ref, uses[use])
        elif use in _POOLED:
            tp, n_ref, n_sys = (column.sum(axis=-1) for column in (total.tp, total.n_ref, total.n_sys))
            f = np.where(n_ref > 0, f_beta(tp, n_ref, n_sys, settings.beta), np.nan)
            table |= {_POOLED[use]: Averaged(None, overall=f), use: best[use]}
    return table


def _thresholds(best: Table, n_classes: int) -> dict[str, Floats]:
    """Return the thresholds of a table, (n_classes,), by what they are best for; NaN where none is."""
    thresholds = {}
    for use in ("threshold", "best_error_rate_threshold", *_POOLED):
        if use in best:
            # One may be for all classes.
            values = np.asarray(best[use].overall if best[use].classes is None else best[use].classes)
            thresholds[use] = np.broadcast_to(values, n_classes)
    return thresholds
