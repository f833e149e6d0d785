"""Whether touching rows are one event: `--set events=auto` is for the rows of each side to say."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from parted import count_in_parts
from tables import columns_of, long_rows

import sedeval_soft
from sedeval_soft import EvaluationError, Settings
from sedeval_soft.checks.rows import are_steps
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.timeline.recordings import step_counts

Row = tuple[str, float, float, str, float]

ONLY_EVENTS = Settings(only=("event.hard", "event.optimal", "event.soft"))
STRICT = replace(ONLY_EVENTS, strict=True)


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


def test_the_rule_of_time_steps_by_its_definition_and_in_parts():
    """Small random tables of rows of one or two lengths that often touch, by an oracle in fractions."""
    rng, decided = random.Random(5), set()  # noqa: S311
    for _ in range(400):
        lengths = rng.choice([(10,), (10, 10, 10, 11), (10, 20), (1000,)])
        rows = []
        for name in "ab":
            for label in ("car", "dog"):
                onset = rng.randint(0, 3) * 10
                for _ in range(rng.randint(0, 6)):
                    offset = onset + rng.choice(lengths)
                    rows += [(name, Fraction(onset, 1000), Fraction(offset, 1000), label)] * rng.choice(
                        [1] * 5 + [2]
                    )
                    onset = offset + rng.choice([0, 0, 0, 0, 10, 500, -5])
        rng.shuffle(rows)
        sides = [[row for row in rows if row[0] in names] for names in ("ab", "a", "b")]
        counts = [
            step_counts(long_rows([(row[0], *map(float, row[1:3]), row[3], 0.5) for row in side]))
            if side else (0, 0, 0)
            for side in sides
        ]  # fmt: skip
        assert are_steps(counts[0]) == is_of_steps(rows)
        assert counts[0] == tuple(map(sum, zip(*counts[1:], strict=True)))
        decided.add(are_steps(counts[0]))
    assert decided == {True, False}


def frames(step: float, decimals: int, last: float) -> tuple[np.ndarray, list[float]]:
    """Return values of 60 frames of two classes, and their edges; the last frame is a share of a step."""
    rng = np.random.default_rng(11)
    values = np.repeat(rng.integers(0, 5, size=(12, 2)) / 4, 5, axis=0)
    edges = [round(step * k, decimals) for k in range(len(values))]
    return values, [*edges, round(step * (len(values) - 1 + last), decimals)]


@pytest.mark.parametrize(
    ("step", "decimals", "last"), [(1.0, 3, 1.0), (0.02, 3, 1.0), (1024 / 44100, 3, 1.0), (0.1, 6, 0.4)]
)
def test_frames_are_time_steps_in_any_form(step, decimals, last, tmp_path):
    """A wide table, a folder of tables of one file each, a long table, and one without its silent frames."""
    values, edges = frames(step, decimals, last)
    labels, spans = ("car", "dog"), list(zip(edges, edges[1:], strict=False))
    wide = {"filename": ["a"] * len(spans), "onset": edges[:-1], "offset": edges[1:]}
    wide |= {label: values[:, k].tolist() for k, label in enumerate(labels)}
    long = [("a", *span, label, v) for k, label in enumerate(labels)
            for span, v in zip(spans, values[:, k].tolist(), strict=True)]  # fmt: skip
    folder = tmp_path / "scores"
    folder.mkdir()
    lines = [
        ("onset", "offset", *labels),
        *((*span, *v) for span, v in zip(spans, values.tolist(), strict=True)),
    ]
    (folder / "a.tsv").write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
    whole = sedeval_soft.evaluate(wide, wide, settings=STRICT)
    assert whole["event.hard.n_ref.micro"] < 24
    for form in (
        folder,
        columns_of(long),
        columns_of([row for row in long if row[4]]),
        columns_of(long[::-1]),
    ):
        scores = sedeval_soft.evaluate(form, form, settings=STRICT)
        assert forms(scores) == {"reference": "merge", "system": "merge"}
        assert {name: score.value for name, score in scores.scores.items()} == {
            name: score.value for name, score in whole.scores.items()
        }


@pytest.mark.parametrize("exchanged", [False, True])
def test_time_steps_beside_events_that_touch_are_told_of(exchanged):
    """Two events of the reference touch, which time steps cannot say: they are one event there."""
    steps = columns_of([("a", float(k), k + 1.0, "dog", 0.9) for k in range(4)])
    events = columns_of([("a", 0.0, 1.0, "dog"), ("a", 1.0, 4.0, "dog")])
    copied = sedeval_soft.evaluate(events, events, settings=STRICT)
    assert forms(copied) == {"reference": "rows", "system": "rows"}
    assert (copied["event.hard.n_ref.micro"], copied["event.hard.f1.micro"]) == (2, 1)
    sides = (steps, events) if exchanged else (events, steps)
    (line,) = [text for text in sedeval_soft.evaluate(*sides).warnings if "--set events" in text]
    assert "1 of 2 rows" in line
    with pytest.raises(EvaluationError, match="--set events"):
        sedeval_soft.evaluate(*sides, only="event.hard", strict=True)
    for events_are in ("merge", "rows"):
        sedeval_soft.evaluate(*sides, only="event.hard", events=events_are, strict=True)


def mixed() -> tuple[list[Row], list[Row]]:
    """Return time steps of one file, and a list of more detections of others, some of which touch."""
    steps = [("a", float(k), k + 1.0, "dog", 0.9) for k in range(6)]
    return steps, [(f"f{k}", on, off, "dog", 0.8) for k in range(9) for on, off in ((0.0, 2.0), (2.0, 7.0))]


def test_batches_that_are_not_alike_are_refused_unless_settings_say_what_an_event_is():
    for sides in (mixed(), mixed()[::-1]):
        evaluator = sedeval_soft.Evaluator(ONLY_EVENTS)
        for rows in sides:
            evaluator.update(columns_of(rows), columns_of(rows))
        with pytest.raises(EvaluationError, match="reference: .*--set events=merge"):
            evaluator.compute()
        told = sedeval_soft.Evaluator(only=("event.hard",), events="rows")
        for rows in sides:
            told.update(columns_of(rows), columns_of(rows))
        assert told.compute()["event.hard.n_sys.micro"] == 24


def test_a_batch_of_one_row_goes_with_time_steps():
    evaluator = sedeval_soft.Evaluator(ONLY_EVENTS)
    for rows in ([("b", 3.0, 4.0, "dog", 0.7)], mixed()[0]):
        evaluator.update(columns_of(rows), columns_of(rows))
    scores = sedeval_soft.Evaluator.of_bytes(evaluator.to_bytes()).compute()
    assert scores["event.hard.n_sys.micro"] == 2
    assert forms(scores) == {"reference": "merge", "system": "merge"}


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
