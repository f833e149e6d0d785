"""Recordings over time: what the reference and the system say, and where they agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import visible
from sedeval_soft.evaluation.outcomes import EventOutcomes, SegmentOutcomes, event_outcomes, segment_outcomes
from sedeval_soft.evaluation.worst import costs_of
from sedeval_soft.html.arrays import Packer
from sedeval_soft.html.inputs import ReportInput
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, Ticks
from sedeval_soft.timeline.events import Activity, Events
from sedeval_soft.timeline.ranges import range_maximum
from sedeval_soft.timeline.recordings import Recordings, hard_events, with_files

# Values over time as they are drawn: strips without gaps, thinned where there are too many of them.


Index = npt.NDArray[np.int64]

STEPS = 60_000
"""Levels that values are rounded to: decimals of four digits, quarters and thirds are kept as they are."""

_LEAST = 200
"""Steps that a strip is never thinned below."""


@dataclass(frozen=True, slots=True)
class Strips:
    """Values of each file and class from 0 to its end, sorted by file, class and time.

    file, label: (n,) codes. width: (n,) ticks. value: (n,) in steps of 1 / `STEPS`; pieces that follow one
    another differ. What has no pieces is silent.
    """

    file: Index
    label: Index
    width: Ticks
    value: Index

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self.width)


def strips_of(pieces: Activity, end: Ticks) -> Strips:
    """Fill the time between pieces with 0; end: (n_files,) ticks, no piece goes beyond."""
    n = len(pieces.onset)
    first = np.ones(n, dtype=bool)
    first[1:] = ~pieces.goes_on()
    last = np.append(first[1:], True)[:n]
    before = np.zeros(n, dtype=np.int64)
    before[1:] = pieces.offset[:-1]
    before[first] = 0
    gap = pieces.onset - before
    rest = np.where(last, end[pieces.file] - pieces.offset, 0)
    # Each piece stands between what is silent before it and, the last of its class, after it.
    source = np.repeat(np.arange(n), 3)
    width = np.stack((gap, pieces.offset - pieces.onset, rest), axis=1).reshape(-1)
    value = np.zeros((n, 3), dtype=np.int64)
    value[:, 1] = np.rint(pieces.value * STEPS)
    kept = width > 0
    source, width, value = source[kept], width[kept], value.reshape(-1)[kept]
    file, label = (codes.astype(np.int64)[source] for codes in (pieces.file, pieces.label))
    return _joined(Strips(file, label, width, value))


def thinned(strips: Strips, end: Ticks, most: int) -> tuple[Strips, npt.NDArray[np.int64]]:
    """Return strips in which no file has many more than so many pieces, and the steps they are drawn in.

    Where a file has more its pieces become steps of equal length, each with the highest value in it. The
    steps are in ticks, (n_files,), 0 where nothing was changed.
    """
    n_files = len(end)
    many = np.bincount(strips.file, minlength=n_files) > most
    step = np.zeros(n_files, dtype=np.int64)
    parts = [_take(strips, ~many[strips.file])]
    for file in np.flatnonzero(many).tolist():
        own = _take(strips, strips.file == file)
        labels = np.unique(own.label)
        step[file] = _step(int(end[file]), max(most // len(labels), _LEAST))
        parts.append(_highest(own, labels, int(end[file]), int(step[file])))
    joint = Strips(*(np.concatenate([getattr(part, name) for part in parts]) for name in _STRIPS))
    return _take(joint, np.argsort(joint.file, kind="stable")), step


_STRIPS = ("file", "label", "width", "value")

_ROUND = tuple(digit * 10**power for power in range(13) for digit in (1, 2, 5))
"""Steps in ticks that read well."""


def _step(end: int, most: int) -> int:
    """Return the shortest step that reads well of which no more than so many are needed."""
    return next((step for step in _ROUND if -(-end // step) <= most), end)


def _highest(strips: Strips, labels: Index, end: int, step: int) -> Strips:
    """Return the strips of one file in steps, each with the highest value in it."""
    n_steps = -(-end // step)
    row = np.searchsorted(labels, strips.label)
    until = np.cumsum(strips.width)
    # Widths are summed over all classes: each begins where the one before it ended.
    head = np.searchsorted(row, np.arange(len(labels)))
    offset = until - (until[head] - strips.width[head])[row]
    first, last = (offset - strips.width) // step, -(-offset // step)
    size = len(labels) * n_steps
    value = range_maximum(size, row * n_steps + first, row * n_steps + last, strips.value / STEPS)
    width = np.full(n_steps, step, dtype=np.int64)
    width[-1] = end - step * (n_steps - 1)
    label = np.repeat(labels, n_steps)
    same = np.full(size, strips.file[0])
    return _joined(Strips(same, label, np.tile(width, len(labels)), np.rint(value * STEPS).astype(np.int64)))


def _take(strips: Strips, index: npt.NDArray[np.bool_] | Index) -> Strips:
    return Strips(*(getattr(strips, name)[index] for name in _STRIPS))


def _joined(strips: Strips) -> Strips:
    """Join pieces of equal value that follow one another."""
    if not len(strips):
        return strips
    new = np.ones(len(strips), dtype=bool)
    new[1:] = np.logical_or.reduce(
        [np.diff(getattr(strips, name)) != 0 for name in ("file", "label", "value")]
    )
    head = np.flatnonzero(new)
    return replace(_take(strips, head), width=np.add.reduceat(strips.width, head))


# Files over time: what the reference and the system say, and where they agree.


REASONS = {
    "asked": ("one asked for", "{} asked for"),
    "cost": ("the one that costs most", "the {} that cost most"),
    "segments": ("one more with segments that cost most", "{} more with segments that cost most"),
    "random": ("one drawn at random", "{} drawn at random"),
}
"""Why files are shown where not all are, in the order of the list; said of one file and of several."""

_PIECES = 400_000
"""Pieces of constant value that the systems of a page share: 1.5 MB or so, compressed."""

_HIGHEST = 1 << 32
"""Ticks that are too many for the packed whole numbers: 71 minutes."""


def timelines(
    inputs: ReportInput, pack: Packer, count: int, files: Sequence[str] = (), systems: int = 1
) -> dict[str, Any]:
    """Return the files that are shown, and why these; arrays are packed.

    count: how many files are shown for each of two reasons: costing most, and drawn at random. files: names
    of others to show. systems: how many share the page.
    """
    pair, settings = inputs.pair, inputs.settings
    why = _choose(inputs, count, files)
    part = with_files(pair, tuple(name for code, name in enumerate(pair.files) if code in why))
    shown = _Shown(part, settings, pack, _PIECES // max(systems, 1))
    costs = _costs(inputs)
    made = {
        code: {
            **shown.file(place),
            "why": why[code],
            "cost": None if costs is None else float(costs[code]),
        }
        for place, code in enumerate(sorted(why))
    }
    return {
        "said": said_of(why.values(), len(pair.files)) + _unknown(files, pair.files),
        "classes": [visible(name) for name in pair.classes],
        "views": _views(settings),
        "threshold": settings.threshold,
        "reference_threshold": settings.reference_cut,
        "inclusive": settings.inclusive,
        "segment": settings.segment_length,
        "postprocessed": settings.postprocesses,
        "files": [made[code] for code in why],
    }


def said_of(reasons: Iterable[str], total: int) -> str:
    """Return how many files are shown, and why these; reasons: of each file, `all` where all are."""
    given = list(reasons)
    if not total:
        return "There are no files."
    if "all" in given:
        return "The only file." if total == 1 else f"All {total} files."
    if not given:
        return f"None of {total} files."
    parts = [said[n > 1].format(n) for why, said in REASONS.items() if (n := given.count(why))]
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{len(given)} of {total} files: {listed}."


def _unknown(asked: Sequence[str], names: Sequence[str]) -> str:
    """Return what is said of files that were asked for and are not there."""
    known = set(names)
    unknown = [visible(name) for name in asked if name not in known]
    return f" Not evaluated, but asked for: {', '.join(unknown)}." if unknown else ""


def _choose(inputs: ReportInput, count: int, files: Sequence[str]) -> dict[int, str]:
    """Return the codes of the files that are shown, in the order of the list, and why each is."""
    names = inputs.pair.files
    if len(names) <= 2 * count:
        return dict.fromkeys(range(len(names)), "all")
    code = {name: place for place, name in enumerate(names)}
    found = dict.fromkeys((code[name] for name in files if name in code), "asked")
    costs = _costs(inputs)
    if costs is not None:
        order = np.argsort(-costs, kind="stable")[:count]
        for file in order[costs[order] > 0].tolist():
            found.setdefault(file, "cost")
    worst = inputs.scores.worst
    for segment in worst.segments if worst is not None and count else ():
        found.setdefault(code[str(segment.file)], "segments")
    # The same files whatever the system, where they do not cost most.
    drawn = np.random.default_rng(inputs.settings.seed).permutation(len(names)).tolist()
    found |= dict.fromkeys([file for file in drawn if file not in found][:count], "random")
    order_of = list(REASONS)
    return dict(sorted(found.items(), key=lambda each: order_of.index(each[1])))


def _costs(inputs: ReportInput) -> npt.NDArray[np.number] | None:
    """Return the misses and false alarms of each file, (n_files,); None where nothing has costs."""
    costs = costs_of(inputs.tally, inputs.settings)
    return None if costs is None else (costs[0] + costs[1]).sum(axis=1)


def _views(settings: Settings) -> list[str]:
    """Return for which bases it is told what is a hit: those whose hard reading is evaluated."""
    plan = Plan.of(settings)
    return [basis for basis in ("event", "segment") if plan.scores(basis, "hard")]


class _Shown:
    """What is shown of the files of a pair, packed file by file."""

    def __init__(self, pair: Recordings, settings: Settings, pack: Packer, most: int) -> None:
        self._pair, self._pack = pair, pack
        views = _views(settings)
        self._events = event_outcomes(pair, settings) if "event" in views else _unmatched(pair, settings)
        self._segments = segment_outcomes(pair, settings) if "segment" in views else None
        pieces = {"reference": Activity.of_table(pair.reference), "system": Activity.of_table(pair.system)}
        self._end: Ticks = pair.reach_ticks.copy()
        timed: list[Activity | Events] = [*pieces.values(), self._events.reference, self._events.system]
        for of in timed:
            np.maximum.at(self._end, of.file, of.offset)
        self._strips: dict[str, Strips] = {}
        self._step: dict[str, Ticks] = {}
        for side, activity in pieces.items():
            strips = strips_of(activity, self._end)
            share = most // 2 // max(len(pair.files), 1) if len(strips) > most // 2 else len(strips)
            self._strips[side], self._step[side] = thinned(strips, self._end, share)

    def file(self, code: int) -> dict[str, Any]:
        """Return what is shown of a file."""
        name = self._pair.files[code]
        events = self._events
        sides = {
            "reference": (events.reference, events.reference_partner, events.system),
            "system": (events.system, events.system_partner, events.reference),
        }
        return {
            "name": visible(name),
            "length": int(self._end[code]) / TICKS_PER_SECOND,
            "strips": {side: self._strip(of, code) for side, of in self._strips.items()},
            "steps": {side: int(of[code]) / TICKS_PER_SECOND for side, of in self._step.items()},
            "events": {side: self._listed(*of, code) for side, of in sides.items()},
            "segments": None if self._segments is None else self._runs(self._segments, code),
        }

    def _strip(self, strips: Strips, code: int) -> Mapping[str, Any]:
        own = slice(*np.searchsorted(strips.file, [code, code + 1]).tolist())
        label = strips.label[own]
        first = np.flatnonzero(np.diff(label, prepend=-1))
        return {
            "label": self._pack(label[first]),
            "first": self._pack(np.append(first, len(label))),
            "width": self._ticks(strips.width[own]),
            "value": self._pack(strips.value[own], "u2"),
        }

    def _listed(self, events: Events, partner: Index, others: Events, code: int) -> Mapping[str, Any]:
        """Return the events of a file by class and time; partner: the place among the others', from 1."""
        own, theirs = _in_order(events, code), _in_order(others, code)
        place = np.zeros(len(others) + 1, dtype=np.int64)
        place[theirs] = np.arange(1, len(theirs) + 1)
        return {
            "label": self._pack(events.label[own]),
            "onset": self._ticks(events.onset[own]),
            "offset": self._ticks(events.offset[own]),
            # Those without partner take the last place, which is 0.
            "partner": self._pack(place[partner[own]]),
        }

    def _runs(self, segments: SegmentOutcomes, code: int) -> Mapping[str, Any]:
        own = slice(*np.searchsorted(segments.file, [code, code + 1]).tolist())
        columns = {name: getattr(segments, name)[own] for name in ("label", "first", "count", "outcome")}
        return {name: self._pack(column) for name, column in columns.items()}

    def _ticks(self, ticks: Ticks) -> dict[str, Any]:
        return self._pack(ticks, "f8" if int(ticks.max(initial=0)) >= _HIGHEST else None)


def _unmatched(pair: Recordings, settings: Settings) -> EventOutcomes:
    """Return the hard events of a pair where it is not evaluated which match."""
    reference, system = hard_events(pair, settings)
    partners = (np.full(len(events), -1, dtype=np.int64) for events in (reference, system))
    return EventOutcomes(reference, system, *partners)


def _in_order(events: Events, code: int) -> Index:
    """Return the positions of the events of a file by class, onset and offset."""
    own = np.flatnonzero(events.file == code)
    return own[np.lexsort((events.offset[own], events.onset[own], events.label[own]))]
