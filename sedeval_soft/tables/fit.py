"""Rows made to fit a form, and in words what is lost by it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import InputError, Problem, be, counted, plural
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import without_extension
from sedeval_soft.tables.forms import Form
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, to_seconds, to_ticks

Index = npt.NDArray[np.intp]

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
    if rows.born is not None:
        raise _cannot(rows, "holds operating points, which no form of tables can")
    losses: list[str] = []
    apart = apart or form.folder
    rows = _in_shape(rows, form, losses, limits)
    if not form.holds.values and not rows.is_wide and rows.value is not None:
        silent = int(np.count_nonzero(rows.value == 0))
        left_out = f", and {counted(silent, 'row')} of value 0 {be(silent)} left out" if silent else ""
        losses.append(f"values of {counted(len(rows), 'row')}: those above 0 become events{left_out}")
        rows = replace(rows.take(rows.value > 0), values=())
    if form.holds.resolution:
        rows = _rounded(rows, form.holds.resolution, losses)
    rows = _without_unused(rows, form, losses, apart=apart)
    if not form.holds.blanks:
        files = _joined(rows, rows.files, "recording", losses)
        rows = replace(rows, files=files, classes=_joined(rows, rows.classes, "class", losses))
    if UNNAMED in rows.files and len(rows.files) > 1:
        raise _cannot(rows, "holds a recording without a name among others; expected a name of each")
    if apart:
        return _apart(rows, form, losses, called)
    if not form.holds.recordings and len(rows.files) > 1:
        raise _cannot(
            rows,
            f"holds {len(rows.files)} recordings; a file of {form.name} holds one: expected a folder, "
            "a path that ends in /",
        )
    if not form.holds.recordings and not form.holds.name and rows.files not in {(), (UNNAMED,)}:
        losses.append(f"the name of the recording, {shown(rows.files[0])}")
        rows = replace(rows, files=(UNNAMED,) if len(rows) else ())
    return Fitted(rows, tuple(losses))


def recording(rows: EventTable, code: int, *, named: bool = False) -> EventTable:
    """Return the rows of one recording, with or without its name."""
    chosen = np.arange(len(rows.files)) == code
    return replace(rows.only_files(chosen), files=(rows.files[code] if named else UNNAMED,))


def _in_shape(rows: EventTable, form: Form, losses: list[str], limits: Limits) -> EventTable:
    """Return rows as long or wide as the form has them."""
    from sedeval_soft.memory import check_room

    holds, name = form.holds, rows.origin.name
    if holds.wide and (holds.gaps or contiguous(rows)) if rows.is_wide else holds.long:
        return rows
    if rows.is_wide:
        needed = 32 * len(rows) * len(rows.classes)
        check_room(needed, f"{name}: to hold it as a long table", "Expected batches of files")
        rows = unfold(rows)
        if holds.long:
            return rows
    needed = 2 * len(rows) * max(1, len(rows.classes)) * 24
    limits.check(name, "size", needed, "bytes as a wide table")
    check_room(needed, f"{name}: to hold it as a wide table", "Expected batches of files")
    wide, lost = fold(rows, gaps=holds.gaps)
    losses += lost
    if not wide.classes:
        raise _cannot(rows, f"holds no class; {form.name} has a column for each")
    return wide


def _rounded(rows: EventTable, step: int, losses: list[str]) -> EventTable:
    """Return rows with times that are multiples of some ticks."""
    per_second = TICKS_PER_SECOND // step
    onset, offset = (np.rint(times * per_second) / per_second for times in (rows.onset, rows.offset))
    finer = int(np.count_nonzero((onset != rows.onset) | (offset != rows.offset)))
    if finer:
        unit = "a microsecond" if step == 1 else f"{step / TICKS_PER_SECOND:g} s"
        losses.append(f"{counted(finer, 'row')} with times finer than {unit}, which are rounded")
    return replace(rows, onset=onset, offset=offset)


def _without_unused(rows: EventTable, form: Form, losses: list[str], *, apart: bool) -> EventTable:
    """Leave out recordings and classes without rows where the form does not know of them."""
    holds = form.holds
    if not rows.is_wide and not holds.classes:
        unused = unused_names(rows.classes, rows.row_label)
        if unused:
            losses.append(f"{counted(len(unused), 'class')} without rows: {_listed(unused)}")
            rows = rows.with_classes(tuple(name for name in rows.classes if name not in {*unused}))
    if apart:
        return rows
    lost = [name for name in unused_names(rows.files, rows.file) if not holds.silent or name == UNNAMED]
    if lost:
        if lost != [UNNAMED]:
            losses.append(f"{counted(len(lost), 'recording')} without rows: {_listed(lost)}")
        left_out = {*lost}
        rows = rows.only_files(np.array([name not in left_out for name in rows.files]))
    if not len(rows) and not holds.nothing and not (rows.files and holds.name):
        losses.append("that there are no rows: a file without a line is no table")
    return rows


def unused_names(names: Sequence[str], codes: npt.NDArray[np.int32]) -> list[str]:
    """Return the names, of recordings or classes, that no row has; codes: (n,) of the rows."""
    used = np.bincount(codes, minlength=len(names)) > 0
    return [name for name, is_used in zip(names, used.tolist(), strict=True) if not is_used]


def _joined(rows: EventTable, names: Sequence[str], what: str, losses: list[str]) -> tuple[str, ...]:
    """Return names with underscores for blanks, which end a field."""
    joined = tuple("_".join(name.split()) for name in names)
    changed = [name for name, new in zip(names, joined, strict=True) if name != new]
    if changed:
        losses.append(f"blanks in names of {counted(len(changed), what)}, which become _: {_listed(changed)}")
    if len(set(joined)) < len(joined):
        raise _cannot(rows, f"names {plural(what)} that differ in blanks only: {_listed(changed)}")
    return joined


def _apart(rows: EventTable, form: Form, losses: list[str], called: str) -> Fitted:
    """See to it that each recording has a name that its file can have."""
    if rows.files == (UNNAMED,) or (not rows.files and called):
        if not called:
            raise _cannot(rows, "holds a recording without a name; a folder has a file for each, by name")
        losses.append(f"that the recording has no name: it is called {shown(called)}")
        rows = replace(rows, files=(called,))
    if not rows.files:
        raise _cannot(rows, "holds no recording; a folder has a file for each")
    ended = sum(without_extension(name) != name for name in rows.files)
    if ended and not form.named:
        losses.append(f"extensions of audio files in the names of {counted(ended, 'recording')}")
    names = stems(rows.origin.name, rows.files)
    return Fitted(rows if form.named else replace(rows, files=names), tuple(losses), names)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:_NAMED])) + (", ..." if len(names) > _NAMED else "")


def _cannot(rows: EventTable, why: str) -> InputError:
    return InputError(Problem(rows.origin.name, why, code="cannot-hold"))


# Long tables made wide, and wide ones long.


def unfold(rows: EventTable) -> EventTable:
    """Return a row for each class of each time step, values of 0 included: nothing is lost."""
    n, n_classes = len(rows), len(rows.classes)
    values = np.empty((n, n_classes))
    for i, column in enumerate(rows.values):
        values[:, i] = column
    label = np.tile(np.arange(n_classes, dtype=np.int32), n)
    onset, offset = np.repeat(rows.onset, n_classes), np.repeat(rows.offset, n_classes)
    file = np.repeat(rows.file, n_classes)
    return EventTable.long(rows.files, rows.classes, file, label, onset, offset, values.ravel(), rows.origin)


def as_long(rows: EventTable) -> EventTable:
    """Return rows as long ones, whatever they are."""
    return unfold(rows) if rows.is_wide else rows


_LOST = {
    "finer": ("row", "with times finer than a microsecond, which are rounded"),
    "valueless": ("row", "without a value, which become{s} {values} of 1"),
    "empty": ("row", "without length"),
    "overlapping": ("overlap", "of rows of one class, which take{s} the largest value"),
    "cut": ("row", "that {are} cut where others begin or end"),
    "filled": ("cell", "of classes without row, which become{s} {values} of 0"),
}
"""What folding loses, in words."""


def fold(rows: EventTable, *, gaps: bool = True, at_once: int = 1 << 22) -> tuple[EventTable, list[str]]:
    """Return time steps between all boundaries of a recording, and what is lost by it.

    A class has the largest value of its rows in a step, 0 where it has none. gaps: times without any row
    have no step; else steps begin at 0 and leave none out. at_once: cells of steps and classes that are
    looked at in one go.
    """
    onset, offset, n_classes = to_ticks(rows.onset), to_ticks(rows.offset), len(rows.classes)
    value = np.ones(len(rows)) if rows.value is None else rows.value
    finer = (to_seconds(onset) != rows.onset) | (to_seconds(offset) != rows.offset)
    lost = Counter(finer=int(np.count_nonzero(finer)), valueless=len(rows) if rows.value is None else 0)
    none = np.zeros(0, dtype=np.int64)
    files, begins, ends, values = [none.astype(np.int32)], [none], [none], [np.zeros((0, n_classes))]
    order = np.argsort(rows.file, kind="stable")
    bounds = np.searchsorted(rows.file[order], np.arange(len(rows.files) + 1))
    for code, (low, high) in enumerate(pairwise(bounds.tolist())):
        if low == high:
            continue
        row = order[low:high]
        edges = np.unique(np.concatenate([onset[row], offset[row], np.zeros(int(not gaps), dtype=np.int64)]))
        first, last = np.searchsorted(edges, onset[row]), np.searchsorted(edges, offset[row])
        cells = np.zeros((len(edges) - 1, n_classes))
        counts = np.zeros(cells.shape, dtype=np.int64)
        for at, step in _steps_of(first, last, at_once):
            where = step, rows.row_label[row[at]]
            np.maximum.at(cells, where, value[row[at]])
            np.add.at(counts, where, 1)
        covered = (counts > 0).any(axis=1) if gaps else np.ones(len(cells), dtype=bool)
        lost["empty"] += int(np.count_nonzero(last == first))
        lost["overlapping"] += int(np.count_nonzero(counts > 1))
        lost["cut"] += int(np.count_nonzero(last - first > 1))
        lost["filled"] += int(np.count_nonzero(counts[covered] == 0))
        begins.append(edges[:-1][covered])
        ends.append(edges[1:][covered])
        values.append(cells[covered])
        files.append(np.full(len(values[-1]), code, dtype=np.int32))
    times = to_seconds(np.concatenate(begins)), to_seconds(np.concatenate(ends))
    columns = [np.ascontiguousarray(column) for column in np.concatenate(values).T]
    wide = EventTable.wide(rows.files, rows.classes, np.concatenate(files), *times, columns, rows.origin)
    losses = []
    for key, (noun, text) in _LOST.items():
        n = lost[key]
        words = text.format(s="s" * (n == 1), are=be(n), values="a value" if n == 1 else "values")
        losses += [f"{counted(n, noun)} {words}"] if n else []
    return wide, losses


def _steps_of(first: Index, last: Index, at_once: int) -> Iterator[tuple[Index, Index]]:
    """Yield, for some rows at a time, which row and which step go together; first, last: steps of rows."""
    begin = 0
    reach = np.cumsum(last - first)
    while begin < len(first):
        before = int(reach[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(reach, before + at_once, side="right")))
        counts = last[begin:end] - first[begin:end]
        row = np.repeat(np.arange(begin, end), counts)
        step = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts) + first[row]
        yield row, step
        begin = end


def in_steps(rows: EventTable) -> EventTable:
    """Return the values of all classes in time steps that touch, from 0 on in each recording."""
    return rows if rows.is_wide and contiguous(rows) else fold(as_long(rows), gaps=False)[0]


def contiguous(rows: EventTable) -> bool:
    """Return whether the steps of each recording begin at 0, in order, and leave no time out.

    The end of one must be the beginning of the next to the last digit: sed_scores_eval refuses others.
    """
    if not len(rows):
        return True
    begins, ends = rows.onset, rows.offset
    first = np.concatenate([[True], rows.file[1:] != rows.file[:-1]])
    if len(np.unique(rows.file[first])) != np.count_nonzero(first) or np.any(begins[first] != 0):
        return False
    return bool(np.all((begins[1:] == ends[:-1]) | first[1:]) and np.all(begins < ends))


# Names that a form, or a file system, can hold.

_LONGEST = 200
"""Bytes that leave room for an extension in what file systems take (255)."""

_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SHOWN = 60


def check_text(source: str, names: Iterable[str], form: str, forbidden: str = "\r\n") -> None:
    """Raise InputError for a name that cannot be written as text, or holds a character it must not."""
    for name in names:
        bad = next((character for character in forbidden if character in name), None)
        if bad is not None:
            raise _refused(source, name, f"holds {bad!r}, which {form} cannot hold")
        if name != name.strip():
            raise _refused(source, name, "has blanks around it, which readers take away")
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise _refused(source, name, "cannot be written as UTF-8") from error


def stems(source: str, files: Iterable[str]) -> tuple[str, ...]:
    """Return what the file of each recording is called, without extension: never a path to somewhere else.

    Raises InputError for names that are paths, that systems reserve, or that two recordings would share.
    """
    by_stem: dict[str, str] = {}
    for file in files:
        stem = without_extension(file)
        reasons = (
            (not stem, "is empty"),
            (stem in {".", ".."} or ".." in re.split(r"[/\\]", stem), "leads out of a folder"),
            ("/" in stem or "\\" in stem, "holds a separator of folders"),
            (re.match(r"[A-Za-z]:", stem), "begins with the name of a drive"),
            (_CONTROL.search(stem), "holds a character that names of files must not have"),
            (_RESERVED.fullmatch(stem), "is reserved by some systems"),
            (stem.startswith("."), "begins with a dot, as hidden files do"),
            (stem.endswith((".", " ")), "ends in a dot or a blank"),
            (len(stem.encode("utf-8", "replace")) > _LONGEST, f"is longer than {_LONGEST} bytes"),
        )
        why = next((reason for wrong, reason in reasons if wrong), "")
        if why:
            raise _refused(source, file, f"{why}: it cannot be the name of a file in a folder", "unsafe-name")
        other = by_stem.setdefault(stem, file)
        if other != file:
            raise _refused(source, file, f"and {shown(other)} would both be written as {shown(stem)}")
    return tuple(by_stem)


def shown(name: str) -> str:
    """Return a name in quotes, control characters escaped, the end of a long one left out."""
    return repr(name[:_SHOWN])


def _refused(source: str, name: str, why: str, code: str = "cannot-hold") -> InputError:
    return InputError(Problem(source, f"the name {shown(name)} {why}", code=code))
