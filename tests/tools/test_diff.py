"""`diff`: two results held against one another."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path

import pytest
from called import call
from click.testing import CliRunner

from sedeval_soft import evaluate
from sedeval_soft.cli.main import group
from sedeval_soft.evaluation.scores import document

SAMPLES = Path(__file__).parents[2] / "sample_data"
MACRO, HARD = "segment.soft.f1.macro", "segment.hard.f1.macro"


def loaded(path):
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    for name, system, settings in (
        ("a", "sys.tsv", {}), ("b", "sys_b.tsv", {"segment_length": 0.2}),
        ("ci", "sys.tsv", {"ci": "bootstrap", "replicates": 20}),
    ):  # fmt: skip
        scores = evaluate(SAMPLES / "ref.tsv", SAMPLES / system, only=["segment"], **settings)
        (folder / f"{name}.json").write_text(json.dumps(document([scores])))
    return folder


@pytest.fixture
def diff(files, tmp_path):
    """Hold a result, or what a function makes of it, against the first one; return code, text, messages."""

    def against(other, *options, turned=False):
        path = files / f"{other}.json"
        if callable(other):
            plain, path = loaded(files / "a.json"), tmp_path / "changed.json"
            other(plain)
            path.write_text(json.dumps(plain), encoding="utf-8")
        pair = (path, files / "a.json")
        done = call("diff", *(pair if turned else pair[::-1]), *map(str, options))
        return done.code, done.out, done.err

    return against


def named(plain, name):
    return next(score for score in plain["systems"][0]["scores"] if score["name"] == name)


def more(name, by=0.1):
    """Return what makes a score of a result greater."""

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
    ("other", "options", "code", "there", "absent"),
    [
        ("a", (), 0, [], []),
        ("b", (), 1, ["segment_length", "system "], ["reference "]),
        (more(MACRO), ("--score", HARD), 0, ["none of 1 score differs"], []),
        (more(MACRO), ("--score", HARD, "--score", MACRO), 1, ["1 of 2 scores differs"], []),
        (more(MACRO, 1e-6), (), 1, [MACRO], []),
        (more(MACRO, -1e-6), ("--tolerance", "1e-7"), 1, [MACRO], []),
        (more(MACRO, -1e-6), ("--tolerance", "1e-5"), 0, [], [MACRO]),
        (more(MACRO, 0), (), 0, [], [MACRO]),
        # A score that becomes undefined differs whatever the tolerance.
        (lambda plain: named(plain, MACRO).update(value=None), ("--tolerance", 100), 1, [f"{MACRO} "], []),
        ("ci", ("--tolerance", "1e6", "--score", MACRO), 1, ["1 of 1 score", f"{MACRO} low"], []),
        # Scores that one side lacks, and not as undefined ones.
        (without_soft, (), 1, [f"{MACRO} ", "(none)"], [f"{HARD} "]),
        # Settings of other versions are told; the scores are the same.
        (other_settings, (), 0, ["max", "(none)", "[1, 2]"], []),
    ],
)  # fmt: skip
def test_what_differs_is_told(diff, other, options, code, there, absent):
    found, printed, messages = diff(other, *options)
    assert (found, messages) == (code, "")
    assert all(text in printed for text in there) and not any(text in printed for text in absent)


def test_values_are_those_of_both_results(files, diff):
    a, b = (loaded(files / f"{side}.json") for side in "ab")
    values = [named(side, MACRO)["value"] for side in (a, b)]
    lines = [line.split() for line in diff("b")[1].splitlines()]
    assert ["segment_length", "1", "0.2"] in lines
    (row,) = (line for line in lines if line[:1] == [MACRO])
    assert [float(value) for value in row[1:]] == pytest.approx([*values, values[1] - values[0]], rel=1e-3)

    document = json.loads(diff("b", "--format", "json")[1])
    assert document["schema"] == "soft-sed-eval-diff/1" and document["same"] is False
    assert {"name": "segment_length", "a": 1.0, "b": 0.2} in document["settings"]
    (changed,) = document["inputs"]
    assert changed["name"] == "system" and changed["a"] != changed["b"]
    assert b["inputs"][1]["sha256"].startswith(changed["b"])
    pairs = {one["name"]: (one["value"], named(b, one["name"])["value"]) for one in a["systems"][0]["scores"]}
    differ = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    assert {score["name"]: (score["a"], score["b"]) for score in document["scores"]} == differ
    assert document["compared"] == len(pairs)
    turned = json.loads(diff(without_soft, "--format", "json", turned=True)[1])
    assert {("a" in score, "b" in score) for score in turned["scores"]} == {(False, True)}


def test_systems_are_paired_by_name(files, tmp_path, monkeypatch):
    plain = loaded(files / "a.json")
    for names, path in ((("x", "y"), "one.json"), (("y", "z"), "two.json")):
        systems = [{**copy.deepcopy(plain["systems"][0]), "name": name} for name in names]
        (tmp_path / path).write_text(json.dumps({**plain, "systems": systems}))
    monkeypatch.chdir(tmp_path)
    done = call("diff", "one.json", "two.json")
    assert done.code == 1 and f"x: {MACRO} " in done.out and f"z: {MACRO} " in done.out
    assert "y: " not in done.out
    assert call("diff", "one.json", "one.json").code == 0


def test_where_results_are_read_from_and_written_to(files, diff, tmp_path):
    first = files / "a.json"
    before = first.read_bytes()
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(before))
    assert call("diff", tmp_path / "a.json.gz", first).code == 0
    assert CliRunner().invoke(group, ["diff", str(first), "-"], input=before).exit_code == 0
    assert diff("b", "-o", tmp_path / "out.txt")[:2] == (1, "")
    assert "segment_length" in (tmp_path / "out.txt").read_text(encoding="utf-8")
    for output, words in ((first, "first file"), (tmp_path / "none" / "out.txt", "out.txt")):
        code, _, said = diff("b", "-o", output)
        assert code == 2 and words in said
    assert first.read_bytes() == before
    for pair in [(first, path) for path in (tmp_path / "none.json", tmp_path, "", "nul/x")] + [("-", "-")]:
        assert call("diff", *pair).code == 2


NOT_RESULTS = (
    b"",
    b"[]",
    b'{"schema": "soft-sed-eval-diff/1", "version": "1", "settings": {}, "inputs": [], "systems": []}',
    b'{"schema": "soft-sed-eval/1"}',
    b'{\n"schema": "soft-sed-eval/1",\n"x": nope}',
    b'{"schema": ' + b"[" * 100_000,
    b'{"schema": "\xff"}',
    '{"schema": 1}'.encode("utf-16"),
)
REFUSED = [
    ("a", ("--tolerance", "nan"), "tolerance"),
    (
        "a",
        ("--score", "segment.soft.f1.makro"),
        f"did you mean '{MACRO}'",
    ),
    (lambda p: p.update(systems=[]), (), "0"),
    (lambda p: p["systems"][0]["scores"][0].update(value="0.5"), (), "scores"),
]


def test_wrong_options_and_what_is_no_result_are_refused(diff, files, tmp_path):
    for other, options, words in REFUSED:
        code, printed, said = diff(other, *options)
        assert (code, printed) == (2, "") and words in said
    path = tmp_path / "wrong.json"
    for data in NOT_RESULTS:
        path.write_bytes(data)
        done = call("diff", files / "a.json", path)
        assert (done.code, done.out) == (2, "")
        assert "wrong.json" in done.err and len(done.err) < 1000


def test_names_cannot_control_a_terminal(diff):
    evil = "\x1b[2J\u202e<script>\n=1+1"

    def change(plain):
        plain["version"] = evil
        plain["settings"][evil] = evil
        plain["systems"][0]["name"] = evil
        plain["systems"][0]["scores"][0]["name"] = f"segment.hard.precision[{evil}]"
        plain["inputs"][0].update(path=evil, role=evil, sha256=evil)

    for form in ("text", "json"):
        code, printed, _ = diff(change, "--format", form)
        assert code == 1
        assert not any(part in printed for part in ("\x1b", "\u202e", "\n=1+1"))
