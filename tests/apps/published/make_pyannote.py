"""Make golden numbers of pyannote.metrics: `python make_pyannote.py OUT.npz`, where it is installed.

pyannote.metrics 4.2.0 with pyannote.core 6.1.0 of PyPI, under Python 3.11 (later ones add floats otherwise).
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from pyannote.core import Annotation, Segment, Timeline
from pyannote.metrics.detection import DetectionErrorRate
from random_speech import speech_cases

NUMBER = 10_000
COLUMNS = (
    ("detection error rate", "%"), ("total", ""), ("false alarm", ""), ("false alarm", "%"), ("miss", ""),
    ("miss", "%"),
)  # fmt: skip


def annotation(rows, name):
    """Return the rows of a recording, a track each."""
    found = Annotation(uri=name)
    for track, row in enumerate(rows):
        if row.file == name:
            found[Segment(row.onset, row.offset), track] = row.label
    return found


def main(out):
    """Evaluate random tables and keep the last row of each report."""
    warnings.simplefilter("ignore")
    numbers = []
    for case, collar, skip_overlap, regions in speech_cases(NUMBER):
        metric = DetectionErrorRate(collar=collar, skip_overlap=skip_overlap)
        for name in case.files:
            sides = annotation(case.reference, name), annotation(case.system, name)
            uem = Timeline([Segment(*each) for each in regions[name]]) if regions else None
            metric(*sides, uem=uem)
        numbers.append([metric.report().loc["TOTAL"][column] for column in COLUMNS])
    np.savez_compressed(out, numbers=np.array(numbers, dtype=np.float64))


if __name__ == "__main__":
    main(sys.argv[1])
