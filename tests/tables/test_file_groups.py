"""Which files belong together: by a pattern of names, or by a table."""

from __future__ import annotations

import fnmatch
import hashlib
import itertools
import json

import pytest
from drawn import cases
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft.errors import EvaluationError, InputError, SettingsError
from sedeval_soft.tables.file_groups import (
    Partition,
    assign,
    by_pattern,
    natural_key,
    read_durations,
    read_listed,
    read_map,
    read_partition,
    read_regions,
)


@pytest.mark.parametrize(
    ("pattern", "name", "part"),
    [
        ("{scene}_[0-9]*", "cafe_01_02.wav", "cafe"),
        ("{scene}_[0-9]*", "city_center_01.wav", "city_center"),
        ("{x}", "whole name.wav", "whole name.wav"),
        ("*/{scene}/*.wav", "data/x/home/1.wav", "x"),
        ("a.c{x}", "a.cd", "d"),
        ("?{x}_*", "\na_\nb", "a"),
        ("{x}\udcff", "home\udcff", "home"),
        ("{x}[z-a]*", "ab", None),
        ("{scene}_[0-9]*", "Cafe-01", None),
        ("a.c{x}", "abcd", None),
    ],
)
def test_a_pattern_finds_the_part_in_a_name(pattern, name, part):
    if part is None:
        with pytest.raises(EvaluationError, match="does not match 1 file "):
            by_pattern([name], pattern)
    else:
        assert by_pattern([name], pattern) == Partition({name: part}, pattern, None)


PIECE = st.text("ab*?[]!-", max_size=5)


@given(PIECE, PIECE, st.text("ab-]", max_size=7))
def test_the_shortest_part_is_found(head, tail, name):
    wanted = None
    for length, begin in itertools.product(range(1, len(name) + 1), range(len(name))):
        end = begin + length
        if end > len(name):
            continue
        if fnmatch.fnmatchcase(name[:begin], head) and fnmatch.fnmatchcase(name[end:], tail):
            wanted = name[begin:end]
            break
    try:
        found = by_pattern([name], f"{head}{{x}}{tail}").parts[name]
    except EvaluationError as error:
        refused = "does not match" in str(error)
        assert wanted is None if refused else set(wanted) & set("]")
        return
    assert found == wanted


def test_all_files_must_match():
    files = [f"home/{i}.wav" for i in range(9)]
    with pytest.raises(EvaluationError) as caught:
        by_pattern([*files, "a_1.wav"], "{scene}_[0-9]*")
    assert "9 files ('home/0.wav'" in str(caught.value)
    with pytest.raises(EvaluationError, match=r"does not match 1 file \(without a name\)"):
        by_pattern([""], "{x}")
    with pytest.raises(EvaluationError, match=r"finds 'a@b' in 1 file \('a@b_1'\); expected printable text"):
        by_pattern(["a@b_1", "c_1"], "{x}_*")
    assert by_pattern([], "{x}").parts == {}


def test_a_pattern_has_one_field_of_any_name():
    for pattern in ("", "*", "{a}{b}", "{a b}", "{1}", "{a", "a}", "{{a}}{b}", "{a*}", "{a:3}"):
        with pytest.raises(SettingsError, match="must have one {name} where"):
            by_pattern(["x"], pattern)
    for pattern in ("{scene}", "{}", "{{a}}", "{größe}", "}{a}"):
        name = "}x" if pattern[0] == "}" else "{x}"
        assert len(by_pattern([name], pattern).parts) == 1


def test_files_are_put_together_in_the_order_of_parts():
    parts = {"c.wav": "fold10", "x/a": "fold2", "b.flac": "fold10", "gone.wav": "fold1", "also": "other"}
    found, strangers = assign(Partition(parts, "t.tsv"), ("a.wav", "b.wav", "c.wav"))
    assert list(found.items()) == [("fold2", ("a.wav",)), ("fold10", ("b.wav", "c.wav"))]
    assert strangers == ("gone.wav", "also")


def test_every_file_must_have_a_part():
    files = tuple(f"f{i}" for i in range(8))
    with pytest.raises(InputError) as caught:
        assign(Partition({"f0": "1"}, "t.tsv"), files)
    assert "7 files ('f1'" in str(caught.value)
    with pytest.raises(InputError, match=r"1 name \('a.wav'\) could be more than one file"):
        assign(Partition({"a.wav": "1"}, "t.tsv"), ("x/a.wav", "y/a.wav"))


def test_numbers_in_names_are_in_order():
    names = ["", "01", "1", "9", "10", "B", "a9", "a10b1", "a10b2", "fold", "fold 2", "fold 2b", "fold 10"]
    assert sorted([*names[::-1], "²"], key=natural_key) == [*names, "²"]
    # More digits than Python makes a number of.
    assert natural_key("1" * 5000) < natural_key("2" * 5000) < natural_key("1" * 5001)


READ = {
    "partition": read_partition, "durations": read_durations, "regions": read_regions, "listed": read_listed,
    "map": read_map,
}  # fmt: skip


@pytest.mark.parametrize("case", cases("file_groups.tsv"), ids=lambda case: case["text"][:40])
def test_a_table_of_files_is_what_it_says_or_is_refused_at_its_places(case, tmp_path):
    path = tmp_path / "t.tsv"
    path.write_bytes(case["text"].encode())
    if case["refused"]:
        with pytest.raises(InputError) as refused:
            READ[case["what"]](path)
        assert [[p.line, p.column] for p in refused.value.problems] == json.loads(case["refused"])
        return
    found = READ[case["what"]](path)
    if isinstance(found, Partition):
        assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        found = found.parts
    assert json.loads(json.dumps(found)) == json.loads(case["found"])


def test_preferred_columns_come_first(tmp_path):
    path = tmp_path / "parts.tsv"
    path.write_text("filename\tscene_label\tfold\na.wav\thome\t1\n")
    assert dict(read_partition(path, prefer=("fold",)).parts) == {"a.wav": "1"}
    assert dict(read_partition(path, prefer=("scene", "scene_label")).parts) == {"a.wav": "home"}


@pytest.mark.parametrize("name", ["d.uem", "d.txt"])
def test_regions_of_a_uem_file_that_begin_at_0_are_durations(name, tmp_path):
    path = tmp_path / name
    comment = ";; file channel begin end\n" * (name == "d.uem")
    path.write_text(f"{comment}a 1 0.000 10.5\nb NA 0 3\n\na 2 0.000 10.5\n")
    assert read_durations(path) == {"a": 10.5, "b": 3.0}
