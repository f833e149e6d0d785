"""Reference and system brought together: one list of files, one list of classes, one length each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.errors import EvaluationError, InputError, Problem
from sedeval_soft.core.filenames import match_names
from sedeval_soft.core.hints import did_you_mean
from sedeval_soft.core.postprocess import postprocessed, strangers
from sedeval_soft.core.rows import LONGEST, UNNAMED, LongRows, Rows, WideRows
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.ticks import Ticks, to_ticks

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tables whose codes mean the same.

    files: all evaluated files, sorted. classes: all evaluated classes, sorted unless they were named.
    reference, system: the rows, coded into `files` and `classes`.
    length: (n_files,) evaluated seconds of each file: its duration where given, else the last
        offset on either side. raw: the system's rows before post-processing.
    warnings: what a person should know about the two tables.
    """

    files: tuple[str, ...]
    classes: tuple[str, ...]
    reference: Rows
    system: Rows
    length: npt.NDArray[np.float64]
    raw: Rows
    warnings: tuple[str, ...] = ()

    @property
    def length_ticks(self) -> Ticks:
        """Return the evaluated length of each file in ticks, shape (n_files,)."""
        return to_ticks(self.length)


def align(
    reference: Rows, system: Rows, settings: Settings, durations: Mapping[str, float] | None = None
) -> Pair:
    """Bring a reference and a system onto one list of files and one of classes.

    A file or class that one side lacks is evaluated all the same (as all false alarms or all
    misses) and warned of. `durations` (seconds by file name) is also the list of evaluated files:
    it adds files without any row, and leaves out system files that neither it nor the reference names.
    `settings.classes` restricts and orders the classes. The system's rows are post-processed as the
    settings ask for.

    Raises EvaluationError where names cannot be matched, and for any warning if `settings.strict`.
    """
    reference, system = _name_single_file(reference, system, durations or {})
    warnings: list[str] = []
    listed = _match(reference, durations or {}, "durations", warnings)
    lengths = {listed[name]: seconds for name, seconds in (durations or {}).items()}
    reference_files = tuple(dict.fromkeys([*reference.files, *lengths]))
    matched = _match_files(reference_files, reference.origin.name, system.files, system.origin.name, warnings)
    kept = set(reference_files) if durations is not None else set(reference_files) | set(matched.values())
    files = tuple(sorted(kept))
    _warn_files(reference, set(matched.values()), kept, lengths if durations is not None else None, warnings)
    classes = _classes(reference, system, settings, warnings)
    if settings.strict and warnings:
        raise EvaluationError("\n".join([*warnings, "--strict makes each of these an error"]))
    warnings.extend(
        f"{side.origin.name}: {note}" for side in (reference, system) for note in side.origin.notes
    )
    left_out = sorted((set(reference.classes) | set(system.classes)) - set(classes))
    if left_out:
        warnings.append(f"{listing(left_out, 'class')} not among --classes; left out")
    codes = {name: code for code, name in enumerate(files)}
    reference = _recode_files(reference, [codes[name] for name in reference.files], files)
    system = _recode_files(system, [codes.get(matched[name], -1) for name in system.files], files)
    length = _lengths(len(files), reference, system)
    given = {codes[name]: seconds for name, seconds in lengths.items()}
    length[list(given)] = list(given.values())
    warnings.extend(
        _beyond(side, role, length) for role, side in (("reference", reference), ("system", system))
    )
    warnings = [warning for warning in warnings if warning]
    warnings.extend(strangers(settings, classes))
    reference, raw = _recode_classes(reference, classes), _recode_classes(system, classes)
    return Pair(files, classes, reference, postprocessed(raw, settings), length, raw, tuple(warnings))


def with_classes(pair: Pair, classes: tuple[str, ...]) -> Pair:
    """Return a pair of some of its classes, in this order; lengths and post-processing stay as they are."""
    return _recoded(pair, lambda rows: _recode_classes(rows, classes), classes=classes)


def with_files(pair: Pair, files: tuple[str, ...]) -> Pair:
    """Return a pair of some of its files, given in their order; all classes stay."""
    position = {name: code for code, name in enumerate(files)}
    codes = [position.get(name, -1) for name in pair.files]
    length = pair.length[np.asarray(codes, dtype=np.int64) >= 0]
    return _recoded(pair, lambda rows: _recode_files(rows, codes, files), files=files, length=length)


def _recoded(pair: Pair, recode: Callable[[Rows], Rows], **changed: Any) -> Pair:  # noqa: ANN401 - fields
    system = recode(pair.system)
    raw = system if pair.raw is pair.system else recode(pair.raw)
    return replace(pair, reference=recode(pair.reference), system=system, raw=raw, warnings=(), **changed)


def _name_single_file(reference: Rows, system: Rows, durations: Mapping[str, float]) -> tuple[Rows, Rows]:
    """Give the rows of a table without file names the name of the other table's, or duration's, only file."""
    if reference.files == system.files == (UNNAMED,) and len(durations) == 1:
        return replace(reference, files=tuple(durations)), replace(system, files=tuple(durations))
    sides = [reference, system]
    for this, other in ((0, 1), (1, 0)):
        if UNNAMED in sides[this].files and UNNAMED not in sides[other].files:
            if len(sides[other].files) > 1:
                named, unnamed = sides[other].origin.name, sides[this].origin.name
                raise InputError(
                    Problem(
                        unnamed,
                        f"there is no column of file names, but {named} has "
                        f"{len(sides[other].files)} files; expected a filename column",
                    )
                )
            if sides[other].files:
                sides[this] = replace(sides[this], files=sides[other].files)
    return sides[0], sides[1]


def _match(reference: Rows, names: Mapping[str, float], what: str, warnings: list[str]) -> dict[str, str]:
    return _match_files(reference.files, reference.origin.name, tuple(names), what, warnings)


def _match_files(
    reference: Sequence[str], reference_name: str, other: Sequence[str], other_name: str, warnings: list[str]
) -> dict[str, str]:
    match = match_names(reference, other)
    if match.ambiguous:
        warnings.append(
            f"{other_name}: {listing(match.ambiguous, 'file name')} could be more than one file of "
            f"{reference_name} (with and without folders or extension); taken as written"
        )
    return match.canonical


def _warn_files(
    reference: Rows,
    in_system: set[str],
    kept: set[str],
    listed: Mapping[str, float] | None,
    warnings: list[str],
) -> None:
    in_reference = set(reference.files)
    missing = sorted(in_reference - in_system)
    extra = sorted((in_system & kept) - in_reference - set(listed or ()))
    dropped = sorted(in_system - kept)
    if missing:
        warnings.append(f"the system has no rows for {listing(missing, 'reference file')}; counted as misses")
    if extra:
        warnings.append(
            f"the reference has no {listing(extra, 'system file')}; counted as false alarms, unless a "
            "row with only its name declares it as a file without events"
        )
    if dropped:
        warnings.append(f"{listing(dropped, 'system file')} not in the reference or the durations; left out")
    if listed is not None and (unlisted := sorted(in_reference - set(listed))):
        warnings.append(
            f"no duration for {listing(unlisted, 'reference file')}; evaluated to the last offset"
        )


def _classes(reference: Rows, system: Rows, settings: Settings, warnings: list[str]) -> tuple[str, ...]:
    known = set(reference.classes) | set(system.classes)
    for name in sorted(set(system.classes) - set(reference.classes)):
        if settings.classes is not None and name not in settings.classes:
            continue
        hint = did_you_mean(name, reference.classes, n=1, cutoff=0.75)
        warnings.append(f"class {name!r} is not in the reference; counted as false alarms{hint}")
    if settings.classes is None:
        return tuple(sorted(known))
    for name in settings.classes:
        if name not in known:
            hint = did_you_mean(name, sorted(known), n=1)
            warnings.append(f"class {name!r} of --classes is in neither table{hint}")
    return settings.classes


def listing(names: Sequence[str], noun: str) -> str:
    """Return a count and the first few names: `3 files: a, b, c`."""
    plural = noun if len(names) == 1 else f"{noun}es" if noun.endswith("s") else f"{noun}s"
    shown = ", ".join("without a name" if name == UNNAMED else repr(name) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{len(names)} {plural} ({shown}{more})"


def _recode_files(rows: Rows, codes: list[int], files: tuple[str, ...]) -> Rows:
    """Replace file codes by those of the shared list; rows of left-out files (code -1) go."""
    file = np.asarray(codes, dtype=np.int32)[rows.file] if len(rows) else rows.file
    recoded = replace(rows, files=files, file=file)
    if not len(rows) or file.min() >= 0:
        return recoded
    keep = file >= 0
    return _keep_wide(recoded, keep) if isinstance(recoded, WideRows) else _keep_long(recoded, keep)


def _recode_classes(rows: Rows, classes: tuple[str, ...]) -> Rows:
    """Replace class codes by those of the shared list; rows and columns of left-out classes go."""
    if isinstance(rows, WideRows):
        columns = dict(zip(rows.classes, rows.values, strict=True))
        silent = np.broadcast_to(np.zeros(1), (len(rows),))
        return replace(rows, classes=classes, values=tuple(columns.get(name, silent) for name in classes))
    position = {name: code for code, name in enumerate(classes)}
    lookup = np.asarray([position.get(name, -1) for name in rows.classes], dtype=np.int32)
    label = lookup[rows.label] if len(rows) else rows.label
    recoded = replace(rows, classes=classes, label=label)
    return recoded if not len(rows) or label.min() >= 0 else _keep_long(recoded, label >= 0)


def _keep_long(rows: LongRows, keep: npt.NDArray[np.bool_]) -> LongRows:
    return replace(
        rows,
        file=rows.file[keep],
        label=rows.label[keep],
        onset=rows.onset[keep],
        offset=rows.offset[keep],
        value=None if rows.value is None else rows.value[keep],
        born=None if rows.born is None else rows.born[keep],
    )


def _keep_wide(rows: WideRows, keep: npt.NDArray[np.bool_]) -> WideRows:
    return replace(
        rows,
        file=rows.file[keep],
        onset=rows.onset[keep],
        offset=rows.offset[keep],
        values=tuple(column[keep] for column in rows.values),
    )


def _beyond(rows: Rows, role: str, length: npt.NDArray[np.float64]) -> str:
    """Return a warning of rows that end after their file does, empty where none do."""
    over = rows.offset - length[rows.file] if len(rows) else np.zeros(0)
    count = int(np.count_nonzero(over > 0))
    if not count:
        return ""
    return (
        f"{count} {role} rows end after their file's duration, by {over.max():.6g} s at the most; segments "
        "after it are not evaluated"
    )


def _lengths(n_files: int, *sides: Rows) -> npt.NDArray[np.float64]:
    """Return the last offset of each file on either side, shape (n_files,), in seconds."""
    length = np.zeros(n_files)
    for rows in sides:
        if not len(rows):
            continue
        if rows.offset.max() > LONGEST:
            raise InputError(
                Problem(
                    rows.origin.name,
                    f"a row ends at {rows.offset.max():g} s, over {LONGEST:g} s (31 years); expected seconds",
                )
            )
        np.maximum.at(length, rows.file, rows.offset)
    return length
