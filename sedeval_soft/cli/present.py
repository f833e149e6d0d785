"""Results as they were asked for: tables, single numbers or forms for services; and requirements."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from shutil import get_terminal_size
from typing import Any

from click.exceptions import Exit

import sedeval_soft as library
from sedeval_soft import report
from sedeval_soft.cli.output import emit, remark, sign, to_standard_output, warn
from sedeval_soft.errors import visible, without_commands

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
        read_requirement = partial(report.parse_requirement, likely=likely)
        self.requirements = report.all_of(read_requirement, requirements)
        self.wanted: Sequence[str] = report.all_of(partial(report.parse_name, likely=likely), wanted)
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
        report.check_named(systems, self.wanted, self.names[len(self.wanted) :])
        # Files first: results that are printed cannot be taken back if these fail.
        if save is not None:
            save()
        verdicts = report.verdicts(systems, self.requirements)
        self._show(systems, board, verdicts)
        if self.form != "github":  # which has annotations for these
            warn([text for scores in systems for text in scores.warnings], quiet=self.quiet)
            for failure in (verdict for verdict in verdicts if not verdict.met):
                system = f"{failure.system}: " if len(systems) > 1 else ""
                remark(f"requirement not met: {visible(f'{system}{failure.requirement}: {failure.reason}')}")
        sign(systems, self.form, self.output, quiet=self.quiet)
        raise Exit(0 if all(verdict.met for verdict in verdicts) else 1)

    def _show(
        self,
        systems: Sequence[library.Scores],
        board: library.Board | None,
        verdicts: Sequence[report.Verdict],
    ) -> None:
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
