"""Classes under other names: the scores of tables in which they were renamed by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from called import call, written
from tables import long_rows, wide_rows

from sedeval_soft import InputError, SettingsError, evaluate

CALLS = {"bma": "bm", "bmb": "bm", "bmz": "bm", "d": "d"}
REFERENCE = [("a", 0.0, 1.0, "bma", 1.0), ("a", 3.0, 4.0, "bmz", 1.0), ("b", 0.0, 2.0, "d", 1.0)]
SYSTEM = [("a", 0.0, 1.0, "bmb", 1.0), ("a", 1.0, 2.0, "bma", 1.0), ("b", 0.0, 2.0, "d", 1.0)]


def renamed(rows):
    return long_rows([(file, on, off, CALLS[label], value) for file, on, off, label, value in rows])


@pytest.mark.parametrize("events", ["auto", "merge", "rows"])
def test_mapped_tables_score_as_renamed_ones(events):
    asked = {"events": events, "only": "all", "max_efpr": 1000.0}
    found = evaluate(long_rows(REFERENCE), long_rows(SYSTEM), map=CALLS, **asked)
    assert dict(found) == dict(evaluate(renamed(REFERENCE), renamed(SYSTEM), **asked))
    assert found.classes == ("bm", "d")


def test_of_a_wide_table_the_largest_value_counts():
    values = np.random.default_rng(0).random((2, 20, 3))
    sides = [wide_rows(side, files=2) for side in values]
    found = evaluate(*sides, map={"class0": "x", "class1": "x"}, only="segment.soft")
    merged = (np.stack([side[:, :2].max(axis=1), side[:, 2]], axis=1) for side in values)
    by_hand = (replace(wide_rows(side, files=2), classes=("x", "class2")) for side in merged)
    assert dict(found) == dict(evaluate(*by_hand, only="segment.soft"))
    assert any("class2" in warning and "not in `map`" in warning for warning in found.warnings)


def test_a_label_may_be_that_of_one_side():
    reference, system = long_rows([("a", 0.0, 1.0, "dog", 1.0)]), long_rows([("a", 0.0, 1.0, "hund", 1.0)])
    found = evaluate(reference, system, map={"system:hund": "dog"})
    assert found["segment.hard.f1.macro"] == 1.0 and not found.warnings




def test_the_command_reads_a_table(tmp_path):
    sides = [written(tmp_path / f"{k}.tsv", long_rows(rows)) for k, rows in enumerate((REFERENCE, SYSTEM))]
    path, name = tmp_path / "map.tsv", "segment.hard.f1.macro"
    path.write_text("label\tclass\tparent\nbma\tbm\twhale\nbmb\tbm\twhale\nbmz\tbm\twhale\nd\td\twhale\n")
    (tmp_path / "settings.yaml").write_text("map: map.tsv\n")
    expected = evaluate(*sides, map=CALLS)[name]
    for options in (("--map", path), ("--config", tmp_path / "settings.yaml")):
        assert float(call(*sides, *options, "--score", name).out) == expected
    assert evaluate(*sides, map=path, map_to="parent").classes == ("whale",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"label\tclass\na\tx\na\ty\n", "map.tsv:3:"),
        (b"label,class\na,\n", "map.tsv:2:"),
        (b"", "map.tsv: "),
        (b"label\tclass\na\tx\nb\xff\ty\n", "map.tsv:3:"),
        (b"label\tfamily\na\tx\n", "map.tsv:1:.*'class'"),
    ],
)
def test_tables_that_do_not_give_one_class_for_each_label_are_refused(tmp_path, text, words):
    (tmp_path / "map.tsv").write_bytes(text)
    with pytest.raises(InputError, match=words):
        evaluate(long_rows(REFERENCE), long_rows(SYSTEM), map=tmp_path / "map.tsv")


def test_a_column_of_classes_needs_a_table():
    with pytest.raises(SettingsError, match="map_to needs the path of a table"):
        evaluate(long_rows(REFERENCE), long_rows(SYSTEM), map=CALLS, map_to="parent")


