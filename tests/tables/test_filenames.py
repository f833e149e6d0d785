"""Which names mean one file; names that match nothing: what would make them match is told."""

from __future__ import annotations

import unicodedata

import pytest
from called import call
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft import EvaluationError, evaluate
from sedeval_soft.tables.filenames import (
    match_names,
    named_alike,
    stem_of,
    without_extension,
    without_folders,
)

CASES = [
    # reference, other, what the other names go by, which are ambiguous
    (["a.wav"], ["a.wav"], {"a.wav": "a.wav"}, ()),
    (["a.wav"], ["a"], {"a": "a.wav"}, ()),
    (["a"], ["a.FLAC"], {"a.FLAC": "a"}, ()),
    (["audio/a.wav"], ["a.wav"], {"a.wav": "audio/a.wav"}, ()),
    (["a.wav"], ["x\\y\\a.wav"], {"x\\y\\a.wav": "a.wav"}, ()),
    # Only audio extensions are cut off: a.001 and a.002 are two recordings.
    (["a.001"], ["a.002"], {"a.002": "a.002"}, ()),
    # Upper and lower case differ.
    (["A.wav"], ["a.wav"], {"a.wav": "a.wav"}, ()),
    # An exact match wins, and its look-alike is ambiguous.
    (["a.wav"], ["a.wav", "a"], {"a.wav": "a.wav", "a": "a"}, ("a",)),
    # Two reference names look like it: none is taken.
    (["x/a.wav", "y/a.wav"], ["a.wav"], {"a.wav": "a.wav"}, ("a.wav",)),
    (["a.wav", "a.flac"], ["a"], {"a": "a"}, ("a",)),
    # Two other names look like it: neither is taken.
    (["a.wav"], ["x/a.wav", "y/a.wav"], {"x/a.wav": "x/a.wav", "y/a.wav": "y/a.wav"}, ("x/a.wav", "y/a.wav")),
    # With less of the name a file may become ambiguous, which with more it is not.
    (["x/a.wav", "y/a.wav"], ["x/a", "y/a"], {"x/a": "x/a.wav", "y/a": "y/a.wav"}, ()),
    (["x/a", "y/a"], ["x/a", "a"], {"x/a": "x/a", "a": "a"}, ("a",)),
]


@pytest.mark.parametrize(("reference", "other", "canonical", "ambiguous"), CASES)
def test_match_names(reference, other, canonical, ambiguous):
    assert match_names(reference, other) == (canonical, ambiguous)


NAMES = st.lists(
    st.builds(
        lambda folder, stem, extension: folder + stem + extension,
        st.sampled_from(["", "x/", "y/", "x/y/", "x\\"]),
        st.sampled_from(["a", "b", "a.1"]),
        st.sampled_from(["", ".wav", ".flac", ".txt"]),
    ),
    unique=True,
    max_size=6,
)


@given(NAMES, NAMES, st.randoms())
def test_matching_is_one_to_one_never_guesses_and_does_not_depend_on_the_order(reference, other, random):
    match = match_names(reference, other)
    assert set(match.canonical) == set(other)
    assert len(set(match.canonical.values())) == len(other)
    for name, ours in match.canonical.items():
        if name in reference:
            assert ours == name
        elif ours != name:
            looks = [f for f in (without_extension, without_folders, stem_of) if f(ours) == f(name)]
            # At the first look at which they are alike, nothing else of either table is.
            assert any(
                [r for r in reference if look(r) == look(name)] == [ours]
                and [o for o in other if look(o) == look(name)] == [name]
                for look in looks
            )
            assert name not in match.ambiguous
    random.shuffle(reference)
    random.shuffle(other)
    again = match_names(reference, other)
    assert again.canonical == match.canonical
    assert set(again.ambiguous) == set(match.ambiguous)


STEMS = ("park", "café one", "b-Street_2", "x007", "--Yq1")

UNLIKE = {
    "extension": ("{}.wav", "{}.csv", "the extension"),
    "extensions": ("dev/{}.wav", "out/{}.scores.tsv", "the extension"),
    "prefix": ("{}.wav", "mix_{}.wav", "'mix_' before the names of the system"),
    "excerpts": (
        *("{}", "Y{}_30.000_40.000.wav"),
        "'Y' before and '_30.000_40.000' after the names of the system",
    ),
    "of the reference": ("fold1_{}.wav", "{}.csv", "'fold1_' before the names of the reference"),
}


def lines(pattern):
    rows = [f"{pattern.format(stem)}\t{k}\t{k + 2}\tcar\n" for k, stem in enumerate(STEMS)]
    return "filename\tonset\toffset\tevent_label\n" + "".join(rows)


def written(folder, ours, theirs):
    (folder / "ref.tsv").write_text(ours)
    (folder / "sys.tsv").write_text(theirs)
    return folder / "ref.tsv", folder / "sys.tsv"


@pytest.mark.parametrize("name", UNLIKE)
def test_the_whole_of_a_system_that_is_named_otherwise(tmp_path, name):
    ours, theirs, how = UNLIKE[name]
    paths = written(tmp_path, lines(ours), lines(theirs))
    example = f"is {theirs.format('--Yq1')!r} meant to be {ours.format('--Yq1')!r}?"
    told = f"Both sides must name a file alike: 5 of 5 names would match but for {how}"
    for more in ((), ("--memory-limit", "4G")):
        done = call(*paths, "--score", "segment.hard.f1.micro", *more)
        assert (done.code, float(done.out)) == (0, 0)
        assert told in done.err
        assert example in done.err
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
)
def test_names_that_are_spelt_otherwise(change, how):
    changed = {stem: change(stem) for stem in STEMS if change(stem) != stem}
    assert f"would match but for {how}" in named_alike([*changed], [*changed.values()])


def test_files_that_the_durations_leave_out(tmp_path):
    """With a list of files, those of the system that are in no list are left out: why is told there, too."""
    paths = written(tmp_path, lines("{}.wav"), lines("{}.csv"))
    for name, named in (("same.tsv", "{}.wav"), ("other.tsv", "{}.flac.txt")):
        rows = [f"{named.format(stem)}\t10\n" for stem in STEMS]
        (tmp_path / name).write_text("filename\tduration\n" + "".join(rows))
    done = call(*paths, "--durations", tmp_path / "same.tsv", "--only", "event.hard")
    assert "left out; is '--Yq1.csv' meant to be '--Yq1.wav'?" in done.err
    # Durations that no file has are of the same files: the recordings would be there twice.
    for more in ((), ("--memory-limit", "4G")):
        made = (paths[0], paths[0], "--durations", tmp_path / "other.tsv", "--only", "event.hard", *more)
        done = call(*made)
        assert "durations: 5 files (" in done.err
        assert "5 of 5 names would match but for the extension; write them as the reference does" in done.err
        assert call(*made, "--strict").code == 2


def test_what_says_nothing_is_not_told():
    for ours, theirs in (
        ([], ["a"]),
        ([""], ["a.csv"]),
        (["a", "b"], ["zoo", "cab"]),
        (["file1"], ["file10"]),
        (["a.wav", "b.wav", "c.wav", "d.wav"], ["a.csv", "x.csv", "y.csv", "z.csv"]),
        (["a.wav", "a.flac"], ["a.csv"]),
    ):
        assert not named_alike(ours, theirs)
        assert not named_alike(theirs, ours)
    hint = named_alike(["b", "c"], ["b.csv", "zoo"])
    assert "is 'b.csv' meant to be 'b'?" in hint
    assert "1 of 2 names would match" in hint


def test_folders_of_both_tables_say_which_file_is_meant():
    ours = ["casey/21h.wav", "casey/22h.wav", "ross/23h.wav"]
    # Of 23h, ross has one; what casey has of it is another recording.
    match = match_names(ours, ["casey/23h.wav", "casey/21h"])
    assert match.canonical == {"casey/23h.wav": "casey/23h.wav", "casey/21h": "casey/21h.wav"}
    assert match.ambiguous == ()
    assert (
        match_names(["ross/23h.wav"], ["casey/23h.wav", "ross/24h.wav"]).canonical["casey/23h.wav"][0] == "c"
    )
    assert match_names(["ross/23h.wav"], ["casey/23h.wav"]).canonical == {"casey/23h.wav": "ross/23h.wav"}
