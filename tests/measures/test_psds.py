"""PSDS, piPSDS and soft PSDS through `evaluate`, against the slow oracle."""

from __future__ import annotations

import itertools
from dataclasses import replace

import intersection_cases as cases
import intersection_oracle as oracle
import numpy as np
import pytest
from intersection_cases import FILES, LABELS
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.measures import event
from sedeval_soft.settings import Settings

SECOND = 1_000_000
HARD, PI = "intersection.hard.psds", "intersection.hard.pipsds"
WEIGHTS = ((0.0, 0.0), (0.5, 0.0), (0.0, 1.0), (0.5, 1.0), (1.0, 0.25), (0.01, 3.0))
"""alpha_ct, alpha_st."""
NAMED = (
    (
        "dcase-psds1",
        {"dtc": 0.7, "gtc": 0.7, "cttc": 0.3},
        {"alpha_ct": 0.0, "alpha_st": 1.0, "max_efpr": 100.0},
    ),
    (
        "dcase-psds2",
        {"dtc": 0.1, "gtc": 0.1, "cttc": 0.3},
        {"alpha_ct": 0.5, "alpha_st": 1.0, "max_efpr": 100.0},
    ),
)
"""What the settings are called, the criteria and the weights."""


def made(rng, n_classes: int, form: str | None = None):
    """Return random sides, settings that ask for PSDS, its criteria and weights by name, and durations.

    Durations are longer than any case: a false positive is 3 to 60 an hour.
    """
    forms = [form or str(rng.choice(cases.FORMS)) for _ in range(2)]
    events = "auto" if form else str(rng.choice(["auto", "auto", "merge", "rows"]))
    sides = [cases.side(rng, chosen, events, n_classes, SECOND) for chosen in forms]
    alpha_ct, alpha_st = WEIGHTS[rng.integers(len(WEIGHTS))]
    max_efpr = float(rng.choice([30.0, 100.0, 1500.0]))
    weights = {"alpha_ct": alpha_ct, "alpha_st": alpha_st, "max_efpr": max_efpr}
    shares = cases.criteria(rng)
    named = None
    if rng.random() < 0.25:
        # The names of DCASE are their settings.
        named, shares, weights = NAMED[rng.integers(2)]
    chosen = Settings(
        classes=LABELS[:n_classes],
        events=events,
        only=("intersection.hard",),
        reference_threshold=float(rng.choice([0.0, 0.3, 0.5])),
        **({"psds": named} if named else {**shares, **weights}),
    )
    return *sides, chosen, shares, weights, {f: float(rng.choice([60.0, 250.5, 600.0])) for f in FILES}


def points_of(side: cases.Side, known, labels, shares) -> list[oracle.Counts]:
    """Return the oracle's counts of a side at every threshold."""
    return [
        cases.counts([e for e in side.events(level) if e[1] in labels], known, labels, **shares)
        for level in side.levels()
    ]


def check(scores, name, chosen, points, known, weights, durations):
    """Compare with PSDS by the oracle, and that of each class alone; one without reference takes no part."""
    labels = [label for label in chosen.classes if cases.n_ref(known, label)]
    total = sum(round(seconds * SECOND) for seconds in durations.values())
    curves = oracle.staircases(points, known, labels, total, alpha_ct=weights["alpha_ct"])
    areas = {label: oracle.area(curves[label], weights["max_efpr"]) for label in labels}
    value = (
        oracle.psds(curves, alpha_st=weights["alpha_st"], max_efpr=weights["max_efpr"]) if labels else None
    )
    for form, wanted in ({f"[{label}]": areas.get(label) for label in chosen.classes} | {"": value}).items():
        found = scores[f"{name}{form}"]
        assert found is None if wanted is None else found == pytest.approx(wanted, abs=1e-12)
    return value, areas


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_psds(n_classes):
    """One class too, and classes without reference; ties, gaps, rows that overlap."""
    seen = []
    for seed in range(12):
        ours, theirs, chosen, shares, weights, durations = made(
            np.random.default_rng((seed, n_classes)), n_classes
        )
        scores, known = (
            evaluate_rows(ours.table, theirs.table, chosen, durations),
            ours.events(chosen.reference_cut),
        )
        labels = [label for label in chosen.classes if cases.n_ref(known, label)]
        seen.append(
            check(scores, HARD, chosen, points_of(theirs, known, labels, shares), known, weights, durations)
        )
    assert sum(value is not None and 0 < value < 1 for value, _ in seen) > 2
    assert n_classes == 1 or sum(0 < len(areas) < n_classes for _, areas in seen) > 1


def filtered(values: np.ndarray, steps: int) -> cases.Side:
    """Return frames after a median filter over an odd number of them, by sorting; 0 beyond both ends."""
    padded = np.pad(values, ((0, 0), (steps // 2, steps // 2), (0, 0)))
    windows = np.stack([padded[:, k : k + values.shape[1]] for k in range(steps)])
    return cases.of_frames(np.sort(windows, axis=0)[steps // 2], SECOND)


@pytest.mark.parametrize("seed", range(4))
def test_pipsds(seed):
    """The operating points of several median filters in one staircase; PSDS itself stays unfiltered.

    Events of one to five frames, and noisy scores that follow them:
    filters help. One filter alone is post-processing.
    """
    rng = np.random.default_rng(seed)
    *_, chosen, shares, weights, durations = made(rng, 2, "frames")
    lasting = np.repeat(rng.random((2, 9, 2)) < 0.5, rng.integers(1, 6, 9), axis=1)
    noisy = np.clip(0.3 * lasting + np.round(rng.random(lasting.shape), 1), 0, 1)
    ours, theirs = (filtered(values, 1) for values in (lasting * 1.0, noisy))
    steps = ([3], [1, 3], [3, 5], [1, 3, 5])[seed]
    known, how = ours.events(chosen.reference_cut), (weights, durations)
    labels = [label for label in chosen.classes if cases.n_ref(known, label)]
    points = [points_of(filtered(noisy, n), known, labels, shares) for n in (1, *steps)]
    asked = replace(chosen, psds_median_filters=tuple(map(float, steps)))
    scores = evaluate_rows(ours.table, theirs.table, asked, durations)
    raw, _ = check(scores, HARD, chosen, points[0], known, *how)
    joined, _ = check(scores, PI, chosen, [p for part in points[1:] for p in part], known, *how)
    assert joined != raw
    closing = {"min_gap": 2.0, "min_duration": {"class0": 2.0}}
    several, *each = (
        evaluate_rows(ours.table, theirs.table, replace(chosen, **closing, **of), durations)
        for of in ({"psds_median_filters": (3.0,)}, {"median_filter": 3.0}, {})
    )
    assert [several[PI], several[HARD]] == [scores[HARD] for scores in each]


@pytest.mark.parametrize(("form", "seed"), [("frames", 0), *(("rows", seed) for seed in range(3))])
def test_soft_psds(form, seed):
    """The mean over the reference's levels, by their widths, of PSDS against the reference cut there."""
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
    """A detection of a on b, which lasts 40 s: a false alarm, 1 an hour, and a trigger, 90 an hour.

    Until a is found, the mean is a half and so is the deviation. A rate per hour of nothing is undefined.
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
