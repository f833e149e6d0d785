"""Intersection-based counts, PSDS, piPSDS and soft PSDS, against the slow oracle.

Counts are at one threshold, at all thresholds, and over all levels.
"""

import itertools
from dataclasses import replace

import intersection_cases as cases
import intersection_oracle as oracle
import numpy as np
import pytest
from intersection_cases import FILES, FORMS, LABELS, table_of
from measure_oracles import agree
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.api import evaluate_rows
from sedeval_soft.errors import EvaluationError
from sedeval_soft.measures import event, intersections
from sedeval_soft.measures.intersections import Criteria, on_line
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import lifetimes_of

TWO = LABELS[:2]
COUNTS = ("tp", "n_ref", "fp")
UNITS = (7, 1000)
"""Ticks of a unit: with 7, 1/3 and 0.334 of 3 units differ by less than half a tick; with 1000, by more."""

FORM_PAIRS = list(itertools.product(FORMS, FORMS, ("auto", "merge", "rows")))


def of(found, known, shares) -> np.ndarray:
    """Return the oracle's COUNTS of the events of a system, by class."""
    counts = cases.counts(found, known, TWO, **shares)
    return np.array([[counts.tp[c], cases.n_ref(known, c), counts.fp[c]] for c in TWO]).T


@pytest.mark.parametrize(("reference", "system", "events"), FORM_PAIRS)
def test_all_readings(reference, system, events, monkeypatch):
    """Compare every two formats, merged and not, with ties, gaps, touching and overlapping rows."""
    for seed in range(2):
        monkeypatch.setattr(intersections, "_DENSE", (0, 2**24)[seed])
        rng = np.random.default_rng((seed, FORM_PAIRS.index((reference, system, events))))
        unit = int(rng.choice(UNITS))
        ours, theirs = (cases.side(rng, form, events, len(TWO), unit) for form in (reference, system))
        shares, inclusive = cases.criteria(rng), bool(rng.integers(2))
        # `inclusive`: a value at the threshold is active.
        levels = [(side.levels()[1:] or [0.5]) if inclusive else [0.0, 0.3, 0.5] for side in (ours, theirs)]
        cuts = [float(rng.choice(known)) for known in levels]
        chosen = Settings(
            classes=TWO, events=events, only=("intersection",), inclusive=inclusive,
            reference_threshold=cuts[0], threshold=cuts[1], **shares,
        )  # fmt: skip
        scores = evaluate_rows(ours.table, theirs.table, chosen)
        at_reference, at_system = (np.nextafter(cut, 0) if inclusive else cut for cut in cuts)
        found = of(theirs.events(at_system), ours.events(at_reference), shares)
        # Soft counts integrate, over all levels, the counts of both sides binarised at each level.
        steps = itertools.pairwise(sorted({*ours.levels(), *theirs.levels()}))
        parts = [(high - low, of(theirs.events(low), ours.events(low), shares)) for low, high in steps]
        over_all = sum((width * counts for width, counts in parts), start=np.zeros((3, 2)))
        for name, hard, soft in zip(COUNTS, found.tolist(), over_all, strict=True):
            assert table_of(scores, "intersection.hard", name, TWO) == hard, (seed, name)
            assert table_of(scores, "intersection.soft", name, TWO) == pytest.approx(soft, abs=1e-9)


@pytest.mark.parametrize(("seed", "kind"), [(0, "noise"), (1, "order")])
def test_pairs_and_hard_counts_at_each_level_agree_on_long_tracks(seed, kind, monkeypatch):
    """Hundreds of frames with distinct values, random or in order, give deeply nested events.

    A sample of the levels also comes near the exact counts.
    """
    rng = np.random.default_rng(seed)
    wander = np.cumsum(rng.normal(0, 0.05, (150, 2)), 0) % 1
    other = rng.random((150, 2)) if kind == "noise" else np.sort(rng.random((150, 2)), axis=0)
    tables = cases.wide_rows(other, length=0.03, files=3), cases.wide_rows(wander, length=1 / 3, files=3)
    sides = [lifetimes_of(table, merge=True) for table in tables]
    how = 3, len(TWO), Criteria(*(float(share) for share in rng.choice([0.1, 1 / 3, 0.5, 0.9, 1.0], 3)))
    by_pairs = intersections.count_soft_intersections(*sides, *how)

    def at_level(ours, theirs):
        return intersections.count_intersections(ours, theirs, *how)

    some, (n_levels, n_distinct) = event.mean_over_levels(at_level, *sides)
    assert n_levels == 200 < n_distinct
    monkeypatch.setattr(event, "MOST", 10**6)
    by_levels, sampled = event.mean_over_levels(at_level, *sides)
    assert sampled is None
    for name in ("tp", "n_ref", "n_sys"):
        exact = getattr(by_levels, name)
        assert getattr(by_pairs, name) == pytest.approx(exact, abs=1e-9), name
        assert abs(getattr(some, name).sum() - exact.sum()) < 0.02 * by_levels.n_ref.sum()


# Differences from other tools in intersections and PSDS that explanations/differences.md lists.
# We ran psds_eval 0.5.3 and sed_scores_eval 0.0.4 on these cases to get their results.

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
    # Ties are neither those of floats nor those of ticks.
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
    for reading in ("hard", "soft"):  # all values are 1
        assert {name: scores[f"intersection.{reading}.{name}"] for name in wanted} == wanted


def test_files_that_are_too_long_together_are_refused(monkeypatch):
    monkeypatch.setattr(intersections, "_LINE", 13)
    assert on_line(np.array([1, 2]), np.array([4, 6])).tolist() == [1, 6]
    with pytest.raises(EvaluationError, match="too long together"):
        on_line(np.array([1, 2]), np.array([4, 7]))


# PSDS.

SECOND = 1_000_000
HARD = "intersection.hard.psds"
WEIGHTS = ((0.0, 0.0), (0.5, 0.0), (0.0, 1.0), (0.5, 1.0), (1.0, 0.25), (0.01, 3.0))
"""alpha_ct, alpha_st."""
NAMED = (
    ("dcase-psds1", {"dtc": 0.7, "gtc": 0.7, "cttc": 0.3}, (0.0, 1.0, 100.0)),
    ("dcase-psds2", {"dtc": 0.1, "gtc": 0.1, "cttc": 0.3}, (0.5, 1.0, 100.0)),
)
"""Names of the settings, criteria and weights."""


def made(rng, n_classes: int, form: str | None = None):
    """Return random sides, settings that ask for PSDS, its criteria and weights by name, and durations.

    Durations are longer than any case; one false positive is a rate of 3 to 60 an hour.
    """
    forms = [form or str(rng.choice(cases.FORMS)) for _ in range(2)]
    events = "auto" if form else str(rng.choice(["auto", "auto", "merge", "rows"]))
    sides = [cases.side(rng, chosen, events, n_classes, SECOND) for chosen in forms]
    weights = (*WEIGHTS[rng.integers(len(WEIGHTS))], float(rng.choice([30.0, 100.0, 1500.0])))
    named, shares = None, cases.criteria(rng)
    if rng.random() < 0.25:
        # A preset name of DCASE sets the same criteria and weights.
        named, shares, weights = NAMED[rng.integers(2)]
    weights = dict(zip(("alpha_ct", "alpha_st", "max_efpr"), weights, strict=True))
    chosen = Settings(
        classes=LABELS[:n_classes],
        events=events,
        only=("intersection.hard",),
        reference_threshold=float(rng.choice([0.0, 0.3, 0.5])),
        **({"psds": named} if named else {**shares, **weights}),
    )
    return *sides, chosen, shares, weights, {f: float(rng.choice([60.0, 250.5, 600.0])) for f in FILES}


def points_of(reference: cases.Side, systems: list[cases.Side], chosen, shares):
    """Return the reference's events, and the oracle's counts of each system at every threshold."""
    known = reference.events(chosen.reference_cut)
    labels = [label for label in chosen.classes if cases.n_ref(known, label)]
    return known, [
        [cases.counts([e for e in side.events(level) if e[1] in labels], known, labels, **shares)
         for level in side.levels()]
        for side in systems
    ]  # fmt: skip


def check(scores, name, chosen, points, known, weights, durations):
    """Compare PSDS, of all classes and of each, with the oracle's; a class without reference has none."""
    labels = [label for label in chosen.classes if cases.n_ref(known, label)]
    total = sum(round(seconds * SECOND) for seconds in durations.values())
    curves = oracle.staircases(points, known, labels, total, alpha_ct=weights["alpha_ct"])
    areas = {label: oracle.area(curves[label], weights["max_efpr"]) for label in labels}
    value = (
        oracle.psds(curves, alpha_st=weights["alpha_st"], max_efpr=weights["max_efpr"]) if labels else None
    )
    wanted = {f"{name}[{label}]": areas.get(label) for label in chosen.classes} | {name: value}
    agree(scores, "intersection.hard", wanted)
    return value, areas


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_psds(n_classes):
    """Cases have one to three classes, some without reference, and ties, gaps and overlapping rows."""
    seen = []
    for seed in range(12):
        rng = np.random.default_rng((seed, n_classes))
        ours, theirs, chosen, shares, weights, durations = made(rng, n_classes)
        known, points = points_of(ours, [theirs], chosen, shares)
        scores = evaluate_rows(ours.table, theirs.table, chosen, durations)
        seen.append(check(scores, "psds", chosen, points[0], known, weights, durations))
    assert sum(value is not None and 0 < value < 1 for value, _ in seen) > 2
    assert n_classes == 1 or sum(0 < len(areas) < n_classes for _, areas in seen) > 1


def filtered(values: np.ndarray, steps: int) -> cases.Side:
    """Return frames after a median filter over an odd number of them, by sorting; 0 beyond both ends."""
    padded = np.pad(values, ((0, 0), (steps // 2, steps // 2), (0, 0)))
    windows = np.stack([padded[:, k : k + values.shape[1]] for k in range(steps)])
    return cases.of_frames(np.sort(windows, axis=0)[steps // 2], SECOND)


@pytest.mark.parametrize("seed", range(4))
def test_pipsds(seed):
    """piPSDS joins operating points of several median filters in one staircase; PSDS itself is unfiltered.

    Events last one to five frames, and scores follow them with noise, so that filters help. piPSDS of one
    filter equals PSDS of the filtered system.
    """
    rng = np.random.default_rng(seed)
    *_, chosen, shares, weights, durations = made(rng, 2, "frames")
    lasting = np.repeat(rng.random((2, 9, 2)) < 0.5, rng.integers(1, 6, 9), axis=1)
    noisy = np.clip(0.3 * lasting + np.round(rng.random(lasting.shape), 1), 0, 1)
    ours, theirs = (filtered(values, 1) for values in (lasting * 1.0, noisy))
    steps = ([3], [1, 3], [3, 5], [1, 3, 5])[seed]
    known, points = points_of(ours, [filtered(noisy, n) for n in (1, *steps)], chosen, shares)
    asked = replace(chosen, psds_median_filters=tuple(map(float, steps)))
    scores = evaluate_rows(ours.table, theirs.table, asked, durations)
    of_all = itertools.chain(*points[1:])
    raw, joined = (check(scores, name, chosen, list(of), known, weights, durations)[0]
                   for name, of in (("psds", points[0]), ("pipsds", of_all)))  # fmt: skip
    assert joined != raw
    closing = {"min_gap": 2.0, "min_duration": {"class0": 2.0}}
    several, *each = (
        evaluate_rows(ours.table, theirs.table, replace(chosen, **closing, **of), durations)
        for of in ({"psds_median_filters": (3.0,)}, {"median_filter": 3.0}, {})
    )
    assert [several["intersection.hard.pipsds"], several[HARD]] == [scores[HARD] for scores in each]


@pytest.mark.parametrize(("form", "seed"), [("frames", 0), *(("rows", seed) for seed in range(3))])
def test_soft_psds(form, seed):
    """Soft PSDS is the mean, by width of levels, of PSDS against the reference binarised at each level."""
    ours, theirs, chosen, _, _, durations = made(np.random.default_rng(seed), 3, form)

    def scored(**more):
        return evaluate_rows(ours.table, theirs.table, replace(chosen, **more), durations)

    soft, levels = scored(only=("intersection.soft",)), ours.levels()
    cuts = [(high - low, scored(reference_threshold=low)) for low, high in itertools.pairwise(levels)]
    for of in ("", *(f"[{label}]" for label in chosen.classes)):
        parts = [(width, cut[f"{HARD}{of}"]) for width, cut in cuts if cut[f"{HARD}{of}"] is not None]
        total = sum(width for width, _ in parts)
        wanted = sum(width * value for width, value in parts) / total if parts else None
        assert soft[f"intersection.soft.psds{of}"] == (wanted and pytest.approx(wanted, abs=1e-12))


@pytest.mark.parametrize(
    ("alpha_ct", "hour", "step"),
    [(0.0, 1, 1.0), (0.5, 1, 46.0), (1.0, 1, 91.0), (1.2, 1, 100.0), (0.0, 0, None)],
)
def test_cross_triggers_by_hand(alpha_ct, hour, step):
    """A detection of a on b, which lasts 40 s, is a false alarm (1 an hour) and a cross-trigger (90 an hour).

    Until a is found, the mean over classes is a half, and so is the deviation. If the duration is 0, rates
    are undefined.
    """
    reference = long_rows([("f", 0.0, 10.0, "a"), ("f", 20.0, 60.0, "b")])
    system = long_rows([("f", 30.0, 40.0, "a", 0.9), ("f", 0.0, 10.0, "a", 0.5), ("f", 20.0, 60.0, "b", 0.5)])
    asked = {"max_efpr": 100.0, "only": "intersection.hard", "durations": {"f": 3600.0 * hour}}
    scores = evaluate(reference, system, alpha_ct=alpha_ct, alpha_st=1.0, **asked)
    wanted = [pytest.approx(1 - step / 100), 1.0, pytest.approx(1 - step / 100)] if hour else [None] * 3
    assert [scores[f"{HARD}{form}"] for form in ("[a]", "[b]", "")] == wanted


@pytest.mark.parametrize(("most", "off"), [(20, 0.0), (19, 0.05), (5, 0.2)])
def test_more_levels_than_are_looked_at_are_said_and_change_little(most, off, monkeypatch):
    rng = np.random.default_rng(1)
    reference, system = rng.permutation(np.arange(120)).reshape(40, 3) % 21 / 20, rng.random((40, 3))
    asked = {"only": "intersection.soft", "psds": "dcase-psds1", "max_efpr": 3000.0}
    exact = evaluate(reference, system, **asked)["intersection.soft.psds"]
    monkeypatch.setattr(event, "MOST", most)
    sampled = evaluate(reference, system, **asked)
    assert [f" {most} of 20 levels" in text for text in sampled.warnings if "levels" in text] == [True] * (
        off > 0
    )
    assert abs(sampled["intersection.soft.psds"] - exact) <= off
    assert (sampled["intersection.soft.psds"] == exact) == (off == 0)
