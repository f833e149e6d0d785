"""Every broken table gets an error that says where and what; nothing else ever escapes."""

from __future__ import annotations

import pytest
from broken import BROKEN, GOOD, HEAD
from called import call

from sedeval_soft.errors import MAX_PROBLEMS, InputError
from sedeval_soft.tables import read_rows


@pytest.mark.parametrize("name", BROKEN)
def test_broken_table_is_refused_with_its_place(name, tmp_path):
    case = BROKEN[name]
    path = tmp_path / f"{name}.tsv"
    path.write_bytes(case.data)
    with pytest.raises(InputError) as caught:
        read_rows(path)
    first = caught.value.problems[0]
    assert first.source == str(path)
    if name != "binary":
        assert (first.line, first.column) == (case.line, case.column), first
    for words in case.words:
        assert words in first.message
    assert str(first).isprintable()
    good = tmp_path / "good.tsv"
    good.write_bytes(HEAD + GOOD)
    done = call(good, path)
    assert (done.code, done.out) == (2, "")
    place = ":".join(str(part) for part in (path, case.line, case.column) if part is not None)
    assert place in done.err


def test_many_problems_are_shown_ten_at_a_time(tmp_path):
    path = tmp_path / "many.tsv"
    path.write_bytes(HEAD + b"a.wav\t2\t1\tcar\t1\n" * 50)
    with pytest.raises(InputError) as caught:
        read_rows(path)
    assert [problem.line for problem in caught.value.problems] == list(range(2, 2 + MAX_PROBLEMS))
    assert "more problems" in str(caught.value)


def test_long_and_hostile_text_is_shortened_and_escaped(tmp_path):
    path = tmp_path / "hostile.tsv"
    path.write_bytes(HEAD + b"a.wav\t\x1b[31mred" + b"x" * 500 + b"\t1\tcar\t1\n")
    with pytest.raises(InputError) as caught:
        read_rows(path)
    message = str(caught.value)
    assert "\x1b" not in message
    assert "\\x1b[31mred" in message
    assert len(message) < 300


def test_missing_files_and_folders_are_input_errors(tmp_path):
    for path in (tmp_path / "missing.tsv", tmp_path):
        with pytest.raises(InputError):
            read_rows(path)
