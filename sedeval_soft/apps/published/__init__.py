"""Evaluators that challenges published, number by number as their scripts print them: one module each.

The presets have the rules of a challenge as its page tells them; where a script does something else, these
modules do as the script does. The page of official evaluators in the docs says what differs and how much.
"""

from sedeval_soft.apps.published.base import EXPLAINED, NAMES, published_evaluator
from sedeval_soft.apps.published.scores import check_published, published_scores

__all__ = ["EXPLAINED", "NAMES", "check_published", "published_evaluator", "published_scores"]
