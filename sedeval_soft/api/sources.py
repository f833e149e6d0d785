"""What the library takes: paths, data frames, mappings, arrays, lists of events by threshold."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.arrays import Array
from sedeval_soft.errors import MAX_PROBLEMS, EvaluationError, InputError, Problem, SettingsError, counted
from sedeval_soft.settings import Settings, checked
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.ticks import as_written, to_seconds
from sedeval_soft.timeline.grid import Edges

if TYPE_CHECKING:
    from sedeval_soft.tables.file_groups import Partition

Durations = Mapping[str, float] | str | os.PathLike[str]
Parted = Mapping[str, str] | str | os.PathLike[str]

Listed = Sequence[str] | str | os.PathLike[str]
"""Names of files, or the path of a list of them."""

Columns = str | Sequence[str] | Mapping[str, str | Sequence[str]]
"""Which columns play which role: `filename=segment_id,value=p`, some such texts, or names by role."""

_SHOWN = 60


def settings_from(
    settings: Settings | None, values: Mapping[str, Any], defaults: Mapping[str, Any] | None = None
) -> Settings:
    """Return the settings that were given as an object, or by keywords; raises SettingsError for both.

    values: fields of `Settings`, which hold over those of a preset, where `preset` names one. defaults: what
    holds where neither says anything.
    """
    values = with_listed(values)
    if settings is None:
        preset, base = values.get("preset"), {}
        if preset is not None:
            from sedeval_soft.settings_files import load_preset

            base = load_preset(preset)
        values = {name: value for name, value in values.items() if name != "preset"}
        return Settings.of(**{**(defaults or {}), **base, **values})
    if not isinstance(settings, Settings):
        raise SettingsError(f"settings must be an object of Settings, not {shown(settings)}")
    if values:
        raise SettingsError(f"settings are given; {', '.join(values)} cannot be given beside them")
    return settings


def with_listed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings, with names of files in place of the path of a list of them."""
    files = values.get("files")
    return {**values} if files is None else {**values, "files": listed_files(files)}


def listed_files(files: Any, limits: Limits | None = None) -> tuple[str, ...]:  # noqa: ANN401 - checked
    """Return the names of files that are listed, or in the list at a path; raises what that does."""
    if isinstance(files, str | os.PathLike):
        from sedeval_soft.tables.file_groups import read_listed

        files = read_listed(files, limits_from(limits))
    names: tuple[str, ...] = checked("files", files)
    return names


def sides_of(
    reference: Any,  # noqa: ANN401 - as for evaluate
    system: Any,  # noqa: ANN401
    settings: Settings,
    limits: Limits | None = None,
) -> tuple[EventTable, EventTable]:
    """Return the rows of both sides; arrays must have one shape."""
    are_arrays(reference, system)
    ours = to_rows(reference, "reference", settings, limits)
    return ours, to_rows(system, "system", settings, limits)


def are_arrays(reference: object, system: object) -> bool:
    """Return whether both sides are arrays; raises InputError where these have not one shape."""
    if not (isinstance(reference, np.ndarray) and isinstance(system, np.ndarray)):
        return False
    if reference.shape != system.shape:
        expected = f"expected that of the reference, {reference.shape}"
        raise InputError(Problem("system", f"array of shape {system.shape}; {expected}"))
    return True


def to_rows(
    source: Any,  # noqa: ANN401 - see evaluate
    role: str,
    settings: Settings,
    limits: Limits | None = None,
) -> EventTable:
    """Return the rows of anything that `evaluate` takes; limits: the most that it may have."""
    limits = limits_from(limits)
    if isinstance(source, str | os.PathLike):
        return read_rows(source, limits=limits)
    if isinstance(source, np.ma.MaskedArray):
        raise InputError(
            Problem(role, "a masked array, whose mask would be lost; expected an array of values in [0, 1]: "
                    "numpy.ma.filled says what stands in for those that are masked")
        )  # fmt: skip
    if isinstance(source, np.ndarray):
        return _rows_of_array(source, role, settings)
    if is_points(source) and isinstance(source, Mapping):
        from sedeval_soft.tables.joined_tables import read_points

        def rows_of_point(point: Any) -> EventTable:  # noqa: ANN401 - see evaluate
            """Return the rows of one operating point: a system may detect nothing at a threshold."""
            if isinstance(point, str | os.PathLike):
                return read_rows(point, limits=limits, may_be_empty=True)
            empty = isinstance(point, list | tuple | Mapping) and not point
            # A data frame that no row was ever entered in has no columns either.
            if empty or (not isinstance(point, np.ndarray) and getattr(point, "shape", None) == (0, 0)):
                return EventTable.empty(Origin(role, form="empty"))
            return to_rows(point, role, settings, limits)

        return read_points(source, role, rows_of_point, limits)
    from sedeval_soft.tables.frames import rows_from_data

    return rows_from_data(source, role, limits)


def with_points(system: Any, limits: Limits | None = None) -> Any:  # noqa: ANN401 - as for evaluate
    """Return the rows of a system that is a folder of operating points; any other system as it is."""
    if isinstance(system, str | os.PathLike) and os.fspath(system) not in {"", "-"} and os.path.isdir(system):
        from sedeval_soft.tables.joined_tables import points_of_folder

        rows = points_of_folder(os.fspath(system), limits_from(limits))
        return system if rows is None else rows
    return system


def operating_points(path: str | os.PathLike[str], *, limits: Limits | None = None) -> dict[float, str]:
    """Return the tables of a folder by the thresholds in their names, as `evaluate` takes a system.

    path: of the folder, or a pattern of names such as `out/baseline_*.csv`; they must differ in one number
        alone, in [0, 1]: `baseline_0.1.csv` and `baseline_0.5.csv`. limits: the most tables there may be.

    Raises InputError where names do not say their thresholds, and where there is no table.
    """
    from sedeval_soft.tables.joined_tables import points_in

    return points_in(os.fspath(path), limits_from(limits))


def limits_from(limits: Limits | None, columns: Columns | None = None) -> Limits:
    """Return limits that were given, the default ones for None; raises SettingsError for other things.

    columns: what is said of the columns of tables, kept with the limits.
    """
    if limits is not None and not isinstance(limits, Limits):
        raise SettingsError(f"limits must be an object of Limits, not {shown(limits)}")
    return (limits or LIMITS).with_columns(columns)


def is_points(system: Any) -> bool:  # noqa: ANN401 - as for evaluate
    """Return whether a system is given as lists of events by threshold, or is rows of such lists."""
    if isinstance(system, EventTable):
        return system.born is not None
    return (
        isinstance(system, Mapping)
        and bool(system)
        and all(isinstance(k, int | float | np.number) for k in system)
    )


def _rows_of_array(values: Array, role: str, settings: Settings) -> EventTable:
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise InputError(
            Problem(role, f"array of shape {values.shape} and type {values.dtype}; expected numbers of shape "
                    "(n_segments, n_classes)")
        )  # fmt: skip
    columns = as_written(values).T
    bad = np.argwhere(~((values >= 0) & (values <= 1)))
    if len(bad):
        row, column = bad[0]
        raise InputError(
            Problem(role, f"[{row}, {column}] is {values[row, column]}; expected a value in [0, 1]")
        )
    n_segments, n_classes = values.shape
    classes = settings.classes or tuple(str(label) for label in range(n_classes))
    if len(classes) != n_classes:
        raise EvaluationError(f"{role}: {counted(n_classes, 'column')}, but classes names {len(classes)}")
    # Multiples of the exact length: row k is segment k however long the array.
    edges = to_seconds(Edges(settings.segment_ticks).at(np.arange(n_segments + 1)))
    return EventTable(
        files=(UNNAMED,),
        classes=classes,
        file=np.zeros(n_segments, dtype=np.int32),
        onset=edges[:-1],
        offset=edges[1:],
        values=tuple(columns),
        origin=Origin(role, form=f"array of shape {values.shape}"),
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
            expected = "a mapping of file names to their parts, or the path of a table of them"
            name, pattern = _path_of(parted, what, expected), what == "by"
            if pattern and "{" in name:
                parts[what] = by_pattern(files, name)
            else:
                parts[what] = read_partition(name, () if pattern else ("fold",), limits_from(limits))
    return parts


def read_lengths(durations: Durations | None, limits: Limits | None = None) -> Mapping[str, float] | None:
    """Return durations in seconds by file name, read from a table if a path is given."""
    limits = limits_from(limits)
    if durations is None:
        return None
    if not isinstance(durations, Mapping):
        name = _path_of(
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
            too_long = f"which {limits.too_long()}; expected a number of seconds"
            problems.append(f"{file!r} has {shown(seconds)}, {too_long}")
        elif not number or not seconds >= 0:
            problems.append(f"{file!r} has {shown(seconds)}; expected a number of seconds, 0 or more")
    if problems:
        first = [Problem("durations", text) for text in problems[:MAX_PROBLEMS]]
        raise InputError(first, more=len(problems[MAX_PROBLEMS:]))
    return {file: float(seconds) for file, seconds in durations.items()}


def _path_of(given: object, what: str, expected: str) -> str:
    """Return a path as text; raises InputError for what is none."""
    if not isinstance(given, str | os.PathLike):
        raise InputError(Problem(what, f"found {shown(given)}; expected {expected}"))
    return os.fspath(given)


def check_name(name: object) -> None:
    """Raise SettingsError for what cannot be the name of a system."""
    if not isinstance(name, str):
        raise SettingsError(f"name must be a text, not {shown(name)}")


def shown(value: object) -> str:
    """Return a value as it would be written, only its type where that is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN and text.isprintable() else f"a value of type {type(value).__name__}"
