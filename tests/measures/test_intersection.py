"""Intersection-based counts at one threshold, at all, and over all levels, against the slow oracle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import intersection_cases as cases
import numpy as np
import pytest
from intersection_cases import FORMS, LABELS, Side, table_of

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.measures.intersections import Criteria, intersections_when
from sedeval_soft.measures.soft_intersections import count_soft_activities, count_soft_pairs
from sedeval_soft.measures.thresholds import ThresholdCounts
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import activities, lifetimes_of

TWO = LABELS[:2]
COUNTS = ("tp", "n_ref", "fp")
UNITS = (7, 1000)
"""Ticks: at 7, a third of 3 units is within half a tick of 0.334 of them; at 1000 it is not."""

FORM_PAIRS = [
    (reference, system, events)
    for reference in FORMS
    for system in FORMS
    for events in ("auto", "merge", "rows")
]


def made(seed: int, reference: str, system: str, events: str):
    """Return random sides, settings, and the criteria in them."""
    rng = np.random.default_rng((seed, FORM_PAIRS.index((reference, system, events))))
    unit = int(rng.choice(UNITS))
    sides = [cases.side(rng, form, events, len(TWO), unit) for form in (reference, system)]
    shares = cases.criteria(rng)
    chosen = Settings(
        classes=TWO,
        events=events,
        only=("intersection",),
        reference_threshold=float(rng.choice([0.0, 0.25, 0.5])),
        threshold=float(rng.choice([0.0, 0.3, 0.5])),
        **shares,
    )
    return *sides, chosen, shares


def of(counts, events) -> dict[str, list[int]]:
    """Return the oracle's counts by name."""
    return {
        "tp": [counts.tp[label] for label in TWO],
        "n_ref": [cases.n_ref(events, label) for label in TWO],
        "fp": [counts.fp[label] for label in TWO],
    }


@pytest.mark.parametrize(("reference", "system", "events"), FORM_PAIRS)
def test_all_readings(reference, system, events):
    """Every form against every other, merged and not, with ties, gaps, touching and overlapping rows."""
    for seed in range(14):
        ours, theirs, chosen, shares = made(seed, reference, system, events)
        scores = evaluate_rows(ours.table, theirs.table, chosen)
        known = ours.events(chosen.reference_cut)
        swept = {
            level: of(cases.counts(theirs.events(level), known, TWO, **shares), known)
            for level in theirs.levels()
        }
        below = max(level for level in swept if level <= chosen.threshold)
        for name in COUNTS:
            assert table_of(scores, "intersection.hard", name, TWO) == swept[below][name], (seed, name)
        check_optimal(scores, swept)
        check_steps(ours, theirs, chosen, swept)
        check_soft(scores, integrated(ours, theirs, shares))


def check_optimal(scores, swept):
    """The best F and error rate over all thresholds, as exact fractions; of ties the highest threshold."""
    for k, label in enumerate(TWO):
        at = {level: {name: of[name][k] for name in COUNTS} for level, of in swept.items()}
        n_ref = at[0.0]["n_ref"]
        f, rate, threshold, rate_threshold = (
            scores[f"intersection.optimal.{name}[{label}]"]
            for name in ("f1", "best_error_rate", "threshold", "best_error_rate_threshold")
        )
        if not n_ref:
            assert [f, rate, threshold, rate_threshold] == [None] * 4
            continue
        by_f = {t: Fraction(2 * c["tp"], c["tp"] + c["fp"] + n_ref) for t, c in at.items()}
        best = max(t for t, value in by_f.items() if value == max(by_f.values()))
        assert f == pytest.approx(float(by_f[best]), abs=1e-12)
        assert same_step(at, threshold, best)
        for name in COUNTS:
            assert scores[f"intersection.optimal.{name}[{label}]"] == at[best][name]
        by_rate = {t: Fraction(n_ref - c["tp"] + c["fp"], n_ref) for t, c in at.items()}
        best = max(t for t, value in by_rate.items() if value == min(by_rate.values()))
        assert rate == pytest.approx(float(by_rate[best]), abs=1e-12)
        assert same_step(at, rate_threshold, best)


def same_step(at, threshold, best) -> bool:
    """Whether no count changes from a threshold up to the highest level that is as good."""
    below = max(level for level in at if level <= threshold)
    return below <= best and all(at[level] == at[best] for level in at if below <= level <= best)


def check_steps(ours: Side, theirs: Side, chosen: Settings, swept):
    """The counts at every threshold, not only at the best."""
    reference, system = (recoded(side) for side in (ours, theirs))
    cut = lifetimes_of(reference, ours.merge)
    cut = cut.take(cut.alive(chosen.reference_cut))
    sizes = len(reference.files), len(TWO)
    both = cut.events(), lifetimes_of(system, theirs.merge)
    tables = ThresholdCounts.of_lives(*intersections_when(*both, *sizes, Criteria.of(chosen)))
    for k, table in enumerate(tables):
        threshold, (tp, n_sys) = table.steps()
        assert threshold[0] == 0.0
        for level, counts in swept.items():
            at = int(np.searchsorted(threshold, level, side="right")) - 1
            assert tp[at] == counts["tp"][k]
            assert n_sys[at] - tp[at] == counts["fp"][k]


def recoded(side: Side):
    """Return a table with the files and classes of all tables."""
    table = side.table
    files = np.array([cases.FILES.index(name) for name in table.files], dtype=np.int32)
    return table.with_files(cases.FILES, files).with_classes(TWO)


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


def check_soft(scores, wanted):
    for name in COUNTS:
        found = table_of(scores, "intersection.soft", name, TWO)
        assert found == pytest.approx(wanted[name].tolist(), abs=1e-9)


@pytest.mark.parametrize("block", range(4))
def test_both_ways_to_the_soft_reading(block):
    """Where events are nested, cells and pairs of events are two ways to the same, and the oracle a third."""
    for seed in range(24):
        rng = np.random.default_rng((block, seed))
        unit = int(rng.choice(UNITS))
        forms = rng.choice(["frames", "rows"], 2)
        ours, theirs = (cases.side(rng, str(form), "merge", len(TWO), unit) for form in forms)
        shares = cases.criteria(rng)
        tables, bars = [recoded(side) for side in (ours, theirs)], Criteria(**shares)
        by_cells = count_soft_activities(*(activities(table) for table in tables), 2, bars)
        events = [lifetimes_of(table, merge=True) for table in tables]
        by_pairs = count_soft_pairs(*events, 2, len(TWO), bars)
        wanted = integrated(ours, theirs, shares)
        for counts in (by_cells, by_pairs):
            found = {"tp": counts.tp, "n_ref": counts.n_ref, "fp": counts.n_sys - counts.tp}
            for name in COUNTS:
                assert found[name].sum(axis=0) == pytest.approx(wanted[name], abs=1e-9), (block, seed)
            assert (counts.tp <= counts.n_ref).all()
            assert (counts.n_sys >= counts.tp).all()
        assert by_cells.tp == pytest.approx(by_pairs.tp, abs=1e-9)


def test_both_ways_agree_on_long_tracks():
    """Hundreds of frames, values all distinct, wandering or in order: deep nests, and parts of parts."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = 3 * int(rng.integers(20, 150))
        tables = []
        for kind in rng.integers(0, 4, 2):
            values = rng.random((n, 2)) if kind < 2 else np.cumsum(rng.normal(0, 0.05, (n, 2)), axis=0) % 1
            values = np.sort(values, axis=0)[:: int(rng.choice([-1, 1]))] if kind == 1 else values
            tables.append(cases.wide_rows(values, length=float(rng.choice([0.02, 0.03, 1 / 3])), files=3))
        bars = Criteria(*(float(share) for share in rng.choice([0.1, 1 / 3, 0.5, 0.9, 1.0], 3)))
        by_cells = count_soft_activities(*(activities(table) for table in tables), 3, bars)
        by_pairs = count_soft_pairs(*(lifetimes_of(table, merge=True) for table in tables), 3, 2, bars)
        for name in ("tp", "n_ref", "n_sys"):
            assert getattr(by_cells, name) == pytest.approx(getattr(by_pairs, name), abs=1e-9), (seed, name)
        itself = count_soft_activities(activities(tables[0]), activities(tables[0]), 3, bars)
        assert (itself.tp == itself.n_ref).all() and (itself.n_sys == itself.n_ref).all()


@pytest.mark.parametrize("events", ["auto", "merge", "rows"])
def test_at_the_threshold_too(events):
    """Inclusive: a value at the threshold is active; what is best and soft stays as it is."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        forms = [str(form) for form in rng.choice(["frames", "rows"], 2)]
        ours, theirs = (cases.side(rng, form, events, len(TWO), 1000) for form in forms)
        shares = cases.criteria(rng)
        levels = [[level for level in side.levels() if level] or [0.5] for side in (ours, theirs)]
        cuts = [float(rng.choice(known)) for known in levels]
        chosen = Settings(
            classes=TWO, events=events, only=("intersection",), inclusive=True,
            reference_threshold=cuts[0], threshold=cuts[1], **shares,
        )  # fmt: skip
        got = evaluate_rows(ours.table, theirs.table, chosen)
        known, found = (
            side.events(np.nextafter(cut, 0)) for side, cut in zip((ours, theirs), cuts, strict=True)
        )
        wanted = of(cases.counts(found, known, TWO, **shares), known)
        for name in COUNTS:
            assert table_of(got, "intersection.hard", name, TWO) == wanted[name]
        below = replace(chosen, inclusive=False, reference_threshold=np.nextafter(cuts[0], 0))
        other = evaluate_rows(ours.table, theirs.table, below)
        for name in got:
            if ".soft." in name or (".optimal." in name and "threshold" not in name):
                assert got[name] == other[name], name


def test_files_and_classes_add_up():
    """Each file by itself, each class by itself: counts are sums, whatever the order of rows."""
    for seed in range(16):
        rng = np.random.default_rng(seed)
        events = str(rng.choice(["auto", "merge", "rows"]))
        chosen = Settings(classes=TWO, events=events, only=("intersection.hard", "intersection.soft"))
        tables = [cases.side(rng, "rows", events, len(TWO), 1000).table for _ in range(2)]
        whole = evaluate_rows(*tables, chosen)
        shuffled = [kept(table, rng.permutation(len(table))) for table in tables]
        assert dict(evaluate_rows(*shuffled, chosen)) == pytest.approx(dict(whole), abs=1e-12)
        parts = [
            evaluate_rows(*(kept(t, np.flatnonzero(t.file == t.files.index(file))) for t in tables), chosen)
            for file in cases.FILES
        ]
        for reading in ("hard", "soft"):
            for name in (*COUNTS, "n_sys", "fn", "deletions", "insertions"):
                form = f"intersection.{reading}.{name}.micro"
                assert sum(part[form] for part in parts) == pytest.approx(whole[form], abs=1e-9)
        for label in TWO:
            alone = evaluate_rows(*tables, replace(chosen, classes=(label,)))
            for name in COUNTS:
                form = f"intersection.soft.{name}[{label}]"
                assert alone[form] == whole[form]


def kept(table, index):
    """Return some rows of a long table."""
    return table.take(index)


@pytest.mark.parametrize("events", ["auto", "merge", "rows"])
def test_soft_is_hard_on_labels_of_0_and_1(events):
    """To the last bit, and at any threshold."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        sides = []
        for form in rng.choice(["frames", "rows"], 2):
            made = cases.side(rng, str(form), events, len(TWO), 7)
            table = made.table
            table = replace(table, values=tuple(np.ceil(column) for column in table.values))
            sides.append(table)
        shares = cases.criteria(rng)
        only = ("intersection.hard", "intersection.soft")
        cut = float(rng.choice([0.0, 0.3, 0.9]))
        scores = evaluate_rows(
            *sides, Settings(classes=TWO, events=events, only=only, threshold=cut, **shares)
        )
        names = [name for name in scores if name.startswith("intersection.hard.")]
        assert len(names) > 40
        for name in names:
            assert scores[name.replace(".hard.", ".soft.")] == scores[name]


@pytest.mark.parametrize("form", ["frames", "rows"])
@pytest.mark.parametrize("events", ["auto", "merge", "rows"])
def test_a_soft_reference_against_itself_is_perfect(form, events):
    """Exactly 1: no rounding of levels may cost anything, whatever the criteria."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        own = cases.side(rng, form, events, len(TWO), 1000)
        chosen = Settings(
            classes=TWO, events=events, only=("intersection.soft", "event.soft"), **cases.criteria(rng)
        )
        scores = evaluate_rows(own.table, own.table, chosen)
        present = [label for label in TWO if scores[f"intersection.soft.n_ref[{label}]"]]
        averages = [".micro", ".macro"] if present else []
        for form_of_name in (*averages, *(f"[{label}]" for label in present)):
            for name in ("precision", "recall", "f1"):
                for basis in ("intersection", "event"):
                    assert scores[f"{basis}.soft.{name}{form_of_name}"] == 1.0, (seed, basis, name)


def test_criteria_by_hand():
    """A detection of 10 s: 5 s in an event of 10 s. Half is enough for 0.5 on either side, not for 0.51."""
    rows = [("f", 0.0, 10.0, "a")]
    other = [("f", 5.0, 15.0, "a")]
    for dtc, gtc, tp, n_sys in ((0.5, 0.5, 1, 1), (0.51, 0.5, 0, 1), (0.5, 0.51, 0, 0)):
        scores = evaluate_rows(
            cases.long_rows(rows),
            cases.long_rows(other),
            Settings(only=("intersection.hard",), dtc=dtc, gtc=gtc),
        )
        assert scores["intersection.hard.tp.micro"] == tp
        # Neither found nor false where it passes without helping: N_sys is TP + FP.
        assert scores["intersection.hard.n_sys.micro"] == n_sys


def test_ties_of_decimal_times():
    """0.3 s of 1 s, a third of 0.3 s ... are ties as they are written, not as floats or ticks have them."""
    for share, onset, offset in ((0.3, 0.7, 1.7), (0.7, 0.3, 1.3), (0.55, 0.45, 1.45)):
        shares = {"dtc": share, "gtc": share, "only": ("intersection.hard",)}
        scores = evaluate_rows(
            cases.long_rows([("f", 0.0, 1.0, "a")]),
            cases.long_rows([("f", onset, offset, "a")]),
            Settings(**shares),
        )
        assert scores["intersection.hard.tp.micro"] == 1
    for share in (1 / 3, 2 / 3, 1 / 7):
        scores = evaluate_rows(
            cases.long_rows([("f", 0.0, 1.0, "a")]),
            cases.long_rows([("f", 0.0, share, "a")]),
            Settings(only=("intersection.hard",), gtc=share),
        )
        assert scores["intersection.hard.tp.micro"] == 1


def test_nothing_on_either_side():
    silent, some = cases.long_rows([], files=("f",)), cases.long_rows([("f", 0.0, 1.0, "a")])
    chosen = Settings(classes=("a",), only=("intersection",), psds="dcase-psds2")
    for ours, theirs, tp, fp, fn in (
        (silent, some, 0, 1, 0),
        (some, silent, 0, 0, 1),
        (silent, silent, 0, 0, 0),
    ):
        scores = evaluate_rows(ours, theirs, chosen)
        for reading in ("hard", "soft"):
            found = [scores[f"intersection.{reading}.{name}.micro"] for name in ("tp", "fp", "fn")]
            assert found == [tp, fp, fn]
