"""Small tables for figures, and the texts in figures."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text

HOSTILE = (
    *("$x^2$", "a$b", "a\\$b", "<script>alert(1)</script>", "\u4eba\u58f0", "\x1b[31mred\n", "\u202eevil"),
    *("W" * 300, "W" * 301, "\U0001f9ff", "{}%s\\", '"quoted", tab\t', "_^"),
)
"""Names that are markup or control characters, that no font has, or that are too long."""

NOTHING = {"filename": ["a.wav"], "onset": [None], "offset": [None], "event_label": [None]}
"""A file in which nothing happens."""


def table(
    classes: tuple[str, ...], seconds: int = 6, *, hard: bool = False, shift: int = 0
) -> dict[str, list[Any]]:
    """Return a long table of two files; `shift` changes its values."""
    rows = [(c, k) for c in range(len(classes)) for k in range(seconds) if not hard or (c + k) % 2]
    found: dict[str, list[Any]] = {
        "filename": [f"file{k % 2}$.wav" for _, k in rows],
        "onset": [float(k) for _, k in rows],
        "offset": [k + 1.0 for _, k in rows],
        "event_label": [classes[c] for c, _ in rows],
    }
    return found if hard else {**found, "value": [((c * 7 + (k + shift) * 3) % 10) / 10 for c, k in rows]}


def texts(figure: Figure) -> list[str]:
    """Return all texts of a figure, as matplotlib gets them."""
    return [text.get_text() for text in figure.findobj(Text) if text.get_visible() and text.get_text()]


def shown(figure: Figure) -> list[str]:
    """Return all texts of a figure, as a reader sees them."""
    return [text.replace(r"\$", "$") for text in texts(figure)]


def caption(figure: Figure) -> str:
    """Return the draft of the caption of a figure."""
    return str(figure.get_label())
