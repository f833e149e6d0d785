"""Values in, text out. Presentation never computes."""

from sedeval_soft.report.render import FORMATS, render
from sedeval_soft.report.write import write_atomic

__all__ = ["FORMATS", "render", "write_atomic"]
