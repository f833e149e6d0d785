"""Four segments of three classes in two files, with thresholds between all their values."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st
from tables import long_rows

LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
CLASSES = ("a", "b", "c")
FILES = ("x", "y")
CUTS = (-1.0, 0.1, 0.3, 0.5, 0.7, 0.9, 2.0)
"""Thresholds between the levels; the first lets everything pass, silence too, the last nothing."""

VALUES = st.lists(st.sampled_from(LEVELS), min_size=24, max_size=24)


def rows(values):
    """Four segments of 1 s of each class in each of two files; a file without sound is still one."""
    cells = itertools.product(FILES, range(4), CLASSES)
    made = [(file, k, k + 1.0, label, v) for (file, k, label), v in zip(cells, values, strict=True) if v]
    return long_rows(made, files=FILES)
