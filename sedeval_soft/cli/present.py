"""Results as they were asked for: tables, just some numbers, or what services take; and what is required."""

from __future__ import annotations

import math
import operator
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sedeval_soft.cli.options import FORMATS, SERVICE_FORMATS
from sedeval_soft.cli.output import emit, remark, to_standard_output, warn
from sedeval_soft.cli.signed import sign
from sedeval_soft.errors import EvaluationError, SettingsError, visible, without_commands
from sedeval_soft.measures.registry import ScoreNameError, measure_of
from sedeval_soft.tables.columns import is_number

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.evaluation.scores import Scores
    from sedeval_soft.report.services import Verdict

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable in which GitHub Actions names the file that a step adds its summary to."""

T = TypeVar("T")


def all_of(parse: Callable[[str], T], texts: Sequence[str]) -> list[T]:
    """Return what a function makes of each text; raises SettingsError with all that are wrong."""
    parsed, problems = [], []
    for text in texts:
        try:
            parsed.append(parse(text))
        except EvaluationError as error:
            problems.append(str(error))
    if problems:
        raise SettingsError("\n".join(problems))
    return parsed


Likely = Callable[[], Sequence[str]]
"""Returns the names of the scores that are computed: those that a part of a name may mean."""


def parse_name(text: str, likely: Likely = tuple) -> str:
    """Return a name of `--score`; raises ScoreNameError where no measure has it, with the likely ones."""
    name = text.strip()
    try:
        measure_of(name)
    except ScoreNameError:
        measure_of(name, likely())
    return name


_COMPARE = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}
# The name is greedy: a class name may hold comparison signs too.
_FORM = r"(?P<name>.*[^<>=\s])\s*(?P<sign>>=|<=|==|>|<)\s*(?P<number>[^<>=\s]+)\s*"

_ROUNDING = 1e-12
"""Shares by which sums of floats miss the decimal that they stand for."""


def parse_requirement(text: str, likely: Likely = tuple) -> tuple[str, str, float]:
    """Read `NAME>=NUMBER`: a name, a sign and a number; raises SettingsError for other forms."""
    match = re.fullmatch(_FORM, text, re.DOTALL)
    if match is None or not is_number(match["number"]) or not math.isfinite(float(match["number"])):
        expected = "expected 'NAME>=NUMBER' (or >, <=, <, ==) in quotes, as > alone means a file to a shell"
        raise SettingsError(f"--require {text!r} is not a requirement; {expected}")
    return parse_name(match["name"], likely), match["sign"], float(match["number"])


def _meets(value: float | None, sign: str, number: float) -> bool:
    """Return whether a value compares so with a number; an undefined one does not.

    A value that differs from the number by rounding alone is equal to it: a mean of 0.7, 0.7 and 0.7 may be
    computed as 0.6999999999999998, and is at least 0.7.
    """
    if value is None:
        return False
    same = math.isclose(value, number, rel_tol=_ROUNDING)
    return bool(_COMPARE[sign](number if same else value, number))


class Presentation:
    """How results are shown, and what is required of them, as the options say.

    wanted: names of scores, if just their numbers are printed. names: of all scores that must be there.
    """

    def __init__(self, given: Mapping[str, Any], likely: Likely = tuple) -> None:
        """Read the options; raises SettingsError for names and requirements that cannot be."""
        read_requirement, read_name = (
            partial(parse_requirement, likely=likely),
            partial(parse_name, likely=likely),
        )
        self.requirements = given["requirements"] and all_of(read_requirement, given["requirements"])
        self.wanted: Sequence[str] = given["wanted"] and all_of(read_name, given["wanted"])
        self.names = [*self.wanted, *(name for name, _, _ in self.requirements)]
        self.form: str = given["form"]
        self.averages: tuple[str, ...] = given["averages"]
        if self.averages and self.wanted:
            expected = "--score names its own averages; expected one of the two"
            raise SettingsError(f"--average {self.averages[0]} cannot go with --score: {expected}")
        self.output: str | None = given["output"]
        self.quiet: bool = given["quiet"]
        self.per_file: bool = given["per_file"]
        if self.per_file:
            self._check_files(given)
        if self.form == "junit" and not self.requirements:
            raise SettingsError(
                "--format junit has a test for each requirement; expected --require 'NAME>=NUMBER', too"
            )
        self.raw_names: bool = given["raw_names"]
        self.verbose: int = given["verbose"]
        self.screen = {name: given[name] for name in ("by_class", "words")}

    def _check_files(self, given: Mapping[str, Any]) -> None:
        """Raise SettingsError for what scores of single files do not have."""
        if self.form in SERVICE_FORMATS:
            expected = f"expected one of {', '.join(FORMATS)}"
            raise SettingsError(f"--format {self.form} has no place for scores of single files; {expected}")
        for name, reason in (
            ("runs", "--runs has the means of several trainings; expected one or more SYSTEM without it"),
            ("ci", "--ci is of all files together; scores of single files have no intervals"),
            ("chance", "--chance is of all files together; expected one of the two"),
            ("worst", "--worst is beside the scores of all files; --per-file has the worst files first"),
        ):
            if given.get(name):
                raise SettingsError(reason)

    def check(self, systems: Sequence[Scores]) -> None:
        """Raise UnknownScoreError for all names that a system lacks, before anything is written."""
        from sedeval_soft.evaluation.scores import UnknownScoreError
        from sedeval_soft.report.score_table import expanded

        problems: dict[str, None] = {}
        required = [name for name, _, _ in self.requirements]
        self.of_classes = self.screen["by_class"] or expanded(systems, self.wanted) != [*self.wanted]
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
        sign(systems, self.form, self.output, quiet=self.quiet)
        # GitHub has annotations for warnings.
        quiet = self.quiet or self.form == "github"
        warn([text for scores in systems for text in scores.warnings], quiet=quiet)

    def _show(self, systems: Sequence[Scores], board: Board | None) -> None:
        # Of all scores, whichever are shown.
        verdicts = self._verdicts(systems) if self.form in SERVICE_FORMATS else []
        if self.averages and not self.wanted:
            from sedeval_soft.report.shown import with_averages

            systems = tuple(with_averages(scores, self.averages) for scores in systems)
            board = board and replace(board, systems=systems)
        if self.per_file:
            from sedeval_soft.report.per_file import render_files

            how: dict[str, Any] = {"raw_names": self.raw_names, "every": self.verbose > 0, **self._terminal()}
            text = render_files(systems, self.form, names=self.wanted, averages=self.averages, **how)
            emit(text, self.output, exact=self.raw_names)
        elif self.form in SERVICE_FORMATS:
            self._show_for_service(systems, board, verdicts)
        elif self._has_table():
            from sedeval_soft.report.score_table import render_chosen

            how = {"of_classes": self.of_classes, "averages": self.averages, "raw_names": self.raw_names}
            text = render_chosen(systems, self.wanted, self.form, board=board, **how)
            emit(text, self.output, exact=self.raw_names)
        elif self.wanted:
            emit("".join(self._numbers(scores, named=board is not None) for scores in systems), self.output)
        else:
            from sedeval_soft.report import render

            how = {"board": board, "raw_names": self.raw_names, **self._terminal()}
            how |= {"verbose": self.verbose, **self.screen}
            emit(render(systems, self.form, **how), self.output, exact=self.raw_names)

    def _has_table(self) -> bool:
        """Return whether chosen scores are a table, or a document, and not just numbers or a screen."""
        if self.wanted:
            return self.form != "text" or self.of_classes
        return self.of_classes and self.form in {"csv", "tsv", "markdown", "latex"}

    def _terminal(self) -> dict[str, Any]:
        """Return how results are drawn for the terminal, if that is where they go."""
        if self.form == "text" and to_standard_output(self.output) and sys.stdout.isatty():
            from shutil import get_terminal_size

            return {"color": True, "width": get_terminal_size().columns}
        return {}

    def add(self, table: str) -> None:
        """Print a table below the results; on standard error where standard output is for a machine."""
        if self.wanted or self.form != "text" or not to_standard_output(self.output):
            remark(table.removesuffix("\n"))
        else:
            emit(table)

    def judge(self, systems: Sequence[Scores]) -> int:
        """Say which requirements are not met; return the exit code."""
        failures = [verdict for verdict in self._verdicts(systems) if not verdict.met]
        for failure in () if self.form == "github" else failures:  # which has annotations for them
            system = f"{failure.system}: " if len(systems) > 1 else ""
            remark(f"requirement not met: {visible(f'{system}{failure.requirement}: {failure.reason}')}")
        return 1 if failures else 0

    def _verdicts(self, systems: Sequence[Scores]) -> list[Verdict]:
        """Return each requirement held against the scores of each system."""
        from sedeval_soft.report.services import Verdict

        return [
            Verdict(
                scores.system, f"{name}{sign}{number!r}", scores[name], _meets(scores[name], sign, number)
            )
            for scores in systems
            for name, sign, number in self.requirements
        ]

    def _numbers(self, scores: Scores, *, named: bool) -> str:
        """Return just the wanted numbers, `-` where undefined: one per line.

        Behind it, where asked for, its interval; its chance level, and where it is between that and the best.
        named: all of a system on one line, behind its name.
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
        """Print or write what services take: annotations and a summary, tests, or numbers by their keys."""
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
