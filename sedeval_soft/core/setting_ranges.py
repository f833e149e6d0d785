"""What numbers settings can be."""

from __future__ import annotations

NUMBERS = (
    "segment_length",
    "threshold",
    "reference_threshold",
    "onset_collar",
    "offset_collar",
    "offset_collar_rate",
    "beta",
    "max_fpr",
    "max_fnr",
    "iou",
    "epsilon",
    "confidence",
)
"""Settings that are finite numbers."""

LEAST_BETA, GREATEST_BETA = 1e-3, 1e3
"""Beyond these F is recall or precision, and its square soon no number."""

SHARES: dict[str, tuple[float, float]] = {
    "max_fpr": (0.0, 1.0),
    "max_fnr": (0.0, 1.0),
    "iou": (0.0, 1.0),
    "epsilon": (1e-16, 0.1),
    "confidence": (0.0, 0.9999),
}
"""Settings that must be above the first number, and at most the second.

With a smaller epsilon 1 - epsilon is 1 in floats, and its complement has no logarithm.
"""

WHOLE = {
    "bins": (1, 10_000),
    "replicates": (1, 1_000_000),
    "seed": (0, 2**63 - 1),
    "worst": (0, 1_000_000),
}
"""The least and the greatest value of settings that are whole numbers."""
