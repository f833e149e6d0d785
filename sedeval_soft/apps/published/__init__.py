"""Evaluators that challenges published, number by number as their scripts print them: one module each.

The presets have the rules of a challenge as its page describes them; if a script differs, these modules
follow the script. The page of official evaluators in the docs lists the differences and their size.
"""

from sedeval_soft.apps.published.base import EXPLAINED, NAMES, published_evaluator
from sedeval_soft.apps.published.scores import (
    check_published,
    list_published,
    published_scores,
    published_text,
)

__all__ = [
    "EXPLAINED",
    "NAMES",
    "check_published",
    "list_published",
    "published_evaluator",
    "published_scores",
    "published_text",
]
