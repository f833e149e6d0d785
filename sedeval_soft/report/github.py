"""Results for GitHub Actions: annotations, which it reads from the log, and a job summary in Markdown.

A requirement that is not met is an error, a warning a warning. What strangers named stands in either
as text only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sedeval_soft.comparison.board import Board
from sedeval_soft.core.counted import be
from sedeval_soft.core.value import Scores
from sedeval_soft.core.visible import visible
from sedeval_soft.report.board import board_page
from sedeval_soft.report.escape import github_message, github_property
from sedeval_soft.report.markdown import markdown
from sedeval_soft.report.page import Page, page_of
from sedeval_soft.report.table import Table, exact, number
from sedeval_soft.report.verdict import Verdict, told, with_ends

MOST = 1_000_000
"""Bytes up to which a summary is complete: GitHub drops one of more than 1 MiB."""


def commands(verdicts: Sequence[Verdict], warnings: Sequence[str]) -> str:
    """Return a workflow command for each requirement that is not met, and for each warning."""
    lines = [
        _command("error", f"{verdict.system}: requirement not met", f"{verdict.requirement}: {verdict.found}")
        for verdict in dict.fromkeys(verdicts)
        if not verdict.met
    ]
    lines += [_command("warning", "soft-sed-eval", warning) for warning in dict.fromkeys(warnings)]
    return "".join(f"{line}\n" for line in lines)


def job_summary(
    systems: Sequence[Scores],
    board: Board | None,
    verdicts: Sequence[Verdict],
    wanted: Sequence[str] = (),
    most: int = MOST,
) -> str:
    """Return the requirements and the scores in Markdown; with `wanted`, just these scores.

    most: bytes that it may have. Tables that it has no room for are left out, the last ones first.
    """
    pages = [board_page(board)] if board is not None else [page_of(scores) for scores in systems]
    if wanted:
        pages[0] = replace(pages[0], tables=(_wanted(systems, wanted),), notes=())
    pages = [_judged(pages[0], verdicts), *pages[1:]]
    for kept in (max(len(page.tables) for page in pages), 8, 4, 2, 1):
        text = markdown([_shortened(page, kept) for page in pages])
        if len(text.encode()) <= most:
            return text
    cut = text.encode()[:most].decode("utf-8", "ignore")
    return cut[: cut.rfind("\n") + 1]


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={github_property(title)}::{github_message(message)}"


def _judged(page: Page, verdicts: Sequence[Verdict]) -> Page:
    """Return a page with the requirements before its other tables."""
    if not verdicts:
        return page
    rows = tuple(
        ("met" if v.met else "NOT MET", visible(v.system), visible(v.requirement), exact(v.value))
        for v in dict.fromkeys(verdicts)
    )
    missed = sum(row[0] != "met" for row in rows)
    title = f"Requirements: {missed} of {len(rows)} not met" if missed else "Requirements: all met"
    table = Table(title, ("", "system", "requirement", "value"), rows, names=3)
    return replace(page, tables=(table, *page.tables))


def _wanted(systems: Sequence[Scores], wanted: Sequence[str]) -> Table:
    rows = tuple(
        (visible(scores.system), visible(score.name), with_ends(score))
        for scores in systems
        for score in told(scores, wanted)
    )
    return Table("Scores", ("system", "score", "value"), rows, names=2)


def _shortened(page: Page, kept: int) -> Page:
    left = len(page.tables) - kept
    if left <= 0:
        return page
    more = f"{number(left)} more {'table' if left == 1 else 'tables'}"
    said = f"{more} {be(left)} left out: a job summary holds 1 MiB."
    return replace(page, tables=page.tables[:kept], notes=(*page.notes, said))
