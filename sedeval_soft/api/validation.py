"""Look at a table without scoring it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from sedeval_soft.api.sources import Columns, Durations, limits_from, read_lengths
from sedeval_soft.core.intake import Limits
from sedeval_soft.errors import InputError, SettingsError
from sedeval_soft.formats import read_rows
from sedeval_soft.report import write_atomic
from sedeval_soft.settings_files import checked_preset, classes_of_preset
from sedeval_soft.validation import Expected, Validation, validate_table

MAX_PROBLEMS = 100


def validate(
    system: str | os.PathLike[str],
    reference: str | os.PathLike[str] | None = None,
    *,
    durations: Durations | None = None,
    classes: Sequence[str] | None = None,
    preset: str | None = None,
    max_problems: int = MAX_PROBLEMS,
    fix: str | os.PathLike[str] | None = None,
    stdin: BinaryIO | None = None,
    limits: Limits | None = None,
    columns: Columns | None = None,
) -> Validation:
    """Return all that is wrong with a table or a folder of them, and what looks wrong; nothing is scored.

    reference: a table that it is held against: names of files and classes, lengths of recordings. durations:
        seconds by file name, or the path of a table of them. classes: those that there can be; preset: the
        name of a challenge, whose classes they are. max_problems: how many are told; all are counted.
    fix: where a corrected copy is written, of mends that are safe only; what is told then is what is left
        to do in the copy, and `mends` lists what was done. limits: the most that the table may have. columns:
        which play which role, as for `evaluate`.

    Raises InputError where the table cannot be opened or the reference be read, SettingsError for arguments.
    """
    limits = limits_from(limits, columns)
    if isinstance(max_problems, bool) or not isinstance(max_problems, int) or max_problems < 1:
        raise SettingsError(f"max_problems must be a whole number, 1 or more, not {max_problems!r}")
    if preset is not None:
        checked_preset(preset)
    if preset is not None and classes is not None:
        raise SettingsError("classes and a preset are given; expected one of them")
    whose = f"in {preset}" if preset is not None else "in the settings"
    known = classes_of_preset(preset) if preset is not None else classes
    expected = Expected(
        None if reference is None else read_rows(reference, limits=limits),
        None if known is None else tuple(known),
        whose,
        read_lengths(durations, limits) or {},
    )
    if fix is None:
        return validate_table(system, expected, most=max_problems, stdin=stdin, limits=limits)
    return _fixed(system, expected, fix, max_problems, stdin, limits)


def _fixed(
    system: str | os.PathLike[str],
    expected: Expected,
    fix: str | os.PathLike[str],
    most: int,
    stdin: BinaryIO | None,
    limits: Limits,
) -> Validation:
    """Write a corrected copy, and return what is left to do in it."""
    from sedeval_soft.validation.mend import mended, opened, refuse_folder

    refuse_folder(system)
    refuse_input(fix, system)
    if os.fspath(system) == "-":
        # It is looked at once more where no copy can be made.
        stdin = BytesIO((stdin or sys.stdin.buffer).read())
    try:
        source, read = opened(system, stdin, limits)
        text, mends = mended(source, expected, limits)
    except InputError as error:
        if any(problem.code == "unreadable-file" for problem in error.problems):
            raise
        text, mends = None, (f"no copy was written: {error.problems[0].message}",)
    if text is None:
        if stdin is not None:
            stdin.seek(0)
        return replace(validate_table(system, expected, most=most, stdin=stdin, limits=limits), mends=mends)
    write_atomic(fix, text)
    return replace(validate_table(fix, expected, most=most, limits=limits), mends=(*read, *mends))


def refuse_input(output: str | os.PathLike[str], system: str | os.PathLike[str]) -> None:
    """Raise SettingsError where a copy would replace what it is of."""
    try:
        same = Path(output).samefile(system)
    except (OSError, ValueError):
        same = os.fspath(output) == os.fspath(system)
    if same:
        raise SettingsError(f"--fix {os.fspath(output)}: this is the system output; expected another file")
