"""`diff`: two results held against one another."""

from __future__ import annotations

import copy
import gzip
import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from sedeval_soft import evaluate
from sedeval_soft.cli.main import group
from sedeval_soft.errors import EvaluationError, InputError, SettingsError
from sedeval_soft.evaluation.scores import document
from sedeval_soft.report import render
from sedeval_soft.tools.diff import changes, changes_text, read_results

SAMPLES = Path(__file__).parents[2] / "sample_data"


def run(*arguments, stdin=None):
    done = CliRunner().invoke(group, [*map(str, arguments)], input=stdin)
    if isinstance(done.exception, EvaluationError):
        return 2, done.stdout, f"{done.stderr}{done.exception}"
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def written(path, system="sys.tsv", **settings):
    scores = evaluate(SAMPLES / "ref.tsv", SAMPLES / system, only=["segment"], **settings)
    path.write_text(render([scores], "json"), encoding="utf-8")
    return scores


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    written(folder / "a.json")
    written(folder / "same.json")
    written(folder / "b.json", "sys_b.tsv", segment_length=0.2)
    written(folder / "ci.json", ci="bootstrap", replicates=20)
    written(folder / "seed.json", ci="bootstrap", replicates=20, seed=1)
    return folder


def mended(path, change, folder):
    """Return the path of a result in which something is otherwise."""
    plain = json.loads(path.read_text(encoding="utf-8"))
    changed = change(plain)
    target = folder / "changed.json"
    target.write_text(json.dumps(plain if changed is None else changed), encoding="utf-8")
    return target


def named(plain, name):
    return next(score for score in plain["systems"][0]["scores"] if score["name"] == name)


def test_results_of_one_run_are_the_same(files):
    code, printed, said = run("diff", files / "a.json", files / "same.json")
    assert (code, said) == (0, "")
    assert "The settings are the same." in printed
    assert "The inputs are the same" in printed
    scores = json.loads((files / "a.json").read_text(encoding="utf-8"))["systems"][0]["scores"]
    assert f"none of {len(scores)} scores differs." in printed


def test_what_differs_is_told(files):
    code, printed, _ = run("diff", files / "a.json", files / "b.json")
    assert code == 1
    lines = [line.split() for line in printed.splitlines()]
    assert ["segment_length", "1.0", "0.2"] in lines
    assert any(line[:1] == ["system"] and line[1].endswith("sys.tsv") for line in lines)
    assert not any(line[:1] == ["reference"] for line in lines)
    values = [
        named(json.loads((files / f"{side}.json").read_text()), "segment.soft.f1.macro")["value"]
        for side in "ab"
    ]
    (row,) = (line for line in lines if line[:1] == ["segment.soft.f1.macro"])
    assert [float(value) for value in row[1:]] == pytest.approx([*values, values[1] - values[0]], rel=1e-3)
    assert "These differ, too: segments." in printed


def test_json_has_every_number(files):
    code, printed, _ = run("diff", files / "a.json", files / "b.json", "--format", "json")
    found = json.loads(printed)
    assert code == 1 and found["schema"] == "soft-sed-eval-diff/1" and found["same"] is False
    assert {"name": "segment_length", "a": 1.0, "b": 0.2} in found["settings"]
    (changed,) = found["inputs"]
    assert changed["role"] == "system" and changed["a"]["sha256"] != changed["b"]["sha256"]
    a, b = (json.loads((files / f"{side}.json").read_text(encoding="utf-8")) for side in "ab")
    (system,) = found["systems"]
    told = {score["name"]: score for score in system["scores"]}
    expected = {}
    for one in a["systems"][0]["scores"]:
        other = named(b, one["name"])
        if one["value"] != other["value"]:
            expected[one["name"]] = (one["value"], other["value"])
    assert {name: (score["a"]["value"], score["b"]["value"]) for name, score in told.items()} == expected
    for name, (one, other) in expected.items():
        assert told[name]["difference"] == (None if one is None or other is None else other - one)


def test_just_the_scores_that_are_named_are_compared(files, tmp_path):
    name, other = "segment.soft.f1.macro", "segment.hard.f1.macro"

    def change(plain):
        named(plain, name)["value"] += 0.1
        plain["systems"][0]["files"] += 1

    changed = mended(files / "a.json", change, tmp_path)
    code, printed, _ = run("diff", files / "a.json", changed, "--score", other)
    assert code == 0
    assert "none of 1 score differs" in printed
    assert "files" not in printed
    code, printed, _ = run("diff", files / "a.json", changed, "--score", other, "--score", name)
    assert code == 1
    assert "1 of 2 scores differs" in printed
    code, printed, said = run("diff", files / "a.json", changed, "--score", "segment.soft.f1.makro")
    assert (code, printed) == (2, "")
    assert "neither has a score 'segment.soft.f1.makro'; did you mean 'segment.soft.f1.macro'" in said


@pytest.mark.parametrize(
    ("by", "tolerance", "code"), [(1e-6, 0, 1), (1e-6, 1e-7, 1), (1e-6, 1e-5, 0), (0, 0, 0)]
)
def test_tolerance(files, tmp_path, by, tolerance, code):
    def change(plain):
        named(plain, "segment.soft.f1.macro")["value"] += by

    other = mended(files / "a.json", change, tmp_path)
    for pair in ((files / "a.json", other), (other, files / "a.json")):
        found, printed, _ = run("diff", *pair, "--tolerance", tolerance)
        assert found == code
        assert ("segment.soft.f1.macro" in printed) == bool(code)


def test_a_score_that_becomes_undefined_differs_whatever_the_tolerance(files, tmp_path):
    other = mended(files / "a.json", lambda p: named(p, "segment.soft.f1.macro").update(value=None), tmp_path)
    code, printed, _ = run("diff", files / "a.json", other, "--tolerance", 100)
    assert code == 1
    (row,) = (line.split() for line in printed.splitlines() if line.startswith("segment.soft.f1.macro "))
    assert row[2:] == ["-"]
    assert run("diff", other, other)[0] == 0


def test_intervals_count_as_scores_do(files):
    code, printed, _ = run("diff", files / "ci.json", files / "seed.json")
    assert code == 1
    assert "interval" in printed
    assert run("diff", files / "ci.json", files / "seed.json", "--tolerance", 1e6)[0] == 0
    assert run("diff", files / "ci.json", files / "ci.json")[0] == 0


def test_scores_of_one_side_are_told_by_family(files, tmp_path):
    def change(plain):
        scores = plain["systems"][0]["scores"]
        plain["systems"][0]["scores"] = [s for s in scores if s["reading"] != "soft"]

    other = mended(files / "a.json", change, tmp_path)
    code, printed, _ = run("diff", files / "a.json", other)
    assert code == 1
    assert "Only a has " in printed and "of segment.soft." in printed
    assert "segment.soft.f1" not in printed
    code, printed, _ = run("diff", other, files / "a.json", "--format", "json")
    sides = {(s["a"] is None, s["b"] is None) for s in json.loads(printed)["systems"][0]["scores"]}
    assert sides == {(True, False)}


def test_systems_are_paired_by_name(files, tmp_path, monkeypatch):
    plain = json.loads((files / "a.json").read_text(encoding="utf-8"))
    first = plain["systems"][0]
    for names, path in ((("x", "y"), "one.json"), (("y", "z"), "two.json")):
        systems = [{**copy.deepcopy(first), "name": name} for name in names]
        (tmp_path / path).write_text(json.dumps({**plain, "systems": systems}))
    monkeypatch.chdir(tmp_path)
    code, printed, _ = run("diff", "one.json", "two.json")
    assert code == 1
    assert "y: none of" in printed
    assert "Only a (one.json) has x." in printed and "Only b (two.json) has z." in printed
    assert run("diff", "one.json", "one.json")[0] == 0


def test_boards_of_several_systems_are_read(tmp_path):
    tables = [SAMPLES / name for name in ("ref.tsv", "sys.tsv", "sys_b.tsv")]
    given = ["--only", "segment.soft", "--replicates", 20, "--format", "json", "--quiet"]
    assert run(*tables, *given, "-o", tmp_path / "a.json")[0] == 0
    assert run(*tables, *given, "--seed", 1, "-o", tmp_path / "b.json")[0] == 0
    # Other replicates give other intervals and p-values, but no other scores.
    code, printed, _ = run("diff", tmp_path / "a.json", tmp_path / "b.json", "--tolerance", 1e6)
    assert code == 0
    assert "The leaderboards differ" in printed


def test_standard_input_gzip_and_output(files, tmp_path):
    text = (files / "a.json").read_text(encoding="utf-8")
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(text.encode()))
    assert run("diff", tmp_path / "a.json.gz", "-", stdin=text)[0] == 0
    code, printed, _ = run("diff", files / "a.json", files / "b.json", "-o", tmp_path / "out.txt")
    assert (code, printed) == (1, "")
    assert "segment_length" in (tmp_path / "out.txt").read_text(encoding="utf-8")
    before = (files / "a.json").read_bytes()
    code, _, said = run("diff", files / "a.json", files / "b.json", "-o", files / "a.json")
    assert code == 2 and "first file" in said
    assert (files / "a.json").read_bytes() == before
    code, _, said = run("diff", files / "a.json", files / "b.json", "-o", tmp_path / "none" / "out.txt")
    assert code == 2 and "cannot be written" in said


NOT_RESULTS = {
    "": "is not JSON",
    "{": "is not JSON",
    "null": "is not what it says",
    "[]": "is not what it says",
    '"x"': "is not what it says",
    "{}": "has no schema",
    '{"schema": 1}': "has the schema '1'",
    '{"schema": "soft-sed-eval/2"}': "of another version of soft-sed-eval",
    '{"schema": "soft-sed-eval-validation/1"}': "a report of `soft-sed-eval validate`",
    '{"schema": "soft-sed-eval-diff/1"}': "has the schema 'soft-sed-eval-diff/1'",
    '{"schema": "soft-sed-eval/1"}': "missing required field",
    '{\n"schema": "soft-sed-eval/1",\n"x": nope}': ":3: is not JSON",
    '{"schema": NaN}': "is not JSON",
    "onset\toffset\tevent_label\n0\t1\ta\n": "is not JSON",
    "[" * 100_000: "is not what it says",
    '{"schema": ' + "[" * 100_000: "is not JSON",
    '{"schema": 1e999}': "is not what it says",
    '{"a": 1e999}': "has no schema",
}


@pytest.mark.parametrize("text", NOT_RESULTS, ids=range(len(NOT_RESULTS)))
def test_what_is_no_result_is_refused(text, files, tmp_path):
    path = tmp_path / "wrong.json"
    path.write_text(text, encoding="utf-8")
    code, printed, said = run("diff", files / "a.json", path)
    assert (code, printed) == (2, "")
    assert NOT_RESULTS[text] in said and "wrong.json" in said
    assert len(said) < 1000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda p: p.update(systems=[]), "has no system"),
        (lambda p: p.update(systems=p["systems"] * 2), "twice"),
        (lambda p: p["systems"][0]["scores"].append(p["systems"][0]["scores"][0]), "twice"),
        (lambda p: p["systems"][0]["scores"][0].update(value="0.5"), "scores"),
        (lambda p: p["systems"][0].pop("scores"), "missing required field `scores`"),
        (lambda p: p.update(inputs=None), "inputs"),
        (lambda p: p.update(settings=[]), "settings"),
    ],
)
def test_damaged_results_are_refused(files, tmp_path, change, said):
    other = mended(files / "a.json", lambda plain: change(plain) and None, tmp_path)
    with pytest.raises(InputError, match=said):
        read_results(other)


def test_unreadable_files_are_told(files, tmp_path):
    for path in (tmp_path / "none.json", tmp_path, "", "nul\0"[:3] + "/x"):
        code, _, said = run("diff", files / "a.json", path)
        assert code == 2 and said
    code, _, said = run("diff", "-", "-", stdin="{}")
    assert code == 2 and "Only one of A and B" in said
    (tmp_path / "latin.json").write_bytes(b'{"schema": "\xff"}')
    assert run("diff", files / "a.json", tmp_path / "latin.json")[0] == 2
    (tmp_path / "wide.json").write_bytes('{"schema": 1}'.encode("utf-16"))
    assert "UTF-16" in run("diff", files / "a.json", tmp_path / "wide.json")[2]


@pytest.mark.parametrize("tolerance", [-1.0, math.nan, math.inf])
def test_a_tolerance_is_a_number(files, tolerance):
    results = read_results(files / "a.json")
    with pytest.raises(SettingsError, match="at least 0"):
        changes(results, results, ("a", "b"), tolerance)
    code, _, said = run("diff", files / "a.json", files / "a.json", "--tolerance", tolerance)
    assert code == 2 and "at least 0" in said


def test_what_was_in_memory_is_not_said_to_be_the_same(tmp_path):
    table = {"onset": [0.0], "offset": [1.0], "event_label": ["a"]}
    (tmp_path / "a.json").write_text(json.dumps(document([evaluate(table, table)])))
    results = read_results(tmp_path / "a.json")
    found = changes(results, results, ("a", "b"))
    assert found["same"]
    assert [change["role"] for change in found["inputs"]] == ["reference", "system"]
    assert "unknown" in changes_text(found, results, results)


def test_names_cannot_control_a_terminal(files, tmp_path):
    evil = "\x1b[2J\u202e<script>\n=1+1"

    def change(plain):
        plain["version"] = evil
        plain["settings"][evil] = evil
        plain["systems"][0]["name"] = evil
        plain["systems"][0]["scores"][0]["name"] = f"segment.hard.precision[{evil}]"
        plain["inputs"][0].update(path=evil, role=evil, sha256=evil)

    other = mended(files / "a.json", change, tmp_path)
    for form in ("text", "json"):
        code, printed, _ = run("diff", files / "a.json", other, "--format", form)
        assert code == 1
        assert "\x1b" not in printed and "\u202e" not in printed
        assert "\n=1+1" not in printed


def test_settings_of_other_versions_are_told(files, tmp_path):
    def change(plain):
        del plain["settings"]["pool"]
        plain["settings"]["new"] = {"x": [1, 2]}

    other = mended(files / "a.json", change, tmp_path)
    code, printed, _ = run("diff", files / "a.json", other)
    assert code == 0  # scores are the same
    lines = [line.split() for line in printed.splitlines()]
    assert ["pool", '"max"', "(none)"] in lines
    assert ["new", "(none)", '{"x":', "[1,", "2]}"] in lines
