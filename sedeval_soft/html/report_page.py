"""The page of a report: its data gathered, its template filled."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from sedeval_soft.comparison.board import Board, board_document
from sedeval_soft.errors import visible
from sedeval_soft.evaluation.scores import document
from sedeval_soft.html.page_data import Packer, ReportInput, curves, explorer, packed_bytes, packed_json
from sedeval_soft.html.timeline import timelines
from sedeval_soft.report.board import board_page, p_value
from sedeval_soft.report.outcomes import stylesheet
from sedeval_soft.report.page import page_of
from sedeval_soft.report.table import exact, number, short, signed

ASSETS = Path(__file__).parent / "assets"

_BASES = ("segment", "event", "intersection")
_READINGS = ("hard", "optimal", "tuned", "soft")
_MEASURES = {"f1.macro": "macro F1", "f1.micro": "micro F1", "error_rate.micro": "micro ER"}
"""What stands at the top of a page: scores of these bases, readings and measures, with their labels."""

_STYLES = ("colours.css", "page.css", "timeline.css")
_SCRIPTS = ("page.js", "explorer.js", "sections.js", "curves.js", "maps.js", "timeline.js")
"""What runs in the page, in this order; `page.js` defines what the others use."""

_CLOSED = "base-uri 'none'; form-action 'none'"
_IMAGES = "; img-src data: blob:"

_MOST_CELLS = 30_000
"""Cells up to which all tables of a system stand in the page as text; the page's list has all scores."""

_FILTERS = {
    **{each.__name__: each for each in (visible, number, signed, short, p_value)},
    # A number that a script sorts by, empty where it is undefined.
    "sortable": lambda value: text if (text := exact(value)) != "-" else "",
}


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
    pack, count, first = Packer(), len(inputs), inputs[0].scores
    data = {
        "systems": [
            {
                "name": each.scores.system,
                "explorer": explorer(each, pack, count),
                "curves": curves(each, pack),
                "timelines": timelines(each, pack, choices.timelines, choices.files, count),
            }
            for each in inputs
        ],
        "document": board_document(board) if board else document([each.scores for each in inputs]),
    }
    systems = []
    for each in inputs:
        page = page_of(each.scores)
        present = {score.basis for score in each.scores.scores.values()}
        cells = sum(len(table.rows) * len(table.head) for table in page.tables)
        systems.append(
            {
                "scores": each.scores,
                "page": page,
                "bases": [basis for basis in _BASES if basis in present],
                "signatures": each.signatures,
                "whole": page.tables and cells <= _MOST_CELLS,
            }
        )
    values = {
        "title": visible(choices.title or (first.system if count == 1 else f"{count} systems")),
        "first": first,
        "systems": systems,
        "readings": _READINGS,
        "measures": _MEASURES,
        "board": None if board is None else board_page(board),
        "warnings": list(dict.fromkeys(text for each in inputs for text in each.scores.warnings)),
        "data": packed_json(data),
        "packed": pack.text(),
        "home": choices.home,
        "plotly_address": choices.plotly,
        "plotly": None if choices.plotly else packed_bytes(plotly_script()),
    }
    # plotly.js draws into images of its own.
    more = f"'self'{_IMAGES}" if choices.plotly else f"{_hash(plotly_script())}{_IMAGES}"
    return fill("page.html.j2", values, _STYLES, _SCRIPTS, more)


def fill(
    template: str, values: dict[str, Any], styles: Sequence[str], scripts: Sequence[str], more: str = ""
) -> str:
    """Return a template filled with values, of which every text is escaped; styles, scripts: of ours.

    A browser runs nothing but these scripts, whatever else is in the page, and asks nobody for anything.
    more: what else it may run, and further parts of this policy.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _FILTERS
    ours = {name: (ASSETS / name).read_text(encoding="utf-8") for name in (*styles, *scripts)}
    runs = " ".join([*(_hash(ours[name].encode()) for name in scripts), more]).strip() or "'none'"
    inserted = {
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; {_CLOSED}; script-src {runs}",
        # These are files of the package.
        "style": Markup("".join([stylesheet(), *(ours[name] for name in styles)])),  # noqa: S704
        "scripts": [Markup(ours[name]) for name in scripts],  # noqa: S704
    }
    return environment.get_template(template).render(values | inserted)


def _hash(script: bytes) -> str:
    """Return by what a policy of a page knows a script."""
    return f"'sha256-{b64encode(sha256(script).digest()).decode('ascii')}'"


def plotly_script() -> bytes:
    """Return plotly.js, which draws the figures of a page."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_bytes()


def plotly_name() -> str:
    """Return a file name for plotly.js that tells its version."""
    return f"plotly-{version('plotly')}.min.js"
