"""Names of files that match nothing: what would make them match is told, wherever tables are read."""

from __future__ import annotations

import json
import time
import unicodedata

import pytest
from called import call

from sedeval_soft import EvaluationError, evaluate
from sedeval_soft.tables.filenames import alike

STEMS = ("park", "café one", "b-Street_2", "x007", "--Yq1")
SIDES = ("reference", "system")

UNLIKE = {
    "extension": ("{}.wav", "{}.csv", "the extension"),
    "no extension": ("{}", "{}.npy", "the extension"),
    "extensions": ("dev/{}.wav", "out/{}.scores.tsv", "the extension"),
    "prefix": ("{}.wav", "mix_{}.wav", "'mix_' before the names of the system"),
    "suffix": ("{}.wav", "{}_16k.wav", "'_16k' after the names of the system"),
    "excerpts": (
        "{}",
        "Y{}_30.000_40.000.wav",
        "'Y' before and '_30.000_40.000' after the names of the system",
    ),
    "of the reference": ("fold1_{}.wav", "{}.csv", "'fold1_' before the names of the reference"),
}


def lines(pattern, change=str):
    rows = [f"{change(pattern.format(stem))}\t{k}\t{k + 2}\tcar\n" for k, stem in enumerate(STEMS)]
    return "filename\tonset\toffset\tevent_label\n" + "".join(rows)


def written(folder, ours, theirs):
    folder.mkdir(exist_ok=True)
    (folder / "ref.tsv").write_text(ours)
    (folder / "sys.tsv").write_text(theirs)
    return folder / "ref.tsv", folder / "sys.tsv"


@pytest.mark.parametrize("name", UNLIKE)
def test_the_whole_of_a_system_that_is_named_otherwise(tmp_path, name):
    ours, theirs, how = UNLIKE[name]
    paths = written(tmp_path, lines(ours), lines(theirs))
    example = f"is {theirs.format('--Yq1')!r} meant to be {ours.format('--Yq1')!r}?"
    said = f"Both sides must name a file alike: 5 of 5 names would match but for {how}"
    for more in ((), ("--memory-limit", "400M"), ("--jobs", "2")):
        done = call(*paths, "--score", "segment.hard.f1.micro", *more)
        # It is told, and not mended: who knows whether they are the same.
        assert (done.code, float(done.out)) == (0, 0)
        assert said in done.err
        assert example in done.err
        refused = call(*paths, "--strict", *more)
        assert refused.code == 2
        assert said in refused.err
    with pytest.raises(EvaluationError, match="would match but for"):
        evaluate(*paths, strict=True)


@pytest.mark.parametrize(
    ("change", "how"),
    [
        (str.upper, "upper and lower case"),
        (lambda name: name.replace("-", "_").replace(" ", "."), "`-`, `_`, `.` and blanks"),
        (lambda name: unicodedata.normalize("NFD", name), "how accents are encoded (NFC, NFD)"),
        (lambda name: name.replace("007", "7"), "leading zeros"),
        (lambda name: name.upper().replace(" ", "_") + ".csv", "extension, case, `-`, `_`, `.`, blanks or"),
    ],
    ids=["case", "separators", "accents", "zeros", "all"],
)
def test_names_that_are_spelt_otherwise(tmp_path, change, how):
    done = call(*written(tmp_path, lines("{}"), lines("{}", change)), "--only", "event.hard")
    assert "Both sides must name a file alike" in done.err
    assert f"would match but for {how}" in done.err


def test_files_that_the_durations_leave_out(tmp_path):
    """With a list of files, those of the system that are in no list are left out: why is told there, too."""
    paths = written(tmp_path, lines("{}.wav"), lines("{}.csv"))
    for name, named in (("same.tsv", "{}.wav"), ("other.tsv", "{}.flac.txt")):
        rows = [f"{named.format(stem)}\t10\n" for stem in STEMS]
        (tmp_path / name).write_text("filename\tduration\n" + "".join(rows))
    done = call(*paths, "--durations", tmp_path / "same.tsv", "--only", "event.hard")
    assert "left out; is '--Yq1.csv' meant to be '--Yq1.wav'?" in done.err
    # Durations that no file has are of the same files: the recordings would be there twice.
    for more in ((), ("--jobs", "2"), ("--memory-limit", "400M")):
        done = call(paths[0], paths[0], "--durations", tmp_path / "other.tsv", "--only", "event.hard", *more)
        assert "durations: 5 files (" in done.err
        assert "5 of 5 names would match but for the extension; write them as the reference does" in done.err
        strict = call(paths[0], paths[0], "--durations", tmp_path / "other.tsv", "--strict", *more)
        assert strict.code == 2


def test_a_board_tells_it_of_a_submission(tmp_path):
    reference, system = written(tmp_path / "in", lines("{}.wav"), lines("{}.csv"))
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "mine.tsv").write_text(system.read_text())
    made = call("board", tmp_path / "all", "--reference", reference, "-o", tmp_path / "site")
    assert made.code == 0, made.err
    told = "".join(path.read_text() for path in (tmp_path / "site").rglob("*.json"))
    assert "would match but for the extension" in json.dumps(told)
    strict = call("board", tmp_path / "all", "--reference", reference, "-o", tmp_path / "strict", "--strict")
    assert "would match but for the extension" in strict.err + "".join(
        path.read_text() for path in (tmp_path / "strict").rglob("*.json")
    )


def test_what_says_nothing_is_not_told():
    for ours, theirs in (
        ([], ["a"]),
        ([""], ["a.csv"]),
        (["a", "b"], ["zoo", "cab"]),
        (["file1"], ["file10"]),
        (["a.wav", "b.wav", "c.wav", "d.wav"], ["a.csv", "x.csv", "y.csv", "z.csv"]),
        (["a.wav", "a.flac"], ["a.csv"]),
        (["x" * 300], ["y" + "x" * 300]),
        (["abc"], ["abc" * 100]),
    ):
        assert alike(ours, theirs, SIDES) is None
        assert alike(theirs, ours, SIDES) is None


def test_some_that_match_by_themselves_are_left_out():
    found = alike(["b", "c"], ["b_16k", "zoo"], SIDES)
    assert found is not None
    assert (found.number, found.of, found.theirs, found.ours) == (1, 2, "b_16k", "b")


def test_many_names_take_a_moment():
    ours = [f"{k:06}{'a' * 100}" for k in range(200_000)]
    begin = time.monotonic()
    for theirs in (
        [f"{'b' * 50}{k}" for k in range(200_000)],
        ["a1" * 99] * 9,
        [f"q{name}" for name in ours],
    ):
        alike(ours, theirs, SIDES)
    assert time.monotonic() - begin < 30
