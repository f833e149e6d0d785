"""Intersection-based counts at one threshold, at all, and over all levels, against the slow oracle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import intersection_cases as cases
import numpy as np
import pytest
from intersection_cases import FORMS, LABELS, Side, table_of

from sedeval_soft import evaluate
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.measures import event, intersections
from sedeval_soft.measures.intersections import Criteria, in_union, on_line
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import EventLifetimes, lifetimes_of

TWO = LABELS[:2]
COUNTS = ("tp", "n_ref", "fp")
UNITS = (7, 1000)
"""Ticks: at 7, a third of 3 units is within half a tick of 0.334 of them; at 1000 it is not."""

FORM_PAIRS = [
    (ours, theirs, events) for ours in FORMS for theirs in FORMS for events in ("auto", "merge", "rows")
]


def of(counts, events) -> dict[str, list[int]]:
    """Return the oracle's counts by name."""
    n_ref = [cases.n_ref(events, label) for label in TWO]
    return {"tp": [counts.tp[c] for c in TWO], "n_ref": n_ref, "fp": [counts.fp[c] for c in TWO]}


@pytest.mark.parametrize(("reference", "system", "events"), FORM_PAIRS)
def test_all_readings(reference, system, events, monkeypatch):
    """Every form against every other, merged and not, with ties, gaps, touching and overlapping rows."""
    for seed in range(3):
        monkeypatch.setattr(intersections, "_DENSE", (0, 2**24)[seed % 2])
        rng = np.random.default_rng((seed, FORM_PAIRS.index((reference, system, events))))
        unit = int(rng.choice(UNITS))
        ours, theirs = (cases.side(rng, form, events, len(TWO), unit) for form in (reference, system))
        shares, inclusive = cases.criteria(rng), bool(rng.integers(2))
        # Inclusive: a value at the threshold is active.
        levels = (
            [side.levels()[1:] or [0.5] for side in (ours, theirs)] if inclusive else [[0.0, 0.3, 0.5]] * 2
        )
        cuts = [float(rng.choice(known)) for known in levels]
        chosen = Settings(
            classes=TWO, events=events, only=("intersection",), inclusive=inclusive,
            reference_threshold=cuts[0], threshold=cuts[1], **shares,
        )  # fmt: skip
        scores = evaluate_rows(ours.table, theirs.table, chosen)
        at_reference, at_system = (np.nextafter(cut, 0) if inclusive else cut for cut in cuts)
        known = ours.events(at_reference)
        swept = {
            level: of(cases.counts(theirs.events(level), known, TWO, **shares), known)
            for level in theirs.levels()
        }
        below = max(level for level in swept if level <= at_system)
        for name in COUNTS:
            assert table_of(scores, "intersection.hard", name, TWO) == swept[below][name], (seed, name)
        check_optimal(scores, swept)
        check_pooled(scores)
        for name, wanted in integrated(ours, theirs, shares).items():
            assert table_of(scores, "intersection.soft", name, TWO) == pytest.approx(wanted, abs=1e-9)


def check_optimal(scores, swept):
    """The best F and error rate over all thresholds, as exact fractions; of ties the highest threshold."""
    for k, label in enumerate(TWO):
        at = {level: {name: of[name][k] for name in COUNTS} for level, of in swept.items()}
        n_ref = at[0.0]["n_ref"]
        names = ("f1", "threshold", "best_error_rate", "best_error_rate_threshold")
        found = [scores[f"intersection.optimal.{name}[{label}]"] for name in names]
        if not n_ref:
            assert found == [None] * 4
            continue
        by_f = {t: Fraction(2 * c["tp"], c["tp"] + c["fp"] + n_ref) for t, c in at.items()}
        by_rate = {t: Fraction(c["tp"] - c["fp"] - n_ref, n_ref) for t, c in at.items()}
        for sign, (value, threshold), merits in ((1, found[:2], by_f), (-1, found[2:], by_rate)):
            best = max(t for t, merit in merits.items() if merit == max(merits.values()))
            assert sign * value == pytest.approx(float(merits[best]), abs=1e-12)
            if sign > 0:
                assert [scores[f"intersection.optimal.{name}[{label}]"] for name in COUNTS] == [
                    *at[best].values()
                ]
            if threshold is None:
                # Nothing is detected.
                assert best == max(at)
                continue
            # No count changes from the threshold up to the highest level that is as good.
            below = max(level for level in at if level <= threshold)
            assert below <= best and all(at[level] == at[best] for level in at if below <= level <= best)


def check_pooled(scores):
    """The best error rate of all classes: that of each, by the size of its reference."""
    names = [
        f"intersection.optimal.{name}[{label}]" for name in ("best_error_rate", "n_ref") for label in TWO
    ]
    values = [scores[name] or 0.0 for name in names]
    n_ref = sum(values[2:])
    if n_ref:
        wanted = (values[0] * values[2] + values[1] * values[3]) / n_ref
        assert scores["intersection.optimal.best_error_rate.micro"] == pytest.approx(wanted, abs=1e-12)


def integrated(ours: Side, theirs: Side, shares) -> dict[str, np.ndarray]:
    """Return the oracle's counts, both sides cut at each level, integrated over all."""
    total = {name: np.zeros(len(TWO)) for name in COUNTS}
    levels = sorted({*ours.levels(), *theirs.levels()})
    for low, high in zip(levels, levels[1:], strict=False):
        known = ours.events(low)
        counts = of(cases.counts(theirs.events(low), known, TWO, **shares), known)
        for name in COUNTS:
            total[name] += (high - low) * np.array(counts[name])
    return total


def test_pairs_and_hard_counts_at_each_level_agree_on_long_tracks(monkeypatch):
    """Hundreds of frames, values all distinct, wandering or in order: deep nests, and parts of parts."""
    off = 0.0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        n = 3 * int(rng.integers(20, 150))
        tables = []
        for kind in rng.integers(0, 4, 2):
            values = rng.random((n, 2)) if kind < 2 else np.cumsum(rng.normal(0, 0.05, (n, 2)), axis=0) % 1
            values = np.sort(values, axis=0)[:: int(rng.choice([-1, 1]))] if kind == 1 else values
            tables.append(cases.wide_rows(values, length=float(rng.choice([0.02, 0.03, 1 / 3])), files=3))
        bars = Criteria(*(float(share) for share in rng.choice([0.1, 1 / 3, 0.5, 0.9, 1.0], 3)))
        sides, how = [lifetimes_of(table, merge=True) for table in tables], (3, len(TWO), bars)
        itself = intersections.count_soft_intersections(sides[0], sides[0], *how)
        assert (itself.tp == itself.n_ref).all() and (itself.n_sys == itself.n_ref).all()
        by_pairs = intersections.count_soft_intersections(*sides, *how)

        def at_level(ours, theirs, how=how):
            return intersections.count_intersections(ours, theirs, *how)

        some, (n_levels, n_distinct) = event.mean_over_levels(at_level, *sides)
        assert n_levels == 200 < n_distinct
        with monkeypatch.context() as many:
            many.setattr(event, "MOST", 10**6)
            by_levels, sampled = event.mean_over_levels(at_level, *sides)
        assert sampled is None
        for name in ("tp", "n_ref", "n_sys"):
            exact = getattr(by_levels, name)
            assert getattr(by_pairs, name) == pytest.approx(exact, abs=1e-9), name
            off = max(off, abs(getattr(some, name).sum() - exact.sum()) / by_levels.n_ref.sum())
    assert 0 < off < 0.02


def hard(reference, system, **chosen):
    chosen = {"only": "intersection.hard", **chosen}
    scores = evaluate(cases.long_rows(reference), cases.long_rows(system), **chosen)
    return {name.removeprefix("intersection.hard."): value for name, value in scores.items()}


def test_ties_are_those_of_times_as_they_are_written():
    """Not as floats or ticks have them; and no share is 0."""
    for name in ("dtc", "gtc", "cttc"):
        with pytest.raises(SettingsError, match=f"{name} must be above 0"):
            hard([X], [X], **{name: 0.0})
    whole = [("f", 0.0, 1.0, "a")]
    for share, onset, offset in ((0.3, 0.7, 1.7), (0.7, 0.3, 1.3), (0.55, 0.45, 1.45)):
        assert hard(whole, [("f", onset, offset, "a")], dtc=share, gtc=share)["tp.micro"] == 1
    for share in (1 / 3, 2 / 3, 1 / 7):
        assert hard(whole, [("f", 0.0, share, "a")], gtc=share)["tp.micro"] == 1


def test_nothing_on_either_side():
    silent, some = cases.long_rows([], files=("f",)), cases.long_rows([("f", 0.0, 1.0, "a")])
    chosen = Settings(classes=("a",), only=("intersection",), psds="dcase-psds2")
    for ours, theirs, *wanted in (
        (silent, some, 0, 1, 0),
        (some, silent, 0, 0, 1),
        (silent, silent, 0, 0, 0),
    ):
        scores = evaluate_rows(ours, theirs, chosen)
        for reading in ("hard", "soft"):
            assert [scores[f"intersection.{reading}.{name}.micro"] for name in ("tp", "fp", "fn")] == wanted


# Where explanations/differences.md says that intersections and PSDS are counted otherwise than elsewhere.
# What the others give was found by running psds_eval 0.5.3 and sed_scores_eval 0.0.4 on these same cases.

X, Y = ("a", 0, 2, "x"), ("a", 4, 6, "y")
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
}  # fmt: skip


@pytest.mark.parametrize("case", DIFFERENCES)
def test_differences_from_other_tools(case):
    reference, system, chosen, wanted = DIFFERENCES[case]
    scores = hard(reference, system, **chosen)
    assert {name: scores[name] for name in wanted} == wanted


# How much of a stretch events cover, against a look at every tick.


def test_files_that_are_too_long_together_are_refused(monkeypatch):
    monkeypatch.setattr(intersections, "_LINE", 13)
    assert on_line(np.array([1, 2]), np.array([4, 6])).tolist() == [1, 6]
    with pytest.raises(EvaluationError) as refused:
        on_line(np.array([1, 2]), np.array([4, 7]))
    assert str(refused.value) == "the files are too long together; are the times in seconds?"


def lifetimes(rng, n, births):
    """Return random lifetimes of two groups; `births`: those of operating points, or anywhere."""
    onset = rng.integers(0, 12, n)
    if births == "points":
        born = rng.integers(0, 3, n) / 3
        dies = np.where(born < 0.5, (born * 3 + 1) / 3, np.nextafter(born + 1 / 3, 2))
    else:
        born, dies = np.sort(rng.choice(10, 2 * n + 20)[: 2 * n].reshape(2, n) / 9, axis=0)
    codes = rng.integers(0, 2, (2, n)).astype(np.int32)
    return EventLifetimes(*codes, onset, onset + rng.integers(1, 8, n), born, dies)


def at(events, level):
    """Ticks of each file and class at which something is alive at a level, each as often as it is."""
    alive = events.take(events.alive(level, inclusive=True))
    columns = (alive.file, alive.label, alive.onset, alive.offset)
    return sorted((f, c, t) for f, c, on, off in zip(*columns, strict=True) for t in range(on, off))


@pytest.mark.parametrize("births", ["points", "anywhere"])
def test_pieces_cover_at_every_level_what_events_cover_and_once(births):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        events = lifetimes(rng, int(rng.integers(1, 12)), births)
        pieces, group = in_union(events, events.file * 2 + events.label.astype(np.int64))
        assert (group == pieces.file * 2 + pieces.label).all()
        levels = np.unique(np.concatenate((events.born, events.dies)))
        for level in (levels[1:] + levels[:-1]) / 2:
            assert at(pieces, level) == sorted(set(at(events, level)))
    apart = replace(events, onset=np.arange(len(events)), offset=np.arange(len(events)) + 1)
    assert in_union(apart, np.zeros(len(apart), dtype=np.int64))[0] is apart
