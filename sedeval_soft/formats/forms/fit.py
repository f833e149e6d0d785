"""Rows made to fit a form, and in words what is lost by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.counted import be, counted, plural
from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.ticks import TICKS_PER_SECOND
from sedeval_soft.formats.forms.form import Form
from sedeval_soft.formats.forms.names import has_audio_extension, shown, stems
from sedeval_soft.formats.forms.shapes import contiguous, fold, unfold
from sedeval_soft.tables.event_table import UNNAMED, EventTable

_NAMED = 3
"""How many names a message shows."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Rows that a form holds without loss, and what they have lost to be so.

    rows: with the recordings' names as they will be read. stems: what the file of each recording is called,
    without extension, where each goes to one of its own; None where all go to one.
    """

    rows: EventTable
    losses: tuple[str, ...]
    stems: tuple[str, ...] | None = None


def fit(
    rows: EventTable, form: Form, *, apart: bool = False, called: str = "", limits: Limits = LIMITS
) -> Fitted:
    """Make rows fit a form.

    apart: there is to be a folder of files, one per recording. called: the name of a recording without one,
    where it needs a name. Raises InputError for what cannot be written in this form at all.
    """
    losses: list[str] = []
    apart = apart or form.folder
    if rows.born is not None:
        raise _cannot(rows, "holds operating points, which no form of tables can")
    rows = _shaped(rows, form, losses, limits)
    rows = _without_values(rows, form, losses)
    rows = _rounded(rows, form, losses)
    rows = _sparse(rows, form, losses, apart=apart)
    rows = _spelled(rows, form, losses)
    rows = _called(rows, form, losses, called, apart=apart)
    if not apart:
        return Fitted(rows, tuple(losses))
    names = tuple(stems(rows.origin.name, rows.files).values())
    return Fitted(rows if form.named else replace(rows, files=names), tuple(losses), names)


def taken(rows: EventTable, code: int, *, named: bool = False) -> EventTable:
    """Return the rows of one recording, with or without its name."""
    mine = rows.take(np.flatnonzero(rows.file == code))
    name = rows.files[code] if named else UNNAMED
    return replace(mine, files=(name,), file=np.zeros(len(mine), dtype=np.int32))


def _shaped(rows: EventTable, form: Form, losses: list[str], limits: Limits) -> EventTable:
    holds = form.holds
    if rows.is_wide:
        if holds.wide and (holds.gaps or contiguous(rows)):
            return rows
        _check_room(rows, 32 * len(rows) * len(rows.classes), "as a long table")
        long = unfold(rows)
    elif holds.long:
        return rows
    else:
        long = rows
    if holds.long:
        return long
    needed = 2 * len(long) * max(1, len(long.classes)) * 24
    if needed > limits.size:
        limits.check(rows.origin.name, "size", needed, "bytes as a wide table")
    _check_room(rows, needed, "as a wide table")
    wide, lost = fold(long, gaps=holds.gaps)
    losses.extend(lost)
    if not wide.classes:
        raise _cannot(rows, f"holds no class; {form.name} has a column for each")
    return wide


def _check_room(rows: EventTable, needed: int, what: str) -> None:
    from sedeval_soft.core.room import check_room

    check_room(needed, f"{rows.origin.name}: to hold it {what}", "Expected batches of files")


def _without_values(rows: EventTable, form: Form, losses: list[str]) -> EventTable:
    if form.holds.values or rows.is_wide or rows.value is None:
        return rows
    silent = int(np.count_nonzero(rows.value == 0))
    left_out = f", and {counted(silent, 'row')} of value 0 {be(silent)} left out" if silent else ""
    losses.append(f"values of {counted(len(rows), 'row')}: those above 0 become events{left_out}")
    return replace(rows.take(rows.value > 0), values=())


def _rounded(rows: EventTable, form: Form, losses: list[str]) -> EventTable:
    step = form.holds.resolution
    if not step:
        return rows
    onset, offset = _multiples(rows.onset, step), _multiples(rows.offset, step)
    finer = int(np.count_nonzero((onset != rows.onset) | (offset != rows.offset)))
    if finer:
        unit = "a microsecond" if step == 1 else f"{step / TICKS_PER_SECOND:g} s"
        losses.append(f"{counted(finer, 'row')} with times finer than {unit}, which are rounded")
    return replace(rows, onset=onset, offset=offset)


def _multiples(seconds: npt.NDArray[np.float64], step: int) -> npt.NDArray[np.float64]:
    per_second = TICKS_PER_SECOND // step
    return np.rint(seconds * per_second) / per_second


def _sparse(rows: EventTable, form: Form, losses: list[str], *, apart: bool) -> EventTable:
    """Leave out recordings and classes without rows where the form does not know of them."""
    holds = form.holds
    if not rows.is_wide and not holds.classes:
        used = np.bincount(rows.row_label, minlength=len(rows.classes)) > 0
        unused = [name for name, is_used in zip(rows.classes, used.tolist(), strict=True) if not is_used]
        if unused:
            losses.append(f"{counted(len(unused), 'class')} without rows: {_listed(unused)}")
            lookup = np.cumsum(used).astype(np.int32) - 1
            classes = tuple(
                name for name, is_used in zip(rows.classes, used.tolist(), strict=True) if is_used
            )
            rows = replace(rows, classes=classes, label=lookup[rows.label])
    if apart:
        return rows
    used = np.bincount(rows.file, minlength=len(rows.files)) > 0
    silent = [name for name, is_used in zip(rows.files, used.tolist(), strict=True) if not is_used]
    lost = [name for name in silent if not holds.silent or name == UNNAMED]
    if lost:
        if lost != [UNNAMED]:
            losses.append(f"{counted(len(lost), 'recording')} without rows: {_listed(lost)}")
        kept = tuple(name for name in rows.files if name not in set(lost))
        position = {name: code for code, name in enumerate(kept)}
        lookup = np.array([position.get(name, -1) for name in rows.files], dtype=np.int32)
        rows = replace(rows, files=kept, file=lookup[rows.file])
    if not len(rows) and not holds.nothing and not (rows.files and holds.name):
        losses.append("that there are no rows: a file without a line is no table")
    return rows


def _spelled(rows: EventTable, form: Form, losses: list[str]) -> EventTable:
    """Put underscores for blanks in names where a blank ends a field."""
    if form.holds.blanks:
        return rows
    files, classes = (_joined(rows, names, losses, what) for names, what in
                      ((rows.files, "recording"), (rows.classes, "class")))  # fmt: skip
    return replace(rows, files=files, classes=classes)


def _joined(rows: EventTable, names: Sequence[str], losses: list[str], what: str) -> tuple[str, ...]:
    made = tuple("_".join(name.split()) for name in names)
    changed = [name for name, new in zip(names, made, strict=True) if name != new]
    if changed:
        losses.append(f"blanks in names of {counted(len(changed), what)}, which become _: {_listed(changed)}")
    if len(set(made)) < len(made):
        raise _cannot(rows, f"names {plural(what)} that differ in blanks only: {_listed(changed)}")
    return made


def _called(rows: EventTable, form: Form, losses: list[str], called: str, *, apart: bool) -> EventTable:
    """See to the names of recordings."""
    if UNNAMED in rows.files and len(rows.files) > 1:
        raise _cannot(rows, "holds a recording without a name among others; expected a name of each")
    if apart:
        return _called_apart(rows, form, losses, called)
    if form.holds.recordings:
        return rows
    if len(rows.files) > 1:
        raise _cannot(
            rows,
            f"holds {len(rows.files)} recordings; a file of {form.name} holds one: expected a folder, "
            "a path that ends in /",
        )
    if not form.holds.name and rows.files not in {(), (UNNAMED,)}:
        losses.append(f"the name of the recording, {shown(rows.files[0])}")
        rows = replace(rows, files=(UNNAMED,) if len(rows) else ())
    return rows


def _called_apart(rows: EventTable, form: Form, losses: list[str], called: str) -> EventTable:
    """See to it that each recording has a name that its file can have."""
    if not rows.files and called:
        rows = replace(rows, files=(UNNAMED,))
    if rows.files == (UNNAMED,):
        if not called:
            raise _cannot(rows, "holds a recording without a name; a folder has a file for each, by name")
        losses.append(f"that the recording has no name: it is called {shown(called)}")
        rows = replace(rows, files=(called,))
    ended = [name for name in rows.files if has_audio_extension(name) and not form.named]
    if ended:
        losses.append(f"extensions of audio files in the names of {counted(len(ended), 'recording')}")
    if not rows.files:
        raise _cannot(rows, "holds no recording; a folder has a file for each")
    return rows


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:_NAMED])) + (", ..." if len(names) > _NAMED else "")


def _cannot(rows: EventTable, why: str) -> InputError:
    return InputError(Problem(rows.origin.name, why, code="cannot-hold"))
