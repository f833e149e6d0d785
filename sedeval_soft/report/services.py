"""Results as services take them: annotations and a summary for GitHub Actions, JUnit XML, Codabench's scores.

GitHub: a requirement that is not met is an error, a warning a warning; the summary is Markdown. JUnit: each
system is a suite and each requirement a test. Elements are in the order of the schemas of Ant and Jenkins,
and no time is written: the same input gives the same bytes. Codabench and CodaLab: each key names a column of
the leaderboard. Names in the inputs are text in all of them, never commands.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from sedeval_soft.errors import SettingsError, visible
from sedeval_soft.evaluation.scores import Score, Scores
from sedeval_soft.report.forms import pages_of
from sedeval_soft.report.requirements import Verdict
from sedeval_soft.report.table import Table, exact, markdown

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

    from sedeval_soft.comparison.board import Board

LONGEST = 36
"""Characters that Codabench has room for in the key of a column."""

MOST_BYTES = 1_000_000
"""Bytes that a job summary may have."""


def _chosen(scores: Scores, wanted: Sequence[str], *, main: bool = True) -> list[Score]:
    """Return the requested scores; by default the main averages, or all."""
    if wanted:
        return [scores.score(name) for name in dict.fromkeys(wanted)]
    from sedeval_soft.report.page import AVERAGED

    averages = [s for s in scores.scores.values() if s.average is not None and s.group is None]
    measures, of = AVERAGED[0].measures, AVERAGED[0].averages
    return (main and [s for s in averages if s.measure in measures and s.average in of]) or averages


# GitHub Actions


def commands(verdicts: Sequence[Verdict], warnings: Sequence[str]) -> str:
    """Return a workflow command for each requirement that is not met, and for each warning."""
    from sedeval_soft.report.escape import github_message, github_property

    annotations = [
        ("error", f"{verdict.system}: requirement not met", f"{verdict.requirement}: {verdict.reason}")
        for verdict in dict.fromkeys(verdicts)
        if not verdict.met
    ]
    annotations += [("warning", "soft-sed-eval", warning) for warning in dict.fromkeys(warnings)]
    return "".join(
        f"::{kind} title={github_property(title)}::{github_message(message)}\n"
        for kind, title, message in annotations
    )


def job_summary(
    systems: Sequence[Scores],
    board: Board | None,
    verdicts: Sequence[Verdict],
    wanted: Sequence[str] = (),
) -> str:
    """Return the requirements and the scores in Markdown; with `wanted`, just these scores.

    GitHub drops a summary of more than 1 MiB: a summary with more than `MOST_BYTES` keeps only its first
    tables, and as many lines as fit.
    """
    from sedeval_soft.report.chosen import chosen_page

    first, *others = [chosen_page(systems, wanted, board)] if wanted else pages_of(systems, board)
    if verdicts:
        held = [*dict.fromkeys(verdicts)]
        missed = sum(not verdict.met for verdict in held)
        columns = [
            (None, "", ["met" if verdict.met else "NOT MET" for verdict in held]),
            (None, "system", [visible(verdict.system) for verdict in held]),
            (None, "requirement", [visible(verdict.requirement) for verdict in held]),
            (None, "value", [exact(verdict.value) for verdict in held]),
        ]
        title = f"{missed} of {len(held)} not met" if missed else "all met"
        table = Table.of(f"Requirements: {title}", columns, names=3)
        first = replace(first, tables=(table, *first.tables))
    pages = [first, *others]
    text = markdown(pages)
    if len(text.encode()) <= MOST_BYTES:
        return text
    note = "More tables are left out: a job summary holds 1 MiB."
    shortened = [replace(page, tables=page.tables[:2], notes=(*page.notes, note)) for page in pages]
    text = markdown(shortened).encode()[:MOST_BYTES].decode("utf-8", "ignore")
    return text[: text.rfind("\n") + 1]


# JUnit


def junit(systems: Sequence[Scores], verdicts: Sequence[Verdict], wanted: Sequence[str] = ()) -> str:
    """Return a document with a suite for each system, and in it a test for each requirement.

    verdicts: of all systems. wanted: names of scores; None for the main averages. The scores, like the
    settings, are properties of the suite: a score without a requirement cannot fail, and is not a test.
    """
    from xml.etree import ElementTree as ET

    root = ET.Element("testsuites", name="soft-sed-eval")
    for scores in systems:
        suite = _add(root, "testsuite", name=scores.system)
        settings = {f"settings.{name}": value for name, value in scores.settings.to_dict().items()}
        shown = {f"scores.{score.name}": exact(score.value) for score in _chosen(scores, wanted)}
        facts = {"version": scores.version, "signature": scores.signature, **settings, **shown}
        properties = _add(suite, "properties")
        for name, value in facts.items():
            fact = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            _add(properties, "property", name=name, value=fact)
        of_system = [verdict for verdict in dict.fromkeys(verdicts) if verdict.system == scores.system]
        for verdict in of_system:
            reason = f"{verdict.requirement}: {verdict.reason}"
            failure = {} if verdict.met else {"message": reason, "type": "requirement"}
            case = _add(suite, "testcase", classname=scores.system, name=verdict.requirement, time="0")
            _add(case, "system-out" if verdict.met else "failure", reason, **failure)
        if scores.warnings:
            _add(suite, "system-err").text = "\n".join(map(visible, scores.warnings))
    tags = {"tests": "testcase", "failures": "failure", "skipped": "skipped", "errors": "error"}
    for element in (*root, root):
        last = ("errors", "skipped") if element is root else ("skipped", "errors")
        for count in ("tests", "failures", *last):
            element.set(count, str(len([*element.iter(tags[count])])))
        element.set("time", "0")
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return f"{text.decode('utf-8')}\n"


def _add(parent: ET.Element, tag: str, text: str | None = None, **attributes: str) -> ET.Element:
    """Add an element; control characters, and all others that XML 1.0 lacks, become escapes."""
    from xml.etree import ElementTree as ET

    element = ET.SubElement(parent, tag, {name: visible(value) for name, value in attributes.items()})
    element.text = None if text is None else visible(text)
    return element


# Codabench and CodaLab


def codabench(scores: Scores, wanted: Sequence[str] = (), *, lines: bool = False) -> tuple[str, list[str]]:
    """Return the requested scores as JSON, by default all averages; and the undefined scores.

    Undefined scores are left out: the servers store numbers only, and a number in place of one would rank. No
    other key is added, not even for the signature: CodaLab cuts every line at its colon. lines: as `key:
    value` lines instead, of which every server reads the numbers as numbers. Raises SettingsError if two
    scores would have one key.
    """
    by_key: dict[str, Score] = {}
    for score in _chosen(scores, wanted, main=False):
        key = key_of(score.name)
        if key in by_key:
            both = f"{by_key[key].name} and {score.name} both have the key {key}"
            raise SettingsError(f"--format codabench: {both}; expected --score of one of them")
        by_key[key] = score
    numbers = {key: score.value for key, score in by_key.items() if score.value is not None}
    values = {key: value for key, value in numbers.items() if math.isfinite(value)}
    undefined = [score.name for key, score in by_key.items() if key not in values]
    if lines:
        # YAML takes 1e-07 for a text.
        return "".join(f"{key}: {Decimal(repr(value)):f}\n" for key, value in values.items()), undefined
    return json.dumps(values, indent=2) + "\n", undefined


def key_of(name: str) -> str:
    """Return the key of a score: its name in letters, digits and underscores.

    A key that is too long, or replaces signs ambiguously, ends with a mark made of the whole name.
    """
    key = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if len(key) <= LONGEST and re.fullmatch(r"[A-Za-z0-9_.@ \[\]-]*", name):
        return key
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{key[: LONGEST - 9].rstrip('_')}_{mark}"
