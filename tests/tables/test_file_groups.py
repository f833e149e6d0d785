"""Which files belong together: by a pattern of names, or by a table."""

from __future__ import annotations

import fnmatch
import hashlib
import itertools
from pathlib import Path

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


def test_lines_that_are_there_again_say_nothing_new_and_are_counted(tmp_path):
    path = tmp_path / "durations.tsv"
    lines = ["filename\tduration", "a.wav\t10", "a.wav\t10", "b.wav\t5", "a.wav\t10"]
    path.write_text("\n".join(lines))
    assert read_durations(path) == {"a.wav": 10, "b.wav": 5}
    path.write_text("\n".join([*lines, "b.wav\t6", "b.wav\t6"]))
    with pytest.raises(
        InputError, match=r"(?s)tsv:6:2: 'b.wav' has duration 6, but 5.0.*tsv:7:2: "
    ) as refused:
        read_durations(path)
    assert len(refused.value.problems) == 2
    for blank in ("", "\n", "\t\t\n"):
        path.write_text(blank + "\n".join([*lines, lines[0]]))
        with pytest.raises(InputError, match="duration 'duration' is not a number"):
            read_durations(path)


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


CASES = [(case["what"], case["text"], case["refused"]) for case in cases("file_groups.tsv")]


@pytest.mark.parametrize(("what", "text", "refused"), CASES)
def test_a_table_says_a_part_of_each_file_or_is_refused_with_its_place(
    what, text, refused, tmp_path, monkeypatch
):
    """Parts are those of two files everywhere; refused: how the message begins, with its place."""
    monkeypatch.chdir(tmp_path)
    Path("t.tsv").write_bytes(text.encode())
    read = {"partition": read_partition, "durations": read_durations, "regions": read_regions}[what]
    if not refused:
        found = read("t.tsv")
        assert dict(found.parts) == {"a.wav": "1", "b.wav": "2"}
        assert (found.source, found.sha256) == ("t.tsv", hashlib.sha256(text.encode()).hexdigest())
        return
    with pytest.raises(InputError) as caught:
        read("t.tsv")
    assert str(caught.value).startswith(refused)


@pytest.mark.parametrize(
    ("header", "row", "seconds"),
    [
        ("filename,duration_ms", "a.wav,7000", 7.0),
        ("Length (s),file", "7.5,a.wav", 7.5),
        ("onset,filename,duration", "0.7,a.wav,0.1", [0.7, 0.8]),
        ("filename,onset_ms,length_ms", "a.wav,500,1000", [0.5, 1.5]),
        ("filename,start,end_ms", "a.wav,1,2500", [1.0, 2.5]),
    ],
)
def test_names_of_columns_of_times_say_what_they_hold(header, row, seconds, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\n{row}\n")
    if isinstance(seconds, float):
        assert read_durations(path) == {"a.wav": seconds}
    else:
        assert read_regions(path) == {"a.wav": [seconds]}


def test_a_comma_may_be_in_a_listed_name(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text('a,b.wav\nc.wav,home\nd, e.wav\n"f,g.wav",home\n')
    assert read_listed(path) == ("a,b.wav", "c.wav", "d, e.wav", "f,g.wav")


def test_preferred_columns_come_first(tmp_path):
    path = tmp_path / "parts.tsv"
    path.write_text("filename\tscene_label\tfold\na.wav\thome\t1\n")
    assert dict(read_partition(path, prefer=("fold",)).parts) == {"a.wav": "1"}
    assert dict(read_partition(path, prefer=("scene", "scene_label")).parts) == {"a.wav": "home"}


def test_durations(tmp_path):
    path = tmp_path / "d.csv"
    for text in ("filename\tduration\na\t10.5\nb\t3\na\t10.5\n", "a,10.5\nb,3\n", "a,10.5\nb,3,surplus\n"):
        path.write_text(text)
        assert read_durations(path) == {"a": 10.5, "b": 3.0}


@pytest.mark.parametrize("name", ["d.uem", "d.txt"])
def test_regions_of_a_uem_file_that_begin_at_0_are_durations(name, tmp_path):
    path = tmp_path / name
    comment = ";; file channel begin end\n" * (name == "d.uem")
    path.write_text(f"{comment}a 1 0.000 10.5\nb NA 0 3\n\na 2 0.000 10.5\n")
    assert read_durations(path) == {"a": 10.5, "b": 3.0}
