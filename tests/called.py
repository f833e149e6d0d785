"""The command line in this process: faster than one of its own for every call."""

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

from sedeval_soft.cli.main import group, main
from sedeval_soft.errors import EvaluationError
from sedeval_soft.tables.event_table import EventTable

SAMPLES = Path(__file__).parents[1] / "sample_data"
REFERENCE, SYSTEM, OTHER = (str(SAMPLES / name) for name in ("ref.tsv", "sys.tsv", "sys_b.tsv"))

PROGRAM = [sys.executable, "-m", "sedeval_soft"]
"""The words that run the program in a process of its own."""


@dataclass(frozen=True)
class Called:
    """What a call left behind; errors of the package count as exit code 2, as `main` has it."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Return the JSON that was printed."""
        return json.loads(self.out)

    @property
    def scores(self) -> dict[str, dict[str, Any]]:
        """Return the scores of the first system in the JSON that was printed, by name."""
        return {score["name"]: score for score in self.document["systems"][0]["scores"]}


def call(*arguments: str | Path, stdin: str | None = None) -> Called:
    """Call the command line; anything but an error of the package or of usage is raised."""
    done = CliRunner().invoke(group, [str(argument) for argument in arguments], input=stdin)
    if isinstance(done.exception, EvaluationError):
        return Called(2, done.stdout, f"{done.stderr}{done.exception}\n")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Called(done.exit_code, done.stdout, done.stderr)


def main_in(folder: Path, arguments: Sequence[str]) -> tuple[int, str, str]:
    """Call the program with all that it does about errors; return its exit code, and what it prints."""
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
    """Return an environment in which programs are not looked at by coverage, which takes time and imports."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def written(path: Path, rows: EventTable, files: str | tuple[str, ...] | None = None) -> Path:
    """Write the rows of some files (None: of all) as a table; files without rows are declared in it."""
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
