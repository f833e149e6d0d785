"""Best thresholds of a tally, and its counts and scores at these, or at given thresholds.

The optimal reading has the best threshold of each class, the jointly best ones, or the best ones under a
constraint. The tuned reading has thresholds that were given, or are best for other files: thresholds of a
fold are best with the weight of its own files 0. `tune` finds thresholds to be used on other data.

If all files count the same, they are counted as one: values are sorted without their files.

Best thresholds of weighted files, and scores at them: found anew for each weights, or kept from all files.

Data of the files are sorted and matched once: TP and N_sys of all weights are weighted cumulative sums. Only
M, the count regardless of class, needs all classes together at the best thresholds: S = M - TP, D = N_ref -
M, I = N_sys - M.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index, distinct, for_each
from sedeval_soft.errors import EvaluationError, be, counted
from sedeval_soft.evaluation.count import Columns, columns_of, with_columns
from sedeval_soft.measures.base import Averaged, Table, Tables, WeightedTables, averaged, ratio
from sedeval_soft.measures.detection import DetectionCounts, detection_scores, f_beta, totals
from sedeval_soft.measures.event import (
    count_events,
    count_per_class,
    count_regardless,
    file_class,
    match_lifetimes,
)
from sedeval_soft.measures.matching import PairRule, naming, pair_rule
from sedeval_soft.measures.segment import count_hard, sum_files
from sedeval_soft.measures.tally import Tally, blocks, cells_of
from sedeval_soft.measures.thresholds import (
    N_SYS,
    PAIRED,
    TP,
    Alive,
    Candidates,
    Lives,
    Merit,
    ThresholdCounts,
    error_merit,
    f_merit,
    joint_scores,
    satisficed_scores,
    threshold_between,
)
from sedeval_soft.plan import CELLS, Plan
from sedeval_soft.settings import BASES, NEVER, Constraint, Settings, Thresholds
from sedeval_soft.timeline.events import EventLifetimes, Events, active
from sedeval_soft.timeline.recordings import positive

Best = tuple[Floats, DetectionCounts]
"""Results of `Candidates.best` for each class, and the counts of each file at the thresholds of the best
F."""


def best_counts(tally: Tally, basis: str, settings: Settings) -> Best:
    """Return the best threshold of each class, and the counts at it."""
    once, merits, inclusive = np.ones((1, 1)), merits_of(basis, settings), settings.inclusive
    of_classes = threshold_counts(
        tally, basis, settings, as_one(tally),
        lambda counts: Candidates.of(counts).best(once, merits, inclusive=inclusive),
    )  # fmt: skip
    best = np.reshape(of_classes, (len(tally.classes), len(merits), 6))
    return best, counts_at(tally, basis, best[:, 0, 3], settings)


def merits_of(basis: str, settings: Settings) -> list[Merit]:
    """Return the merits of thresholds of a basis: the highest F, for events also the fewest errors."""
    return [f_merit(settings.beta), *(() if basis in CELLS else (error_merit,))]


def optimal_scores(tally: Tally, basis: str, settings: Settings, best: Best | None = None) -> Table:
    """Return the scores at each class's best threshold, and at jointly or constrained best thresholds.

    best: the result of `best_counts`; None to compute it.
    """
    of_classes, counts = best or best_counts(tally, basis, settings)
    # The thresholds of classes without detections are NaN.
    scores = detection_scores(counts.total(), settings.beta) | {"threshold": Averaged(of_classes[:, 0, 3])}
    for fewest in of_classes.swapaxes(0, 1)[1:]:
        scores |= error_rate_table(*fewest.T[:4])
    if "joint" in settings.measures or settings.satisfice:
        others = others_of(tally, basis, settings, as_one(tally))(np.ones((1, 1)))
        scores |= {name: values.first() for name, values in others.items()}
    return scores


def error_rate_table(tp: Array, n_sys: Array, n_ref: Array, thresholds: Floats) -> Table:
    """Return the lowest error rates of counts, and their class-wise thresholds; (..., n_classes) each.

    Micro pools the counts at the thresholds that give them.
    """
    present = n_ref > 0
    errors = np.where(present, n_ref + n_sys - 2 * tp, 0)
    micro = ratio(errors.sum(axis=-1), n_ref.sum(axis=-1))
    return {
        "best_error_rate": averaged(ratio(errors, n_ref), micro, n_ref),
        "best_error_rate_threshold": Averaged(thresholds),
    }


def counts_at(tally: Tally, basis: str, thresholds: Floats, settings: Settings) -> DetectionCounts:
    """Return the counts of each file at a threshold of each class, (n_classes,), NaN for never."""
    if basis in CELLS:
        scores, hits, lengths = _cells(tally, basis, settings)
        detections = active(scores, thresholds[:, None], settings.inclusive)
        return count_hard(hits, detections, np.append(0, np.cumsum(lengths)))
    reference, system = tally.events["reference"].events(), tally.system(basis)
    alive = system.take(system.alive(thresholds[system.label], settings.inclusive)).events()
    sizes = len(tally.files), len(tally.classes)
    if basis == "event":
        return count_events(reference, alive, *sizes, pair_rule(settings))
    from sedeval_soft.measures.intersections import Criteria, count_intersections

    return count_intersections(reference, alive, *sizes, Criteria.of(settings))


# Counts at every threshold, and candidates, of which weighted files choose.


def as_one(tally: Tally) -> Index:
    """Return owners of files, (n_files,), with one owner for all files."""
    return np.zeros(len(tally.files), dtype=np.int32)


def threshold_counts(
    tally: Tally,
    basis: str,
    settings: Settings,
    owner: Index,
    make: Callable[[ThresholdCounts], Any] = lambda counts: counts,
) -> list[Any]:
    """Return a result made from the counts of each class at every threshold; of cells, one class at a time.

    owner: (n_files,) the owner of each file, numbers from 0: all files of an owner count as one file.
    """
    if basis not in CELLS:
        return [*map(make, ThresholdCounts.of_lives(*_lives_of_owners(tally, basis, settings, owner)))]
    scores, hits, lengths = _cells(tally, basis, settings)
    file, n_owners = np.repeat(owner.astype(np.int32), lengths), int(owner.max(initial=0)) + 1
    return for_each(
        lambda c: make(ThresholdCounts.of_cells(scores[c], hits[c], file, n_owners)),
        range(len(scores)),
        scores.size,
    )


def pooled_counts(
    tally: Tally, basis: str, settings: Settings, owner: Index, *, regardless: bool = False
) -> ThresholdCounts:
    """Return the counts of all classes as one at every threshold; owner: as for `threshold_counts`.

    regardless: whether pairs regardless of class are counted as well; intersections have none.
    """
    if basis not in CELLS:
        lives, n_ref = _lives_of_owners(tally, basis, settings, owner)
        every = [(alive._replace(label=np.zeros_like(alive.label)), rows) for alive, rows in lives]
        if regardless and basis == "event":
            pairs = paired_events(tally, settings)
            every.append((pairs._replace(file=owner[pairs.file]), (PAIRED,)))
        n_counts = 2 + (len(every) > len(lives))
        return ThresholdCounts.of_lives(every, n_ref.sum(axis=1, keepdims=True), n_counts)[0]
    scores, hits, lengths = _cells(tally, basis, settings)
    n_owners = int(owner.max(initial=0)) + 1
    file = np.tile(np.repeat(owner.astype(np.int32), lengths), len(scores))
    paired = _first_detected(scores, hits).reshape(-1) if regardless else None
    return ThresholdCounts.of_cells(scores.reshape(-1), hits.reshape(-1), file, n_owners, paired)


def _lives_of_owners(tally: Tally, basis: str, settings: Settings, owner: Index) -> tuple[Lives, Index]:
    """Return the lives of counts of an event basis, and the reference events, by owners of files."""
    sides = tally.events["reference"].events(), tally.system(basis)
    sizes = len(tally.files), len(tally.classes)
    if basis == "event":
        with naming(tally.files, tally.classes):
            lives, n_ref = events_when(*sides, *sizes, pair_rule(settings))
    else:
        from sedeval_soft.measures.intersections import Criteria, intersections_when

        lives, n_ref = intersections_when(*sides, *sizes, Criteria.of(settings))
    totals = np.zeros((int(owner.max(initial=0)) + 1, n_ref.shape[1]), dtype=n_ref.dtype)
    np.add.at(totals, owner, n_ref)
    return [(alive._replace(file=owner[alive.file]), rows) for alive, rows in lives], totals


def _cells(tally: Tally, basis: str, settings: Settings) -> tuple[Floats, Bools, Index]:
    """Return the scores of cells and whether they are positive, (n_classes, n_cells) each.

    Beside them, it returns the number of cells of each file.
    """
    sides = tally.samples[f"{basis}.system"], positive(tally.samples[f"{basis}.reference"], settings)
    return *sides, tally.per_file[cells_of(basis)]


def events_when(
    reference: Events, system: EventLifetimes, n_files: int, n_classes: int, rule: PairRule
) -> tuple[Lives, Index]:
    """Return the lives of matched and existing events by file, and the events, (n_files, n_classes)."""
    # The reference is there at all levels.
    ever = EventLifetimes.from_events(reference)
    groups = file_class(ever, n_classes), file_class(system, n_classes)
    group, level, change = match_lifetimes(ever, system, (groups,), rule)[0]
    # A change at a level counts with the opposite sign at all thresholds below. No threshold is below 0.
    some = level > 0
    file, label = np.divmod(group[some], n_classes)
    hits = Alive(label, file, np.zeros(len(file)), level[some], -change[some])
    alive = Alive(system.label, system.file, system.born, system.dies)
    return [(hits, (TP,)), (alive, (N_SYS,))], count_per_class(reference, n_files, n_classes)


def paired_events(tally: Tally, settings: Settings) -> Alive:
    """Return the number of pairs of events by file and threshold, regardless of class."""
    sides = (tally.events[name] for name in ("reference", "system"))
    reference, system = (replace(side, label=np.zeros_like(side.label), nested=False) for side in sides)
    with naming(tally.files, ()):
        lives, _ = events_when(reference.events(), system, len(tally.files), 1, pair_rule(settings))
    return lives[0][0]


def candidates_of(
    tally: Tally, basis: str, settings: Settings, owner: Index, *, every: bool = False
) -> list[Candidates]:
    """Return the candidate thresholds of each class; owner: as for `threshold_counts`.

    every: as for `Candidates.of`.
    """
    return threshold_counts(tally, basis, settings, owner, partial(Candidates.of, every=every))


def _first_detected(scores: Floats, hits: Bools) -> Bools:
    """Return which classes of a cell are detected first, of as many as are active in the reference.

    As the threshold falls, each of these detections makes one more pair in its cell, whatever its class.
    """
    n_ref = hits.sum(axis=0)
    sounding = np.flatnonzero(n_ref)
    order = np.argsort(-scores[:, sounding], axis=0)
    first = np.zeros_like(hits)
    rank, cell = np.nonzero(np.arange(len(scores))[:, None] < n_ref[sounding])
    first[order[rank, cell], sounding[cell]] = True
    return first


def others_of(
    tally: Tally, basis: str, settings: Settings, owner: Index, classes: Sequence[Candidates] = ()
) -> Callable[[Floats], Table]:
    """Return a function for the scores at thresholds that are best jointly, or under a constraint.

    owner: as for `threshold_counts`; the weights, (n_weights, n_owners), are of owners. classes: the
    candidates of each, if known.
    """
    joint, under = list[Candidates](), list[Candidates]()
    if "joint" in settings.measures:
        joint = [*(classes or candidates_of(tally, basis, settings, owner))]
        joint.append(Candidates.of(pooled_counts(tally, basis, settings, owner)))
    if settings.satisfice:
        regardless = Constraint.parse(settings.satisfice).counts_regardless
        # Any level may come nearest to a constraint: a precision of 0 is defined, the precision of no
        # detections is undefined.
        under = candidates_of(tally, basis, settings, owner, every=True)
        pooled = pooled_counts(tally, basis, settings, owner, regardless=regardless)
        under.append(Candidates.of(pooled, every=True))
    length = np.bincount(owner, tally.per_file["length"], 1).astype(np.int64)

    def scores(weights: Floats) -> Table:
        table = Table()
        if joint:
            table |= joint_scores(joint, weights, settings.beta, inclusive=settings.inclusive)
        return table | (satisficed_scores(under, weights, length, settings) if under else {})

    return scores


# The tuned reading, and the command `tune`.


def with_tuned(tally: Tally, settings: Settings, folds: Mapping[str, Sequence[str]]) -> Tally:
    """Return a tally with the counts of the tuned reading of all bases that are evaluated.

    folds: the files of each, if the settings tune over given folds.
    """
    columns: Columns = {}
    for basis in BASES:
        if not Plan.of(settings).scores(basis, "tuned"):
            continue
        tuned = tuned_thresholds(tally, basis, settings, folds)
        parts = [
            columns_of(f"{basis}.tuned", counts_at(tally.take(files), basis, thresholds, settings))
            for files, thresholds in tuned
        ]
        order = np.argsort(np.concatenate([files for files, _ in tuned]))
        columns |= {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}
    return with_columns(tally, columns)


def tuned_thresholds(
    tally: Tally, basis: str, settings: Settings, folds: Mapping[str, Sequence[str]]
) -> list[tuple[Index, Floats]]:
    """Return files, (n,), with their thresholds, (n_classes,): given ones, or the best of other folds.

    A class without reference in all other folds has the threshold of the settings.
    """
    if isinstance(settings.thresholds, dict):
        return [(np.arange(len(tally.files)), settings.given_thresholds(tally.classes))]
    parts = _fold_files(tally, settings, folds)
    weights = np.ones((len(parts), len(tally.files)))
    for row, files in zip(weights, parts, strict=True):
        row[files] = 0.0
    objective, merit = merit_of(settings.objective or f"{basis}.f1", settings.beta)
    thresholds = np.full((len(parts), len(tally.classes)), settings.threshold)
    candidates = candidates_of(tally, objective, settings, np.arange(len(tally.files)))
    for column, own in zip(thresholds.T, candidates, strict=True):
        _, _, n_ref, best, *_ = own.best(weights, [merit], inclusive=settings.inclusive)[0]
        column[n_ref > 0] = best[n_ref > 0]
    return list(zip(parts, thresholds, strict=True))


def _fold_files(tally: Tally, settings: Settings, folds: Mapping[str, Sequence[str]]) -> list[Index]:
    """Return the files of each fold: given ones, or the requested number of about equal size.

    Raises EvaluationError without folds, or for fewer files than folds.
    """
    if settings.cross_tune == "folds":
        if not folds:
            raise EvaluationError(
                "cross_tune=folds: there are no folds; expected a table of filename and fold"
            )
        position = {file: i for i, file in enumerate(tally.files)}
        parts = [[position[file] for file in files if file in position] for files in folds.values()]
        return [np.array(part, dtype=np.int64) for part in parts if part]
    count, n_files = int(settings.cross_tune or 0), len(tally.files)
    if n_files < count:
        raise EvaluationError(
            f"cross_tune={count}: there {be(n_files)} {counted(n_files, 'file')}; expected one or more for "
            f"each of {count} parts"
        )
    order = np.random.default_rng(settings.seed).permutation(n_files)
    return [np.sort(order[k::count]) for k in range(count)]


def merit_of(objective: str, beta: float) -> tuple[str, Merit]:
    """Return the basis whose counts thresholds are best for, and the merit of these counts."""
    basis, _, measure = objective.partition(".")
    return basis, f_merit(beta) if measure == "f1" else error_merit


def with_rule_followed(settings: Settings, tally: Tally) -> Settings:
    """Return settings with the thresholds computed by their rule, if they have one.

    `midpoint`: of the lowest and the highest score of a class. `prior`: as many segments pass as are active.
    """
    if not isinstance(settings.thresholds, str):
        return settings
    scores, hits, *_ = _cells(tally, "segment", settings)
    thresholds: Thresholds = {}
    for label, row, n in zip(tally.classes, np.sort(scores, axis=1), hits.sum(axis=1).tolist(), strict=True):
        above = row[row > 0]
        if len(above) and settings.thresholds == "midpoint":
            thresholds[label] = float(row[0] + row[-1]) / 2
        elif len(above) and n:
            # As few more as ties allow.
            high = above[max(len(above) - n, 0)]
            low = above[above < high].max(initial=0.0)
            thresholds[label] = threshold_between(float(low), float(high), settings.inclusive)
        else:
            thresholds[label] = NEVER
    return replace(settings, thresholds=thresholds)


def tune(tally: Tally, settings: Settings) -> dict[str, Any]:
    """Return the best threshold of each class for the objective of the settings, in the format of files.

    A class without reference has none; a class without detections at the best threshold has `never`. Beside
    them the result has, for each class, the size of its reference, its score, and the range of thresholds
    with the same counts.
    """
    objective = settings.objective or "segment.f1"
    basis, merit = merit_of(objective, settings.beta)
    thresholds, every = Thresholds(), np.ones((1, 1))
    classes: dict[str, dict[str, Any]] = {}
    every_class = threshold_counts(tally, basis, settings, as_one(tally))
    for label, counts in zip(tally.classes, every_class, strict=True):
        n_ref = counts.n_ref.sum()
        if not n_ref:
            classes[label] = {"n_ref": 0, "score": None, "as_good": [None, None]}
            continue
        (best,) = Candidates.of(counts).best(every, [merit], inclusive=settings.inclusive)
        (tp, n_sys, *_), (threshold, low, high) = best, best[3:, 0].tolist()
        thresholds[label] = NEVER if math.isnan(threshold) else threshold
        is_f = objective.endswith(".f1")
        score = f_beta(tp, n_ref, n_sys, settings.beta) if is_f else ratio(n_ref + n_sys - 2 * tp, n_ref)
        classes[label] = {
            "n_ref": int(n_ref),
            "score": score.item(),
            "as_good": [low, min(high, 1.0)],
        }
    return {
        "thresholds": thresholds,
        "objective": objective,
        "beta": settings.beta,
        "inclusive": settings.inclusive,
        "classes": classes,
    }


_Regardless = Callable[[Floats, Index], Floats]
"""Returns M of weights, (n_weights,); passed: the levels that thresholds pass, (n_weights, n_classes)."""

_POOLED = {"joint_threshold": "joint_f", "single_threshold": "single_f"}
"""The F of all classes together that thresholds are best for."""


def optimal_of_weights(
    tally: Tally, basis: str, classes: Sequence[Candidates], settings: Settings
) -> WeightedTables:
    """Return a function for the optimal reading of a basis, with the best thresholds of each weights.

    classes: the candidates of each class.
    """
    others = others_of(tally, basis, settings, np.arange(len(tally.files)), classes)
    inclusive, size = settings.inclusive, sum(len(own.value) for own in classes)
    merits = merits_of(basis, settings)
    levels = [distinct(own.table.level) for own in classes]
    regardless: _Regardless | None = None
    if basis in CELLS:
        regardless = _paired_cells(tally, basis, levels, settings)
    elif basis == "event":
        regardless = _paired_events(tally, levels, settings)

    def tables(weights: Floats) -> Tables:
        of_classes = for_each(
            lambda own: own.best(weights, merits, inclusive=inclusive), classes, len(weights) * size
        )
        shape = len(classes), len(merits), 6, len(weights)
        by_f, *rest = np.ascontiguousarray(np.moveaxis(np.reshape(of_classes, shape), 0, -1))
        tp, n_sys, n_ref, thresholds, *_ = by_f
        tp_all, sys_all, ref_all = (column.sum(axis=1) for column in (tp, n_sys, n_ref))
        m = tp_all
        if regardless is not None:
            passed = np.zeros(thresholds.shape, dtype=np.int64)
            for c, of_class in enumerate(levels):
                passed[:, c] = np.searchsorted(of_class, thresholds[:, c], "left" if inclusive else "right")
            m = regardless(weights, passed)
        counts = DetectionCounts(tp, n_ref, n_sys, m - tp_all, ref_all - m, sys_all - m)
        table = detection_scores(counts, settings.beta) | {"threshold": Averaged(thresholds)}
        for fewest in rest:
            table |= error_rate_table(*fewest[:4])
        return {(basis, "optimal"): table | others(weights)}

    return tables


def _paired_cells(tally: Tally, basis: str, levels: Sequence[Floats], settings: Settings) -> _Regardless:
    """Return a function that counts the classes of a cell that are paired, regardless of class."""
    scores = tally.samples[f"{basis}.system"]
    sizes = positive(tally.samples[f"{basis}.reference"], settings).sum(axis=0)
    # Pairs need activity of the reference.
    active = np.flatnonzero(sizes)
    n_ref = sizes[active].astype(np.min_scalar_type(max(len(levels), 1)))
    start = np.searchsorted(active, np.append(0, np.cumsum(tally.per_file[cells_of(basis)])))
    # Number of levels up to each cell: small numbers are compared fast.
    small = np.min_scalar_type(max(map(len, levels), default=0))
    place = np.zeros((len(levels), len(active)), dtype=small)
    for c, of_class in enumerate(levels):
        place[c] = np.searchsorted(of_class, scores[c, active], side="right")

    def regardless(weights: Floats, passed: Index) -> Floats:
        at = passed.astype(small)

        def count(some: slice) -> Floats:
            n_sys = np.zeros((len(weights[some]), len(active)), dtype=n_ref.dtype)
            for c, of_class in enumerate(place):
                n_sys += of_class > at[some, c, None]
            pairs = sum_files(np.minimum(n_sys, n_ref, out=n_sys), start, np.int64)
            counts: Floats = np.einsum("ij,ij->i", weights[some], pairs)
            return counts

        some = [*blocks(len(weights), len(active))]
        return np.concatenate(for_each(count, some, place.size * len(weights)))

    return regardless


def _paired_events(tally: Tally, levels: Sequence[Floats], settings: Settings) -> _Regardless:
    """Return a function that counts the events that are matched regardless of class."""
    rule, n_files = pair_rule(settings), len(tally.files)
    sides = [tally.events[side] for side in ("reference", "system")]
    reference, system = (side.take(np.argsort(side.file, kind="stable")) for side in sides)
    starts = [np.searchsorted(side.file, np.arange(n_files + 1)) for side in (reference, system)]
    # An event exists at thresholds that pass at least `born` levels and fewer than `dies`.
    born, dies = np.zeros((2, len(system)), dtype=np.int64)
    for c, of_class in enumerate(levels):
        mine = system.label == c
        for ranks, values in ((born, system.born), (dies, system.dies)):
            ranks[mine] = np.searchsorted(of_class, values[mine], side="right")

    def of_file(weights: Floats, passed: Index, file: int) -> Floats:
        """Return the number of matched events of a file for each weights, (n_weights,)."""
        mine, theirs = (np.arange(start[file], start[file + 1]) for start in starts)
        rank = passed[:, system.label[theirs]]
        # The same events exist at many thresholds: each such state is matched once, as if it were a file.
        alive = (born[theirs] <= rank) & (rank < dies[theirs])
        packed = np.packbits(alive, axis=1)
        _, first, back = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        state, place = np.nonzero(alive[first])
        ours = reference, np.tile(mine, len(first)), np.repeat(np.arange(len(first)), len(mine))
        left, right = (
            replace(side.take(some), file=of.astype(np.int32)).events()
            for side, some, of in (ours, (system, theirs[place], state))
        )
        matched = count_regardless(left, right, len(first), rule)
        return weights[:, file] * matched[back.reshape(-1)]

    def regardless(weights: Floats, passed: Index) -> Floats:
        total = np.zeros(len(weights))
        for file in np.flatnonzero(weights.any(axis=0)).tolist():
            size = int(sum(start[file + 1] - start[file] for start in starts))
            for some in blocks(len(weights), size):
                total[some] += of_file(weights[some], passed[some], file)
        return total

    return regardless


# Scores at thresholds that are kept.


def with_fixed(tally: Tally, settings: Settings) -> tuple[Tally, Tables]:
    """Return the optimal readings of all files, and a tally with the counts at their thresholds."""
    columns: Columns = {}
    families = Plan.of(settings).thresholded
    fixed: Tables = {family: optimal_scores(tally, family[0], settings) for family in families}
    for (basis, _), best in fixed.items():
        for use, thresholds in _thresholds(best, len(tally.classes)).items():
            columns |= columns_of(f"{basis}.{use}", counts_at(tally, basis, thresholds, settings))
    return with_columns(tally, columns), fixed


def fixed_of_weights(tally: Tally, settings: Settings, fixed: Tables, weights: Floats) -> Tables:
    """Return the optimal readings of weighted files at thresholds of all files.

    fixed: the readings at these thresholds, as `with_fixed` returns them beside the tally.
    """
    sums, tables = tally.mixtures(lambda column: weights @ column), Tables()
    for family, best in fixed.items():
        uses = _thresholds(best, len(sums.classes))
        counts = {use: totals(sums, f"{family[0]}.{use}") for use in uses}
        table = detection_scores(counts["threshold"], settings.beta)
        table |= {"threshold": Averaged(uses["threshold"])}
        for use, total in counts.items():
            if use == "best_error_rate_threshold":
                table |= error_rate_table(total.tp, total.n_sys, total.n_ref, uses[use])
            elif use in _POOLED:
                tp, n_ref, n_sys = (column.sum(axis=-1) for column in (total.tp, total.n_ref, total.n_sys))
                f = np.where(n_ref > 0, f_beta(tp, n_ref, n_sys, settings.beta), np.nan)
                table |= {_POOLED[use]: Averaged(None, overall=f), use: best[use]}
        tables[family] = table
    return tables


def _thresholds(best: Table, n_classes: int) -> dict[str, Floats]:
    """Return the thresholds of a table, (n_classes,), by their merits; NaN for a class without one."""
    thresholds = {}
    for use in ("threshold", "best_error_rate_threshold", *_POOLED):
        if use in best:
            # One may be for all classes.
            values = np.asarray(best[use].overall if best[use].classes is None else best[use].classes)
            thresholds[use] = np.broadcast_to(values, n_classes)
    return thresholds
