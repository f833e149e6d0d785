"""What is fuzzed: bytes in, rows or settings out, or one clear error. Anything else is a finding.

A target raises whatever its reader should not have let out, and AssertionError for what it should not have
answered. The first byte of an input names the form that its name pretends to, the rest is the file.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.errors import EvaluationError, InputError
from sedeval_soft.settings import Settings
from sedeval_soft.settings_files import load_settings, load_thresholds
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.problem_codes import RULES
from sedeval_soft.tools.validate import validate

EXTENSIONS = (
    *(".tsv", ".csv", ".txt", ".tsv.gz", ".jsonl", ".jams", ".rttm", ".parquet", ".arrow", ".zip", ".tar"),
    *(".tar.gz", ".eaf.txt", ".ann", ".TextGrid", ".eaf", ".vtt", ".json"),
)
"""What names of files end in, by the first byte of an input."""

LIMITS = Limits(size=1 << 20, rows=20_000, classes=500, files=500, duration=100_000.0, members=50)

_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
_FOLDER = Path(tempfile.mkdtemp(prefix="soft-sed-eval-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None))
_SMALL = 200
"""Rows up to which a table is scored as well."""


def reader(data: bytes) -> None:
    """Look for problems in a table of any form, read it, and score it against itself where it is small."""
    if not data:
        return
    path = _FOLDER / f"table{EXTENSIONS[data[0] % len(EXTENSIONS)]}"
    path.write_bytes(data[1:])
    for problem in validate(path, limits=LIMITS).problems:
        assert problem.code in RULES
        assert problem.message
    try:
        rows = read_rows(path, limits=LIMITS)
    except InputError as error:
        _check_said(error)
        return
    check_rows(rows)
    if len(rows) <= _SMALL:
        try:
            scores = evaluate_rows(rows, rows, Settings(only=("segment.hard", "event.hard")))
        except EvaluationError as error:
            _check_said(error)
            return
        for name, value in scores.items():
            assert value is None or np.isfinite(value), name


def settings(data: bytes) -> None:
    """Read a settings file, and a file of thresholds."""
    path = _FOLDER / "settings.yaml"
    path.write_bytes(data)
    name = str(path)
    for read in (lambda: Settings.of(**load_settings(name)), lambda: load_thresholds(name, inclusive=False)):
        try:
            read()
        except EvaluationError as error:
            _check_said(error)


def check_rows(rows: EventTable) -> None:
    """Assert what everything downstream relies on."""
    assert np.isfinite(rows.onset).all()
    assert np.isfinite(rows.offset).all()
    assert (rows.onset >= 0).all()
    assert (rows.offset >= rows.onset).all()
    assert (rows.offset <= LIMITS.duration).all()
    assert len(set(rows.files)) == len(rows.files)
    assert len(set(rows.classes)) == len(rows.classes)
    assert ((rows.file >= 0) & (rows.file < max(len(rows.files), 1))).all()
    if not rows.has_steps:
        assert ((rows.label >= 0) & (rows.label < max(len(rows.classes), 1))).all()
        values = [rows.value] if rows.value is not None else []
    else:
        values = list(rows.values)
    for column in values:
        assert ((column >= 0) & (column <= 1)).all()
    named = () if rows.files == (UNNAMED,) else rows.files
    for name in (*named, *rows.classes):
        assert name
        assert "\0" not in name


def _check_said(error: EvaluationError) -> None:
    """Assert that a message can be shown: printable, and not as long as what it is about."""
    text = str(error)
    assert text
    assert len(text) < 20_000
    for line in text.split("\n"):
        assert line.isprintable(), repr(line)
