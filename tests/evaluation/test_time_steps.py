"""When touching rows are one event, and where rows count: in which segments, and beyond the ends."""

import numpy as np
import pandas as pd
import pytest
from called import written
from parted import count_in_parts
from tables import columns_of, long_rows

from sedeval_soft import EvaluationError, Evaluator, Scores, Settings, evaluate
from sedeval_soft.checks.rows import are_steps
from sedeval_soft.evaluation import score_shard
from sedeval_soft.timeline.recordings import step_counts

MERGED = {"reference": "merge", "system": "merge"}


def forms(scores: Scores) -> dict[str, str]:
    return {item.role: item.events for item in scores.inputs}


# Counts: rows of files and classes whose rows touch or overlap; rows that touch the row before and have its
# length; rows that touch the row before.
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
    """A folder of wide tables, a long table, one without its silent frames, and one in reverse order agree.

    The last of 60 frames may be shorter than a step.
    """
    car, dog = np.repeat(np.random.default_rng(11).integers(0, 5, size=(2, 12)) / 4, 5, axis=1)
    edges = [round(step * k, decimals) for k in (*range(60), 59 + last)]
    wide = pd.DataFrame({"onset": edges[:-1], "offset": edges[1:], "car": car, "dog": dog})
    wide.to_csv(tmp_path / "a.tsv", sep="\t", index=False)
    long = wide.assign(filename="a").melt(["filename", "onset", "offset"], var_name="event_label")
    strict = {"only": ("event.hard", "event.optimal", "event.soft"), "strict": True}
    whole = evaluate(long, long, **strict)
    assert whole["event.hard.n_ref.micro"] < 24
    for form in (tmp_path, long, long[long["value"] > 0], long[::-1]):
        scores = evaluate(form, form, **strict)
        assert forms(scores) == MERGED and dict(scores) == dict(whole)


STEPS = columns_of([("a", float(k), k + 1.0, "dog", 0.9) for k in range(6)])
EVENTS = columns_of(
    [(f"f{k}", on, off, "dog", 0.8) for k in range(9) for on, off in ((0.0, 2.0), (2.0, 7.0))]
)


@pytest.mark.parametrize("exchanged", [False, True])
def test_time_steps_beside_events_that_touch_are_warned_of(exchanged):
    """Two events of the reference touch: time steps would be one event there."""
    events = columns_of([("a", 0.0, 1.0, "dog"), ("a", 1.0, 6.0, "dog")])
    copied = evaluate(events, events, only="event.hard", strict=True)
    assert forms(copied) == {"reference": "rows", "system": "rows"}
    assert (copied["event.hard.n_ref.micro"], copied["event.hard.f1.micro"]) == (2, 1)
    sides = (STEPS, events) if exchanged else (events, STEPS)
    assert ["1 of 2 rows" in text for text in evaluate(*sides).warnings if "--set events" in text] == [True]
    with pytest.raises(EvaluationError, match="--set events"):
        evaluate(*sides, only="event.hard", strict=True)
    for events_are in ("merge", "rows"):
        evaluate(*sides, only="event.hard", events=events_are, strict=True)


def counted(*batches, **settings):
    """Return an evaluator of two batches, each with equal sides."""
    first, second = ((rows, rows) for rows in batches)
    return Evaluator(only="event.hard", **settings).update(*first).update(*second)


@pytest.mark.parametrize("batches", [(STEPS, EVENTS), (EVENTS, STEPS)])
def test_batches_that_are_not_alike_are_refused_unless_settings_name_the_events(batches):
    with pytest.raises(EvaluationError, match="reference: .*--set events=merge"):
        counted(*batches).compute()
    assert counted(*batches, events="rows").compute()["event.hard.n_sys.micro"] == 24


def test_a_batch_of_one_row_goes_with_time_steps():
    one = columns_of([("b", 3.0, 4.0, "dog", 0.7)])
    scores = Evaluator.of_bytes(counted(one, STEPS).to_bytes()).compute()
    assert scores["event.hard.n_sys.micro"] == 2 and forms(scores) == MERGED


def test_the_rows_of_all_parts_decide_whether_touching_ones_are_one_event(tmp_path):
    steps = [(f"f{k}", t, t + 1, "car", 0.8) for k in range(9) for t in range(9)]
    # Alone, this file would be a list of events: its rows touch, but differ in length.
    odd = [("odd", on, off, "car", 0.8) for on, off in ((0, 1), (1, 3), (3, 3.5), (3.5, 9))]
    path = written(tmp_path / "steps.tsv", long_rows([*steps, *odd]))
    settings = Settings(only=("event.hard",))
    shard = count_in_parts(path, path, settings, n_parts=64)
    assert shard.tally.total("event.hard.n_ref").tolist() == [10]
    assert score_shard(shard, "0").scores == evaluate(path, path, settings=settings).scores


# --- where rows count -----------------------------------------------------------------------------


@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize(
    ("length", "onset", "offset"), [("1/3", 0.333, 0.334), ("1024/44100", 0.139, 0.14), ("1/3", 0.0, 0.001)]
)
def test_an_event_of_a_millisecond_is_in_a_segment_and_its_copy_is_right(length, onset, offset, pool):
    table = columns_of([("a", onset, offset, "car", 1.0)])
    for durations in (None, {"a": offset}, {"a": 5.0}):
        scores = evaluate(table, table, segment_length=length, pool=pool, durations=durations)
        assert 0 < scores["segment.soft.n_ref[car]"] <= 1
        assert scores["segment.soft.f1.macro"] == scores["segment.soft.recall[car]"] == 1.0


@pytest.mark.parametrize(("onset", "offset", "n"), [(0.333, 0.334, 1), (0.666, 0.667, 1)])
def test_an_event_at_an_edge_is_in_the_segment_that_contains_most_of_it(onset, offset, n):
    """Both ends are rounded thirds of seconds, and so near edges of segments."""
    events = [columns_of([("a", *ends, "car", 1.0)]) for ends in ((onset, offset), (n / 3, (n + 1) / 3))]
    scores = evaluate(*events, segment_length="1/3", durations={"a": 5.0})
    assert scores["segment.hard.f1.micro"] == 1.0


OURS = columns_of([("a.wav", 2.0, 4.0, "car", 1.0)], ("b.wav",))
"""A reference that declares b.wav as a file without events."""
LOUD = columns_of([
    ("a.wav", 0.0, 2.0, "car", 0.1), ("a.wav", 2.0, 4.0, "car", 0.6), ("b.wav", 0.0, 10.0, "car", 0.9)
])  # fmt: skip


def test_false_alarms_in_a_file_of_unknown_length_are_false_and_scores_over_cells_say_what_they_lack():
    """By hand: of 4 s, 2 are found and 2 silent; 10 s are false alarms: (2 + 2) / (2 + 2 + 10)."""
    scores = evaluate(OURS, LOUD, measures=("curves", "calibration"))
    assert scores["segment.hard.accuracy.micro"] == pytest.approx(4 / 14)
    assert scores["segment.hard.roc_auc.macro"] == 1.0
    (line,) = [text for text in scores.warnings if "no known length" in text]
    assert all(text in line for text in ("'b.wav'", "segment.soft.kl_divergence", "ROC", "calibration"))
    counts = evaluate(OURS, LOUD, strict=True, only=("segment.hard", "event", "clip"))
    assert counts["segment.hard.fp.micro"] == 10


def test_a_file_that_only_the_system_has_is_no_clip_of_the_reference():
    """One clip is right, the other is a false alarm."""
    scores = evaluate({name: column[:1] for name, column in OURS.items()}, LOUD, only="clip")
    assert scores["clip.hard.accuracy.micro"] == 0.5
    assert any("no clip in the reference" in text and "clip.soft.kl_" in text for text in scores.warnings)
