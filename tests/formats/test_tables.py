"""Tables of every form that is read; the fast path and the careful one agree."""

from __future__ import annotations

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft.errors import InputError
from sedeval_soft.tables import read_durations, read_rows, rows_from_data, text_lines
from sedeval_soft.tables.source import open_source
from sedeval_soft.tables.text import read_fast, sniff
from sedeval_soft.tables.text_errors import read_carefully

FACTS = [("a.wav", 0.0, 1.5, "car", 0.25), ("b.wav", 2.0, 3.0, "people talking", 1.0)]


def facts(rows):
    """Return what rows say, in their order."""
    assert not rows.is_wide
    value = np.ones(len(rows)) if rows.value is None else rows.value
    return [
        (rows.files[f], on, off, rows.classes[c], v)
        for f, on, off, c, v in zip(rows.file, rows.onset, rows.offset, rows.label, value, strict=True)
    ]


def write(path, *lines, delimiter="\t", end="\n"):
    path.write_text("".join(delimiter.join(map(str, line)) + end for line in lines), newline="")
    return path


HEADS = [
    ("filename", "onset", "offset", "event_label", "soft_value"),
    ("File", "Start", "End", "Class", "Score"),
    ("audio_filename", "event_onset", "event_offset", "label", "probability"),
    ("FILE NAME", "start time", "end-time", "event", "confidence"),
]


@pytest.mark.parametrize("head", [*HEADS, None])
@pytest.mark.parametrize(("delimiter", "end"), [("\t", "\n"), (",", "\n"), (";", "\r\n")])
def test_long_tables(head, delimiter, end, tmp_path):
    path = write(tmp_path / "t", *([head] if head else []), *FACTS, delimiter=delimiter, end=end)
    assert facts(read_rows(path)) == FACTS


def test_any_order_with_a_header_and_further_columns_ignored(tmp_path):
    path = write(
        tmp_path / "t", ("label", "gain", "offset", "file", "onset"), ("car", "3 dB", 1.5, "a.wav", 0)
    )
    rows = read_rows(path)
    assert facts(rows) == [("a.wav", 0.0, 1.5, "car", 1.0)]
    assert rows.origin.ignored == ("gain",)
    assert not rows.has_values


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0.5\t2\tcar", ("", 0.5, 2.0, "car", 1.0)),
        ("a.wav\t0.5\t2\tcar", ("a.wav", 0.5, 2.0, "car", 1.0)),
        ("0.5\t2\tcar\t0.25", ("", 0.5, 2.0, "car", 0.25)),
        ("a.wav\t0.5\t2\tcar\t0.25", ("a.wav", 0.5, 2.0, "car", 0.25)),
        ("a.wav\tpark\t0.5\t2\tcar", ("a.wav", 0.5, 2.0, "car", 1.0)),
        ("0.5\t2\t7", ("", 0.5, 2.0, "7", 1.0)),
        ("0.5,2,car", ("", 0.5, 2.0, "car", 1.0)),
    ],
)
def test_tables_without_a_header(line, expected, tmp_path):
    path = tmp_path / "t"
    path.write_text(line)
    assert facts(read_rows(path)) == [expected]


def test_bom_gzip_blank_lines_quotes_and_blanks(tmp_path):
    text = '\n\ufefffilename,onset,offset,event_label,soft_value\n\n"a.wav", 0 ,1.5," car ",.25\n'.lstrip(
        "\n"
    )
    path = tmp_path / "t.tsv"
    path.write_bytes(gzip.compress(text.encode()))
    assert facts(read_rows(path)) == [("a.wav", 0.0, 1.5, "car", 0.25)]


def test_wide_tables(tmp_path):
    path = write(
        tmp_path / "t", ("filename", "onset", "offset", "car", "dog"), ("a", 0, 1, 0.5, 1), ("a", 1, 2, 0, 1)
    )
    rows = read_rows(path)
    assert rows.is_wide
    assert rows.classes == ("car", "dog")
    assert [list(column) for column in rows.values] == [[0.5, 0.0], [1.0, 1.0]]


def test_rows_with_only_a_name_declare_files(tmp_path):
    for lines in (
        ["filename\tonset\toffset\tevent_label", "a\t0\t1\tcar", "silent\t\t\t", "quiet"],
        ["a\t0\t1\tcar", "silent\t\t\t", "quiet"],
        ["quiet", "silent\t\t\t", "a\t0\t1\tcar"],
    ):
        path = tmp_path / "t"
        path.write_text("\n".join(lines))
        rows = read_rows(path)
        assert set(rows.files) == {"a", "silent", "quiet"}
        assert len(rows) == 1


@pytest.mark.parametrize(
    "head", ["filename,onset,offset,event_label", "onset,offset,event_label", "filename,onset,offset,car"]
)
def test_lines_of_delimiters_are_blank(head, tmp_path):
    wide, named = head.endswith("car"), head.startswith("file")
    row = ("a," if named else "") + ("0,1,0.5" if wide else "0,1,car")
    blank = "," * head.count(",")
    path = tmp_path / "t.csv"
    path.write_text(f"{blank}\n{head}\n{blank}\n{row}\n{blank}\n{blank}\n")
    source = open_source(path)
    for rows in (read_fast(source, sniff(source)), read_carefully(source, sniff(source))):
        assert rows is not None
        assert (len(rows), rows.classes, rows.files) == (1, ("car",), ("a",) if named else ("",))


def test_a_line_that_is_not_quite_blank_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("filename,onset,offset,event_label,note\na,0,1,car,\n,,,,hm\n")
    with pytest.raises(InputError, match=r"t\.csv:3:1: filename is empty"):
        read_rows(path)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quoted_tables_are_read_fast(end, tmp_path):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator=end).writerows(
        [HEADS[0], *FACTS * 40_000, ("a, b", 1.0, 2.0, 'say "hi", ""', 0.5)]
    )
    path = tmp_path / "t.csv"
    path.write_text(out.getvalue(), newline="")
    source = open_source(path)
    assert len(source.data) > 2 << 20
    fast = read_fast(source, sniff(source))
    assert fast is not None
    assert facts(fast)[-2:] == [FACTS[1], ("a, b", 1.0, 2.0, 'say "hi", ""', 0.5)]
    path.write_text(out.getvalue().replace("people talking", 'people"s', 1), newline="")
    with pytest.raises(InputError, match=r"3:4: .*follows a closing quote"):
        read_rows(path)


def test_quotes_within_a_name_are_characters(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('0,1,5" nail\n0,1,a"b"c\n0,1, "d"\n')
    assert [fact[3] for fact in facts(read_rows(path))] == ['5" nail', 'a"b"c', '"d"']


FIELDS = st.text(st.sampled_from('a", \r\n'), max_size=6)


@given(rows=st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=4), piece=st.integers(1, 8))
def test_plain_quotes_are_those_that_csv_reads_line_by_line(rows, piece):
    table = "\n".join(",".join(row) for row in rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "_PIECE", piece)
        plain = text_lines.quotes_are_plain(table.encode(), ",")
    lines = list(io.StringIO(table, newline=""))
    if plain:
        whole = [row for row in csv.reader(lines, strict=True) if row]
        assert whole == [row for line in lines for row in csv.reader([line], strict=True) if row]
        assert all(text_lines.misquoted(line.rstrip("\r\n"), ",") is None for line in lines)
    assert plain or '"' in table


def test_header_alone_is_an_output_without_events(tmp_path):
    path = tmp_path / "t"
    path.write_text("filename\tonset\toffset\tevent_label\tsoft_value\n")
    rows = read_rows(path)
    assert (len(rows), rows.files, rows.classes) == (0, (), ())
    assert rows.has_values


def test_values_just_beyond_the_interval_are_rounding_and_noted(tmp_path):
    path = write(tmp_path / "t", ("onset", "offset", "car"), (0, 1, "1.000000031316843"), (1, 2, "-1e-9"))
    rows = read_rows(path)
    assert list(rows.values[0]) == [1.0, 0.0]
    assert "2 values" in rows.origin.notes[0]


def test_folder_of_long_tables(tmp_path):
    write(tmp_path / "b.tsv", ("onset", "offset", "event_label"), (0, 1, "dog"))
    (tmp_path / "a.csv").write_text("0,1,car\n2,3,dog\n")
    (tmp_path / "silent.txt").write_text("")
    (tmp_path / "c.tsv.gz").write_bytes(gzip.compress(b"4\t5\tcar\n"))
    (tmp_path / ".hidden.tsv").write_text("junk")
    (tmp_path / "notes.md").write_text("junk")
    rows = read_rows(tmp_path)
    assert set(rows.files) == {"a", "b", "c", "silent"}
    assert sorted(facts(rows)) == [
        *(("a", 0.0, 1.0, "car", 1.0), ("a", 2.0, 3.0, "dog", 1.0)),
        *(("b", 0.0, 1.0, "dog", 1.0), ("c", 4.0, 5.0, "car", 1.0)),
    ]


def test_folder_of_wide_tables_joins_classes(tmp_path):
    write(tmp_path / "a.tsv", ("onset", "offset", "car"), (0, 1, 0.5))
    write(tmp_path / "b.tsv", ("onset", "offset", "dog", "car"), (0, 1, 0.25, 1))
    rows = read_rows(tmp_path)
    assert rows.classes == ("car", "dog")
    assert [list(column) for column in rows.values] == [[0.5, 1.0], [0.0, 0.25]]


def test_folders_that_mix_forms_are_refused(tmp_path):
    write(tmp_path / "a.tsv", ("onset", "offset", "car"), (0, 1, 0.5))
    write(tmp_path / "b.tsv", (0, 1, "dog"))
    with pytest.raises(InputError, match="mixes tables"):
        read_rows(tmp_path)


def test_folders_with_two_tables_of_one_name_are_refused(tmp_path):
    for name in ("a.tsv", "a.csv"):
        write(tmp_path / name, (0, 1, "dog"))
    with pytest.raises(InputError, match="both of recording 'a'"):
        read_rows(tmp_path)


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1).filter(
    lambda text: text.strip() and not text.startswith("\ufeff")
)
ROWS = st.lists(
    st.tuples(
        NAMES, st.integers(0, 10**7), st.integers(0, 10**7), NAMES, st.floats(0, 1, allow_subnormal=False)
    ),
    min_size=1,
    max_size=8,
)


@given(rows=ROWS, delimiter=st.sampled_from("\t,;"), header=st.booleans())
def test_fast_and_careful_paths_read_the_same(rows, delimiter, header, tmp_path_factory):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(HEADS[0])
    wanted = []
    for name, onset, length, label, value in rows:
        times = (onset / 1000, (onset + length) / 1000)
        writer.writerow((name, *times, label, repr(value)))
        wanted.append((name.strip(), *times, label.strip(), value))
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text(out.getvalue(), newline="")
    source = open_source(path)
    sniffed = sniff(source)
    careful = read_carefully(source, sniffed)
    assert facts(careful) == wanted
    fast = read_fast(source, sniffed)
    if fast is not None:
        assert facts(fast) == wanted
        assert (fast.files, fast.classes) == (careful.files, careful.classes)


def test_durations(tmp_path):
    path = tmp_path / "d.tsv"
    path.write_text("filename\tduration\na\t10.5\nb\t3\na\t10.5\n")
    assert read_durations(path) == {"a": 10.5, "b": 3.0}
    path.write_text("a,10.5\nb,3\n")
    assert read_durations(path) == {"a": 10.5, "b": 3.0}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\t1\na\t2\n",
        "a\tx\nb\t1\n",
        "a\t1\nb\t-1\n",
        "a\t1\n\t2\n",
        "a\nb\n",
        'a\t"1\n',
        '"a\t1\nb\t2"\n',
    ],
)
def test_bad_durations_are_refused(text, tmp_path):
    path = tmp_path / "d.tsv"
    path.write_text(text)
    with pytest.raises(InputError):
        read_durations(path)


@pytest.mark.parametrize("seconds", ["1e300", "1e12", "1e999", "31536001"])
def test_durations_that_no_recording_has_are_refused_with_their_place(seconds, tmp_path):
    path = tmp_path / "d.tsv"
    path.write_text(f"filename\tduration\na\t31536000\nb\t{seconds}\n")
    with pytest.raises(InputError, match=rf"d\.tsv:3:2: duration {seconds} is over 31536000 s"):
        read_durations(path)


def frame():
    return {
        "filename": ["a.wav", "b.wav"],
        "onset": [0.0, 2.0],
        "offset": [1.5, 3.0],
        "event_label": ["car", "people talking"],
        "soft_value": [0.25, 1.0],
    }


def test_data_frames_of_any_library():
    import pandas as pd
    import pyarrow as pa

    for data in (
        frame(),
        pd.DataFrame(frame()),
        pa.table(frame()),
        pd.DataFrame(frame()).astype({"filename": "category"}),
    ):
        assert facts(rows_from_data(data, "system")) == FACTS


def test_wide_data_frames():
    rows = rows_from_data({"onset": [0, 1], "offset": [1, 2], "car": [0.5, 1]}, "system")
    assert rows.is_wide
    assert list(rows.values[0]) == [0.5, 1.0]


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("soft_value", [0.5, 1.5], "row 1: soft_value is"),
        ("onset", [-1.0, 2.0], "row 0: onset is"),
        ("offset", [1.0, 1.0], "row 1: offset is"),
        ("offset", [1.0, float("nan")], "row 1: offset is"),
        ("event_label", ["car", None], "row 1: event_label is missing"),
        ("event_label", ["car", ""], "is empty"),
        ("onset", ["x", "y"], "does not hold numbers"),
    ],
)
def test_bad_data_frames_name_row_and_column(column, values, words):
    with pytest.raises(InputError, match=words):
        rows_from_data(frame() | {column: values}, "system")


@pytest.mark.parametrize("data", [3, "text", [1, 2], {"a": [1]}, {}])
def test_what_is_no_table_is_refused(data):
    with pytest.raises(InputError):
        rows_from_data(data, "system")
