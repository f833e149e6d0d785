"""What becomes of events and segments adds up to what the hard reading counts, whatever the settings."""

from __future__ import annotations

import numpy as np
import pytest
from tables import long_rows, random_rows

from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.evaluation.details import FALSE_ALARM, HIT, MISS, event_outcomes, segment_outcomes
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.recordings import align

SETTINGS = [
    {},
    {"threshold": 0.3, "reference_threshold": 0.7, "inclusive": True},
    {"matching": "greedy"},
    {"compat": "sed_eval"},
    {"compat": "sed_eval", "matching": "greedy", "segment_length": 0.7},
    {"pool": "mean", "segment_length": 0.3},
    {"segment_length": 0.1, "events": "rows"},
    {"min_gap": 0.4, "min_duration": 0.5, "events": "merge"},
    {"threshold": 0.0},
    {"onset_collar": 2.0, "offset": False},
]


@pytest.mark.parametrize("values", SETTINGS, ids=str)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("binary", [False, True])
def test_outcomes_are_the_counts_of_the_hard_reading(values, seed, binary):
    settings = Settings(**values)
    sides = [random_rows(2 * seed + side, binary=binary, n=60, fine=bool(seed % 2)) for side in range(2)]
    pair = align(*sides, settings)
    tally = tally_pair(pair, settings)

    def counted(file, label, weight=None):
        sums = np.zeros((len(pair.files), len(pair.classes)), dtype=int)
        np.add.at(sums, (file, label), 1 if weight is None else weight)
        return sums.tolist()

    events = event_outcomes(pair, settings)
    for name, of, partner in (
        ("n_ref", events.reference, events.reference_partner),
        ("n_sys", events.system, events.system_partner),
    ):
        assert counted(of.file, of.label) == tally.per_class[f"event.hard.{name}"].tolist()
        hits = of.take(partner >= 0)
        assert counted(hits.file, hits.label) == tally.per_class["event.hard.tp"].tolist()
    for ours, theirs in enumerate(events.reference_partner):
        assert theirs < 0 or events.system_partner[theirs] == ours
    segments = segment_outcomes(pair, settings)
    for name, outcomes in {"tp": [HIT], "n_ref": [HIT, MISS], "n_sys": [HIT, FALSE_ALARM]}.items():
        kept = np.isin(segments.outcome, outcomes)
        found = counted(segments.file[kept], segments.label[kept], segments.count[kept])
        assert found == tally.per_class[f"segment.hard.{name}"].tolist()
    assert (segments.first + segments.count <= segments.n_segments[segments.file]).all()


def test_nothing_has_no_outcomes():
    settings = Settings()
    pair = align(random_rows(1, n=0), long_rows([]), settings)
    assert len(event_outcomes(pair, settings).reference) == len(segment_outcomes(pair, settings).file) == 0
