"""The page itself: its data gathered, its template filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sedeval_soft.core.board import Board, board_document
from sedeval_soft.core.value import document
from sedeval_soft.page.material import Material
from sedeval_soft.page.packed import Packer, script_json
from sedeval_soft.page.timeline import timelines

_ASSETS = Path(__file__).parent / "assets"

_SCRIPTS = ("page.js", "timeline.js")
"""What runs in the page, in this order; `page.js` defines what the others use."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What is chosen of a page.

    title: its title; None for one that names the systems. timelines: how many files are shown over time for
    each of two reasons: costing most, and drawn at random. plotly: the address of plotly.js, None to have it
    inside.
    """

    title: str | None = None
    timelines: int = 12
    plotly: str | None = None


def render(materials: Sequence[Material], board: Board | None, choices: Choices) -> str:
    """Return the page of some systems, at least one; board: they as they were ranked."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    pack = Packer()
    data: dict[str, Any] = {
        "systems": [_system(material, pack, choices) for material in materials],
        "document": document([of.scores for of in materials]) if board is None else board_document(board),
    }
    environment = Environment(
        loader=FileSystemLoader(_ASSETS), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    # What is inserted here is ours, or was made safe for where it stands.
    return environment.get_template("page.html.j2").render(
        title=choices.title or " and ".join(material.scores.system for material in materials),
        scores=[material.scores for material in materials],
        style=Markup(_asset("page.css")),  # noqa: S704
        scripts=[Markup(_asset(name)) for name in _SCRIPTS],  # noqa: S704
        data=Markup(script_json(data)),  # noqa: S704
        packed=pack.text(),
        plotly_address=choices.plotly,
        plotly=None if choices.plotly else Markup(plotly_script()),  # noqa: S704
    )


def plotly_script() -> str:
    """Return plotly.js, which draws the figures of a page."""
    from importlib.resources import files

    return (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def plotly_name() -> str:
    """Return a file name for plotly.js that tells its version."""
    return f"plotly-{version('plotly')}.min.js"


def _system(material: Material, pack: Packer, choices: Choices) -> dict[str, Any]:
    return {"name": material.scores.system, "timelines": timelines(material, pack, choices.timelines)}


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
