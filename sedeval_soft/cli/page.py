"""`--report`: a page for people beside the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sedeval_soft.cli.output import to_standard_output

if TYPE_CHECKING:
    from sedeval_soft.core.board import Board
    from sedeval_soft.core.intake import Limits
    from sedeval_soft.settings import Settings
    from sedeval_soft.tables.event_table import EventTable


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was asked for.

    path: where it is written. files: names of recordings that it shows over time. settings: what it shows
    the scores of, which may be more than is printed. given: durations, folds, scenes and limits.
    """

    path: str
    files: tuple[str, ...]
    settings: Settings
    given: Mapping[str, Any]

    @classmethod
    def of(cls, io: Mapping[str, Any], settings: Settings) -> Report | None:
        """Take what was given; None where no report was asked for. Raises SettingsError."""
        from sedeval_soft.errors import SettingsError

        path = io["report"]
        if path is None:
            if io["timelines"]:
                raise SettingsError("--timeline is of --report; expected --report FILE beside it")
            return None
        if to_standard_output(path):
            raise SettingsError(f"--report {path}: expected the path of a file")
        if io["runs"]:
            raise SettingsError("--report is of systems; --runs has the means of several")
        given = {name: io[name] for name in ("durations", "folds", "by", "limits")}
        return cls(path, io["timelines"], settings, given)

    def write(
        self, reference: EventTable, systems: Mapping[str, EventTable], board: Board | None = None
    ) -> None:
        """Score the systems for the page, and write it."""
        from sedeval_soft.api.report import write_report
        from sedeval_soft.page.render import Choices

        choices = Choices(files=self.files)
        write_report(
            reference, systems, self.path, board=board, choices=choices, settings=self.settings, **self.given
        )


def read_systems(
    reference: str, systems: Sequence[str], settings: Settings, limits: Limits
) -> tuple[EventTable, dict[str, EventTable]]:
    """Return the rows of a reference, and those of systems by their paths: each is read once."""
    from sedeval_soft.api import to_rows, with_points

    return to_rows(reference, "reference", settings, limits), {
        path: to_rows(with_points(path, limits), "system", settings, limits) for path in systems
    }
