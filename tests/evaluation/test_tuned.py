"""The tuned reading is the hard reading of a system that was cut at the same thresholds by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tables import long_rows
from tuning_oracle import ALL, BASES, FILES, GAPS, LABELS, best, cut, held_out, merit, sides, some

from sedeval_soft import EvaluationError, Evaluator, SettingsError, compare, evaluate
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.api.evaluator import merge_tallies
from sedeval_soft.evaluation.optimal import tune
from sedeval_soft.evaluation.shard import shard_of_rows
from sedeval_soft.settings import OBJECTIVES, Settings
from sedeval_soft.settings_files import dump_thresholds, load_thresholds

VARIANTS = {
    "plain": ALL,
    "inclusive": replace(ALL, inclusive=True),
    "rows are events": replace(ALL, events="rows"),
    "weight of recall": replace(ALL, beta=2.0),
    "post-processed": replace(ALL, median_filter=3.0, min_gap=1.5, min_duration=1.5),
    "post-processed by class": replace(ALL, min_gap={"car": 2.5}, min_duration={"dog": 2.5}),
    "coarse segments, reference cut lower": replace(ALL, segment_length=2.0, reference_threshold=0.3),
    "groups and scenes": replace(
        ALL, groups={"moving": ("car", "dog"), "one": ("talk",)}, scenes={"first": ("a", "b"), "last": ("e",)}
    ),
}
FOLDS = {"a": "1", "b": "2", "c": "2", "d": "3", "e": "1"}
GIVEN = {"car": 0.5, "dog": 0.25, "talk": 0.625}
"""On values, so that above and at or above differ."""

variants = pytest.mark.parametrize("settings", VARIANTS.values(), ids=list(VARIANTS))


def tuned(scores, basis):
    """Return the scores of the tuned reading of a basis, but the thresholds, by names of the hard one."""
    own = {
        name.replace(".tuned.", ".hard."): value
        for name, value in scores.items()
        if name.startswith(f"{basis}.tuned.") and ".threshold[" not in name
    }
    assert len(own) > 40
    return own


def of_hard(scores, names):
    return {name: scores[name] for name in names}


def by_file(thresholds):
    return dict.fromkeys(FILES, thresholds)


def tuning(reference, system, objective, settings=ALL):
    settings = replace(settings, objective=objective, only=(f"{objective.partition('.')[0]}.optimal",))
    return tune(shard_of_rows(reference, system, settings).tally, settings)


@variants
@pytest.mark.parametrize("seed", [0])
def test_given_thresholds_cut_each_class(settings, seed):
    reference, system = sides(seed)
    found = evaluate_rows(reference, system, replace(settings, thresholds=GIVEN))
    other = evaluate_rows(reference, cut(system, by_file(GIVEN), inclusive=settings.inclusive), settings)
    for basis in BASES:
        own = tuned(found, basis)
        assert own == of_hard(other, own)
        assert {label: found[f"{basis}.tuned.threshold[{label}]"] for label in LABELS} == GIVEN


@pytest.mark.slow
@variants
@pytest.mark.parametrize("seed", [3])
def test_folds_are_cut_at_what_is_best_on_the_others(settings, seed):
    reference, system = sides(seed)
    found = evaluate(reference, system, folds=FOLDS, settings=settings)
    for basis in BASES:
        thresholds = held_out(reference, system, FOLDS, f"{basis}.f1", settings)
        by_hand = cut(system, thresholds, inclusive=settings.inclusive)
        other = evaluate(reference, by_hand, folds=FOLDS, settings=settings)
        own = tuned(found, basis)
        assert own == of_hard(other, own)
        assert any("@1" in name for name in own)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_one_objective_is_for_all_bases(objective):
    reference, system = sides(5)
    found = evaluate(reference, system, folds=FOLDS, settings=replace(ALL, objective=objective))
    thresholds = held_out(reference, system, FOLDS, objective, ALL)
    other = evaluate(reference, cut(system, thresholds), folds=FOLDS, settings=ALL)
    for basis in BASES:
        own = tuned(found, basis)
        assert own == of_hard(other, own)


def test_a_class_that_the_other_folds_lack_is_cut_at_the_threshold_of_the_settings():
    reference, system = sides(6)
    car = np.where(reference.file == 0, reference.values[0], 0.0)
    reference = replace(reference, values=(car, *reference.values[1:]))
    folds = {file: "one" if file == "a" else "two" for file in FILES}
    settings = replace(ALL, threshold=0.3, reference_threshold=0.5)
    found = evaluate(reference, system, folds=folds, settings=settings)
    for basis in BASES:
        thresholds = held_out(reference, system, folds, f"{basis}.f1", settings)
        assert thresholds["a"]["car"] == 0.3
        other = evaluate(reference, cut(system, thresholds), folds=folds, settings=ALL)
        own = tuned(found, basis)
        assert own == {name: other[name] for name in own}


def test_more_parts_than_files_are_refused():
    reference, system = sides(0)
    with pytest.raises(EvaluationError, match="cross_tune=6: there are 5 files"):
        evaluate_rows(reference, system, replace(ALL, cross_tune=6))


def test_folds_that_cannot_be_tuned_over_are_refused():
    reference, system = sides(0)
    with pytest.raises(EvaluationError, match="there is one fold, 'x'"):
        evaluate(reference, system, folds=dict.fromkeys(FILES, "x"), settings=ALL)
    with pytest.raises(EvaluationError, match="cross_tune=folds: there are no folds"):
        evaluate_rows(reference, system, replace(ALL, cross_tune="folds"))


@pytest.mark.parametrize(
    "values",
    [
        {"thresholds": GIVEN, "cross_tune": 2},
        {"thresholds": "median"},
        {"thresholds": {"car": 3}},
        {"thresholds": {"car": float("nan")}},
        {"thresholds": {"car": "0.5"}},
        {"thresholds": {"car": True}},
        {"thresholds": {1: 0.5}},
        {"thresholds": [0.5]},
        {"cross_tune": 1},
        {"cross_tune": 2.0},
        {"cross_tune": True},
        {"cross_tune": "parts"},
        {"objective": "segment.recall"},
        {"objective": ["segment.f1"]},
        {"only": "segment.tuned"},
    ],
)
def test_settings_that_cannot_be(values):
    with pytest.raises(SettingsError):
        Settings.of(**values)


@variants
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_tuning_finds_what_trying_all_thresholds_does(settings, objective):
    reference, system = sides(8)
    found, expected = (
        tuning(reference, system, objective, settings),
        best(reference, system, objective, settings),
    )
    for label, of in found["classes"].items():
        threshold, reached = expected[label]
        score = 0 - reached if objective.endswith("error_rate") else reached
        assert of["score"] == pytest.approx(float(score), abs=1e-12)
        if threshold >= 1:
            threshold = 2.0 if settings.inclusive else 1.0  # Nothing passes either.
        assert found["thresholds"][label] == threshold


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_all_thresholds_that_are_as_good_are(objective):
    reference, system = sides(9)
    basis = objective.partition(".")[0]
    found = tuning(reference, system, objective)
    tried = 0
    for label, of in found["classes"].items():
        low, high = of["as_good"]
        assert low <= found["thresholds"][label] <= high
        for gap in GAPS:
            scores = evaluate_rows(reference, system, replace(ALL, only=(basis,), thresholds={label: gap}))
            counts = tuple(int(scores[f"{basis}.tuned.{n}[{label}]"]) for n in ("tp", "n_sys", "n_ref"))
            own = float(merit(counts, objective, 1.0))
            reached = -of["score"] if objective.endswith("error_rate") else of["score"]
            if low <= gap < high:
                assert own == pytest.approx(reached, abs=1e-12)
                tried += 1
            else:
                # What lies next to them is worse; further away there may be others.
                assert own <= reached + 1e-12
    assert tried


@variants
@pytest.mark.parametrize("basis", BASES)
def test_thresholds_of_the_same_data_are_the_optimal_reading(settings, basis, tmp_path):
    """And survive being written and read."""
    reference, system = sides(10)
    path = tmp_path / "t.yaml"
    path.write_text(dump_thresholds(tuning(reference, system, f"{basis}.f1", settings)), encoding="utf-8")
    thresholds = load_thresholds(str(path), inclusive=settings.inclusive)
    found = evaluate_rows(reference, system, replace(settings, thresholds=thresholds))
    for label in LABELS:
        assert thresholds[label] == found[f"{basis}.optimal.threshold[{label}]"]
    for measure in ("f1", "precision", "recall", "error_rate"):
        for form in ("micro", "macro", *(f"[{label}]" for label in LABELS)):
            name = f"{measure}{form}" if form[0] == "[" else f"{measure}.{form}"
            assert found[f"{basis}.tuned.{name}"] == found[f"{basis}.optimal.{name}"]


def test_a_class_without_reference_has_no_threshold(tmp_path):
    reference, system = sides(0)
    reference = replace(reference, values=(0 * reference.values[0], *reference.values[1:]))
    found = tuning(reference, system, "segment.f1")
    assert found["classes"]["car"] == {"n_ref": 0, "score": None, "as_good": [None, None]}
    path = tmp_path / "t.yaml"
    path.write_text(dump_thresholds(found), encoding="utf-8")
    assert sorted(load_thresholds(str(path), inclusive=False)) == ["dog", "talk"]


@pytest.mark.parametrize("inclusive", [False, True])
def test_rules(inclusive):
    reference, system = sides(13)
    settings = replace(ALL, inclusive=inclusive)
    middle = {c: (v.min() + v.max()) / 2 for c, v in zip(LABELS, system.values, strict=True)}
    found = evaluate_rows(reference, system, replace(settings, thresholds="midpoint"))
    given = evaluate_rows(reference, system, replace(settings, thresholds=middle))
    assert dict(found) == dict(given)
    found = evaluate_rows(reference, system, replace(settings, thresholds="prior"))
    for label, column in zip(LABELS, system.values, strict=True):
        n_sys, n_ref = (int(found[f"segment.tuned.{n}[{label}]"]) for n in ("n_sys", "n_ref"))
        # As many as the reference has, or as few more as ties allow.
        above = [int((column > gap).sum()) for gap in [-1.0, *GAPS]]
        assert n_sys == min(count for count in above if count >= n_ref)


def test_rules_on_silent_classes():
    reference, system = sides(14)
    silent = replace(system, values=(0 * system.values[0], *system.values[1:]))
    unheard = replace(reference, values=(reference.values[0], 0 * reference.values[1], reference.values[2]))
    for rule in ("midpoint", "prior"):
        found = evaluate_rows(unheard, silent, replace(ALL, thresholds=rule, classes=(*LABELS, "owl")))
        assert found["segment.tuned.n_sys[owl]"] == 0 or rule == "prior"
        assert found["event.tuned.tp[car]"] == 0
    # Nothing is active in the reference: the prior lets nothing pass.
    assert found["segment.tuned.n_sys[dog]"] == found["segment.tuned.n_sys[owl]"] == 0


def test_batches_and_saved_tallies_are_tuned_over_all_their_files(tmp_path):
    reference, system = sides(16)
    settings = replace(ALL, cross_tune="folds", groups={"moving": ("car", "dog")})
    expected = evaluate(reference, system, folds=FOLDS, settings=settings)
    batches = ("a", "b"), ("c", "d", "e")
    evaluator, paths = Evaluator(settings), []
    for i, files in enumerate(batches):
        own = Evaluator(settings).update(some(reference, files), some(system, files))
        paths.append(tmp_path / f"{i}.tally")
        own.save(paths[-1])
        evaluator.merge(own)
    assert dict(evaluator.compute(folds=FOLDS)) == dict(expected)
    merged = Evaluator(settings)
    for path in paths:
        merged.merge(Evaluator.load(path))
    assert dict(merged.compute(folds=FOLDS)) == dict(expected)
    assert merge_tallies(paths).settings == settings


@pytest.mark.parametrize("asked", [{"cross_tune": 2}, {"thresholds": GIVEN}, {"thresholds": "prior"}])
def test_systems_are_ranked_by_the_tuned_reading(asked):
    reference, system = sides(18)
    systems = {"one": system, "two": sides(19)[1]}
    settings = replace(ALL, **asked, replicates=30)
    board = compare(reference, systems, rank_by="segment.tuned.f1.macro", settings=settings)
    for entry, scores in zip(board.entries, board.systems, strict=True):
        alone = evaluate(reference, systems[entry.system], settings=replace(settings, ci="bootstrap"))
        score = alone.score("segment.tuned.f1.macro")
        assert (entry.value, entry.low, entry.high) == (score.value, score.low, score.high)
        assert scores["event.tuned.f1.macro"] == alone["event.tuned.f1.macro"]
    by_folds = compare(
        reference, systems, rank_by="event.tuned.f1.macro", folds=FOLDS, settings=replace(ALL, replicates=30)
    )
    best = evaluate(reference, systems[by_folds.entries[0].system], folds=FOLDS, settings=ALL)
    assert by_folds.entries[0].value == best["event.tuned.f1.macro"]


def test_operating_points_are_tuned_among_themselves():
    reference, system = sides(20)
    at = {gap: cut(system, by_file(dict.fromkeys(LABELS, gap))) for gap in GAPS}
    events = {gap: _events(rows) for gap, rows in at.items()}
    settings = replace(ALL, only=("event", "intersection"))
    found = evaluate(reference, events, folds=FOLDS, settings=settings)
    for basis in settings.only:
        for label in LABELS:
            own, most = (found[f"{basis}.{reading}.f1[{label}]"] for reading in ("tuned", "optimal"))
            assert 0 < own <= most
    for asked in ({"thresholds": "prior"}, {"cross_tune": 2, "objective": "clip.f1"}):
        with pytest.raises(SettingsError, match="operating points have no values"):
            evaluate(reference, events, settings=replace(settings, **asked))


def _events(rows):
    """Return the runs of ones as a table of events."""
    found = {"filename": [], "onset": [], "offset": [], "event_label": []}
    for file in range(len(rows.files)):
        for label, column in zip(rows.classes, rows.values, strict=True):
            own = np.concatenate(([0.0], column[rows.file == file], [0.0]))
            for on, off in zip(
                np.flatnonzero(np.diff(own) > 0), np.flatnonzero(np.diff(own) < 0), strict=True
            ):
                row = rows.files[file], float(on), float(off), label
                for name, value in zip(found, row, strict=True):
                    found[name].append(value)
    return found


def test_a_threshold_that_lets_silence_pass_does_so_whatever_else_is_evaluated():
    threshold = -1.0
    rows = long_rows([("a", 0.0, 1.0, "car", 0.9), ("a", 3.0, 4.0, "car", 0.8)])
    settings = Settings(threshold=threshold, reference_threshold=0.5)
    given = replace(settings, threshold=0.5, thresholds={"car": threshold})
    assert evaluate_rows(rows, rows, given)["segment.tuned.n_sys[car]"] == 4
    for only in (("segment.hard",), ("segment",)):
        assert evaluate_rows(rows, rows, replace(settings, only=only))["segment.hard.n_sys[car]"] == 4
