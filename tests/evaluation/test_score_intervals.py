"""Intervals of scores are those of scores of resampled files, and belong to the number beside them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from drawn_again import (
    FILES,
    LABELS,
    Tables,
    as_floats,
    random_table,
    random_tables,
    same_numbers,
    sparse_tables,
)

from sedeval_soft import evaluate
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.evaluation import resample
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.report import render
from sedeval_soft.settings import GROUPS, READINGS, Settings

ALL = Settings(classes=LABELS, only=tuple(READINGS), psds="dcase-psds2", measures=GROUPS)
SOME = Settings(classes=LABELS, only=("segment", "event.hard", "clip.optimal"), measures=("confusion",))
MANY = tuple(f"f{k:02}" for k in range(12))

METHODS = ("bootstrap", "bca", "expanded", "jackknife")


def scored(tables, settings):
    return evaluate_rows(tables.reference, tables.system, settings, tables.durations)


def many_files(seed, form="tied"):
    rng = np.random.default_rng(seed)
    return Tables(*(random_table(rng, files=MANY, n=150, form=form) for _ in range(2)))


def ends_of(scores, names):
    ends = np.array([(scores.score(name).low, scores.score(name).high) for name in names], dtype=np.float64)
    return ends[:, 0], ends[:, 1]


def per_file(tables, settings, stem="segment.hard"):
    tally = tables.tally(settings)
    return [tally.per_class[f"{stem}.{name}"].sum(axis=1) for name in ("tp", "n_sys", "n_ref")]


def micro_f(tp, n_sys, n_ref, axis=-1):
    return 2 * tp.sum(axis=axis) / (n_sys.sum(axis=axis) + n_ref.sum(axis=axis))


@pytest.mark.parametrize("fixed", [False, True], ids=["retuned", "fixed"])
def test_ends_of_every_score_are_percentiles_of_drawn_tables(fixed):
    """From scratch: the draws of the seed, new tables of each, their scores, numpy's quantiles."""
    tables = random_tables(1, n=60)
    settings = replace(ALL, ci="bootstrap", replicates=12, confidence=0.8, seed=3, fixed_thresholds=fixed)
    scores = scored(tables, settings)
    names = [name for name in scores if not fixed or ".optimal." not in name]
    drawn = [tables.drawn(row) for block in resample.bootstrap(len(FILES), 12, 3) for row in block]
    values = np.stack([as_floats(one.scores(settings), names) for one in drawn])
    defined = (~np.isnan(values)).sum(axis=0)
    known = (defined >= 2) & ~np.isnan(as_floats(scores, names))
    with np.errstate(all="ignore"):
        wanted = [
            [
                np.nanquantile(column, level) if ok else np.nan
                for column, ok in zip(values.T, known, strict=True)
            ]
            for level in (0.1, 0.9)
        ]
    for ours, theirs in zip(ends_of(scores, names), wanted, strict=True):
        same_numbers(ours[:, None], np.array(theirs)[:, None], names)
    assert known.sum() > (500 if fixed else 700)


@pytest.mark.parametrize(("method", "theirs"), [("bootstrap", "percentile"), ("bca", "BCa")])
@pytest.mark.parametrize("stem", ["segment.soft", "event.hard"])
def test_scipy_finds_the_same_interval_of_micro_f(method, theirs, stem):
    from scipy.stats import bootstrap

    tables = many_files(5, "fine")
    settings = Settings(classes=LABELS, only=("segment", "event"), ci=method, replicates=400, seed=11)
    counts = per_file(tables, settings, stem)
    wanted = bootstrap(
        counts, micro_f, n_resamples=400, paired=True, vectorized=True, method=theirs,
        random_state=np.random.default_rng(11),
    ).confidence_interval  # fmt: skip
    score = scored(tables, settings).score(f"{stem}.f1.micro")
    assert score.value == pytest.approx(micro_f(*counts), abs=1e-14)
    assert (score.low, score.high) == pytest.approx(tuple(wanted), abs=1e-12)
    assert score.low < score.value < score.high


def test_the_jackknife_is_a_loop_over_files():
    """Estimate -+ 1.96 standard errors, every file left out of the tables once."""
    tables = many_files(6)
    settings = replace(ALL, ci="jackknife", psds=None)
    scores = scored(tables, settings)
    left = [tables.drawn(1 - np.eye(len(MANY))[k]).scores(settings) for k in range(len(MANY))]
    compared = 0
    for name, score in scores.scores.items():
        if score.low is None:
            continue
        values = np.array([one[name] for one in left], dtype=np.float64)
        n = len(values)
        margin = 1.959963984540054 * math.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum())
        wanted = (score.value - margin, score.value + margin)
        assert (score.low, score.high) == pytest.approx(wanted, rel=1e-9, abs=1e-9), name
        compared += 1
    assert compared > 500


def test_the_jackknife_is_refused_where_scores_jump():
    tables = many_files(7)
    scores = scored(tables, replace(ALL, ci="jackknife", psds=None))
    jumps = {"threshold", "equal_error_rate", "best_error_rate", "maximum_calibration_error"}
    with_none, smooth = set(), set()
    for score in scores.scores.values():
        if score.reading == "optimal" or score.measure in resample.NOT_SMOOTH:
            assert score.low is score.high is None, score.name
            with_none.add(score.measure)
        elif score.low is not None:
            smooth.add((score.basis, score.reading))
    assert jumps <= with_none
    # There is a tuned reading only where thresholds are given.
    assert smooth == {(b, r) for b in READINGS for r in READINGS[b] if r not in ("optimal", "tuned")}
    assert any("jackknife" in text and "bootstrap" in text for text in scores.warnings)


@pytest.mark.parametrize("method", METHODS)
def test_one_file_has_no_intervals(method):
    rng = np.random.default_rng(9)
    tables = Tables(*(random_table(rng, files=["only"]) for _ in range(2)))
    scores = scored(tables, replace(SOME, ci=method))
    assert dict(scores) == dict(tables.scores(SOME))
    assert all(score.low is score.high is None for score in scores.scores.values())
    (said,) = [text for text in scores.warnings if "interval" in text]
    assert "1 file" in said


@pytest.mark.parametrize(("method", "seed"), [("bootstrap", 3), ("bca", 1), ("bca", 2), ("jackknife", 0)])
def test_intervals_keep_their_contract(method, seed):
    """Both ends or none, low at most high, finite; resampled ones within the range of the measure."""
    made = (
        random_tables(seed),
        random_tables(seed, "fine", n=15),
        sparse_tables(seed),
        many_files(seed, "sure"),
    )
    settings = replace(ALL, ci=method, replicates=6, confidence=0.9, psds=None if seed % 2 else "dcase-psds1")
    found = 0
    scores = scored(made[seed], settings)
    for name, score in scores.scores.items():
        assert (score.low is None) == (score.high is None), name
        if score.low is None:
            continue
        found += 1
        measure = measure_of(name)
        assert score.value is not None, name
        assert math.isfinite(score.low) and math.isfinite(score.high) and score.low <= score.high, name
        if method != "jackknife":
            assert measure.low is None or score.low >= measure.low, (name, score.low)
            assert measure.high is None or score.high <= measure.high, (name, score.high)
        else:
            assert score.low <= score.value <= score.high, name
    assert found > 100
    for form in ("json", "csv", "text", "yaml"):
        text = render([scores], form).lower()
        assert "nan" not in text and "infinit" not in text, form


def test_the_seed_decides():
    tables = many_files(12)
    settings = replace(SOME, ci="bootstrap", replicates=60)
    first, again, other = (
        render([scored(tables, replace(settings, seed=seed))], "json") for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    one, two = (scored(tables, replace(settings, seed=seed)) for seed in (1, 2))
    assert dict(one) == dict(two)
    assert one.score("segment.soft.f1.micro").low != two.score("segment.soft.f1.micro").low


@pytest.mark.parametrize("method", ["bootstrap", "bca"])
def test_how_replicates_are_kept_does_not_matter(monkeypatch, method):
    """In memory or in a temporary file, in blocks or at once, sorted together or a few at a time."""
    tables = many_files(13)
    settings = replace(SOME, ci=method, replicates=20, measures=("curves",))
    plain = scored(tables, settings)
    monkeypatch.setattr(resample, "_IN_MEMORY", 1)
    assert render([scored(tables, settings)], "json") == render([plain], "json")
    monkeypatch.setattr(resample, "_MOST_ROWS", 7)
    monkeypatch.setattr(resample, "_AT_ONCE", 1)
    names = list(plain)
    for ours, theirs in zip(ends_of(scored(tables, settings), names), ends_of(plain, names), strict=True):
        same_numbers(ours[:, None], theirs[:, None], names)


def test_progress_is_told_of_to_the_end():
    told = []
    tables = random_tables(14)
    settings = replace(SOME, ci="bca", replicates=20, measures=("curves",))
    evaluate(tables.reference, tables.system, progress=lambda done, total: told.append((done, total)),
             ci="bca", replicates=20, only=("segment",), measures=("curves",))  # fmt: skip
    totals = list(dict.fromkeys(total for _, total in told))
    assert settings.replicates in totals
    for total in totals:
        steps = [done for done, of in told if of == total]
        assert steps == sorted(steps) and steps[-1] == total


def test_groups_and_scenes_have_intervals_of_their_own():
    """A scene's are those of its files alone; a group's those of its classes alone."""
    tables = many_files(15)
    settings = replace(SOME, ci="bootstrap", replicates=40, seed=2)
    scores = scored(tables, replace(settings, scenes={"few": ("f0*",)}, groups={"animals": ("dog",)}))
    keep = [float(name.startswith("f0")) for name in MANY]
    part = scored(tables.drawn(keep), settings)
    alone = scored(tables, replace(settings, classes=("dog",)))
    compared = 0
    for name, score in scores.scores.items():
        wanted = {"few": part, "animals": alone}.get(score.group)
        if wanted is None:
            continue
        other = wanted.score(name.rpartition("@")[0])
        ours, theirs = ((s.value, s.low, s.high) for s in (score, other))
        assert ours == pytest.approx(theirs, abs=1e-12) if None not in theirs else ours == theirs, name
        compared += score.low is not None
    assert compared > 150
