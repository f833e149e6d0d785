"""What `print` and notebooks show of results: the text that the command prints.

Presentation is a later stage, of which nothing here may import: it is looked up when something is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

_STYLE = "line-height: 1.25; overflow-x: auto; white-space: pre"
"""Without colours: text and background are those of the notebook, be it light or dark."""


def screen_of(systems: Sequence[Any], board: Any = None) -> str:  # noqa: ANN401 - of a later stage
    """Return what the command prints of one system, or of a board of several, without colours."""
    text: str = import_module("sedeval_soft.report.render").render(systems, board=board)
    return text.removesuffix("\n")


def tables_of(systems: Sequence[Any], board: Any = None) -> str:  # noqa: ANN401 - of a later stage
    """Return the summary of one system, or the leaderboard of several, as HTML for notebooks."""
    html: str = import_module("sedeval_soft.report.render").notebook(systems, board)
    return html


def html_of(screen: str) -> str:
    """Return a screen for notebooks, with its lines as they are."""
    from html import escape

    return f'<pre style="{_STYLE}">{escape(screen)}</pre>'
