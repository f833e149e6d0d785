"""Kinds of errors against tidecv (Bolya et al. 2020), on boxes of height 1 that are far apart.

tidecv pairs boxes by intersection over union, as `match_by="iou"` does. If one of two events of L seconds
moves by d, their overlap is (L - d) / (L + d), which is a half if d = L / 3. So for events of 3 s, collars
of 1 s are the same rule.

If boxes are near one another, counts differ: tidecv also explains a detection by a box that another detection
has found. It computes costs in average precision, and we compute them in F, so only counts are compared.
"""

import itertools

import numpy as np
import pytest
from tables import columns_of

from sedeval_soft import diagnose

# OpenCV, which tidecv needs, loads libGL, which slim images lack.
tidecv = pytest.importorskip(
    "tidecv", reason="needs tidecv: pip install --group parity", exc_type=ImportError
)

LENGTH, APART = 3.0, 20.0
RULES = (
    {"onset_collar": 1.0, "offset_collar": 1.0, "offset_collar_rate": 0.0},
    {"match_by": "iou", "iou": 0.5},
)
KINDS = {
    "BoxError": ("onset_fp", "offset_fp", "both_boundaries_fp"),
    "ClassError": ("confusion_fp", "confusion_and_boundary_fp"),
    "DuplicateError": ("duplicate_fp",),
    "BackgroundError": ("background_fp",),
    "MissedError": ("missed_fn",),
    "OtherError": ("split_fp", "merge_fp"),
}


def scene(seed, n_files=6, n_places=8, n_classes=4):
    """Return events and detections as (file, class, onset, value), each event far from the others."""
    rng = np.random.default_rng(seed)
    reference, system = [], []
    for file, place in itertools.product(range(n_files), range(n_places)):
        at, label = 10 + place * APART, int(rng.integers(n_classes))
        value = round(float(rng.uniform(0.6, 1)), 6)
        moved = at + float(rng.choice([-1, 1])) * round(float(rng.uniform(0, 0.99)), 3)
        far = at + float(rng.choice([-1, 1])) * round(float(rng.uniform(1.01, 2.45)), 3)
        other = (label + int(rng.integers(1, n_classes))) % n_classes
        found = {
            "alarm": [(label, at, value)],
            "hit": [(label, moved, value)],
            "twice": [(label, moved, value), (label, at + 0.25, value - 0.05)],
            "far": [(label, far, value)],
            "confused": [(other, moved, value)],
            "missed": [],
        }
        what = rng.choice([*found])
        system += [(file, *row) for row in found[what]]
        reference += [(file, label, at)] if what != "alarm" else []
    return reference, system


def theirs(reference, system):
    """Return the counts of errors of tidecv, and its true positives."""
    truth, found = tidecv.Data("reference"), tidecv.Data("system")
    for file in {row[0] for row in (*reference, *system)}:
        truth.add_image(file, str(file))
    for file, label, onset in reference:
        truth.add_ground_truth(file, label, box=[onset, 0.0, LENGTH, 1.0])
    for file, label, onset, value in system:
        found.add_detection(file, label, value, box=[onset, 0.0, LENGTH, 1.0])
    run = tidecv.TIDE().evaluate(
        truth, found, pos_threshold=0.5, background_threshold=0.1, mode=tidecv.TIDE.BOX
    )
    counts = {error.__name__: n for error, n in run.count_errors().items()}
    return counts, sum(bool(each["used"]) for each in found.annotations)


def table(rows):
    return columns_of([(f"f{row[0]}", row[2], row[2] + LENGTH, f"c{row[1]}") for row in rows])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule", RULES, ids=["collars", "iou"])
@pytest.mark.parametrize("seed", range(40))
def test_counts_are_those_of_tidecv_on_separated_boxes(seed, rule):
    reference, system = scene(seed)
    found = diagnose(table(reference), table(system), only="event.hard", ci=None, suggestions=False, **rule)
    kinds = {each.kind: each for each in found.table("event", "hard")}
    counts, n_hits = theirs(reference, system)
    assert found.scores["event.hard.tp.micro"] == n_hits > 0
    assert {*counts} == {*KINDS}
    for error, ours in KINDS.items():
        assert sum(getattr(kinds[kind[:-3]], kind[-2:]) for kind in ours) == counts[error], error
    assert all(counts[error] for error in KINDS if error != "OtherError")
