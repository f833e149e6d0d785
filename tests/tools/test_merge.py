"""`--save-tally` and `merge`: scores from statistics of shards are those of all files at once."""

from __future__ import annotations

import pytest
from called import call, written
from drawn_again import FILES, random_tables

TABLES = random_tables(21, n=50)
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
    scores = document["systems"][0]["scores"]
    return {score["name"]: (score["value"], score["low"], score["high"]) for score in scores}


@pytest.fixture
def tallies(tmp_path):
    return shards_in(tmp_path)


def refused(*arguments):
    """Return the message of a call that prints nothing."""
    done = call("merge", *arguments)
    assert (done.code, done.out) == (2, ""), arguments
    return done.err


@pytest.mark.parametrize("options", [("--worst", "3"), EVERYTHING], ids=["plain", "all"])
def test_merged_in_any_order_or_twice_scores_are_those_of_one_evaluation(tmp_path, options):
    first, second, third = shards_in(tmp_path, *options)
    both = tmp_path / "both.tally"
    assert call("merge", first, third, "--save-tally", both, "-q").code == 0
    orders = ([first, second, third], [third, first, second], [both, second])
    merged = [call("merge", *order, "--format", "json", "-q") for order in orders]
    assert {done.code for done in merged} == {0}
    assert len({done.out for done in merged}) == 1
    document, whole = merged[0].document, call(*tables_in(tmp_path), "--format", "json", *options).document
    assert numbers(document) == numbers(whole)
    for name in ("files", "length", "segments", "classes", "confusion", "worst"):
        assert document["systems"][0][name] == whole["systems"][0][name], name
    assert len(document["inputs"]) == 2 * len(SHARDS)


def test_tallies_that_do_not_add_or_are_damaged_are_refused_by_name(tmp_path, tallies):
    other = tmp_path / "other.tally"
    for files, option, words in (("ce", (), "'c'"), ("de", ("--threshold", "0.3"), "threshold")):
        assert call(*tables_in(tmp_path, files, "other"), "--save-tally", other, "-q", *option).code == 0
        message = refused(*tallies[:2], other)
        assert "other.tally" in message and words in message
    assert "0.tally" in refused(*tallies, tallies[0])
    (tmp_path / "damaged.tally").write_bytes(tallies[1].read_bytes()[:-9])
    for name in ("damaged.tally", "none.tally", ""):
        assert str(tmp_path / name) in refused(tallies[0], tmp_path / name)
    assert call("merge").code == 2


def test_results_do_not_replace_a_file_that_is_read(tmp_path, tallies):
    before = [path.read_bytes() for path in tallies]
    for options in (("-o", tallies[0]), ("--save-tally", tallies[1])):
        refused(*tallies, *options)
    assert [path.read_bytes() for path in tallies] == before
    reference, system = tables_in(tmp_path)
    assert call(reference, system, "--save-tally", system).code == 2
    same = tmp_path / "same"
    assert call(reference, system, "--save-tally", same, "-o", same).code == 2 and not same.exists()
