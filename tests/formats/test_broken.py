"""Every broken table gets an error that says where and what; nothing else ever escapes."""

from __future__ import annotations

import subprocess

import pytest
from broken import BROKEN, GOOD, HEAD
from hypothesis import given
from hypothesis import strategies as st
from launched import program

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


@pytest.mark.parametrize("name", BROKEN)
def test_command_exits_2_with_one_message_and_no_traceback(name, tmp_path):
    path = tmp_path / f"{name}.tsv"
    path.write_bytes(BROKEN[name].data)
    good = tmp_path / "good.tsv"
    good.write_bytes(HEAD + GOOD)
    done = subprocess.run(
        [*program(), str(good), str(path)],
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    case = BROKEN[name]
    place = ":".join(str(part) for part in (path, case.line, case.column) if part is not None)
    assert f"{place}" in done.stderr
    assert "Traceback" not in done.stderr


def test_at_least_twenty_kinds():
    assert len(BROKEN) >= 20


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


@given(
    position=st.integers(0, 200),
    junk=st.binary(min_size=1, max_size=6),
    cut=st.booleans(),
    wide=st.booleans(),
)
def test_corrupted_tables_give_rows_or_an_input_error(position, junk, cut, wide, tmp_path_factory):
    data = b"onset\toffset\tcar\tdog\n" + b"0\t1\t0.5\t0.25\n" * 8 if wide else HEAD + GOOD * 8
    data = data[:position] + junk + (b"" if cut else data[position + len(junk) :])
    path = tmp_path_factory.mktemp("corrupt") / "t.tsv"
    path.write_bytes(data)
    try:
        rows = read_rows(path)
    except InputError:
        return
    assert (rows.onset >= 0).all()
    assert (rows.offset >= rows.onset).all()
    assert "" not in rows.classes
