"""Whether touching rows are one event: `--set events=auto` is for the rows of each side to say."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

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


def is_of_steps(rows: list[tuple[str, Fraction, Fraction, str]]) -> bool:
    """Decide by the definition: most rows go on where another of their class ends, as long as it."""
    n_rows = n_going_on = 0
    for group in sorted({(row[0], row[3]) for row in rows}):
        times = sorted({row[1:3] for row in rows if (row[0], row[3]) == group})
        twice = len(times) < sum((row[0], row[3]) == group for row in rows)
        pairs = list(zip(times, times[1:], strict=False))
        if not twice and not any(later[0] <= earlier[1] for earlier, later in pairs):
            continue
        n_rows += len(times)
        n_going_on += sum(
            later[0] == earlier[1] and abs(later[1] - later[0] - earlier[1] + earlier[0]) <= Fraction(1, 1000)
            for earlier, later in pairs
        )
    return 2 * n_going_on > n_rows


def some_rows(rng: random.Random) -> list[tuple[str, Fraction, Fraction, str]]:
    """Return rows of one or two lengths that often touch, some of them twice."""
    lengths, rows = rng.choice([(10,), (10, 10, 10, 11), (10, 20), (1000,)]), []
    for name, label in product("ab", ("car", "dog")):
        onset = rng.randint(0, 3) * 10
        for _ in range(rng.randint(0, 6)):
            offset = onset + rng.choice(lengths)
            row = name, Fraction(onset, 1000), Fraction(offset, 1000), label
            rows += [row] * rng.choice([1, 1, 1, 1, 1, 2])
            onset = offset + rng.choice([0, 0, 0, 0, 10, 500, -5])
    return rng.sample(rows, len(rows))


def test_the_rule_of_time_steps_by_its_definition_and_in_parts():
    rng, decided = random.Random(5), []  # noqa: S311
    for _ in range(200):
        rows = some_rows(rng)
        sides = [[row for row in rows if row[0] in names] for names in ("ab", "a", "b")]
        whole, *parts = (
            step_counts(long_rows([(f, float(on), float(off), label) for f, on, off, label in side]))
            if side else (0, 0, 0)
            for side in sides
        )  # fmt: skip
        assert whole == tuple(map(sum, zip(*parts, strict=True)))
        decided.append(are_steps(whole))
        assert decided[-1] == is_of_steps(rows)
    assert {*decided} == {True, False}


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
