"""Rows made to fit a form, and in words what is lost by it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.filenames import without_extension
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.rows import UNNAMED, LongRows, Rows, WideRows
from sedeval_soft.core.ticks import TICKS_PER_SECOND, to_seconds, to_ticks
from sedeval_soft.errors import InputError, Problem, be, counted, plural
from sedeval_soft.tables.form import Form

_NAMED = 3
"""How many names a message shows."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Rows that a form holds without loss, and what they have lost to be so.

    rows: with the recordings' names as they will be read. stems: what the file of each recording is called,
    without extension, where each goes to one of its own; None where all go to one.
    """

    rows: Rows
    losses: tuple[str, ...]
    stems: tuple[str, ...] | None = None


def fit(rows: Rows, form: Form, *, apart: bool = False, called: str = "", limits: Limits = LIMITS) -> Fitted:
    """Make rows fit a form.

    apart: there is to be a folder of files, one per recording. called: the name of a recording without one,
    where it needs a name. Raises InputError for what cannot be written in this form at all.
    """
    losses: list[str] = []
    apart = apart or form.folder
    if isinstance(rows, LongRows) and rows.born is not None:
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


def taken(rows: Rows, code: int, *, named: bool = False) -> Rows:
    """Return the rows of one recording, with or without its name."""
    mine = np.flatnonzero(rows.file == code)
    zeros = np.zeros(len(mine), dtype=np.int32)
    times = {
        "files": (rows.files[code] if named else UNNAMED,),
        "file": zeros,
        "onset": rows.onset[mine],
        "offset": rows.offset[mine],
    }
    if isinstance(rows, WideRows):
        return replace(rows, **times, values=tuple(column[mine] for column in rows.values))  # type: ignore[arg-type]
    value = None if rows.value is None else rows.value[mine]
    return replace(rows, **times, label=rows.label[mine], value=value)  # type: ignore[arg-type]


def _shaped(rows: Rows, form: Form, losses: list[str], limits: Limits) -> Rows:
    holds = form.holds
    if isinstance(rows, WideRows):
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


def _check_room(rows: Rows, needed: int, what: str) -> None:
    from sedeval_soft.core.room import check_room

    check_room(needed, f"{rows.origin.name}: to hold it {what}", "Expected batches of files")


def _without_values(rows: Rows, form: Form, losses: list[str]) -> Rows:
    if form.holds.values or not isinstance(rows, LongRows) or rows.value is None:
        return rows
    silent = int(np.count_nonzero(rows.value == 0))
    left_out = f", and {counted(silent, 'row')} of value 0 {be(silent)} left out" if silent else ""
    losses.append(f"values of {counted(len(rows), 'row')}: those above 0 become events{left_out}")
    kept = rows.value > 0
    return replace(
        rows,
        file=rows.file[kept],
        label=rows.label[kept],
        onset=rows.onset[kept],
        offset=rows.offset[kept],
        value=None,
    )


def _rounded(rows: Rows, form: Form, losses: list[str]) -> Rows:
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


def _sparse(rows: Rows, form: Form, losses: list[str], *, apart: bool) -> Rows:
    """Leave out recordings and classes without rows where the form does not know of them."""
    holds = form.holds
    if isinstance(rows, LongRows) and not holds.classes:
        used = np.bincount(rows.label, minlength=len(rows.classes)) > 0
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


def _spelled(rows: Rows, form: Form, losses: list[str]) -> Rows:
    """Put underscores for blanks in names where a blank ends a field."""
    if form.holds.blanks:
        return rows
    files, classes = (_joined(rows, names, losses, what) for names, what in
                      ((rows.files, "recording"), (rows.classes, "class")))  # fmt: skip
    return replace(rows, files=files, classes=classes)


def _joined(rows: Rows, names: Sequence[str], losses: list[str], what: str) -> tuple[str, ...]:
    made = tuple("_".join(name.split()) for name in names)
    changed = [name for name, new in zip(names, made, strict=True) if name != new]
    if changed:
        losses.append(f"blanks in names of {counted(len(changed), what)}, which become _: {_listed(changed)}")
    if len(set(made)) < len(made):
        raise _cannot(rows, f"names {plural(what)} that differ in blanks only: {_listed(changed)}")
    return made


def _called(rows: Rows, form: Form, losses: list[str], called: str, *, apart: bool) -> Rows:
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


def _called_apart(rows: Rows, form: Form, losses: list[str], called: str) -> Rows:
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


def _cannot(rows: Rows, why: str) -> InputError:
    return InputError(Problem(rows.origin.name, why, code="cannot-hold"))


# Long rows as wide ones, and the other way round.


Ticks = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

_CELLS = 1 << 22
"""Cells of steps and classes that are looked at in one go."""


def unfold(rows: WideRows) -> LongRows:
    """Return a row for each class of each time step, values of 0 included: nothing is lost."""
    n, n_classes = len(rows), len(rows.classes)
    values = np.empty((n, n_classes))
    for i, column in enumerate(rows.values):
        values[:, i] = column
    return LongRows(
        rows.files,
        rows.classes,
        np.repeat(rows.file, n_classes),
        np.tile(np.arange(n_classes, dtype=np.int32), n),
        np.repeat(rows.onset, n_classes),
        np.repeat(rows.offset, n_classes),
        values.ravel(),
        rows.origin,
    )


def as_long(rows: Rows) -> LongRows:
    """Return rows as long ones, whatever they are."""
    return unfold(rows) if isinstance(rows, WideRows) else rows


@dataclass(slots=True)
class _Folded:
    """Time steps so far, and what did not fit them."""

    file: list[Codes] = field(default_factory=list)
    edges: list[tuple[Ticks, Ticks]] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)
    cut: int = 0
    overlapping: int = 0
    filled: int = 0
    empty: int = 0


def fold(rows: LongRows, *, gaps: bool = True) -> tuple[WideRows, list[str]]:
    """Return time steps between all boundaries of a recording, and what is lost by it.

    A class has the largest value of its rows in a step, 0 where it has none. gaps: times without any row
    have no step; else steps begin at 0 and leave none out.
    """
    onset, offset = to_ticks(rows.onset), to_ticks(rows.offset)
    found = _Folded()
    order = np.argsort(rows.file, kind="stable")
    bounds = np.searchsorted(rows.file[order], np.arange(len(rows.files) + 1))
    for code in range(len(rows.files)):
        own = order[bounds[code] : bounds[code + 1]]
        if len(own):
            _fold_file(found, rows, own, onset[own], offset[own], gaps=gaps)
            found.file.append(np.full(len(found.edges[-1][0]), code, dtype=np.int32))
    values = np.concatenate(found.values) if found.values else np.zeros((0, len(rows.classes)))
    begins, ends = (
        np.concatenate([pair[i] for pair in found.edges]) if found.edges else np.zeros(0, dtype=np.int64)
        for i in range(2)
    )
    wide = WideRows(
        rows.files,
        rows.classes,
        np.concatenate(found.file) if found.file else np.zeros(0, dtype=np.int32),
        to_seconds(begins),
        to_seconds(ends),
        tuple(np.ascontiguousarray(values[:, i]) for i in range(len(rows.classes))),
        rows.origin,
    )
    return wide, _told(found, rows, onset, offset)


def contiguous(rows: WideRows) -> bool:
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


def _fold_file(
    found: _Folded, rows: LongRows, own: npt.NDArray[np.intp], onset: Ticks, offset: Ticks, *, gaps: bool
) -> None:
    edges = np.unique(np.concatenate([onset, offset, *([] if gaps else [np.zeros(1, dtype=np.int64)])]))
    n_steps, n_classes = len(edges) - 1, len(rows.classes)
    first, last = np.searchsorted(edges, onset), np.searchsorted(edges, offset)
    label = rows.label[own]
    value = np.ones(len(own)) if rows.value is None else rows.value[own]
    values = np.zeros(n_steps * n_classes)
    counts = np.zeros(n_steps * n_classes, dtype=np.int64)
    for part, cells in _cells(first, last, label, n_classes):
        np.maximum.at(values, cells, value[part])
        np.add.at(counts, cells, 1)
    seen = counts.reshape(n_steps, n_classes)
    kept = (seen > 0).any(axis=1) if gaps else np.ones(n_steps, dtype=bool)
    found.cut += int(np.count_nonzero(last - first > 1))
    found.empty += int(np.count_nonzero(last == first))
    found.overlapping += int(np.count_nonzero(seen > 1))
    found.filled += int(np.count_nonzero(seen[kept] == 0))
    found.edges.append((edges[:-1][kept], edges[1:][kept]))
    found.values.append(values.reshape(n_steps, n_classes)[kept])


def _cells(
    first: npt.NDArray[np.intp], last: npt.NDArray[np.intp], label: Codes, n_classes: int
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield, for some rows at a time, which row and which cell of (step, class) go together."""
    begin = 0
    reach = np.cumsum(last - first)
    while begin < len(first):
        before = int(reach[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(reach, before + _CELLS, side="right")))
        counts = last[begin:end] - first[begin:end]
        part = np.repeat(np.arange(begin, end), counts)
        step = np.arange(len(part)) - np.repeat(np.cumsum(counts) - counts, counts) + first[part]
        yield part, step * n_classes + label[part]
        begin = end


def _told(found: _Folded, rows: LongRows, onset: Ticks, offset: Ticks) -> list[str]:
    finer = np.count_nonzero((to_seconds(onset) != rows.onset) | (to_seconds(offset) != rows.offset))
    told = (
        (finer, "row", "with times finer than a microsecond, which are rounded"),
        (len(rows) if rows.value is None else 0, "row", "without a value, which become{s} {values} of 1"),
        (found.empty, "row", "without length"),
        (found.overlapping, "overlap", "of rows of one class, which take{s} the largest value"),
        (found.cut, "row", "that {are} cut where others begin or end"),
        (found.filled, "cell", "of classes without row, which become{s} {values} of 0"),
    )
    return [
        f"{counted(int(number), noun)} {_said_of(int(number), what)}" for number, noun, what in told if number
    ]


def _said_of(number: int, what: str) -> str:
    one = number == 1
    return what.format(s="s" * one, are=be(number), values="a value" if one else "values")


# Names that come from tables: which of them can be written, and which can be names of files.


_LONGEST = 200
"""Bytes that leave room for an extension in what file systems take (255)."""

_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:")
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


def stems(source: str, files: Iterable[str]) -> dict[str, str]:
    """Return by recording what its file is called, without extension: never a path to somewhere else.

    Raises InputError for names that are paths, that systems reserve, or that two recordings would share.
    """
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for file in files:
        stem = without_extension(file)
        why = _unsafe(stem)
        if why:
            raise _refused(source, file, f"{why}: it cannot be the name of a file in a folder", "unsafe-name")
        other = taken.setdefault(stem, file)
        if other != file:
            raise _refused(source, file, f"and {shown(other)} would both be written as {shown(stem)}")
        found[file] = stem
    return found


def has_audio_extension(name: str) -> bool:
    """Return whether a name ends as one of an audio file does."""
    return without_extension(name) != name


def shown(name: str) -> str:
    """Return a name in quotes, control characters escaped, the end of a long one left out."""
    return repr(name[:_SHOWN])


def _unsafe(stem: str) -> str:
    """Return why a name cannot be that of a file in a folder, nothing where it can."""
    reasons = (
        (not stem, "is empty"),
        (stem in {".", ".."} or ".." in re.split(r"[/\\]", stem), "leads out of a folder"),
        ("/" in stem or "\\" in stem, "holds a separator of folders"),
        (_DRIVE.match(stem) is not None, "begins with the name of a drive"),
        (_CONTROL.search(stem) is not None, "holds a character that names of files must not have"),
        (_RESERVED.fullmatch(stem) is not None, "is reserved by some systems"),
        (stem.startswith("."), "begins with a dot, as hidden files do"),
        (stem.endswith((".", " ")), "ends in a dot or a blank"),
        (len(stem.encode("utf-8", "replace")) > _LONGEST, f"is longer than {_LONGEST} bytes"),
    )
    return next((reason for wrong, reason in reasons if wrong), "")


def _refused(source: str, name: str, why: str, code: str = "cannot-hold") -> InputError:
    return InputError(Problem(source, f"the name {shown(name)} {why}", code=code))
