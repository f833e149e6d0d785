"""`diff`: two results are compared."""

from __future__ import annotations

import copy
import gzip
import json
import re
from pathlib import Path

import pytest
from called import call
from click.testing import CliRunner

from sedeval_soft.cli.main import group

SAMPLES = Path(__file__).parents[2] / "sample_data"
MACRO, HARD = "segment.soft.f1.macro", "segment.hard.f1.macro"


@pytest.fixture(scope="module")
def results():
    """Results as `evaluate --format json` writes them, by name."""
    made = {}
    for name, system, more in (
        ("a", "sys.tsv", ()), ("b", "sys_b.tsv", ("--segment-length", "0.2")),
        ("ci", "sys.tsv", ("--ci", "bootstrap", "--replicates", "20")),
    ):  # fmt: skip
        given = SAMPLES / "ref.tsv", SAMPLES / system, "--only", "segment", "--format", "json", *more
        made[name] = call(*given).document
    return made


@pytest.fixture
def diff(results, tmp_path):
    """Compare a result, or a changed copy of the first one, with the first one."""

    def against(other, *options):
        changed = results[other] if isinstance(other, str) else copy.deepcopy(results["a"])
        if callable(other):
            other(changed)
        for name, document in (("a.json", results["a"]), ("b.json", changed)):
            (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
        return call("diff", tmp_path / "a.json", tmp_path / "b.json", *options)

    return against


def named(plain, name):
    return next(score for score in plain["systems"][0]["scores"] if score["name"] == name)


def more(name, by=0.1):
    """Return a change that makes a score of a result greater."""

    def change(plain):
        named(plain, name)["value"] += by

    return change


def without_soft(plain):
    scores = plain["systems"][0]["scores"]
    plain["systems"][0]["scores"] = [score for score in scores if score["reading"] != "soft"]


def other_settings(plain):
    del plain["settings"]["pool"]
    plain["settings"]["new"] = {"x": [1, 2]}


@pytest.mark.parametrize(
    ("other", "options", "differing"),
    [
        ("a", (), []),
        (more(MACRO), ("--score", HARD), []),
        (more(MACRO), ("--score", HARD, "--score", MACRO), [MACRO]),
        (more(MACRO, 1e-6), (), [MACRO]),
        (more(MACRO, -1e-6), ("--tolerance", "1e-7"), [MACRO]),
        (more(MACRO, -1e-6), ("--tolerance", "1e-5"), []),
        (more(MACRO, 0), (), []),
        # A score that becomes undefined differs whatever the tolerance.
        (lambda plain: named(plain, MACRO).update(value=None), ("--tolerance", "100"), [MACRO]),
        ("ci", ("--tolerance", "1e6", "--score", MACRO), [f"{MACRO} low", f"{MACRO} high"]),
        # Settings of other versions are shown; the scores are the same.
        (other_settings, (), []),
    ],
)  # fmt: skip
def test_scores_that_differ_are_listed(diff, other, options, differing):
    done = diff(other, *options)
    assert (done.code, done.err) == (1 if differing else 0, "")
    assert all((name in done.out) == any(name in each for each in differing) for name in (MACRO, HARD))
    document = diff(other, *options, "--format", "json").document
    assert [score["name"] for score in document["scores"]] == differing
    assert document["same"] == (not differing)
    if other is other_settings:
        assert {each["name"] for each in document["settings"]} == {"pool", "new"}


def test_values_are_those_of_both_results(results, diff):
    a, b = results["a"], results["b"]
    values = [named(side, MACRO)["value"] for side in (a, b)]
    row = re.search(rf"^{re.escape(MACRO)} +(\S+) +(\S+) +(\S+)$", diff("b").out, re.MULTILINE)
    assert list(map(float, row.groups())) == pytest.approx([*values, values[1] - values[0]], rel=1e-3)
    document = diff("b", "--format", "json").document
    assert document["schema"] == "soft-sed-eval-diff/1" and document["same"] is False
    assert {"name": "segment_length", "a": 1.0, "b": 0.2} in document["settings"]
    (changed,) = document["inputs"]
    assert changed["name"] == "system" and b["inputs"][1]["sha256"].startswith(changed["b"]) != changed["a"]
    pairs = {one["name"]: (one["value"], named(b, one["name"])["value"]) for one in a["systems"][0]["scores"]}
    differ = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    assert {score["name"]: (score["a"], score["b"]) for score in document["scores"]} == differ
    assert document["compared"] == len(pairs)
    # Scores that one side lacks, and not as undefined ones.
    lacking = diff(without_soft, "--format", "json").document["scores"]
    assert {("soft" in score["name"], "a" in score, "b" in score) for score in lacking} == {
        (True, True, False)
    }


def test_systems_are_paired_by_name(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for names, path in ((("x", "y"), "one.json"), (("y", "z"), "two.json")):
        systems = [{**results["a"]["systems"][0], "name": name} for name in names]
        Path(path).write_text(json.dumps({**results["a"], "systems": systems}))
    done = call("diff", "one.json", "two.json")
    assert done.code == 1 and f"x: {MACRO} " in done.out and f"z: {MACRO} " in done.out
    assert "y: " not in done.out
    assert call("diff", "one.json", "one.json").code == 0


def test_results_are_read_and_written_in_several_ways(diff, tmp_path):
    assert diff("b", "-o", tmp_path / "out.txt").out == ""
    assert "segment_length" in (tmp_path / "out.txt").read_text(encoding="utf-8")
    first = tmp_path / "a.json"
    before = first.read_bytes()
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(before))
    assert call("diff", tmp_path / "a.json.gz", first).code == 0
    assert CliRunner().invoke(group, ["diff", str(first), "-"], input=before).exit_code == 0
    for output in (first, tmp_path / "none" / "out.txt"):
        assert diff("b", "-o", output).code == 2
    assert first.read_bytes() == before
    for pair in [(first, path) for path in (tmp_path / "none.json", tmp_path, "", "nul/x")] + [("-", "-")]:
        assert call("diff", *pair).code == 2


@pytest.mark.parametrize(
    ("other", "options"),
    [
        ("a", ("--tolerance", "nan")),
        ("a", ("--score", "segment.soft.f1.makro")),
        (lambda p: p.update(systems=[]), ()),
        (lambda p: p["systems"][0]["scores"][0].update(value="0.5"), ()),
    ],
)
def test_wrong_options_and_results_with_wrong_contents_are_refused(diff, other, options):
    done = diff(other, *options)
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"schema": "soft-sed-eval-diff/1", "version": "1", "settings": {}, "inputs": [], "systems": []}',
        b'{"schema": "soft-sed-eval/1"}',
        b'{\n"schema": "soft-sed-eval/1",\n"x": nope}',
        b'{"schema": ' + b"[" * 100_000,
        b'{"schema": "\xff"}',
        '{"schema": 1}'.encode("utf-16"),
    ],
    ids=lambda data: data[:30],
)
def test_files_that_are_not_results_are_refused(data, diff, tmp_path):
    assert diff("a").code == 0
    (tmp_path / "wrong.json").write_bytes(data)
    done = call("diff", tmp_path / "a.json", tmp_path / "wrong.json")
    assert (done.code, done.out) == (2, "")
    assert "wrong.json" in done.err and len(done.err) < 1000
