"""What a person should know of a reference and a system that were brought together.

Reports add up: those of batches together are the one of all their files at once, whatever the batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sedeval_soft.errors import EvaluationError, be, counted
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import POSTPROCESSING, Settings, short_fraction
from sedeval_soft.tables.filenames import listing, named_alike
from sedeval_soft.timeline.plausibility import RowStatistics, are_swapped, doubts, similar_names

_SHOWN = 5

_FEWEST_NEAR = 10
"""Rows that must nearly be on the grid, and be half of those that could, for that to be told."""

_TOLD, _COMPARED = 50, 2000
"""Classes that are told one by one, and how many names each is compared with to find one like it: a table
may name as many as it likes, and looking takes time for each pair.
"""

STRICT = "strict makes each of these an error"
"""The last line where warnings are refused."""

NO_DURATIONS = (
    "no durations were given: recordings are taken to end with the last offset that the reference has in "
    "them; --durations gives how long they are"
)
"""What is said where lengths decide and none are given."""

_NOTHING: frozenset[str] = frozenset()

_SETS = (
    *("missing", "extra", "dropped", "unlisted", "doubtful", "notes"),
    *("reference_classes", "system_classes"),
)


@dataclass(frozen=True, slots=True)
class AlignmentReport:
    """What was noticed in bringing a reference and a system together.

    missing: reference files that the system lacks. extra: system files that the reference lacks. dropped:
    those that are in no list of files. unlisted: reference files without a duration, where there are any.
    doubtful: texts on names that fit more than one file, and on what had to be assumed of a table, each
    with its mend; errors where settings are strict. notes: texts on how tables were read.
    reference_classes, system_classes: all that either side names. beyond: by role how many rows end after
    their file, and by how many seconds at the most. after_end: the same by file of the system's rows where no
    duration is known and the reference's last offset is taken for the end. tables: by role what the rows tell
    of how they were read. off_grid: by role how many rows could show a grid, how many show one that is nearly
    that of the segments, and how many seconds off, see `timeline.grid`.
    """

    missing: frozenset[str] = _NOTHING
    extra: frozenset[str] = _NOTHING
    dropped: frozenset[str] = _NOTHING
    unlisted: frozenset[str] = _NOTHING
    doubtful: frozenset[str] = _NOTHING
    notes: frozenset[str] = _NOTHING
    reference_classes: frozenset[str] = _NOTHING
    system_classes: frozenset[str] = _NOTHING
    beyond: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    after_end: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    tables: Mapping[str, RowStatistics] = field(default_factory=dict)
    off_grid: Mapping[str, tuple[int, int, float]] = field(default_factory=dict)

    @staticmethod
    def merge(parts: Iterable[AlignmentReport]) -> AlignmentReport:
        """Return the report of all parts together."""
        parts = list(parts)

        def by_role(name: str) -> Iterator[tuple[str, list[Any]]]:
            """Yield each role with what all parts have of it."""
            values = [getattr(part, name) for part in parts]
            for role in sorted({role for value in values for role in value}):
                yield role, [value[role] for value in values if role in value]

        reports: dict[str, Any] = {
            name: _NOTHING.union(*(getattr(part, name) for part in parts)) for name in _SETS
        }
        for name in ("beyond", "off_grid"):
            reports[name] = {
                role: (*map(sum, counts), max(seconds))
                for role, values in by_role(name)
                for *counts, seconds in [zip(*values, strict=True)]
            }
        tables = {role: RowStatistics.merge(values) for role, values in by_role("tables")}
        after_end = {name: late for part in parts for name, late in part.after_end.items()}
        return AlignmentReport(**reports, tables=tables, after_end=after_end)

    def classes(self, settings: Settings) -> tuple[str, ...]:
        """Return the evaluated classes: as the settings name them, else all that occur, sorted."""
        if settings.classes is not None:
            return settings.classes
        return tuple(sorted(self.reference_classes | self.system_classes))

    def warnings(self, settings: Settings) -> tuple[str, ...]:
        """Return a line for all that was noticed; raises EvaluationError if settings are strict."""
        lines = [
            *sorted(self.doubtful),
            *doubts(self.tables),
            *self._of_names(settings),
            *self._of_files(),
            *self._of_late_rows(settings),
            *self._of_classes(settings),
            *self._of_grid(settings),
        ]
        if settings.strict and lines:
            raise EvaluationError("\n".join([*lines, STRICT]))
        lines += sorted(self.notes)
        classes = self.classes(settings)
        left_out = sorted((self.reference_classes | self.system_classes) - set(classes))
        if left_out:
            are = be(len(left_out))
            lines.append(f"{listing(left_out, 'class')} {are} not among the classes to evaluate; left out")
        for role, (count, seconds) in self.beyond.items():
            # Where a doubt tells all of these rows, it tells the one that ends last as well.
            if role not in self.tables or count > self.tables[role].after_end:
                end = "ends after its" if count == 1 else "end after their"
                lines.append(
                    f"{counted(count, f'{role} row')} {end} file's duration, by {seconds:.6g} s at the most; "
                    "segments after it are not evaluated"
                )
        for name in (*POSTPROCESSING, "thresholds"):
            value = getattr(settings, name)
            lines += [
                f"{name} is set for {label!r}, which is no evaluated class{did_you_mean(label, classes)}"
                for label in (value if isinstance(value, dict) else ())
                if label not in classes
            ]
        return tuple(lines)

    def _table(self, role: str) -> str:
        """Return the name of the table of a role, as far as it is known."""
        return self.tables[role].called(role) if role in self.tables else f"the {role}"

    def _of_names(self, settings: Settings) -> Iterator[str]:
        """Yield a line where names seem to stand in the wrong column, or to be two of one thing."""
        theirs = self.extra | self.dropped
        if are_swapped(theirs, self.system_classes, self.missing, self.reference_classes):
            yield (
                f"{self._table('system')}: classes of the reference stand as file names, and its files as "
                "classes; swap the two columns, or their names in the header (swapped-columns)"
            )
        for role, classes in (("reference", self.reference_classes), ("system", self.system_classes)):
            like = similar_names(sorted(classes & {*self.classes(settings)}))
            pairs = [f"{name!r} and {other!r}" for name, other in like.items()]
            if pairs:
                more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
                yield (
                    f"{self._table(role)}: classes {'; '.join(pairs[:_SHOWN])}{more} differ in case, blanks, "
                    "- or _ only, and were taken for different ones; write both alike if they are one "
                    "(similar-classes)"
                )

    def _of_files(self) -> Iterator[str]:
        """Yield a line for each kind of files that are not on both sides, or have no duration."""
        if self.missing:
            files = listing(sorted(self.missing), "reference file")
            yield f"the system has no rows for {files}; counted as misses"
        if self.extra:
            hint = named_alike(self.missing, self.extra) + _hint_of_thresholds(self.extra)
            yield (
                f"the reference has no {listing(sorted(self.extra), 'system file')}; counted as false "
                f"alarms, unless a row with only its name declares it as a file without events{hint}"
            )
        if self.dropped:
            hint = named_alike(self.missing, self.dropped) + _hint_of_thresholds(self.dropped)
            files = f"{listing(sorted(self.dropped), 'system file')} {be(len(self.dropped))}"
            yield f"{files} not in the reference or the durations; left out{hint}"
        if self.unlisted:
            files = listing(sorted(self.unlisted), "reference file")
            yield f"no duration for {files}; evaluated to the last offset"

    def _of_late_rows(self, settings: Settings) -> Iterator[str]:
        """Yield what is assumed where the system goes on after the reference's last offset.

        Nothing where a doubt of its times tells of all these rows.
        """
        n_rows = n_new = sum(count for count, _ in self.after_end.values())
        table = self.tables.get("system")
        if table is not None and table.unit() is not None:
            n_new -= table.rows
        elif table is not None and table.latest is not None and (table.over_day or table.is_late()):
            n_new -= table.latest.file in self.after_end
        if n_new <= 0:
            return
        seconds = max(seconds for _, seconds in self.after_end.values())
        rows = f"{counted(n_rows, 'system row')} of {listing(sorted(self.after_end), 'file')}"
        later = "what comes later can only be false alarms"
        if settings.compat == "sed_eval":
            later += ", except in sed_eval's own scores, where a system makes files longer"
        yield (
            f"{rows} {'ends' if n_rows == 1 else 'end'} up to {seconds:.6g} s after the reference's last "
            f"offset there, which without --durations is taken for the end of the file: {later}"
        )

    def _of_classes(self, settings: Settings) -> Iterator[str]:
        """Yield a line for each class that only the system has, or that neither side has."""
        strange = sorted(self.system_classes - self.reference_classes)
        if settings.classes is not None:
            chosen = {*settings.classes}
            # A class that is nearly one to evaluate, which the system never names, is misspelt. All others
            # were left out on purpose: a system may know more classes than an evaluation.
            unnamed = sorted(chosen - self.system_classes)[:_COMPARED]
            most = _TOLD * _COMPARED // max(1, len(unnamed))
            others = [name for name in strange if name not in chosen][:most]
            hints = [(name, did_you_mean(name, unnamed, n=1, cutoff=0.75)) for name in others]
            for name, hint in [pair for pair in hints if pair[1]][:_TOLD]:
                yield f"class {name!r} of the system is not among the classes to evaluate; left out{hint}"
            strange = [name for name in strange if name in chosen]
        names = sorted(self.reference_classes)[:_COMPARED]
        for name in strange[:_TOLD]:
            hint = did_you_mean(name, names, n=1, cutoff=0.75)
            yield f"class {name!r} is not in the reference; counted as false alarms{hint}"
        if len(strange) > _TOLD:
            more, are = listing(strange[_TOLD:], "more class"), be(len(strange) - _TOLD)
            yield f"{more} {are} not in the reference; counted as false alarms"
        both = self.reference_classes | self.system_classes
        names = sorted(both)[:_COMPARED]
        unnames = [name for name in settings.classes or () if name not in both]
        if unnames and len(unnames) == len(settings.classes or ()) and names:
            # As where a preset of another data set is taken: one line says more than one for each class.
            hint = did_you_mean(unnames[0], names, n=1)
            yield f"none of {listing(unnames, 'class')} to evaluate is in either table{hint}"
            return
        for name in unnames[:_TOLD]:
            hint = did_you_mean(name, names, n=1)
            yield f"class {name!r}, one of those to evaluate, is in neither table{hint}"
        if len(unnames) > _TOLD:
            more, are = listing(unnames[_TOLD:], "more class"), be(len(unnames) - _TOLD)
            yield f"{more} of those to evaluate {are} in neither table"

    def _of_grid(self, settings: Settings) -> Iterator[str]:
        """Yield a line for each side whose rows lie on a grid that is nearly that of the segments."""
        length = short_fraction(settings.segment_length).removesuffix(".0")
        for role, (rows, near, apart) in sorted(self.off_grid.items()):
            if near >= _FEWEST_NEAR and 2 * near >= rows:
                yield (
                    f"{self._table(role)}: {near} of {counted(rows, 'row')} are nearly on the edges of "
                    f"segments of {length} s, off by {apart:.3g} s at the most: each counts in a segment "
                    "that it hardly reaches. Is the step of the table another, or do its times begin "
                    "elsewhere? --segment-length takes steps exactly, such as 1/3 or 1024/44100"
                )


def _hint_of_thresholds(files: Iterable[str]) -> str:
    """Return a hint for files that are none, but tables of a folder, each at a threshold."""
    from sedeval_soft.tables.joined_tables import seem_thresholds

    if not seem_thresholds(sorted(files)):
        return ""
    return (
        "; their names hold thresholds: if they are tables of operating points, write a column of file names "
        "in each, and give the folder as --operating-points"
    )
