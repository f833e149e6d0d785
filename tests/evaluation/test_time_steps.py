"""Whether touching rows are one event: `--set events=auto` is for the rows of each side to say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from parted import count_in_parts
from tables import columns_of, long_rows

import sedeval_soft
from sedeval_soft import EvaluationError, Settings
from sedeval_soft.checks.rows import are_steps
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.timeline.recordings import step_counts

ONLY_EVENTS = Settings(only=("event.hard", "event.optimal", "event.soft"))
MERGED = {"reference": "merge", "system": "merge"}


def forms(scores: sedeval_soft.Scores) -> dict[str, str]:
    return {item.role: item.events for item in scores.inputs}


# Counted: rows of functions in question, those that go on as long as the row before, those that touch it.
ROWS = {
    "steps": ([(0, 1), (1, 2), (2, 3)], (3, 2, 2)),
    "events that touch": ([(0, 1), (1, 3), (3, 3.5)], (3, 0, 2)),
    "nothing touches": ([(0, 1), (2, 3)], (0, 0, 0)),
    "some overlap": ([(0, 1), (0.5, 2), (2, 3.5)], (3, 1, 1)),
    "all overlap": ([(0, 2), (1, 3)], (2, 0, 0)),
    "one is there twice": ([(0, 1), (0, 1), (1, 2)], (2, 1, 1)),
    "all are there twice": ([(0, 1), (0, 1)], (1, 0, 0)),
    "lengths within a millisecond": ([(0, 1), (1, 2.001)], (2, 1, 1)),
    "lengths beyond it": ([(0, 1), (1, 2.002)], (2, 0, 1)),
}


@pytest.mark.parametrize(("times", "counts"), ROWS.values(), ids=ROWS)
def test_rows_of_one_length_that_touch_are_counted_in_each_function_that_is_in_question(times, counts):
    apart = [("a", 0, 1, "dog"), ("a", 5, 6, "dog"), ("b", 1, 2, "car")]
    assert step_counts(long_rows([*apart, *(("a", on, off, "car") for on, off in times)])) == counts


def test_time_steps_are_more_than_half_of_the_rows():
    assert (are_steps((4, 2, 3)), are_steps((4, 3, 3)), are_steps((0, 0, 0))) == (False, True, False)


@pytest.mark.parametrize(
    ("step", "decimals", "last"), [(1.0, 3, 1.0), (0.02, 3, 1.0), (1024 / 44100, 3, 1.0), (0.1, 6, 0.4)]
)
def test_frames_are_time_steps_in_any_form(step, decimals, last, tmp_path):
    """A wide table, a folder of tables of one file each, a long table, and one without its silent frames.

    The last of 60 frames is a share of a step.
    """
    values = np.repeat(np.random.default_rng(11).integers(0, 5, size=(12, 2)) / 4, 5, axis=0)
    edges = [round(step * k, decimals) for k in (*range(60), 59 + last)]
    wide = pd.DataFrame(
        {"onset": edges[:-1], "offset": edges[1:]} | dict(zip(("car", "dog"), values.T, strict=True))
    )
    wide.to_csv(tmp_path / "a.tsv", sep="\t", index=False)
    wide["filename"] = "a"
    long = wide.melt(["filename", "onset", "offset"], var_name="event_label", value_name="value")
    strict = replace(ONLY_EVENTS, strict=True)
    whole = sedeval_soft.evaluate(wide, wide, settings=strict)
    assert whole["event.hard.n_ref.micro"] < 24
    for form in (tmp_path, long, long[long["value"] > 0], long[::-1]):
        scores = sedeval_soft.evaluate(form, form, settings=strict)
        assert forms(scores) == MERGED and dict(scores) == dict(whole)


STEPS = columns_of([("a", float(k), k + 1.0, "dog", 0.9) for k in range(6)])
EVENTS = columns_of(
    [(f"f{k}", on, off, "dog", 0.8) for k in range(9) for on, off in ((0.0, 2.0), (2.0, 7.0))]
)


@pytest.mark.parametrize("exchanged", [False, True])
def test_time_steps_beside_events_that_touch_are_warned_of(exchanged):
    """Two events of the reference touch, which time steps cannot have: they are one event there."""
    events = columns_of([("a", 0.0, 1.0, "dog"), ("a", 1.0, 6.0, "dog")])
    copied = sedeval_soft.evaluate(events, events, only="event.hard", strict=True)
    assert forms(copied) == {"reference": "rows", "system": "rows"}
    assert (copied["event.hard.n_ref.micro"], copied["event.hard.f1.micro"]) == (2, 1)
    sides = (STEPS, events) if exchanged else (events, STEPS)
    (line,) = [text for text in sedeval_soft.evaluate(*sides).warnings if "--set events" in text]
    assert "1 of 2 rows" in line
    with pytest.raises(EvaluationError, match="--set events"):
        sedeval_soft.evaluate(*sides, only="event.hard", strict=True)
    for events_are in ("merge", "rows"):
        sedeval_soft.evaluate(*sides, only="event.hard", events=events_are, strict=True)


def evaluator_of(*batches, **settings):
    """Return the evaluator of some batches; each is both sides."""
    evaluator = sedeval_soft.Evaluator(**settings)
    for rows in batches:
        evaluator.update(rows, rows)
    return evaluator


@pytest.mark.parametrize("batches", [(STEPS, EVENTS), (EVENTS, STEPS)])
def test_batches_that_are_not_alike_are_refused_unless_settings_name_the_events(batches):
    with pytest.raises(EvaluationError, match="reference: .*--set events=merge"):
        evaluator_of(*batches, only="event.hard").compute()
    named = evaluator_of(*batches, only="event.hard", events="rows").compute()
    assert named["event.hard.n_sys.micro"] == 24


def test_a_batch_of_one_row_goes_with_time_steps():
    one = columns_of([("b", 3.0, 4.0, "dog", 0.7)])
    data = evaluator_of(one, STEPS, only="event.hard").to_bytes()
    scores = sedeval_soft.Evaluator.of_bytes(data).compute()
    assert scores["event.hard.n_sys.micro"] == 2 and forms(scores) == MERGED


def test_the_rows_of_all_parts_decide_whether_touching_ones_are_one_event(tmp_path):
    lines = [f"f{k}\t{t}\t{t + 1}\tcar\t0.8\n" for k in range(9) for t in range(9)]
    # By itself a list of events: its rows touch, but have other lengths.
    lines += [f"odd\t{on}\t{off}\tcar\t0.8\n" for on, off in ((0, 1), (1, 3), (3, 3.5), (3.5, 9))]
    path = tmp_path / "steps.tsv"
    path.write_text("filename\tonset\toffset\tevent_label\tvalue\n" + "".join(lines))
    settings = Settings(only=("event.hard",))
    shard = count_in_parts(path, path, settings, n_parts=64)
    assert shard.tally.total("event.hard.n_ref").tolist() == [10]
    whole = sedeval_soft.evaluate(path, path, only=settings.only)
    assert score_shard(shard, "0").scores == whole.scores
