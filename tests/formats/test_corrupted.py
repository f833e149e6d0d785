"""Whatever is done to a table: it is scored, or refused with a message; nothing else ever happens."""

from __future__ import annotations

import math
import unicodedata
from pathlib import Path

import pytest
from called import call
from corrupted import corrupted
from hypothesis import HealthCheck, given, seed, settings

from sedeval_soft.api import evaluate_rows
from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.settings import Settings
from sedeval_soft.tables import read_rows

ONE = Settings(only=("segment", "event.hard"))
HOW = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
REFERENCE = "filename\tonset\toffset\tevent_label\tsoft_value\na.wav\t0\t2\tcar\t0.8\nb.wav\t1\t3\tdog\t0.4\n"


def shown(text: str) -> bool:
    """Whether a text has nothing in it that a terminal obeys, but ends of lines."""
    return all(c == "\n" or unicodedata.category(c) not in {"Cc", "Cs"} for c in text)


def outcome(path: Path) -> tuple[Scores | None, str]:
    """Return the scores of a table against itself, or what is said of it."""
    try:
        rows = read_rows(path)
        return evaluate_rows(rows, rows, ONE), ""
    except EvaluationError as error:
        return None, str(error)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_rows_or_one_message(part, tmp_path_factory):
    """2,000 cases a part: 20,000 in all."""
    path = tmp_path_factory.mktemp("corrupted") / "sys.tsv"
    outcomes = {"scored": 0, "refused": 0}

    @seed(part)
    @settings(**HOW, max_examples=2000)
    @given(corrupted())
    def check(data):
        path.write_bytes(data)
        scores, said = outcome(path)
        if scores is None:
            outcomes["refused"] += 1
            assert shown(said), said
            assert len(said) < 20_000
            return
        outcomes["scored"] += 1
        assert all(value is None or math.isfinite(value) for value in scores.values())
        own = {name: scores[name] for name in scores if ".hard.f1" in name}
        # What is scored against itself is right.
        assert all(value in (None, 1) for value in own.values()), own

    check()
    # Both happen: a test that all cases fail early, or that nothing is wrong with, says nothing.
    assert min(outcomes.values()) > 200


@settings(**HOW, max_examples=150)
@given(corrupted())
def test_the_command_prints_scores_or_a_message(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("command")
    (folder / "ref.tsv").write_text(REFERENCE, encoding="utf-8")
    (folder / "sys.tsv").write_bytes(data)
    for form in ("text", "csv"):
        done = call(folder / "ref.tsv", folder / "sys.tsv", "--format", form)
        assert done.code in (0, 2), done.err
        assert "Traceback" not in done.err
        assert "defect" not in done.err
        assert shown(done.err), done.err
        assert shown(done.out.replace("\r", "")), done.out
        assert bool(done.out) == (done.code == 0)
