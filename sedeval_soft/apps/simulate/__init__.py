"""Made-up systems: they show the worth of a score before a model exists."""

from sedeval_soft.apps.simulate.run import simulate

__all__ = ["simulate"]
