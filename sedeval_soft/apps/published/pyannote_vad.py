"""Voice activity detection, as the detection error rate of pyannote.metrics has it.

    detection error rate = (false alarm + miss) / total

The durations are measured in the evaluated regions: the regions of a UEM file (`uem`), else each recording
from 0 to its duration, else from the first onset to the last offset of either side. Labels are ignored: every
row is speech. Around each boundary of a row of the reference, `collar` seconds are left out, half before and
half after; `skip_overlap` leaves out where two rows of the reference overlap. Recordings that only the system
has are not evaluated.

Times are floats, added in the order of recordings and of times; gaps and events of a microsecond or less
count as none. If the reference has no speech, the rate is 0 without false alarms, else 1 (100 %). All is as
under Python 3.11; from 3.12 on, its `sum` rounds less, and the last digit of `total` may differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published, rows_by_file
from sedeval_soft.arrays import Array, Floats
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables import TICKS_PER_SECOND, EventTable, decode, open_source, to_ticks
from sedeval_soft.timeline import expand

_LEAST = 1e-6
"""Seconds that a segment must be longer than, to be one."""


@dataclass(frozen=True, slots=True)
class Segments:
    """Segments of one recording; start, end: (n,) seconds."""

    start: Floats
    end: Floats

    @classmethod
    def support(cls, start: Floats, end: Floats) -> Segments:
        """Return segments in order, those that overlap or touch joined; those without an extent left out."""
        full = (end - start) > _LEAST
        order = np.lexsort((end[full], start[full]))
        start, end = start[full][order], end[full][order]
        reach = np.maximum.accumulate(end)
        head = np.flatnonzero(np.append(True, (start[1:] - reach[:-1]) > _LEAST)[: len(start)])
        return cls(start[head], reach[np.append(head[1:], len(start))[: len(head)] - 1])

    def pairs(self, other: Segments) -> tuple[Array, Array]:
        """Return start and end of the intersections of each segment with the other side's, in order."""
        first = np.searchsorted(other.end, self.start, side="right")
        last = np.searchsorted(other.start, self.end, side="left")
        ours, theirs = expand(first, np.maximum(first, last))
        starts = np.maximum(self.start[ours], other.start[theirs])
        return starts, np.minimum(self.end[ours], other.end[theirs])

    def inside(self, other: Segments) -> Segments:
        """Return the intersections of these segments with the other side's segments."""
        return Segments.support(*self.pairs(other))

    def gaps(self, regions: Segments) -> Segments:
        """Return what of the regions these leave free."""
        taken = self.inside(regions)
        starts, ends = np.append(regions.start, taken.end), np.append(taken.start, regions.end)
        return Segments.support(np.sort(starts), np.sort(ends))

    def duration(self, other: Segments) -> float:
        """Return the seconds that these have in common with the segments of the other side."""
        start, end = self.pairs(other)
        return _total(end - start)


def _total(lengths: Array) -> float:
    """Return the sum of durations, one after the other as a loop adds them."""
    lengths = lengths[lengths > _LEAST]
    return float(np.cumsum(lengths)[-1]) if len(lengths) else 0.0


def _of_files(rows: EventTable) -> dict[str, tuple[Floats, Floats]]:
    """Return onsets and offsets of the rows of each recording, (n,) each."""
    onset, offset = rows.onset, rows.offset
    if rows.origin.form.startswith("RTTM"):
        # There a row has a duration, and its end is a sum of floats.
        offset = onset + (to_ticks(offset) - to_ticks(onset)) / TICKS_PER_SECOND
    return {name: (onset[part], offset[part]) for name, part in rows_by_file(rows).items()}


def _evaluated(regions: Segments, start: Floats, end: Floats, collar: float, skip_overlap: bool) -> Segments:
    """Return regions without collars around the rows of the reference, and without overlaps of these."""
    full = (end - start) > _LEAST
    start, end = start[full], end[full]
    removed: list[tuple[Array, Array]] = []
    if collar > 0:
        edges = np.append(start, end)
        removed.append((edges - 0.5 * collar, edges + 0.5 * collar))
    if skip_overlap:
        order = np.lexsort((end, start))
        # What a row has in common with the one before it that lasts longest holds what it has with others.
        reach = np.maximum.accumulate(end[order])[:-1]
        removed.append((start[order][1:], np.minimum(reach, end[order][1:])))
    if not removed:
        return regions
    starts, ends = (np.concatenate(side) for side in zip(*removed, strict=True))
    return Segments.support(starts, ends).gaps(regions)


def _regions(path: str) -> dict[str, list[tuple[float, float]]]:
    """Return the regions of a UEM file by recording, also empty ones; raises InputError for other lines."""
    source = open_source(path)
    regions: dict[str, list[tuple[float, float]]] = {}
    for line, text in enumerate(decode(source).splitlines(), 1):
        if not text.strip() or text.startswith(";;"):
            continue
        try:
            name, _, start, end = text.split()
            times = float(start), float(end)
            if not 0 <= times[0] <= times[1] < math.inf:
                raise ValueError(text)
            regions.setdefault(name, []).append(times)
        except ValueError:
            expected = "expected a recording, its channel, and onset and offset in seconds"
            raise InputError(Problem(source.name, f"is no region; {expected}", line)) from None
    return regions


def _compute(inputs: Inputs) -> dict[str, Number]:
    options, durations = inputs.options, inputs.durations or {}
    ours, theirs = _of_files(inputs.reference), _of_files(inputs.system)
    regions = {name: [(0.0, end)] for name, end in durations.items()}
    regions |= _regions(str(options["uem"])) if options["uem"] else {}
    nothing = np.zeros(0), np.zeros(0)
    total = miss = false_alarm = 0.0
    for name in dict.fromkeys((*ours, *regions)):
        rows, detected = ours.get(name, nothing), theirs.get(name, nothing)
        evaluated = (
            Segments.support(*np.array(regions[name]).T) if name in regions else _extent(rows, detected)
        )
        evaluated = _evaluated(evaluated, *rows, float(options["collar"]), bool(options["skip_overlap"]))
        reference, system = (Segments.support(*side).inside(evaluated) for side in (rows, detected))
        false_alarm += reference.gaps(evaluated).duration(system)
        miss += reference.duration(system.gaps(evaluated))
        total += _total(reference.end - reference.start)
    rate = (false_alarm + miss) / total if total else float(false_alarm + miss > 0)
    numbers: dict[str, Number] = {"detection error rate %": 100 * rate, "total": total}
    for name, value in (("false alarm", false_alarm), ("miss", miss)):
        numbers |= {name: value, f"{name} %": float(100 * value / total) if total > 0 else None}
    return numbers


def _extent(*sides: tuple[Floats, Floats]) -> Segments:
    """Return the one region from the first onset to the last offset."""
    full = [Segments.support(*side) for side in sides]
    starts, ends = (np.concatenate([getattr(side, name) for side in full]) for name in ("start", "end"))
    return Segments.support(starts.min(keepdims=True), ends.max(keepdims=True)) if len(starts) else full[0]


EVALUATOR = Published(
    name="pyannote-vad",
    title="detection error rate of pyannote.metrics (voice activity detection)",
    project="pyannote.metrics",
    version="4.2.0",
    script="DetectionErrorRate.report",
    ranking="detection error rate %",
    compute=_compute,
    takes=("durations",),
    preset="voice-activity",
    same={"detection error rate %": "segment.hard.error_rate.micro"},
    percent={"detection error rate %": None},
    options={"collar": 0.0, "skip_overlap": 0.0, "uem": ""},
)
