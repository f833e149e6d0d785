"""Random tables of speech for golden numbers, with what is evaluated of each; Python 3.8 is enough."""

from __future__ import annotations

from random_tables import Draws, Options, random_cases

SEED = "pyannote"
DRAWN = Options(shortest=0, events=10, alone=0.1)


def speech_cases(count, first=0):
    """Yield cases: tables, the collar, whether overlaps are left out, and regions by recording, if any."""
    for case in random_cases(SEED, count, DRAWN, first):
        draws = Draws(f"{SEED} settings {case.number}")
        collar, skip_overlap = draws.one_of((0.0, 0.0, 0.05, 0.5)), draws.chance(0.3)
        regions = {}
        if draws.chance(0.5):
            for name in case.files:
                edges = sorted(draws.below(61) / case.per_second for _ in range(4))
                regions[name] = [(edges[0], edges[1]), (edges[2], edges[3])]
        yield case, collar, skip_overlap, regions
