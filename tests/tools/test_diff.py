"""`diff` compares two results."""

import copy
import gzip
import json
import re
from pathlib import Path

import pytest
from called import OTHER, REFERENCE, SYSTEM, call

MACRO, HARD = "segment.soft.f1.macro", "segment.hard.f1.macro"
ONLY = ("--only", "segment", "--format", "json")

# Results of `evaluate --format json`: two that differ, and the first with intervals.
A = call(REFERENCE, SYSTEM, *ONLY).document
B = call(REFERENCE, OTHER, *ONLY, "--segment-length", "0.2").document
CI = call(REFERENCE, SYSTEM, *ONLY, "--ci", "--replicates", "20").document
VALUES, OTHERS = (
    {score["name"]: score["value"] for score in each["systems"][0]["scores"]} for each in (A, B)
)


def with_value(value: object) -> dict:
    """Return the first result with another value for one score."""
    changed = copy.deepcopy(A)
    next(score for score in changed["systems"][0]["scores"] if score["name"] == MACRO)["value"] = value
    return changed


def of_systems(*names: str) -> dict:
    """Return a result of several systems, each with the scores of the first result."""
    return A | {"systems": [A["systems"][0] | {"name": name} for name in names]}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def diff(a, b, *options):
    """Write two results to files, and compare them."""
    Path("a.json").write_text(json.dumps(a))
    Path("b.json").write_text(json.dumps(b))
    return call("diff", "a.json", "b.json", *options)


@pytest.mark.parametrize(
    ("other", "options", "differing"),
    [
        (A, (), []),
        (with_value(VALUES[MACRO] + 0.1), ("--score", HARD), []),
        (with_value(VALUES[MACRO] + 0.1), ("--score", HARD, "--score", MACRO), [MACRO]),
        (with_value(VALUES[MACRO] + 1e-6), (), [MACRO]),
        (with_value(VALUES[MACRO] - 1e-6), ("--tolerance", "1e-7"), [MACRO]),
        (with_value(VALUES[MACRO] - 1e-6), ("--tolerance", "1e-5"), []),
        # A score that becomes undefined differs at any tolerance.
        (with_value(None), ("--tolerance", "100"), [MACRO]),
        (CI, ("--tolerance", "1e6", "--score", MACRO), [f"{MACRO} low", f"{MACRO} high"]),
        # Settings of other versions are shown, but the scores are the same.
        (A | {"settings": {"new": {"x": [1, 2]}}}, (), []),
    ],
)
def test_scores_that_differ_are_listed(other, options, differing):
    done, document = diff(A, other, *options), diff(A, other, *options, "--format", "json").document
    assert (done.code, done.err, document["same"]) == (1 if differing else 0, "", not differing)
    assert all((name in done.out) == any(name in each for each in differing) for name in (MACRO, HARD))
    assert [score["name"] for score in document["scores"]] == differing
    assert ("new" in {each["name"] for each in document["settings"]}) == ("new" in other["settings"])


def test_values_are_those_of_both_results():
    row = re.search(rf"^{re.escape(MACRO)} +(\S+) +(\S+) +(\S+)$", diff(A, B).out, re.MULTILINE)
    values = VALUES[MACRO], OTHERS[MACRO], OTHERS[MACRO] - VALUES[MACRO]
    assert list(map(float, row.groups())) == pytest.approx(values, rel=1e-3)
    document = diff(A, B, "--format", "json").document
    assert (document["schema"], document["compared"]) == ("soft-sed-eval-diff/1", len(VALUES))
    assert {"name": "segment_length", "a": 1.0, "b": 0.2} in document["settings"]
    (changed,) = document["inputs"]
    assert changed["name"] == "system" and B["inputs"][1]["sha256"].startswith(changed["b"]) != changed["a"]
    differ = {name: (value, OTHERS[name]) for name, value in VALUES.items() if value != OTHERS[name]}
    assert {score["name"]: (score["a"], score["b"]) for score in document["scores"]} == differ
    # Scores that one side lacks have no value there, not an undefined one.
    (system,) = A["systems"]
    few = A | {"systems": [system | {"scores": [each for each in system["scores"] if each["name"] == HARD]}]}
    lacking = diff(A, few, "--format", "json").document["scores"]
    assert {tuple(each) for each in lacking} == {("name", "a")}
    assert {each["name"] for each in lacking} >= {*VALUES} - {HARD}


def test_systems_are_paired_by_name():
    done = diff(of_systems("x", "y"), of_systems("y", "z"))
    assert (done.code, [f"{name}: {MACRO} " in done.out for name in "xyz"]) == (1, [True, False, True])
    assert diff(of_systems("x", "y"), of_systems("y", "x")).code == 0


def test_results_are_read_and_written_in_several_ways():
    assert diff(A, B, "-o", "out.txt").out == "" and "segment_length" in Path("out.txt").read_text()
    for output in ("a.json", "none/out.txt"):
        assert diff(A, B, "-o", output).code == 2
    before = Path("a.json").read_text()
    assert json.loads(before) == A, "a result that is read is not the output"
    Path("a.json.gz").write_bytes(gzip.compress(before.encode()))
    assert call("diff", "a.json.gz", "a.json").code == 0 == call("diff", "a.json", "-", stdin=before).code
    for one, other in [("a.json", path) for path in ("none.json", ".", "", "nul/x")] + [("-", "-")]:
        assert call("diff", one, other, stdin=before).code == 2


@pytest.mark.parametrize("options", [("--tolerance", "nan"), ("--score", "segment.soft.f1.makro")])
def test_wrong_options_are_refused(options):
    done = diff(A, A, *options)
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        json.dumps(A | {"schema": "soft-sed-eval-diff/1"}).encode(),
        json.dumps(A | {"systems": []}).encode(),
        json.dumps(with_value("0.5")).encode(),
        b'{"schema": "soft-sed-eval/1"}',
        b'{\n"schema": "soft-sed-eval/1",\n"x": nope}',
        b'{"schema": ' + b"[" * 100_000,
        b'{"schema": "\xff"}',
        '{"schema": 1}'.encode("utf-16"),
    ],
    ids=lambda data: data[:30],
)
def test_files_that_are_not_results_are_refused(data):
    assert diff(A, A).code == 0
    Path("wrong.json").write_bytes(data)
    done = call("diff", "a.json", "wrong.json")
    assert (done.code, done.out) == (2, "") and "wrong.json" in done.err and len(done.err) < 1000
