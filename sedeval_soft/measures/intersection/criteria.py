"""The criteria of intersection-based detection (Bilen et al. 2020).

- Detection tolerance (DTC): a detection counts if reference events of its class cover at least the share
  `dtc` of it; else it is a false positive.
- Ground truth intersection (GTC): a reference event is found if detections that pass the DTC cover at
  least the share `gtc` of it.
- Cross-trigger tolerance (CTTC): a false positive is a cross trigger of another class if that class's
  reference events cover at least the share `cttc` of it.

A detection that passes the DTC without helping any reference event over the GTC counts neither way, so
that N_sys = TP + FP is not the number of detections.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import Ticks

_FINEST = 10**6
"""Shares are taken as fractions with at most this denominator."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """The shares of overlap, in (0, 1], that detections and reference events must reach."""

    dtc: float
    gtc: float
    cttc: float

    @classmethod
    def of(cls, settings: Settings) -> Criteria:
        """Take the criteria from the settings."""
        return cls(settings.criterion("dtc"), settings.criterion("gtc"), settings.criterion("cttc"))


def required(share: float, length: Ticks) -> Ticks:
    """Return how many ticks of overlap make a share of each length, (n,), at least 1.

    The comparison is exact but for half a tick, which the rounding of times to ticks may have taken: so a
    tie in the times as they were written is a tie here.
    """
    exact = Fraction(share).limit_denominator(_FINEST)
    numerator, denominator = 2 * exact.numerator, 2 * exact.denominator
    # numerator * length / denominator - 1/2, rounded up, without overflow for long events.
    whole, rest = np.divmod(length, denominator)
    needed: Ticks = numerator * whole - (-(numerator * rest - exact.denominator) // denominator)
    return np.maximum(needed, 1)
