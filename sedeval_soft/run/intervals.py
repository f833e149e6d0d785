"""Intervals of scores: files are drawn again, and every score is computed anew."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.scores import Score
from sedeval_soft.core.tally import Tally
from sedeval_soft.evaluation.plan import THRESHOLDED
from sedeval_soft.evaluation.score import Key, plain
from sedeval_soft.measures.names import spell
from sedeval_soft.resample import weights
from sedeval_soft.resample.coverage import ENOUGH, NOMINAL, files_of, held
from sedeval_soft.resample.intervals import bca, jackknife, percentile
from sedeval_soft.run.optimal import optimal_scores
from sedeval_soft.run.replicates import Replicates
from sedeval_soft.run.spool import Spool
from sedeval_soft.settings import READINGS, Settings

Floats = npt.NDArray[np.float64]
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
    found = {spell(*key): (plain(low), plain(high)) for key, low, high in zip(keys, *columns, strict=True)}
    return {
        name: replace(score, low=found[name][0], high=found[name][1]) if name in found else score
        for name, score in scores.items()
    }


def replicates_of(tally: Tally, settings: Settings) -> Replicates:
    """Return what gives scores of replicates, with thresholds of their own or those of all files."""
    if not settings.fixed_thresholds:
        return Replicates.of(tally, settings)
    families = [family for family in THRESHOLDED if settings.wants(*family)]
    return Replicates.of(
        tally, settings, {family: optimal_scores(tally, family[0], settings) for family in families}
    )


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
        for basis, readings in READINGS.items() for reading in readings if settings.wants(basis, reading)
    }  # fmt: skip
    return tuple(kind for kind in ("hard", "soft", "optimal") if kind in wanted)


def skips_optimal(settings: Settings) -> bool:
    """Return whether the intervals that are asked for are not valid for optimal readings."""
    optimal = any(settings.wants(*family) for family in THRESHOLDED)
    return settings.ci == "jackknife" and optimal and not settings.fixed_thresholds


def _without_optimal(settings: Settings) -> tuple[str, ...]:
    families = [(basis, reading) for basis, readings in READINGS.items() for reading in readings]
    return (
        tuple(".".join(f) for f in families if f not in THRESHOLDED and settings.wants(*f)) or settings.only
    )


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
