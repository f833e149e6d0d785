"""The library: `evaluate`, the only place that wires the steps together.

import sedeval_soft

scores = sedeval_soft.evaluate("ref.tsv", "sys.tsv", segment_length=1.0)
scores["segment.soft.f1.macro"]
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sedeval_soft import __version__
from sedeval_soft.core.errors import MAX_PROBLEMS, EvaluationError, InputError, Problem, SettingsError
from sedeval_soft.core.findings import listing
from sedeval_soft.core.hard import merges
from sedeval_soft.core.pair import Pair, align
from sedeval_soft.core.rows import LONGEST, UNNAMED, LongRows, Origin, Rows, WideRows
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.signature import sign
from sedeval_soft.core.ticks import TICKS_PER_SECOND, tick, to_seconds
from sedeval_soft.core.value import Input, Scores
from sedeval_soft.formats import read_durations, read_points, read_rows, rows_from_data
from sedeval_soft.run.cells import ORDERED
from sedeval_soft.run.confusion import confusion_tables
from sedeval_soft.run.curves import Curves, curves_of
from sedeval_soft.run.groups import parts_of, score_parts
from sedeval_soft.run.psds import psds_notes
from sedeval_soft.run.scoring import score_tally
from sedeval_soft.run.single import tally_pair

Durations = Mapping[str, float] | str | os.PathLike[str]

_SHOWN = 60


def evaluate(
    reference: Any,  # noqa: ANN401 - see the docstring
    system: Any,  # noqa: ANN401
    *,
    durations: Durations | None = None,
    name: str | None = None,
    **settings: Any,  # noqa: ANN401 - the fields of Settings, checked there
) -> Scores:
    """Score a system's output against a reference.

    reference, system: each a path (a table, a directory of tables, `-` for standard input), a
        pandas or other Arrow-compatible data frame, a mapping of columns, or an array of shape
        (n_segments, n_classes) with values in [0, 1], one row per segment of `segment_length`. A system known
        at some thresholds only is a mapping of these to lists of events, each in one of the other forms;
        it has no segment-based scores.
    durations: seconds by file name, or the path of a table of them.
    name: the system's name; its path if it has one.
    settings: the fields of `Settings`; class names of arrays come from `classes`.

    Raises InputError for input that cannot be scored, SettingsError for settings.
    """
    chosen = _chosen(system, settings)
    if name is not None and not isinstance(name, str):
        raise SettingsError(f"name must be a text, not {_shown(name)}")
    return evaluate_rows(*_sides(reference, system, chosen), chosen, read_lengths(durations), name)


def threshold_curves(
    reference: Any,  # noqa: ANN401 - as for evaluate
    system: Any,  # noqa: ANN401
    *,
    durations: Durations | None = None,
    **settings: Any,  # noqa: ANN401
) -> Curves:
    """Return precision, recall, F and error rate over all thresholds, by class, and the PSD-ROC: for plots.

    Arguments and errors as for `evaluate`. Curves are those of the bases that `only` names; the PSD-ROC
    that of `psds`, or of its weights. What is undefined is NaN in their arrays. `evaluate` with
    `measures="curves"` keeps them in its scores.
    """
    chosen = with_curves(_chosen(system, settings))
    pair = align(*_sides(reference, system, chosen), chosen, read_lengths(durations))
    return curves_of(tally_pair(pair, chosen), chosen)


def _chosen(system: Any, settings: Mapping[str, Any]) -> Settings:  # noqa: ANN401 - as for evaluate
    chosen = Settings.of(**settings)
    return of_points(chosen) if _is_points(system) else chosen


def _is_points(system: Any) -> bool:  # noqa: ANN401 - as for evaluate
    """Return whether a system is given as lists of events by threshold."""
    return (
        isinstance(system, Mapping)
        and bool(system)
        and all(isinstance(k, int | float | np.number) for k in system)
    )


def _sides(reference: Any, system: Any, settings: Settings) -> tuple[Rows, Rows]:  # noqa: ANN401 - as for evaluate
    arrays = isinstance(reference, np.ndarray) and isinstance(system, np.ndarray)
    if arrays and reference.shape != system.shape:
        expected = f"expected that of the reference, {reference.shape}"
        raise InputError(Problem("system", f"array of shape {system.shape}; {expected}"))
    return to_rows(reference, "reference", settings), to_rows(system, "system", settings)


def evaluate_rows(
    reference: Rows,
    system: Rows,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    name: str | None = None,
) -> Scores:
    """Score rows that were read already; arguments as for `evaluate`."""
    pair = align(reference, system, settings, durations)
    return score_pair(reference, system, pair, settings, name, durations)


def score_pair(
    reference: Rows,
    system: Rows,
    pair: Pair,
    settings: Settings,
    name: str | None = None,
    durations: Mapping[str, float] | None = None,
) -> Scores:
    """Score a pair that was aligned already; `reference`, `system`, `durations` are what it was made of."""
    parts = parts_of(pair, settings)
    tally = tally_pair(pair, settings)
    overlapping = tally.per_file.get("event.soft.substitutions")
    warnings = [*pair.findings.warnings(settings), *psds_notes(tally, settings)]
    if overlapping is not None and np.isnan(overlapping).any():
        crowded = [pair.files[file] for file in np.flatnonzero(np.isnan(overlapping))]
        warnings.append(
            f"too many events overlap in {listing(crowded, 'file')} to match them at every level whatever "
            "their class; the soft event-based error rate of all classes together is left undefined"
        )
    of_parts, notes = score_parts(pair, parts, settings)
    inputs = (describe(reference, "reference", settings), describe(system, "system", settings))
    # Operating points have curves, of what is counted anyway, but no measures of that group.
    points = isinstance(system, LongRows) and system.born is not None
    keeps_curves = points or _keeps_curves(settings)
    return Scores(
        scores=score_tally(tally, settings) | of_parts,
        system=name or system.origin.name,
        classes=pair.classes,
        files=pair.files,
        length=int(pair.length_ticks.sum()) / TICKS_PER_SECOND,
        n_segments=int(tally.per_file["n_segments"].sum()),
        settings=settings,
        inputs=inputs,
        warnings=(*warnings, *notes),
        signature=sign(__version__, settings, inputs, durations),
        version=__version__,
        confusion=confusion_tables(tally, settings),
        make_curves=partial(curves_of, tally, settings) if keeps_curves else None,
    )


def _keeps_curves(settings: Settings) -> bool:
    return any(group in settings.measures for group in ORDERED)


def with_curves(settings: Settings) -> Settings:
    """Return the settings with the group of measures that keeps what curves are made of."""
    if "curves" in settings.measures:
        return settings
    return replace(settings, measures=(*settings.measures, "curves"))


def of_points(settings: Settings) -> Settings:
    """Return the settings for a system of operating points, which has events only.

    Raises SettingsError for settings that lists of events cannot follow.
    """
    if settings.events == "merge" or settings.postprocesses or settings.psds_median_filters:
        raise SettingsError("operating points are lists of events; they cannot be merged or post-processed")
    only = tuple(part for part in settings.only if part.startswith(("event", "intersection")))
    if not only:
        raise SettingsError(
            "operating points have no scores of segments or clips; evaluate event or intersection"
        )
    if settings.measures and not {"curves", "confusion"} & {*settings.measures}:
        raise SettingsError(
            f"operating points have no values for measures={', '.join(settings.measures)}; only confusion "
            "and curves can be had of them"
        )
    # Average precision ranks single events by their values, which these have none of.
    return replace(settings, only=only, measures=tuple(m for m in settings.measures if m == "confusion"))


def to_rows(source: Any, role: str, settings: Settings) -> Rows:  # noqa: ANN401 - see evaluate
    """Return the rows of anything that `evaluate` takes."""
    if isinstance(source, LongRows | WideRows):
        return source
    if isinstance(source, str | os.PathLike):
        return read_rows(source)
    if isinstance(source, np.ma.MaskedArray):
        raise InputError(
            Problem(role, "a masked array, whose mask would be lost; expected an array of values in [0, 1]: "
                    "numpy.ma.filled says what stands in for those that are masked")
        )  # fmt: skip
    if isinstance(source, np.ndarray):
        return _rows_of_array(source, role, settings)
    if _is_points(source):
        return read_points(source, role, lambda each: to_rows(each, role, settings))
    return rows_from_data(source, role)


def read_lengths(durations: Durations | None) -> Mapping[str, float] | None:
    """Return durations in seconds by file name, read from a table if a path is given."""
    if durations is None:
        return None
    if isinstance(durations, str | os.PathLike):
        return read_durations(durations)
    if not isinstance(durations, Mapping):
        raise InputError(
            Problem("durations", f"found {_shown(durations)}; expected a mapping of file names to seconds "
                    "or the path of a table of them")
        )  # fmt: skip
    problems = [Problem("durations", wrong) for pair in durations.items() if (wrong := _wrong_length(*pair))]
    if problems:
        raise InputError(problems[:MAX_PROBLEMS], more=len(problems[MAX_PROBLEMS:]))
    return {file: float(seconds) for file, seconds in durations.items()}


def _wrong_length(file: object, seconds: object) -> str:
    """Return what is wrong with the duration of a file, nothing where nothing is."""
    if not isinstance(file, str):
        return f"{_shown(file)} is not the name of a file; expected text"
    number = isinstance(seconds, int | float | np.integer | np.floating) and not isinstance(seconds, bool)
    if not number or not 0 <= cast("float", seconds) <= LONGEST:
        return (
            f"{file!r} has {_shown(seconds)}; expected a number of seconds, 0 or more, at most {LONGEST:g} "
            "(31 years)"
        )
    return ""


def _shown(value: object) -> str:
    """Return a value as it would be written, only its type where that is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN and text.isprintable() else f"a value of type {type(value).__name__}"


def describe(rows: Rows, role: str, settings: Settings) -> Input:
    """Return what was read, for headers and signatures."""
    origin = rows.origin
    return Input(
        name=origin.name,
        role=role,
        sha256=origin.sha256,
        rows=len(rows),
        files=len(rows.files),
        classes=len(rows.classes),
        form=origin.form,
        has_values=rows.has_values,
        events="merge" if merges(rows, settings) or _joined(role, settings) else "rows",
        ignored=origin.ignored,
    )


def _joined(role: str, settings: Settings) -> bool:
    """Return whether post-processing made events of the rows, which may touch."""
    return role == "system" and settings.postprocesses


def _rows_of_array(values: npt.NDArray[Any], role: str, settings: Settings) -> WideRows:
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise InputError(
            Problem(role, f"array of shape {values.shape} and type {values.dtype}; expected numbers of shape "
                    "(n_segments, n_classes)")
        )  # fmt: skip
    columns = np.array(values, dtype=np.float64).T
    bad = np.argwhere(~((values >= 0) & (values <= 1)))
    if len(bad):
        row, column = bad[0]
        raise InputError(
            Problem(role, f"[{row}, {column}] is {values[row, column]}; expected a value in [0, 1]")
        )
    n_segments, n_classes = values.shape
    classes = settings.classes or tuple(str(label) for label in range(n_classes))
    if len(classes) != n_classes:
        raise EvaluationError(f"{role}: {n_classes} columns, but classes names {len(classes)}")
    # Multiples of the tick-exact length: row k is segment k however long the array.
    edges = to_seconds(np.arange(n_segments + 1) * tick(settings.segment_length))
    return WideRows(
        files=(UNNAMED,),
        classes=classes,
        file=np.zeros(n_segments, dtype=np.int32),
        onset=edges[:-1],
        offset=edges[1:],
        values=tuple(columns),
        origin=Origin(role, form=f"array of shape {values.shape}"),
    )
