"""`evaluate` with `jobs`, `memory_limit` and `scheduler`: the scores of all rows at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from sedeval_soft import EvaluationError, SettingsError, evaluate
from sedeval_soft.report import render

SAMPLES = Path(__file__).parents[2] / "sample_data"
SIDES = (SAMPLES / "ref.tsv", SAMPLES / "sys.tsv")


@pytest.mark.parametrize(
    "how", [{"jobs": 1}, {"memory_limit": "4G"}, {"memory_limit": 1 << 32}, {"jobs": 2}, {"jobs": "all"}]
)
def test_the_same_scores(how):
    given = {"name": "x", "ci": "bootstrap", "replicates": 9}
    at_once = render([evaluate(*SIDES, **given)], "json")
    assert render([evaluate(*SIDES, **given, **how)], "json") == at_once


def test_tables_in_memory_are_counted_here():
    table = {"filename": ["a"], "onset": [0.0], "offset": [1.0], "event_label": ["x"]}
    assert dict(evaluate(table, table, jobs=2, memory_limit="4G")) == dict(evaluate(table, table))


def test_what_needs_all_rows_reads_them_at_once():
    assert evaluate(*SIDES, jobs=2, chance=3).chance is not None


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"jobs": -1}, "jobs must be a number of processes or 'all', not -1"),
        ({"jobs": True}, "jobs must be"),
        ({"jobs": "many"}, "jobs must be"),
        ({"jobs": 1.5}, "jobs must be"),
        ({"memory_limit": 0}, "memory_limit must be bytes, or a size such as '4G', not 0"),
        ({"memory_limit": "much"}, "memory_limit must be"),
        ({"memory_limit": 1.5}, "memory_limit must be"),
        ({"scheduler": 7}, "scheduler must be a text, not 7"),
        ({"scheduler": "local", "chance": True}, "scheduler counts parts; chance looks at all rows"),
        ({"scheduler": "no file"}, "--scheduler"),
    ],
)
def test_what_cannot_be_asked_for(how, told):
    with pytest.raises(SettingsError, match=told):
        evaluate(*SIDES, **how)


def test_a_scheduler_is_of_files():
    with pytest.raises(SettingsError, match="scheduler is of tables in files"):
        evaluate({"onset": []}, SIDES[1], scheduler="local")


def test_little_memory_is_told():
    with pytest.raises(EvaluationError, match="--memory-limit 1 KiB"):
        evaluate(*SIDES, memory_limit="1K")
