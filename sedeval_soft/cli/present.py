"""Results as they were asked for, and what is required of them."""

from __future__ import annotations

import math
import operator
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from sedeval_soft.cli.options import SERVICE_FORMATS
from sedeval_soft.cli.output import emit, remark, to_standard_output
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import Settings
from sedeval_soft.tables.columns import is_number

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.evaluation.scores import Scores
    from sedeval_soft.report.services import Verdict

# `--require 'NAME>=NUMBER'` and `--score NAME`: names are checked before anything is computed.


T = TypeVar("T")

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
# The name is greedy: a class name may hold comparison signs too.
_FORM = re.compile(r"(?P<name>.*[^<>=\s])\s*(?P<sign>>=|<=|==|>|<)\s*(?P<number>[^<>=\s]+)\s*", re.DOTALL)


_ROUNDING = 1e-12
"""Shares by which sums of floats miss the decimal that they stand for."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A score that must compare so with a number.

    A score that differs from the number by rounding alone is equal to it: a mean of 0.7, 0.7 and 0.7 may be
    computed as 0.6999999999999998, and is at least 0.7.
    """

    name: str
    sign: str
    number: float

    def met_by(self, value: float | None) -> bool:
        """Return whether a value meets it; an undefined one does not."""
        if value is None:
            return False
        same = math.isclose(value, self.number, rel_tol=_ROUNDING)
        return _COMPARE[self.sign](self.number if same else value, self.number)

    def __str__(self) -> str:
        """Return the requirement as it could be given again."""
        return f"{self.name}{self.sign}{self.number!r}"


def parse_requirement(text: str) -> Requirement:
    """Read one requirement; raises SettingsError that says which form is expected."""
    match = _FORM.fullmatch(text)
    number = _number(match["number"]) if match else None
    if match is None or number is None:
        raise SettingsError(
            f"--require {text!r} is not a requirement; expected NAME>=NUMBER (or >, <=, <, ==)"
        )
    measure_of(match["name"].strip())
    return Requirement(match["name"].strip(), match["sign"], number)


def _number(text: str) -> float | None:
    number = float(text) if is_number(text) else math.inf
    return number if math.isfinite(number) else None


def parse_requirements(texts: Sequence[str]) -> list[Requirement]:
    """Read all requirements; raises SettingsError with all that are wrong."""
    return all_of(parse_requirement, texts)


def parse_wanted(names: Sequence[str]) -> list[str]:
    """Check all names of `--score`; raises SettingsError with all that no measure has."""

    def check(text: str) -> str:
        name = text.strip()
        measure_of(name)
        return name

    return all_of(check, names)


def check_part(name: ScoreName, settings: Settings) -> None:
    """Raise SettingsError for a score of a group or a scene that the settings, or the group, do not have."""
    part = name.group
    if part is None or part in settings.scenes:
        return
    if part not in settings.groups:
        known = [*settings.groups, *settings.scenes]
        hint = did_you_mean(part, known) or (f"; known: {', '.join(known)}" if known else "")
        place = "" if known else ", and no settings file (--config) has groups or scenes"
        raise SettingsError(f"{name}: no group or scene is named {part!r}{hint}{place}")
    if name.class_name is not None:
        whole = replace(name, group=None)
        raise SettingsError(f"{name}: a group of classes has averages only; of the class there is {whole}")


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


def judged(scores: Scores, requirements: Sequence[Requirement]) -> list[Verdict]:
    """Return each requirement held against the scores of a system."""
    from sedeval_soft.report.services import Verdict

    return [
        Verdict(scores.system, str(requirement), value, requirement.met_by(value))
        for requirement in requirements
        for value in (scores[requirement.name],)
    ]


# Results as services take them that run or rank submissions: GitHub Actions, JUnit's readers, Codabench.


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


# Results as they were asked for: tables, or just some numbers; and whether they meet what is required.


OPTIONS = ("form", "averages", "output", "quiet", "raw_names")


@dataclass(frozen=True, slots=True)
class Presentation:
    """How results are shown, and what is required of them.

    wanted: names of scores, if just their numbers are printed. requirements: what every system must meet.
    form, averages, output, quiet, raw_names: as the options of these names.
    """

    wanted: Sequence[str]
    requirements: Sequence[Requirement]
    form: str
    averages: tuple[str, ...]
    output: str | None
    quiet: bool
    raw_names: bool

    @classmethod
    def of(cls, given: dict[str, Any]) -> Presentation:
        """Take the options of presentation from what was given, leaving the others there."""
        requirements = parse_requirements(given.pop("requirements"))
        wanted = parse_wanted(given.pop("wanted"))
        return cls(wanted, requirements, **{name: given.pop(name) for name in OPTIONS})

    @property
    def asked(self) -> list[str]:
        """Return the names of all scores that must be there."""
        return [*self.wanted, *(requirement.name for requirement in self.requirements)]

    @property
    def printed(self) -> bool:
        """Whether results go to standard output."""
        return to_standard_output(self.output)

    def warn(self, systems: Sequence[Scores]) -> None:
        """Print the warnings of systems on standard error, each once."""
        if self.quiet or self.form == "github":  # which has annotations for them
            return
        for warning in dict.fromkeys(text for scores in systems for text in scores.warnings):
            remark(f"warning: {warning}")

    def check(self, systems: Sequence[Scores]) -> None:
        """Raise UnknownScoreError for all asked names that a system lacks: before anything is written."""
        from sedeval_soft.evaluation.scores import UnknownScoreError

        problems: dict[str, None] = {}
        for scores in systems:
            for name in self.asked:
                try:
                    scores.score(name)
                except UnknownScoreError as error:
                    problems[f"{scores.system}: {error}" if len(systems) > 1 else str(error)] = None
        if problems:
            raise UnknownScoreError("\n".join(problems))

    def show(self, systems: Sequence[Scores], board: Board | None = None) -> None:
        """Print or write the results: of a board if there is one, else of the one system."""
        if self.form in SERVICE_FORMATS:
            self._show_service(systems, board)
            return
        if self.wanted:
            emit("".join(self._numbers(scores, named=board is not None) for scores in systems), self.output)
            return
        from sedeval_soft.report import render, render_board

        how: dict[str, Any] = {"averages": self.averages, "raw_names": self.raw_names}
        if self.form == "text" and self.printed and sys.stdout.isatty():
            from shutil import get_terminal_size

            how |= {"color": True, "width": get_terminal_size().columns}
        text = render(systems, self.form, **how) if board is None else render_board(board, self.form, **how)
        emit(text, self.output)

    def _show_service(self, systems: Sequence[Scores], board: Board | None) -> None:

        verdicts = self._verdicts(systems)
        if self.averages and not self.wanted:
            from sedeval_soft.report.render import with_averages

            systems = tuple(with_averages(scores, self.averages) for scores in systems)
            board = None if board is None else replace(board, systems=systems)
        Results(systems, board, verdicts, self.wanted, self.output, self.quiet).show(self.form)

    def judge(self, systems: Sequence[Scores]) -> int:
        """Say which requirements are not met; return the exit code."""
        failures = [verdict for verdict in self._verdicts(systems) if not verdict.met]
        if self.form == "github":  # which has annotations for them
            return 1 if failures else 0
        from sedeval_soft.errors import visible

        for failure in failures:
            of = f"{failure.system}: " if len(systems) > 1 else ""
            remark(f"requirement not met: {visible(f'{of}{failure.requirement}: {failure.reason}')}")
        return 1 if failures else 0

    def _verdicts(self, systems: Sequence[Scores]) -> list[Verdict]:

        return [verdict for scores in systems for verdict in judged(scores, self.requirements)]

    def _numbers(self, scores: Scores, *, named: bool) -> str:
        """Return just the wanted numbers, `-` where undefined: one per line.

        Behind it, where asked for, its interval; its chance level, and where it is between that and the best.
        named: all of a system on one line, behind its name.
        """
        from sedeval_soft.errors import visible
        from sedeval_soft.report.table import exact

        columns = []
        for name in self.wanted:
            score = scores.score(name)
            ends = (score.low, score.high) if scores.settings.ci or scores.runs else ()
            level = scores.chance.levels.get(name) if scores.chance else None
            of_chance = (level.chance, level.normalised) if level else (None, None) if scores.chance else ()
            columns.append("\t".join(map(exact, (score.value, *ends, *of_chance))))
        if named:
            return "\t".join((visible(scores.system), *columns)) + "\n"
        return "".join(f"{column}\n" for column in columns)
