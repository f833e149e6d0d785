"""Replicates equal evaluations of resampled files from scratch, and intervals are computed from them.

Intervals are compared with scipy.stats.bootstrap on the same resamples, with plain formulas, and with laws.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.stats
from documents import script
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
from sedeval_soft.evaluation import Replicates, bootstrap, interval, percentile, resample
from sedeval_soft.evaluation.intervals import (
    MEASURED,
    MEASURED_WITH,
    bca,
    expanded_z,
    jackknife,
    mean_of_runs,
)
from sedeval_soft.measures import calibration, psds
from sedeval_soft.measures import tally as file_sums
from sedeval_soft.measures.registry import ScoreName, measure_of
from sedeval_soft.settings import GROUPS, READINGS, Settings

ALL = Settings(
    classes=LABELS, only=tuple(READINGS), psds="dcase-psds2", measures=GROUPS, satisfice="precision>=0.5"
)
COUNTED = replace(ALL, psds=None, measures=())
"""Scores whose replicates are all computed together."""


def late_tables(seed):
    """Return tables whose system has a class, and times, that the reference does not have."""
    rng = np.random.default_rng(seed)
    reference, system = (random_table(rng, n=60, labels=labels) for labels in (LABELS, (*LABELS, "bird")))
    return Tables(reference.take(reference.offset < np.median(reference.offset)), system)


_NOTHING = long_rows([("a", 0.0, 1.0, "car", 0.0)], files=FILES)


def slow(*values):
    """Mark parameters as slow."""
    return [pytest.param(*each, marks=pytest.mark.slow) for each in values]


TABLES = {
    "tied": lambda: random_tables(1),
    "fine": lambda: random_tables(3, "fine"),
    "sparse": lambda: sparse_tables(5),
    "one class": lambda: Tables(*(random_table(np.random.default_rng(k), labels=["dog"]) for k in (6, 7))),
    "no reference": lambda: replace(random_tables(8), reference=_NOTHING),
    "empty system": lambda: replace(random_tables(9), system=_NOTHING),
    "nothing": lambda: Tables(_NOTHING, _NOTHING),
    "values on one side": lambda: replace(random_tables(10), reference=random_tables(11, "plain").reference),
}
SETTINGS = {
    "all": ALL,
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
    """Return weights of files: drawn at random, without the last file, only one file, none, and each once."""
    drawn = np.concatenate(list(bootstrap(len(FILES), count, seed)))
    return np.stack([*drawn, [0, 4, 0, 0, 0], [1, 1, 1, 1, 0], [0] * 5, [1] * 5]).astype(np.float64)


def compare(tables, settings, rows):
    """Compare replicates of one evaluation with evaluations of drawn tables; return names and values."""
    scores = tables.scores(settings)
    names = list(scores)
    made = Replicates.of(tables.tally(settings), settings)
    ours = made.values(rows, [key_of(scores.score(name)) for name in names])
    theirs = np.stack([as_floats(tables.drawn(row).scores(settings), names) for row in rows], axis=1)
    same_numbers(ours, theirs, names)
    return names, ours


CASES = [("sparse", "all"), ("no reference", "all"), ("tied", "other cuts")]
MORE = [*((made, "all") for made in TABLES), *(("tied", chosen) for chosen in SETTINGS)]


@pytest.mark.parametrize(("made", "chosen"), [*CASES, *slow(*(case for case in MORE if case not in CASES))])
def test_every_score_of_every_kind_of_table_and_settings(made, chosen):
    names, values = compare(TABLES[made](), SETTINGS[chosen], rows_of_weights())
    # Most values are defined, so the comparison means something.
    assert len(names) > 200
    assert (
        np.isfinite(values).mean() > 0.5
        or made not in ("tied", "fine")
        or chosen not in ("all", "other cuts")
    )


BEST = replace(COUNTED, only=("segment.optimal", "clip.optimal", "event.optimal", "intersection.optimal"))
CURVES = Settings(
    only=("segment.hard", "segment.soft", "clip.soft", "event.hard"),
    measures=("curves", "calibration", "divergence"), max_fpr=0.25, max_fnr=0.2,
)  # fmt: skip
PSDS = {
    seed: Settings.of(only=("intersection",), **asked)
    for seed, asked in {
        40: {"psds": "dcase-psds1"},
        41: {"alpha_ct": 0.5, "alpha_st": 0.0, "max_efpr": 1e4},
        42: {"alpha_ct": 0.0, "alpha_st": 0.0, "psds_median_filters": (0.3, 3.0)},
        43: {"psds": "dcase-psds2", "events": "rows"},
        44: {"alpha_ct": 0.0, "alpha_st": 1.0, "max_efpr": 1e9, "ignore_class": "dog"},
    }.items()
}


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
    """Replicates do not depend on how many are counted or sorted at once."""
    monkeypatch.setattr(file_sums, "_AT_ONCE", 1 << (seed % 3 * 8))
    monkeypatch.setattr(file_sums, "_FEW", (0, 1 << 20)[seed % 2])
    monkeypatch.setattr(calibration, "_BLOCK", (1, 5, 64)[seed % 3])
    for name in ("_STEPS", "_SORTED"):
        monkeypatch.setattr(psds, name, (1, 200, 1 << 20)[seed % 3])
    made = {"sparse": sparse_tables, "late": late_tables}.get(form)
    tables = made(seed) if made else random_tables(seed, form, n=60)
    names, values = compare(tables, settings, rows_of_weights(3, seed))
    # Settings of `PSDS` add few scores: look at these alone.
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
    """With fixed thresholds, optimal scores of a replicate equal tuned scores at these thresholds."""
    settings = replace(
        COUNTED, inclusive=inclusive, reference_threshold=0.5, events="merge", beta=2.0,
        fixed_thresholds=True, satisfice=None,
    )  # fmt: skip
    tables, rows = TABLES[made](), rows_of_weights(1, 3)
    scores, fixed = tables.scores(settings), Replicates.of(tables.tally(settings), settings)
    for basis, best in [
        ("event", "best_error_rate_"),
        *product(("segment", "clip", "event", "intersection"), [""]),
    ]:
        stem = f"{basis}.optimal."
        at = {label: scores[f"{stem}{best}threshold[{label}]"] for label in LABELS}
        given = {label: 2.0 if value is None else value for label, value in at.items()}
        # Micro error rates differ: the tuned reading counts substitutions, the best error rate does not.
        names = [
            name for name in scores
            if name.startswith(stem) and ("best_error_rate" in name) == bool(best)
            and "threshold" not in name and not (best and name.endswith(".micro"))
        ]  # fmt: skip
        assert len(names) > (3 if best else 40)
        ours = fixed.values(rows, [key_of(scores.score(name)) for name in names])
        wanted = [name.replace(".optimal.", ".tuned.").replace("best_error", "error") for name in names]
        asked = replace(settings, only=(basis,), thresholds=given)
        theirs = [as_floats(tables.drawn(row).scores(asked), wanted) for row in rows]
        same_numbers(ours, np.stack(theirs, axis=1), names)


# --- intervals ------------------------------------------------------------------------------------

SOME = Settings(classes=LABELS, only=("segment", "event.hard", "clip.optimal"), measures=("confusion",))
MANY = tuple(f"f{k:02}" for k in range(9))


def scored(tables, settings, **given):
    return evaluate(tables.reference, tables.system, durations=tables.durations, settings=settings, **given)


def known(scores, names):
    """Return the values of names, with NaN for a class without reference: its intervals leave that out."""

    def counts(name):
        basis, reading, _, _, label, _ = ScoreName.parse(name)
        if not label or not measure_of(name).has("macro"):
            return True
        return scores.get(f"{basis}.{reading}.n_ref[{label}]", 1) > 0

    return np.where([*map(counts, names)], as_floats(scores, names), np.nan)


@pytest.fixture(scope="module")
def again():
    """Return tables, names of all scores, and their values in the draws of a seed and without each file."""
    tables, every = random_tables(1, n=60), replace(ALL, satisfice=None)
    rows = [*np.concatenate(list(bootstrap(len(FILES), 6, 3))), *1 - np.eye(5)]
    names = [*tables.scores(every)]
    values = np.stack([known(tables.drawn(row).scores(every), names) for row in rows])
    return tables, np.array(names), values[:6], values[6:]


@pytest.mark.parametrize(
    ("method", "fixed"),
    [("bootstrap", False), ("bootstrap", True), ("jackknife", False), ("bca", False), ("expanded", False)],
)
def test_ends_of_every_score_are_those_of_drawn_tables(monkeypatch, method, fixed, again):
    """Evaluate from scratch the tables of each draw of the seed, and the tables without each file."""
    monkeypatch.setattr(resample, "_MOST_ROWS", 5)
    (tables, names, *values), how = again, {"seed": 3, "fixed_thresholds": fixed, "satisfice": None}
    scores = scored(tables, replace(ALL, ci=method, replicates=6, confidence=0.8, **how))
    optimal = np.array([".optimal." in name for name in names])
    jumping = optimal | [measure_of(name).name in resample.NOT_SMOOTH for name in names]
    # Another test checks optimal scores at fixed thresholds.
    chosen = ~(optimal & fixed)
    drawn, left_out, jumping, names = *(of[:, chosen] for of in values), jumping[chosen], names[chosen]
    estimate = as_floats(scores, names)
    wanted = np.stack(interval(method, estimate, drawn, left_out, 0.8), axis=1)
    wanted[np.isnan(estimate) | (jumping & (method == "jackknife"))] = np.nan
    # Intervals stay in the range of the measure.
    low, high = np.array([(measure_of(n).low, measure_of(n).high) for n in names], dtype=float).T[..., None]
    within = np.fmin(np.fmax(wanted, low), high)
    ends = np.array([scores.score(name)[-2:] for name in names], dtype=np.float64)
    same_numbers(ends, np.where(np.isnan(wanted), np.nan, within), names, 1e-9)
    assert np.isfinite(ends).all(axis=1).sum() > 500
    assert (method == "jackknife") == any("jackknife" in text for text in scores.warnings)


def test_replicates_without_reference_of_a_class_are_left_out_of_its_intervals_and_this_is_said():
    """Only file a has "rare": F is 16/18 for a twice, 16/19 for a and b; a quarter of draws has only b."""
    reference = long_rows([("a", 0, 10, "rare", 1.0), ("b", 0, 10, "often", 0.4)])
    system = long_rows([("a", 0, 10, "rare", 0.8), ("b", 0, 10, "rare", 0.1), ("b", 0, 10, "often", 1.0)])
    scores = evaluate(reference, system, ci="bootstrap", only=("segment",))
    assert scores.score("segment.soft.f1[rare]")[-2:] == pytest.approx((16 / 19, 16 / 18))
    assert any("often (about 25 %), rare (about 25 %)" in text for text in scores.warnings)


def test_one_file_has_no_intervals():
    tables = Tables(*(random_table(np.random.default_rng(k), files=["only"]) for k in range(2)))
    for method in ("bootstrap", "bca", "expanded", "jackknife"):
        scores = scored(tables, replace(SOME, ci=method))
        assert scores.scores == tables.scores(SOME).scores
        assert sum("no intervals: found 1 file" in text for text in scores.warnings) == 1


def test_groups_and_scenes_have_intervals_of_their_own():
    """A scene has the intervals of an evaluation of its files alone, and a group of its classes alone."""
    tables = Tables(*(random_table(np.random.default_rng(k), files=MANY, n=150) for k in range(2)))
    settings = replace(SOME, ci="bootstrap", replicates=40, seed=2)
    scores = scored(tables, replace(settings, scenes={"few": ("f0*",)}, groups={"animals": ("dog",)}))
    part = scored(tables.drawn([float(name.startswith("f0")) for name in MANY]), settings)
    alone = {"few": part, "animals": scored(tables, replace(settings, classes=("dog",)))}
    own = {name: score for name, score in scores.scores.items() if score.group in alone}
    assert sum(score.low is not None for score in own.values()) > 150
    theirs = [alone[score.group].score(name.rpartition("@")[0]) for name, score in own.items()]
    numbers = ([(score.value, score.low, score.high) for score in of] for of in (own.values(), theirs))
    same_numbers(*(np.array(each, dtype=float) for each in numbers), [*own])


# --- the mathematics of intervals -----------------------------------------------------------------

NAN, INF = np.nan, np.inf


def ratio(part, whole, axis=-1):
    return 2 * part.sum(axis=axis) / whole.sum(axis=axis)


def mean_of(part, whole, axis=-1):
    return part.mean(axis=axis)


@pytest.mark.parametrize("statistic", [ratio, mean_of])
@pytest.mark.parametrize("confidence", [0.5, 0.99])
@pytest.mark.parametrize("n_files", [5, 60])
def test_percentile_and_bca_are_those_of_scipy(statistic, confidence, n_files):
    """Numbers are skewed, share a factor, and are whole, so that replicates may equal the estimate."""
    rng = np.random.default_rng(n_files)
    size = rng.geometric(0.1, (25, n_files))
    part, whole = rng.binomial(size, 0.4).astype(float), (2 * size + rng.poisson(3, size.shape)).astype(float)
    left_out = np.array([statistic(np.delete(part, i, -1), np.delete(whole, i, -1)) for i in range(n_files)])
    for method, ends in (
        ("percentile", percentile),
        ("BCa", lambda values, level: bca(values, statistic(part, whole), left_out, level)),
    ):
        wanted = scipy.stats.bootstrap(
            (part, whole), statistic, confidence_level=confidence, method=method, rng=rng,
            vectorized=True, paired=True, axis=-1, n_resamples=499,
        )  # fmt: skip
        ours = ends(wanted.bootstrap_distribution.T, confidence)
        np.testing.assert_allclose(ours, wanted.confidence_interval, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999999])
def test_expanded_ends_are_those_of_student(confidence):
    level = (1 + confidence) / 2
    for n in (2, 3, 8, 50):
        wanted = np.sqrt(n / (n - 1)) * scipy.stats.t.ppf(level, n - 1)
        assert expanded_z(confidence, n) == pytest.approx(wanted, rel=1e-9)
    assert expanded_z(confidence, 10**7) == pytest.approx(scipy.stats.norm.ppf(level), rel=1e-5)
    # Expanded ends are those of BCa at the confidence that has the expanded z.
    values, left_out = np.split(np.random.default_rng(1).gamma(1.0, size=(149, 1)), [99])
    wanted = bca(values, [1.1], left_out, 2 * scipy.stats.norm.cdf(expanded_z(confidence, 50)) - 1)
    np.testing.assert_allclose(bca(values, [1.1], left_out, confidence, expanded=True), wanted, rtol=1e-6)


def test_what_is_undefined_is_left_out_score_by_score():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(50, 6))
    values[rng.random(values.shape) < [0, 0.1, 0.5, 1, 1, 1]] = NAN
    # Two defined replicates are enough for an interval, one is not.
    values[[3, 9, 7], [3, 3, 5]] = -0.5, 0.5, 1.0
    # An undefined estimate has no BCa interval.
    estimate, left_out = [0, 0, 0, 0, 0, 0, NAN], rng.gamma(1.0, size=(9, 7))
    values = np.hstack([values, values[:, :1]])
    plain, corrected = np.array((percentile(values, 0.9), bca(values, estimate, left_out, 0.9)))
    assert np.isnan(corrected).tolist() == [[False] * 4 + [True] * 3] * 2
    assert np.isnan(plain).tolist() == [[False] * 4 + [True, True, False]] * 2
    for j in range(4):
        known = values[~np.isnan(values[:, j]), j][:, None]
        assert plain[:, j] == pytest.approx(np.quantile(known[:, 0], [0.05, 0.95]), abs=1e-12)
        alone = bca(known, [0], left_out[:, [j]], 0.9)
        assert corrected[:, [j]] == pytest.approx(np.array(alone), abs=1e-12)


def test_bca_where_its_bias_or_skewness_is_unknown_or_too_large():
    """If all replicates are on one side, BCa gives percentiles; beyond its pole, the extreme replicate."""
    values = np.random.default_rng(2).random((200, 3))
    left_out = np.random.default_rng(3).random((9, 3)) ** 4
    corrected, plain = np.array((bca(values, [-1.0, 2.0, 0.5], left_out, 0.95), percentile(values, 0.95)))
    np.testing.assert_allclose(corrected[:, :2], plain[:, :2], rtol=1e-12)
    assert abs(corrected[1][2] - plain[1][2]) > 1e-6
    # All depends on one file: the acceleration is +-1/6, its largest value.
    everything = np.eye(400)[:, :1]
    for side, end in ((1, 1), (-1, 0)):
        ends = bca(side * np.linspace(0, 1, 20_001)[:, None], [side * 0.999_97], -side * everything, 0.99)
        assert ends[end] == side and ends[0] <= ends[1]


def test_without_skewness_bca_only_corrects_the_bias():
    values = np.random.default_rng(4).gamma(1.0, size=(300, 1))

    def ends(left_out):
        return bca(values, [1.1], np.reshape(left_out, (-1, 1)), 0.9)

    even = ends([1.0, 2.0, 3.0])
    for left_out in (
        *([], [0.3], [0.3, NAN], [NAN] * 3, [0.1, 0.2, 0.9, INF], [0.1, 0.2, 0.9, -INF], [0.0] * 5),
        [*[0.1] * 50, np.nextafter(0.1, 1)],
    ):
        assert ends(left_out) == even
    # A replicate that differs from the estimate only by rounding counts as half below it.
    tied = values.round(1)
    assert bca(tied, [np.nextafter(1.1, 2)], [], 0.9) == bca(tied, [1.1], [], 0.9)
    # The skewness leaves out a file without which the score is undefined.
    assert ends([0.1, 0.15, NAN, 0.9]) == ends([0.1, 0.15, 0.9]) != even


@pytest.mark.parametrize(
    ("confidence", "low", "high"),
    [(0.8, [1.2, -INF, -INF], [INF, 1.8, INF]), (0.2, [1.8, -INF, INF], [INF, 1.2, INF])],
)
def test_one_infinite_replicate_is_as_far_out_as_it_can_be(confidence, low, high):
    values = np.array([[1.0, -INF, -INF], [2.0, 1.0, INF], [INF, 2.0, INF]])
    assert np.array(percentile(values, confidence)) == pytest.approx(np.array([low, high]))


def test_jackknife_and_runs_have_the_standard_error_of_the_mean_and_runs_students_t():
    values = np.random.default_rng(6).normal(3, 2, size=(11, 4))
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(11)
    ends = jackknife(mean, (values.sum(axis=0) - values) / 10, 0.95)
    np.testing.assert_allclose(ends, scipy.stats.norm.interval(0.95, mean, error), rtol=1e-12)
    peer = scipy.stats.t.interval(0.95, 10, mean, error)
    np.testing.assert_allclose(mean_of_runs(values, 0.95), [mean, *peer], rtol=1e-12)
    for n in (2, 7, 49):
        # Equal values have an interval of width 0.
        equal = np.full((n, 3), [0.1, 1 / 3, 1e9 + 0.1])
        assert np.array_equal(jackknife(equal[0], equal, 0.95), equal[:2])
        assert np.array_equal(mean_of_runs(equal, 0.95), [equal[0]] * 3)


def test_what_has_no_jackknife_interval():
    left_out = np.array([[0.1, NAN, INF, 0.3, 0.3, 1.0], [0.2, 0.2, 0.2, -INF, 0.3, 0.0]])
    ends = jackknife([0.1, 0.2, 0.3, 0.4, NAN, INF], left_out, 0.9)
    assert np.isnan(ends).tolist() == [[False, True, True, True, True, True]] * 2
    for files in (0, 1):
        assert np.isnan(jackknife([0.5], np.full((files, 1), 0.5), 0.9)).all()
    assert np.isnan(mean_of_runs(left_out[:, :4], 0.9)).tolist() == [[False, True, True, True]] * 3
    assert np.isnan(mean_of_runs([[0.25, NAN]], 0.9)).tolist() == [[False, True], [True, True], [True, True]]
    assert np.isnan(mean_of_runs(np.empty((0, 2)), 0.9)).all()


@pytest.mark.slow
def test_shares_that_are_documented_are_measured_again():
    """In simulations, intervals contain the known truth as often as is documented."""
    simulations = 150
    again = script("coverage").measured(simulations, (20,))
    for kind, shares in MEASURED.items():
        expected, (found,) = shares[MEASURED_WITH.index(20)], again[kind]
        assert abs(found - expected) < 4 * np.sqrt(expected * (1 - expected) / simulations), kind
