"""Answers of audio-language models: a fixed grammar; unreadable answers are counted, never guessed."""

import json
from pathlib import Path

import pytest
from called import call
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft import evaluate
from sedeval_soft.apps.answers import spans_of
from sedeval_soft.errors import EvaluationError
from sedeval_soft.tables import Limits, read_rows

with Path(__file__).with_name("answers.tsv").open(encoding="utf-8") as file:
    ANSWERS = [line.rstrip("\n").rpartition("\t")[::2] for line in file][1:]
"""Answers as JSON, each with its spans; some are unreadable."""


@pytest.mark.parametrize(("answer", "said"), ANSWERS)
def test_what_the_grammar_says_and_what_does_not_fit_is_never_guessed(answer, said):
    assert spans_of(json.loads(answer)) == ([(10.0, 20.0)] if said == "10-20" else None)


def test_several_spans_hours_fractions_and_none():
    assert spans_of("00:10-00:20, 1:00:00.5-1:00:01 and 90:00 to 90:01") == [
        (10.0, 20.0), (3600.5, 3601.0), (5400.0, 5401.0)
    ]  # fmt: skip
    assert spans_of('[[1, 2], ["00:03", 4.25]]') == [(1.0, 2.0), (3.0, 4.25)]
    assert spans_of("[]") == [] == spans_of([])
    assert spans_of("3-3") == [(3.0, 3.0)]
    assert spans_of("<think>1-2</think>2-3</think>3-4") == [(3.0, 4.0)]
    assert spans_of("10-20", longest=15) is None


NUMBERS = st.integers(0, 10**8).map(lambda n: n / 100)


@given(st.lists(st.tuples(NUMBERS, NUMBERS).map(sorted), min_size=1, max_size=4), st.integers(0, 3))
def test_spans_come_back_however_they_are_written(spans, how):
    def clock(seconds):
        hundredths = round(100 * seconds)
        minutes = hundredths // 6000 % 60
        return f"{hundredths // 360000}:{minutes:02d}:{hundredths % 6000 // 100:02d}.{hundredths % 100:02d}"

    texts = [
        json.dumps(spans), ", ".join(f"{a} - {b}" for a, b in spans),
        "It is heard " + " and ".join(f"from {a} s to {b} s" for a, b in spans) + ".",
        "; ".join(f"{clock(a)}-{clock(b)}" for a, b in spans),
    ]  # fmt: skip
    assert spans_of(texts[how]) == [tuple(span) for span in spans]


@given(st.text(st.sampled_from('0123456789:.-, []{}"()sfromtandbewe\n\u2013%<>/'), max_size=60))
def test_any_text_is_spans_or_nothing(text):
    spans = spans_of(text, longest=1e6)
    assert spans is None or all(0 <= onset <= offset <= 1e6 for onset, offset in spans)


def write(path, rows):
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return str(path)


def test_one_right_answer_and_99_refusals_score_a_hundredth(tmp_path):
    """Labels and answers are in one file, as inference scripts write it, or in two."""
    asked = {"labels": "[00:10-00:20]"}
    rows = [{**asked, "response": "[00:10-00:20]" if i == 40 else "I cannot tell."} for i in range(100)]
    whole = write(tmp_path / "whole.jsonl", rows)
    ours = write(tmp_path / "ref.jsonl", [{"id": i, **asked} for i in range(100)])
    theirs = write(
        tmp_path / "sys.jsonl", [{"id": i, "response": row["response"]} for i, row in enumerate(rows)]
    )
    for sides in ((whole, whole), (ours, theirs)):
        done = call(*sides, "--preset", "audio-grounding")
        assert done.out.splitlines()[2].split()[:2] == ["segment.hard.mean_iou.micro", ".010"]
        assert all(f"{name} .010" in done.out for name in ("mIoU", "R@0.3", "R@0.5", "R@0.7"))
        assert "99 of 100 answers are unreadable and count as misses: line 1 'I cannot tell.'" in done.err
        again = call(*sides, "--preset", "audio-grounding", "--jobs", "2", "--format", "json")
        assert again.scores["segment.hard.mean_iou.micro"]["value"] == 0.01
        assert "99 unreadable answers" in again.document["inputs"][1]["form"]
    assert call(ours, theirs, "--preset", "audio-grounding", "--strict").code == 2


def test_answers_are_compared_with_ordinary_tables(tmp_path):
    table = tmp_path / "ref.tsv"
    table.write_text("filename\tonset\toffset\tevent_label\na: dog\t10\t20\tquery\nb: dog\t0\t1\tquery\n")
    rows = [{"audio": "a", "query": "dog", "answer": "10-15"}, {"audio": "b", "query": "dog", "answer": "no"}]
    scores = evaluate(table, write(tmp_path / "sys.jsonl", rows), preset="audio-grounding")
    assert scores["segment.hard.mean_iou.micro"] == 0.25
    assert scores["segment.hard.recall_at_iou.micro"] == 0.5


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([{"qid": 7, "id": 8, "pred": "1-2"}], ["8"]),
        ([{"audios": ["x/a.wav"], "messages": [{"role": "user", "content": "a  dog?"}], "pred": ""}],
         ["x/a.wav: a dog?"]),
        ([{"pred": "1-2"}, {"pred": "1-2"}], ["line 1", "line 2"]),
        ([{"audio": "a.wav", "pred": "1-2"}], ["line 1"]),
    ],
)  # fmt: skip
def test_items_are_named(tmp_path, rows, names):
    table = read_rows(write(tmp_path / "sys.jsonl", rows))
    assert sorted(table.files) == names


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": 1, "labels": "soon"}], ":1: labels 'soon' says no time from and to; expected such as"),
        ([{"id": 1, "labels": "1-2"}, {"id": 2}], "ref.jsonl:2: labels 'None' says no time"),
        ([{"id": 1, "labels": "1-2"}, {"id": 1, "labels": "1-2"}], ":2: item '1' stands in line 1, too"),
        ([{"id": 1, "labels": "1-2"}, "{"], "ref.jsonl:2: is not a JSON object"),
        ([{"id": 1, "response": "1-2"}], "has none of the fields labels, ground_truth"),
    ],
)  # fmt: skip
def test_a_reference_must_be_readable(tmp_path, rows, said):
    path = write(tmp_path / "ref.jsonl", rows)
    with pytest.raises(EvaluationError, match="ref.jsonl") as caught:
        evaluate(path, path, preset="audio-grounding")
    assert said in str(caught.value)


def test_the_user_says_which_field_names_items(tmp_path):
    path = write(
        tmp_path / "sys.jsonl", [{"id": 1, "key": "x", "pred": "1-2"}, {"id": 1, "key": "y", "pred": ""}]
    )
    assert "expected each once; --columns filename=FIELD" in call("validate", path).out
    limits = Limits().reading(columns="filename=key")
    assert sorted(read_rows(path, limits=limits).files) == ["x", "y"]


N = 300_000
BOMBS = {
    "digits": "1" * N,
    "clocks": "1:" * (N // 2),
    "numbers": "1 " * (N // 2),
    "blanks": " " * N,
    "to": "1 to " * (N // 5),
    "from": 'from """ ' * (N // 9),
    "starts": "start: 5 " * (N // 9),
    "ends": "start 5 end " * (N // 12),
    "brackets": "[" * N,
    "braces": "[{" * (N // 2) + "}]",
    "pairs": "(1, " * (N // 4),
    "spans": "1:00-1:10 " * (N // 10),
    "fields": '{"answer":' * (N // 10),
    "thoughts": "<think>" * (N // 7),
    "lists": "[" + "[1,2]," * (N // 6) + "[]]",
}


@pytest.mark.parametrize("name", BOMBS)
def test_hostile_texts_come_to_an_end(name):
    spans_of(BOMBS[name], 1e6)  # takes 0.2 s; with backtracking it would take hours


@pytest.mark.slow
def test_many_answers_and_long_lines_are_read(tmp_path):
    many = write(
        tmp_path / "many.jsonl", ({"id": i, "pred": f"From {i} s to {i + 3} s."} for i in range(100_000))
    )
    long = write(tmp_path / "long.jsonl", [{"id": 1, "pred": "from 1 to 2 " * 850_000}])
    deep = tmp_path / "deep.jsonl"
    deep.write_text('{"id": 1, "pred": ' + "[" * 5_000_000 + "\n")
    for path, n_rows in ((many, 100_000), (long, 0)):
        assert len(read_rows(path)) == n_rows
    assert "is not a JSON object" in call("validate", deep).out
