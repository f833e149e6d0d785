"""Shards: statistics of some files; the shards of all files together are the evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from sedeval_soft.checks.alignment import AlignmentReport
from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.count import bytes_per_file, check_counts, left_out, tally_pair
from sedeval_soft.fields import UNCOUNTED
from sedeval_soft.measures.registry import variants_of
from sedeval_soft.measures.tally import Tally
from sedeval_soft.memory import given_limit, has_room, reuse_freed, room
from sedeval_soft.names import did_you_mean
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.source import bytes_as_text, is_pattern, is_url
from sedeval_soft.timeline.recordings import Recordings, align, merges

_ROW, _VALUE = 400, 40
"""Bytes that counting takes at the most for each row, and for each further value of a row of a wide table."""

_BYTES_PER_CELL = 64
"""Memory for each segment of each class; if means are taken, a segment takes three times as much."""

_MANY = 1 << 17
"""Values of rows from which arrays are so large that new memory for each takes long."""

_IN_MEMORY = 5
"""Bytes of memory for each byte of text in a table that is read at once."""

_LARGE = 1 << 25
"""Bytes of both tables from which the start of several processes pays."""

Files = dict[str, tuple[str, ...]]
"""Files of each scene or fold by its name, sorted."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input: name, SHA-256 of its bytes (None for data in memory), sizes and form.

    options: the user's options for reading it, such as `label=speech`. points: the thresholds of operating
    points in order; none for any other table.
    """

    name: str
    role: str
    sha256: str | None
    rows: int
    files: int
    classes: int
    form: str
    has_values: bool
    events: str
    ignored: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    points: tuple[float, ...] = ()

    @property
    def has_thresholds(self) -> bool:
        """Whether a threshold matters: the input has values, or tables at several thresholds."""
        return self.has_values or len(self.points) > 1


class Shard(NamedTuple):
    """Statistics of some files, and their origin.

    - settings: settings that shaped the statistics. system: the system's name. tally: of all classes.
    - groups: tallies of the classes of each group alone: errors regardless of class differ among fewer
      classes.
    - variants: tallies by the settings of each variant, by `PART@VARIANT`: of all classes (no part), and of
      each group.
    - findings: findings for the reader. inputs: the inputs, by role and name.
    - durations: seconds by file name; None if none were given.
    """

    settings: Settings
    system: str
    tally: Tally
    groups: Mapping[str, Tally]
    findings: AlignmentReport
    inputs: tuple[Input, ...]
    durations: Mapping[str, float] | None = None
    variants: Mapping[str, Tally] = MappingProxyType({})

    def variant(self, text: str) -> Shard:
        """Return the statistics by the settings of a variant, which were counted."""
        groups = {name: self.variants[f"{name}@{text}"] for name in self.groups}
        settings = variants_of(self.settings)[text]
        return self._replace(settings=settings, tally=self.variants[f"@{text}"], groups=groups, variants={})

    @staticmethod
    def merge(shards: Sequence[Shard]) -> Shard:
        """Return the shard of all files of some shards, at least one, whatever their order.

        Raises EvaluationError if a file occurs twice, if settings differ, which it names, and if touching
        rows are one event in some shards only.
        """
        first = shards[0]
        if len(shards) == 1:
            return first
        forms = {role: _form_of(role, shards) for role in ("reference", "system")}
        systems = set()
        for shard in shards:
            refuse_other_settings(first.settings, shard.settings)
            paths = {item.name for item in shard.inputs if item.role == "system"}
            # A merged shard is named after its parts, or after their files.
            known = [paths, {PurePath(path).name for path in paths}]
            systems |= next(
                (each for each in known if shard.system == ", ".join(sorted(each))), {shard.system}
            )
        lengths = [shard.durations for shard in shards if shard.durations is not None]
        findings = AlignmentReport.merge(shard.findings for shard in shards)
        return Shard(
            settings=first.settings,
            system=", ".join(sorted(systems)),
            tally=Tally.merge(shard.tally for shard in shards),
            groups={name: Tally.merge(shard.groups[name] for shard in shards) for name in first.groups},
            variants={name: Tally.merge(shard.variants[name] for shard in shards) for name in first.variants},
            findings=findings,
            inputs=_joined(
                [replace(item, events=forms[item.role]) for shard in shards for item in shard.inputs],
                findings,
            ),
            durations={name: own[name] for own in lengths for name in own} if lengths else None,
        )


def count_rows(
    reference: EventTable,
    system: EventTable,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    name: str | None = None,
    *,
    batch: bool = False,
    cells: bool = False,
) -> Shard:
    """Return the statistics of rows; arguments as for `evaluate`; name: the system's.

    batch: whether more files will follow, so that data missing here may be in later files. cells: whether the
    values of all segments are kept, as comparing systems segment by segment needs.
    """
    n_classes = len(settings.classes or {*reference.classes, *system.classes})
    if (len(reference) + len(system)) * n_classes > _MANY:
        reuse_freed()
    pair = align(reference, system, settings, durations)
    sides = {
        "reference": replace(reference, origin=pair.reference.origin),
        "system": replace(system, origin=pair.raw.origin),
    }
    inputs = tuple(describe(rows, role, settings) for role, rows in sides.items())
    if batch:
        # Data in memory are named after their role, so that batches of them are described as one.
        inputs = tuple(
            item if item.sha256 is not None else replace(item, name=item.role, form="in memory")
            for item in inputs
        )
    else:
        # Errors are raised before long computations.
        if settings.strict:
            pair.findings.warnings(settings)
        scenes_of(pair.files, pair.classes, settings)
    return shard_of(pair, inputs, name or system.origin.name, durations, cells=cells)


def shard_of(
    pair: Recordings,
    inputs: tuple[Input, ...],
    system: str,
    durations: Mapping[str, float] | None = None,
    *,
    cells: bool = False,
) -> Shard:
    """Return the statistics of a pair; `inputs` and `durations` are its sources, else as above."""
    settings, findings = pair.settings, pair.findings
    if pair.ignored is not None:
        # Ignored rows are reported.
        findings = replace(findings, ignored={", ".join(pair.ignored.classes): left_out(pair)})
    # A class that the pair lacks counts nothing.
    known = {name: tuple(c for c in labels if c in pair.classes) for name, labels in settings.groups.items()}
    tallies: dict[str, Tally] = {}
    for text, chosen in {"": settings, **variants_of(settings)}.items():
        own = pair._replace(plan=Plan.of(chosen))
        parts = _pieces_of(own)
        kept = cells and chosen is settings
        tallies[f"@{text}"] = Tally.merge([tally_pair(part, cells=kept) for part in parts])
        for name, labels in known.items():
            tallies[f"{name}@{text}"] = Tally.merge(tally_pair(part.with_classes(labels)) for part in parts)
    tally, groups = tallies.pop("@"), {name: tallies.pop(f"{name}@") for name in known}
    return Shard(settings, system, tally, groups, findings, inputs, durations, tallies)


def is_large(reference: str, system: str, jobs: int) -> bool:
    """Return whether tables in files are large enough to be counted in parts; jobs: processes."""
    size = 0
    for name in (reference, system):
        if is_url(name) or is_pattern(name):
            from sedeval_soft.tables.joined_tables import shards_of

            size += sum(bytes_as_text(file.name, file.size) for file in shards_of(name))
        else:
            # Inputs that are not files count nothing.
            with suppress(OSError, ValueError):
                size += bytes_as_text(name, Path(name).stat().st_size)
    if size < _LARGE and given_limit() is None:
        return False
    return _IN_MEMORY * size > room() or (jobs > 1 and size >= _LARGE)


def bytes_of_rows(rows: EventTable) -> int:
    """Return the most bytes that counting takes for each row of a table."""
    return _ROW + _VALUE * max(0, len(rows.values) - 1)


def _pieces_of(pair: Recordings) -> list[Recordings]:
    """Return some files at a time: as many together as take less than half of the memory there is.

    Raises RoomError where the counts alone would not fit.
    """
    sides, settings = (pair.reference, pair.system), pair.settings
    n_files, n_classes = len(pair.files), len(pair.classes)
    per_cell = _BYTES_PER_CELL * (3 if settings.pool == "mean" else 1) * Plan.of(settings).counts_segments
    cells = np.ceil(pair.reach / settings.segment_length) * n_classes
    size = bytes_per_file(n_classes, settings) + per_cell * cells
    check_counts(n_files, n_classes, settings)
    if has_room(2 * (float(size.sum()) + sum(bytes_of_rows(rows) * len(rows) for rows in sides))):
        return [pair]
    for rows in sides:
        size += bytes_of_rows(rows) * np.bincount(rows.file, minlength=n_files)
    group = np.cumsum(size) // max(1.0, room() / 2)
    ends = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), n_files]
    return [pair.with_files(pair.files[begin:end]) for begin, end in pairwise(ends)]


def describe(rows: EventTable, role: str, settings: Settings) -> Input:
    """Return the description of rows, for headers and signatures."""
    origin = rows.origin
    # Post-processing makes events of rows that may touch.
    merged = merges(rows, settings) or (role == "system" and settings.postprocesses)
    return Input(
        name=origin.name,
        role=role,
        sha256=origin.sha256,
        rows=len(rows),
        files=len(rows.files),
        classes=len(rows.classes),
        form=origin.form,
        has_values=rows.has_values,
        events="merge" if merged else "rows",
        ignored=origin.ignored,
        options=origin.options,
        points=origin.points,
    )


def scenes_of(files: Sequence[str], classes: Sequence[str], settings: Settings) -> Files:
    """Return the files of each scene.

    Raises EvaluationError, naming all that are wrong, for a group with a class that is not evaluated and for
    a scene that no file belongs to.
    """
    problems = [
        f"group {name!r}: {label!r} is not an evaluated class{did_you_mean(label, classes)}"
        for name, labels in settings.groups.items()
        for label in labels
        if label not in classes
    ]
    scenes: Files = {}
    for name, patterns in settings.scenes.items():
        # Most patterns are names.
        wild = [pattern for pattern in patterns if {*pattern} & {*"*?["}]
        names = {*patterns} - {*wild}
        scenes[name] = tuple(
            file for file in files if file in names or any(fnmatchcase(file, w) for w in wild)
        )
        if not scenes[name]:
            wanted = " or ".join(map(repr, patterns))
            problems.append(f"scene {name!r}: no file matches {wanted}, of {listing(files, 'file')}")
    if problems:
        raise EvaluationError("\n".join(problems))
    return scenes


def refuse_other_settings(ours: Settings, theirs: Settings) -> None:
    """Raise EvaluationError for statistics shaped by different settings; names all that differ."""
    mine, other = ours.to_dict(), theirs.to_dict()
    different = [name for name in mine if name not in UNCOUNTED and mine[name] != other[name]]
    if different:
        named = "; ".join(f"{name} is {mine[name]!r} and {other[name]!r}" for name in different)
        raise EvaluationError(f"tallies of different settings cannot be merged: {named}")


def _form_of(role: str, shards: Sequence[Shard]) -> str:
    """Return the form of events of a side: `merge` if touching rows were joined, else `rows`.

    Shards with rows that touch or overlap decide. Raises EvaluationError if they differ.
    """
    forms: dict[bool, set[str]] = {True: set(), False: set()}
    for shard in shards:
        decides = shard.findings.steps.get(role, (0,))[0] > 0
        forms[decides] |= {item.events for item in shard.inputs if item.role == role}
    if len(forms[True]) > 1:
        raise EvaluationError(
            f"{role}: rows of some files are time steps, of which touching ones are one event, and rows of "
            "other files are not; expected --set events=merge (touching rows are one event) or --set "
            "events=rows (each row is one)"
        )
    return min(forms[True] or forms[False], default="rows")


def _joined(inputs: Sequence[Input], findings: AlignmentReport) -> tuple[Input, ...]:
    """Return the inputs, each file once, and data in memory as one input for each role."""
    files = {(item.role, item.name, item.sha256): item for item in inputs if item.sha256 is not None}
    joined = [files[key] for key in sorted(files)]
    for role in dict.fromkeys(item.role for item in inputs):
        own = [item for item in inputs if item.role == role and item.sha256 is None]
        if not own:
            continue
        forms = {item.form for item in own}
        joined.append(
            Input(
                name=", ".join(sorted({item.name for item in own})),
                role=role,
                sha256=None,
                rows=sum(item.rows for item in own),
                files=sum(item.files for item in own),
                classes=len(findings.reference_classes if role == "reference" else findings.system_classes),
                form=forms.pop() if len(forms) == 1 else "in memory",
                has_values=any(item.has_values for item in own),
                events=own[0].events,
                ignored=tuple(sorted({name for item in own for name in item.ignored})),
                options=tuple(dict.fromkeys(text for item in own for text in item.options)),
                points=tuple(sorted({point for item in own for point in item.points})),
            )
        )
    # The reference first, as where there is one of each.
    return tuple(sorted(joined, key=lambda item: (item.role, item.name)))
