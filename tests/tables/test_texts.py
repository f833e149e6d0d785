"""Texts of every readable layout, and many unreadable ones: their rows, or the places of their problems.

`readings.tsv` has tables, `documents.tsv` documents of annotation tools. The columns form, columns, label and
rate are the user's options; found is the result, see `drawn.found`. In the column of, `table` names the
recording after the table, and `only` does so since there is only one. pyarrow parses large tables.
"""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from called import call
from drawn import cases, found
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft import InputError, validate
from sedeval_soft.tables import LIMITS, read_rows

DOCUMENTS = cases("documents.tsv")


@pytest.mark.parametrize(
    "case", [*cases("readings.tsv"), *DOCUMENTS], ids=lambda case: f"{case['file']} {case['text'][:40]}"
)
def test_a_text_is_its_rows_or_is_refused_at_its_places(case, tmp_path):
    rate = float(case["rate"]) if case["rate"] else None
    said = LIMITS.reading(columns=case["columns"] or None, label=case["label"] or None, sample_rate=rate)
    limits = replace(said, by_table=case["of"] != "", only=case["of"] == "only")
    path = tmp_path / case["file"]
    path.write_bytes(case["text"].encode("utf-8", "surrogateescape"))
    assert found(path, case["form"], limits) == json.loads(case["found"])


def written(folder: Path, name: str) -> Path:
    """Write the text of a document from `documents.tsv`."""
    (folder / name).write_text(next(case["text"] for case in DOCUMENTS if case["file"] == name))
    return folder / name


@pytest.mark.parametrize("name", ["tiers.TextGrid", "origin.eaf", "series.json", "people.jams"])
def test_assumptions_about_a_document_are_printed_and_refused_if_strict(name, tmp_path):
    path = written(tmp_path, name)
    assumed = read_rows(path).origin.assumed
    for sides, strict in ((("validate", path), 1), ((path, path), 2)):
        done = call(*sides)
        assert assumed and all(text in done.out + done.err for text in assumed), done
        assert call(*sides, "--strict").code == strict


def test_a_textgrid_in_utf_16_is_read_as_in_utf_8(tmp_path):
    text, path = (Path(__file__).parent / "documents" / "short.TextGrid").read_text(), tmp_path / "x"
    accented = text.replace("robin", "\u00e9t\u00e9")
    path.write_text(accented, encoding="utf-8")
    expected = found(path)
    for encoding in ("utf-16-le", "utf-16-be"):
        path.write_bytes(f"\ufeff{accented}".encode(encoding))
        assert found(path) == expected
    assert "\u00e9t\u00e9" in expected[3]


MANY = 2**20
LARGE = {
    "deep.eaf": ("<ANNOTATION_DOCUMENT>" + "<a>" * 100_000, "", "malformed-file"),
    "refs.eaf": ("song", "x" * MANY, "too-many-name_length"),
    "tiers.TextGrid": ("2.5", "1" * 2**16, "malformed-file"),
    "tiers.TextGrid ": ("2.5", "1" * 2**16 + "x", "malformed-file"),
    "tiers.TextGrid  ": ("good", "g" + " " * MANY + "x", "too-many-name_length"),
    "deep.json": ("[" * 2**16 + "]" * 2**16, "", "malformed-file"),
    "deeper.json": ('[{"annotations": [], "data": ' + "[" * 2**16 + "]" * 2**16 + "}]", "", "malformed-file"),
    "series.json": ("car", "x" * MANY, "too-many-name_length"),
    "quotes.jams": ('{"annotations": [NaN, "' + '\\"' * 2**16, "", "malformed-file"),
}
"""Far too large texts, or a text of a document and its replacement; and the code of the refusal."""


@pytest.mark.parametrize("name", LARGE)
def test_a_document_that_is_far_too_large_gets_one_short_error(name, tmp_path):
    old, new, code = LARGE[name]
    path = written(tmp_path, name.strip()) if new else tmp_path / name
    path.write_text(path.read_text().replace(old, new) if new else old)
    with pytest.raises(InputError) as caught:
        read_rows(path)
    assert caught.value.problems[0].code == code
    assert len(str(caught.value)) < 900 and all(str(each).isprintable() for each in caught.value.problems)
    assert [*validate(path).counts] == [code]


# Large and small tables: a long note in the first row makes a table large.

HEAD = ("filename", "onset", "offset", "event_label", "soft_value")
NOTED = LIMITS.reading(columns="ignore=note", label=None, sample_rate=None)


def both_ways(folder, head, rows, end="\n"):
    """Return the results of `drawn.found` for a large table and for the same table without the long note."""
    results = []
    for first in ("x" * MANY, "x"):
        lines = [f"{head}note", *(f"{row}{first if k == 0 else 'x'}" for k, row in enumerate(rows))]
        path = folder / f"{len(first)}.tsv"  # two paths: a thread may still hash the large file
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


@given(rows=ROWS, delimiter=st.sampled_from("\t,;"), quoting=st.sampled_from([0, 1]))
def test_a_table_of_any_names_is_read_as_it_was_written(rows, delimiter, quoting, tmp_path_factory):
    def line(*fields):
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator="", quoting=quoting).writerow((*fields, ""))
        return out.getvalue().removesuffix('""')

    timed = [(name, on / 1000, (on + length) / 1000, *more) for name, on, length, *more in rows]
    large, small = both_ways(tmp_path_factory.mktemp("t"), line(*HEAD), [line(*row) for row in timed])
    wanted = [[name.strip(), on, off, label.strip(), value] for name, on, off, label, value in timed]
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
    """With any line ends, all rows, names and values are right, and a wrong cell is found."""
    right, wrong, note = tmp_path / "t.tsv", tmp_path / "wrong.tsv", "x" * 100_000  # pieces are of 4 MiB
    value = np.random.default_rng(0).random((2, 60)).round(6)
    cells = [(f"recording {k // 9}.wav", k, k + 1, dog, car) for k, (dog, car) in enumerate(value.T.tolist())]
    lines = [f"{end}filename\tonset\toffset\tdog\tcar\tnote"]
    lines += ["\t".join(map(str, (*row, note))) for row in cells]
    right.write_text(end.join([*lines, ""]), newline="")
    wide = sorted([*row[:3], [["car", row[4]], ["dog", row[3]]]] for row in cells)
    assert found(right, limits=NOTED)[:2] == ["wide", wide]
    lines[50] = lines[50].replace("\t50\t", "\tx\t")
    wrong.write_text(end.join([*lines, ""]), newline="")
    assert found(wrong, limits=NOTED) == [[1 + 51 * max(1, end.count("\n")), 3, "not-a-number"]]


@pytest.mark.parametrize("name", ['b"b', "bb"])
def test_bytes_that_are_not_text_do_not_matter_in_a_column_that_is_not_read(name, tmp_path):
    """With a quote within a field, the table is read line by line."""
    path, head = tmp_path / "t.tsv", b"filename\tonset\toffset\tevent_label\tnotes\n"
    path.write_bytes(head + b"a\t0\t1\tcar\tcaf\xe9\0\n%b\t2\t3\tcar\tx\n" % name.encode())
    assert read_rows(path).files == ("a", name)
    path.write_bytes(head + b"caf\xe9\t0\t1\tcar\tcaf\xe9\n")
    assert found(path) == [[2, 1, "not-utf-8"]]


def test_a_header_again_is_not_a_row_of_a_large_table_of_labels_of_recordings(tmp_path):
    """pyarrow parses such tables, and accepts a repeated header."""
    head, rows = "filename\tevent_label\n", "".join(f"recording {k}.wav\tDog\n" for k in range(60_000))
    (tmp_path / "t.tsv").write_text(f"{head}{rows}{head}b.wav\tCat\n")
    assert found(tmp_path / "t.tsv") == [[60_002, None, "repeated-header"]]
