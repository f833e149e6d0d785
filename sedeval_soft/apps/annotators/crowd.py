"""Annotators' tables brought together: one list of files, one of classes, units of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.apps.annotators.units import Units
from sedeval_soft.arrays import Bools, Floats, for_each
from sedeval_soft.errors import SettingsError
from sedeval_soft.settings import Settings
from sedeval_soft.tables import EventTable, listing
from sedeval_soft.timeline import Events, align, events_of, merges

MISSING = {"silent": "is silent", "unlabelled": "was not labelled"}
"""Readings of a file without rows in a table, in words."""

_NAMED = 3
"""Tables that a message names."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Annotators' tables on one list of files and one of classes.

    - names: of annotators, in their order, so that sums do not depend on the order of the given tables.
    - tables: their rows, with codes of `files` and `classes`.
    - length: (n_files,) seconds; a file without duration ends with the last label of any annotator.
    - durations: seconds by file name, if known; None without.
    - has_file: (n_annotators, n_files), which annotator labelled which file.
    - units: their labels, in continuous time or on a grid of segments.
    - warnings: on matched names, and on files that few labelled.
    """

    names: tuple[str, ...]
    tables: tuple[EventTable, ...]
    files: tuple[str, ...]
    classes: tuple[str, ...]
    length: Floats
    durations: Mapping[str, float] | None
    has_file: Bools
    units: Units
    continuous: bool
    warnings: tuple[str, ...]

    @classmethod
    def of_tables(
        cls,
        tables: Mapping[str, EventTable],
        settings: Settings,
        durations: Mapping[str, float] | None,
        *,
        missing: str | None,
        continuous: bool | None = None,
    ) -> Crowd:
        """Bring tables together; files that nobody labelled are left out.

        - durations: seconds by file name, and the list of files.
        - missing: one of MISSING, whether the annotator heard nothing in a file that the table lacks, or did
          not label it; raises SettingsError if it is not given and such a file exists.
        - continuous: whether time is continuous or cut into segments; if None, continuous unless a table has
          values on a grid.
        """
        rows = [*tables.values()]
        files, lengths, known = _files_of(rows, settings, durations)
        # Nothing is cut into segments here, whose edges would be compared with those of rows.
        plain = Settings.of(classes=settings.classes, only=("event.hard",))
        pairs = for_each(
            lambda table: align(files, table, plain, lengths, look=False), rows, sum(map(len, rows))
        )
        named = np.array(pairs[0].files, dtype=object)
        lacks = [pair.findings.missing if missing != "silent" else frozenset() for pair in pairs]
        has_file = np.array([[name not in lacking for name in named] for lacking in lacks], dtype=bool)
        has_file = has_file.reshape(len(rows), len(named))
        if missing is None and not has_file.all():
            raise SettingsError(_question(tables, lacks))
        number_of = has_file.sum(axis=0)
        warnings = sorted({note for p in pairs for note in (*p.findings.doubtful, *p.findings.notes)})
        unlabelled = {*named[number_of == 0]} | {name for pair in pairs for name in pair.findings.dropped}
        if unlabelled:
            warnings.append(f"nobody labelled {listing(sorted(unlabelled), 'file')}; left out")
        alone = named[number_of == 1].tolist()
        if alone:
            warnings.append(
                f"one annotator labelled {listing(alone, 'file')}; it says nothing about agreement"
            )
        named_classes = {name for table in rows for name in table.classes}
        unnamed = [name for name in settings.classes or () if name not in named_classes]
        if unnamed:
            warnings.append(f"no annotator names {listing(unnamed, 'class')}, to be evaluated")
        labelled, has_file = tuple(named[number_of > 0].tolist()), has_file[:, number_of > 0]
        if unlabelled:
            pairs = [pair.with_files(labelled) for pair in pairs]
        names = sorted(tables)
        place = [[*tables].index(name) for name in names]
        rows, has_file = [pairs[k].system for k in place], has_file[place]
        ticks = pairs[0].reach_ticks
        if continuous is None:
            continuous = not any(table.has_values and table.origin.joined for table in rows)
        units = Units.of(rows, ticks, has_file, settings, continuous=continuous)
        return cls(
            tuple(names), tuple(rows), labelled, pairs[0].classes, pairs[0].reach, known, has_file, units,
            continuous, tuple(warnings),
        )  # fmt: skip

    def events(self, settings: Settings) -> list[Events]:
        """Return each annotator's events at the threshold, in order."""

        def of_table(table: EventTable) -> Events:
            return events_of(
                table, settings.threshold, settings.inclusive, merges(table, settings)
            ).in_order()

        return for_each(of_table, self.tables, sum(map(len, self.tables)))

    def within(self, table: EventTable, files: Bools) -> tuple[EventTable, dict[str, float] | None]:
        """Return a table of all files as one of some of them, (n_files,), and the durations of these."""
        table, known = table.only_files(files), self.durations
        if known is None:
            return table, None
        return table, {name: known[name] for name in table.files if name in known}


def _question(tables: Iterable[str], lacks: Iterable[frozenset[str]]) -> str:
    """Return the message on files that tables lack; lacks: the missing files of each table."""
    found = [
        f"{name} has no row of {listing(sorted(files), 'file')}"
        for name, files in zip(tables, lacks, strict=True)
        if files
    ]
    more = [f"{len(found) - _NAMED} more tables lack files, too"] if len(found) > _NAMED else []
    return (
        f"missing is not given, but {', '.join((*found[:_NAMED], *more))}; missing=silent if these "
        "annotators heard nothing there; missing=unlabelled if they did not label these files"
    )


def _files_of(
    tables: Sequence[EventTable], settings: Settings, durations: Mapping[str, float] | None
) -> tuple[EventTable, dict[str, float], dict[str, float] | None]:
    """Return a table without rows that has all files and classes, how long files are, and their durations.

    Without a duration, a file ends with the last label of any annotator.
    """
    plain, first = Settings.of(classes=settings.classes), tables[0]
    names = replace(EventTable.empty(first.origin), files=first.files, classes=first.classes)
    lengths = dict[str, float]()
    for table in tables:
        pair = align(names, table, plain, look=False)
        for name, seconds in zip(pair.files, pair.reach.tolist(), strict=True):
            lengths[name] = max(seconds, lengths.get(name, 0.0))
        names = replace(names, files=pair.files, classes=pair.classes)
    if durations is None:
        return names, lengths, None
    pair = align(names, names, plain, durations, look=False)
    given = zip(pair.files, pair.length.tolist(), pair.is_known.tolist(), strict=True)
    known = {name: seconds for name, seconds, is_known in given if is_known}
    # Of these are also files that no table names.
    return replace(names, files=pair.files), dict.fromkeys(pair.files, 0.0) | lengths | known, known
