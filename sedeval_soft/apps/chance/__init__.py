"""Chance levels: what the same output scores if it knows nothing of the recordings."""

from sedeval_soft.apps.chance.levels import chance_levels, with_chance

__all__ = ["chance_levels", "with_chance"]
