"""`--save-tally` and `merge`: merged statistics of files give the same scores as all files at once."""

import pytest
from called import call, written
from drawn import lay_out
from drawn_again import random_tables

TABLES = random_tables(21, n=50)
SHARDS = ("ab", "c", "de")


def sides(folder, files="abcde"):
    """Write tables with the rows of some files."""
    folder = lay_out(folder / files, {})
    tables = {"ref.tsv": TABLES.reference, "sys.tsv": TABLES.system}
    return [written(folder / name, table, files) for name, table in tables.items()]


def shards(folder, *options):
    """Write a tally for each part of the files."""
    paths = [folder / f"{files}.tally" for files in SHARDS]
    for path in paths:
        done = call(*sides(folder, path.stem), "--save-tally", path, "-q", *options)
        assert (done.code, done.err) == (0, "")
    return paths


def results(document):
    """Return the numbers of each score, and the other facts of a system in a document."""
    system = document["systems"][0]
    found = {name: system[name] for name in ("files", "length", "segments", "classes", "confusion", "worst")}
    return found | {each["name"]: (each["value"], each["low"], each["high"]) for each in system["scores"]}


def refused(*arguments):
    """Return the message of a refused call, which may print nothing else."""
    done = call(*arguments)
    assert (done.code, done.out) == (2, ""), arguments
    return done.err


@pytest.mark.parametrize(
    "options",
    [("--worst", "3"),
     ("--only", "all", "--measures", "all", "--psds", "dcase-psds2", "--classes", "car,dog,rain")],
    ids=["plain", "all"],
)  # fmt: skip
def test_merged_in_any_order_or_twice_scores_are_those_of_one_evaluation(tmp_path, options):
    first, second, third = shards(tmp_path, *options)
    both = tmp_path / "both.tally"
    assert call("merge", first, third, "--save-tally", both, "-q").code == 0
    orders = ([first, second, third], [third, first, second], [both, second])
    merged, *others = (call("merge", *order, "--format", "json", "-q") for order in orders)
    assert merged.code == 0 and {done.out for done in others} == {merged.out}
    whole = call(*sides(tmp_path), "--format", "json", *options)
    assert results(merged.document) == results(whole.document)
    assert len(merged.document["inputs"]) == 2 * len(SHARDS)


def test_tallies_that_do_not_add_or_are_damaged_are_refused_by_name(tmp_path):
    tallies, other = shards(tmp_path), tmp_path / "other.tally"
    for files, option, words in (("ce", (), "'c'"), ("de", ("--threshold", "0.3"), "threshold")):
        assert call(*sides(tmp_path, files), "--save-tally", other, "-q", *option).code == 0
        message = refused("merge", *tallies[:2], other)
        assert "other.tally" in message and words in message
    assert "ab.tally" in refused("merge", *tallies, tallies[0])
    other.write_bytes(tallies[1].read_bytes()[:-9])
    for path in (other, tmp_path / "none.tally", tmp_path):
        assert str(path) in refused("merge", tallies[0], path)
    assert call("merge").code == 2


def test_results_do_not_replace_a_file_that_is_read(tmp_path):
    tallies, same, pair = shards(tmp_path), tmp_path / "same", sides(tmp_path)
    before = [path.read_bytes() for path in tallies]
    for arguments in (
        ("merge", *tallies, "-o", tallies[0]),
        ("merge", *tallies, "--save-tally", tallies[1]),
        (*pair, "--save-tally", pair[1]),
        (*pair, "--save-tally", same, "-o", same),
    ):
        refused(*arguments)
    assert [path.read_bytes() for path in tallies] == before and not same.exists()
