"""Output of results, remarks and progress: to standard output or a file, and to standard error."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click
from click.exceptions import Exit

import sedeval_soft as library
from sedeval_soft import report


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
    return output is None or output in report.STANDARD_OUTPUT


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
    else:
        report.write_atomic(output, text)


# Files that results must not replace.


# Remarks on standard error.


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
    terminal = sys.stderr is not None and sys.stderr.isatty()
    for text in (f"warning: {warning}" for warning in (() if quiet else dict.fromkeys(warnings))):
        remark("\n".join(report.folded(text, get_terminal_size().columns)) if terminal else text)


def sign(systems: Sequence[library.Scores], form: str, output: str | None, *, quiet: bool) -> None:
    """Write the signatures of rows to `PATH.signature` beside their file, or print them on standard error."""
    from sedeval_soft.errors import visible

    if form not in {"csv", "tsv"}:
        return
    if output is not None and not to_standard_output(output) and Path(output).is_file():
        whole = dict.fromkeys(f"{visible(scores.signature)}\n" for scores in systems)
        report.write_atomic(f"{output}.signature", "".join(whole))
    elif not quiet:
        for text in dict.fromkeys(scores.short_signature for scores in systems):
            remark(f"signature: {text}")


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


# Results as they were asked for: tables, single numbers or forms for services; and requirements.


SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub Actions names the file that a step adds its summary to."""


class Presentation:
    """The display of results and the requirements on them, from the options.

    wanted: names of scores, if just their numbers are printed. names: of all scores that must be there.
    """

    def __init__(
        self, *, form: str, output: str | None, quiet: bool, likely: report.Likely = tuple,
        wanted: Sequence[str] = (),
        requirements: Sequence[str] = (), averages: Sequence[str] = (), verbose: int = 0,
        by_class: bool = False, words: bool = False, per_file: bool = False,
    ) -> None:  # fmt: skip
        """Take the values of options; raises SettingsError for invalid names and requirements."""
        self.requirements: Sequence[tuple[str, str, float]] = ()
        self.wanted: Sequence[str] = ()
        if requirements:
            self.requirements = report.all_of(partial(report.parse_requirement, likely=likely), requirements)
        if wanted:
            self.wanted = report.all_of(partial(report.parse_name, likely=likely), wanted)
        self.names = [*self.wanted, *(name for name, _, _ in self.requirements)]
        self.form, self.output, self.quiet = form, output, quiet
        self.averages = tuple(averages)
        self.how: dict[str, Any] = {"by_class": by_class, "words": words, "verbose": verbose}
        self.how |= {"per_file": per_file, "wanted": self.wanted, "averages": self.averages}

    def finish(
        self,
        systems: Sequence[library.Scores],
        board: library.Board | None = None,
        save: Callable[[], None] | None = None,
    ) -> None:
        """Print or write the results, of a board if there is one, then warnings, and end by the requirements.

        save: writes what else was asked for. Raises UnknownScoreError for all names that a system lacks
        before anything is written, and Exit.
        """
        if self.names:
            report.check_named(systems, self.wanted, self.names[len(self.wanted) :])
        # Files first: results that are printed cannot be taken back if these fail.
        if save is not None:
            save()
        verdicts = report.verdicts(systems, self.requirements) if self.requirements else []
        self._show(systems, board, verdicts)
        if self.form != "github":  # which has annotations for these
            warn([text for scores in systems for text in scores.warnings], quiet=self.quiet)
            for failure in (verdict for verdict in verdicts if not verdict.met):
                system = f"{failure.system}: " if len(systems) > 1 else ""
                remark(f"requirement not met: {system}{failure.requirement}: {failure.reason}")
        sign(systems, self.form, self.output, quiet=self.quiet)
        raise Exit(0 if all(verdict.met for verdict in verdicts) else 1)

    def _show(
        self,
        systems: Sequence[library.Scores],
        board: library.Board | None,
        verdicts: Sequence[report.Verdict],
    ) -> None:
        from dataclasses import replace

        board = board and replace(board, systems=tuple(systems))
        if self.averages and not self.wanted:
            systems = tuple(report.with_averages(scores, self.averages) for scores in systems)
            board = board and replace(board, systems=systems)
        terminal: dict[str, Any] = {}
        if self.form == "text" and to_standard_output(self.output) and sys.stdout.isatty():
            terminal = {"color": True, "width": get_terminal_size().columns}
        if self.form == "github":
            self._annotate(systems, board, verdicts)
            return
        if self.form == "junit":  # a suite for each system; a board adds nothing to these
            text = report.junit(systems, verdicts, self.wanted)
        elif self.form == "codabench":
            lines = (self.output or "").endswith(".txt")
            text, undefined = report.codabench(systems[0], self.wanted, lines=lines)
            warn([f"undefined, so left out: {', '.join(undefined)}"] * bool(undefined), quiet=self.quiet)
        else:
            text = report.render(systems, self.form, board=board, **terminal, **self.how)
        emit(text, self.output)

    def _annotate(
        self,
        systems: Sequence[library.Scores],
        board: library.Board | None,
        verdicts: Sequence[report.Verdict],
    ) -> None:
        """Write the summary where it belongs, then print annotations: GitHub reads these from the log."""
        from sedeval_soft.errors import without_commands

        warnings = [] if self.quiet else [text for scores in systems for text in scores.warnings]
        log, summary = (
            report.commands(verdicts, warnings),
            report.job_summary(systems, board, verdicts, self.wanted),
        )
        if not to_standard_output(self.output):
            emit(summary, self.output)
        elif self.output is None and os.environ.get(SUMMARY):
            report.add_to(os.environ[SUMMARY], f"{summary}\n")
        else:
            log += without_commands(summary)
        emit(log, exact=True)
