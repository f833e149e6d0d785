"""`evaluate` with `jobs`, `memory_limit` and `scheduler`: the scores of all rows at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from sedeval_soft import EvaluationError, SettingsError, evaluate
from sedeval_soft.api import parts, streaming
from sedeval_soft.report import render

SAMPLES = Path(__file__).parents[1] / "sample_data"
SIDES = (SAMPLES / "ref.tsv", SAMPLES / "sys.tsv")


@pytest.fixture
def counted(monkeypatch):
    """Count tables of any size in parts, and tell how many were."""
    found = []
    monkeypatch.setattr(streaming, "LARGE", 1)
    monkeypatch.setattr(streaming, "_IN_MEMORY", 1 << 40)
    count = parts.streamed_shard
    monkeypatch.setattr(parts, "streamed_shard", lambda *a, **k: found.append(k["jobs"]) or count(*a, **k))
    return found


@pytest.mark.parametrize("how", [{"jobs": 1}, {"memory_limit": "4G"}, {"memory_limit": 1 << 32}])
def test_the_same_scores(how, counted):
    given = {"name": "x", "by": "{scene}_1.wav", "ci": "bootstrap", "replicates": 9, "folds": None}
    given = {name: given[name] for name in ("name", "ci", "replicates")}
    at_once = render([evaluate(*SIDES, **given)], "json")
    assert counted == []
    assert render([evaluate(*SIDES, **given, **how)], "json") == at_once
    assert counted == [1]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, 0, "all"])
def test_the_same_scores_of_several_processes(jobs, counted):
    assert render([evaluate(*SIDES, jobs=jobs)], "json") == render([evaluate(*SIDES)], "json")
    assert counted


def test_tables_in_memory_are_counted_here(counted):
    table = {"filename": ["a"], "onset": [0.0], "offset": [1.0], "event_label": ["x"]}
    assert dict(evaluate(table, table, jobs=2, memory_limit="4G")) == dict(evaluate(table, table))
    assert counted == []


def test_what_needs_all_rows_reads_them_at_once(counted):
    assert evaluate(*SIDES, jobs=2, chance=3).chance is not None
    assert counted == []


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
