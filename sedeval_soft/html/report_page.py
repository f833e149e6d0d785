"""The page of a report: its data gathered, its template filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sedeval_soft.comparison.board import board_document
from sedeval_soft.comparison.compare import Board
from sedeval_soft.core.scores import Score, Scores, document
from sedeval_soft.errors import visible
from sedeval_soft.html.arrays import Packer, packed_bytes, packed_json
from sedeval_soft.html.curves import curves
from sedeval_soft.html.explorer import explorer
from sedeval_soft.html.inputs import Material
from sedeval_soft.html.timeline import timelines
from sedeval_soft.report.board import board_page
from sedeval_soft.report.page import page_of
from sedeval_soft.report.table import Table, number, short

# What stands first on the page: scores by basis and reading, and why the readings differ.


BASES = ("segment", "event", "intersection")
READINGS = ("hard", "optimal", "tuned", "soft")


@dataclass(frozen=True, slots=True)
class Shown:
    """A score in the matrix: what it is called, its name, its value and interval as text."""

    label: str
    name: str
    value: str
    interval: str


@dataclass(frozen=True, slots=True)
class Row:
    """A basis in the matrix; cells: the scores of each reading, none where it was not asked for."""

    basis: str
    cells: tuple[tuple[Shown, ...], ...]


_MEASURES = (("macro F1", "f1.macro"), ("micro F1", "f1.micro"), ("micro ER", "error_rate.micro"))


def matrix(scores: Scores) -> tuple[Row, ...]:
    """Return the rows of bases that have scores, a cell for each of `READINGS`."""
    rows = []
    for basis in BASES:
        cells = tuple(_cell(scores, f"{basis}.{reading}") for reading in READINGS)
        if any(cells):
            rows.append(Row(basis, cells))
    return tuple(rows)


def _cell(scores: Scores, family: str) -> tuple[Shown, ...]:
    found = []
    for label, measure in _MEASURES:
        name = f"{family}.{measure}"
        if name in scores:
            score = scores.score(name)
            found.append(Shown(label, name, number(score.value), _interval(score)))
    return tuple(found)


def _interval(score: Score) -> str:
    if score.low is None or score.high is None:
        return ""
    return f"{number(score.low)} to {number(score.high)}"


def explained(scores: Scores) -> str:
    """Return in a few sentences what differs between the readings, and why."""
    settings = scores.settings
    ours, theirs = short(settings.reference_cut), short(settings.threshold)
    cut = f"both sides at {ours}" if ours == theirs else f"the reference at {ours}, the system at {theirs}"
    said = [f"The hard reading cuts {cut}"]
    said.append("optimal cuts each class where its F is best on these very files, which flatters")
    if settings.tunes:
        said.append("tuned cuts where it was best on other files, or as was said")
    said.append("soft compares the values of both sides at all levels at once, and cuts nothing")
    return "; ".join(said) + "." + _here(scores)


def _here(scores: Scores) -> str:
    hard, soft = (scores.scores.get(f"segment.{reading}.f1.micro") for reading in ("hard", "soft"))
    if hard is None or soft is None or hard.value is None or soft.value is None:
        return ""
    numbers = f" Here micro F1 of segments is {number(soft.value)} soft and {number(hard.value)} hard: "
    if soft.value > hard.value:
        return (
            f"{numbers}values near the annotators', but on the other side of the threshold, are errors to "
            "the hard reading and mostly right to the soft one."
        )
    if soft.value < hard.value:
        return (
            f"{numbers}values on the right side of the threshold, but far from the annotators', are right to "
            "the hard reading and partly errors to the soft one."
        )
    return f"{numbers}as they are where all values are 0 or 1."


# The page itself: its data gathered, its template filled.


_ASSETS = Path(__file__).parent / "assets"

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


@dataclass(frozen=True, slots=True)
class _System:
    """What the template says of a system."""

    scores: Scores
    matrix: tuple[Any, ...]
    explained: str
    lines: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    signatures: tuple[str, ...]
    tables: tuple[Table, ...]


def render(materials: Sequence[Material], board: Board | None, choices: Choices) -> str:
    """Return the page of some systems, at least one; board: they as they were ranked."""
    pack = Packer()
    results = document([of.scores for of in materials]) if board is None else board_document(board)
    data = {
        "systems": [_data(material, pack, choices, len(materials)) for material in materials],
        "document": results,
    }
    first = materials[0].scores
    values = {
        "title": visible(choices.title or _title(materials)),
        "first": first,
        "systems": [_said(material) for material in materials],
        "readings": READINGS,
        "board": None if board is None else board_page(board),
        "warnings": list(dict.fromkeys(text for of in materials for text in of.scores.warnings)),
        "data": packed_json(data),
        "packed": pack.text(),
        "home": choices.home,
        "plotly_address": choices.plotly,
        "plotly": None if choices.plotly else packed_bytes(plotly_script()),
    }
    return fill("page.html.j2", values, _STYLES, _SCRIPTS)


def fill(template: str, values: dict[str, Any], styles: Sequence[str], scripts: Sequence[str]) -> str:
    """Return a template filled with values, of which every text is escaped; styles, scripts: of ours."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_ASSETS),
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


def _title(materials: Sequence[Material]) -> str:
    names = [material.scores.system for material in materials]
    return names[0] if len(names) == 1 else f"{len(names)} systems"


def _data(material: Material, pack: Packer, choices: Choices, n_systems: int) -> dict[str, Any]:
    return {
        "name": material.scores.system,
        "explorer": explorer(material, pack, n_systems),
        "curves": curves(material.curves, pack),
        "timelines": timelines(material, pack, choices.timelines, choices.files, n_systems),
    }


def _said(material: Material) -> _System:
    scores = material.scores
    page = page_of(scores)
    size = sum(len(table.rows) * len(table.head) for table in page.tables)
    tables = page.tables if size <= _MOST_CELLS else ()
    return _System(
        scores, matrix(scores), explained(scores), page.lines, page.notes, material.signatures, tables
    )


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
