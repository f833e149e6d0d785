"""The page of a report: its data gathered, its template filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sedeval_soft.comparison.board import Board, board_document
from sedeval_soft.errors import visible
from sedeval_soft.evaluation.scores import Scores, document
from sedeval_soft.html.arrays import Packer, packed_bytes, packed_json
from sedeval_soft.html.page_data import ReportInput, curves, explorer
from sedeval_soft.html.timeline import timelines
from sedeval_soft.report.board import board_page
from sedeval_soft.report.page import page_of
from sedeval_soft.report.table import number, short

BASES = ("segment", "event", "intersection")
READINGS = ("hard", "optimal", "tuned", "soft")


_MEASURES = (("macro F1", "f1.macro"), ("micro F1", "f1.micro"), ("micro ER", "error_rate.micro"))


def _matrix(scores: Scores) -> list[dict[str, Any]]:
    """Return the rows of bases that have scores, a cell for each of `READINGS`, with some scores or none."""
    rows = []
    for basis in BASES:
        cells = [_cell(scores, f"{basis}.{reading}") for reading in READINGS]
        if any(cells):
            rows.append({"basis": basis, "cells": cells})
    return rows


def _cell(scores: Scores, family: str) -> list[dict[str, str]]:
    """Return scores as text: what each is called, its name, its value and its interval."""
    named = {f"{family}.{measure}": label for label, measure in _MEASURES}
    cell = []
    for name, label in named.items():
        if name in scores:
            score = scores.score(name)
            sure = score.low is not None and score.high is not None
            interval = f"{number(score.low)} to {number(score.high)}" if sure else ""
            cell.append({"label": label, "name": name, "value": number(score.value), "interval": interval})
    return cell


def _explained(scores: Scores) -> str:
    """Return in a few sentences what differs between the readings, and why."""
    settings = scores.settings
    ours, theirs = short(settings.reference_cut), short(settings.threshold)
    cut = f"both sides at {ours}" if ours == theirs else f"the reference at {ours}, the system at {theirs}"
    parts = [
        f"The hard reading cuts {cut}",
        "optimal cuts each class where its F is best on these very files, which flatters",
        *(["tuned cuts where it was best on other files, or as was said"] if settings.tunes else []),
        "soft compares the values of both sides at all levels at once, and cuts nothing",
    ]
    text = f"{'; '.join(parts)}."
    hard, soft = (scores.scores.get(f"segment.{reading}.f1.micro") for reading in ("hard", "soft"))
    if hard is None or soft is None or hard.value is None or soft.value is None:
        return text
    text += f" Here micro F1 of segments is {number(soft.value)} soft and {number(hard.value)} hard: "
    if soft.value > hard.value:
        text += (
            "values near the annotators', but on the other side of the threshold, are errors to "
            "the hard reading and mostly right to the soft one."
        )
    elif soft.value < hard.value:
        text += (
            "values on the right side of the threshold, but far from the annotators', are right to "
            "the hard reading and partly errors to the soft one."
        )
    else:
        text += "as they are where all values are 0 or 1."
    return text


ASSETS = Path(__file__).parent / "assets"

_STYLES = ("colours.css", "page.css", "timeline.css")
_SCRIPTS = ("page.js", "explorer.js", "sections.js", "curves.js", "maps.js", "timeline.js")
"""What runs in the page, in this order; `page.js` defines what the others use."""

_MOST_CELLS = 30_000
"""Cells up to which all tables of a system stand in the page as text; the page's list has all scores."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What is chosen of a page.

    title: its title; None for one that names the systems. timelines: how many files are shown over time for
    each of two reasons: costing most, and drawn at random. files: names of more. plotly: the address of
    plotly.js, None to have it inside. home: the address and the title of a page that this one is of.
    """

    title: str | None = None
    timelines: int = 12
    files: tuple[str, ...] = ()
    plotly: str | None = None
    home: tuple[str, str] | None = None


def render(inputs: Sequence[ReportInput], board: Board | None, choices: Choices) -> str:
    """Return the page of some systems, at least one; board: they as they were ranked."""
    pack = Packer()
    count = len(inputs)
    data = {
        "systems": [
            {
                "name": each.scores.system,
                "explorer": explorer(each, pack, count),
                "curves": curves(each.curves, pack),
                "timelines": timelines(each, pack, choices.timelines, choices.files, count),
            }
            for each in inputs
        ],
        "document": board_document(board) if board else document([each.scores for each in inputs]),
    }
    first = inputs[0].scores
    title = choices.title or (first.system if count == 1 else f"{count} systems")
    values = {
        "title": visible(title),
        "first": first,
        "systems": [_sections(each) for each in inputs],
        "readings": READINGS,
        "board": None if board is None else board_page(board),
        "warnings": list(dict.fromkeys(text for each in inputs for text in each.scores.warnings)),
        "data": packed_json(data),
        "packed": pack.text(),
        "home": choices.home,
        "plotly_address": choices.plotly,
        "plotly": None if choices.plotly else packed_bytes(plotly_script()),
    }
    return fill("page.html.j2", values, _STYLES, _SCRIPTS)


def _sections(each: ReportInput) -> dict[str, Any]:
    """Return what the template says of a system."""
    page = page_of(each.scores)
    size = sum(len(table.rows) * len(table.head) for table in page.tables)
    return {
        "scores": each.scores,
        "matrix": _matrix(each.scores),
        "explained": _explained(each.scores),
        "lines": page.lines,
        "notes": page.notes,
        "signatures": each.signatures,
        "tables": page.tables if size <= _MOST_CELLS else (),
    }


def fill(template: str, values: dict[str, Any], styles: Sequence[str], scripts: Sequence[str]) -> str:
    """Return a template filled with values, of which every text is escaped; styles, scripts: of ours."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    inserted = {
        # These are files of the package.
        "style": Markup("".join(map(_asset, styles))),  # noqa: S704
        "scripts": [Markup(_asset(name)) for name in scripts],  # noqa: S704
    }
    return environment.get_template(template).render(values | inserted)


def plotly_script() -> bytes:
    """Return plotly.js, which draws the figures of a page."""
    from importlib.resources import files

    return (files("plotly") / "package_data" / "plotly.min.js").read_bytes()


def plotly_name() -> str:
    """Return a file name for plotly.js that tells its version."""
    return f"plotly-{version('plotly')}.min.js"


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
