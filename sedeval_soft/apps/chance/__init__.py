"""Chance levels: the scores of the same output, independent of the recordings."""

from sedeval_soft.apps.chance.levels import chance_levels

__all__ = ["chance_levels"]
