"""The numbers of LAT-Bench's script for temporal grounding, to the last bit; where the rules give others.

Golden numbers: tests/apps/published/make_lat_bench.py names the script and its commit.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from called import call
from random_answers import answer_files

from sedeval_soft import evaluate
from sedeval_soft.apps.published.base import Inputs, published_evaluator
from sedeval_soft.errors import EvaluationError
from sedeval_soft.tables.limits import LIMITS

GOLDEN = Path(__file__).parents[2] / "data" / "published" / "lat_bench.npz"
NAMES = ("mIoU", "R@0.3", "R@0.5", "R@0.7")


def numbers(path, **options):
    return published_evaluator("lat-bench").numbers(
        replace(Inputs.of_texts([str(path)] * 2, LIMITS), options=options)
    )


def write(path, lines):
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


@pytest.mark.parametrize("number", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_golden_numbers(number, tmp_path):
    with np.load(GOLDEN) as golden:
        counts, scores = golden["counts"], golden["scores"]
    assert len(counts) == 10_000
    for case, lines in answer_files(number):
        found = numbers(write(tmp_path / "answers.jsonl", lines))
        assert [found["Total samples"], found["Valid samples"]] == counts[case].tolist(), case
        theirs = [each for each in scores[case].tolist() if not np.isnan(each)]
        assert [found[name] for name in NAMES if name in found] == theirs, case


RIGHT, LABELS = "[00:10-00:20]", "[00:10-00:20]"
DEVIATIONS = {
    "99 refusals": ([RIGHT] + ["I cannot tell."] * 99, 1.0, 0.01),
    "seconds": ([RIGHT, "10 - 20"], 1.0, 1.0),
    "fractions, at the end": ([RIGHT, "[00:10-00:20.5]"], 1.0, (1 + 10 / 10.5) / 2),
    "fractions, at the beginning": ([RIGHT, "[00:10.5-00:20]"], 1.0, (1 + 9.5 / 10) / 2),
    "hours": ([RIGHT, "[00:00:10-00:00:20]"], 0.5, 1.0),
    "the second of two spans": (["[00:10-00:15], [00:15-00:20]"], 0.5, 1.0),
    "a span that is thought of": (["<think>00:00-00:05?</think>[00:10-00:20]"], 0.0, 1.0),
    "60 seconds and more": (["[00:10-00:80]"], 10 / 70, 0.0),
    "the end before the beginning": ([RIGHT, "[00:20-00:10]"], 0.5, 0.5),
    "JSON": ([RIGHT, '{"start": "00:10", "end": "00:20"}'], 1.0, 1.0),
}


@pytest.mark.parametrize("name", DEVIATIONS)
def test_known_deviations(name, tmp_path):
    answers, theirs, ours = DEVIATIONS[name]
    path = write(tmp_path / "tag.jsonl", [{"labels": LABELS, "response": each} for each in answers])
    assert numbers(path)["mIoU"] == theirs
    assert evaluate(path, path, preset="audio-grounding")["segment.hard.mean_iou.micro"] == pytest.approx(
        ours
    )


def test_labels_that_cannot_be_read_leave_the_mean_there_and_are_an_error_here(tmp_path):
    lines = [{"labels": RIGHT, "response": RIGHT}, {"labels": "soon", "response": RIGHT}, "no JSON"]
    path = write(tmp_path / "tag.jsonl", lines)
    assert numbers(path) == dict.fromkeys(NAMES, 1.0) | {"Total samples": 3, "Valid samples": 1}
    with pytest.raises(EvaluationError, match="2: .*'soon'"):
        evaluate(path, path, preset="audio-grounding")


@pytest.mark.parametrize(
    ("line", "said"),
    [("[1]", ":2"),
     ({"labels": LABELS, "response": f"{'1' * 5000}:00-00:01"}, ":2")],
)  # fmt: skip
def test_where_the_script_stops_so_does_this(line, said, tmp_path):
    path = write(tmp_path / "tag.jsonl", [{"labels": LABELS, "response": RIGHT}, line])
    with pytest.raises(EvaluationError, match=said):
        numbers(path)


def test_the_command_prints_the_lines_of_the_script(tmp_path):
    path = write(tmp_path / "tag.jsonl", [{"truth": LABELS, "said": RIGHT}, {"truth": LABELS, "said": "no"}])
    fields = ("--set", "ref-field=truth", "--set", "pred-field=said", "--set", "thresholds=0.9")
    done = call("published", "lat-bench", path, path, *fields, "--format", "json")
    assert done.document["scores"] == {"Total samples": 2, "Valid samples": 1, "mIoU": 1.0, "R@0.9": 1.0}
    other = write(tmp_path / "short.jsonl", [{"said": RIGHT}])
    assert call("published", "lat-bench", path, other).code == 2
    same = write(tmp_path / "same.jsonl", [{"labels": LABELS, "response": each} for each in (RIGHT, "no")])
    checked = call("check", same, same, "--preset", "audio-grounding", "--with", "lat-bench").out
    assert "segment.hard.mean_iou.micro 0.500000 1.000000" in " ".join(checked.split())
