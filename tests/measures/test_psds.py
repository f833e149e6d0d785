"""PSDS, piPSDS and soft PSDS through `evaluate`, against the slow oracle."""

from __future__ import annotations

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
HARD = "intersection.hard.psds"
WEIGHTS = ((0.0, 0.0), (0.5, 0.0), (0.0, 1.0), (0.5, 1.0), (1.0, 0.25), (0.01, 3.0))
"""alpha_ct, alpha_st."""


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
    chosen = Settings(
        classes=LABELS[:n_classes],
        events=events,
        only=("intersection.hard",),
        reference_threshold=float(rng.choice([0.0, 0.3, 0.5])),
        **shares,
        **weights,
    )
    return *sides, chosen, shares, weights, {f: float(rng.choice([60.0, 250.5, 600.0])) for f in FILES}


def points_of(side: cases.Side, known, labels, shares) -> list[oracle.Counts]:
    """Return the oracle's counts of a side at every threshold."""
    return [
        cases.counts([e for e in side.events(level) if e[1] in labels], known, labels, **shares)
        for level in side.levels()
    ]


def by_oracle(points, known, labels, durations, weights):
    """Return PSDS and that of each class alone; classes without reference take no part."""
    total = sum(round(seconds * SECOND) for seconds in durations.values())
    curves = oracle.staircases(points, known, labels, total, alpha_ct=weights["alpha_ct"])
    of_class = {label: oracle.area(curves[label], weights["max_efpr"]) for label in labels}
    return oracle.psds(curves, alpha_st=weights["alpha_st"], max_efpr=weights["max_efpr"]), of_class


def check(scores, name, chosen, wanted):
    """Compare with the oracle's numbers: None where a class has no reference."""
    value, of_class = wanted
    assert scores[name] == pytest.approx(value, abs=1e-12)
    for label in chosen.classes:
        found, own = scores[f"{name}[{label}]"], of_class.get(label)
        assert found is None if own is None else found == pytest.approx(own, abs=1e-12)


def with_reference(known, labels):
    return [label for label in labels if cases.n_ref(known, label)]


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_psds(n_classes):
    """One class too, and classes without reference; ties, gaps, rows that overlap."""
    seen = {"scored": 0, "without reference": 0, "between": 0}
    for seed in range(12):
        rng = np.random.default_rng((seed, n_classes))
        ours, theirs, chosen, shares, weights, durations = made(rng, n_classes)
        scores = evaluate_rows(ours.table, theirs.table, chosen, durations)
        known = ours.events(chosen.reference_cut)
        labels = with_reference(known, chosen.classes)
        if not labels:
            assert scores[HARD] is None
            continue
        wanted = by_oracle(points_of(theirs, known, labels, shares), known, labels, durations, weights)
        check(scores, HARD, chosen, wanted)
        seen["scored"] += 1
        seen["without reference"] += len(labels) < n_classes
        seen["between"] += 0 < wanted[0] < 1
    assert seen["scored"] > 7 and seen["between"] > 2
    assert n_classes == 1 or seen["without reference"] > 1


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("dcase-psds1", {"dtc": 0.7, "gtc": 0.7, "alpha_ct": 0.0}),
        ("dcase-psds2", {"dtc": 0.1, "gtc": 0.1, "cttc": 0.3, "alpha_ct": 0.5}),
    ],
)
def test_the_names_of_dcase_are_their_settings(name, spelled):
    found = []
    for seed in range(3):
        ours, theirs, *_, durations = made(np.random.default_rng(seed), 3, "frames")
        for asked in ({"psds": name}, {**spelled, "alpha_st": 1.0, "max_efpr": 100.0}):
            scores = evaluate(
                ours.table, theirs.table, only="intersection.hard", durations=durations, **asked
            )
            found.append(dict(scores))
    assert found[::2] == found[1::2]
    assert len({scores[HARD] for scores in found}) > 1


def filtered(side: cases.Side, steps: int) -> cases.Side:
    """Return frames after a median filter over an odd number of them, by sorting; 0 beyond both ends."""
    table = side.table
    values = np.stack(table.values, axis=-1).reshape(len(FILES), -1, len(table.classes))
    half, result = steps // 2, np.zeros_like(values)
    for f, s, c in np.ndindex(values.shape):
        track = [*[0.0] * half, *values[f, :, c], *[0.0] * half]
        result[f, s, c] = sorted(track[s : s + steps])[half]
    return cases.of_frames(result, SECOND)


def alike(rng) -> list[cases.Side]:
    """Return events of one to five frames, and noisy scores that follow them: that filters help with."""
    lasting = np.repeat(rng.random((2, 9, 2)) < 0.5, rng.integers(1, 6, 9), axis=1)
    noisy = np.clip(0.3 * lasting + np.round(rng.random(lasting.shape), 1), 0, 1)
    return [cases.of_frames(values, SECOND) for values in (lasting * 1.0, noisy)]


def test_pipsds():
    """The operating points of several median filters in one staircase; PSDS itself stays unfiltered."""
    seen = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        _, _, chosen, shares, weights, durations = made(rng, 2, "frames")
        ours, theirs = alike(rng)
        steps = [int(n) for n in rng.choice([1, 3, 5], int(rng.integers(1, 4)), replace=False)]
        asked = replace(chosen, psds_median_filters=tuple(map(float, steps)))
        scores = evaluate_rows(ours.table, theirs.table, asked, durations)
        known = ours.events(chosen.reference_cut)
        labels = with_reference(known, chosen.classes)
        points = [points_of(filtered(theirs, n), known, labels, shares) for n in (1, *steps)]
        raw, *each = [by_oracle(part, known, labels, durations, weights) for part in points]
        joined = by_oracle([p for part in points[1:] for p in part], known, labels, durations, weights)
        check(scores, "intersection.hard.pipsds", chosen, joined)
        check(scores, HARD, chosen, raw)
        gained = [joined[1][label] - max(part[1][label] for part in each) for label in labels]
        assert min(gained) > -1e-12
        seen += max(gained) > 1e-9
    # Where one filter is best everywhere, joining them shows nothing.
    assert seen > 0


def test_one_filter_is_post_processing_and_gaps_are_closed_after_it():
    rng = np.random.default_rng(0)
    _, _, chosen, _, _, durations = made(rng, 2, "frames")
    tables = [side.table for side in alike(rng)]
    chosen = replace(chosen, min_gap=2.0, min_duration={"class0": 2.0})
    one = evaluate_rows(*tables, replace(chosen, psds_median_filters=(3.0,)), durations)
    other, plain = (evaluate_rows(*tables, replace(chosen, median_filter=of), durations) for of in (3.0, 0.0))
    for form in ("", *(f"[{label}]" for label in chosen.classes)):
        assert one[f"intersection.hard.pipsds{form}"] == other[f"{HARD}{form}"]
        assert one[f"{HARD}{form}"] == plain[f"{HARD}{form}"]


@pytest.mark.parametrize(("form", "n"), [("frames", 3), ("rows", 6)])
def test_soft_psds(form, n):
    """The mean over the reference's levels, by their widths, of PSDS against the reference cut there."""
    seen = 0
    for seed in range(n):
        ours, theirs, chosen, _, _, durations = made(np.random.default_rng(seed), 3, form)
        tables = ours.table, theirs.table
        soft = evaluate_rows(*tables, replace(chosen, only=("intersection.soft",)), durations)
        levels = ours.levels()
        cuts = [
            (high - low, evaluate_rows(*tables, replace(chosen, reference_threshold=low), durations))
            for low, high in zip(levels, levels[1:], strict=False)
        ]
        for suffix in ("", *(f"[{label}]" for label in chosen.classes)):
            parts = [(width, cut[f"{HARD}{suffix}"]) for width, cut in cuts]
            parts = [(width, value) for width, value in parts if value is not None]
            found = soft[f"intersection.soft.psds{suffix}"]
            if not parts:
                assert found is None
                continue
            wanted = sum(w * v for w, v in parts) / sum(w for w, _ in parts)
            assert found == pytest.approx(wanted, abs=1e-12)
            seen += len({value for _, value in parts}) > 1
    # The score differs between levels.
    assert seen > 1


def test_cross_triggers_by_hand():
    """A detection of a on b, which lasts 40 s: a false alarm, 1 an hour, and a trigger, 90 an hour."""
    reference = long_rows([("f", 0.0, 10.0, "a"), ("f", 20.0, 60.0, "b")])
    system = long_rows([("f", 30.0, 40.0, "a", 0.9), ("f", 0.0, 10.0, "a", 0.5), ("f", 20.0, 60.0, "b", 0.5)])
    asked = {"max_efpr": 100.0, "only": "intersection.hard", "durations": {"f": 3600.0}}
    for alpha_ct, step in ((0.0, 1.0), (0.5, 46.0), (1.0, 91.0), (1.2, 100.0)):
        scores = evaluate(reference, system, alpha_ct=alpha_ct, **asked)
        assert (scores[f"{HARD}[a]"], scores[f"{HARD}[b]"]) == (pytest.approx(1 - step / 100), 1.0)
        # Until a is found, the mean is a half and so is the deviation.
        spread = evaluate(reference, system, alpha_ct=alpha_ct, alpha_st=1.0, **asked)
        assert spread[HARD] == pytest.approx(1 - step / 100)


def test_undefined_without_length():
    """A rate per hour of nothing: all of PSDS is undefined, whatever is found."""
    reference = long_rows([("f", 0.0, 1.0, "a")])
    system = long_rows([("f", 0.0, 1.0, "a", 0.9), ("f", 5.0, 6.0, "a", 0.95)])
    scores = evaluate(reference, system, psds="dcase-psds2", only="intersection", durations={"f": 0.0})
    for reading in ("hard", "soft"):
        assert scores[f"intersection.{reading}.psds"] is scores[f"intersection.{reading}.psds[a]"] is None


def test_more_levels_than_are_looked_at_are_said_and_change_little(monkeypatch):
    rng = np.random.default_rng(1)
    reference, system = rng.permutation(np.arange(120)).reshape(40, 3) % 21 / 20, rng.random((40, 3))
    asked = {"only": "intersection.soft", "psds": "dcase-psds1", "max_efpr": 3000.0}
    exact = evaluate(reference, system, **asked)
    assert not any("levels" in text for text in exact.warnings)
    for most, off in ((19, 0.05), (5, 0.2)):
        monkeypatch.setattr(event, "MOST", most)
        sampled = evaluate(reference, system, **asked, ci="bootstrap", replicates=50)
        (said,) = [text for text in sampled.warnings if "levels" in text]
        assert said.startswith("intersection.soft.psds ") and f" {most} of 20 levels" in said
        assert sampled["intersection.soft.psds"] == pytest.approx(exact["intersection.soft.psds"], abs=off)
        assert sampled["intersection.soft.psds"] != exact["intersection.soft.psds"]
