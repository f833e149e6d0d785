"""Batches of files whose segments and events wait on the disk until thresholds are looked for.

What is counted of a batch stays in memory; the values of its segments and the lifetimes of its events, which
only best thresholds and PSDS need, do not.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from sedeval_soft.core.room import give_back, memory_limited, room
from sedeval_soft.core.shard import Shard
from sedeval_soft.core.tally import Column, Tally, cells_of
from sedeval_soft.evaluation.plan import CELLS, Plan
from sedeval_soft.formats.spill import Spilled
from sedeval_soft.run.evaluation import tuned_shard
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.lifetimes import EventLifetimes

_EVENT = ("file", "label", "onset", "offset", "born", "dies")

_BUNDLE = 16
"""Which part of memory batches may take on the disk whose levels are put together: these take more."""

EVENT_BYTES = 40
"""Bytes of an event with the thresholds at which it is one."""


def can_wait(settings: Settings) -> bool:
    """Return whether all that needs segments and events can be found batch by batch."""
    tuned = settings.cross_tune is not None or isinstance(settings.thresholds, str)
    others = settings.ci or settings.worst or settings.satisfice or settings.reference_sweep or tuned
    kept = {*settings.measures} - {"divergence"} or any(map(Plan.of(settings).compares_cells, CELLS))
    return not (others or kept)


@dataclass(frozen=True, slots=True)
class Part:
    """What is scored as if it alone had been evaluated: classes in their order, and the files of a scene.

    patterns: of the names of its files, None for all. name: of the group or scene, None for the whole.
    """

    name: str | None
    classes: tuple[str, ...]
    patterns: tuple[str, ...] | None = None

    def files(self, files: Sequence[str]) -> list[int]:
        """Return which of some files are of the part."""
        forms = self.patterns
        return [
            i for i, file in enumerate(files) if forms is None or any(fnmatchcase(file, f) for f in forms)
        ]


@dataclass(frozen=True, slots=True)
class Batch:
    """The segments and events of some files, on the disk.

    per_file: their lengths. n_events: of each list of events how many there are, and whether they are of an
    activity.
    """

    spilled: Spilled
    files: tuple[str, ...]
    classes: tuple[str, ...]
    per_file: Mapping[str, Column]
    events: Mapping[str, tuple[int, bool]]

    @classmethod
    def write(cls, tally: Tally, folder: Path) -> Batch:
        """Write what waits of a tally to a file of a folder; raises FullError."""
        arrays = dict(tally.samples)
        for name, events in tally.events.items():
            arrays |= {f"{name} {column}": getattr(events, column) for column in _EVENT}
        lengths = {"length", *map(cells_of, tally.samples)}
        return cls(
            Spilled.write(folder, "batch", arrays),
            tally.files,
            tally.classes,
            {name: column for name, column in tally.per_file.items() if name in lengths},
            {name: (len(events), events.nested) for name, events in tally.events.items()},
        )

    def length(self, part: Part) -> int:
        """Return the length of the files of a part, in ticks."""
        return int(self.per_file["length"][part.files(self.files)].sum())

    def tally(self, part: Part, nested: Mapping[str, bool], names: Sequence[str]) -> Tally:
        """Return the segments and events of a part, as its tally has them.

        nested: whether events of a list are those of an activity, in all batches. names: of what is needed:
        bases, or lists of events.
        """
        at = np.array([self.classes.index(c) if c in self.classes else -1 for c in part.classes], dtype=int)
        samples = {
            name: self._cells(name, at)
            for name in self.spilled.arrays
            if name.partition(".")[0] in names and name.partition(".")[0] in CELLS
        }
        code = np.full(len(self.classes), -1, dtype=np.int32)
        code[at[at >= 0]] = np.flatnonzero(at >= 0)
        events = {
            name: self._events(name, code, nested=nested[name]) for name in self.events if name in names
        }
        files = part.files(self.files)
        whole = Tally(self.files, part.classes, {}, self.per_file, samples, events)
        return whole if len(files) == len(self.files) else whole.take(np.array(files, dtype=np.int64))

    def _cells(self, name: str, at: Column) -> Column:
        if np.array_equal(at, np.arange(len(self.classes))):
            return self.spilled[name]
        values = self.spilled[name]
        found = np.zeros((len(at), values.shape[1]))
        found[at >= 0] = values[at[at >= 0]]
        return found

    def _events(self, name: str, code: Column, *, nested: bool) -> EventLifetimes:
        events = EventLifetimes(**{of: self.spilled[f"{name} {of}"] for of in _EVENT}, nested=nested)
        if np.array_equal(code, np.arange(len(code))):
            return events
        label = code[events.label]
        return replace(events, label=label).take(label >= 0)


@dataclass(frozen=True, slots=True)
class Kept:
    """What was counted of some files; batch: what of it waits on the disk, None where all is in the shard."""

    shard: Shard
    batch: Batch | None = None

    def spilled(self, folder: Path) -> Kept:
        """Return the same with all that can wait on the disk; raises FullError."""
        if self.batch is not None:
            return self
        shard = self.shard
        if isinstance(shard.settings.thresholds, dict):
            # Given thresholds need no other files.
            shard = tuned_shard(shard)
        batch = Batch.write(shard.tally, folder)
        groups = {name: _light(tally) for name, tally in shard.groups.items()}
        return Kept(replace(shard, tally=_light(shard.tally), groups=groups), batch)


@dataclass(slots=True)
class Keeper:
    """Keeps what is counted: in memory as far as there is room, what can wait on the disk beyond it.

    folder: of temporary files; None where nothing may wait. room: bytes left for segments and events.
    """

    folder: Path | None = None
    room: int = 0

    def share(self, count: int) -> Keeper:
        """Return a keeper for one of some processes."""
        return Keeper(self.folder, self.room // count)

    def anew(self, room: int) -> Keeper:
        """Return a keeper of something else; what waits is forgotten, and must not be asked for."""
        for path in [*self.folder.glob("batch.*")] if self.folder is not None else ():
            path.unlink()
        return Keeper(self.folder, room)

    def keep(self, shard: Shard) -> Kept:
        """Keep what was counted of some files; raises FullError."""
        size = sum(size_of(shard.tally).values())
        kept = Kept(shard.slim())
        if size > self.room and self.folder is not None and can_wait(shard.settings):
            kept = kept.spilled(self.folder)
            del shard
            give_back()
            return kept
        self.room -= size
        return kept


def size_of(tally: Tally) -> dict[str, int]:
    """Return the bytes of the values of segments and of the events of a tally, by their names."""
    events = {name: EVENT_BYTES * len(events) for name, events in tally.events.items()}
    return {name: values.nbytes for name, values in tally.samples.items()} | events


def _light(tally: Tally) -> Tally:
    return replace(tally, samples={}, events={})


@dataclass(frozen=True, slots=True)
class Job:
    """What a process is to do with some batches.

    part: the classes and files. nested: as for `Batch.tally`. memory: the most that the process may take;
    None where that is this one. apart: as for `found_when`, of each list of system events.
    """

    part: Part
    settings: Settings
    folder: Path
    nested: Mapping[str, bool]
    memory: int | None
    apart: bool = True

    def within(self) -> contextlib.AbstractContextManager[None]:
        """Hand unused memory back, and return what limits memory, if it is to be limited here."""
        give_back()
        return contextlib.nullcontext() if self.memory is None else memory_limited(self.memory)

    def bundles(self, batches: Sequence[Batch]) -> list[list[Batch]]:
        """Return batches in bundles whose levels may be in memory together: files of levels are to be few."""
        with self.within():
            most = room() // _BUNDLE
        found: list[list[Batch]] = []
        held = 0
        for batch in batches:
            held += batch.spilled.nbytes
            if not found or held > most:
                found.append([])
                held = batch.spilled.nbytes
            found[-1].append(batch)
        return found
