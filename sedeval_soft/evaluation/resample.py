"""Scores of many mixtures of the files of a tally, and the intervals of scores that follow from them.

What depends on the files is counted and sorted once; replicates are weights of files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation import weights
from sedeval_soft.evaluation.count import Columns, columns_of, with_columns
from sedeval_soft.evaluation.intervals import ENOUGH, NOMINAL, bca, files_of, held, jackknife, percentile
from sedeval_soft.evaluation.optimal import (
    WeightedScores,
    counts_at,
    error_rate_table,
    optimal_scores,
    optimal_table,
    satisficed,
)
from sedeval_soft.evaluation.optimal_bootstrap import optimal_of_weights
from sedeval_soft.evaluation.scores import (
    Key,
    Score,
    counted_tables,
    finite,
    joined,
    named,
    ranked_tables,
    sorted_cells,
)
from sedeval_soft.evaluation.sorted_cells import SortedCells
from sedeval_soft.evaluation.weights import Statistics, Weighted
from sedeval_soft.measures.base import Averaged, Table, Tables
from sedeval_soft.measures.detection import f_beta, totals
from sedeval_soft.measures.names import spell
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import THRESHOLDED, Family, Plan
from sedeval_soft.settings import Settings

Floats = npt.NDArray[np.float64]

_IN_MEMORY = 1 << 20
"""Numbers that are kept in memory; where there are more, they lie in a temporary file."""

_SIZE = np.dtype(np.float64).itemsize


class Spool:
    """A table of numbers, (n_rows, n_columns), filled column by column and read row by row; to be closed."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        """Make room."""
        self.shape = (n_rows, n_columns)
        self._table: Floats | None = None
        self._file: IO[Any] | None = None
        self._filled = 0
        if n_rows * n_columns <= _IN_MEMORY:
            self._table = np.empty(self.shape)
        else:
            from tempfile import TemporaryFile

            # It has no name, and vanishes however the process ends.
            self._file = TemporaryFile(prefix="soft-sed-eval-")  # noqa: SIM115

    def __enter__(self) -> Self:
        """Return itself; `with` closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give the room back."""
        if self._file is not None:
            self._file.close()

    def append(self, columns: Floats) -> None:
        """Fill the next columns, (n_rows, n)."""
        begin, self._filled = self._filled, self._filled + columns.shape[1]
        if self._table is not None:
            self._table[:, begin : self._filled] = columns
        elif self._file is not None:
            for number, row in enumerate(np.ascontiguousarray(columns)):
                self._file.seek((number * self.shape[1] + begin) * _SIZE)
                self._file.write(row.data)

    def rows(self, begin: int, end: int) -> Floats:
        """Return some rows, (n, n_columns)."""
        if self._table is not None:
            return self._table[begin:end]
        assert self._file is not None  # noqa: S101 - for the type checker: one of the two is there
        self._file.seek(begin * self.shape[1] * _SIZE)
        size = (end - begin) * self.shape[1]
        data = bytearray(self._file.read(size * _SIZE))
        return np.frombuffer(data, dtype=np.float64).reshape(end - begin, self.shape[1])


_POOLED = {"joint_threshold": "joint_f", "single_threshold": "single_f"}
"""The F of all classes together that thresholds are best for."""


@dataclass(frozen=True, slots=True)
class Replicates:
    """What gives the scores of weighted files.

    tally: of the files. statistics: its counts. cells: by basis, those in order that scores need. optimal:
    what looks for best thresholds anew.
    fixed: the thresholds, (n_classes,), of those that keep them, by what they are best for.
    """

    tally: Tally
    statistics: Statistics
    settings: Settings
    cells: Mapping[str, SortedCells]
    optimal: Sequence[tuple[Family, WeightedScores]]
    fixed: Mapping[Family, Mapping[str, Floats]]

    @classmethod
    def of(cls, tally: Tally, settings: Settings, best: Tables | None = None) -> Replicates:
        """Prepare the scores that the settings ask for.

        best: the tables of the optimal readings of all files, whose thresholds are kept; None to look for
        them anew with each weights.
        """
        families = Plan.of(settings).thresholded
        cells = sorted_cells(tally, settings, again=True)
        if best is None:
            finders = (optimal_of_weights, *((satisficed,) if settings.satisfice else ()))
            optimal = [(family, find(tally, family[0], settings)) for find in finders for family in families]
            return cls(tally, Statistics.of(tally), settings, cells, optimal, {})
        fixed = {family: _thresholds(best[family]) for family in families}
        columns: Columns = {}
        for family, by_use in fixed.items():
            for use, thresholds in by_use.items():
                counts = counts_at(tally, family[0], thresholds, settings)
                columns |= columns_of(f"{family[0]}.{use}", counts)
        return cls(tally, Statistics.of(with_columns(tally, columns)), settings, cells, (), fixed)

    def values(self, weights: Floats, keys: Sequence[Key]) -> Floats:
        """Return scores of each weights, (n_keys, n_weights), NaN where undefined.

        weights: (n_weights, n_files) how often each file counts, whole numbers.
        """
        sums = self.statistics.weighted(weights)
        tables = joined(
            counted_tables(sums, self.settings),
            *({family: scores(weights)} for family, scores in self.optimal),
            {family: self._fixed_table(family, sums) for family in self.fixed},
        )
        place = {key: row for row, key in enumerate(keys)}
        found = np.full((len(keys), len(weights)), np.nan)
        _enter(found, place, tables, self.tally.classes)
        if self.one_by_one:
            for row, weight in enumerate(weights):
                counts = weight.astype(np.int64)
                files = np.repeat(np.arange(len(counts)), counts)
                drawn = replace(self.tally, samples={}).take(
                    files, tuple(f"{k:012}" for k in range(len(files)))
                )
                cells = {basis: of.drawn(counts) for basis, of in self.cells.items()}
                _enter(found[:, row], place, ranked_tables(drawn, cells, self.settings), self.tally.classes)
        return found

    @property
    def one_by_one(self) -> bool:
        """Whether there are scores that are made for one replicate after another, which takes long."""
        settings = self.settings
        return bool(Plan.of(settings).psds) or any(
            group not in ("confusion", "joint") for group in settings.measures
        )

    def _fixed_table(self, family: Family, sums: Weighted) -> Table:
        basis, uses = family[0], self.fixed[family]
        table = optimal_table(totals(sums, f"{basis}.threshold"), uses["threshold"], self.settings)
        if "best_error_rate_threshold" in uses:
            counts = totals(sums, f"{basis}.best_error_rate_threshold")
            thresholds = uses["best_error_rate_threshold"]
            table |= error_rate_table(counts.tp, counts.n_sys, counts.n_ref, thresholds)
        for use, measure in _POOLED.items():
            if use in uses:
                counts = totals(sums, f"{basis}.{use}")
                tp, n_ref, n_sys = (of.sum(axis=-1) for of in (counts.tp, counts.n_ref, counts.n_sys))
                f = np.where(n_ref > 0, f_beta(tp, n_ref, n_sys, self.settings.beta), np.nan)
                table[measure] = Averaged(None, overall=f)
                shown = np.where(np.isinf(uses[use]), np.nan, uses[use])
                one = np.array(shown[0] if len(shown) else np.nan)
                table[use] = Averaged(shown) if use == "joint_threshold" else Averaged(None, overall=one)
        return table


def _thresholds(table: Mapping[str, Averaged]) -> dict[str, Floats]:
    """Return the thresholds of a table by what they are best for; infinite where there is none."""
    found = {}
    for name in ("threshold", "best_error_rate_threshold", *_POOLED):
        values = table.get(name)
        if values is not None and values.classes is not None:
            found[name] = np.where(np.isnan(values.classes), np.inf, values.classes)
        elif values is not None and values.overall is not None:
            # One for all classes.
            one = float(values.overall)
            found[name] = np.full_like(found["threshold"], np.inf if np.isnan(one) else one)
    return found


def _enter(found: Floats, place: Mapping[Key, int], tables: Tables, classes: tuple[str, ...]) -> None:
    """Enter the values of tables in the rows of their keys."""
    for key, value in named(tables, classes):
        row = place.get(key)
        if row is not None and value is not None:
            found[row] = value


Progress = Callable[[int, int], None]
"""Told how many of how many are done: replicates, or the submissions of a board."""

_AT_ONCE = 1 << 18
"""Scores of replicates that are put in order at a time."""

NOT_SMOOTH = frozenset(
    {
        *("threshold", "best_error_rate", "best_error_rate_threshold", "equal_error_rate", "fnr_at_fpr"),
        *("fpr_at_fnr", "maximum_calibration_error", "label_wise_precision_minimum"),
    }
)
"""Measures that pick one threshold, bin or class: leaving out a file moves them by jumps or not at all, from
which the jackknife learns nothing (Efron & Tibshirani 1993, section 11.6)."""


def with_intervals(
    scores: dict[str, Score], tally: Tally, settings: Settings, progress: Progress | None = None
) -> dict[str, Score]:
    """Return the scores of a tally with the intervals that the settings ask for.

    scores: by name, all of the tally. A score has none where it is undefined, where it is so in too many
    replicates, or where the method is not valid for it; none has one where there are fewer than two files.
    """
    if settings.ci is None or len(tally.files) < 2:
        return scores
    kept = [score for score in scores.values() if _has_interval(score, settings)]
    keys = [Key(s.basis, s.reading, s.measure, s.average, s.class_name) for s in kept]
    if not keys:
        return scores
    chosen = replace(settings, only=_without_optimal(settings)) if skips_optimal(settings) else settings
    estimate = np.array([np.nan if s.value is None else s.value for s in kept], dtype=np.float64)
    ends = _ends(estimate, replicates_of(tally, chosen), keys, chosen, progress)
    columns = (end.tolist() for end in ends)
    found = {spell(*key): (finite(low), finite(high)) for key, low, high in zip(keys, *columns, strict=True)}
    return {
        name: replace(score, low=found[name][0], high=found[name][1]) if name in found else score
        for name, score in scores.items()
    }


def replicates_of(tally: Tally, settings: Settings) -> Replicates:
    """Return what gives scores of replicates, with thresholds of their own or those of all files."""
    if not settings.fixed_thresholds:
        return Replicates.of(tally, settings)
    best = {family: optimal_scores(tally, family[0], settings) for family in Plan.of(settings).thresholded}
    return Replicates.of(tally, settings, best)


def values_of(
    replicates: Replicates,
    rows: Iterator[Floats],
    keys: Sequence[Key],
    total: int,
    progress: Progress | None = None,
) -> Spool:
    """Return the scores of all rows of weights, (n_keys, total), NaN where undefined; to be closed."""
    found = Spool(len(keys), total)
    done = 0
    for block in rows:
        for begin in range(0, len(block), _step(replicates)):
            part = block[begin : begin + _step(replicates)]
            found.append(replicates.values(part, keys))
            done += len(part)
            if progress is not None:
                progress(done, total)
    return found


def interval_notes(tally: Tally, settings: Settings) -> list[str]:
    """Return what a reader must know of the intervals of a tally."""
    if settings.ci is None:
        return []
    n_files, notes = len(tally.files), []
    if n_files < 2:
        there = "is 1 file" if n_files else "are no files"
        return [f"no intervals: there {there}, and nothing to resample; expected two or more"]
    notes += _rough(n_files, settings)
    needed = math.ceil(round(2 / (1 - settings.confidence), 6))
    if settings.ci != "jackknife" and settings.replicates < needed:
        # Their ends would be the lowest and the highest of all replicates.
        notes.append(
            f"intervals are rough: a confidence of {settings.confidence:g} needs {needed} replicates or "
            f"more, found {settings.replicates}"
        )
    if skips_optimal(settings):
        notes.append(
            "no intervals for optimal readings: best thresholds are not smooth in the files, so the "
            "jackknife is not valid for them; --ci bootstrap is, and with --fixed-thresholds both are"
        )
    return notes


def _rough(n_files: int, settings: Settings) -> list[str]:
    """Return in words how often intervals of so few files hold the truth, where that is too rarely."""
    kinds = _kinds(settings)
    method = settings.ci or "bootstrap"
    shares = {kind: held(method, kind, n_files) for kind in kinds}
    fewer = n_files < files_of(n_files)
    low = {kind: share for kind, share in shares.items() if share is not None and (share < ENOUGH or fewer)}
    if not low:
        return []
    said = ", ".join(f"{100 * share:.0f} % ({kind})" for kind, share in low.items())
    text = (
        f"intervals are rough: they come from resampling {n_files} files; in simulations with "
        f"{files_of(n_files)} files, {100 * NOMINAL:.0f} % intervals held the true score in {said}"
    )
    better = [held("expanded", kind, n_files) or 0.0 for kind in low]
    if all(share > own for share, own in zip(better, low.values(), strict=True)):
        text += f", those of --ci expanded in {', '.join(f'{100 * share:.0f} %' for share in better)}"
    return [text]


def _kinds(settings: Settings) -> tuple[str, ...]:
    """Return the readings that are evaluated, as their intervals behave."""
    wanted = {
        "optimal" if (basis, reading) in THRESHOLDED and not settings.fixed_thresholds
        else "soft" if reading == "soft" else "hard"
        for basis, reading in Plan.of(settings).families
    }  # fmt: skip
    return tuple(kind for kind in ("hard", "soft", "optimal") if kind in wanted)


def skips_optimal(settings: Settings) -> bool:
    """Return whether the intervals that are asked for are not valid for optimal readings."""
    optimal = Plan.of(settings).thresholded
    return settings.ci == "jackknife" and bool(optimal) and not settings.fixed_thresholds


def _without_optimal(settings: Settings) -> tuple[str, ...]:
    others = (family for family in Plan.of(settings).families if family not in THRESHOLDED)
    return tuple(map(".".join, others)) or settings.only


def _has_interval(score: Score, settings: Settings) -> bool:
    if settings.ci != "jackknife":
        return True
    if (score.basis, score.reading) in THRESHOLDED and not settings.fixed_thresholds:
        return False
    return score.measure not in NOT_SMOOTH


def _ends(
    estimate: Floats,
    replicates: Replicates,
    keys: Sequence[Key],
    settings: Settings,
    progress: Progress | None,
) -> tuple[Floats, Floats]:
    n_files, count = len(replicates.tally.files), settings.replicates
    low, high = np.empty((2, len(keys)))
    with ExitStack() as kept:
        left_out, drawn = Spool(len(keys), 0), Spool(len(keys), 0)
        if settings.ci != "bootstrap":
            rows = weights.leave_one_out(n_files)
            left_out = kept.enter_context(values_of(replicates, rows, keys, n_files, progress))
        if settings.ci != "jackknife":
            rows = weights.bootstrap(n_files, count, settings.seed)
            drawn = kept.enter_context(values_of(replicates, rows, keys, count, progress))
        step = max(1, _AT_ONCE // max(left_out.shape[1] + drawn.shape[1], 1))
        for begin in range(0, len(keys), step):
            part = slice(begin, min(begin + step, len(keys)))
            without, found = (of.rows(part.start, part.stop).T for of in (left_out, drawn))
            low[part], high[part] = _interval(estimate[part], without, found, settings)
    undefined = np.isnan(estimate)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def _interval(estimate: Floats, left_out: Floats, drawn: Floats, settings: Settings) -> tuple[Floats, Floats]:
    if settings.ci == "jackknife":
        return jackknife(estimate, left_out, settings.confidence)
    if settings.ci in ("bca", "expanded"):
        return bca(drawn, estimate, left_out, settings.confidence, expanded=settings.ci == "expanded")
    return percentile(drawn, settings.confidence)


def _step(replicates: Replicates) -> int:
    """Return how many replicates are made at a time: few where each takes long, to tell of progress."""
    return 8 if replicates.one_by_one else 1 << 10
