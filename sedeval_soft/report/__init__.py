"""Values in, text out. Presentation never computes."""

from sedeval_soft.report.listing import list_scores, scores_table
from sedeval_soft.report.render import FORMATS, render, render_board
from sedeval_soft.report.schema import schema
from sedeval_soft.report.write import write_atomic

__all__ = [
    "FORMATS",
    "list_scores",
    "render",
    "render_board",
    "schema",
    "scores_table",
    "write_atomic",
]
