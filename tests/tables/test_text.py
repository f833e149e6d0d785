"""Tables of text are read alike by pyarrow, which parses large ones, and cell by cell.

A table is large by a note in its first row: the same with a short one is read cell by cell.
"""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from drawn import found
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft.tables import LIMITS, read_rows

HEAD = ("filename", "onset", "offset", "event_label", "soft_value")
NOTED = LIMITS.reading(columns="ignore=note", label=None, sample_rate=None)
LARGE = "x" * (1 << 20)


def both_ways(folder, head, rows, end="\n"):
    """Return what is found in a table that is large, and in the same one that is small."""
    results = []
    for first in (LARGE, "x"):
        lines = [f"{head}note", *(f"{row}{first if k == 0 else 'x'}" for k, row in enumerate(rows))]
        path = folder / f"{len(first)}.tsv"  # another one: a large file is hashed beside its being read
        path.write_text("".join(line + end for line in lines), newline="")
        results.append(found(path, limits=NOTED))
    return results


NAMES = st.one_of(
    st.text(st.sampled_from('a", \t'), min_size=1, max_size=6),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1),
).filter(lambda text: text.strip() and not text.startswith("\ufeff"))
TIMES = st.integers(0, 10**7)
ROWS = st.lists(
    st.tuples(NAMES, TIMES, TIMES, NAMES, st.floats(0, 1, allow_subnormal=False)), min_size=1, max_size=8
)


@settings(max_examples=25)
@given(rows=ROWS, delimiter=st.sampled_from("\t,;"), quoting=st.sampled_from([0, 1]))
def test_a_table_of_any_names_is_read_as_it_was_written(rows, delimiter, quoting, tmp_path_factory):
    def written(*fields):
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator="", quoting=quoting).writerow((*fields, ""))
        return out.getvalue().removesuffix('""')

    wanted, lines = [], []
    for name, onset, length, label, value in rows:
        times = (onset / 1000, (onset + length) / 1000)
        lines.append(written(name, *times, label, repr(value)))
        wanted.append([name.strip(), *times, label.strip(), value])
    large, small = both_ways(tmp_path_factory.mktemp("t"), written(*HEAD), lines)
    assert small[:2] == ["long", sorted(wanted, key=lambda row: repr(tuple(row)))]
    assert large == small


CELLS = (
    *("0", "1", "0.25", "1e-3", "+1", "-0", ".5", "1.", "1e-400", "1e400", "", " 1", "1_0", "\u0663", "nan"),
    "x",
)
WORDS = ("a", "b", " a", "", "\u0663", "a\x0b", "a\u2028b", "'", '"a"', 'a"', "a\0", "nan")


@settings(max_examples=60)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(WORDS), st.sampled_from(CELLS), st.just("99"), *[st.sampled_from(CELLS)] * 2
        ),
        min_size=1,
        max_size=2,
    ),
    end=st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\n \n", "\n\t\t\t\t\t\n", "\t\n"]),
    wide=st.booleans(),
)
def test_cells_are_read_alike(rows, end, wide, tmp_path_factory):
    head = ("filename", "onset", "offset", *(("dog", "car") if wide else ("event_label", "soft_value")), "")
    lines = ["\t".join((*row, "")) for row in rows]
    large, small = both_ways(tmp_path_factory.mktemp("text"), "\t".join(head), lines, end)
    assert large == small


@pytest.mark.parametrize("end", ["\n", "\r", "\n\r\n"])
def test_tables_that_are_parsed_in_pieces_are_read_whole(end, tmp_path):
    """Rows, names and values are where they belong, whatever ends lines, and a wrong cell is found."""
    path, n, long = tmp_path / "t.tsv", 60, "x" * 100_000  # pieces are of 4 MiB
    step, value = np.arange(n), np.random.default_rng(0).random((2, n)).round(6)
    cells = zip(step, *value.tolist(), strict=True)
    lines = [f"{end}filename\tonset\toffset\tdog\tcar\tnote"]
    lines += [f"recording {k // 9}.wav\t{k}\t{k + 1}\t{dog}\t{car}\t{long}" for k, dog, car in cells]
    path.write_text("".join(line + end for line in lines), newline="")
    rows = read_rows(path, limits=NOTED)
    assert rows.files == tuple(f"recording {k}.wav" for k in range(7))
    assert np.array_equal(rows.file, step // 9) and np.array_equal(rows.block, value)
    assert np.array_equal(rows.onset, step) and np.array_equal(rows.offset, step + 1)
    lines[50], path = lines[50].replace("\t50\t", "\tx\t"), tmp_path / "wrong.tsv"
    path.write_text("".join(line + end for line in lines), newline="")
    assert found(path, limits=NOTED) == [[1 + 51 * max(1, end.count("\n")), 3, "not-a-number"]]


@pytest.mark.parametrize("name", ['b"b', "bb"])
def test_bytes_that_are_not_text_do_not_matter_in_a_column_that_is_not_read(name, tmp_path):
    """A quote within a field has the table read line by line."""
    path, head = tmp_path / "t.tsv", b"filename\tonset\toffset\tevent_label\tnotes\n"
    path.write_bytes(head + b"a\t0\t1\tcar\tcaf\xe9\0\n%b\t2\t3\tcar\tx\n" % name.encode())
    assert read_rows(path).files == ("a", name)
    path.write_bytes(head + b"caf\xe9\t0\t1\tcar\tcaf\xe9\n")
    assert found(path) == [[2, 1, "not-utf-8"]]


def test_a_header_again_is_not_a_row_of_a_large_table_of_labels_of_recordings(tmp_path):
    """These are parsed by pyarrow, which finds nothing odd in it."""
    head, rows = "filename\tevent_label\n", "".join(f"recording {k}.wav\tDog\n" for k in range(60_000))
    (tmp_path / "t.tsv").write_text(f"{head}{rows}{head}b.wav\tCat\n")
    assert found(tmp_path / "t.tsv") == [[60_002, None, "repeated-header"]]
