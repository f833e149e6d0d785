"""PSDS, piPSDS and soft PSDS through `evaluate`, against the slow oracle."""

from __future__ import annotations

from dataclasses import replace

import intersection_cases as cases
import intersection_oracle as oracle
import numpy as np
import pytest
from intersection_cases import FILES, LABELS, table_of
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.settings import PSDS, Settings

SECOND = 1_000_000
WEIGHTS = ((0.0, 0.0), (0.5, 0.0), (0.0, 1.0), (0.5, 1.0), (1.0, 0.25), (0.01, 3.0))
"""alpha_ct, alpha_st."""


def lengths(rng) -> dict[str, float]:
    """Durations longer than any case: a false positive is 3 to 60 an hour."""
    return {file: float(rng.choice([60.0, 250.5, 600.0])) for file in FILES}


def made(rng, n_classes: int, form: str | None = None):
    """Return random sides, settings that ask for PSDS, and its criteria and weights by name."""
    forms = [form or str(rng.choice(cases.FORMS)) for _ in range(2)]
    events = "auto" if form else str(rng.choice(["auto", "auto", "merge", "rows"]))
    sides = [cases.side(rng, chosen, events, n_classes, SECOND) for chosen in forms]
    alpha_ct, alpha_st = WEIGHTS[rng.integers(len(WEIGHTS))]
    weights = {
        "alpha_ct": alpha_ct,
        "alpha_st": alpha_st,
        "max_efpr": float(rng.choice([30.0, 100.0, 1500.0])),
    }
    shares = cases.criteria(rng)
    chosen = Settings(
        classes=LABELS[:n_classes],
        events=events,
        only=("intersection.hard",),
        reference_threshold=float(rng.choice([0.0, 0.3, 0.5])),
        **shares,
        **weights,
    )
    return *sides, chosen, shares, weights


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
    for seed in range(50):
        rng = np.random.default_rng((seed, n_classes))
        ours, theirs, chosen, shares, weights = made(rng, n_classes)
        durations = lengths(rng)
        scores = evaluate_rows(ours.table, theirs.table, chosen, durations)
        known = ours.events(chosen.reference_cut)
        labels = with_reference(known, chosen.classes)
        if not labels:
            assert scores["intersection.hard.psds"] is None
            continue
        wanted = by_oracle(points_of(theirs, known, labels, shares), known, labels, durations, weights)
        check(scores, "intersection.hard.psds", chosen, wanted)
        seen["scored"] += 1
        seen["without reference"] += len(labels) < n_classes
        seen["between"] += 0 < wanted[0] < 1
    assert seen["scored"] > 30 and seen["between"] > 10
    assert n_classes == 1 or seen["without reference"] > 1


@pytest.mark.parametrize("name", PSDS)
def test_the_names_of_dcase_are_their_settings(name):
    spelled = {
        "dcase-psds1": {"dtc": 0.7, "gtc": 0.7, "alpha_ct": 0.0, "alpha_st": 1.0, "max_efpr": 100.0},
        "dcase-psds2": {
            "dtc": 0.1, "gtc": 0.1, "cttc": 0.3, "alpha_ct": 0.5, "alpha_st": 1.0, "max_efpr": 100.0,
        },
    }[name]  # fmt: skip
    differ = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        ours, theirs = (cases.side(rng, "frames", "auto", 3, SECOND) for _ in range(2))
        asked = {"only": ("intersection.hard",), "durations": lengths(rng)}
        short = evaluate(ours.table, theirs.table, psds=name, **asked)
        long = evaluate(ours.table, theirs.table, **spelled, **asked)
        known = ours.events(0.5)
        labels = with_reference(known, LABELS)
        assert short["intersection.hard.psds"] == long["intersection.hard.psds"]
        if labels:
            shares = {name: short.settings.criterion(name) for name in ("dtc", "gtc", "cttc")}
            points = points_of(theirs, known, labels, shares)
            wanted = by_oracle(points, known, labels, asked["durations"], spelled)
            check(short, "intersection.hard.psds", replace(short.settings, classes=LABELS), wanted)
            differ += wanted[0] != wanted[1][labels[0]]
    assert differ > 2


def filtered(side: cases.Side, steps: int) -> cases.Side:
    """Return frames after a median filter over an odd number of them, by sorting; 0 beyond both ends."""
    table = side.table
    values = np.stack(table.values, axis=-1).reshape(len(FILES), -1, len(table.classes))
    half, result = steps // 2, np.zeros_like(values)
    for f, s, c in np.ndindex(values.shape):
        track = [*[0.0] * half, *values[f, :, c], *[0.0] * half]
        result[f, s, c] = sorted(track[s : s + steps])[half]
    return cases.of_frames(result, round((table.offset[0] - table.onset[0]) * SECOND))


def alike(rng) -> list[cases.Side]:
    """Return events of one to five frames, and noisy scores that follow them: that filters help with."""
    lasting = np.repeat(rng.random((2, 9, 2)) < 0.5, rng.integers(1, 6, 9), axis=1)
    noisy = np.clip(0.3 * lasting + np.round(rng.random(lasting.shape), 1), 0, 1)
    return [cases.of_frames(values, SECOND) for values in (lasting * 1.0, noisy)]


def test_pipsds():
    """The operating points of several median filters in one staircase; PSDS itself stays unfiltered."""
    seen = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        _, _, chosen, shares, weights = made(rng, 2, "frames")
        ours, theirs = alike(rng)
        durations, frame = lengths(rng), float(theirs.table.offset[0] - theirs.table.onset[0])
        steps = [int(n) for n in rng.choice([1, 3, 5], int(rng.integers(1, 4)), replace=False)]
        asked = replace(chosen, psds_median_filters=tuple(n * frame for n in steps))
        scores = evaluate_rows(ours.table, theirs.table, asked, durations)
        known = ours.events(chosen.reference_cut)
        labels = with_reference(known, chosen.classes)
        if not labels:
            assert scores["intersection.hard.pipsds"] is None
            continue
        systems = [filtered(theirs, n) for n in steps]
        points = [points_of(system, known, labels, shares) for system in systems]
        each = [by_oracle(part, known, labels, durations, weights) for part in points]
        joined = by_oracle([point for part in points for point in part], known, labels, durations, weights)
        check(scores, "intersection.hard.pipsds", chosen, joined)
        raw = by_oracle(points_of(theirs, known, labels, shares), known, labels, durations, weights)
        check(scores, "intersection.hard.psds", chosen, raw)
        gained = [joined[1][label] - max(part[1][label] for part in each) for label in labels]
        assert min(gained) > -1e-12
        seen += max(gained) > 1e-9
    # Where one filter is best everywhere, joining them shows nothing.
    assert seen > 2


def test_pipsds_with_gaps_and_durations():
    """Whatever follows the median filter follows each of them: one filter at a time is post-processing."""
    differ = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        _, _, chosen, _, _ = made(rng, 2, "frames")
        ours, theirs = alike(rng)
        chosen = replace(chosen, min_gap=float(rng.integers(0, 4)), min_duration={"class0": 2.0})
        durations = lengths(rng)

        def scored(**settings):
            return evaluate_rows(ours.table, theirs.table, replace(chosen, **settings), durations)  # noqa: B023

        filters = (0.0, 3.0, 5.0)
        joined = scored(psds_median_filters=filters)
        each = [scored(psds_median_filters=(length,)) for length in filters]
        for length, one in zip(filters, each, strict=True):
            other = scored(median_filter=length)
            for form in ("", *(f"[{label}]" for label in chosen.classes)):
                assert one[f"intersection.hard.pipsds{form}"] == other[f"intersection.hard.psds{form}"]
        for label in chosen.classes:
            form = f"intersection.hard.pipsds[{label}]"
            if joined[form] is not None:
                assert joined[form] >= max(one[form] for one in each) - 1e-12
                differ += len({one[form] for one in each}) > 1
    assert differ > 2


@pytest.mark.parametrize(("form", "n"), [("frames", 14), ("rows", 40)])
def test_soft_psds(form, n):
    """The mean over the reference's levels, by their widths, of PSDS against the reference cut there."""
    seen = 0
    for seed in range(n):
        rng = np.random.default_rng(seed)
        ours, theirs, chosen, _, _ = made(rng, 3, form)
        durations = lengths(rng)
        soft = evaluate_rows(
            ours.table, theirs.table, replace(chosen, only=("intersection.soft",)), durations
        )
        cuts = ours.levels()
        parts: dict[str, list[tuple[float, float]]] = {}
        for low, high in zip(cuts, cuts[1:], strict=False):
            cut = evaluate_rows(ours.table, theirs.table, replace(chosen, reference_threshold=low), durations)
            for name in ("psds", *(f"psds[{label}]" for label in chosen.classes)):
                if (value := cut[f"intersection.hard.{name}"]) is not None:
                    parts.setdefault(name, []).append((high - low, value))
        for name in ("psds", *(f"psds[{label}]" for label in chosen.classes)):
            found = soft[f"intersection.soft.{name}"]
            if name not in parts:
                assert found is None
                continue
            width = sum(w for w, _ in parts[name])
            assert found == pytest.approx(sum(w * v for w, v in parts[name]) / width, abs=1e-12)
        seen += len({value for _, value in parts.get("psds", ())}) > 1
    # The score differs between levels.
    assert seen > 3


def test_soft_psds_is_psds_on_a_reference_of_0_and_1():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        _, theirs, chosen, _, _ = made(rng, 2)
        reference = cases.side(rng, "marks", chosen.events, 2, SECOND)
        both = replace(chosen, only=("intersection.hard", "intersection.soft"))
        scores = evaluate_rows(reference.table, theirs.table, both, lengths(rng))
        for form in ("", *(f"[{label}]" for label in chosen.classes)):
            assert scores[f"intersection.soft.psds{form}"] == scores[f"intersection.hard.psds{form}"]


def test_a_perfect_system_gets_1():
    """Exactly, all of PSDS: cut, over filters, soft; each class by itself too."""
    rng = np.random.default_rng(0)
    rows = cases.side(rng, "marks", "merge", 3, SECOND).table
    scores = evaluate(
        rows, rows, psds="dcase-psds1", events="merge", only=("intersection",), durations=lengths(rng)
    )
    assert scores["intersection.hard.psds"] == scores["intersection.soft.psds"] == 1.0
    assert table_of(scores, "intersection.hard", "psds", LABELS) == [1.0] * 3


def test_psds_by_hand():
    """Two of four events at no false alarm, three at 2 an hour, four at 6: (2/4 x 2 + 3/4 x 4 + 4) / 10."""
    places = [10.0 * k for k in range(4)]
    reference = long_rows([("f", at, at + 5, "a") for at in places])
    found = zip(places, (0.9, 0.8, 0.6, 0.3), strict=True)
    false = zip(
        (100.0, 110.0, 120.0, 130.0, 140.0, 150.0, 160.0), (0.7, 0.7, 0.4, 0.4, 0.4, 0.4, 0.2), strict=True
    )
    system = long_rows([("f", at, at + 5, "a", value) for at, value in (*found, *false)])
    scores = evaluate(reference, system, max_efpr=10, only="intersection.hard", durations={"f": 3600.0})
    assert scores["intersection.hard.psds"] == pytest.approx((2 * 0.5 + 4 * 0.75 + 4) / 10)
    # Twice the recording, half the rate: the steps are at 1 and 3.
    scores = evaluate(reference, system, max_efpr=10, only="intersection.hard", durations={"f": 7200.0})
    assert scores["intersection.hard.psds"] == pytest.approx((1 * 0.5 + 2 * 0.75 + 7) / 10)


def test_cross_triggers_by_hand():
    """A detection of a on b, which lasts 40 s: a false alarm, 1 an hour, and a trigger, 90 an hour."""
    reference = long_rows([("f", 0.0, 10.0, "a"), ("f", 20.0, 60.0, "b")])
    system = long_rows([("f", 30.0, 40.0, "a", 0.9), ("f", 0.0, 10.0, "a", 0.5), ("f", 20.0, 60.0, "b", 0.5)])
    asked = {"max_efpr": 100.0, "only": "intersection.hard", "durations": {"f": 3600.0}}
    for alpha_ct, step in ((0.0, 1.0), (0.5, 46.0), (1.0, 91.0), (1.2, 100.0)):
        scores = evaluate(reference, system, alpha_ct=alpha_ct, **asked)
        assert scores["intersection.hard.psds[a]"] == pytest.approx(1 - step / 100)
        assert scores["intersection.hard.psds[b]"] == 1.0
        spread = evaluate(reference, system, alpha_ct=alpha_ct, alpha_st=1.0, **asked)
        # Until a is found, the mean is a half and so is the deviation.
        assert spread["intersection.hard.psds"] == pytest.approx(1 - step / 100)


def test_undefined_without_length():
    """A rate per hour of nothing: all of PSDS is undefined, whatever is found."""
    reference = long_rows([("f", 0.0, 1.0, "a")])
    system = long_rows([("f", 0.0, 1.0, "a", 0.9), ("f", 5.0, 6.0, "a", 0.95)])
    scores = evaluate(reference, system, psds="dcase-psds2", only="intersection", durations={"f": 0.0})
    for reading in ("hard", "soft"):
        assert scores[f"intersection.{reading}.psds"] is None
        assert scores[f"intersection.{reading}.psds[a]"] is None


def test_very_many_levels_are_sampled_and_said_to_be():
    """Evenly spaced cuts come near the mean over all, and a warning says so."""
    from unittest.mock import patch

    from sedeval_soft.measures import psds

    rng = np.random.default_rng(5)
    sides = [np.round(rng.random((60, 2)), 3) for _ in range(2)]
    asked = {"only": "intersection.soft", "psds": "dcase-psds2", "max_efpr": 2000.0}
    exact = evaluate(*sides, **asked)
    assert not exact.warnings
    with patch.object(psds, "_MOST", 100):
        sampled = evaluate(*sides, **asked)
    assert "the mean over 64 evenly spaced levels" in sampled.warnings[0]
    assert sampled["intersection.soft.psds"] != exact["intersection.soft.psds"]
    assert sampled["intersection.soft.psds"] == pytest.approx(exact["intersection.soft.psds"], abs=0.02)
