"""All measures of values of cells, of segments and of clips, against slow oracles."""

from __future__ import annotations

import pytest
from measure_oracles import CALIBRATION, CURVES, DIVERGENCES, PROPER, expected
from ranking_oracles import expected_ranking
from small_cells import CASES, SETTINGS, agree, chosen, clips, fine, scored, tied

EVERYTHING = {"measures": ("curves", "calibration", "divergence"), "only": ("segment", "clip", "ranking")}
# Logarithms are taken of differences from 1, and a divergence is a difference of them.
ORACLES = [
    *((CURVES, reading, 1e-12) for reading in ("hard", "soft")),
    *((CALIBRATION, reading, 1e-12) for reading in ("hard", "soft")),
    (DIVERGENCES, "soft", 1e-11),
    (PROPER, "hard", 1e-11),
]


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("case", CASES)
def test_segments_of_one_file(case, settings):
    sides = CASES[case]
    scores = scored(*sides, EVERYTHING | settings)
    known = chosen(settings, sides[0].shape[1])
    for oracle, reading, tolerance in ORACLES:
        agree(scores, f"segment.{reading}", expected(oracle, *sides, reading, known), tolerance)
    for reading in ("hard", "soft"):
        agree(scores, f"ranking.{reading}", expected_ranking(*sides, reading, known))


@pytest.mark.parametrize("files", [3, 5])
@pytest.mark.parametrize("made", [tied, fine])
def test_segments_and_clips_of_several_files(made, files):
    """A clip is a cell: the highest value of the file."""
    sides = made(files, (15, 3))
    scores = scored(*sides, EVERYTHING, files)
    for oracle, reading, tolerance in ORACLES:
        of_clips = (clips(side, files) for side in sides)
        agree(scores, f"segment.{reading}", expected(oracle, *sides, reading, chosen({}, 3)), tolerance)
        agree(scores, f"clip.{reading}", expected(oracle, *of_clips, reading, chosen({}, 3)), tolerance)
