"""Findings of the alignment of a reference and a system, and the messages about them.

The findings are names on one side only, rows beyond their recording, and the rows that the checks count on
each side. Reports of batches of whole recordings merge into the report of all files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sedeval_soft.checks.names import NAMES, are_swapped, similar_names
from sedeval_soft.checks.rows import CHECKS, FEW_ROWS, TICK, RowStatistics, are_steps
from sedeval_soft.errors import EvaluationError, be, counted
from sedeval_soft.names import apart, did_you_mean
from sedeval_soft.plan import Plan
from sedeval_soft.settings import POSTPROCESSING, Settings, short_fraction
from sedeval_soft.tables.event_table import UNKNOWN
from sedeval_soft.tables.filenames import (
    listing,
    named_alike,
    unknown_names,
)
from sedeval_soft.tables.problem_codes import RULES

STRICT = "strict makes each of these an error"
"""The last line if settings refuse warnings."""

NO_DURATIONS = (
    "no durations were given: recordings are assumed to end with their last offset in the reference; "
    "--durations gives their lengths"
)
"""The warning if scores need lengths and no durations are given."""

# Pairs of names, and classes that a message names; with how many names each class is compared to find
# one like it: a table may name as many as it likes, and looking takes time for each pair.
_SHOWN, _TOLD, _COMPARED = 5, 50, 2000
_COLUMNS = 3  # that a message names
_HARDLY = 0.1  # share of rows that touch, below which a table's rows are no time steps
_FEWEST_NEAR = 10  # rows that must nearly be on the grid, and be half of those that could, to be told


_BY_CLASS = (*POSTPROCESSING, "thresholds")  # settings that may have a value for each class


_NOTHING: frozenset[str] = frozenset()

OF_REGIONS = ("regions_listed", "with_region", "without_region", "too_few_shots")
"""The fields of an `AlignmentReport` about the evaluated regions."""

_FILES = (
    ("missing", "reference file", NAMES["missing-file"].counted),
    ("extra", "system file", NAMES["unknown-file"].counted),
    ("dropped", "system file", "{files} {are} neither in the reference nor in the durations; left out{hint}"),
    ("unlisted", "reference file", ("{files} {have} no duration; evaluated up to the last offset (--files "
                                    "leaves files out, --durations does not)")),
    ("ambiguous", "file name", "{system}: " + NAMES["ambiguous-file"].counted),
)  # fmt: skip
"""Files that one side lacks, or that have no duration: field of the report, noun and message of each kind."""

_LEFT_OUT = (
    ("reference_outside", "reference file", "files: {files} {are} not listed, and left out"),
    ("system_outside", "system file", "files: {files} {are} not listed, and left out"),
    ("without_region", "file", "{files} {have} no region that is evaluated; left out"),
    (
        "too_few_shots",
        "file",
        "after_shots: {files} {have} fewer than {shots} in the reference; left out{like}",
    ),
)
"""Files that are left out as the settings ask for it, likewise."""


@dataclass(frozen=True, slots=True)
class AlignmentReport:
    """Findings of the alignment of a reference and a system.

    missing: Reference files that the system lacks. extra: System files that the reference lacks. dropped:
    System files that no list of files names. silent: Missing and extra files without an event on the side
    that has them. unlisted: Reference files without a duration, if others have one. ambiguous: System names
    that match several reference files. listed: Files that the settings name and either side has.
    reference_outside, system_outside: Files that the settings leave out. If only regions are evaluated:
    regions_listed: Files that have regions and that either side has. with_region: Files that are evaluated.
    without_region, too_few_shots: Files that are left out, without regions or with too few events. doubtful:
    Texts on ambiguous names and on assumptions about a table, each with its fix; strict settings make them
    errors. notes: Texts on how tables were read. reference_classes, system_classes: All classes of either
    side. declared: Classes that a reference declares as unknown time. tables: Row statistics by role.
    off_grid: By role, the number of rows that could show a grid, the number nearly on the grid of segments,
    and their distance in seconds, see `timeline.grid`. ignored: Detections and ticks left out, by
    the joined names of the ignored classes. lengthless: Files of unknown length in which the system detects
    events. steps: The `step_counts` of a table with values, by role, if they decide whether touching rows are
    one event.
    """

    missing: frozenset[str] = _NOTHING
    extra: frozenset[str] = _NOTHING
    dropped: frozenset[str] = _NOTHING
    silent: frozenset[str] = _NOTHING
    unlisted: frozenset[str] = _NOTHING
    ambiguous: frozenset[str] = _NOTHING
    listed: frozenset[str] = _NOTHING
    regions_listed: frozenset[str] = _NOTHING
    with_region: frozenset[str] = _NOTHING
    without_region: frozenset[str] = _NOTHING
    too_few_shots: frozenset[str] = _NOTHING
    reference_outside: frozenset[str] = _NOTHING
    system_outside: frozenset[str] = _NOTHING
    doubtful: frozenset[str] = _NOTHING
    notes: frozenset[str] = _NOTHING
    reference_classes: frozenset[str] = _NOTHING
    system_classes: frozenset[str] = _NOTHING
    declared: frozenset[str] = _NOTHING
    lengthless: frozenset[str] = _NOTHING
    tables: Mapping[str, RowStatistics] = field(default_factory=dict)
    off_grid: Mapping[str, tuple[int, int, float]] = field(default_factory=dict)
    ignored: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    steps: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)

    @staticmethod
    def merge(parts: Iterable[AlignmentReport]) -> AlignmentReport:
        """Return the report of all parts together."""
        reports = list(parts)
        merged = {name: [getattr(report, name) for report in reports] for name in AlignmentReport.__slots__}
        return AlignmentReport(**{name: _merged(name, values) for name, values in merged.items()})

    def classes(self, settings: Settings) -> tuple[str, ...]:
        """Return the evaluated classes: as the settings name them, else all that occur, sorted."""
        if settings.classes is not None:
            return settings.classes
        return tuple(
            sorted((self.reference_classes | self.system_classes) - {*(settings.ignore_class or ())})
        )

    def warnings(self, settings: Settings) -> tuple[str, ...]:
        """Return a line for all that was noticed; raises EvaluationError if settings are strict."""
        doubts = [
            *sorted(self.doubtful),
            *self.misread(*self.tables),
            *self._of_names(settings),
            *(() if settings.files is None else self._of_listed(settings.files)),
            *(self._of_regions(settings) if settings.has_regions else ()),
            *(self._of_lengthless(settings) if self.lengthless or self.extra else ()),
            *self._of_classes(settings),
            *self._of_grid(settings),
            *self._of_touching(settings),
        ]
        if settings.strict and doubts:
            raise EvaluationError("\n".join([*doubts, STRICT]))
        return (
            *doubts,
            *sorted(self.notes),
            *self._left_out(settings),
            *(line for role, table in self.tables.items() for line in table.notes(role)),
        )

    def misread(self, *roles: str) -> list[str]:
        """Return a line for each reason to think that the table of one of some roles is misread."""
        return [line for role in roles if role in self.tables for line in self.tables[role].doubts(role)]

    def _table(self, role: str) -> str:
        """Return the name of the table of a role, as far as it is known."""
        return self.tables.get(role, RowStatistics()).called(role)

    def _of_names(self, settings: Settings) -> Iterator[str]:
        """Yield a line for names in the wrong column, two names of one class, and each kind of files."""
        theirs, classes = self.extra | self.dropped, {*self.classes(settings)}
        if theirs and are_swapped(theirs, self.system_classes, self.missing, self.reference_classes):
            yield f"{self._table('system')}: {NAMES['swapped-columns'].counted} (swapped-columns)"
        for role, names in (("reference", self.reference_classes), ("system", self.system_classes)):
            like = similar_names(sorted(names & classes)).items()
            pairs = [" and ".join(apart(name, other)) for name, other in like]
            if pairs:
                more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
                text = NAMES["similar-classes"].counted.format(pairs="; ".join(pairs[:_SHOWN]) + more)
                yield f"{self._table(role)}: {text} (similar-classes)"
        yield from self._of_files(settings, _FILES)

    def _of_files(self, settings: Settings, kinds: Iterable[tuple[str, str, str]]) -> Iterator[str]:
        """Yield a line for each kind of files."""
        for kind, noun, text in kinds:
            files = getattr(self, kind) - (self.silent if kind in ("missing", "extra") else _NOTHING)
            if not files:
                continue
            facts = {"other": self._table("reference"), "system": self._table("system")}
            facts["hint"] = named_alike(self.missing, files) if "{hint}" in text else ""
            if kind == "too_few_shots":
                number, label = settings.shots or (0, None)
                facts["shots"] = counted(number, "event") + ("" if label is None else f" of class {label!r}")
                unknown = label not in {*self.reference_classes, None}
                known = sorted(self.reference_classes)[:_COMPARED]
                facts["like"] = did_you_mean(label or "", known) if unknown else ""
            yield from said(text, files, noun, **facts)

    def _of_listed(self, files: Sequence[str]) -> Iterator[str]:
        """Yield warnings about a list of files; raises EvaluationError if no file matches."""
        unknown, hint = self.not_listed(files)
        for text in said(NAMES["listed-file"].counted, unknown, "listed file", hint=hint):
            if not self.listed:
                raise EvaluationError(f"{text}; expected names of files that {self._table('reference')} has")
            yield text

    def not_listed(self, names: Sequence[str]) -> tuple[list[str], str]:
        """Return the names of a list of files that neither side has, and the names that they may mean."""
        unknown, ours = unknown_names(names, self.listed), sorted(self.reference_outside)
        hint = named_alike(ours, unknown, ("reference", "list")) if unknown else ""
        return unknown, hint or "".join(did_you_mean(name, ours[:_COMPARED]) for name in unknown[:1])

    def _of_regions(self, settings: Settings) -> Iterator[str]:
        """Yield warnings about the settings' regions; raises EvaluationError if no region remains."""
        named = dict.fromkeys(name for name, *_ in settings.regions or ())
        unknown = unknown_names(named, self.regions_listed)
        like = named_alike(sorted(self.without_region), unknown, ("reference", "regions")) if unknown else ""
        text = (
            "regions: {files} {are} on neither side, and not evaluated (a row with only the name of a file "
            "declares it as one without events){like}"
        )
        lines = list(said(text, unknown, like=like))
        if not self.with_region and (self.without_region or self.too_few_shots):
            left_out = self._of_files(settings, _LEFT_OUT)
            raise EvaluationError("\n".join(["nothing is left to evaluate", *lines, *left_out]))
        yield from lines

    def _of_grid(self, settings: Settings) -> Iterator[str]:
        """Yield a warning for each side with rows that are nearly on the grid of segments."""
        for role, (rows, near, off) in sorted(self.off_grid.items()):
            if near >= _FEWEST_NEAR and 2 * near >= rows:
                length = short_fraction(settings.segment_length).removesuffix(".0")
                yield (
                    f"{self._table(role)}: {near} of {counted(rows, 'row')} are nearly on the edges of "
                    f"segments of {length} s, off by {off:.3g} s at most: each counts in a segment that "
                    "it hardly reaches. Has the table another time step, or do its times not begin at 0? "
                    "--segment-length takes steps exactly, such as 1/3 or 1024/44100"
                )

    def _of_touching(self, settings: Settings) -> Iterator[str]:
        """Yield a warning for each side that has touching rows, each of which counts as an event.

        The other side has whole events, or its time steps were joined.
        """
        is_rowwise = len(self.tables) > 1 and all(table.rows for table in self.tables.values())
        if not is_rowwise or settings.events != "auto" or not Plan.of(settings).counts_events:
            return
        code, joined = "touching-rows", {role: are_steps(counts) for role, counts in self.steps.items()}
        joined |= {"system": True} if settings.postprocesses else {}
        n = {role: table.counts.get(code, 0) for role, table in self.tables.items()}
        n |= {role: counts[2] for role, counts in self.steps.items()}
        for role, other in (("reference", "system"), ("system", "reference")):
            rows, others, theirs = self.tables[role].rows, self.tables[other].rows, self._table(other)
            whole = others > 0 and (other in self.steps or n[other] < _HARDLY * others)
            many = n[role] >= max((RULES[code].misread or 0) * rows, FEW_ROWS)
            if not joined.get(role) and ((n[role] and joined.get(other)) or (many and whole)):
                text = f"{CHECKS[code].message(n[role], rows, {})}, where {theirs} has whole events"
                yield f"{self._table(role)}: {text}; --set events=merge joins rows that touch ({code})"

    def _left_out(self, settings: Settings) -> Iterator[str]:
        """Yield a line for files and classes that are left out, and for settings of these alone.

        Beside these are the amount of detections and time that ignored classes leave out, and a line for
        tables without an event.
        """
        yield from self._of_files(settings, _LEFT_OUT)
        classes, names = self.classes(settings), {*(settings.ignore_class or ())}
        both = self.reference_classes | self.system_classes
        if not both and settings.classes is None:
            yield "neither table has an event: there is nothing to score"
        text = "{files} {are} not among the classes to evaluate; left out"
        yield from said(text, both - {*classes} - names, "class")
        for called, (detections, ticks) in self.ignored.items():
            events = f"{counted(detections, 'detection')} and " if Plan.of(settings).counts_events else ""
            noun = "class" if len(names) == 1 else "classes"
            itself = " (as the reference says by itself)" * (self.declared >= names)
            if detections or ticks:
                yield f"{events}{ticks * TICK:.6g} s were left out: ignored {noun} {called}{itself}"
        text = "rows of the system of {files} are left out: ignored"
        yield from said(text, self.system_classes & names, "class")
        for name in _BY_CLASS:
            value = getattr(settings, name)
            for label in value if isinstance(value, dict) else ():
                if label not in classes:
                    hint = did_you_mean(label, classes)
                    yield f"{name} is set for {label!r}, which is not an evaluated class{hint}"

    def _of_lengthless(self, settings: Settings) -> Iterator[str]:
        """Yield the scores that miss the false alarms in files of unknown length, or without a clip."""
        for files, bases, lacking, mend in (
            (self.lengthless, ("segment", "ranking"), "known length", "; --durations gives lengths of files"),
            (self.extra - self.silent, ("clip",), "clip in the reference", ""),
        ):
            scores = Plan.of(settings).needs_lengths(*bases) if files else ()
            text = f"{{files}} {{have}} detections and no {lacking}: these do not count in {{scores}}{mend}"
            yield from said(text, files if scores else (), scores=", ".join(scores))

    def _of_classes(self, settings: Settings) -> Iterator[str]:
        """Yield a line for each class that only the system has, that neither has, or that is ignored in vain.

        Raises EvaluationError if the tables have classes, but none is evaluated.
        """
        asked, ignored = settings.classes, {*(settings.ignore_class or ())}
        system, both = self.system_classes, self.reference_classes | self.system_classes
        never = [name for name in asked or () if name not in both]
        if both and never and len(never) == len(asked or ()):
            # As where a preset of another data set is taken: not one score would have a value.
            hint = did_you_mean(never[0], sorted(both)[:_COMPARED], n=1) if len(never) == 1 else ""
            text = f"none of the {listing(never, 'class')} to evaluate is in either table{hint}"
            raise EvaluationError(f"{text}; expected at least one of {listing(sorted(both), 'class')}")
        strange = system - self.reference_classes - ignored
        # A class to evaluate that the system never names is misspelt if another is nearly it. All others
        # were left out on purpose: a system may know more classes than an evaluation.
        wanted = {*both} if asked is None else {*asked}
        misspelt = "{names}, one of those to evaluate, {are} not in the system, which has another{hint}"
        neither = "{names}, one of those to evaluate, {are} in neither table{hint}"
        # Of tables of few-shot tasks some have time of which nothing is known, and others do not.
        in_vain = ignored - self.reference_classes - self.declared - {UNKNOWN}
        for names, among, cutoff, text, anyway in (
            (wanted - system, strange - wanted, 0.75, misspelt, False),
            (strange & wanted, self.reference_classes, 0.75, NAMES["unknown-class"].counted, True),
            ({*never}, both, 0.6, neither, True),
            (
                in_vain,
                self.reference_classes,
                0.6,
                "ignore_class: {names} {are} not in the reference{hint}",
                True,
            ),
        ):
            if not (among or anyway):
                continue
            told, rest = sorted(names)[:_TOLD], sorted(names)[_TOLD:]
            for name in told:
                hint = did_you_mean(name, sorted(among)[:_COMPARED], n=1, cutoff=cutoff)
                yield from [text.format(names=f"class {name!r}", are="is", hint=hint)] * bool(hint or anyway)
            if rest and anyway:
                yield text.format(names=listing(rest, "more class"), are=be(len(rest)), hint="")


def said(text: str, names: Iterable[str], noun: str = "file", **more: str) -> Iterator[str]:
    """Yield a message about names, with verbs in their number; yields nothing without names."""
    if names := sorted(names):
        have = "has" if len(names) == 1 else "have"
        yield text.format(files=listing(names, noun), are=be(len(names)), have=have, **more)


def _sums(parts: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the sums of counts."""
    return tuple(map(sum, zip(*parts, strict=True)))


def _sums_and_most(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the sums of the counts, and the maximum of the seconds that follow them."""
    *counts, seconds = zip(*parts, strict=True)
    return *map(sum, counts), max(seconds)


_MERGED: Mapping[str, Callable[[list[Any]], Any]] = {
    "tables": RowStatistics.merge,
    **dict.fromkeys(("ignored", "steps"), _sums),
    "off_grid": _sums_and_most,
}
"""Functions that merge fields of reports by role or name; fields not listed merge as unions."""


def _merged(field_: str, values: Sequence[Any]) -> Any:  # noqa: ANN401 - of the field
    """Return the value of a field of a report of all parts."""
    if field_ not in _MERGED:
        return _NOTHING.union(*values)
    keys = sorted({key for value in values for key in value})
    return {key: _MERGED[field_]([value[key] for value in values if key in value]) for key in keys}
