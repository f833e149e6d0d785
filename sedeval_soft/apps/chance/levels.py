"""Chance levels: the scores of the same output, independent of the recordings.

The output is moved in time along all files laid end to end, by a random number of segments; the output of
clips is dealt to other files. Chance levels are means over such draws, or over all arrangements if these are
few.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from sedeval_soft.api import (
    Durations,
    Evaluation,
    Parted,
    evaluation_of,
    limits_from,
    settings_from,
    settings_of_points,
    shown,
    with_folds,
    with_points,
)
from sedeval_soft.arrays import Floats, Index
from sedeval_soft.checks import AlignmentReport
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation import (
    Chance,
    Level,
    Progress,
    Score,
    Scores,
    score_tally,
    shard_of,
    stream,
    tuned_shard,
    with_rule_followed,
)
from sedeval_soft.fields import Keywords
from sedeval_soft.measures import measure_of
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables import EventTable, Limits, Ticks, to_seconds, to_ticks
from sedeval_soft.timeline import Grid, Recordings, Regions, clip_values, expand, grid_of

DRAWS, MOST_DRAWS = 100, 1_000_000
"""The default and the largest number of arrangements for chance levels."""


def chance_levels(
    reference: Any,  # noqa: ANN401 - as for evaluate
    system: Any,  # noqa: ANN401
    draws: int = DRAWS,
    *,
    durations: Durations | None = None,
    name: str | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Scores:
    """Return the scores of a system with the chance level of each, and the score between chance and the best.

    draws: the number of arrangements in time for the means, drawn by the `seed` of the settings; if fewer
    exist, all are used. progress: called with the number done. The levels are in `Scores.chance`; scores of
    parts, and scores without a better direction, have none. Other arguments and errors as for `evaluate`; all
    rows are in memory.
    """
    limits = limits_from(limits, values)
    chosen = settings_from(settings, values, limits=limits)
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or not 1 <= draws <= MOST_DRAWS:
        raise SettingsError(f"draws must be 1 to {MOST_DRAWS}, not {shown(draws)}")
    system = with_points(system, limits)
    evaluation = evaluation_of(
        reference, system, with_folds(settings_of_points(chosen, [system]), folds), durations=durations,
        name=name, folds=folds, by=by, limits=limits, rows_in_memory=True,
    )  # fmt: skip
    return _with_levels(evaluation, int(draws), progress)


def _with_levels(evaluation: Evaluation, draws: int, progress: Progress | None) -> Scores:
    """Return the scores of an evaluation, whose rows are in memory, with their chance levels."""
    pair, scores = evaluation.pair, evaluation.scores
    if pair.whole is not None:
        # What of an event lies outside of all regions cannot be moved within them.
        raise SettingsError("chance cannot go with region_edges=onset; expected region_edges=cut")
    if scores.settings.regions and scores.settings.regions.labels:
        raise SettingsError("chance cannot go with regions of some classes; expected regions of all classes")
    if pair.ignored is not None:
        raise SettingsError(
            "ignore_class cannot go with chance levels, which move a system over all time alike"
        )
    settings = replace(
        scores.settings, ci=None, worst=0, reference_sweep=False, groups={}, scenes={}, strict=False
    )
    chosen = {
        name: score
        for name, score in scores.scores.items()
        if score.group is None and measure_of(name).direction != "none"
    }
    grid = grid_of(pair)
    rng, size = stream(settings.seed, "chance"), max(grid.size, 1)
    shifts = rng.choice(size, size=min(draws, size), replace=False)
    values: dict[str, list[float | None]] = {name: [] for name in chosen}
    for done, shift in enumerate(shifts.tolist(), 1):
        for arranged in _arranged(pair._replace(plan=Plan.of(settings)), grid, shift, rng):
            shard = tuned_shard(shard_of(arranged, scores.inputs, scores.system), evaluation.folds)
            drawn = score_tally(shard.tally, with_rule_followed(shard.settings, shard.tally))
            for name in values.keys() & drawn.keys():
                values[name].append(drawn[name].value)
        if progress is not None:
            progress(done, len(shifts))
    everything = len(shifts) == grid.size
    levels = {name: _level(score, values[name], everything) for name, score in chosen.items()}
    return replace(scores, chance=Chance(len(shifts), settings.seed, everything, levels))


def _level(score: Score, values: list[float | None], everything: bool) -> Level:
    drawn, error = np.array([x for x in values if x is not None], dtype=np.float64), None
    if not len(drawn):
        return Level(None, None, None)
    chance = float(drawn.mean())
    # Files are dealt at random even where all moves in time are looked at.
    if len(drawn) > 1 and (score.basis == "clip" or not everything):
        error = float(drawn.std(ddof=1) / np.sqrt(len(drawn)))
    best = measure_of(score.name).best
    if score.value is None or best is None or abs(best - chance) < 1e-12:
        return Level(chance, error, None)
    return Level(chance, error, float((score.value - chance) / (best - chance)))


def _arranged(pair: Recordings, grid: Grid, shift: int, rng: np.random.Generator) -> Iterator[Recordings]:
    """Yield the pair with its system moved in time, and with its clips dealt anew, if these are scored."""
    plan, settings = pair.plan, pair.settings
    timed = tuple(".".join(family) for family in plan.families if family[0] != "clip")
    clips = tuple(".".join(family) for family in plan.families if family[0] == "clip")
    if timed or plan.psds:
        system = moved(pair.system, grid, shift)
        if pair.regions is not None:
            system = pair.regions.cut(system)
        raw = moved(pair.raw, grid, shift) if settings.psds_median_filters else system
        asked = replace(settings, only=timed or ("intersection.hard",))
        yield pair._replace(system=system, raw=raw, plan=Plan.of(asked), findings=AlignmentReport())
    if clips:
        length = pair.reach_ticks
        values = clip_values(pair.system, length)[:, rng.permutation(len(length))]
        codes, onset = np.arange(len(length), dtype=np.int32), np.zeros(len(length))
        names, columns = (pair.files, pair.classes), tuple(values)
        system = EventTable(*names, codes, onset, pair.reach, columns, pair.system.origin)
        asked = replace(settings, only=clips, psds=None, psds_median_filters=(), alpha_ct=None, alpha_st=None,
                     max_efpr=None)  # fmt: skip
        yield pair._replace(system=system, raw=system, plan=Plan.of(asked), findings=AlignmentReport())


# An output that is moved in time: all it says stays, but it says it elsewhere.
#
# Files are laid end to end, each as long as its whole segments, and the output moves along them as on a
# ring. So values, lengths of events, and what is heard together stay as they are, except where the end of a
# file cuts an event in two. The mean over all moves of any sum over segments is that over all pairs of a
# reference segment and a system segment: what an output has that knows nothing of the recordings.


def moved(rows: EventTable, grid: Grid, shift: int) -> EventTable:
    """Return rows moved along all files, which are laid end to end as the grid lays their segments.

    shift: segments, from 0 to less than the grid has. The part of a row after the end of its file is cut off
    before.
    """
    # Segments may differ by a tick. All are as long as the longest on the ring, and cut back behind it.
    edges, width = grid.edges, math.ceil(grid.edges.step)
    run, runs, start = rows.file.astype(np.int64), np.arange(len(grid.length)), grid.start
    first = np.zeros_like(runs)
    if grid.left is not None:
        # Each stretch of segments that are left is on the ring as files are.
        left = Regions.of(*grid.runs())
        rows = left.cut(rows)
        run, runs, first = left.at(rows.file, to_ticks(rows.onset)), left.file, edges.before(left.begin)
        start = np.append(0, np.cumsum(edges.after(left.end) - first))
    skipped = first * width

    def on_ring(seconds: Floats) -> Ticks:
        ticks = edges.on(to_ticks(seconds))
        segment = edges.before(ticks)
        return segment * width + ticks - edges.at(segment)

    def in_file(ticks: Ticks, run: Index) -> Floats:
        segment, inside = np.divmod(ticks + skipped[run], width)
        return to_seconds(edges.at(segment) + inside)

    start = start * width
    ring, length = start[-1], np.diff(start)[run]
    onset = on_ring(rows.onset) - skipped[run]
    offset = np.minimum(on_ring(rows.offset) - skipped[run], length)
    row = np.flatnonzero((onset < length) & (offset >= onset))
    begin = (start[run] + onset + shift * width)[row] % max(ring, 1)
    end = begin + (offset - onset)[row]
    # Twice around: what goes on over the end of the ring goes on at its beginning.
    twice = np.concatenate((start[:-1], start + ring))
    first = np.searchsorted(twice, begin, side="right") - 1
    piece, place = expand(first, np.maximum(np.searchsorted(twice, end, side="left"), first + 1))
    low, high = np.maximum(begin[piece], twice[place]), np.minimum(end[piece], twice[place + 1])
    # Files without length are crossed, and get nothing.
    lasting = (high > low) | (end == begin)[piece]
    piece, place, low, high = (column[lasting] for column in (piece, place, low, high))
    there = place % (len(start) - 1)
    times: dict[str, Any] = {
        "file": runs[there].astype(np.int32),
        "onset": in_file(low - twice[place], there),
        "offset": in_file(high - twice[place], there),
    }
    return replace(rows.take(row[piece]), **times)
