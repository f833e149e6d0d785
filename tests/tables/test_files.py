"""The files that are read, the names of recordings, and names that mean the same recording."""

import hashlib
import json
import shutil
import unicodedata

import pytest
from drawn import cases, found, lay_out, table
from tables import columns_of

from sedeval_soft import EvaluationError, InputError, Limits, evaluate
from sedeval_soft.tables import Partition, file_groups, match_names, named_alike, read_rows

# Folders and archives with a subfolder for each scene.

HEAD = "filename\tonset\toffset\tevent_label\tvalue\n"
SCENES = {
    "cafe/cafe_01.txt": "0\t1\tdishes\t0.75\n1\t2\tdishes\t0.25\n",
    "cafe/cafe_02.txt": "",
    "street/day/street_01.txt": "0\t1\tcar\t0.5\n",
}
"""Files in MAESTRO's form: onset, offset, label, value."""


@pytest.mark.parametrize("case", cases("layouts.tsv"), ids=lambda case: f"{case['how']} {case['files'][:40]}")
def test_files_are_one_table_or_are_refused(case, tmp_path):
    """how: `archive`, a pattern below the folder, or empty for the folder; found: see `drawn.found`."""
    folder, how = lay_out(tmp_path / "x", json.loads(case["files"])), case["how"]
    archive = shutil.make_archive(str(folder), "zip", tmp_path, "x") if how == "archive" else ""
    assert found(archive or folder / how) == json.loads(case["found"])


def test_links_that_lead_in_a_circle_end_and_no_folder_is_read_twice(tmp_path):
    folder = lay_out(tmp_path / "sys", SCENES)
    (folder / "street" / "again").symlink_to(folder)
    (folder / "zoo").symlink_to(folder / "cafe")
    (folder / "itself").symlink_to("itself")
    assert read_rows(folder).files == ("cafe_01", "cafe_02", "street_01")


def test_files_of_all_folders_together_are_counted(tmp_path):
    folder = lay_out(tmp_path / "sys", SCENES)
    assert len(read_rows(folder, limits=Limits(members=6))) == 3
    assert found(folder, limits=Limits(members=5)) == [[None, None, "too-many-members"]]


def test_a_hash_of_the_names_and_bytes_of_all_shards(tmp_path):
    texts = {f"p{k}.tsv": HEAD + f"{name}\t0\t1\tcar\t0.5\n" for k, name in enumerate("ab")}
    lines = [f"{name}\0{hashlib.sha256(text.encode()).hexdigest()}\n" for name, text in texts.items()]
    for folder in ("x", "elsewhere"):
        sha256 = read_rows(lay_out(tmp_path / folder, texts) / "*.tsv").origin.sha256
        assert sha256 == hashlib.sha256("".join(lines).encode()).hexdigest()
    lay_out(tmp_path / "x", {"p3.tsv": HEAD})
    assert read_rows(tmp_path / "x" / "*.tsv").origin.sha256 != sha256


# Names that mean one file, and the hint about names that would match after one change.


@pytest.mark.parametrize(
    ("reference", "other", "canonical", "ambiguous"),
    [
        # reference, other, the match of each other name, ambiguous names
        (["a.wav"], ["a.wav"], {"a.wav": "a.wav"}, ()),
        (["a.wav"], ["a"], {"a": "a.wav"}, ()),
        (["a"], ["a.FLAC"], {"a.FLAC": "a"}, ()),
        (["audio/a.wav"], ["a.wav"], {"a.wav": "audio/a.wav"}, ()),
        (["a.wav"], ["x\\y\\a.wav"], {"x\\y\\a.wav": "a.wav"}, ()),
        # Only audio extensions are ignored: a.001 and a.002 are two recordings.
        (["a.001"], ["a.002"], {"a.002": "a.002"}, ()),
        # Upper and lower case differ.
        (["A.wav"], ["a.wav"], {"a.wav": "a.wav"}, ()),
        # An exact match wins, and its look-alike is ambiguous.
        (["a.wav"], ["a.wav", "a"], {"a.wav": "a.wav", "a": "a"}, ("a",)),
        # Two reference names look like it: none is taken.
        (["x/a.wav", "y/a.wav"], ["a.wav"], {"a.wav": "a.wav"}, ("a.wav",)),
        (["a.wav", "a.flac"], ["a"], {"a": "a"}, ("a",)),
        # Two other names look like it: neither is taken.
        (["a.wav"], ["x/a.wav", "y/a.wav"],
         {"x/a.wav": "x/a.wav", "y/a.wav": "y/a.wav"}, ("x/a.wav", "y/a.wav")),
        # A longer part of the name may match even if a shorter part is ambiguous.
        (["x/a.wav", "y/a.wav"], ["x/a", "y/a"], {"x/a": "x/a.wav", "y/a": "y/a.wav"}, ()),
        (["x/a", "y/a"], ["x/a", "a"], {"x/a": "x/a", "a": "a"}, ("a",)),
        # A name that is ambiguous without extensions may have one match without folders.
        (["a.wav", "a.flac", "x/a"], ["a"], {"a": "x/a"}, ()),
        # A reference name is matched only once.
        (["x/a.wav"], ["x/a", "a.wav"], {"x/a": "x/a.wav", "a.wav": "a.wav"}, ("a.wav",)),
        # Folders of both tables decide: casey/23h is not ross/23h if both tables use both folders.
        (["casey/21h.wav", "casey/22h.wav", "ross/23h.wav"], ["casey/23h.wav", "casey/21h"],
         {"casey/23h.wav": "casey/23h.wav", "casey/21h": "casey/21h.wav"}, ()),
        (["ross/23h.wav"], ["casey/23h.wav", "ross/24h.wav"],
         {"casey/23h.wav": "casey/23h.wav", "ross/24h.wav": "ross/24h.wav"}, ()),
        (["ross/23h.wav"], ["casey/23h.wav"], {"casey/23h.wav": "ross/23h.wav"}, ()),
    ],
)  # fmt: skip
def test_names_are_matched(reference, other, canonical, ambiguous):
    assert match_names(reference, other) == (canonical, ambiguous)


STEMS = ("park", "café one", "b-Street_2", "x007", "--Yq1")


def written(path, pattern):
    rows = (f"{pattern.format(stem)}|{k}|{k + 2}|car" for k, stem in enumerate(STEMS))
    return table(path, "filename|onset|offset|event_label", *rows)


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [
        # Names of the reference, names of the system, and words in the hint.
        ("{}.wav", "{}.csv", ["extension"]),
        ("dev/{}.wav", "out/{}.scores.tsv", ["extension"]),
        ("{}.wav", "mix_{}.wav", ["'mix_'", "system"]),
        ("{}", "Y{}_30.000_40.000.wav", ["'Y'", "'_30.000_40.000'", "system"]),
        ("fold1_{}.wav", "{}.csv", ["'fold1_'", "reference"]),
    ],
)
def test_a_system_whose_files_are_all_named_otherwise_is_scored_with_a_hint(ours, theirs, words, tmp_path):
    paths = written(tmp_path / "ref.tsv", ours), written(tmp_path / "sys.tsv", theirs)
    for more in ({}, {"memory_limit": "4G"}):
        scores = evaluate(*paths, only="segment.hard", **more)
        assert scores["segment.hard.f1.micro"] == 0
        example = [repr(each.format("--Yq1")) for each in (theirs, ours)]
        assert any(all(w in text for w in ["5 of 5", *words, *example]) for text in scores.warnings)
    with pytest.raises(EvaluationError, match="5 of 5"):
        evaluate(*paths, strict=True)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (str.upper, "case"),
        (lambda name: name.replace("-", "_").replace(" ", "."), "`.`"),
        (lambda name: unicodedata.normalize("NFD", name), "accents"),
        (lambda name: name.replace("007", "7"), "zeros"),
        (lambda name: name.upper().replace(" ", "_") + ".csv", "extension, case"),
    ],
)
def test_names_that_are_spelt_otherwise(change, word):
    changed = {stem: change(stem) for stem in STEMS if change(stem) != stem}
    hint = named_alike([*changed], [*changed.values()])
    assert f"{len(changed)} of {len(changed)}" in hint and word in hint


def test_names_in_durations_that_match_nothing_have_the_hint_too(tmp_path):
    """Durations may lack files of the system, or have files that neither side has."""
    ours, theirs = written(tmp_path / "ref.tsv", "{}.wav"), written(tmp_path / "sys.tsv", "{}.csv")
    for system, named, words in ((theirs, ".wav", "'--Yq1.csv'"), (ours, ".flac.txt", "5 of 5")):
        durations = {f"{stem}{named}": 10.0 for stem in STEMS}
        warnings = evaluate(ours, system, durations=durations, only="event.hard").warnings
        assert any("durations" in text and words in text for text in warnings)
        with pytest.raises(EvaluationError):
            evaluate(ours, system, durations=durations, only="event.hard", strict=True)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ([], ["a"]),
        ([""], ["a.csv"]),
        (["a", "b"], ["zoo", "cab"]),
        (["file1"], ["file10"]),
        (["a.wav", "b.wav", "c.wav", "d.wav"], ["a.csv", "x.csv", "y.csv", "z.csv"]),
        (["a.wav", "a.flac"], ["a.csv"]),
    ],
)
def test_names_that_are_alike_by_chance_give_no_hint(ours, theirs):
    assert not named_alike(ours, theirs) and not named_alike(theirs, ours)


def test_a_name_that_is_alike_beside_another_gives_a_hint():
    hint = named_alike(["b", "c"], ["b.csv", "zoo"])
    assert "'b.csv'" in hint and "1 of 2" in hint


# Parts of the files: by a pattern of names or by a table; and other tables of files.


def grouped(files, by):
    """Return the files of each part, in order. Durations are powers of two, so that a sum names its files."""
    rows = columns_of([(name, 0.0, float(2**k), "a") for k, name in enumerate(files)])
    scores = evaluate(rows, rows, by=by, only="segment.hard")
    total = "segment.hard.n_ref.micro@"
    return {
        name.removeprefix(total): [file for k, file in enumerate(files) if int(n) >> k & 1]
        for name, n in scores.items() if name.startswith(total)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "name", "part"),
    [
        ("{scene}_[0-9]*", "cafe_01_02.wav", "cafe"),
        ("{scene}_[0-9]*", "city_center_01.wav", "city_center"),
        ("{x}", "whole name.wav", "whole name.wav"),
        ("*/{scene}/*.wav", "data/x/home/1.wav", "x"),
        ("a.c{x}", "a.cd", "d"),
        ("?{x}_*", "ba_\nb", "a"),
        ("*{x}*", "ab", "a"),
        *((pattern, "}x" if pattern[0] == "}" else "x", "x")
          for pattern in ("{scene}", "{}", "{größe}", "}{a}")),
    ],
)  # fmt: skip
def test_a_pattern_finds_the_part_in_a_name(pattern, name, part):
    assert grouped([name], pattern) == {part: [name]}


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("?{x}_*", "b\na_\nb"),
        ("{x}[z-a]*", "ab"),
        ("{scene}_[0-9]*", "Cafe-01"),
        ("a.c{x}", "abcd"),
        ("{x}_*", "a@b_1"),  # `@` would be ambiguous in names of scores
    ],
)
def test_a_name_that_a_pattern_does_not_fit_is_refused(pattern, name):
    for files in ([name], ["cafe_01", "data/x/1.wav", "a.cd", name]):
        with pytest.raises(EvaluationError):
            grouped(files, pattern)


@pytest.mark.parametrize(
    "pattern", ["", "*", "{a}{b}", "{a b}", "{1}", "{a", "a}", "{{a}}{b}", "{a*}", "{a:3}"]
)
def test_a_pattern_has_one_field_of_any_name(pattern):
    with pytest.raises(EvaluationError):
        grouped(["x"], pattern)


def test_files_are_put_together_in_the_order_of_parts_and_numbers_in_it():
    parts = {"c.wav": "fold10", "x/a": "fold2", "b.flac": "fold10", "gone.wav": "fold1", "also": "other"}
    found = grouped(["a.wav", "b.wav", "c.wav"], parts)
    assert [*found.items()] == [("fold2", ["a.wav"]), ("fold10", ["b.wav", "c.wav"])]
    names = ["01", "1", "9", "10", "B", "a9", "a10b1", "a10b2", "fold", "fold 2", "fold 2b", "fold 10", "²"]
    assert [*grouped(names[::-1], {name: name for name in names})] == names
    for files, by in ((["a", "b"], {"a": "1"}), (["x/a.wav", "y/a.wav"], {"a.wav": "1"})):
        with pytest.raises(InputError):
            grouped(files, by)


@pytest.mark.parametrize("case", cases("file_groups.tsv"), ids=lambda case: case["text"][:40])
def test_a_table_of_files_has_its_attributes_or_is_refused_at_its_places(case, tmp_path):
    path = tmp_path / ("t.uem" if case["text"].startswith(";;") else "t.tsv")
    path.write_bytes(case["text"].encode())
    try:
        found = getattr(file_groups, f"read_{case['what']}")(path)
    except InputError as error:
        assert [[p.line, p.column] for p in error.problems] == json.loads(case["refused"])  # noqa: PT017
        return
    if isinstance(found, Partition):
        assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        found = found.parts
    assert json.loads(json.dumps(found)) == json.loads(case["found"])


def test_folds_are_in_the_column_of_folds_beside_another(tmp_path):
    path = tmp_path / "parts.tsv"
    path.write_text("filename\tscene_label\tfold\na.wav\thome\t1\nb.wav\thome\t2\nc.wav\toffice\t2\n")
    rows = columns_of([(f"{name}.wav", 0.0, 1.0, "a") for name in "abc"])
    assert evaluate(rows, rows, folds=path, only="segment.hard").folds.files == (1, 2)
    with pytest.raises(InputError):
        evaluate(rows, rows, by=path)
