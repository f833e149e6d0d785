"""Tables of text of every layout that is read; parsing at once and reading cell by cell agree."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft.errors import InputError
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.columnar import parsed_columns
from sedeval_soft.tables.limits import LIMITS
from sedeval_soft.tables.rows import Findings, exact_columns, find_wrong
from sedeval_soft.tables.source import open_source
from sedeval_soft.tables.text import _is_odd, origin_of, sniff

HEAD = ("filename", "onset", "offset", "event_label", "soft_value")


def facts(rows):
    """Return what rows say, in their order."""
    assert not rows.has_steps
    value = np.ones(len(rows)) if rows.value is None else rows.value
    return [
        (rows.files[f], on, off, rows.classes[c], v)
        for f, on, off, c, v in zip(rows.file, rows.onset, rows.offset, rows.label, value, strict=True)
    ]


def read_exactly(source):
    """Return what is read of a table cell by cell; raises InputError with what is wrong."""
    layout, found = sniff(source), Findings()
    columns = exact_columns(source, layout, found)
    find_wrong(columns, source.name, LIMITS, found)
    found.check()
    return columns.rows(origin_of(source, layout))


def read_at_once(source):
    """Return what pyarrow reads of a table, None where it must be read exactly."""
    layout = sniff(source)
    columns = None if _is_odd(source, layout) else parsed_columns(source, layout, LIMITS)
    return None if columns is None else columns.rows(origin_of(source, layout))


def both_ways(path):
    """Return what is read of a table at once, None where it cannot be, and exactly."""
    source = open_source(path)
    return read_at_once(source), read_exactly(source)


def alike(rows, others):
    """Return whether two tables say the same, to the last bit."""
    columns = [
        (
            each.files,
            each.classes,
            *(column.tobytes() for column in each.spans()[:3]),
            *map(bytes, each.values),
        )
        for each in (rows, others)
    ]
    return columns[0] == columns[1] and (rows.has_steps or np.array_equal(rows.row_label, others.row_label))


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a text or bytes to a file, and returns its path."""

    def write(content):
        path = tmp_path / "t.tsv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_rows_with_only_a_name_declare_files(written):
    for lines in (
        ["filename\tonset\toffset\tevent_label", "a\t0\t1\tcar", "silent\t\t\t", "quiet"],
        ["a\t0\t1\tcar", "silent\t\t\t", "quiet"],
        ["quiet", "silent\t\t\t", "a\t0\t1\tcar"],
    ):
        rows = both_ways(written("\n".join(lines)))[1]
        assert set(rows.files) == {"a", "silent", "quiet"}
        assert len(rows) == 1
    for rows in both_ways(written("a\t0\t1\tcar\nsilent\t\t\t\n")):
        assert rows is not None
        assert (set(rows.files), len(rows)) == ({"a", "silent"}, 1)


@pytest.mark.parametrize(
    "head", ["filename,onset,offset,event_label", "onset,offset,event_label", "filename,onset,offset,car"]
)
def test_lines_of_delimiters_are_blank(head, written):
    wide, named = head.endswith("car"), head.startswith("file")
    row = ("a," if named else "") + ("0,1,0.5" if wide else "0,1,car")
    blank = "," * head.count(",")
    for rows in both_ways(written(f"{blank}\n{head}\n{blank}\n{row}\n{blank}\n{blank}\n")):
        assert rows is not None
        assert (len(rows), rows.classes, rows.files) == (1, ("car",), ("a",) if named else ("",))


NAMES = st.one_of(
    st.text(st.sampled_from('a", \t'), min_size=1, max_size=6),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1),
).filter(lambda text: text.strip() and not text.startswith("\ufeff"))
TIMES = st.integers(0, 10**7)
ROWS = st.lists(
    st.tuples(NAMES, TIMES, TIMES, NAMES, st.floats(0, 1, allow_subnormal=False)), min_size=1, max_size=8
)


@settings(max_examples=60)
@given(rows=ROWS, delimiter=st.sampled_from("\t,;"), quoting=st.sampled_from([0, 1]))
def test_tables_are_read_alike_at_once_and_line_by_line(rows, delimiter, quoting, tmp_path_factory):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=quoting)
    writer.writerow(HEAD)
    wanted = []
    for name, onset, length, label, value in rows:
        times = (onset / 1000, (onset + length) / 1000)
        writer.writerow((name, *times, label, repr(value)))
        wanted.append((name.strip(), *times, label.strip(), value))
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text(out.getvalue(), newline="")
    fast, careful = both_ways(path)
    assert facts(careful) == wanted
    if fast is not None:
        assert facts(fast) == wanted
        assert (fast.files, fast.classes) == (careful.files, careful.classes)


CELLS = (
    "0",
    "1",
    "0.25",
    "1e-3",
    "+1",
    "-0",
    ".5",
    "1.",
    "1e-400",
    "1e400",
    "",
    " 1",
    "1_0",
    "\u0663",
    "nan",
    "x",
)
WORDS = ("a", "b", " a", "", "\u0663", "a\x0b", "a\u2028b", "'", '"a"', 'a"', "a\0", "nan")


@settings(max_examples=300)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(WORDS), st.sampled_from(CELLS), st.just("99"), *[st.sampled_from(CELLS)] * 2
        ),
        min_size=1,
        max_size=2,
    ),
    end=st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\n \n", "\n\t\t\t\t\n", "\t\n"]),
    wide=st.booleans(),
)
def test_cells_are_read_exactly_as_pyarrow_parses_them(rows, end, wide, tmp_path_factory):
    head = ("filename", "onset", "offset", *(("dog", "car") if wide else ("event_label", "soft_value")))
    path = tmp_path_factory.mktemp("text") / "t.tsv"
    path.write_text("\t".join(head) + "\n" + "".join("\t".join(row) + end for row in rows), newline="")
    source = open_source(path)
    try:
        wanted = read_exactly(source)
    except InputError:
        wanted = None
    fast = read_at_once(source)
    if fast is not None:
        assert wanted is not None and alike(fast, wanted)


@pytest.mark.parametrize("end", ["\n", "\r", "\n\r\n"])
def test_tables_that_are_parsed_in_pieces_are_read_whole(end, tmp_path):
    """Rows, names and values are where they belong, whatever ends lines, and each wrong cell is seen."""
    path, n = tmp_path / "t.tsv", 130_000
    step, value = np.arange(n), np.random.default_rng(0).random((2, n)).round(6)
    head = end + "filename\tonset\toffset\tdog\tcar" + end
    cells = zip(step, value[0].tolist(), value[1].tolist(), strict=True)
    lines = [f"recording {k // 1000}.wav\t{k}\t{k + 1}\t{dog}\t{car}{end}" for k, dog, car in cells]
    path.write_text(head + "".join(lines), newline="")
    assert path.stat().st_size > 5 << 20
    rows = read_rows(path)
    assert rows.files == tuple(f"recording {k}.wav" for k in range(n // 1000))
    assert np.array_equal(rows.file, step // 1000)
    assert np.array_equal(rows.onset, step) and np.array_equal(rows.offset, step + 1)
    assert np.array_equal(rows.block, value)
    lines[100_000] = lines[100_000].replace("\t100001\t", "\tx\t")
    path.write_text(head + "".join(lines), newline="")
    source = open_source(path)
    assert read_at_once(source) is None


def test_what_is_no_text_in_a_column_that_is_read_past_does_not_matter(tmp_path):
    """However rows are read: a quote within a field has the table read line by line."""
    path, head = tmp_path / "t.tsv", b"filename\tonset\toffset\tevent_label\tnotes\n"
    for name in ('b"b', "bb"):
        path.write_bytes(head + b"a\t0\t1\tcar\tcaf\xe9\0\n%b\t2\t3\tcar\tx\n" % name.encode())
        rows = read_rows(path)
        assert rows is not None and rows.files == ("a", name)
    path.write_bytes(head + b"caf\xe9\t0\t1\tcar\tcaf\xe9\n")
    with pytest.raises(InputError, match="byte 0xe9 at position 4 of the line is not UTF-8"):
        read_rows(path)


@pytest.mark.parametrize("n", [1, 60_000])
def test_a_header_again_is_not_a_row_of_a_table_of_labels_of_recordings(n, written):
    """Large tables are parsed by pyarrow, which finds nothing odd in it."""
    head = "filename\tevent_label\n"
    rows = "".join(f"recording {k}.wav\tDog\n" for k in range(n))
    path = written(f"{head}{rows}{head}b.wav\tCat\n")
    with pytest.raises(InputError) as raised:
        read_rows(path)
    assert [(p.line, p.code) for p in raised.value.problems] == [(n + 2, "repeated-header")]
    assert len(read_rows(written(f"{head}{rows}b.wav\tCat\n"))) == n + 1
