"""Outcomes of events and segments add up to the counts of the hard reading."""

from __future__ import annotations

import numpy as np
import pytest
from tables import long_rows, random_rows

from sedeval_soft.apps.page.timeline import FALSE_ALARM, HIT, MISS, event_outcomes, segment_outcomes
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.recordings import align


@pytest.mark.parametrize(
    "values",
    [
        {}, {"threshold": 0.3, "reference_threshold": 0.7, "inclusive": True}, {"matching": "greedy"},
        {"compat": "sed_eval"}, {"compat": "sed_eval", "matching": "greedy", "segment_length": 0.7},
        {"pool": "mean", "segment_length": 0.3}, {"segment_length": 0.1, "events": "rows"},
        {"min_gap": 0.4, "min_duration": 0.5, "events": "merge"}, {"threshold": 0.0},
        {"onset_collar": 2.0, "offset": False},
        {"regions": {"a": [(2.5, 4.2), (7, 9)], "b": [(0, 3), (10.5, 20)], "c": [(1, 2)]}},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize(("seed", "binary"), [(0, False), (1, False), (2, True), (0, None)])
def test_outcomes_add_up_to_the_counts_of_the_hard_reading(values, seed, binary):
    made = Settings(**values)
    sides = [random_rows(2 * seed + k, binary=bool(binary), n=60, fine=bool(seed % 2)) for k in range(2)]
    pair = align(sides[0], long_rows([]) if binary is None else sides[1], made)
    tally = tally_pair(pair)

    def counted(file, label, weight=1):
        sums = np.zeros((len(pair.files), len(pair.classes)), dtype=int)
        np.add.at(sums, (file, label), weight)
        return sums.tolist()

    events = event_outcomes(pair, made)
    for name, (of, partner) in zip(("n_ref", "n_sys"), events, strict=True):
        assert counted(of.file, of.label) == tally.per_class[f"event.hard.{name}"].tolist()
        hits = of.take(partner >= 0)
        assert counted(hits.file, hits.label) == tally.per_class["event.hard.tp"].tolist()
    for ours, theirs in enumerate(events[0][1]):
        assert theirs < 0 or events[1][1][theirs] == ours
    segments = segment_outcomes(pair, made)
    for name, outcomes in {"tp": [HIT], "n_ref": [HIT, MISS], "n_sys": [HIT, FALSE_ALARM]}.items():
        at = np.isin(segments["outcome"], outcomes)
        sums = counted(*(segments[column][at] for column in ("file", "label", "count")))
        assert sums == tally.per_class[f"segment.hard.{name}"].tolist()
