"""Calls the command line in this process: faster than a new process for each call."""

import contextlib
import io
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from click.testing import CliRunner

from sedeval_soft.cli import main
from sedeval_soft.cli.main import group
from sedeval_soft.errors import EvaluationError
from sedeval_soft.tables import EventTable

SAMPLES = Path(__file__).parents[1] / "sample_data"
REFERENCE, SYSTEM, OTHER = (str(SAMPLES / name) for name in ("ref.tsv", "sys.tsv", "sys_b.tsv"))

PROGRAM = [sys.executable, "-m", "sedeval_soft"]
"""The command that runs the program in a separate process."""


@dataclass(frozen=True)
class Called:
    """Exit code and output of a call; errors of the package count as exit code 2, as in `main`."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Return the printed JSON."""
        return json.loads(self.out)

    @property
    def scores(self) -> dict[str, dict[str, Any]]:
        """Return the scores of the first system in the printed JSON, by name."""
        return {score["name"]: score for score in self.document["systems"][0]["scores"]}


def call(*arguments: str | Path, stdin: str | None = None) -> Called:
    """Call the command line; raise any error except those that the package or click reports to users."""
    done = CliRunner().invoke(group, [str(argument) for argument in arguments], input=stdin)
    if isinstance(done.exception, EvaluationError):
        return Called(2, done.stdout, f"{done.stderr}{done.exception}\n")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Called(done.exit_code, done.stdout, done.stderr)


def main_in(folder: Path, arguments: Sequence[str]) -> tuple[int, str, str]:
    """Call the program with its handling of errors; return the exit code, and the text of both streams."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape") for _ in range(2))
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["soft-sed-eval", *arguments]),
        mock.patch.object(sys.modules[main.__module__], "stop_cleanly"),
        mock.patch.object(os, "_exit") as left,
    ):
        main()
    printed = (stream.buffer.getvalue() for stream in (out, err))
    return left.call_args.args[0], *(text.decode("utf-8", "surrogateescape") for text in printed)


def unmeasured() -> dict[str, str]:
    """Return an environment in which coverage does not measure programs: it costs time and adds imports."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def written(path: Path, rows: EventTable, files: str | tuple[str, ...] | None = None) -> Path:
    """Write the rows of some files (None: all files) as a table, which also declares files without rows."""
    values = [""] * len(rows) if rows.value is None else [repr(float(value)) for value in rows.value]
    cells = zip(rows.file, rows.onset, rows.offset, rows.label, values, strict=True)
    of = [
        (rows.files[f], f"{a.item()}\t{b.item()}\t{rows.classes[c]}\t{value}") for f, a, b, c, value in cells
    ]
    lines = ["filename\tonset\toffset\tevent_label\tvalue"]
    for file in rows.files if files is None else files:
        lines += [f"{file}\t{rest}" for name, rest in of if name == file] or [f"{file}\t\t\t\t"]
    path.write_text("\n".join(lines) + "\n")
    return path
