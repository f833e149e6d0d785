"""Proposals in messages for the roles of columns, tried on the first rows before they are written.

A proposal adds to the user's roles of columns and never takes a column that the user has named. The message
has the proposal if the table can be read with it and its rows make sense. If no proposal works, the message
names the missing column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice, product

from sedeval_soft.errors import SettingsError
from sedeval_soft.tables.columns import (
    LISTED,
    ONE_CLASS,
    UNLABELLED,
    WORD_LISTS,
    ColumnNames,
    Layout,
    LayoutError,
    column_names,
    in_another_unit,
    is_number,
    layout_by_number,
    layout_of_header,
    layout_of_row,
    looks_like_header,
    mask_of,
    misnamed,
    normal,
    option,
    roles_of,
    spelt,
    to_number,
    without_time,
    words_in,
)
from sedeval_soft.tables.filenames import without_extension
from sedeval_soft.tables.limits import Limits

_TRIED = 100
"""Proposals that are tried at the most: a user's table may have thousands of columns."""

ROWS = 50
"""Rows on which they are tried."""

_HOUR = 3600.0
_NOTHING = {"", "-", "na", "nan", "none", "null"}
_ROWS_OF_IDS = 3
"""Rows from which on a text of each, or one text of all, is not taken for labels."""

Cells = Sequence[Sequence[str]]
"""The fields of the first rows of a table."""


def explained(
    error: LayoutError, fields: Sequence[str], rows: Cells, columns: ColumnNames, label: str
) -> LayoutError:
    """Return an error of a first line with the choices that help, or with one that the cells suggest.

    fields: of the first line. rows: the rows after a header, or all, the first line included. columns, label:
    the user's settings.
    """
    kept = [k for k, (said, _) in enumerate(error.choices) if helps(fields, rows, columns, said, label)]
    mends = [f"{option(*error.choices[k][0])}{error.choices[k][1]}" for k in kept]
    asking = error.asking if 0 in kept else "expected "
    if not mends and error.code == "missing-column" and (said := guessed(fields, rows, columns, label)):
        mends = [f"{option(*said)}, if that is meant"]
    beside = [error.expected] if error.expected and asking == "expected " else []
    text = asking + ", or ".join([*mends, *beside])
    return LayoutError(f"{error.wrong}; {text}", error.code, error.column)


def helps(fields: Sequence[str], rows: Cells, columns: ColumnNames, said: ColumnNames, label: str) -> bool:
    """Return whether a table can be read, its first rows sensibly, with these roles of columns added."""
    taken = {normal(name) for _, name in columns}
    try:
        if any(normal(name) in taken for _, name in said) or column_names([spelt(said)]) != (*said,):
            return False
        columns = (*columns, *said)
        if looks_like_header(fields, columns) or not any(map(is_number, fields)):
            layout = layout_of_header(fields, columns, (*rows, ())[0], label)
        else:
            by_number = layout_by_number(fields, columns, label)
            layout = by_number or Layout((), (), has_header=False)
    except SettingsError:
        return False
    except LayoutError as error:
        return error.code == "repeated-column"  # of another role, which is asked about next
    return _make_sense(layout, rows)


def _make_sense(layout: Layout, rows: Cells) -> bool:
    """Return whether most rows have times in order, and the columns of values have values in [0, 1]."""
    rows = [row for row in rows[:ROWS] if len(row) == len(layout.names)]
    if not layout.timed:
        return "event_label" in layout.roles
    at = {role: i for i, role in enumerate(layout.roles) if role is not None and role != "class"}
    begins, ends = at["onset"], at.get("offset", at.get("duration", -1))
    if ends < 0:
        return False
    rows = [row for row in rows if row[begins].strip() or row[ends].strip()]
    if layout.dates():
        return True
    valued = [i for i, role in enumerate(layout.roles) if role in {"soft_value", "class"}]
    sound = 0
    for row in rows:
        onset, end = to_number(row[begins]), to_number(row[ends])
        least = onset if "offset" in at and "file_offset" not in at else 0.0
        values = [to_number(row[i]) for i in valued]
        sound += onset >= 0 and end >= least and not any(value < 0 or value > 1 for value in values)
    return 2 * sound > len(rows) or not rows


def guessed(fields: Sequence[str], rows: Cells, columns: ColumnNames, label: str) -> ColumnNames:
    """Return likely roles of columns by their cells, as the option has them; empty if none would make sense.

    Columns without header are called by their numbers.
    """
    header = not any(map(is_number, fields))
    names = [field.strip() for field in fields] if header else [str(i + 1) for i in range(len(fields))]
    rows = [[cell.strip() for cell in row] for row in rows[:ROWS] if len(row) == len(fields)]
    rows = [row for row in rows if sum(map(bool, row)) > 1]
    if not rows or not all(names) or len(names) > LISTED:
        return ()
    proposals = _proposals(names, rows, columns, label, header=header)
    tries = islice(proposals, _TRIED)
    return next((said for said in tries if said and helps(fields, rows, columns, said, label)), ())


def _proposals(
    names: Sequence[str], rows: Cells, columns: ColumnNames, label: str, *, header: bool
) -> Iterator[ColumnNames]:
    """Yield likely roles of columns by their cells, the likeliest first."""
    roles, settled = roles_of(names, columns, None)
    known = {role: i for i, role in enumerate(roles) if role is not None}
    cells = [[row[i] for row in rows] for i in range(len(names))]
    free = [
        i
        for i, role in enumerate(roles)
        if role is None and i not in settled and words_in(names[i]).isdisjoint(WORD_LISTS["values"])
    ]
    numbers = [i for i in free if all(map(is_number, filter(None, cells[i]))) and any(cells[i])]
    texts = [i for i in free if not any(map(is_number, cells[i])) and any(cells[i])]
    audio = [i for i in texts if any(without_extension(cell) != cell for cell in cells[i])]
    odd = [i for i in free if not words_in(names[i]).isdisjoint(WORD_LISTS["no-values"])]
    named = [i for i in texts if i not in {*audio, *odd}]
    timed = [i for i in numbers if _may_be_time(names[i])]
    onsets = [known["onset"]] if "onset" in known else timed
    end = next((role for role in ("offset", "duration") if role in known), "")
    for role in [end] if end else ["offset", "duration"]:
        for begin, stop in product(onsets, [known[end]] if end else timed):
            beside = begin < stop if end or "onset" in known else stop == begin + 1
            if not beside or (header and {*numbers} - {begin, stop} and (texts or "event_label" in known)):
                continue
            times = [to_number(cell) for i in (begin, stop) for cell in cells[i] if is_number(cell)]
            if max(times, default=0) > _HOUR and all(
                map(float.is_integer, times)
            ):  # samples, or milliseconds
                continue
            unlabelled = header and "event_label" not in known and not label
            if unlabelled and not any(to_number(cell) > 1 for cell in cells[stop]):  # could be values
                continue
            places = {"onset": begin, role: stop}
            if "event_label" not in known and not label and (texts or not header):
                places |= {"event_label": at} if (at := _label(named, cells, stop)) is not None else {}
                if "event_label" not in places:
                    continue
            left = [i for i in (*audio, *named) if i < begin and i not in places.values()]
            if left and "filename" not in known:
                places = {"filename": left[0], **places}
            yield tuple((each, names[i]) for each, i in places.items() if roles[i] is None)


def _may_be_time(name: str) -> bool:
    """Return whether a column's name allows times in a known unit: the name may be any other as well."""
    words = words_in(name) - {*WORD_LISTS["time-like"]}
    return words.isdisjoint(WORD_LISTS["no-values"]) and not in_another_unit(name)


def _label(texts: Sequence[int], cells: Cells, end: int) -> int | None:
    """Return which column of texts has the labels: nearly always one behind the times; None for none.

    Others name the rows, or are of all of them.
    """
    n_rows, n_texts = max(map(len, cells)), {i: len({*cells[i]}) for i in texts}
    likely = [i for i in texts if n_rows < _ROWS_OF_IDS or 1 < n_texts[i] < n_rows]
    likely = [i for i in likely if n_texts[i] > 1] or likely
    return next((i for i in likely if i > end), next(iter(reversed(likely)), None))


def first_line(fields: Sequence[str], rows: Cells, columns: ColumnNames, label: str) -> LayoutError:
    """Return why a first line is neither a header nor a row of a table without one.

    rows: the rows after it. columns, label: the user's settings.
    """
    texts = [field.strip() for field in fields[:LISTED]]
    line = ", ".join(repr(text if len(text) <= LISTED else f"{text[:LISTED]}...") for text in texts[:8])
    every = [fields, *rows]
    if [is_number(field) for field in fields] == [False, True, True, True]:
        error = LayoutError(
            f"{line} could be filename, onset, offset and a class called by a number, or a label, its times "
            "and a value",
            "ambiguous-table",
            expected="a header that says which",
            choices=[
                (_by_number(filename=1, onset=2, offset=3, event_label=4), " for the former"),
                (_by_number(event_label=1, onset=2, offset=3, soft_value=4), " for the latter"),
            ],
        )
        return explained(error, fields, every, columns, label)
    header = not any(map(is_number, texts))
    if header and "onset" in roles_of(texts, columns, None)[0]:
        return explained(without_time("offset", texts, columns), fields, rows, columns, label)
    if error_of_name := misnamed(texts, columns):
        return explained(error_of_name, fields, rows, columns, label)
    said = guessed(fields, rows if header else every, columns, label)
    one_class = "" if label or mask_of(texts) not in UNLABELLED else ONE_CLASS
    if header and said:
        wrong = f"{line} is neither a header nor a row of a known table"
        return LayoutError(
            f"{wrong}; expected {option(*said)} if the line has the names of columns", "not-a-table"
        )
    if not header and (said or (len(texts) > 2 and "nn" in mask_of(texts))):
        kinds = ", ".join("number" if is_number(text) else "text" for text in texts[:8])
        numbers = f"a header, or the numbers of its columns: {option(*said)}"
        mends = [numbers if said else "a header, whose onset and offset (or duration) are in seconds"]
        if 4 <= len(texts) <= 7 and all(map(is_number, texts)):
            mends.append("--from seld for frame, class, source, azimuth and elevation")
        wrong = f"{line} ({kinds}) is not a row of any known table without header"
        return LayoutError(f"{wrong}; expected {', or '.join(mends)}{one_class}", "not-a-table")
    lacking = ": no column is known to have onsets" * (header and len(texts) > 1)
    mend = ""
    if {field.lower() for field in texts[1:]} <= _NOTHING and all(len(row) == len(fields) for row in rows):
        mend = "; a file without an event is its name alone, below the header 'filename,onset,offset,label'"
    header_or_rows = (
        "a header with the columns onset, offset (or duration) and event_label (and filename, soft_value), "
        "or rows of [filename,] onset, offset, label[, value]"
    )
    wrong = f"{line} is neither a header nor a row{lacking}"
    return LayoutError(f"{wrong}; expected {header_or_rows}{one_class}{mend}", "not-a-table")


def _by_number(**places: int) -> ColumnNames:
    return tuple((role, str(place)) for role, place in places.items())


def are_decimal(files: Sequence[str]) -> bool:
    """Return whether all names are numbers, some with decimals: times are such, file names are not."""
    return all(map(is_number, files)) and not all(name.isdigit() for name in files)


def may_be_times(fields: Sequence[str], rows: Cells, columns: ColumnNames, label: str) -> LayoutError | None:
    """Return the problem of rows whose file names are decimal numbers, as no files are called.

    Sonic Visualiser writes such rows: onset, value, duration and label. fields: of a row.
    """
    layout = layout_of_row(fields)
    if layout is None or "filename" not in layout.roles:
        return None
    if not are_decimal([row[0].strip() for row in rows if len(row) == len(fields)]):
        return None
    choices = [
        (_by_number(onset=1, duration=3, event_label=4), " if the third is a duration"),
        (_by_number(onset=1, offset=2, soft_value=3, event_label=4), " if the third is a value"),
    ]
    own = tuple((role, str(i)) for i, role in enumerate(layout.roles, 1) if role)
    error = LayoutError(
        "the first column would have the names of files, but all are decimal numbers",
        "ambiguous-table",
        1,
        expected="a header",
        choices=[*(choices if len(fields) == 4 else ()), (own, " if files are called so")],
    )
    return explained(error, fields, rows, columns, label)


def no_class(layout: Layout, rows: Cells, limits: Limits, at: int) -> str:
    """Return a likely role for a column of a wide table without values, by some rows; empty if there is none.

    at: its position.
    """
    names, columns, label = layout.names, limits.columns, limits.label
    cells = [to_number(row[i]) for row in rows for i, role in enumerate(layout.roles) if role == "class"]
    said = () if any(0 <= number <= 1 for number in cells) else guessed(names, rows, columns, label)
    if not said and helps(names, rows, columns, (("", names[at]),), label):
        said = (("", names[at]),)
    if said:
        return f"{option(*said)} where that is no class"
    return "" if label or not all(map(math.isnan, cells)) else f"event_label{ONE_CLASS}"
