"""Systems that are made up: to know what a score is worth before a model is."""

from sedeval_soft.apps.simulate.run import simulate

__all__ = ["simulate"]
