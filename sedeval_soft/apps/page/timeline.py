"""Recordings over time: the values of the reference and the system, and their agreement.

Hits, misses and false alarms are found as the counts of the hard reading are: they add up to these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.apps.page.page_data import Packer, ReportInput
from sedeval_soft.apps.page.sounds import Sounds
from sedeval_soft.arrays import Bools, Index, heads
from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation import costs_of, not_ignored
from sedeval_soft.measures import grid_start, match_by_sed_eval, match_events, pair_rule, runs_on_roll
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables import TICKS_PER_SECOND, Ticks
from sedeval_soft.timeline import (
    Activity,
    Events,
    Recordings,
    covered,
    detected,
    grid_of,
    hard_events,
    pool_rows,
    positive,
    rowwise_events,
)

STEPS = 60_000
"""Levels that values are rounded to: decimals of four digits, quarters and thirds are kept as they are."""

_LEAST = 200  # steps that a strip is never thinned below
_ROUND = tuple(digit * 10**power for power in range(13) for digit in (1, 2, 5))
"""Steps in ticks that read well."""

_PIECES = 400_000  # pieces of constant value that the systems of a page share: 1.5 MB or so, compressed


class Strips(NamedTuple):
    """Values of each file and class from 0 to its end, as they are drawn, sorted by file, class and time.

    file, label: (n,) codes. width: (n,) ticks. value: (n,) in steps of 1 / `STEPS`; pieces that follow one
    another differ. Times without pieces are silent.
    """

    file: Index
    label: Index
    width: Ticks
    value: Index

    def take(self, index: Bools | Index) -> Strips:
        """Return some of the pieces."""
        return Strips(*(column[index] for column in self))

    def joined(self) -> Strips:
        """Join pieces of equal value that follow one another."""
        if not self.width.size:
            return self
        at = heads(self.file, self.label, self.value)
        return self.take(at)._replace(width=np.add.reduceat(self.width, at))


def strips_of(pieces: Activity, end: Ticks) -> Strips:
    """Fill the time between pieces with 0; end: (n_files,) ticks, no piece goes beyond."""
    n = len(pieces.onset)
    follows = np.append(False, pieces.goes_on())[:n]
    last = ~np.append(follows[1:], False)[:n]
    before = np.where(follows, np.append(0, pieces.offset[:-1])[:n], 0)
    # Each piece stands between what is silent before it and, the last of its class, after it.
    rest = np.where(last, end[pieces.file] - pieces.offset, 0)
    width = np.stack((pieces.onset - before, pieces.offset - pieces.onset, rest), axis=1).reshape(-1)
    value = np.zeros((n, 3), dtype=np.int64)
    value[:, 1] = np.rint(pieces.value * STEPS)
    file, label = (np.repeat(codes.astype(np.int64), 3) for codes in (pieces.file, pieces.label))
    return Strips(file, label, width, value.reshape(-1)).take(width > 0).joined()


def thinned(strips: Strips, end: Ticks, most: int) -> tuple[Strips, Index]:
    """Return strips that have hardly more than so many pieces in all, and the steps they are drawn in.

    If there are more, the pieces of files that have more than their share become steps of equal length, each
    with the highest value in it. The steps are in ticks, (n_files,), 0 for unchanged files.
    """
    most = most if len(strips.width) <= most else most // len(end)
    many = np.bincount(strips.file, minlength=len(end)) > most
    step = np.zeros(len(end), dtype=np.int64)
    parts = [strips.take(~many[strips.file])]
    for file in np.flatnonzero(many).tolist():
        whole, length = strips.take(strips.file == file), int(end[file])
        labels = np.unique(whole.label)
        n_steps = max(most // len(labels), _LEAST)
        step[file] = ticks = next((ticks for ticks in _ROUND if -(-length // ticks) <= n_steps), length)
        edges = np.append(np.arange(0, length, ticks), length)
        width, codes = np.diff(edges), np.full(len(edges) - 1, file)
        for label in labels.tolist():
            pieces = whole.take(whole.label == label)
            until = np.cumsum(pieces.width)
            # A step has the pieces from the one at its begin to the one before its end.
            first, last = (np.searchsorted(until, edges[:-1], "right"), np.searchsorted(until, edges[1:]) + 1)
            reached = np.stack((first, last), axis=1).ravel()
            value = np.maximum.reduceat(np.append(pieces.value, 0), reached)[::2]
            parts.append(Strips(codes, np.full_like(codes, label), width, value).joined())
    joint = Strips(*map(np.concatenate, zip(*parts, strict=True)))
    return joint.take(np.argsort(joint.file, kind="stable")), step


Partners = tuple[Events, Index]
"""The hard events of a side, and the position of the partner of each on the other side, -1 for none."""

MISS, FALSE_ALARM, HIT = 1, 2, 3
"""Outcomes of a segment: whether the reference is active, and twice whether the system is."""


def event_outcomes(pair: Recordings, settings: Settings) -> tuple[Partners, Partners]:
    """Match the hard events of a pair as the event-based scores do; what these leave out is left out."""
    reference, system = hard_events(pair)
    n_classes = len(pair.classes)
    system = not_ignored(pair, reference, system, pair_rule(settings))
    sides = reference, system
    if settings.compat == "sed_eval":
        partner = match_by_sed_eval(*sides, n_classes, settings)
    else:
        partner = match_events(*sides, n_classes, pair_rule(settings), settings.matching)
    back = np.full(len(system), -1, dtype=np.int64)
    hit = np.flatnonzero(partner >= 0)
    back[partner[hit]] = hit
    return (reference, partner), (system, back)


def segment_outcomes(pair: Recordings, settings: Settings) -> dict[str, Index]:
    """Compare the segments of a pair as the hard segment-based scores do.

    Returns columns of runs of segments of one file and class with one outcome, (n,) each, in the order of
    files, classes and time. file, label: codes. first: the first segment, of its file. count: the number of
    segments. outcome: `MISS`, `FALSE_ALARM` or `HIT`; there is no run where neither side is active.
    """
    if settings.compat == "sed_eval":
        start = grid_start(pair.reach, settings.segment_length)
        shape, sides = (len(pair.classes), int(start[-1])), []
        for events in rowwise_events(pair):
            runs = runs_on_roll(events, start, settings.segment_length)
            first, last = (runs.file * shape[1] + at for at in (runs.begin, runs.end))
            sides.append(covered(shape[0] * shape[1], first, last).reshape(shape) > 0)
        place = np.concatenate([np.zeros(0, dtype=np.int64), *map(np.arange, np.diff(start))])
    else:
        grid = grid_of(pair)
        grid.check_size(len(pair.classes), means=settings.pool == "mean")
        start, place = grid.start, grid.place(np.arange(grid.size))
        y, p = (pool_rows(rows, grid, settings.pool) for rows in (pair.reference, pair.system))
        sides = [positive(y, settings), detected(p, settings)]
    outcome = sides[0] * np.uint8(MISS) + sides[1] * np.uint8(FALSE_ALARM)
    # Equal outcomes of one file and class that follow one another are joined.
    changes = np.ones(outcome.shape, dtype=bool)
    changes[:, 1:] = (outcome[:, 1:] != outcome[:, :-1]) | (np.diff(place) != 1)
    head = np.flatnonzero(changes)
    count, values = np.diff(head, append=outcome.size), outcome.reshape(-1)[head].astype(np.int64)
    label, cell = np.divmod(head, max(outcome.shape[1], 1))
    file = np.searchsorted(start, cell, side="right") - 1
    order = np.lexsort((cell, label, file))
    order = order[values[order] > 0]
    columns = {"file": file, "label": label, "first": place[cell], "count": count, "outcome": values}
    return {name: column[order] for name, column in columns.items()}


def lengths_shown(inputs: Sequence[ReportInput], count: int, files: Sequence[str]) -> dict[str, float]:
    """Return the seconds of the files that `timelines` shows, by name; systems may have different files."""
    shown: dict[str, float] = {}
    for each in inputs:
        for code in _choose(each, _costs(each), count, files):
            name = each.pair.files[code]
            shown[name] = max(shown.get(name, 0.0), float(each.pair.reach[code]))
    return shown


def timelines(
    inputs: ReportInput,
    pack: Packer,
    count: int,
    files: Sequence[str] = (),
    systems: int = 1,
    sounds: Sounds | None = None,
) -> dict[str, Any]:
    """Return the files that are shown, and why these; arrays are packed.

    count: the number of files for each of two reasons: costing most, and drawn at random. files: names of
    others to show. systems: how many share the page. sounds: of files, if any.
    """
    pair, settings, plan = inputs.pair, inputs.settings, Plan.of(inputs.settings)
    costs = _costs(inputs)
    why = _choose(inputs, costs, count, files)
    part = pair.with_files(tuple(name for code, name in enumerate(pair.files) if code in why))
    # What is a hit is told of bases whose hard reading is evaluated.
    views = [basis for basis in ("event", "segment") if plan.scores(basis, "hard")]
    contents = dict(zip(sorted(why), _files(part, settings, views, pack, _PIECES // systems), strict=True))
    return {
        "said": f"{len(why)} of {counted(len(pair.files), 'file')}.",
        "classes": [visible(name) for name in pair.classes],
        "views": views,
        "threshold": settings.threshold,
        "reference_threshold": settings.reference_cut,
        "inclusive": settings.inclusive,
        "segment": settings.segment_length,
        "postprocessed": settings.postprocesses,
        "files": [
            {
                **contents[code],
                "why": why[code],
                "cost": None if costs is None else float(costs[code]),
                "sound": sounds and sounds.of(pair.files[code], pack),
            }
            for code in why
        ],
    }


def _costs(inputs: ReportInput) -> npt.NDArray[np.number] | None:
    """Return the cost of each file, (n_files,), if the evaluation has costs."""
    both = costs_of(inputs.tally, inputs.settings)
    return None if both is None else (both[0] + both[1]).sum(axis=1)


def _choose(
    inputs: ReportInput, costs: npt.NDArray[np.number] | None, count: int, files: Sequence[str]
) -> dict[int, str]:
    """Return the codes of the files that are shown, in the order of the list, and why each is."""
    names = inputs.pair.files
    if len(names) <= 2 * count:
        return dict.fromkeys(range(len(names)), "all")
    code = {name: place for place, name in enumerate(names)}
    why = dict.fromkeys((code[name] for name in files if name in code), "asked")
    if costs is not None:
        order = np.argsort(-costs, kind="stable")[:count]
        for file in order[costs[order] > 0].tolist():
            why.setdefault(file, "cost")
    worst = inputs.scores.worst
    for segment in worst.segments if worst is not None and count else ():
        why.setdefault(code[str(segment.file)], "segments")
    for each in inputs.errors if count else ():
        for example in each.at:
            why.setdefault(code[example.file], "errors")
    # The same files whatever the system, where they do not cost most.
    drawn = np.random.default_rng(inputs.settings.seed).permutation(len(names)).tolist()
    why |= dict.fromkeys([file for file in drawn if file not in why][:count], "random")
    return why


def _files(
    pair: Recordings, settings: Settings, views: Sequence[str], pack: Packer, most: int
) -> Iterator[dict[str, Any]]:
    """Yield the data of each file of a pair; most: about how many pieces all strips may have."""
    # Where events are not evaluated none has a partner.
    events = dict(zip(
        ("reference", "system"),
        event_outcomes(pair, settings) if "event" in views
        else [(side, np.full(len(side), -1, dtype=np.int64)) for side in hard_events(pair)],
        strict=True,
    ))  # fmt: skip
    segments = segment_outcomes(pair, settings) if "segment" in views else None
    activities = {"reference": Activity.of_table(pair.reference), "system": Activity.of_table(pair.system)}
    end: Ticks = pair.reach_ticks.copy()
    spans: list[Activity | Events] = [*activities.values(), *(of for of, _ in events.values())]
    for timed in spans:
        np.maximum.at(end, timed.file, timed.offset)
    strips = {
        side: thinned(strips_of(activity, end), end, most // 2) for side, activity in activities.items()
    }

    def strip(pieces: Strips, code: int) -> dict[str, Any]:
        part = pieces.take(np.flatnonzero(pieces.file == code))
        first = np.flatnonzero(np.diff(part.label, prepend=-1))
        return {
            "label": pack(part.label[first]),
            "first": pack(np.append(first, len(part.label))),
            "width": pack(part.width),
            "value": pack(part.value, "u2"),
        }

    def listed(side: str, other: str, code: int) -> dict[str, Any]:
        (own, partner), (others, _) = events[side], events[other]
        # By class and time; partners by their place in the list of the others, from 1.
        ours, theirs = (
            np.lexsort((each.offset, each.onset, each.label, each.file != code))[: (each.file == code).sum()]
            for each in (own, others)
        )
        place = np.zeros(len(others) + 1, dtype=np.int64)
        place[theirs] = np.arange(1, len(theirs) + 1)
        return {
            "label": pack(own.label[ours]),
            "onset": pack(own.onset[ours]),
            "offset": pack(own.offset[ours]),
            # Those without partner take the last place, which is 0.
            "partner": pack(place[partner[ours]]),
        }

    for code, name in enumerate(pair.files):
        yield {
            "name": visible(name),
            "length": int(end[code]) / TICKS_PER_SECOND,
            "strips": {side: strip(pieces, code) for side, (pieces, _) in strips.items()},
            "steps": {side: int(step[code]) / TICKS_PER_SECOND for side, (_, step) in strips.items()},
            "events": {
                "reference": listed("reference", "system", code),
                "system": listed("system", "reference", code),
            },
            "segments": None
            if segments is None
            else {
                name: pack(column[segments["file"] == code])
                for name, column in segments.items()
                if name != "file"
            },
        }
