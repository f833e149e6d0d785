"""Results as they were asked for: tables, or just some numbers; and whether they meet what is required."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sedeval_soft.cli.options import SERVICE_FORMATS
from sedeval_soft.cli.output import emit, remark, to_standard_output

if TYPE_CHECKING:
    from sedeval_soft.cli.requirements import Requirement
    from sedeval_soft.core.board import Board
    from sedeval_soft.core.value import Scores
    from sedeval_soft.report.services import Verdict

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
        from sedeval_soft.cli.requirements import parse_requirements, parse_wanted

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
        from sedeval_soft.core.value import UnknownScoreError

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
        from sedeval_soft.cli.service import Results

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
        from sedeval_soft.cli.requirements import judged

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
