"""The highest costs, scores of folds, and scores over thresholds of the reference."""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from drawn_again import FILES, LABELS, random_tables, tuples
from tables import long_rows

from sedeval_soft import EvaluationError, InputError, SettingsError, evaluate
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.report.delimited import write_curves
from sedeval_soft.settings import Settings

# --- what costs most ------------------------------------------------------------------------------


def seconds_of(rows):
    """The highest value in each (file, class, second); rows are on whole seconds."""
    highest = {}
    for file, onset, offset, label, value in tuples(rows):
        for second in range(int(onset), int(offset)):
            highest[file, label, second] = max(highest.get((file, label, second), 0.0), value)
    return highest


def summed(cells, key_of):
    """Add up costs by a key, the most costly first, equal ones by their keys; none that cost nothing."""
    sums = {}
    for key, costs in cells.items():
        before = sums.get(key_of(key), (0.0, 0.0))
        sums[key_of(key)] = tuple(a + b for a, b in zip(before, costs, strict=True))
    ordered = sorted(sums, key=lambda key: (-round(sum(sums[key]), 9), key))
    return {key: sums[key] for key in ordered if sum(sums[key]) > 0}


@pytest.mark.parametrize("reading", ["soft", "hard"])
@pytest.mark.parametrize("count", [3, 1000])
def test_costs_are_a_loop_over_seconds(reading, count):
    """Quarters of a second's value tie often: of equal ones the first file, class or second comes first."""
    tables = random_tables(1, n=60)
    sides = tables.reference, tables.system
    worst = evaluate(*sides, worst=count, only=f"segment.{reading}", classes=LABELS).worst
    assert (worst.basis, worst.reading) == ("segment", reading)
    y, p = values = [seconds_of(side) for side in sides]
    if reading == "hard":
        y, p = ({key: float(value > 0.5) for key, value in side.items()} for side in values)
    differences = {key: y.get(key, 0) - p.get(key, 0) for key in y | p}
    cells = {key: (max(d, 0), max(-d, 0)) for key, d in differences.items()}
    total = sum(map(sum, cells.values()))
    for offenders, place, key_of in (
        (worst.files, lambda of: of.file, lambda key: key[0]),
        (worst.classes, lambda of: of.class_name, lambda key: key[1]),
        (worst.segments, lambda of: (of.file, of.onset), lambda key: (key[0], key[2])),
    ):
        wanted = dict([*summed(cells, key_of).items()][:count])
        assert [place(of) for of in offenders] == [*wanted]
        numbers = [value for of in offenders for value in (of.missed, of.inserted, of.cost, of.share)]
        by_hand = [value for m, i in wanted.values() for value in (m, i, m + i, (m + i) / total)]
        assert numbers == pytest.approx(by_hand, abs=1e-9)
    assert all(of.class_name is None and of.onset is None for of in worst.files)
    assert all(of.file is None for of in worst.classes)
    for of in worst.segments:
        most = max(LABELS, key=lambda c: (sum(cells.get((of.file, c, of.onset), (0, 0))), -LABELS.index(c)))
        assert of.class_name == most
        of_both = tuple(side.get((of.file, most, of.onset), 0.0) for side in values)
        assert (of.reference, of.system, of.offset) == (*of_both, of.onset + 1)


def test_times_of_segments_are_those_of_their_files():
    """Each file has its own grid, and its last segment ends where it does."""
    reference = long_rows(
        [("a", 0.0, 0.75, "car", 1.0), ("b", 0.0, 1.3, "car", 0.5), ("c", 0.0, 0.5, "car", 1.0)]
    )
    system = long_rows([("a", 0.0, 0.5, "car", 1.0), ("b", 0.5, 1.0, "car", 0.25)], files="abc")
    lengths, half = {"a": 0.75, "b": 1.3, "c": 2.0}, {"worst": 9, "segment_length": 0.5}
    worst = evaluate(reference, system, durations=lengths, **half).worst
    assert [(of.file, of.onset, of.offset, of.cost) for of in worst.segments] == [
        *(("a", 0.5, 0.75, 1.0), ("c", 0.0, 0.5, 1.0)),
        *(("b", 0.0, 0.5, 0.5), ("b", 1.0, 1.3, 0.5), ("b", 0.5, 1.0, 0.25)),
    ]
    # A false alarm after the end of a file, whose length is not given, is in a whole segment.
    late = evaluate(reference, long_rows([("a", 1.0, 1.5, "car", 1.0)], files="abc"), **half).worst
    assert ("a", 1.0, 1.5) in [(of.file, of.onset, of.offset) for of in late.segments]


def test_nothing_that_costs_nothing_is_listed():
    for side, classes in ((random_tables(4).reference, LABELS), (long_rows([], files="ab"), ("car",))):
        worst = evaluate(side, side, worst=5, only=("segment", "event"), classes=classes).worst
        assert worst.files == worst.segments == worst.classes == ()


@pytest.mark.parametrize(
    ("only", "family"),
    [
        (("event", "segment.hard"), "segment.hard"), (("event.hard", "clip"), "event.hard"),
        (("clip", "intersection"), "clip.soft"), (("segment.optimal", "ranking"), None),
    ],
    ids=str,
)  # fmt: skip
def test_costs_are_of_the_first_family_that_is_evaluated(only, family):
    tables = random_tables(5).reference, random_tables(6).system
    scores = evaluate(*tables, worst=50, only=only, classes=LABELS)
    worst = scores.worst
    assert (worst and f"{worst.basis}.{worst.reading}") == family
    for part in (worst.files, worst.classes) if worst else ():
        sums = [sum(getattr(of, name) for of in part) for name in ("missed", "inserted", "share")]
        tp, n_ref, n_sys = (scores[f"{family}.{name}.micro"] for name in ("tp", "n_ref", "n_sys"))
        assert sums == pytest.approx([n_ref - tp, n_sys - tp, 1.0])


# --- folds and scenes -----------------------------------------------------------------------------

FOLDS = {"a": "2", "b": "10", "c": "2", "d": "1", "e": "10"}


def test_spread_is_that_of_the_scores_of_each_fold():
    tables, asked = random_tables(7), {"only": ("segment", "event.hard", "clip"), "classes": LABELS}
    scores = evaluate(tables.reference, tables.system, folds=FOLDS, **asked)
    plain = evaluate(tables.reference, tables.system, **asked)
    # Thresholds are tuned over folds beside, which single folds know nothing of.
    pooled = {name: value for name, value in scores.items() if "@" not in name and ".tuned." not in name}
    assert pooled == dict(plain)
    names = scores.folds.names
    assert (names, scores.folds.files) == (("1", "2", "10"), (1, 2, 2))
    parts = [tables.drawn([FOLDS[f] == fold for f in FILES]).scores(Settings(**asked)) for fold in names]
    spreads = [spread for spread in scores.folds.spreads if ".tuned." not in spread.name]
    assert [spread.name for spread in spreads] == [n for n, s in plain.scores.items() if s.average]
    for spread in spreads:
        values = [part[spread.name] for part in parts]
        assert spread.values == tuple(scores[f"{spread.name}@{fold}"] for fold in names)
        assert spread.values == tuple(value and pytest.approx(value, abs=1e-12) for value in values)
        defined = [value for value in values if value is not None]
        wanted = (statistics.fmean(defined), statistics.stdev(defined)) if len(defined) > 1 else (None, None)
        assert (spread.mean, spread.deviation) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("word", "asked"),
    [
        (r"'d', 'e'", {"folds": {"a": "1", "b": "2", "c": "1"}}),
        ("folds and by", {"folds": FOLDS, "by": FOLDS}),
        ("groups and by", {"groups": {"x": "car"}, "by": dict.fromkeys(FILES, "x")}),
    ],
)
def test_folds_that_cannot_be_are_refused(word, asked):
    with pytest.raises((EvaluationError, InputError), match=word):
        evaluate(tenths(0), tenths(1), **asked)


# --- thresholds of the reference, against evaluations that have each of them as their own ----------

ASKED = Settings(
    classes=LABELS,
    only=("segment", "event", "intersection", "clip"),
    reference_sweep=True,
    segment_length=0.5,
)
TENTHS = tuple(k / 10 for k in range(1, 10))


def tenths(seed, n=40):
    """Rows with values in tenths, so that many are exactly at a threshold."""
    rows = random_tables(seed, "tied", n).reference
    return replace(rows, values=(np.random.default_rng(seed).integers(0, 11, n) / 10,))


@pytest.mark.parametrize(("inclusive", "events"), [(False, "auto"), (True, "rows")])
def test_each_threshold_scores_as_if_it_were_that_of_the_evaluation(inclusive, events):
    sides = tenths(0), tenths(100)
    asked = replace(ASKED, inclusive=inclusive, events=events, beta=2.0)
    sweep = evaluate_rows(*sides, asked).sweep
    assert sweep.thresholds == TENTHS
    families = {".".join(name.split(".")[:2]) for name in sweep.scores}
    assert families == {f"{basis}.{reading}" for basis in ASKED.only for reading in ("hard", "optimal")}
    measures = {name.split(".", 2)[2] for name in sweep.scores}
    assert {"f1.macro", "fbeta.micro", "error_rate.micro", "precision.weighted", "n_ref.micro"} <= measures
    for k, threshold in enumerate(TENTHS):
        own = evaluate_rows(*sides, replace(asked, reference_sweep=False, reference_threshold=threshold))
        for name, values in sweep.scores.items():
            assert values[k] == pytest.approx(own[name], abs=1e-12), (name, threshold)


def test_what_is_exactly_at_a_threshold_is_what_the_sign_decides():
    """As many segments (events) more are there with at-or-above than with above: merged events aside."""
    asked = (replace(ASKED, events="rows", inclusive=inclusive) for inclusive in (False, True))
    sweep, at = (evaluate_rows(tenths(3), tenths(4), each).sweep for each in asked)
    for basis in ("segment", "event", "clip"):
        above, upwards = (np.array(each.scores[f"{basis}.hard.n_ref.micro"]) for each in (sweep, at))
        assert tuple(upwards - above) == sweep.at[basis] == at.at[basis] and sum(at.at[basis])


def test_the_sweep_is_in_json_and_in_the_file_of_curves(tmp_path):
    scores = evaluate_rows(tenths(0), tenths(1), replace(ASKED, only=("segment", "event.hard")))
    sweep = scores.to_dict()["systems"][0]["sweep"]
    assert sweep["scores"]["segment.hard.f1.macro"] == list(scores.sweep.scores["segment.hard.f1.macro"])
    assert sweep["at"]["event"] == list(scores.sweep.at["event"])
    write_curves(str(tmp_path / "curves.parquet"), {"s": scores.curves})
    rows = pd.read_parquet(tmp_path / "curves.parquet")
    surface = rows[rows["reference_threshold"].notna() & (rows["basis"] == "segment")]
    assert len(surface) == (len(LABELS) + 2) * 99 * 99
    one = surface[(surface["class"] == "car") & (surface["reference_threshold"] == 0.3)]
    assert one["tp"].tolist() == scores.curves.surfaces["segment"].tp[LABELS.index("car"), 29].tolist()


@pytest.mark.parametrize(
    "asked",
    [{"only": ("segment.soft",)}, {"compat": "sed_eval"}, {"matching": "greedy"}, {"reference_sweep": 1}],
)
def test_settings_that_cannot_be_swept_are_refused(asked):
    with pytest.raises(SettingsError, match="reference_sweep"):
        Settings.of(**{"reference_sweep": True} | asked)
