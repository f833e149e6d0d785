"""`soft-sed-eval board`: its options reach the site, and what it says and returns."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from called import call
from submitted import REFERENCE, SAMPLES, bad, board_json, hashes, page, submissions


def board(folder: Path, *options: str | Path, of: Path | None = None, reference: Path = REFERENCE):
    made = of or folder / "submissions"
    out = folder / "site"
    return call("board", made, "--reference", reference, "-o", out, "--no-reports", *options)


def test_it_says_what_came_of_the_submissions_and_prints_nothing(tmp_path):
    made = submissions(tmp_path)
    bad(made / "bad.tsv")
    (made / "README.md").write_text("hello")
    (made / "sys.yaml").write_text("tem: A\n")
    done = board(tmp_path)
    assert (done.code, done.out) == (0, "")
    lines = done.err.splitlines()
    assert "warning: README.md is not a submission; ignored" in lines
    assert any(line.startswith("warning: sys.yaml: unknown key 'tem'") for line in lines)
    assert any(line.startswith("invalid: bad: ") for line in lines)
    assert lines[-1] == "4 submissions: 3 ranked, 1 invalid; 0 as before"
    again = board(tmp_path, "--fail-on-invalid")
    assert (again.code, again.out) == (1, "")
    assert again.err.splitlines()[-1] == "4 submissions: 3 ranked, 1 invalid; 4 as before"
    assert board(tmp_path, "--quiet").err == ""


def test_options_are_settings(tmp_path):
    submissions(tmp_path, "sys", "sys_b")
    done = board(
        tmp_path,
        *("--rank-by", "event.hard.f1.micro", "--score", "segment.hard.f1.macro", "--title", "Sounds <2026>"),
        *("--segment-length", "0.5", "--replicates", "50", "--baseline", "sys_b", "--ties", "bootstrap"),
        *("--seed", "7", "--durations", SAMPLES / "durations.tsv", "--strict"),
    )
    assert done.code == 0, done.err
    document = board_json(tmp_path)
    assert document["rank_by"] == "event.hard.f1.micro"
    assert document["columns"] == ["segment.hard.f1.macro"]
    assert (document["test"], document["baseline"]) == ("bootstrap", "sys_b")
    settings = document["settings"]
    assert (settings["segment_length"], document["replicates"], document["seed"]) == (0.5, 50, 7)
    assert settings["strict"] is True
    text = page(tmp_path)
    assert "<title>Sounds &lt;2026&gt;</title>" in text and "segment_length: 0.5" in text
    assert 'class="b-badge">baseline' in text
    alone = call(
        *(REFERENCE, SAMPLES / "sys.tsv", "--segment-length", "0.5", "--durations"),
        *(SAMPLES / "durations.tsv", "--score", "segment.hard.f1.macro"),
    )
    (own,) = [each for each in document["submissions"] if each["name"] == "sys"]
    assert own["scores"]["segment.hard.f1.macro"] == float(alone.out)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rank-by", "nonsense"), "is not a score name"),
        (("--rank-by", "segment.hard.n_ref.micro"), "neither high nor low values are better"),
        (("--rank-by", "intersection.hard.psds"), "needs --psds"),
        (("--score", "segment.tuned.f1.macro"), "needs --thresholds"),
        (("--only", "event"), "segment.soft.f1.macro is left out by --only event"),
        (("--baseline", "nobody"), "baseline must be one of "),
        (("--preset", "nothing"), "nothing"),
        (("--objective", "event.f1"), "--objective is of"),
        (("--limit", "rows"), "expected NAME=NUMBER"),
        (("--ties", "coin"), "coin"),
    ],
)
def test_what_is_wrong_with_the_call_is_told_and_nothing_is_written(tmp_path, options, said):
    submissions(tmp_path, "sys")
    done = board(tmp_path, *options)
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "site" / "index.html").exists()


def test_paths_that_cannot_be_are_refused(tmp_path):
    made = submissions(tmp_path, "sys")
    assert "cannot be read as a folder of submissions" in board(tmp_path, of=tmp_path / "nothing").err
    assert "nothing.tsv" in board(tmp_path, reference=tmp_path / "nothing.tsv").err
    assert (
        "in the folder of submissions"
        in call("board", made, "--reference", REFERENCE, "-o", made / "site").err
    )
    for arguments in (
        (made, "--reference", "-", "-o", tmp_path / "x"),
        (made, "--reference", REFERENCE, "-o", "-"),
        (made, "-o", tmp_path / "x"),
        (made, "--reference", REFERENCE),
    ):
        assert call("board", *arguments).code == 2
    assert not (tmp_path / "x").exists()


def test_the_first_problem_of_each_is_told_in_one_short_line(tmp_path):
    made = submissions(tmp_path, "sys")
    (made / "broken.tsv").write_text("onset\toffset\tevent_label\n1\tsoon\tcar\n")
    (made / "long.tsv").write_text("onset\toffset\tevent_label\n" + "x" * 500 + "\t1\tcar\n")
    lines = board(tmp_path).err.splitlines()
    assert any(
        "invalid: broken: " in line and "the first: broken.tsv:2:2: offset 'soon'" in line for line in lines
    )
    assert all(len(line) < 300 for line in lines)
    # What was kept says the same.
    assert board(tmp_path).err.splitlines()[:2] == lines[:2]


def test_strictly_what_is_missing_is_a_problem_for_each_file_and_class(tmp_path):
    made = submissions(tmp_path, "sys")
    (made / "part.tsv").write_text("filename\tonset\toffset\tevent_label\ncafe.wav\t1\t2\tzoo\n")
    done = board(tmp_path, "--strict")
    assert "invalid: part: 2 problems, the first: part.tsv: the system has no rows for 4 " in done.err
    told = page(tmp_path, "problems/part.html")
    assert "zoo" in told and "strict" not in told and "\\n" not in told


def test_classes_that_would_make_all_invalid_are_told_once(tmp_path):
    submissions(tmp_path, "sys")
    done = board(tmp_path, "--strict", "--classes", "car,birds_singing")
    assert done.code == 2 and not (tmp_path / "site").exists()
    assert "the reference has no 1 class ('birds_singing')" in done.err
    assert "did you mean 'birds singing'" in done.err
    assert board(tmp_path, "--classes", "car,birds_singing").code == 0


def test_a_name_makes_no_lines_and_gives_a_terminal_no_orders(tmp_path):
    made = submissions(tmp_path, "sys")
    bad(made / "a\n::error::\x1b[31mb.tsv")
    (made / "c\nd.md").write_text("")
    (made / "e\nf.tsv").write_bytes((made / "sys.tsv").read_bytes())
    (made / "e\nf.yaml").write_text("tem: 1\n")
    done = board(tmp_path)
    assert done.code == 0 and "\x1b" not in done.err
    assert all(
        line.startswith(("warning: ", "invalid: ", "4 sub", "3 sub")) for line in done.err.splitlines()
    )


def test_the_cache_may_be_elsewhere(tmp_path):
    submissions(tmp_path, "sys")
    board(tmp_path, "--cache", tmp_path / "kept")
    assert not (tmp_path / "site.cache").exists()
    assert any((tmp_path / "kept").iterdir())
    shutil.rmtree(tmp_path / "kept")
    before = hashes(tmp_path / "site")
    assert "0 as before" in board(tmp_path, "--cache", tmp_path / "kept").err
    assert hashes(tmp_path / "site") == before


def test_where_things_lie_is_not_in_the_site(tmp_path, monkeypatch):
    for folder in ("a", "b"):
        submissions(tmp_path / folder, "sys")
        shutil.copytree(SAMPLES, tmp_path / folder / "data")
        monkeypatch.chdir(tmp_path / folder)
        reference = tmp_path / folder / "data" / "ref.tsv"
        assert call("board", "submissions", "--reference", reference, "-o", "site").code == 0
    assert hashes(tmp_path / "a" / "site") == hashes(tmp_path / "b" / "site")
    inputs = json.loads((tmp_path / "a" / "site" / "data" / "sys.json").read_text())["inputs"]
    assert [each["path"] for each in inputs] == ["ref.tsv", "sys.tsv"]
