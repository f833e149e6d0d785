"""Intersection-based counts at one threshold, at all, and over all levels, against the slow oracle."""

from __future__ import annotations

import itertools
from functools import partial

import intersection_cases as cases
import numpy as np
import pytest
from intersection_cases import FORMS, LABELS, table_of

from sedeval_soft import evaluate
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.errors import EvaluationError
from sedeval_soft.measures import event, intersections
from sedeval_soft.measures.intersections import Criteria, on_line
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import lifetimes_of

TWO = LABELS[:2]
COUNTS = ("tp", "n_ref", "fp")
UNITS = (7, 1000)
"""Ticks: at 7, a third of 3 units is within half a tick of 0.334 of them; at 1000 it is not."""

FORM_PAIRS = list(itertools.product(FORMS, FORMS, ("auto", "merge", "rows")))


def of(found, known, shares) -> dict[str, np.ndarray]:
    """Return the oracle's counts of a system's events, by name, of classes."""
    counts = cases.counts(found, known, TWO, **shares)
    n_ref = [cases.n_ref(known, label) for label in TWO]
    return {
        "tp": np.array([counts.tp[c] for c in TWO]),
        "n_ref": np.array(n_ref),
        "fp": np.array([counts.fp[c] for c in TWO]),
    }


@pytest.mark.parametrize(("reference", "system", "events"), FORM_PAIRS)
def test_all_readings(reference, system, events, monkeypatch):
    """Every form against every other, merged and not, with ties, gaps, touching and overlapping rows."""
    for seed in range(2):
        monkeypatch.setattr(intersections, "_DENSE", (0, 2**24)[seed])
        rng = np.random.default_rng((seed, FORM_PAIRS.index((reference, system, events))))
        unit = int(rng.choice(UNITS))
        ours, theirs = (cases.side(rng, form, events, len(TWO), unit) for form in (reference, system))
        shares, inclusive = cases.criteria(rng), bool(rng.integers(2))
        # Inclusive: a value at the threshold is active.
        levels = [(side.levels()[1:] or [0.5]) if inclusive else [0.0, 0.3, 0.5] for side in (ours, theirs)]
        cuts = [float(rng.choice(known)) for known in levels]
        chosen = Settings(
            classes=TWO, events=events, only=("intersection",), inclusive=inclusive,
            reference_threshold=cuts[0], threshold=cuts[1], **shares,
        )  # fmt: skip
        scores = evaluate_rows(ours.table, theirs.table, chosen)
        at_reference, at_system = (np.nextafter(cut, 0) if inclusive else cut for cut in cuts)
        found = of(theirs.events(at_system), ours.events(at_reference), shares)
        # The soft counts are those of both sides cut at each level, integrated over all.
        steps = itertools.pairwise(sorted({*ours.levels(), *theirs.levels()}))
        parts = [(high - low, of(theirs.events(low), ours.events(low), shares)) for low, high in steps]
        for name in COUNTS:
            assert table_of(scores, "intersection.hard", name, TWO) == found[name].tolist(), (seed, name)
            wanted = sum(width * counts[name] for width, counts in parts) if parts else [0, 0]
            assert table_of(scores, "intersection.soft", name, TWO) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(("seed", "kind"), [(0, "noise"), (1, "order")])
def test_pairs_and_hard_counts_at_each_level_agree_on_long_tracks(seed, kind, monkeypatch):
    """Hundreds of frames, values all distinct, wandering or in order: deep nests, and parts of parts."""
    rng = np.random.default_rng(seed)
    wander = np.cumsum(rng.normal(0, 0.05, (150, 2)), 0) % 1
    other = rng.random((150, 2)) if kind == "noise" else np.sort(rng.random((150, 2)), axis=0)
    tables = cases.wide_rows(other, length=0.03, files=3), cases.wide_rows(wander, length=1 / 3, files=3)
    sides = [lifetimes_of(table, merge=True) for table in tables]
    how = 3, len(TWO), Criteria(*(float(share) for share in rng.choice([0.1, 1 / 3, 0.5, 0.9, 1.0], 3)))
    by_pairs = intersections.count_soft_intersections(*sides, *how)
    at_level = partial(_at_level, how)
    some, (n_levels, n_distinct) = event.mean_over_levels(at_level, *sides)
    assert n_levels == 200 < n_distinct
    monkeypatch.setattr(event, "MOST", 10**6)
    by_levels, sampled = event.mean_over_levels(at_level, *sides)
    assert sampled is None
    for name in ("tp", "n_ref", "n_sys"):
        exact = getattr(by_levels, name)
        assert getattr(by_pairs, name) == pytest.approx(exact, abs=1e-9), name
        assert abs(getattr(some, name).sum() - exact.sum()) < 0.02 * by_levels.n_ref.sum()


def _at_level(how, ours, theirs):
    return intersections.count_intersections(ours, theirs, *how)


# Where explanations/differences.md says that intersections and PSDS are counted otherwise than elsewhere.
# What the others give was found by running psds_eval 0.5.3 and sed_scores_eval 0.0.4 on these same cases.

X, Y = ("a", 0, 2, "x"), ("a", 4, 6, "y")
WHOLE = [("f", 0.0, 1.0, "a")]
DIFFERENCES = {
    "a criterion is met by what was written (psds_eval: a false positive)": (
        [("a", 1.6, 2.3, "x")], [("a", 1.3, 2.3, "x")], {"dtc": 0.7}, {"tp.micro": 1, "fp.micro": 0},
    ),
    "a class without reference takes no part in PSDS (psds_eval ignores it, sed_scores_eval refuses)": (
        [X, Y], [X, Y, ("a", 7, 8, "z")], {"psds": "dcase-psds1"},
        {"psds": 1.0, "f1.macro": 1.0, "fp.micro": 1, "f1.micro": 0.8},
    ),
    # One in ten seconds is 360 an hour: beyond max_efpr.
    "a detection beyond the duration counts (psds_eval: PSDS 1, no false positive)": (
        [X, Y], [X, Y, ("a", 20, 22, "y")], {"durations": {"a": 10.0}, "psds": "dcase-psds1"},
        {"fp.micro": 1, "psds[y]": 0.0, "psds[x]": 1.0},
    ),
    "one class works (psds_eval: 0)": ([X], [X], {"psds": "dcase-psds1"}, {"psds": 1.0}),
    "one class works (sed_scores_eval: TypeError)": ([X], [X], {"psds": "dcase-psds2"}, {"psds": 1.0}),
    "a class that was not found counts in macro F (psds_eval: 1.0)": ([X, Y], [X], {}, {"f1.macro": 0.5}),
    "overlapping reference rows each count (both refuse)": (
        [X, ("a", 1, 3, "x")], [("a", 0, 3, "x")], {}, {"tp.micro": 2, "n_ref.micro": 2, "fp.micro": 0},
    ),
    "merged they are one": ([X, ("a", 1, 3, "x")], [X], {"events": "merge"}, {"n_ref.micro": 1}),
    "events without length take no part (sed_scores_eval: the reference's are found)": (
        [X, ("a", 5, 5, "x")], [X, ("a", 7, 7, "x")], {}, {"tp.micro": 1, "n_ref.micro": 1, "fp.micro": 0},
    ),
    "neither true nor false, as both: it passes the DTC and covers too little": (
        [("a", 0, 10, "x")], [X], {}, {"tp.micro": 0, "fp.micro": 0, "fn.micro": 1},
    ),
    "time that two detections cover counts once: twice six of ten seconds are fewer than seven": (
        [("f", 0, 10, "a")], [("f", 0, 6, "a")] * 2, {"gtc": 0.7, "events": "rows"}, {"tp.micro": 0},
    ),
    # Not as floats or ticks have them.
    **{f"ties are those of times as they are written: {share}": (
        WHOLE, [("f", onset, offset, "a")], {"dtc": dtc, "gtc": share}, {"tp.micro": 1},
    ) for share, dtc, onset, offset in (
        *((share, share, round(1 - share, 2), round(2 - share, 2)) for share in (0.3, 0.7, 0.55)),
        *((share, 0.5, 0.0, share) for share in (1 / 3, 2 / 3, 1 / 7)),
    )},
}  # fmt: skip


@pytest.mark.parametrize("case", DIFFERENCES)
def test_differences_from_other_tools(case):
    *sides, chosen, wanted = DIFFERENCES[case]
    scores = evaluate(*map(cases.long_rows, sides), only=("intersection.hard", "intersection.soft"), **chosen)
    assert {name: scores[f"intersection.hard.{name}"] for name in wanted} == wanted
    # All values are 1.
    assert {name: scores[f"intersection.soft.{name}"] for name in wanted} == wanted


def test_files_that_are_too_long_together_are_refused(monkeypatch):
    monkeypatch.setattr(intersections, "_LINE", 13)
    assert on_line(np.array([1, 2]), np.array([4, 6])).tolist() == [1, 6]
    with pytest.raises(EvaluationError, match="too long together"):
        on_line(np.array([1, 2]), np.array([4, 7]))
