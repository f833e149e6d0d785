"""What recall and precision depend on: bins hold all events, and are what a slow look finds."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import columns_of

import sedeval_soft
from sedeval_soft.apps.diagnosis.sensitivity import classes_at_once
from sedeval_soft.timeline.events import Events

LABELS = ("car", "dog", "talk")
COUNTS = {"recall": "n_ref", "precision": "n_sys"}


def by_factor(diagnosis):
    factors = defaultdict(list)
    for each in diagnosis.bins:
        factors[each.measure, each.factor].append(each)
    return factors


@pytest.mark.parametrize("seed", [0, 3])
def test_bins_of_each_factor_hold_all_events(seed):
    rng, files = np.random.default_rng(seed), tuple("abcdefgh"[: 1 + 2 * seed])
    rows = [
        (str(rng.choice(files)), a, a + round(float(rng.uniform(0.1, 4)), 1), str(rng.choice(LABELS)), 1.0)
        for a in np.round(rng.uniform(0, 60, 250), 1).tolist()
    ]
    # Half of the events are found, some of these with another onset, beside false alarms.
    found = [(f, a + (k % 3 > 1), b + 1, *of) for k, (f, a, b, *of) in enumerate(rows[::2])]
    how = {"events": ("rows", "merge")[seed % 2], "beta": (1.0, 2.0)[seed % 3 == 0], "ci": None}
    how |= {"offset": False, "only": "event.hard", "classes": LABELS}
    diagnosis = sedeval_soft.diagnose(columns_of(rows, files), columns_of(found, files), **how)
    factors, scores = by_factor(diagnosis), diagnosis.scores
    # Of few files as many classes sound at once nearly always.
    of_length = {("recall", "duration"), ("precision", "duration")}
    assert {*factors} - {("recall", "classes at once")} == of_length
    assert len(factors) == 3 or len(files) == 1
    for (measure, factor), bins in factors.items():
        count, tp = (scores[f"event.hard.{name}.micro"] for name in (COUNTS[measure], "tp"))
        assert (sum(each.n for each in bins), 0 < tp < count) == (count, True), (measure, factor)
        assert abs(math.fsum(each.n * each.value for each in bins) - tp) < 1e-9


def test_intervals_are_those_of_resampled_files():
    """Events are far apart, and a system has some of them, so it is known which are hits."""
    files, replicates, rng = ("a", "b", "c"), 40, np.random.default_rng(0)
    rows = [
        (str(rng.choice(files)), 10.0 * k, 10.0 * k + float(rng.integers(1, 9)), "car", 1.0)
        for k in range(300)
    ]
    lengths, file = (
        np.array(column) for column in zip(*((r[2] - r[1], files.index(r[0])) for r in rows), strict=True)
    )
    hits = rng.random(len(rows)) < lengths / 9
    sides = columns_of(rows, files), columns_of([*itertools.compress(rows, hits)], files)
    diagnosis = sedeval_soft.diagnose(*sides, only="event.hard", replicates=replicates, seed=0)
    edges = np.unique(np.quantile(lengths, (0.25, 0.5, 0.75), method="inverted_cdf"))
    edges = edges[edges < 8]
    member = np.searchsorted(edges, lengths)
    drawn = np.random.default_rng(0).integers(len(files), size=(replicates, len(files)))
    weights = np.stack([np.bincount(some, minlength=len(files))[file] for some in drawn])
    bins = sorted(by_factor(diagnosis)["recall", "duration"], key=lambda each: each.place)
    for each in bins:
        here, rest = (
            np.array([np.average(hits[some], weights=w[some]) if w[some].any() else np.nan for w in weights])
            for some in (member == each.place, member != each.place)
        )
        assert (each.n, each.value) == (np.sum(member == each.place), np.mean(hits[member == each.place]))
        ends, apart = (np.nanquantile(values, (0.025, 0.975)) for values in (here, here - rest))
        differs = max(apart[0], -apart[1], 0)
        assert (each.low, each.high, each.differs) == pytest.approx((*ends, differs), abs=1e-12)
    assert any(each.differs for each in bins)
    first, second, *_, last = (f"{edge:g} s" for edge in edges)
    names = [each.name for each in bins]
    assert (names[:2], names[-1]) == ([f"up to {first}", f"{first[:-2]} to {second}"], f"over {last}")
    assert len(bins) == len(edges) + 1


def test_events_of_one_file_have_no_interval():
    """Resampling files says nothing of a group whose events are all of one file."""
    rows = [("a", 10.0 * k, 10.0 * k + 1, "car", 1.0) for k in range(30)]
    rows += [("b", 10.0 * k, 10.0 * k + 2 + k % 2, "car", 1.0) for k in range(60)]
    files = ("a", "b")
    diagnosis = sedeval_soft.diagnose(
        columns_of(rows, files), columns_of(rows[5:], files), only="event.hard", replicates=20
    )
    short, *_ = sorted(by_factor(diagnosis)["recall", "duration"], key=lambda each: each.place)
    assert (short.n, short.value, short.rest) == (30, pytest.approx(25 / 30), 1.0)
    assert (short.low, short.high, short.differs) == (None, None, 0.0)


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 12), st.integers(0, 6)).map(
        lambda r: (*r[:3], r[2] + r[3])
    ),
    max_size=10,
)


@given(ROWS)
def test_classes_at_once_are_classes_not_events(rows):
    """Events of one class that overlap count once; every tick is looked at."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    found = classes_at_once(Events(*columns, columns[2] * 1e-6, columns[3] * 1e-6))
    for (file, _, onset, offset), mean in zip(rows, found.tolist(), strict=True):
        active = [
            len({label for f, label, a, b in rows if f == file and a <= t < b}) for t in range(onset, offset)
        ]
        wanted = Fraction(sum(active), len(active)) if active else 0
        assert abs(mean - float(wanted)) < 1e-12
