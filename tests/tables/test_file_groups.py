"""Which files belong together: by a pattern of names, or by a table; and other tables of files."""

from __future__ import annotations

import hashlib
import json

import pytest
from drawn import cases
from tables import columns_of

from sedeval_soft import EvaluationError, InputError, evaluate
from sedeval_soft.tables import Partition
from sedeval_soft.tables.file_groups import (
    read_durations,
    read_listed,
    read_map,
    read_partition,
    read_regions,
)


def grouped(files, by):
    """Return the files of each part, in the order of parts: each file is as long as its number from 1 on."""
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
        ("?{x}_*", "b\na_\nb", None),
        ("?{x}_*", "ba_\nb", "a"),
        ("{x}[z-a]*", "ab", None),
        ("*{x}*", "ab", "a"),
        ("{scene}_[0-9]*", "Cafe-01", None),
        ("a.c{x}", "abcd", None),
        ("{x}_*", "a@b_1", None),  # a part is in names of scores
        *((pattern, "}x" if pattern[0] == "}" else "x", "x")
          for pattern in ("{scene}", "{}", "{größe}", "}{a}")),
    ],
)  # fmt: skip
def test_a_pattern_finds_the_part_in_a_name(pattern, name, part):
    if part is not None:
        assert grouped([name], pattern) == {part: [name]}
        return
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


READ = {
    "partition": read_partition, "durations": read_durations, "regions": read_regions, "listed": read_listed,
    "map": read_map,
}  # fmt: skip


@pytest.mark.parametrize("case", cases("file_groups.tsv"), ids=lambda case: case["text"][:40])
def test_a_table_of_files_has_its_attributes_or_is_refused_at_its_places(case, tmp_path):
    path = tmp_path / ("t.uem" if case["text"].startswith(";;") else "t.tsv")
    path.write_bytes(case["text"].encode())
    try:
        found = READ[case["what"]](path)
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
