"""Chance levels: what the same output scores where it knows nothing of the recordings.

The output is moved in time along all files laid end to end, by a random number of segments
(`simulation.moved`); that of clips is dealt to other files. Scores that are linear in the true positives of
segments and clips have closed forms; the others are means over draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation.details import Chance, Level
from sedeval_soft.evaluation.optimal import with_rule_followed
from sedeval_soft.evaluation.resample import Progress
from sedeval_soft.evaluation.scores import Score, Scores, named, score_tally
from sedeval_soft.evaluation.shard import shard_of
from sedeval_soft.evaluation.system_scores import tuned_shard
from sedeval_soft.evaluation.time_shift import moved, stream
from sedeval_soft.measures.base import Averaged, averaged, ratio
from sedeval_soft.measures.detection import DetectionCounts, detection_scores
from sedeval_soft.measures.expected import expected_common, expected_kl
from sedeval_soft.measures.names import spell
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.measures.segment import confusion_scores
from sedeval_soft.plan import CELLS, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.file_groups import Partition
from sedeval_soft.timeline.alignment_report import AlignmentReport
from sedeval_soft.timeline.grid import Grid, pool_rows
from sedeval_soft.timeline.recordings import Recordings, clip_sides, clip_values, detected, positive

Floats = npt.NDArray[np.float64]


def chance_of(
    pair: Recordings,
    scores: Scores,
    draws: int,
    folds: Partition | None = None,
    progress: Progress | None = None,
) -> Chance:
    """Return the chance levels of all scores of a pair that have a better and a worse; not those of parts.

    draws: how many arrangements are looked at; if there are fewer, all. folds: over which thresholds are
    tuned. progress: told how many of them are done.
    """
    settings = replace(
        scores.settings, ci=None, worst=0, reference_sweep=False, groups={}, scenes={}, strict=False
    )
    kept = [score for score in scores.scores.values() if score.group is None and _has_level(score)]
    grid = Grid.over(pair.reach_ticks, settings.segment_ticks, pair.length_ticks)
    rng = stream(settings.seed, "chance")
    shifts = rng.choice(max(grid.size, 1), size=min(draws, max(grid.size, 1)), replace=False)
    found: dict[str, list[float]] = {score.name: [] for score in kept}
    for done, shift in enumerate(shifts.tolist(), 1):
        for of, arranged in _arranged(pair, settings, grid, shift, rng):
            shard = tuned_shard(shard_of(arranged, scores.inputs, of, scores.system), folds)
            drawn = score_tally(shard.tally, with_rule_followed(of, shard.tally))
            for name in found.keys() & drawn.keys():
                value = drawn[name].value
                found[name].append(np.nan if value is None else float(value))
        if progress is not None:
            progress(done, len(shifts))
    exact = closed_forms(pair, settings)
    everything = len(shifts) == grid.size
    levels = {score.name: _level(score, found[score.name], exact, everything=everything) for score in kept}
    return Chance(len(shifts), settings.seed, everything, levels)


def _has_level(score: Score) -> bool:
    return measure_of(score.name).direction != "none"


def _level(score: Score, drawn: list[float], exact: Mapping[str, float], *, everything: bool) -> Level:
    values = np.array(drawn)
    values = values[~np.isnan(values)]
    chance, error = exact.get(score.name, np.nan), None
    # Files are dealt at random even where all moves in time are looked at.
    whole = everything and score.basis != "clip"
    if np.isnan(chance) and len(values):
        chance = float(values.mean())
        spread = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
        error = None if whole else spread
    if np.isnan(chance):
        return Level(None, None, None)
    best = measure_of(score.name).best
    if score.value is None or best is None or abs(best - chance) < 1e-12:
        return Level(float(chance), error, None)
    return Level(float(chance), error, float((score.value - chance) / (best - chance)))


def _arranged(
    pair: Recordings, settings: Settings, grid: Grid, shift: int, rng: np.random.Generator
) -> Iterator[tuple[Settings, Recordings]]:
    """Yield the pair with its system moved in time, and with its clips dealt anew, where they are scored."""
    plan = Plan.of(settings)
    parts = [".".join(family) for family in plan.families]
    timed = tuple(part for part in parts if not part.startswith("clip."))
    clips = tuple(part for part in parts if part.startswith("clip."))
    if timed or plan.psds:
        system = moved(pair.system, grid, shift)
        raw = moved(pair.raw, grid, shift) if settings.psds_median_filters else system
        of = replace(settings, only=timed or ("intersection.hard",))
        yield of, replace(pair, system=system, raw=raw, findings=AlignmentReport())
    if clips:
        length = pair.reach_ticks
        values = clip_values(pair.system, length)[:, rng.permutation(len(length))]
        system = EventTable.wide(
            pair.files,
            pair.classes,
            np.arange(len(length), dtype=np.int32),
            np.zeros(len(length)),
            pair.reach,
            tuple(values),
            pair.system.origin,
        )
        of = replace(settings, only=clips, psds=None, psds_median_filters=(), alpha_ct=None, alpha_st=None,
                     max_efpr=None)  # fmt: skip
        yield of, replace(pair, system=system, raw=system, findings=AlignmentReport())


def closed_forms(pair: Recordings, settings: Settings) -> dict[str, float]:
    """Return the chance levels that have a closed form, by the names of scores; NaN where undefined."""
    if settings.compat is not None:
        return {}
    grid = Grid.over(pair.reach_ticks, settings.segment_ticks, pair.length_ticks)
    found: dict[str, float] = {}
    plan = Plan.of(settings)
    for basis in CELLS:
        if not plan.scores(basis):
            continue
        if basis == "segment":
            y, p = (pool_rows(rows, grid, settings.pool) for rows in (pair.reference, pair.system))
        else:
            y, p = clip_sides(pair)
        tables = {(basis, reading): table for reading, table in _expected(basis, y, p, settings).items()}
        for key, value in named(tables, pair.classes):
            if value is not None:
                found[spell(*key)] = float(value)
    return {name: value for name, value in found.items() if not np.isnan(value)}


def _expected(
    basis: str, reference: Floats, system: Floats, settings: Settings
) -> dict[str, dict[str, Averaged]]:
    """Return the tables of the closed forms of a basis, by reading."""
    plan, n_cells, tables = Plan.of(settings), reference.shape[1], {}
    if plan.scores(basis, "hard"):
        y, p = positive(reference, settings), detected(system, settings)
        n_ref, n_sys = (side.sum(axis=1).astype(np.float64) for side in (y, p))
        counts = _counts(n_ref * n_sys / max(n_cells, 1), n_ref, n_sys)
        tables["hard"] = detection_scores(counts, settings.beta)
        tables["hard"] |= confusion_scores(counts, np.array(n_cells))
    if plan.scores(basis, "soft"):
        n_ref, n_sys = reference.sum(axis=1), system.sum(axis=1)
        tp = expected_common(reference, system, settings.t_norm)
        tables["soft"] = detection_scores(_counts(tp, n_ref, n_sys), settings.beta)
        divergence = expected_kl(reference, system, settings.epsilon)
        divergence /= np.log(2) if settings.entropy_unit == "bits" else 1.0
        of_class = np.full(len(tp), float(n_cells))
        micro = ratio(divergence.sum(), of_class.sum())
        tables["soft"]["kl_divergence"] = averaged(ratio(divergence, of_class), micro, n_ref)
    return tables


def _counts(tp: Floats, n_ref: Floats, n_sys: Floats) -> DetectionCounts:
    """Return expected counts; those of all classes together are not linear in TP: no closed form."""
    none = np.array(np.nan)
    return DetectionCounts(tp, n_ref, n_sys, none, none, none)
