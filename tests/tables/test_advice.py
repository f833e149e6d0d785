"""What a message proposes of columns helps: it is obeyed here, for each refused table of the tests' tables.

`advice.tsv` has tables of other tools, rebuilt small; what is to be proposed for them was worked out by hand.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from pathlib import Path

import pytest
from called import call
from drawn import cases
from test_mends import WORD

import sedeval_soft
from sedeval_soft.errors import InputError
from sedeval_soft.tables.columns import NUMBER, column_names

ADVICE = {case["name"]: case for case in cases("advice.tsv")}
_PROPOSED = re.compile(rf"--columns ({WORD})")


def proposed(message: str) -> list[str]:
    """Return what a message proposes to say of columns, as a shell has it."""
    return [shlex.split(text)[0].rstrip(",.;:") for text in _PROPOSED.findall(message)]


def converted(path: Path, *options: str) -> tuple[str, list[dict[str, str]]]:
    """Return what `convert` says when it refuses a table, or its rows."""
    done = call("convert", path, "-", *options)
    assert done.code in {0, 2}, done
    rows = csv.DictReader(io.StringIO(done.out), delimiter="\t", quoting=csv.QUOTE_NONE)
    return (done.err, []) if done.code else ("", [*rows])


def check_obeyed(path: Path, *options: str) -> None:
    """Check that each proposal, obeyed, gives sensible rows, or another question than before."""
    first, _ = converted(path, *options)
    taken = {name for text in options if "=" in text for _, name in column_names(text)}
    for said in proposed(first):
        pairs = column_names(said)
        assert not taken & {name for _, name in pairs}, "it takes a column that was spoken of"
        again, rows = converted(path, *options, "--columns", said)
        assert again != first, f"a circle: {said}"
        labels = [row.get("event_label", "") for row in rows if row.get("onset")]
        asked = {role for role, _ in pairs} == {"event_label"} or "could be" in first
        assert asked or not labels or not all(map(NUMBER.fullmatch, labels)), f"numbers as classes: {said}"
        assert len({*labels}) < 3 or len({*labels}) < len(labels), f"a class for each row: {said}"
        assert all(float(row["onset"]) <= float(row["offset"]) < 86_400 for row in rows if row.get("onset"))


def write(folder: Path, text: str) -> Path:
    path = folder / ("x.rttm" if text.startswith("SPEAKER") else "x.txt")
    path.write_bytes(text.encode("latin-1"))
    return path


@pytest.mark.parametrize("name", ADVICE)
def test_tables_of_other_tools_are_refused_with_advice_that_helps(name, tmp_path):
    case = ADVICE[name]
    path, options = write(tmp_path, case["text"]), case["options"].split()
    said, _ = converted(path, *options)
    assert f"{path}:{case['at']}: ".replace("::", ":") in said
    assert proposed(said) == case["proposed"].split()
    keywords = {name.lstrip("-"): text for name, text in zip(options[::2], options[1::2], strict=True)}
    with pytest.raises(InputError) as caught:
        sedeval_soft.convert(path, tmp_path / "out.tsv", **keywords)
    assert caught.value.problems[0].code == case["code"]
    check_obeyed(path, *options)


REFUSED = [
    *((f"{case['message'][:30]}", f"{case['head']}\n{case['row']}\n".replace("|", "\t"))
      for case in cases("refused_headers.tsv")),
    *((case["name"], case["text"]) for case in cases("wrong_tables.tsv") if not case["encoding"]),
    *((case["name"], case["text"]) for case in cases("../tools/bad_inputs.tsv") if not case["form"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), REFUSED, ids=[name for name, _ in REFUSED])
def test_so_are_all_that_the_tests_have(name, text, tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(text.encode("latin-1", "replace"))
    check_obeyed(path)


def test_enough_of_these_propose_something(tmp_path):
    """The check above would find nothing where nothing is proposed."""
    found = 0
    for _, text in REFUSED:
        (tmp_path / "x.tsv").write_bytes(text.encode("latin-1", "replace"))
        found += len(proposed(converted(tmp_path / "x.tsv")[0]))
    assert found >= 25


def rows_of(path: Path, *options: str) -> list[str]:
    done = call("convert", path, "-", *options)
    assert done.code == 0, done.err
    return done.out.splitlines()


def test_numbers_are_classes_in_text_as_in_parquet_if_the_user_says_so(tmp_path):
    path = write(tmp_path, ADVICE["labels are numbers beside numbers"]["text"])
    expected = ["filename\tonset\toffset\tevent_label", "a.wav\t0.5\t1\t3", "a.wav\t2\t2.5\t4"]
    assert rows_of(path, "--columns", "event_label=label") == expected
    assert rows_of(path, "--columns", "event_label=label,ignore=low_freq,ignore=high_freq") == expected
    assert rows_of(path, "--columns", "ignore=low_freq,ignore=high_freq") == expected
    path.write_text(",filename,onset,offset,label\n0,a.wav,0.5,1.0,3\n1,a.wav,2,2.5,4\n")
    assert rows_of(path) == expected


def test_marks_without_a_text_have_the_class_that_is_named(tmp_path):
    path = write(tmp_path, "0.5\t1.25\t\n2\t3\tjay\n")
    assert rows_of(path, "--label", "bird")[1:] == ["0.5\t1.25\tbird", "2\t3\tjay"]
    path.write_text("filename,onset,offset,label\na.wav,0.5,1.25,\nb.wav,,,\n")
    assert rows_of(path, "--label", "bird")[1:] == ["a.wav\t0.5\t1.25\tbird", "b.wav\t\t\t"]
    frame = {"onset": [0.5, 2], "offset": [1.25, 3], "label": [None, "jay"]}
    assert sedeval_soft.evaluate(frame, frame, label="bird").classes == ("bird", "jay")
