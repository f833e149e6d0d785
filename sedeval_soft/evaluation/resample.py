"""Scores of resampled files, and the intervals of scores that follow from them.

Replicates are weights of files, (n_replicates, n_files): how often each counts. What depends on the files is
counted and sorted once; the scores of many replicates follow from one product of matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Self

import numpy as np

from sedeval_soft.arrays import Bools, Floats, Index
from sedeval_soft.evaluation.count import Columns, columns_of, with_columns
from sedeval_soft.evaluation.intervals import ENOUGH, NOMINAL, files_of, held, interval
from sedeval_soft.evaluation.means import Scorer
from sedeval_soft.evaluation.optimal import (
    WeightedScores,
    candidates_of,
    counts_at,
    error_rate_table,
    optimal_scores,
    optimal_table,
    satisficed,
)
from sedeval_soft.evaluation.scores import Key, Score, counted_tables, finite, joined, named, ranked_tables
from sedeval_soft.evaluation.sorted_cells import SortedCells
from sedeval_soft.measures.base import Averaged, Table, Tables
from sedeval_soft.measures.detection import DetectionCounts, f_beta, totals
from sedeval_soft.measures.event import count_events
from sedeval_soft.measures.pairs import pair_rule
from sedeval_soft.measures.segment import sum_files
from sedeval_soft.measures.tally import Tally, cells_of
from sedeval_soft.measures.thresholds import Candidates, error_merit, f_merit, joint_scores
from sedeval_soft.plan import CELLS, THRESHOLDED, Family, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.recordings import positive

if TYPE_CHECKING:
    from sedeval_soft.measures.weighted_psds import WeightedPsds

Progress = Callable[[int, int], None]
"""Told how many of how many are done: replicates, or the submissions of a board."""

_WEIGHTS, _MOST_ROWS = 1 << 21, 1 << 10
"""Weights, and replicates, in a block: memory does not grow with the number of replicates."""

_IN_MEMORY = 1 << 23
"""Bytes of scores that are kept in memory; where there are more, they lie in a temporary file."""

_AT_ONCE, _EVENTS = 1 << 18, 1 << 20
"""Scores of replicates that are put in order at a time, and events that are matched."""

_Regardless = Callable[[Floats, Index], Floats]
"""Returns M of weights, (n_weights,), at positions of candidates, (n_weights, n_classes)."""

NOT_SMOOTH = frozenset(
    {
        *("threshold", "best_error_rate", "best_error_rate_threshold", "equal_error_rate", "fnr_at_fpr"),
        *("fpr_at_fnr", "maximum_calibration_error", "label_wise_precision_minimum"),
    }
)
"""Measures that pick one threshold, bin or class: leaving out a file moves them by jumps or not at all, from
which the jackknife learns nothing (Efron & Tibshirani 1993, section 11.6)."""

_POOLED = {"joint_threshold": "joint_f", "single_threshold": "single_f"}
"""The F of all classes together that thresholds are best for."""

# How often each file counts. What a row holds depends on the seed and its number alone.


def bootstrap(n_files: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield rows in which as many files as there are were drawn with replacement. Source: Efron 1979."""
    rng = np.random.default_rng(seed)
    for begin, end in _blocks(n_files, replicates):
        rows = end - begin
        drawn = rng.integers(n_files, size=(rows, n_files)) + n_files * np.arange(rows)[:, None]
        counts = np.bincount(drawn.reshape(-1), minlength=rows * n_files)
        yield counts.reshape(rows, n_files).astype(np.float64)


def leave_one_out(n_files: int) -> Iterator[Floats]:
    """Yield rows in each of which one file is left out, in the order of files. Source: Quenouille 1956."""
    return (1.0 - np.eye(end - begin, n_files, begin) for begin, end in _blocks(n_files, n_files))


def exchanges(n_files: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield rows of 0 and 1: which files' outputs two systems exchange. Source: Noreen 1989."""
    rng = np.random.default_rng(seed)
    for begin, end in _blocks(n_files, replicates):
        yield rng.integers(2, size=(end - begin, n_files)).astype(np.float64)


def _blocks(n_files: int, rows: int) -> Iterator[tuple[int, int]]:
    most = max(1, min(_MOST_ROWS, _WEIGHTS // max(n_files, 1)))
    return ((begin, min(begin + most, rows)) for begin in range(0, rows, most))


@dataclass(frozen=True, slots=True)
class Weighted:
    """Totals of weighted files: `Totals` whose first axis are the weights."""

    classes: tuple[str, ...]
    is_expected: Bools
    sums: Mapping[str, Floats]

    def total(self, name: str) -> Floats:
        """Return a column summed over weighted files: (n_weights, n_classes), or (n_weights,)."""
        return self.sums[name]


@dataclass(frozen=True, slots=True)
class Replicates:
    """What gives the scores of weighted files.

    tally: of the files. table: its columns side by side, those of each class first, (n_files, n_columns), 0
    where they are undefined, which `undefined` says of the columns at `partly`. cells: by basis, those in
    order that scores need. optimal: what looks for best thresholds anew. fixed: the tables of all files whose
    thresholds are kept, by basis and reading.
    """

    tally: Tally
    settings: Settings
    table: Floats
    partly: Index
    undefined: Floats
    cells: Mapping[str, SortedCells]
    optimal: Sequence[tuple[Family, WeightedScores]]
    fixed: Tables
    psds: WeightedPsds | None

    @classmethod
    def of(cls, tally: Tally, settings: Settings, fixed: Tables | None = None) -> Self:
        """Prepare the scores that the settings ask for.

        fixed: the tables of optimal readings at whose thresholds the tally is counted already.
        """
        plan, optimal = Plan.of(settings), []
        if not settings.fixed_thresholds:
            finders = (optimal_of_weights, *((satisficed,) if settings.satisfice else ()))
            optimal = [
                (family, find(tally, family[0], settings)) for find in finders for family in plan.thresholded
            ]
        elif fixed is None:
            columns: Columns = {}
            fixed = {family: optimal_scores(tally, family[0], settings) for family in plan.thresholded}
            for (basis, _), best in fixed.items():
                for use, thresholds in _thresholds(best, len(tally.classes)).items():
                    columns |= columns_of(f"{basis}.{use}", counts_at(tally, basis, thresholds, settings))
            tally = with_columns(tally, columns)
        parts = [np.asarray(column) for column in (*tally.per_class.values(), *tally.per_file.values())]
        table = np.column_stack([np.zeros((len(tally.files), 0)), *parts])
        undefined = np.isnan(table)
        partly = np.flatnonzero(undefined.any(axis=0))
        table[undefined] = 0.0
        cells = {basis: SortedCells.of(tally, basis, settings, again=True) for basis in plan.compared}
        psds = None
        if plan.psds:
            from sedeval_soft.measures.weighted_psds import WeightedPsds

            psds = WeightedPsds.of(tally, settings)
        others = undefined[:, partly] * 1.0, cells, optimal, fixed or {}, psds
        return cls(tally, settings, table, partly, *others)

    def values(self, weights: Floats, keys: Sequence[Key]) -> Floats:
        """Return scores of each weights, (n_keys, n_weights), NaN where undefined.

        weights: (n_weights, n_files) how often each file counts, whole numbers.
        """
        sums = self._weighted(weights)
        tables = joined(
            counted_tables(sums, self.settings),
            *({family: scores(weights)} for family, scores in self.optimal),
            {family: self._fixed_table(family[0], best, sums) for family, best in self.fixed.items()},
            self.psds.tables(weights) if self.psds is not None else {},
        )
        place, values = {key: row for row, key in enumerate(keys)}, np.full((len(keys), len(weights)), np.nan)

        def enter(rows: Floats, tables: Tables) -> None:
            for key, value in named(tables, self.tally.classes, self.settings.means):
                if key in place and value is not None:
                    rows[place[key]] = value

        enter(values, tables)
        for number, weight in enumerate(weights if self.one_by_one else ()):
            counts, lengths = weight.astype(np.int64), self.tally.per_file
            drawn = _drawn(replace(self.tally, samples={}), np.repeat(np.arange(len(counts)), counts))
            cells = {
                basis: of.repeated(np.repeat(counts, lengths[cells_of(basis)]))
                for basis, of in self.cells.items()
            }
            enter(values[:, number], ranked_tables(drawn, self.settings, cells, psds=False))
        return values

    @property
    def one_by_one(self) -> bool:
        """Whether there are scores that are made for one replicate after another, which takes long."""
        plan = Plan.of(self.settings)
        return bool(plan.compared or plan.ranks_events)

    def _weighted(self, weights: Floats) -> Weighted:
        tally, sums = self.tally, weights @ self.table
        # A file that does not count has no say in what is undefined.
        sums[:, self.partly] = np.where(weights @ self.undefined > 0, np.nan, sums[:, self.partly])
        shape = len(weights), len(tally.per_class), len(tally.classes)
        n = shape[1] * shape[2]
        of_classes = zip(tally.per_class, sums[:, :n].reshape(shape).swapaxes(0, 1), strict=True)
        of_files = zip(tally.per_file, sums[:, n:].T, strict=True)
        return Weighted(tally.classes, tally.is_expected, dict(of_classes) | dict(of_files))

    def _fixed_table(self, basis: str, best: Table, sums: Weighted) -> Table:
        """Return the scores of weighted files at thresholds of all files, whose own table is `best`."""
        uses = _thresholds(best, len(sums.classes))
        counts = {use: totals(sums, f"{basis}.{use}") for use in uses}
        table = optimal_table(counts["threshold"], uses["threshold"], self.settings)
        for use, total in counts.items():
            if use == "best_error_rate_threshold":
                table |= error_rate_table(total.tp, total.n_sys, total.n_ref, uses[use])
            elif use in _POOLED:
                tp, n_ref, n_sys = (column.sum(axis=-1) for column in (total.tp, total.n_ref, total.n_sys))
                f = np.where(n_ref > 0, f_beta(tp, n_ref, n_sys, self.settings.beta), np.nan)
                table |= {_POOLED[use]: Averaged(None, overall=f), use: best[use]}
        return table


def _thresholds(best: Table, n_classes: int) -> dict[str, Floats]:
    """Return the thresholds of a table, (n_classes,), by what they are best for; infinite where none is."""
    thresholds = {}
    for use in ("threshold", "best_error_rate_threshold", *_POOLED):
        if use in best:
            # One may be for all classes.
            values = np.asarray(best[use].overall if best[use].classes is None else best[use].classes)
            thresholds[use] = np.broadcast_to(np.where(np.isnan(values), np.inf, values), n_classes)
    return thresholds


# Best thresholds of weighted files. What depends on the files is sorted and matched once: TP and N_sys of all
# weights are weighted cumulative sums. Only M, what is counted regardless of class, needs a look at all
# classes together at the thresholds that are best: S = M - TP, D = N_ref - M, I = N_sys - M.


def optimal_of_weights(tally: Tally, basis: str, settings: Settings) -> WeightedScores:
    """Return what finds the scores of weighted files, each weights at best thresholds of their own."""
    classes = candidates_of(tally, basis, settings)
    pooled = candidates_of(tally, basis, settings, pooled=True) if "joint" in settings.measures else []
    regardless: _Regardless | None = None
    if basis in CELLS:
        regardless = _paired_cells(tally, basis, classes, settings)
    elif basis == "event":
        regardless = _paired_events(tally, classes, settings)
    inclusive, size = settings.inclusive, sum(len(own.value) for own in classes)
    merits = [f_merit(settings.beta), *(() if basis in CELLS else (error_merit,))]

    def scores(weights: Floats) -> Table:
        def best(own: Candidates) -> Floats:
            chosen = own.best(weights, merits)
            return np.array([(*of, own.thresholds(weights, of[0], inclusive=inclusive)) for of in chosen])

        of_classes = for_each(best, classes, len(weights) * size)
        shape = len(classes), len(merits), 5, len(weights)
        by_f, *rest = np.ascontiguousarray(np.moveaxis(np.reshape(of_classes, shape), 0, -1))
        at, tp, n_sys, n_ref, thresholds = by_f
        tp_all, sys_all, ref_all = (column.sum(axis=1) for column in (tp, n_sys, n_ref))
        m = tp_all if regardless is None else regardless(weights, at.astype(np.int64))
        counts = DetectionCounts(tp, n_ref, n_sys, m - tp_all, ref_all - m, sys_all - m)
        table = optimal_table(counts, thresholds, settings)
        for every in pooled:
            table |= joint_scores(classes, every, weights, settings.beta, inclusive=inclusive)
        for _, *fewest in rest:
            table |= error_rate_table(*fewest)
        return table

    return scores


def _paired_cells(tally: Tally, basis: str, classes: Sequence[Candidates], settings: Settings) -> _Regardless:
    """Return what counts the classes of a cell that are paired, whichever they are."""
    scores = tally.samples[f"{basis}.system"]
    sizes = positive(tally.samples[f"{basis}.reference"], settings).sum(axis=0)
    # Only where the reference has something can anything be paired with it.
    sounding = np.flatnonzero(sizes)
    n_ref = sizes[sounding].astype(np.min_scalar_type(max(len(classes), 1)))
    start = np.searchsorted(sounding, np.append(0, np.cumsum(tally.per_file[cells_of(basis)])))
    # From which candidate on each cell is detected.
    small = np.min_scalar_type(max((len(own.value) for own in classes), default=0) + 1)
    place = np.zeros((len(classes), len(sounding)), dtype=small)
    for c, own in enumerate(classes):
        place[c] = own.place(scores[c, sounding])

    def regardless(weights: Floats, at: Index) -> Floats:
        reached = (at + 1).astype(small)

        def count(row: int) -> float:
            n_sys = np.add.reduce(place < reached[row][:, None], axis=0, dtype=n_ref.dtype)
            pairs = sum_files(np.minimum(n_sys, n_ref), start, np.int64)
            return float(weights[row] @ pairs)

        return np.array(for_each(count, range(len(weights)), place.size * len(weights)))

    return regardless


def _paired_events(tally: Tally, classes: Sequence[Candidates], settings: Settings) -> _Regardless:
    """Return what counts the events that are matched regardless of class."""
    n_files, rule, system = len(tally.files), pair_rule(settings), tally.events["system"]
    # Where an event begins and ends to exist among the candidates, the highest of which come first.
    first, last = np.zeros((2, len(system)))
    for c, own in enumerate(classes):
        mine = system.label == c
        first[mine], last[mine] = own.place(system.dies[mine]), own.place(system.born[mine])
    events = {
        "reference": replace(tally.events["reference"], nested=False),
        "system": replace(system, born=first, dies=last, nested=False),
    }
    bare = Tally(tally.files, tally.classes, events=events)
    file = np.concatenate([side.file for side in events.values()])
    step = max(1, _EVENTS // int(np.bincount(file).max(initial=1)))

    def states(at: Index) -> Index:
        """Return numbers that are equal where the same events of a file exist, (n_weights, n_files)."""
        state = np.zeros((len(at), n_files), dtype=np.int64)
        for c in range(len(classes)):
            mine = system.label == c
            n = last[mine].max(initial=0) + 1.0
            # Distinct, so that between two of them nothing changes in a file.
            changes = np.unique([system.file[mine] * n + ends[mine] for ends in (first, last)])
            begin = np.arange(n_files) * n
            passed = np.searchsorted(changes, begin + np.clip(at[:, c], -1, n - 1)[:, None], side="right")
            passed -= np.searchsorted(changes, begin)
            numbers = state * (int(passed.max(initial=0)) + 1) + passed
            state = np.unique(numbers, return_inverse=True)[1].reshape(state.shape)
        return state

    def regardless(weights: Floats, at: Index) -> Floats:
        row, file = np.nonzero(weights > 0)
        often = weights[row, file]
        # What exists in a file at some thresholds is the same at many: each such state is matched once.
        numbers = states(at)[row, file] * n_files + file
        _, example, back = np.unique(numbers, return_index=True, return_inverse=True)
        pairs, file, places = np.zeros(len(example)), file[example], at[row[example]].astype(np.float64)
        for begin in range(0, len(example), step):
            some = slice(begin, begin + step)
            drawn = _drawn(bare, file[some]).events
            reference, theirs = drawn["reference"].events(), drawn["system"]
            alive = theirs.take(theirs.alive(places[some][theirs.file, theirs.label])).events()
            counts = count_events(reference, alive, len(file[some]), len(classes), rule)
            pairs[some] = counts.tp.sum(axis=1) + counts.substitutions
        total: Floats = np.bincount(row, pairs[back] * often, minlength=len(weights)).astype(np.float64)
        return total

    return regardless


def _drawn(tally: Tally, files: Index) -> Tally:
    return tally.take(files, tuple(f"{k:012}" for k in range(len(files))))


class Values(SpooledTemporaryFile[bytes]):
    """Scores of replicates, (n_scores, n_replicates), filled by replicates and read by scores; to be closed.

    Where they are many, they lie in a file, which vanishes however the process ends.
    """

    def __init__(self, n_scores: int, n_replicates: int) -> None:
        """Make room."""
        super().__init__(_IN_MEMORY, prefix="soft-sed-eval-")
        self.shape = (n_scores, n_replicates)

    def fill(self, begin: int, columns: Floats) -> None:
        """Fill the columns from one on, (n_scores, n)."""
        for number, row in enumerate(np.ascontiguousarray(columns)):
            self.seek((number * self.shape[1] + begin) * row.itemsize)
            self.write(row.data)

    def rows(self, some: slice) -> Floats:
        """Return some rows, (n, n_replicates)."""
        shape, size = (some.stop - some.start, self.shape[1]), 8 * self.shape[1]
        self.seek(some.start * size)
        return np.ndarray(shape, np.float64, self.read(shape[0] * size))


def values_of(
    replicates: Scorer,
    rows: Iterator[Floats],
    keys: Sequence[Key],
    total: int,
    progress: Progress | None = None,
) -> Values:
    """Return the scores of all rows of weights, (n_keys, total), NaN where undefined; to be closed."""
    values = Values(len(keys), total)
    # Few at a time where each takes long, to tell of progress.
    done, step = 0, 8 if replicates.one_by_one else _MOST_ROWS
    for block in rows:
        for begin in range(0, len(block), step):
            part = block[begin : begin + step]
            values.fill(done, replicates.values(part, keys))
            done += len(part)
            if progress is not None:
                progress(done, total)
    return values


def with_intervals(
    scores: dict[str, Score],
    tally: Tally,
    settings: Settings,
    progress: Progress | None = None,
    scorer: Callable[[Settings], Scorer] | None = None,
) -> dict[str, Score]:
    """Return the scores of a tally with the intervals that the settings ask for.

    scores: by name, all of the tally. scorer: returns what gives them of weighted files by some settings;
    None for `Replicates` of the tally. A score has none where it is undefined, where it is so in too many
    replicates, or where the method is not valid for it; none has one where there are fewer than two files.
    """
    n_files, method, skips = len(tally.files), settings.ci, skips_optimal(settings)
    without = THRESHOLDED if skips else ()
    jumping = NOT_SMOOTH if method == "jackknife" else frozenset()
    chosen = [s for s in scores.values() if s.measure not in jumping and (s.basis, s.reading) not in without]
    if method is None or n_files < 2 or not chosen:
        return scores
    if skips:
        others = (family for family in Plan.of(settings).families if family not in without)
        settings = replace(settings, only=tuple(map(".".join, others)) or settings.only)
    keys = [Key(s.basis, s.reading, s.measure, s.average, s.class_name) for s in chosen]
    point = np.array([np.nan if s.value is None else s.value for s in chosen], dtype=np.float64)
    replicates = Replicates.of(tally, settings) if scorer is None else scorer(settings)
    n_left = 0 if method == "bootstrap" else n_files
    n_drawn = 0 if method == "jackknife" else settings.replicates
    step, ends = max(1, _AT_ONCE // (n_left + n_drawn)), []
    with (
        values_of(replicates, leave_one_out(n_left), keys, n_left, progress) as left_out,
        values_of(replicates, bootstrap(n_files, n_drawn, settings.seed), keys, n_drawn, progress) as drawn,
    ):
        for begin in range(0, len(keys), step):
            some = slice(begin, min(begin + step, len(keys)))
            again, without_one = (values.rows(some).T for values in (drawn, left_out))
            ends.append(interval(method, point[some], again, without_one, settings.confidence))
    low, high = np.where(np.isnan(point), np.nan, np.concatenate(ends, axis=1)).tolist()
    return scores | {
        score.name: replace(score, low=finite(one), high=finite(other))
        for score, one, other in zip(chosen, low, high, strict=True)
    }


def skips_optimal(settings: Settings) -> bool:
    """Return whether the intervals that are asked for are not valid for optimal readings."""
    anew = Plan.of(settings).thresholded and not settings.fixed_thresholds
    return settings.ci == "jackknife" and bool(anew)


ROUGH = "intervals are rough"
"""How the warnings begin that intervals hold the truth less often than they say."""


def interval_notes(tally: Tally, settings: Settings) -> list[str]:
    """Return what a reader must know of the intervals of a tally."""
    if settings.ci is None:
        return []
    n_files = len(tally.files)
    if n_files < 2:
        there = "is only one file" if n_files else "are no files"
        return [f"no intervals: there {there}, and resampling needs two or more"]
    notes = _rough(n_files, settings.ci, settings)
    needed = math.ceil(round(2 / (1 - settings.confidence), 6))
    if settings.ci != "jackknife" and settings.replicates < needed:
        # Their ends would be the lowest and the highest of all replicates.
        notes.append(
            f"{ROUGH}: a confidence of {settings.confidence:g} needs {needed} replicates or "
            f"more, found {settings.replicates}"
        )
    if skips_optimal(settings):
        notes.append(
            "no intervals for optimal readings: best thresholds are not smooth in the files, so the "
            "jackknife is not valid for them; --ci bootstrap is, and with --fixed-thresholds both are"
        )
    if "soft" in Plan.of(settings).psds and "levels" in tally.events:
        from sedeval_soft.measures.weighted_psds import Cuts

        notes += Cuts.between(tally).notes()
    return notes


def _rough(n_files: int, method: str, settings: Settings) -> list[str]:
    """Return in words how often intervals of so few files hold the truth, where that is too rarely."""
    anew = () if settings.fixed_thresholds else THRESHOLDED
    kinds = {
        "optimal" if family in anew else "soft" if family[1] == "soft" else "hard"
        for family in Plan.of(settings).families
    }
    shares = [(held(method, kind, n_files), kind) for kind in ("hard", "soft", "optimal") if kind in kinds]
    measured = files_of(n_files)
    low = [(share, kind) for share, kind in shares if share and (share < ENOUGH or n_files < measured)]
    if not low:
        return []
    told = ", ".join(f"{100 * share:.0f} % ({kind})" for share, kind in low)
    text = (
        f"{ROUGH}: they come from resampling {n_files} files; in simulations with "
        f"{measured} files, {100 * NOMINAL:.0f} % intervals held the true score in {told}"
    )
    better = [held("expanded", kind, n_files) or 0.0 for _, kind in low]
    if all(more > share for more, (share, _) in zip(better, low, strict=True)):
        text += f", those of --ci expanded in {', '.join(f'{100 * share:.0f} %' for share in better)}"
    return [text]
