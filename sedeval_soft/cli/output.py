"""Output of results, remarks and progress: to standard output or a file, and to standard error."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sedeval_soft.evaluation.scores import Scores


def hold_streams() -> None:
    """Hold the places of standard streams that the caller closed.

    The next file that is opened would take such a place: `/dev/stdout` could then be an input. Writing
    to a standard output that is closed fails as writing to a full disk does.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # takes the lowest free place, which is this one
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")


def to_standard_output(output: str | None) -> bool:
    """Return whether results go to standard output, by no name or one of its names."""
    from sedeval_soft.report.write import STANDARD_OUTPUT

    return output is None or output in STANDARD_OUTPUT


def emit(text: str, output: str | None = None, *, exact: bool = False) -> None:
    """Write results to a file, or to standard output.

    Standard output is appended to under any of its names, so that the caller's earlier output stays.

    exact: whether the text has commands for the service that keeps a log, or names that shall stay unchanged;
    else the function escapes all commands.
    """
    from sedeval_soft.errors import without_commands

    text = text if exact else without_commands(text)
    if output is None or to_standard_output(output):
        click.echo(text, nl=False)
        return
    from sedeval_soft.report.write import write_atomic

    write_atomic(output, text)


def remark(text: str) -> None:
    """Print lines on standard error; a failure is ignored, because then nobody reads the lines.

    Parts of inputs are shown as text, so that a terminal obeys no character of them.
    """
    from sedeval_soft.errors import visible

    with contextlib.suppress(OSError):
        click.echo("\n".join(map(visible, text.split("\n"))), err=True)


def warn(warnings: Sequence[str], *, quiet: bool) -> None:
    """Print warnings on standard error, each once, unless nobody wants to read them.

    On a terminal each is broken between words; elsewhere it is one line.
    """
    width = None
    if sys.stderr is not None and sys.stderr.isatty():
        from shutil import get_terminal_size

        width = get_terminal_size().columns
    for warning in () if quiet else dict.fromkeys(warnings):
        text = f"warning: {warning}"
        if width is not None:
            from sedeval_soft.report.fitted import folded

            text = "\n".join(folded(text, width))
        remark(text)


def sign(systems: Sequence[Scores], form: str, output: str | None, *, quiet: bool) -> None:
    """Write the signatures of rows to `PATH.signature` beside their file, or print them on standard error."""
    if form not in {"csv", "tsv"}:
        return
    if output is not None and not to_standard_output(output) and Path(output).is_file():
        from sedeval_soft.errors import visible
        from sedeval_soft.report.write import write_atomic

        whole = dict.fromkeys(scores.signature for scores in systems)
        write_atomic(f"{output}.signature", "".join(f"{visible(each)}\n" for each in whole))
    elif not quiet:
        for text in dict.fromkeys(scores.short_signature for scores in systems):
            remark(f"signature: {text}")


def check_files(outputs: Mapping[str, str | None], inputs: Mapping[str, str | Sequence[str] | None]) -> None:
    """Raise SettingsError if results replace an input or one another, or two inputs are standard input.

    outputs: paths by the options that name them. inputs: paths by their roles, one or several.
    """
    from sedeval_soft.report.write import refuse_replacing

    refuse_replacing(outputs, inputs)


# Progress on standard error, of work that takes a while in front of somebody.


_PATIENCE = 1.0
"""Seconds without a word before progress is shown."""


@contextlib.contextmanager
def progress(*, quiet: bool, label: str = "resampling files") -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function that shows the number of replicates done, and of all; None if nobody would see it.

    label: the name of the work. Each system, group and scene is resampled separately and counted anew.
    """
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    began = time.monotonic()
    # The line is taken back: what stays on the screen are results.
    clear, shown = "\r\033[K", ""

    def show(done: int, total: int) -> None:
        nonlocal shown
        line = f"{clear}{label}  {done / total:4.0%}"
        if line != shown and time.monotonic() - began >= _PATIENCE:
            click.echo(line, file=sys.stderr, nl=False)
            shown = line

    try:
        yield show
    finally:
        if shown:
            click.echo(clear, file=sys.stderr, nl=False)
