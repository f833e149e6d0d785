"""Recordings over time: what the reference and the system say, and where they agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import visible
from sedeval_soft.evaluation.outcomes import EventOutcomes, event_outcomes, segment_outcomes
from sedeval_soft.evaluation.worst import costs_of
from sedeval_soft.html.arrays import Packer
from sedeval_soft.html.page_data import ReportInput
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import heads
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, Ticks
from sedeval_soft.timeline.events import Activity, Events
from sedeval_soft.timeline.ranges import range_maximum
from sedeval_soft.timeline.recordings import Recordings, hard_events

Index = npt.NDArray[np.int64]

STEPS = 60_000
"""Levels that values are rounded to: decimals of four digits, quarters and thirds are kept as they are."""

_LEAST = 200
"""Steps that a strip is never thinned below."""

_ROUND = tuple(digit * 10**power for power in range(13) for digit in (1, 2, 5))
"""Steps in ticks that read well."""


class Strips(NamedTuple):
    """Values of each file and class from 0 to its end, as they are drawn, sorted by file, class and time.

    file, label: (n,) codes. width: (n,) ticks. value: (n,) in steps of 1 / `STEPS`; pieces that follow one
    another differ. What has no pieces is silent.
    """

    file: Index
    label: Index
    width: Ticks
    value: Index

    def take(self, index: npt.NDArray[np.bool_] | Index) -> Strips:
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
    first = np.ones(n, dtype=bool)
    first[1:] = ~pieces.goes_on()
    last = np.append(first[1:], True)[:n]
    before = np.zeros(n, dtype=np.int64)
    before[1:] = pieces.offset[:-1]
    before[first] = 0
    # Each piece stands between what is silent before it and, the last of its class, after it.
    rest = np.where(last, end[pieces.file] - pieces.offset, 0)
    width = np.stack((pieces.onset - before, pieces.offset - pieces.onset, rest), axis=1).reshape(-1)
    value = np.zeros((n, 3), dtype=np.int64)
    value[:, 1] = np.rint(pieces.value * STEPS)
    file, label = (np.repeat(codes.astype(np.int64), 3) for codes in (pieces.file, pieces.label))
    return Strips(file, label, width, value.reshape(-1)).take(width > 0).joined()


def thinned(strips: Strips, end: Ticks, most: int) -> tuple[Strips, npt.NDArray[np.int64]]:
    """Return strips in which no file has many more than so many pieces, and the steps they are drawn in.

    Where a file has more its pieces become steps of equal length, each with the highest value in it. The
    steps are in ticks, (n_files,), 0 where nothing was changed.
    """
    many = np.bincount(strips.file, minlength=len(end)) > most
    step = np.zeros(len(end), dtype=np.int64)
    parts = [strips.take(~many[strips.file])]
    for file in np.flatnonzero(many).tolist():
        of_file, length = strips.take(strips.file == file), int(end[file])
        labels = np.unique(of_file.label)
        n_steps = max(most // len(labels), _LEAST)
        step[file] = next((ticks for ticks in _ROUND if -(-length // ticks) <= n_steps), length)
        parts.append(_highest(of_file, labels, length, int(step[file])))
    joint = Strips(*map(np.concatenate, zip(*parts, strict=True)))
    return joint.take(np.argsort(joint.file, kind="stable")), step


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
    return Strips(
        np.full(size, strips.file[0]),
        np.repeat(labels, n_steps),
        np.tile(width, len(labels)),
        np.rint(value * STEPS).astype(np.int64),
    ).joined()


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
    both = costs_of(inputs.tally, settings)
    costs = None if both is None else (both[0] + both[1]).sum(axis=1)
    why = _choose(inputs, costs, count, files)
    part = pair.with_files(tuple(name for code, name in enumerate(pair.files) if code in why))
    described = dict(zip(sorted(why), _files(part, settings, pack, _PIECES // systems), strict=True))
    evaluated = set(pair.files)
    unknown = [visible(name) for name in files if name not in evaluated]
    return {
        "said": said_of(why.values(), len(pair.files))
        + (f" Not evaluated, but asked for: {', '.join(unknown)}." if unknown else ""),
        "classes": [visible(name) for name in pair.classes],
        "views": _views(settings),
        "threshold": settings.threshold,
        "reference_threshold": settings.reference_cut,
        "inclusive": settings.inclusive,
        "segment": settings.segment_length,
        "postprocessed": settings.postprocesses,
        "files": [
            {**described[code], "why": why[code], "cost": None if costs is None else float(costs[code])}
            for code in why
        ],
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
    parts = [texts[n > 1].format(n) for why, texts in REASONS.items() if (n := given.count(why))]
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{len(given)} of {total} files: {listed}."


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
        why |= dict.fromkeys([file for file in order[costs[order] > 0].tolist() if file not in why], "cost")
    worst = inputs.scores.worst
    for segment in worst.segments if worst is not None and count else ():
        why.setdefault(code[str(segment.file)], "segments")
    # The same files whatever the system, where they do not cost most.
    drawn = np.random.default_rng(inputs.settings.seed).permutation(len(names)).tolist()
    why |= dict.fromkeys([file for file in drawn if file not in why][:count], "random")
    return {file: reason for listed in REASONS for file, reason in why.items() if reason == listed}


def _views(settings: Settings) -> list[str]:
    """Return for which bases it is told what is a hit: those whose hard reading is evaluated."""
    plan = Plan.of(settings)
    return [basis for basis in ("event", "segment") if plan.scores(basis, "hard")]


def _files(pair: Recordings, settings: Settings, pack: Packer, most: int) -> Iterator[dict[str, Any]]:
    """Yield what is shown of each file of a pair; most: pieces that all strips may have, about."""
    views = _views(settings)
    events = event_outcomes(pair, settings) if "event" in views else _unmatched(pair, settings)
    segments = segment_outcomes(pair, settings) if "segment" in views else None
    activities = {"reference": Activity.of_table(pair.reference), "system": Activity.of_table(pair.system)}
    end: Ticks = pair.reach_ticks.copy()
    spans: list[Activity | Events] = [*activities.values(), events.reference, events.system]
    for timed in spans:
        np.maximum.at(end, timed.file, timed.offset)
    strips = {}
    for side, activity in activities.items():
        whole = strips_of(activity, end)
        n_pieces = whole.width.size
        strips[side] = thinned(whole, end, most // 2 // len(pair.files) if n_pieces > most // 2 else n_pieces)

    def ticks(column: Ticks) -> dict[str, Any]:
        return pack(column, "f8" if int(column.max(initial=0)) >= _HIGHEST else None)

    def strip(pieces: Strips, code: int) -> dict[str, Any]:
        of_file = slice(*np.searchsorted(pieces.file, [code, code + 1]).tolist())
        label = pieces.label[of_file]
        first = np.flatnonzero(np.diff(label, prepend=-1))
        return {
            "label": pack(label[first]),
            "first": pack(np.append(first, len(label))),
            "width": ticks(pieces.width[of_file]),
            "value": pack(pieces.value[of_file], "u2"),
        }

    def listed(side: Events, partner: Index, others: Events, code: int) -> dict[str, Any]:
        # By class and time; partners by their place in the list of the others, from 1.
        ours, theirs = _in_order(side, code), _in_order(others, code)
        place = np.zeros(len(others) + 1, dtype=np.int64)
        place[theirs] = np.arange(1, len(theirs) + 1)
        return {
            "label": pack(side.label[ours]),
            "onset": ticks(side.onset[ours]),
            "offset": ticks(side.offset[ours]),
            # Those without partner take the last place, which is 0.
            "partner": pack(place[partner[ours]]),
        }

    def runs(code: int) -> dict[str, Any] | None:
        if segments is None:
            return None
        of_file = slice(*np.searchsorted(segments.file, [code, code + 1]).tolist())
        return {
            name: pack(getattr(segments, name)[of_file]) for name in ("label", "first", "count", "outcome")
        }

    for code, name in enumerate(pair.files):
        yield {
            "name": visible(name),
            "length": int(end[code]) / TICKS_PER_SECOND,
            "strips": {side: strip(pieces, code) for side, (pieces, _) in strips.items()},
            "steps": {side: int(step[code]) / TICKS_PER_SECOND for side, (_, step) in strips.items()},
            "events": {
                "reference": listed(events.reference, events.reference_partner, events.system, code),
                "system": listed(events.system, events.system_partner, events.reference, code),
            },
            "segments": runs(code),
        }


def _unmatched(pair: Recordings, settings: Settings) -> EventOutcomes:
    """Return the hard events of a pair where it is not evaluated which match."""
    reference, system = hard_events(pair, settings)
    partners = (np.full(len(events), -1, dtype=np.int64) for events in (reference, system))
    return EventOutcomes(reference, system, *partners)


def _in_order(events: Events, code: int) -> Index:
    """Return the positions of the events of a file by class, onset and offset."""
    own = np.flatnonzero(events.file == code)
    return own[np.lexsort((events.offset[own], events.onset[own], events.label[own]))]
