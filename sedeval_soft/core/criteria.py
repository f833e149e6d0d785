"""What intersections and PSDS ask for: named sets, defaults and ranges of their settings."""

from __future__ import annotations

PSDS: dict[str, dict[str, float]] = {
    "dcase-psds1": {"dtc": 0.7, "gtc": 0.7, "cttc": 0.3, "alpha_ct": 0.0, "alpha_st": 1.0, "max_efpr": 100.0},
    "dcase-psds2": {"dtc": 0.1, "gtc": 0.1, "cttc": 0.3, "alpha_ct": 0.5, "alpha_st": 1.0, "max_efpr": 100.0},
}
"""The PSDS of DCASE task 4 (2020 and later) by name."""

CRITERIA = {"dtc": 0.5, "gtc": 0.5, "cttc": 0.3}
PSDS_DEFAULTS = {"alpha_ct": 0.0, "alpha_st": 0.0, "max_efpr": 100.0}
"""What is used where neither they nor `psds` are given."""

OPTIONAL_RANGES = {
    "dtc": (0.0, 1.0),
    "gtc": (0.0, 1.0),
    "cttc": (0.0, 1.0),
    "alpha_ct": (0.0, 1e3),
    "alpha_st": (0.0, 1e3),
    "max_efpr": (0.0, 1e9),
}
"""The least and the greatest value of each."""
