"""Messages name settings as the caller wrote them: options on a command line, settings elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from called import call

from sedeval_soft import Settings, compare, evaluate
from sedeval_soft.cli.evaluate import evaluate as evaluate_command
from sedeval_soft.cli.wrong_calls import as_options
from sedeval_soft.errors import EvaluationError

SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE, SYSTEM, OTHER = (str(SAMPLES / name) for name in ("ref.tsv", "sys.tsv", "sys_b.tsv"))

SAID = {
    "segment_length must be 1 to 2 s, not 3": "--segment-length must be 1 to 2 s, not 3",
    "beta must be 0.1 to 1, not 2": "--beta must be 0.1 to 1, not 2",
    "cross_tune=5: there is 1 file": "--cross-tune 5: there is 1 file",
    "compat=sed_eval is of hard scores; only leaves them out": (
        "--compat sed_eval is of hard scores; --only leaves them out"
    ),
    "thresholds or cross_tune must be given for a tuned reading": (
        "--thresholds or --cross-tune must be given for a tuned reading"
    ),
    "class 'x' is in neither table\nstrict makes each of these an error": (
        "class 'x' is in neither table\n--strict makes each of these an error"
    ),
    # A word is no setting, a text in quotes is the caller's, and a file of settings has settings.
    "rank_by=x: ranked by all files and classes": "--rank-by x: ranked by all files and classes",
    "pool must be one of max, mean, not 'segment_length'": (
        "--pool must be one of max, mean, not 'segment_length'"
    ),
    "best.yaml:2: segment_length must be 1, not 2": "best.yaml:2: segment_length must be 1, not 2",
    "file 'cross_tune' was tallied twice": "file 'cross_tune' was tallied twice",
    # These have no option.
    "groups: 'a' names a class name twice": "groups: 'a' names a class name twice",
    "onset and offset cannot both be left out": "onset and offset cannot both be left out",
}


@pytest.mark.parametrize("text", SAID)
def test_settings_are_spelled_as_options(text):
    assert as_options(text, evaluate_command) == SAID[text]


CALLS = {
    "segment_length must be": (("--segment-length", "-1"), {"segment_length": -1.0}),
    "cross_tune=50: there are 5 files": (("--cross-tune", "50"), {"cross_tune": 50}),
    "events=rows cannot go with": (
        ("--events", "rows", "--min-gap", "1"),
        {"events": "rows", "min_gap": 1.0},
    ),
    "strict makes each": (("--strict", "--classes", "car,x"), {"strict": True, "classes": ("car", "x")}),
}


@pytest.mark.parametrize("said", CALLS)
def test_a_caller_of_either_kind_reads_its_own_names(said):
    options, settings = CALLS[said]
    with pytest.raises(EvaluationError, match=f"(^|\n){re.escape(said)}"):
        evaluate(REFERENCE, SYSTEM, settings=Settings.of(**settings))
    done = call(REFERENCE, SYSTEM, *options)
    name = re.match(r"\w+", said)[0]
    option = f"--{name.replace('_', '-')}"
    assert done.code == 2
    assert option + said.removeprefix(name).replace("=", " ") in as_options(done.err, evaluate_command)


@pytest.mark.parametrize("given", [{"rank_by": 3}, {"rank_by": "segment.hard.tp.micro"}, {"baseline": "x"}])
def test_a_comparison_in_python_is_refused_by_the_names_of_arguments(given):
    with pytest.raises(EvaluationError) as caught:
        compare(REFERENCE, {"a": SYSTEM, "b": OTHER}, **given)
    assert str(caught.value).startswith(*given)
    assert "--" not in str(caught.value)


def test_warnings_name_no_option():
    scores = evaluate(REFERENCE, SYSTEM, settings=Settings(classes=("car", "Cars")))
    warnings = "\n".join(scores.warnings)
    assert "are not among the classes to evaluate; left out" in warnings
    assert "class 'Cars', one of those to evaluate, is in neither table" in warnings
    assert "--" not in warnings
