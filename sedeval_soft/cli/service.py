"""Results as services take them that run or rank submissions: GitHub Actions, JUnit's readers, Codabench."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sedeval_soft.cli.output import emit, remark, to_standard_output

if TYPE_CHECKING:
    from sedeval_soft.core.board import Board
    from sedeval_soft.core.value import Scores
    from sedeval_soft.report.services import Verdict

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub Actions names the file that a step adds its summary to."""


@dataclass(frozen=True, slots=True)
class Results:
    """What is shown: systems, their board if they have one, and what is required of them.

    wanted: names of scores, if just these are shown. output, quiet: as the options of these names.
    """

    systems: Sequence[Scores]
    board: Board | None
    verdicts: Sequence[Verdict]
    wanted: Sequence[str]
    output: str | None
    quiet: bool

    def show(self, form: str) -> None:
        """Print or write the results in one of `SERVICE_FORMATS`."""
        {"github": self._github, "junit": self._junit, "codabench": self._codabench}[form]()

    def _github(self) -> None:
        """Write the summary where it belongs, then print the annotations: GitHub reads these from the log."""
        from sedeval_soft.report.services import commands, job_summary

        warnings = [] if self.quiet else [text for scores in self.systems for text in scores.warnings]
        lines = commands(self.verdicts, warnings)
        summary = job_summary(self.systems, self.board, self.verdicts, self.wanted)
        target = os.environ.get(SUMMARY, "")
        if not to_standard_output(self.output):
            emit(summary, self.output)
            emit(lines)
        elif target and self.output is None:
            from sedeval_soft.report.write import add_to

            add_to(target, f"{summary}\n")
            emit(lines)
        else:
            emit(f"{lines}{summary}")

    def _junit(self) -> None:
        """Write a suite for each system; a board adds nothing to these."""
        from sedeval_soft.report.services import junit

        emit(junit(self.systems, self.verdicts, self.wanted), self.output)

    def _codabench(self) -> None:
        """Write the numbers of the one system, and say which are undefined."""
        from sedeval_soft.report.services import codabench, is_number, keyed

        (scores,) = self.systems
        left = [score.name for score in keyed(scores, self.wanted).values() if not is_number(score)]
        lines = (self.output or "").endswith(".txt")
        emit(codabench(scores, self.wanted, lines=lines), self.output)
        if left and not self.quiet:
            remark(f"warning: undefined, so left out: {', '.join(left)}")
