"""Inputs of the library: paths, data frames, mappings, arrays, lists of events by threshold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.arrays import Array
from sedeval_soft.errors import MAX_PROBLEMS, EvaluationError, InputError, Problem, SettingsError, counted
from sedeval_soft.fields import READING
from sedeval_soft.names import hint
from sedeval_soft.settings import RegionList, Settings, checked
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.columns import NAMES, normal, role_of
from sedeval_soft.tables.event_table import AXES, UNNAMED, EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.ticks import as_written, to_seconds
from sedeval_soft.timeline.grid import Edges

if TYPE_CHECKING:
    from sedeval_soft.tables.file_groups import Partition

Durations = Mapping[str, float] | str | os.PathLike[str]
Parted = Mapping[str, str] | str | os.PathLike[str]

Listed = Sequence[str] | str | os.PathLike[str]
"""Names of files, or the path of a list of them."""

PARTED = "a mapping of file names to their parts, or the path of a table of them"
"""The forms of a partition of files, in words."""

_SHOWN = 60


def settings_from(
    settings: Settings | None,
    values: Mapping[str, Any],
    defaults: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
) -> Settings:
    """Return the settings that were given as an object, or by keywords; raises SettingsError for both.

    values: fields of `Settings`, which override the fields of a preset if `preset` names one. defaults:
    fields that neither sets. limits: of the lists of files and regions.
    """
    values = {name: value for name, value in with_listed(values, limits).items() if name not in READING}
    if "measures" in values:
        from sedeval_soft.measures.registry import without_own

        values["measures"] = without_own(values["measures"])
    if settings is None:
        preset, base = values.get("preset"), {}
        if preset is not None:
            from sedeval_soft.settings_files import load_preset

            base = {name: value for name, value in load_preset(preset).items() if name not in READING}
        values = {name: value for name, value in values.items() if name != "preset"}
        return Settings.of(**{**(defaults or {}), **base, **values})
    check_object("settings", settings, Settings)
    if values:
        raise SettingsError(f"settings are given; {', '.join(values)} cannot be given beside them")
    return settings


def with_listed(values: Mapping[str, Any], limits: Limits | None = None) -> dict[str, Any]:
    """Return settings with lists and tables in place of their paths: files, regions, classes."""
    files, regions, classes = (values.get(name) for name in ("files", "regions", "map"))
    listed: dict[str, Any] = {} if files is None else {"files": listed_files(files, limits)}
    listed |= {} if regions is None else {"regions": listed_regions(regions, limits)}
    if isinstance(classes, str | os.PathLike):
        from sedeval_soft.tables.file_groups import read_map

        column = checked("map_to", values.get("map_to") or "class")
        listed |= {"map": read_map(classes, column, limits_from(limits)), "map_to": None}
    return {**values, **listed}


def listed_files(files: Any, limits: Limits | None = None) -> tuple[str, ...]:  # noqa: ANN401 - checked
    """Return the names of files that are listed, or in the list at a path; raises what that does."""
    if isinstance(files, str | os.PathLike):
        from sedeval_soft.tables.file_groups import read_listed

        files = read_listed(files, limits_from(limits))
    names: tuple[str, ...] = checked("files", files)
    return names


def listed_regions(regions: Any, limits: Limits | None = None) -> RegionList:  # noqa: ANN401 - checked
    """Return regions that are given by file, in columns or in the table at a path; raises what that does."""
    if isinstance(regions, RegionList):
        return regions
    if isinstance(regions, str | os.PathLike):
        from sedeval_soft.tables.file_groups import read_regions

        regions = read_regions(regions, limits_from(limits))
    else:
        columns = _by_file(regions, "regions", ("onset", "offset"))
        regions = regions if columns is None else columns
    listed: RegionList = checked("regions", regions)
    return listed


def _by_file(data: Any, what: str, roles: tuple[str, ...]) -> dict[Any, list[list[Any]]] | None:  # noqa: ANN401
    """Return the rows of each file of a data frame, or of a mapping of columns; None of anything else.

    what: the name of the argument. roles: of the columns beside the column of file names.
    """
    from sedeval_soft.tables.arrays import as_mapping
    from sedeval_soft.tables.file_groups import NOT_OF_REGIONS, says_where

    if isinstance(data, str | os.PathLike):
        return None
    data = as_mapping(data)
    labels = ("event_label",) if what == "regions" else ()
    names = [*data] if isinstance(data, Mapping) else getattr(data, "columns", ())
    # Of a table of pyarrow the columns have no names themselves.
    names = [str(name) for name in getattr(data, "column_names", names)]
    found = {
        role: name for name in names for role in ("filename", *roles, *labels) if normal(name) in NAMES[role]
    }
    if not {"filename", *roles} <= {*found}:
        return None
    columns = [data[found[role]] for role in ("filename", *roles, *labels) if role in found]
    if not all(isinstance(each, Iterable) for each in columns):
        # A file of this name.
        return None
    columns = [each.to_pylist() if hasattr(each, "to_pylist") else [*each] for each in columns]
    if any(isinstance(value, list | tuple) for value in columns[0][:1]):
        # Files of these names, and their regions.
        return None
    if len({*map(len, columns)}) > 1:
        raise SettingsError(
            f"{what} has columns of different lengths; expected a {' and '.join(roles)} for each file name"
        )
    for name in names if what == "regions" else ():
        if name not in found.values() and not says_where(name):
            raise SettingsError(f"column {name!r} {NOT_OF_REGIONS}")
    rows: dict[Any, list[list[Any]]] = {}
    for name, *numbers in zip(*columns, strict=True):
        rows.setdefault(name, []).append(numbers)
    return rows


def sides_of(
    reference: Any,  # noqa: ANN401 - as for evaluate
    system: Any,  # noqa: ANN401
    settings: Settings,
    limits: Limits | None = None,
) -> tuple[EventTable, EventTable]:
    """Return the rows of both sides."""
    ours = to_rows(reference, "reference", settings, limits)
    return ours, to_rows(system, "system", settings, limits)


def to_rows(
    source: Any,  # noqa: ANN401 - see evaluate
    role: str,
    settings: Settings,
    limits: Limits | None = None,
) -> EventTable:
    """Return the rows of anything that `evaluate` takes; limits: the most that it may have."""
    if isinstance(source, EventTable):
        return source
    limits = replace(limits or LIMITS, side=role)
    limits.check("settings", "classes", len(settings.classes or ()), "classes")
    if isinstance(source, str | os.PathLike):
        rows = read_rows(source, form=limits.form(role), limits=limits)
    else:
        rows = _rows_in_memory(source, role, settings, limits)
    return replace(rows, origin=limits.as_read(rows.origin, role)) if limits.options(role) else rows


def _rows_in_memory(source: Any, role: str, settings: Settings, limits: Limits) -> EventTable:  # noqa: ANN401
    from sedeval_soft.tables.arrays import array_of, as_mapping

    array = array_of(source, role)
    if array is not None:
        return _rows_of_array(array, role, settings)
    source = as_mapping(source)
    if isinstance(source, Mapping) and source and all(map(_is_number, source)):
        return _rows_of_points(source, role, settings, limits)
    if isinstance(source, Mapping) and is_by_file(source, role):
        return _rows_of_files(source, role, settings, limits)
    from sedeval_soft.tables.columnar import rows_from_data

    return rows_from_data(source, role, limits)


def _rows_of_points(points: Mapping[Any, Any], role: str, settings: Settings, limits: Limits) -> EventTable:
    """Return the rows of lists of events by threshold."""
    from sedeval_soft.tables.joined_tables import read_points

    if not is_points(points):
        keys = ", ".join(map(repr, [*points][:3]))
        message = (
            f"the keys of a mapping are {keys}: these could be thresholds, or numbers of files; expected 0.0 "
            "or 1.0 as a threshold, and text such as '0' as the name of a file"
        )
        raise InputError(Problem(role, message))

    def rows_of_point(point: Any) -> EventTable:  # noqa: ANN401 - see evaluate
        """Return the rows of one operating point: a system may detect nothing at a threshold."""
        if isinstance(point, str | os.PathLike):
            return read_rows(point, limits=limits, may_be_empty=True)
        return _rows_if_any(point, role, settings, limits)

    return read_points(points, role, rows_of_point, limits)


def _rows_of_files(files: Mapping[Any, Any], role: str, settings: Settings, limits: Limits) -> EventTable:
    """Return the rows of tables, arrays or lists of events by file."""
    from sedeval_soft.tables.joined_tables import by_file

    tables, shapes = {}, dict[str, tuple[int, ...]]()
    for file, source in files.items():
        name = f"{role}[{shown(file)}]"
        if not isinstance(file, str) or not file:
            raise InputError(Problem(role, f"{shown(file)} is not the name of a file; expected text"))
        tables[file] = _rows_if_any(_as_columns(source, name), name, settings, limits)
        shape = tables[file].origin.shape
        if shape is not None:
            shapes[file] = shape
            first = next(iter(shapes.values()))
            if len(shape) != 2 or shape[1] != first[1]:
                expected = f"expected (n_segments, {first[1]})" if len(first) == 2 else "expected one file"
                raise InputError(Problem(name, f"array of shape {shape}; {expected}"))
    return by_file(role, tables, limits)


def _rows_if_any(source: Any, role: str, settings: Settings, limits: Limits) -> EventTable:  # noqa: ANN401
    """Return the rows of a source, none of one in which no row was ever entered."""
    from sedeval_soft.tables.arrays import is_array

    empty = isinstance(source, list | tuple | Mapping) and not source
    # A data frame that no row was ever entered in has no columns either.
    if empty or (not is_array(source) and getattr(source, "shape", None) == (0, 0)):
        return EventTable.empty(Origin(role, form="empty"))
    return to_rows(source, role, settings, limits)


def _as_columns(events: Any, name: str) -> Any:  # noqa: ANN401
    """Return a list of events, each (onset, offset, label), as columns; anything else as it is."""
    if not (isinstance(events, list | tuple) and any(isinstance(each, list | tuple) for each in events)):
        return events
    for i, event in enumerate(events):
        if not isinstance(event, list | tuple) or len(event) != 3:
            expected = "expected (onset, offset, label)"
            raise InputError(Problem(name, f"[{i}] is {shown(event)}; {expected}"))
    return dict(zip(("onset", "offset", "event_label"), map(list, zip(*events, strict=True)), strict=True))


def is_by_file(source: Mapping[Any, Any], role: str) -> bool:
    """Return whether a mapping has a table for each file, not a column for each name of one.

    A table is an array or a frame of two dimensions, a mapping, or a list of events; a column has one. If all
    values are empty lists, the names of columns decide. Raises InputError for a mapping of both.
    """
    kinds = {key: _is_table(value, f"{role}[{shown(key)}]") for key, value in source.items()}
    named = any(isinstance(key, str) and role_of(key) in {"onset", "offset"} for key in kinds)
    first = {kind: key for key, kind in reversed(kinds.items())}
    if named or not {True, None} & {*first}:
        return False
    if False in first and True in first:
        message = (
            f"{shown(first[True])} has a table and {shown(first[False])} a column; expected a mapping of "
            "file names to tables, or of the names of columns to columns"
        )
        raise InputError(Problem(role, message))
    return False not in first


def _is_table(value: Any, role: str) -> bool | None:  # noqa: ANN401
    """Return whether a value of a mapping is a table, and no column; None for nothing at all."""
    if isinstance(value, Mapping | EventTable):
        return True
    if isinstance(value, list | tuple):
        return isinstance(value[0], list | tuple | Mapping) if value else None
    from sedeval_soft.tables.arrays import array_of

    array = array_of(value, role)
    shape = getattr(value, "shape", None) if array is None else array.shape
    return isinstance(shape, tuple) and len(shape) > 1


def with_points(system: Any, limits: Limits | None = None) -> Any:  # noqa: ANN401 - as for evaluate
    """Return the rows of a system that is a folder, or a pattern, of operating points; others as they are."""
    if not isinstance(system, str | os.PathLike) or os.fspath(system) in {"", "-"}:
        return system
    limits = limits_from(limits)
    is_pattern = not os.path.exists(system) and {*"*?["} & {*os.fspath(system)}
    if not (limits.points and (os.path.isdir(system) or is_pattern)):
        return system
    inner = replace(limits, points=False)
    rows = to_rows(operating_points(system, limits=limits), os.fspath(system), Settings(), inner)
    options = (*limits.options("system"), "operating_points=yes")
    return replace(rows, origin=replace(rows.origin, name=os.fspath(system), options=options))


def operating_points(path: str | os.PathLike[str], *, limits: Limits | None = None) -> dict[float, str]:
    """Return the tables of a folder by the thresholds in their names, as `evaluate` takes a system.

    path: of the folder, or a pattern of names such as `out/baseline_*.csv`; they must differ in one number
        alone, in [0, 1]: `baseline_0.1.csv` and `baseline_0.5.csv`. limits: the most tables there may be.

    Raises InputError if the names have no thresholds, or if the folder has no table.
    """
    from sedeval_soft.tables.joined_tables import points_in

    return points_in(path_of(path, "path", "a folder, or a pattern of names"), limits_from(limits))


def limits_from(
    limits: Limits | None, values: Mapping[str, Any] | None = None, below: Mapping[str, Any] | None = None
) -> Limits:
    """Return limits that were given, the default ones for None; raises SettingsError for other things.

    values: keyword arguments; the names of `fields.READING` among them override the reading options of
    `preset`, and are kept with the limits. below: the reading options of a preset or a settings file.
    """
    if limits is not None:
        check_object("limits", limits, Limits)
    values = values or {}
    if values.get("preset") is not None:
        from sedeval_soft.settings_files import load_preset

        below = load_preset(values["preset"])
    said = {name: value for name, value in values.items() if name in READING and value is not None}
    offered = {name: value for name, value in (below or {}).items() if name in READING and name not in said}
    limits = limits or LIMITS
    known = sorted({*offered} | {*limits.offered} - {*said})
    said |= offered
    if "source_form" in said:
        from sedeval_soft.tables.forms import forms_by_side

        said["forms"] = forms_by_side(said.pop("source_form"))
    return replace(limits.reading(**said), offered=tuple(known))


def reading_from(limits: Limits | None, values: Mapping[str, Any]) -> Limits:
    """Return limits as `limits_from` does; raises SettingsError for other keyword arguments."""
    for name in values:
        if name not in READING:
            raise SettingsError(f"unknown argument {name!r}{hint(name, [*READING])}")
    return limits_from(limits, values)


def is_points(system: Any) -> bool:  # noqa: ANN401 - as for evaluate
    """Return whether a system is given as lists of events by threshold, or is rows of such lists.

    Thresholds are numbers; where all are whole, they may as well count files.
    """
    if isinstance(system, EventTable):
        return system.born is not None
    if not isinstance(system, Mapping) or not all(map(_is_number, system)):
        return False
    return any(isinstance(key, float | np.floating) for key in system)


def _is_number(key: object) -> bool:
    return isinstance(key, int | float | np.number)


def _rows_of_array(values: Array, role: str, settings: Settings) -> EventTable:
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(
            Problem(role, "a masked array, whose mask would be lost; expected an array of values in [0, 1]: "
                    "numpy.ma.filled says what stands in for those that are masked")
        )  # fmt: skip
    if values.ndim not in (2, 3) or values.dtype.kind not in "biuf":
        raise InputError(
            Problem(role, f"array of shape {values.shape} and type {values.dtype}; expected numbers of shape "
                    f"{AXES}")
        )  # fmt: skip
    bad = np.argwhere(~((values >= 0) & (values <= 1)))
    if len(bad):
        at = bad[0].tolist()
        raise InputError(Problem(role, f"{at} is {values[tuple(at)]}; expected a value in [0, 1]"))
    *n_files, n_segments, n_classes = values.shape
    # The files of a batch are called by their index.
    files = tuple(map(str, range(*n_files))) if n_files else (UNNAMED,)
    classes = settings.classes or tuple(str(label) for label in range(n_classes))
    if len(classes) != n_classes:
        text = f"{role}: {counted(n_classes, 'column')}, but classes names {len(classes)}"
        if len(classes) == n_segments:
            text += f"; the axes of shape {values.shape} seem to be exchanged: expected {AXES}"
        raise EvaluationError(text)
    # Multiples of the exact length: row k is segment k however long the array.
    edges = to_seconds(Edges(settings.segment_ticks).at(np.arange(n_segments + 1)))
    return EventTable(
        files=files,
        classes=classes,
        file=np.repeat(np.arange(len(files), dtype=np.int32), n_segments),
        onset=np.tile(edges[:-1], len(files)),
        offset=np.tile(edges[1:], len(files)),
        values=tuple(as_written(values).reshape(-1, n_classes).T),
        origin=Origin(role, form=f"array of shape {values.shape}", shape=values.shape),
    )


def read_parts(
    folds: Parted | None, by: Parted | None, files: Sequence[str], limits: Limits | None = None
) -> dict[str, Any]:
    """Return which files are of which fold, and of which scene, under the names of the arguments.

    folds, by: a mapping, the path of a table, or for scenes a pattern with `{}`. files: all that are
    evaluated.
    """
    parts: dict[str, Partition | None] = {"folds": None, "by": None}
    if folds is None and by is None:
        return parts
    from sedeval_soft.tables.file_groups import by_pattern, of_mapping, read_partition

    for what, parted in (("folds", folds), ("by", by)):
        if isinstance(parted, Mapping):
            parts[what] = of_mapping(parted, what)
        elif parted is not None:
            name, pattern = path_of(parted, what, PARTED), what == "by"
            if pattern and "{" in name:
                parts[what] = by_pattern(files, name)
            else:
                parts[what] = read_partition(name, () if pattern else ("fold",), limits_from(limits))
    return parts


def read_lengths(durations: Durations | None, limits: Limits | None = None) -> Mapping[str, float] | None:
    """Return durations in seconds by file name, read from a table if a path is given."""
    if durations is None:
        return None
    limits = limits_from(limits)
    columns = _by_file(durations, "durations", ("duration",))
    if columns is not None:
        different = [name for name, rows in columns.items() if len({*map(tuple, rows)}) > 1]
        if different:
            found = " and ".join(shown(seconds) for (seconds,) in columns[different[0]][:2])
            raise InputError(
                Problem("durations", f"{shown(different[0])} has {found}; expected one duration")
            )
        durations = {name: seconds for name, ((seconds,), *_) in columns.items()}
    if not isinstance(durations, Mapping):
        name = path_of(
            durations, "durations", "a mapping of file names to seconds or the path of a table of them"
        )
        from sedeval_soft.tables.file_groups import read_durations

        return read_durations(name, limits)
    problems = []
    given: Mapping[Any, Any] = durations
    for file, seconds in given.items():
        number = isinstance(seconds, int | float | np.integer | np.floating) and not isinstance(seconds, bool)
        if not isinstance(file, str):
            problems.append(f"{shown(file)} is not the name of a file; expected text")
        elif number and seconds > limits.duration:
            too_long = f"which {limits.too_long(float(seconds))}; expected a number of seconds"
            problems.append(f"{file!r} has {shown(seconds)}, {too_long}")
        elif not number or not seconds >= 0:
            problems.append(f"{file!r} has {shown(seconds)}; expected a number of seconds, 0 or more")
    if problems:
        first = [Problem("durations", text) for text in problems[:MAX_PROBLEMS]]
        raise InputError(first, more=len(problems[MAX_PROBLEMS:]))
    return {file: float(seconds) for file, seconds in durations.items()}


def path_of(given: object, what: str, expected: str = "a path") -> str:
    """Return a path as text; raises InputError for any other value."""
    if not isinstance(given, str | os.PathLike):
        raise InputError(Problem(what, f"found {shown(given)}; expected {expected}"))
    return os.fspath(given)


def check_text(what: str, given: object) -> None:
    """Raise SettingsError for an argument that is not text; what: its name."""
    if not isinstance(given, str):
        raise SettingsError(f"{what} must be a text, not {shown(given)}")


def check_object(what: str, given: object, kind: type) -> None:
    """Raise SettingsError for an argument that is not an object of a class; what: its name."""
    if not isinstance(given, kind):
        raise SettingsError(f"{what} must be an object of {kind.__name__}, not {shown(given)}")


def shown(value: object) -> str:
    """Return a value as code, or only its type if the code is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN and text.isprintable() else f"a value of type {type(value).__name__}"
