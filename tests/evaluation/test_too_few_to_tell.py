"""Boards and means over runs name their inputs, and warn if files or replicates are too few to show much."""

import json
import re
from dataclasses import asdict
from itertools import product
from statistics import fmean, stdev

import jsonschema
import numpy as np
import pytest
from called import OTHER, REFERENCE
from called import SYSTEM as ONE
from documents import schema
from tables import columns_of

from sedeval_soft import compare, evaluate, mean_of_runs
from sedeval_soft.evaluation.intervals import ENOUGH, files_of, held
from sedeval_soft.report import render

SOFT = {"only": ("segment.soft",)}
READ = ("hard", "soft", "optimal")
F1 = "segment.soft.f1.macro"


def table(n_files, seed, noise):
    """Return a soft table of one class, with noise in its values."""
    values = np.random.default_rng(0).uniform(0.3, 1, (n_files, 5))
    values = np.clip(values - noise * np.random.default_rng(seed).uniform(0, 1, values.shape), 0, 1)
    return columns_of([(f"{f:02}", k, k + 1, "car", float(v)) for (f, k), v in np.ndenumerate(values)])


def board_of(n_files, n_systems, **settings):
    systems = {f"s{k}": table(n_files, k + 1, 0.05 + 0.1 * k) for k in range(n_systems)}
    return compare(table(n_files, 0, 0.0), systems, **{**SOFT, "ci": "jackknife", **settings})


def test_one_file_shows_no_difference_to_be_sure():
    board = board_of(1, 2)
    value, *ends_and_p = asdict(board.entries[1].difference).values()
    assert value < 0 and ends_and_p == [None, None, 1.0, 1.0, 1.0]
    places = [(entry.stability, entry.best_place, entry.worst_place) for entry in board.entries]
    assert places == [(None, None, None)] * 2
    jsonschema.validate(json.loads(render(board.systems, "json", board=board)), schema())
    assert "100.0 %" not in render(board.systems, "text", board=board)


# 2 / 2^6 is below 0.05, but not times 2 comparisons; the smallest p-value of 30 replicates is 1 / 31.
@pytest.mark.parametrize(
    ("n_files", "n_systems", "replicates", "words"),
    [
        (6, 2, 1000, None),
        (6, 3, 1000, "below 0.0312 (0.0625 after"),
        (20, 2, 30, None),
        (20, 2, 10, "below 0.0909"),
        (20, 3, 30, "below 0.0323 (0.0645 after"),
        # The smallest p-value, 1 / (19 + 1), is at the level, not below; 1 - 0.95 in floats is above.
        (20, 2, 19, "below 0.05"),
    ],
)
def test_what_nobody_can_be_told_apart_by_is_said(n_files, n_systems, replicates, words):
    board = board_of(n_files, n_systems, replicates=replicates)
    told = [text for text in board.systems[0].warnings if text.startswith("no two systems are significantly")]
    assert [words in text for text in told] == [True] * (words is not None)
    assert all(entry.letters == "a" for entry in board.entries) == (words is not None)


def test_systems_without_the_score_that_ranks_them_are_named():
    nothing = {name: values[:0] for name, values in table(6, 0, 0.0).items()}
    asked = {"rank_by": "segment.soft.precision[car]", "replicates": 40, **SOFT}
    board = compare(table(6, 0, 0.0), {"some": table(6, 1, 0.1), "none": nothing}, **asked)
    assert [*board] == ["some", "none"]
    assert any(asked["rank_by"] in text and "'none'" in text for text in board["some"].warnings)


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        ({"replicates": 39}, 40),
        ({"replicates": 40}, None),
        ({"confidence": 0.9999}, 20_000),
        ({"replicates": 1, "ci": "jackknife"}, None),
        ({"replicates": 1, "ci": "bca"}, 40),
    ],
)
def test_replicates_that_are_too_few_for_a_confidence_are_told_of(settings, needed):
    warnings = evaluate(REFERENCE, ONE, **SOFT, **{"ci": "bootstrap", **settings}).warnings
    told = [text for text in warnings if "replicates or more" in text]
    assert [f"needs {needed} " in text for text in told] == [True] * (needed is not None)


@pytest.mark.parametrize(
    ("method", "reading"),
    [*product(("bootstrap", "bca", "expanded"), READ), *product(("jackknife",), READ[:2])],
)
@pytest.mark.parametrize("n_files", [3, 12, 40])
def test_intervals_that_hold_the_truth_too_rarely_are_warned_of_with_how_often(method, n_files, reading):
    """The warning is not about the input: --strict does not make it an error."""
    settings = {"only": f"segment.{reading}", "ci": method, "replicates": 40, "strict": True}
    warnings = evaluate(table(n_files, 0, 0.0), table(n_files, 1, 0.1), **settings).warnings
    share, better = held(method, reading, n_files), held("expanded", reading, n_files)
    rough = [text for text in warnings if text.startswith("intervals are rough")]
    assert len(rough) == (share < ENOUGH or n_files < 5)
    facts = f"{n_files} files", f" {files_of(n_files)} files", f"{100 * share:.0f} % ({reading})"
    assert all(fact in text for fact in facts for text in rough)
    assert all(t.endswith(f"--ci expanded: in {100 * better:.0f} %") == (better > share) for t in rough)


@pytest.mark.parametrize(("compat", "first"), [(None, "plain"), ("sed_eval", "other")])
def test_by_sed_evals_rules_silence_that_a_system_adds_betters_it_and_this_is_warned_of(compat, first):
    """The system adds a trace of a class that the reference lacks, which doubles the silent cells."""
    plain, trace = table(6, 1, 0.3), columns_of([("00", 0.0, 1.0, "horn", 0.01)])
    other = {name: column + trace[name] for name, column in plain.items()}
    asked = {"rank_by": "segment.hard.accuracy.micro", "only": ("segment.hard",), "replicates": 40}
    board = compare(table(6, 0, 0.0), {"plain": plain, "other": other}, compat=compat, **asked)
    assert next(iter(board)) == first
    assert any("by sed_eval's rules" in text for text in board[first].warnings) == (compat is not None)


@pytest.mark.parametrize(("reading", "told"), [("soft", False), ("optimal", True)])
def test_intervals_of_other_readings_than_the_reported_one_are_not_told_of(reading, told):
    """With 30 files, intervals of optimal scores are too narrow, and intervals of soft scores are not."""
    how = {"only": "segment", "ci": "bootstrap", "replicates": 40, "rank_by": f"segment.{reading}.f1.macro"}
    assert ("rough" in str(evaluate(table(30, 0, 0.0), table(30, 1, 0.1), **how).warnings)) == told


# --- means over runs ------------------------------------------------------------------------------

FOLDS = {f"{name}.wav": "ab"[i % 2] for i, name in enumerate(("cafe", "metro", "night", "park", "street"))}


@pytest.fixture(scope="module")
def mean():
    return mean_of_runs(REFERENCE, [ONE, OTHER], confidence=0.9, folds=FOLDS, **SOFT)


def test_folds_of_runs_are_folds_of_means(mean):
    runs = [evaluate(REFERENCE, system, folds=FOLDS, **SOFT) for system in (ONE, OTHER)]
    (spread,) = (spread for spread in mean.folds.spreads if spread.name == F1)
    expected = [fmean(run[f"{F1}@{fold}"] for run in runs) for fold in "ab"]
    found = [*spread.values, spread.mean, spread.deviation]
    assert found == pytest.approx([*expected, fmean(expected), stdev(expected)], abs=1e-12)


def test_signatures_tell_all_that_shaped_several_systems(mean):
    _, one, other = (item.sha256 for item in mean.inputs)
    assert mean.signature.endswith(
        f' system:sha256={one} folds:"folds" system:sha256={other} | runs=2 confidence=0.9'
    )
    board = compare(REFERENCE, [OTHER, ONE], rank_by=F1, baseline=OTHER, replicates=20, **SOFT)
    (signature,) = {scores.signature for scores in board.systems}
    # Inputs keep the given order, which decides between equal systems, instead of that of ranks.
    assert re.findall(r" system:sha256=(\w+)", signature) == [other, one]
    assert signature.endswith(f' | rank_by="{F1}" baseline={json.dumps(OTHER)}')
    assert json.loads(render(board.systems, "json", board=board))["signature"] == signature
