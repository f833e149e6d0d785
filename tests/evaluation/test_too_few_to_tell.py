"""Where files, replicates or scores are too few, boards say so and nothing that they cannot know."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from sedeval_soft import EvaluationError, compare, evaluate
from sedeval_soft.evaluation.intervals import ENOUGH, files_of, held
from sedeval_soft.report import render, schema

SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE, ONE = str(SAMPLES / "ref.tsv"), str(SAMPLES / "sys.tsv")
SOFT = {"only": ("segment.soft",)}
BOTH = {"only": ("segment.soft", "segment.hard")}


def table(n_files, seed, noise):
    """Return a soft table of one class: values that noise changes."""
    drawn, changed = np.random.default_rng(0), np.random.default_rng(seed)
    values = drawn.uniform(0.3, 1, (n_files, 5))
    values = np.clip(values - noise * changed.uniform(0, 1, values.shape), 0, 1)
    files = [f"{i:02}" for i in range(n_files) for _ in range(5)]
    onset = np.tile(np.arange(5.0), n_files)
    return {
        "filename": files,
        "onset": onset,
        "offset": onset + 1,
        "event_label": ["car"] * len(files),
        "soft_value": values.ravel(),
    }


def board_of(n_files, n_systems, **settings):
    systems = {f"s{k}": table(n_files, k + 1, 0.05 + 0.1 * k) for k in range(n_systems)}
    return compare(table(n_files, 0, 0.0), systems, **{**SOFT, "ci": "jackknife", **settings})


def test_one_file_shows_no_difference_to_be_sure():
    board = board_of(1, 2)
    found = board.entries[1].difference
    assert found.value < 0
    assert (found.low, found.high) == (None, None)
    assert (found.p_bootstrap, found.p_exchange) == (1.0, 1.0)
    for entry in board.entries:
        assert (entry.stability, entry.best_place, entry.worst_place) == (None, None, None)
    jsonschema.validate(json.loads(render(board.systems, "json", board=board)), schema())
    assert "100.0 %" not in render(board.systems, "text", board=board)


# 2 / 2^6 is below 0.05, but 2 comparisons make 2 * 2 / 2^6 of it; 30 replicates give 1 / 31 at the least.
@pytest.mark.parametrize(
    ("n_files", "n_systems", "replicates", "said"),
    [
        (6, 2, 1000, None),
        (6, 3, 1000, "exchanging 6 files between two of them gives no p-value below 0.0312, 0.0625 after"),
        (20, 2, 30, None),
        (20, 2, 10, "10 replicates give no p-value below 0.0909"),
        (20, 3, 30, "30 replicates give no p-value below 0.0323, 0.0645 after Holm's adjustment for 2"),
    ],
)
def test_what_nobody_can_be_told_apart_by_is_said(n_files, n_systems, replicates, said):
    board = board_of(n_files, n_systems, replicates=replicates)
    warnings = [text for text in board.systems[0].warnings if text.startswith("all systems tie")]
    assert len(warnings) == (said is not None)
    assert not said or warnings[0].startswith(f"all systems tie: {said}")
    assert all(entry.tied for entry in board.entries) == (said is not None)


def test_a_p_value_at_the_level_is_not_below_it():
    # 1 - 0.95 is a little more than 0.05, which is 1 / (19 + 1).
    board = board_of(20, 2, replicates=19)
    assert board.entries[1].difference.p_exchange == 0.05
    assert all(entry.tied for entry in board.entries)


def test_systems_without_the_score_that_ranks_them_are_named():
    nothing = {name: values[:0] for name, values in table(6, 0, 0.0).items()}
    board = compare(
        table(6, 0, 0.0),
        {"some": table(6, 1, 0.1), "none": nothing},
        rank_by="segment.soft.precision[car]",
        replicates=40,
        **SOFT,
    )
    assert [entry.system for entry in board.entries] == ["some", "none"]
    assert (
        "segment.soft.precision[car] is undefined for 1 system ('none'); ranked last"
        in board.systems[0].warnings
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"replicates": 39}, "a confidence of 0.95 needs 40 replicates or more, found 39"),
        ({"replicates": 40}, None),
        ({"confidence": 0.9999}, "a confidence of 0.9999 needs 20000 replicates or more, found 1000"),
        ({"replicates": 1, "ci": "jackknife"}, None),
        ({"replicates": 1, "ci": "bca"}, "needs 40 replicates or more, found 1"),
    ],
)
def test_replicates_that_are_too_few_for_a_confidence_are_told_of(settings, said):
    warnings = evaluate(REFERENCE, ONE, **SOFT, **{"ci": "bootstrap", **settings}).warnings
    assert any("replicates or more" in text for text in warnings) == (said is not None)
    assert said is None or any(said in text for text in warnings)


def test_silence_that_a_system_adds_betters_nothing():
    # A trace of a class that is nowhere, or of an event long after the end: twice as much to be silent in.
    reference, plain = table(6, 0, 0.0), table(6, 1, 0.3)
    more = {name: [*values, *last] for (name, values), last in zip(
        plain.items(), (["00"], [0.0], [1.0], ["horn"], [0.01]), strict=True)}  # fmt: skip
    longer = {name: [*values, *last] for (name, values), last in zip(
        plain.items(), (["00"], [29.0], [30.0], ["car"], [0.01]), strict=True)}  # fmt: skip
    systems = {"plain": plain, "more": more, "longer": longer}
    for name in ("segment.soft.kl_divergence.micro", "segment.hard.accuracy.micro", "segment.soft.f1.micro"):
        board = compare(reference, systems, rank_by=name, replicates=40, **BOTH)
        assert board.entries[0].system == "plain"
    # By sed_eval's rules it does.
    rank_by = "segment.hard.accuracy.micro"
    for other in (more, longer):
        board = compare(
            reference,
            {"plain": plain, "other": other},
            rank_by=rank_by,
            replicates=40,
            compat="sed_eval",
            **BOTH,
        )
        assert board.entries[0].system == "other"
        assert any("by sed_eval's rules" in text for text in board.systems[0].warnings)


def test_ranks_of_classes_do_not_keep_systems_with_other_classes_apart():
    other = {**table(6, 1, 0.2), "event_label": ["horn"] * 30}
    systems = {"one": table(6, 1, 0.1), "two": other}
    board = compare(table(6, 0, 0.0), systems, replicates=40, only=("segment.soft", "ranking"))
    alone = compare(table(6, 0, 0.0), systems, replicates=40, **SOFT)
    assert board.entries == alone.entries
    with pytest.raises(EvaluationError, match="name them by `classes`"):
        compare(table(6, 0, 0.0), systems, replicates=40, only=("ranking",), rank_by="ranking.hard.one_error")


@pytest.mark.parametrize("method", ["bootstrap", "bca", "expanded", "jackknife"])
@pytest.mark.parametrize("n_files", [3, 12, 40])
@pytest.mark.parametrize("reading", ["hard", "soft", "optimal"])
def test_intervals_that_hold_the_truth_too_rarely_are_told_of_with_how_often(method, n_files, reading):
    if (method, reading) == ("jackknife", "optimal"):
        return
    settings = {"only": f"segment.{reading}", "ci": method, "replicates": 40}
    # It is no doubt about how a table is read: --strict lets it pass.
    scores = evaluate(table(n_files, 0, 0.0), table(n_files, 1, 0.1), strict=True, **settings)
    share = held(method, reading, n_files)
    rough = [text for text in scores.warnings if text.startswith("intervals are rough: they come from")]
    if share >= ENOUGH and n_files >= 5:
        assert rough == []
        return
    fewer = files_of(n_files)
    (text,) = rough
    assert text.startswith(
        f"intervals are rough: they come from resampling {n_files} files; in simulations with {fewer} files, "
        f"95 % intervals held the true score in {100 * share:.0f} % ({reading})"
    )
    better = held("expanded", reading, n_files)
    named = f", those of --ci expanded in {100 * better:.0f} %"
    assert text.endswith(named) == (better > share)
