"""A leaderboard's site: a folder of submissions scored, each in a process of its own, and ranked."""

from sedeval_soft.apps.board.site import Site, build_site

__all__ = ["Site", "build_site"]
