"""Values in, text out. Presentation never computes."""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face
from sedeval_soft.report.render import FORMATS, render

if TYPE_CHECKING:
    from sedeval_soft.report.fitted import Column, folded, interval, lines_and_rest, number, wrapped
    from sedeval_soft.report.heading import name_of

__all__ = [
    "FORMATS",
    "Column",
    "folded",
    "interval",
    "lines_and_rest",
    "name_of",
    "number",
    "render",
    "wrapped",
]

__getattr__ = face(
    __name__,
    {
        "fitted": "Column folded interval lines_and_rest number wrapped",
        "heading": "name_of",
    },
)
