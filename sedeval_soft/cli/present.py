"""Results as they were asked for: tables, single numbers or forms for services; and requirements."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sedeval_soft.cli.options import SERVICE_FORMATS
from sedeval_soft.cli.output import emit, remark, sign, to_standard_output, warn
from sedeval_soft.errors import visible, without_commands
from sedeval_soft.report.requirements import Likely, all_of, parse_name, parse_requirement

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.evaluation.scores import Scores
    from sedeval_soft.report.services import Verdict

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub Actions names the file that a step adds its summary to."""


class Presentation:
    """The display of results and the requirements on them, from the options.

    wanted: names of scores, if just their numbers are printed. names: of all scores that must be there.
    """

    def __init__(
        self, *, form: str, output: str | None, quiet: bool, likely: Likely = tuple,
        wanted: Sequence[str] = (),
        requirements: Sequence[str] = (), averages: Sequence[str] = (), verbose: int = 0,
        by_class: bool = False, words: bool = False, per_file: bool = False,
    ) -> None:  # fmt: skip
        """Take the values of options; raises SettingsError for invalid names and requirements."""
        read_requirement = partial(parse_requirement, likely=likely)
        self.requirements = all_of(read_requirement, requirements)
        self.wanted: Sequence[str] = all_of(partial(parse_name, likely=likely), wanted)
        self.names = [*self.wanted, *(name for name, _, _ in self.requirements)]
        self.form, self.output, self.quiet = form, output, quiet
        self.averages, self.per_file, self.verbose = tuple(averages), per_file, verbose
        self.screen = {"by_class": by_class, "words": words}

    def check(self, systems: Sequence[Scores]) -> None:
        """Raise UnknownScoreError for all names that a system lacks, before anything is written."""
        from sedeval_soft.evaluation.scores import UnknownScoreError
        from sedeval_soft.report.score_table import expanded

        required = [name for name, _, _ in self.requirements]
        self.of_classes = self.screen["by_class"] or expanded(systems, self.wanted) != [*self.wanted]
        problems: dict[str, None] = {}
        for scores in systems:
            for name in [*expanded([scores], self.wanted), *required]:
                try:
                    scores.score(name)
                except UnknownScoreError as error:
                    problems[f"{scores.system}: {error}" if len(systems) > 1 else str(error)] = None
        if problems:
            raise UnknownScoreError("\n".join(problems))

    def show(self, systems: Sequence[Scores], board: Board | None = None) -> None:
        """Print or write the results, of a board if there is one, else of the one system; then warnings."""
        self._show(systems, board)
        # GitHub has annotations for warnings.
        quiet = self.quiet or self.form == "github"
        warn([text for scores in systems for text in scores.warnings], quiet=quiet)
        sign(systems, self.form, self.output, quiet=self.quiet)

    def _show(self, systems: Sequence[Scores], board: Board | None) -> None:
        # Of all scores, whichever are shown.
        verdicts = self._verdicts(systems) if self.form in SERVICE_FORMATS else []
        if self.averages and not self.wanted:
            from sedeval_soft.report.shown import with_averages

            systems = tuple(with_averages(scores, self.averages) for scores in systems)
            board = board and replace(board, systems=systems)
        if self.per_file:
            from sedeval_soft.report.per_file import render_files

            how: dict[str, Any] = {"every": self.verbose > 0, **self._terminal()}
            text = render_files(systems, self.form, names=self.wanted, averages=self.averages, **how)
            emit(text, self.output)
        elif self.form in SERVICE_FORMATS:
            self._show_for_service(systems, board, verdicts)
        elif self._has_table():
            from sedeval_soft.report.chosen import render_chosen

            of: dict[str, Any] = {"of_classes": self.of_classes, "averages": self.averages}
            emit(render_chosen(systems, self.wanted, self.form, board=board, **of), self.output)
        elif self.wanted:
            emit("".join(self._numbers(scores, named=board is not None) for scores in systems), self.output)
        else:
            from sedeval_soft.report import render

            how = {"board": board, **self._terminal()}
            how |= {"verbose": self.verbose, **self.screen}
            emit(render(systems, self.form, **how), self.output)

    def _has_table(self) -> bool:
        """Return whether chosen scores are a table, or a document, and not just numbers or a screen."""
        if self.wanted:
            return self.form != "text" or self.of_classes
        return self.of_classes and self.form in {"csv", "tsv", "markdown", "latex"}

    def _terminal(self) -> dict[str, Any]:
        """Return the color and width for drawing results, if a terminal shows them."""
        if self.form == "text" and to_standard_output(self.output) and sys.stdout.isatty():
            from shutil import get_terminal_size

            return {"color": True, "width": get_terminal_size().columns}
        return {}

    def judge(self, systems: Sequence[Scores]) -> int:
        """Print the requirements that are not met; return the exit code."""
        failures = [verdict for verdict in self._verdicts(systems) if not verdict.met]
        for failure in () if self.form == "github" else failures:  # which has annotations for them
            system = f"{failure.system}: " if len(systems) > 1 else ""
            remark(f"requirement not met: {visible(f'{system}{failure.requirement}: {failure.reason}')}")
        return 1 if failures else 0

    def _verdicts(self, systems: Sequence[Scores]) -> list[Verdict]:
        """Return the verdict on each requirement for the scores of each system."""
        from sedeval_soft.report.services import verdicts

        return verdicts(systems, self.requirements)

    def _numbers(self, scores: Scores, *, named: bool) -> str:
        """Return just the wanted numbers, `-` where undefined: one per line.

        If asked for, the interval of a number follows it, then its chance level and its position between this
        level and the best score.

        named: all numbers of a system on one line, after its name.
        """
        from sedeval_soft.report.table import exact

        columns = []
        for name in self.wanted:
            score = scores.score(name)
            ends = (score.low, score.high) if scores.settings.ci or scores.runs else ()
            level = scores.chance.levels.get(name) if scores.chance else None
            of_chance = (level.chance, level.normalised) if level else (None, None) if scores.chance else ()
            columns.append("\t".join(map(exact, (score.value, *ends, *of_chance))))
        rows = ["\t".join((visible(scores.system), *columns))] if named else columns
        return "".join(f"{row}\n" for row in rows)

    def _show_for_service(
        self, systems: Sequence[Scores], board: Board | None, verdicts: Sequence[Verdict]
    ) -> None:
        """Print or write forms for services: annotations and a summary, tests, or numbers by key."""
        from sedeval_soft.report import services

        if self.form == "junit":  # a suite for each system; a board adds nothing to these
            emit(services.junit(systems, verdicts, self.wanted), self.output)
            return
        if self.form == "codabench":
            lines = (self.output or "").endswith(".txt")
            text, undefined = services.codabench(systems[0], self.wanted, lines=lines)
            emit(text, self.output)
            warn([f"undefined, so left out: {', '.join(undefined)}"] * bool(undefined), quiet=self.quiet)
            return
        # The summary where it belongs, then the annotations: GitHub reads these from the log.
        warnings = [] if self.quiet else [text for scores in systems for text in scores.warnings]
        log = services.commands(verdicts, warnings)
        summary = services.job_summary(systems, board, verdicts, self.wanted)
        if not to_standard_output(self.output):
            emit(summary, self.output)
        elif self.output is None and os.environ.get(SUMMARY):
            from sedeval_soft.report.write import add_to

            add_to(os.environ[SUMMARY], f"{summary}\n")
        else:
            log += without_commands(summary)
        emit(log, exact=True)
