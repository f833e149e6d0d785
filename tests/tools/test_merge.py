"""`--save-tally` and `merge`: scores from statistics of shards are those of all files at once."""

from __future__ import annotations

import re

import pytest
from called import call, written
from drawn_again import FILES, random_tables

TABLES = random_tables(21, n=80)
SHARDS = ("ab", "c", "de")
EVERYTHING = ("--only", "all", "--measures", "all", "--psds", "dcase-psds2", "--classes", "car,dog,rain")


def tables_in(folder, files=FILES, name="all"):
    folder.mkdir(exist_ok=True)
    sides = TABLES.reference, TABLES.system
    return [
        written(folder / f"{name}-{role}.tsv", side, files)
        for side, role in zip(sides, ("ref", "sys"), strict=True)
    ]


def shards_in(folder, *options, split=SHARDS):
    made = []
    for number, files in enumerate(split):
        path = folder / f"{number}.tally"
        done = call(*tables_in(folder, files, f"part{number}"), "--save-tally", path, "-q", *options)
        assert (done.code, done.err) == (0, "")
        made.append(path)
    return made


def numbers(document):
    return {
        score["name"]: (score["value"], score["low"], score["high"])
        for score in document["systems"][0]["scores"]
    }


@pytest.mark.parametrize(
    "options",
    [("--worst", "3"), EVERYTHING, ("--events", "rows", "--threshold", "0.25")],
    ids=["plain", "all", "rows"],
)
def test_merged_in_any_order_scores_are_those_of_one_evaluation(tmp_path, options):
    paths = shards_in(tmp_path, *options)
    whole = call(*tables_in(tmp_path), "--format", "json", *options)
    merged = [
        call("merge", *order, "--format", "json", "-q")
        for order in (paths, paths[::-1], paths[1:] + paths[:1])
    ]
    assert {done.code for done in merged} == {0}
    assert len({done.out for done in merged}) == 1
    assert numbers(merged[0].document) == numbers(whole.document)
    ours, theirs = merged[0].document["systems"][0], whole.document["systems"][0]
    for name in ("files", "length", "segments", "classes", "confusion", "worst"):
        assert ours[name] == theirs[name], name
    assert len(merged[0].document["inputs"]) == 2 * len(SHARDS)
    for form in ("text", "csv", "markdown"):
        assert len({call("merge", *order, "--format", form, "-q").out for order in (paths, paths[::-1])}) == 1


METHODS = (
    ("--ci", "bootstrap"),
    ("--ci", "bca", "--seed", "7"),
    ("--ci", "bootstrap", "--fixed-thresholds", "--confidence", "0.5"),
)


@pytest.mark.parametrize("how", METHODS, ids=" ".join)
def test_intervals_after_merging_are_those_of_one_evaluation(tmp_path, how):
    """A tally is the same whether intervals were asked for when it was saved or not."""
    options = ("--replicates", "40", *how)
    paths = shards_in(tmp_path)
    whole = call(*tables_in(tmp_path), "--format", "json", "-q", *options)
    merged = call("merge", *paths, "--format", "json", "-q", *options)
    assert (whole.code, merged.code) == (0, 0)
    assert numbers(merged.document) == numbers(whole.document)
    assert merged.document["settings"] == whole.document["settings"]
    assert any(low is not None for _, low, _ in numbers(merged.document).values())
    asked = shards_in(tmp_path, *options)
    assert call("merge", *asked, "--format", "json", "-q").out == merged.out


def test_one_tally_of_all_files_says_what_evaluating_says(tmp_path):
    whole = call(*tables_in(tmp_path), "--format", "json", "--save-tally", tmp_path / "all.tally")
    again = call("merge", tmp_path / "all.tally", "--format", "json")
    assert again.out == whole.out
    assert again.err == whole.err


def test_merged_tallies_can_be_saved_and_merged_again(tmp_path):
    first, second, third = shards_in(tmp_path)
    assert call("merge", first, third, "--save-tally", tmp_path / "both.tally", "-q").code == 0
    twice = call("merge", tmp_path / "both.tally", second, "--format", "json", "-q")
    once = call("merge", first, second, third, "--format", "json", "-q")
    assert twice.out == once.out


def test_parts_of_merged_files(tmp_path):
    paths = shards_in(tmp_path)
    folds = tmp_path / "folds.tsv"
    folds.write_text("filename\tfold\n" + "".join(f"{file}\t{k % 2}\n" for k, file in enumerate(FILES)))
    options = ("--folds", folds, "--by", "{}", "--format", "json", "-q")
    merged, whole = call("merge", *paths, *options), call(*tables_in(tmp_path), *options)
    # What was counted before folds were known of has no thresholds tuned over them.
    plain = {name: of for name, of in numbers(whole.document).items() if ".tuned." not in name}
    assert numbers(merged.document) == plain
    folds, theirs = (of.document["systems"][0]["folds"]["spreads"] for of in (merged, whole))
    assert folds == [spread for spread in theirs if ".tuned." not in spread["name"]]
    assert merged.document["systems"][0]["folds"]["files"] == [3, 2]


def test_the_same_file_twice_is_an_error(tmp_path):
    first, second, _ = shards_in(tmp_path)
    done = call("merge", first, second, first)
    assert (done.code, done.out) == (2, "")
    assert "0.tally" in done.err and "'a'" in done.err
    other = tmp_path / "other.tally"
    assert call(*tables_in(tmp_path, "ce", "other"), "--save-tally", other, "-q").code == 0
    done = call("merge", first, second, other)
    assert (done.code, done.out) == (2, "")
    assert re.search(r"other\.tally: file 'c' is in .*1\.tally", done.err)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--threshold", "0.3"), "threshold is 0.5 and 0.3"),
        (("--segment-length", "0.5"), "segment_length is 1.0 and 0.5"),
        (("--classes", "car,dog"), "classes is None and ['car', 'dog']"),
        (("--only", "segment"), "only is ['segment', 'event'] and ['segment']"),
        (("--events", "rows"), "events is 'auto' and 'rows'"),
    ],
    ids=lambda of: of[0],
)
def test_tallies_of_other_settings_are_refused(tmp_path, option, said):
    first, second, _ = shards_in(tmp_path)
    other = tmp_path / "other.tally"
    assert call(*tables_in(tmp_path, "de", "other"), "--save-tally", other, "-q", *option).code == 0
    done = call("merge", first, second, other)
    assert (done.code, done.out) == (2, "")
    assert said in done.err and "other.tally" in done.err


def test_damaged_and_missing_tallies_are_named(tmp_path):
    first, second, _ = shards_in(tmp_path)
    whole = second.read_bytes()
    damaged = tmp_path / "damaged.tally"
    for content in (b"", whole[:40], whole[:-9], whole[:60] + b"\xff" + whole[61:], b"filename\tonset\n"):
        damaged.write_bytes(content)
        done = call("merge", first, damaged)
        assert (done.code, done.out) == (2, "") and "damaged.tally" in done.err, content[:20]
    for path in (tmp_path / "none.tally", tmp_path):
        done = call("merge", first, path)
        assert (done.code, done.out) == (2, "") and path.name in done.err
    assert call("merge").code == 2


def test_results_do_not_replace_what_is_read(tmp_path):
    first, second, _ = shards_in(tmp_path)
    before = first.read_bytes()
    for options in (("-o", first), ("--save-tally", second)):
        done = call("merge", first, second, *options)
        assert (done.code, done.out) == (2, ""), options
        assert "expected another file" in done.err
    assert first.read_bytes() == before
    reference, system = tables_in(tmp_path)
    assert call(reference, system, "--save-tally", system).code == 2
    same = tmp_path / "same"
    assert call(reference, system, "--save-tally", same, "-o", same).code == 2 and not same.exists()


def test_requirements_and_single_numbers_of_merged_tallies(tmp_path):
    paths = shards_in(tmp_path)
    name = "segment.soft.f1.micro"
    value = numbers(call("merge", *paths, "--format", "json", "-q").document)[name][0]
    assert float(call("merge", *paths, "--score", name, "-q").out) == value
    low, high = (
        float(text) for text in call("merge", *paths, "--score", name, "-q", "--ci").out.split("\t")[1:]
    )
    assert low < value < high
    assert call("merge", *paths, "-q", "--require", f"{name}>=0.99").code == 1
    assert call("merge", *paths, "-q", "--require", f"{name}>=0.0").code == 0
    done = call("merge", *paths, "--score", "clip.hard.f1.micro", "-q")
    assert done.code == 2 and "clip.hard.f1.micro is left out by --only" in done.err
