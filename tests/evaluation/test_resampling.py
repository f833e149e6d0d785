"""Replicates are what evaluating resampled files from scratch gives, and intervals are made of them."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from drawn_again import (
    FILES,
    LABELS,
    Tables,
    as_floats,
    key_of,
    random_table,
    random_tables,
    same_numbers,
    sparse_tables,
)
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.evaluation import resample
from sedeval_soft.evaluation.resample import Replicates, bootstrap
from sedeval_soft.measures import calibration, psds
from sedeval_soft.measures import tally as file_sums
from sedeval_soft.measures.registry import ScoreName, measure_of
from sedeval_soft.report import render
from sedeval_soft.settings import GROUPS, READINGS, Settings

ALL = Settings(
    classes=LABELS, only=tuple(READINGS), psds="dcase-psds2", measures=GROUPS, satisfice="precision>=0.5"
)
COUNTED = replace(ALL, psds=None, measures=())
"""All that needs no look at each replicate by itself."""


def late_tables(seed):
    """Tables of which the system has a class, and times, that the reference does not name."""
    rng = np.random.default_rng(seed)
    reference, system = (random_table(rng, n=60, labels=labels) for labels in (LABELS, (*LABELS, "bird")))
    return Tables(reference.take(reference.offset < np.median(reference.offset)), system)


_NOTHING = long_rows([("a", 0.0, 1.0, "car", 0.0)], files=FILES)


def fast(names, *some):
    """Parameters of which all but some are slow."""
    return [pytest.param(name, marks=[] if name in some else pytest.mark.slow) for name in names]


def slow(*values):
    """Parameters that are slow."""
    return [pytest.param(*each, marks=pytest.mark.slow) for each in values]


def all_tied(side):
    return replace(side, values=(np.round(side.value) * 0.75,))


def one_class(seed):
    return random_table(np.random.default_rng(seed), labels=["dog"], n=25)


TABLES = {
    "tied": lambda: random_tables(1),
    "all tied": lambda: Tables(*(all_tied(getattr(random_tables(2), s)) for s in ("reference", "system"))),
    "fine": lambda: random_tables(3, "fine"),
    "sparse": lambda: sparse_tables(5),
    "one class": lambda: Tables(one_class(6), one_class(7)),
    "no reference": lambda: replace(random_tables(8), reference=_NOTHING),
    "empty system": lambda: replace(random_tables(9), system=_NOTHING),
    "nothing": lambda: Tables(_NOTHING, _NOTHING),
    "values on one side": lambda: replace(random_tables(10), reference=random_tables(11, "plain").reference),
}
SETTINGS = {
    "rows are events": replace(ALL, events="rows"),
    "other cuts": replace(
        ALL, threshold=0.25, reference_threshold=0.75, inclusive=True, beta=2.0, t_norm="product", bins=3,
        max_fpr=0.3, max_fnr=0.4, entropy_unit="bits", iou=0.3, psds=None, alpha_ct=0.5, alpha_st=1.0,
    ),
    "other grid": replace(ALL, segment_length=0.7, pool="mean", matching="greedy", offset=False, beta=0.5),
    "sed_eval": replace(ALL, compat="sed_eval", segment_length=0.5),
    "median filters": replace(ALL, psds_median_filters=(0.3, 3.0), psds="dcase-psds1"),
    "post-processed": replace(ALL, median_filter=3.0, min_gap=1.5, min_duration={"dog": 1.5}),
}  # fmt: skip


def rows_of_weights(count: int = 1, seed: int = 0) -> np.ndarray:
    """Files drawn at random, one left out, only one file, none, and each once: the evaluation itself."""
    drawn = np.concatenate(list(bootstrap(len(FILES), count, seed)))
    one, last, every = np.zeros(len(FILES)), np.ones(len(FILES)), np.zeros(len(FILES))
    one[1], last[-1] = 4.0, 0.0
    return np.stack([*drawn, one, last, every, np.ones(len(FILES))])


def compare(tables, settings, rows):
    """Compare replicates of one evaluation with evaluations of drawn tables; return the names of scores."""
    scores = tables.scores(settings)
    names = list(scores)
    made = Replicates.of(tables.tally(settings), settings)
    ours = made.values(rows, [key_of(scores.score(name)) for name in names])
    theirs = np.stack([as_floats(tables.drawn(row).scores(settings), names) for row in rows], axis=1)
    same_numbers(ours, theirs, names)
    return names, ours


@pytest.mark.parametrize("made", fast(TABLES, "sparse", "no reference", "nothing"))
def test_every_score_of_every_kind_of_table(made):
    names, values = compare(TABLES[made](), ALL, rows_of_weights())
    # Not a comparison of nothing with nothing.
    assert len(names) > 900 and (np.isfinite(values).mean() > 0.5 or made not in ("tied", "fine"))


@pytest.mark.parametrize("chosen", fast(SETTINGS, "other cuts", "sed_eval"))
def test_every_score_under_other_settings(chosen):
    compare(random_tables(20), SETTINGS[chosen], rows_of_weights())


BEST = replace(COUNTED, only=("segment.optimal", "clip.optimal", "event.optimal", "intersection.optimal"))
CURVES = Settings(
    only=("segment.hard", "segment.soft", "clip.soft", "event.hard"),
    measures=("curves", "calibration", "divergence"), max_fpr=0.25, max_fnr=0.2,
)  # fmt: skip
PSDS = {
    40: {"psds": "dcase-psds1"},
    41: {"alpha_ct": 0.5, "alpha_st": 0.0, "max_efpr": 1e4},
    42: {"alpha_ct": 0.0, "alpha_st": 0.0, "psds_median_filters": (0.3, 3.0)},
    43: {"psds": "dcase-psds2", "events": "rows"},
    44: {"alpha_ct": 0.0, "alpha_st": 1.0, "max_efpr": 1e9, "ignore_class": "dog"},
}
PSDS = {seed: Settings.of(only=("intersection",), **asked) for seed, asked in PSDS.items()}


@pytest.mark.parametrize(
    ("seed", "form", "settings"),
    [
        (30, "sparse", replace(BEST, inclusive=True)), (31, "fine", replace(BEST, beta=2.0)),
        (32, "tied", replace(BEST, inclusive=True, beta=0.3)), (42, "tied", PSDS[42]), (44, "fine", PSDS[44]),
        (50, "tied", replace(CURVES, segment_length=0.3)), (51, "fine", replace(CURVES, bins=4)),
        (52, "late", CURVES),
        *slow((40, "fine", PSDS[40]), (41, "fine", PSDS[41]), (43, "plain", PSDS[43])),
    ],
)  # fmt: skip
def test_scores_of_many_draws(monkeypatch, seed, form, settings):
    """Whatever is counted, sorted or looked at together, a few at a time or all at once."""
    monkeypatch.setattr(file_sums, "_AT_ONCE", 1 << (seed % 3 * 8))
    monkeypatch.setattr(file_sums, "_FEW", (0, 1 << 20)[seed % 2])
    monkeypatch.setattr(calibration, "_BLOCK", (1, 5, 64)[seed % 3])
    for name in ("_STEPS", "_SORTED"):
        monkeypatch.setattr(psds, name, (1, 200, 1 << 20)[seed % 3])
    made = {"sparse": sparse_tables, "late": late_tables}.get(form)
    tables = made(seed) if made else random_tables(seed, form, n=60)
    names, values = compare(tables, settings, rows_of_weights(3, seed))
    # Of PSDS of settings of their own there are few.
    chosen = [settings not in PSDS.values() or "psds" in name for name in names]
    assert np.isfinite(values[chosen]).mean() > 0.5


@pytest.mark.parametrize(
    ("made", "inclusive"),
    [
        ("sparse", False),
        *slow(("tied", True), ("fine", True), ("no reference", False), ("values on one side", True)),
    ],
)
def test_thresholds_of_all_files_may_be_kept(made, inclusive):
    """The optimal readings of replicates are then those at given thresholds, which are tuned ones."""
    settings = replace(COUNTED, inclusive=inclusive, reference_threshold=0.5, events="merge", beta=2.0)
    settings = replace(settings, fixed_thresholds=True, satisfice=None)
    tables, rows = TABLES[made](), rows_of_weights(1, 3)
    scores, fixed = tables.scores(settings), Replicates.of(tables.tally(settings), settings)
    compared = 0
    for basis, best in itertools.product(
        ("segment", "clip", "event", "intersection"), ("", "best_error_rate_")
    ):
        stem = f"{basis}.optimal."
        at = {label: scores.get(f"{stem}{best}threshold[{label}]") for label in LABELS}
        given = {label: 2.0 if value is None else value for label, value in at.items()}
        # Regardless of class, the error rate of the tuned reading knows substitutions, the best one none.
        names = [
            name for name in scores
            if name.startswith(stem) and ("best_error_rate" in name) == bool(best)
            and "threshold" not in name and not (best and name.endswith(".micro"))
        ]  # fmt: skip
        if names:
            ours = fixed.values(rows, [key_of(scores.score(name)) for name in names])
            wanted = [name.replace(".optimal.", ".tuned.").replace("best_error", "error") for name in names]
            asked = replace(settings, only=(basis,), thresholds=given)
            theirs = [as_floats(tables.drawn(row).scores(asked), wanted) for row in rows]
            same_numbers(ours, np.stack(theirs, axis=1), names)
            compared += len(names)
    assert compared > 200


# --- intervals ------------------------------------------------------------------------------------

SOME = Settings(classes=LABELS, only=("segment", "event.hard", "clip.optimal"), measures=("confusion",))
WHOLE = replace(ALL, satisfice=None)
MANY = tuple(f"f{k:02}" for k in range(9))


def scored(tables, settings, **given):
    return evaluate(tables.reference, tables.system, durations=tables.durations, settings=settings, **given)


def many_files(seed, form="tied"):
    rng = np.random.default_rng(seed)
    return Tables(*(random_table(rng, files=MANY, n=150, form=form) for _ in range(2)))


@pytest.mark.parametrize("fixed", fast([False, True], False), ids=["retuned", "fixed"])
def test_ends_of_every_score_are_percentiles_of_drawn_tables(monkeypatch, fixed):
    """From scratch: the draws of the seed, new tables of each, their scores, numpy's quantiles."""
    monkeypatch.setattr(resample, "_MOST_ROWS", 5)
    tables = random_tables(1, n=60)
    settings = replace(WHOLE, ci="bootstrap", replicates=9, confidence=0.8, seed=3, fixed_thresholds=fixed)
    scores = scored(tables, settings)
    names = [name for name in scores if not fixed or ".optimal." not in name]
    drawn = [tables.drawn(row) for block in bootstrap(len(FILES), 9, 3) for row in block]
    again = [one.scores(settings) for one in drawn]
    values = np.stack([as_floats(one, names) for one in again])
    for k, name in enumerate(names):
        basis, reading, _, _, label, _ = ScoreName.parse(name)
        size = f"{basis}.{reading}.n_ref[{label}]"
        if label and measure_of(name).has("macro") and size in scores:
            # A class without reference is in no macro average, and in no interval of its own.
            values[[one[size] == 0 for one in again], k] = np.nan
    sure = ((~np.isnan(values)).sum(axis=0) >= 2) & ~np.isnan(as_floats(scores, names))
    wanted = np.full((len(names), 2), np.nan)
    for k in np.flatnonzero(sure):
        with np.errstate(all="ignore"):
            wanted[k] = np.nanquantile(values[:, k], [0.1, 0.9])
    ends = [(scores.score(name).low, scores.score(name).high) for name in names]
    same_numbers(np.array(ends, dtype=np.float64), wanted, names)
    assert sure.sum() > (500 if fixed else 700)


def test_replicates_without_reference_of_a_class_are_left_out_of_its_intervals_and_this_is_said():
    """Of files a and b only a has "rare", with soft TP 8 of 10 and 8; b has 1 by mistake.

    Twice a: F 16/18. Both: 16/19. Twice b, in a quarter of the replicates: it would be 0.
    """
    head = ["filename", "onset", "offset", "event_label", "value"]
    reference = pd.DataFrame([("a", 0, 10, "rare", 1.0), ("b", 0, 10, "often", 1.0)], columns=head)
    system = [("a", 0, 10, "rare", 0.8), ("b", 0, 10, "rare", 0.1), ("b", 0, 10, "often", 1.0)]
    scores = evaluate(reference, pd.DataFrame(system, columns=head), ci="bootstrap", only=("segment",))
    rare = scores.score("segment.soft.f1[rare]")
    assert (rare.low, rare.high) == pytest.approx((16 / 19, 16 / 18))
    assert scores.score("segment.soft.n_ref[rare]").low == 0
    told = "leave out the replicates without their reference: often (about 25 %), rare (about 25 %)"
    assert any(told in text for text in scores.warnings)


def test_the_jackknife_is_a_loop_over_files_and_refused_where_scores_jump():
    """Estimate -+ 1.96 standard errors, every file left out of the tables once."""
    tables = many_files(6)
    settings = replace(WHOLE, ci="jackknife", psds=None)
    scores = scored(tables, settings)
    left = [tables.drawn(1 - np.eye(len(MANY))[k]).scores(settings) for k in range(len(MANY))]
    jumping, smooth = set(), set()
    for name, score in scores.scores.items():
        if score.reading == "optimal" or score.measure in resample.NOT_SMOOTH:
            assert score.low is score.high is None, name
            jumping.add(score.measure)
        elif score.low is not None:
            smooth.add((score.basis, score.reading))
            values = np.array([one[name] for one in left], dtype=np.float64)
            margin = 1.959963984540054 * math.sqrt((len(MANY) - 1) * values.var())
            # No end is beyond the range of the measure.
            least, most = measure_of(name).low, measure_of(name).high
            wanted = max(score.value - margin, -math.inf if least is None else least)
            assert score.low == pytest.approx(wanted, rel=1e-9, abs=1e-9), name
            wanted = min(score.value + margin, math.inf if most is None else most)
            assert score.high == pytest.approx(wanted, rel=1e-9, abs=1e-9), name
    assert {"threshold", "equal_error_rate", "best_error_rate", "maximum_calibration_error"} <= jumping
    # There is a tuned reading only where thresholds are given.
    assert smooth == {(b, r) for b in READINGS for r in READINGS[b] if r not in ("optimal", "tuned")}
    assert any("jackknife" in text and "bootstrap" in text for text in scores.warnings)


def test_one_file_has_no_intervals():
    tables = Tables(*(random_table(np.random.default_rng(k), files=["only"]) for k in range(2)))
    for method in ("bootstrap", "bca", "expanded", "jackknife"):
        scores = scored(tables, replace(SOME, ci=method))
        assert scores.scores == tables.scores(SOME).scores
        assert sum("no intervals: found 1 file" in text for text in scores.warnings) == 1


@pytest.mark.parametrize(
    ("method", "tables"), [("bca", random_tables(1, "fine", n=15)), ("expanded", sparse_tables(2))]
)
def test_intervals_have_two_ends_within_the_range_of_their_measure(method, tables):
    settings = replace(WHOLE, ci=method, replicates=6, confidence=0.9, psds=None)
    sure = {name: s for name, s in scored(tables, settings).scores.items() if (s.low, s.high) != (None, None)}
    assert len(sure) > 100
    for name, score in sure.items():
        low, high = measure_of(name).low, measure_of(name).high
        assert score.value is not None, name
        assert (-math.inf if low is None else low) <= score.low <= score.high, name
        assert score.high <= (math.inf if high is None else high), name


def test_the_seed_decides():
    tables, settings = many_files(12), replace(SOME, ci="bootstrap", replicates=60)
    one, again, two = (scored(tables, replace(settings, seed=seed)) for seed in (1, 1, 2))
    assert render([one], "json") == render([again], "json")
    assert dict(one) == dict(two)
    assert one.score("segment.soft.f1.micro").low != two.score("segment.soft.f1.micro").low


def test_groups_and_scenes_have_intervals_of_their_own():
    """A scene's are those of its files alone; a group's those of its classes alone."""
    tables = many_files(15)
    settings = replace(SOME, ci="bootstrap", replicates=40, seed=2)
    scores = scored(tables, replace(settings, scenes={"few": ("f0*",)}, groups={"animals": ("dog",)}))
    part = scored(tables.drawn([float(name.startswith("f0")) for name in MANY]), settings)
    alone = {"few": part, "animals": scored(tables, replace(settings, classes=("dog",)))}
    compared = 0
    for name, score in scores.scores.items():
        if score.group in alone:
            other = alone[score.group].score(name.rpartition("@")[0])
            ours, theirs = ((s.value, s.low, s.high) for s in (score, other))
            assert ours == pytest.approx(theirs, abs=1e-12) if None not in theirs else ours == theirs, name
            compared += score.low is not None
    assert compared > 150
