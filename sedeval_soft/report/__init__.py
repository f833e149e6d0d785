"""Values in, text out. Presentation never computes."""

from sedeval_soft.report.render import FORMATS, render

__all__ = ["FORMATS", "render"]
