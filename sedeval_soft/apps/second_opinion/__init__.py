"""Other packages of the field, asked for their own opinion of the same tables."""

from sedeval_soft.apps.second_opinion.comparison import TOOLS, second_opinion

__all__ = ["TOOLS", "second_opinion"]
