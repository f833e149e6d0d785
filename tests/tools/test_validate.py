"""What validate says beyond the folder of bad inputs: agreement with scoring, places, numbers, arguments."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from make_bad_inputs import EVENTS, GOOD, HEAD, REFERENCE, WIDE_REFERENCE

import sedeval_soft
from sedeval_soft import InputError, SettingsError, validate
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.problem_codes import RULES
from sedeval_soft.tools.validate import VALIDATION_FORMATS, render_validation


def codes(found):
    return [problem.code for problem in found.problems]


def written(path, text):
    path.write_text(text, newline="")
    return path


JUNK = st.one_of(
    st.binary(min_size=1, max_size=6), st.sampled_from([b"\t", b"\n", b",", b'"', b"\r", b"nan"])
)


@settings(max_examples=120)
@given(position=st.integers(0, 250), junk=JUNK, cut=st.booleans(), wide=st.booleans())
def test_errors_are_found_where_scoring_refuses_and_nowhere_else(position, junk, cut, wide, tmp_path_factory):
    text = "onset\toffset\tcar\tdog\n" + "0\t1\t0.5\t0.25\n" * 8 if wide else HEAD + GOOD * 8
    data = text.encode()
    data = data[:position] + junk + (b"" if cut else data[position + len(junk) :])
    path = tmp_path_factory.mktemp("corrupt") / "t.tsv"
    path.write_bytes(data)
    found = validate(path)
    assert all(problem.code in RULES for problem in found.problems)
    assert found.more == sum(found.counts.values()) - len(found.problems)
    refused = ()
    try:
        read_rows(path)
    except InputError as error:
        refused = error.problems
    assert found.ok == (not refused), found.problems
    assert {problem.code for problem in refused} <= {*found.counts}


@settings(max_examples=60)
@given(data=st.data(), folder=st.just("f"))
def test_whatever_stands_in_a_file_every_form_can_tell_it(data, folder, tmp_path_factory):
    clean = data.draw(
        st.sampled_from([REFERENCE, WIDE_REFERENCE, "0;1;car\n2;3;dog\n", EVENTS + "a\t0\t1\tb\n"])
    )
    text = bytearray(clean.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        text[at : at + data.draw(st.integers(0, 5))] = data.draw(JUNK)
    here = tmp_path_factory.mktemp(folder)
    (here / "t.tsv").write_bytes(text)
    (here / "r.tsv").write_text(REFERENCE)
    for fix in (None, here / "out.tsv"):
        found = validate(here / "t.tsv", here / "r.tsv", durations={"a.wav": 9.0}, fix=fix)
        for form in VALIDATION_FORMATS:
            told = render_validation(found, form)
            assert form == "json" or all(line.isprintable() for line in told.splitlines())
    assert (here / "t.tsv").read_bytes() == text


LINES = st.lists(
    st.one_of(
        st.sampled_from(["\n", ",,,\n", "quiet.wav\n", "still.wav,,,\n", '"loud, wav",,,\n']),
        st.tuples(st.sampled_from(['a, "b"', "car", "5' nail", " x "]), st.integers(2, 99)),
    ),
    max_size=12,
)


@given(lines=LINES, header=st.booleans(), end=st.sampled_from(["\n", "\r\n"]))
def test_lines_of_rows_are_those_of_the_text(lines, header, end, tmp_path_factory):
    """All rows but the first have no length: each is told, by its line."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    out.write("filename,onset,offset,event_label\n" if header else "")
    writer.writerow(["a.wav", 0, 1, "car"])
    expected = []
    for line in lines:
        if isinstance(line, str):
            out.write(line)
        else:
            expected.append(out.getvalue().count("\n") + 1)
            writer.writerow(["a.wav", line[1], line[1], line[0]])
    path = written(tmp_path_factory.mktemp("t") / "t.csv", out.getvalue().replace("\n", end))
    told = [problem.line for problem in validate(path).problems if problem.code == "zero-length"]
    assert told == expected


def spans_by_brute_force(rows):
    """Return rows without those that stand there already, and which of these begin before another ends."""
    seen, again, kept = set(), [], []
    for i, row in enumerate(rows):
        again += [i] if row in seen else []
        kept += [] if row in seen else [i]
        seen.add(row)
    return again, sum(
        any(
            rows[j][:2] == rows[i][:2] and (rows[j][2], rows[j][3]) <= (rows[i][2], rows[i][3]) and j != i
            and rows[j][3] > rows[i][2]
            for j in kept
        )
        for i in kept
    )  # fmt: skip


ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.integers(0, 6), st.integers(1, 4)).map(
        lambda r: (r[0], r[1], r[2], r[2] + r[3])
    ),
    min_size=1,
    max_size=10,
)


@given(rows=ROWS)
def test_rows_that_are_there_twice_or_overlap_are_those_that_a_slow_look_finds(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("t") / "t.tsv"
    written(path, EVENTS + "".join(f"{f}\t{on}\t{off}\t{c}\n" for f, c, on, off in rows))
    found = validate(path)
    again, overlapping = spans_by_brute_force(rows)
    assert found.counts.get("duplicate-row", 0) == len(again)
    assert found.counts.get("overlapping-rows", 0) == overlapping
    lines = [p.line for p in found.problems if p.code == "duplicate-row"]
    assert lines == [i + 2 for i in again]


def test_problems_are_told_up_to_a_number_and_all_counted(tmp_path):
    path = written(tmp_path / "t.tsv", HEAD + "a.wav\t2\t1\tcar\t1\n" * 500 + "a.wav\t1\t2\t\t1\n" + GOOD * 9)
    found = validate(path, max_problems=10)
    assert len(found.problems) == 10
    assert found.counts == {"offset-before-onset": 500, "empty-name": 1, "duplicate-row": 8}
    assert found.more == 499
    assert codes(found).count("empty-name") == 1  # what is rare is not hidden by what is frequent
    assert found.count("error") == 501
    assert found.count("warning") == 8


def test_names_on_lines_that_cannot_be_scored_are_not_missing(tmp_path):
    reference = written(tmp_path / "r.tsv", HEAD + GOOD)
    path = written(tmp_path / "t.tsv", HEAD + "a.wav\tx\t2\tcar\t1\n")
    assert validate(path, reference).counts == {"not-a-number": 1}
    path.write_text(HEAD + GOOD + "\nb.wav\tx\t2\tcow\t1\n")
    found = validate(path, reference)
    assert [(p.code, p.line, p.column) for p in found.problems] == [
        ("unknown-file", 4, 1), ("not-a-number", 4, 2), ("unknown-class", 4, 4),
    ]  # fmt: skip


ONE = "1\t9\tcar\n"
STEPS = [f"a.wav\t{i}\t{i + 1}\tcar\t0.5\n" for i in range(9)]


@pytest.mark.parametrize(
    ("text", "reference", "durations", "counts"),
    [
        (HEAD + GOOD.replace("a.wav", "audio/a"), HEAD + GOOD, None, {}),
        # A table without names is of the only recording.
        (ONE, EVENTS + "a.wav\t1\t8\tcar\n", None, {}),
        (ONE, EVENTS + "a.wav\t1\t8\tcar\n", {"a": 8.5}, {"after-end": 1}),
        (ONE, None, {"a.wav": 9.0}, {}),
        (ONE, None, {"a.wav": 8.0}, {"after-end": 1}),
        (ONE, None, {"a": 8.0, "b": 9.0}, {"missing-filename-column": 1}),
        # Time steps of which some stand there twice are not events.
        (HEAD + "".join(STEPS + STEPS), None, None, {"duplicate-row": 9, "values-all-equal": 1}),
    ],
)
def test_counts_of_tables(text, reference, durations, counts, tmp_path):
    path = written(tmp_path / "t.tsv", text)
    held = reference and written(tmp_path / "r.tsv", reference)
    assert validate(path, held, durations=durations).counts == counts


def test_folders_are_looked_at_table_by_table(tmp_path):
    reference = written(tmp_path / "r.tsv", EVENTS + "a\t0\t1\tcar\nquiet\t0\t1\tcar\nb.wav\t0\t1\tdog\n")
    folder = tmp_path / "system"
    folder.mkdir()
    written(folder / "quiet.txt", "")
    written(folder / "a.txt", "0\t1\tcar\n\n2\t3\tcar\n2\t3\tcar\n")
    (folder / "b.txt.gz").write_bytes(gzip.compress(b"0\t1\tdog\n"))
    found = validate(folder, reference)
    assert found.form == "folder of 3 tables, long table without header, tab"
    assert (found.rows, found.files, found.classes) == (4, 3, 2)
    (told,) = found.problems
    assert (told.source, told.line, told.code) == (str(folder / "a.txt"), 4, "duplicate-row")
    written(folder / "z.txt", "")
    assert validate(folder, reference).counts == {"duplicate-row": 1, "unknown-file": 1}
    (folder / "a.txt").unlink()
    assert validate(folder, reference).counts["missing-file"] == 1


def test_gzip_and_streams(tmp_path):
    data = gzip.compress((HEAD + GOOD + GOOD).encode())
    (tmp_path / "t.tsv.gz").write_bytes(data)
    assert validate(tmp_path / "t.tsv.gz").counts == {"duplicate-row": 1}
    found = validate("-", stdin=io.BytesIO(data))
    assert (found.source, found.counts) == ("-", {"duplicate-row": 1})


def test_hints_are_not_sought_where_that_would_take_long(tmp_path):
    reference = written(
        tmp_path / "r.tsv", HEAD + "".join(GOOD.replace("a.wav", f"a{i}.wav") for i in range(1500))
    )
    path = written(
        tmp_path / "t.tsv", HEAD + "".join(GOOD.replace("a.wav", f"b{i}.wav") for i in range(1500))
    )
    found = validate(path, reference)
    assert found.counts == {"unknown-file": 1500, "missing-file": 1500, "values-all-equal": 1}
    assert len(found.problems) == 100


def test_arguments_are_checked(tmp_path):
    path = written(tmp_path / "t.tsv", HEAD + GOOD)
    both = {"preset": "dcase2019-task4", "classes": ["a"]}
    for wrong in ({"max_problems": 0}, {"max_problems": True}, {"preset": "dcase"}, both):
        with pytest.raises(SettingsError):
            validate(path, **wrong)
    for missing in ({"reference": tmp_path / "no"}, {"durations": tmp_path / "no"}):
        with pytest.raises(InputError):
            validate(path, **missing)
    with pytest.raises(InputError):
        validate(tmp_path / "no")
    assert isinstance(validate(path), sedeval_soft.Validation)


@given(fields=st.lists(st.text(st.sampled_from('ab,"'), max_size=4), min_size=1, max_size=4))
@settings(max_examples=50)
def test_characters_of_fields_hold_what_was_written(fields, tmp_path_factory):
    """Fields of words where numbers belong, each of which is told."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(fields)
    head = ",".join(f"c{i}" for i in range(len(fields)))
    text = f"0,1,{out.getvalue()}"
    found = validate(written(tmp_path_factory.mktemp("t") / "t.csv", f"onset,offset,{head}\n{text}\n"))
    pieces = [text[begin - 1 : end - 1] for begin, end in map(found.span, found.problems)]
    assert ",".join(pieces) == out.getvalue()
    assert [next(csv.reader([piece + ","]))[0] for piece in pieces] == fields


def test_overlaps_name_the_row_that_goes_on_and_its_times(tmp_path):
    path = written(tmp_path / "t.tsv", EVENTS + "a\t0\t5\tcar\nb\t1\t2\tcar\na\t3\t4\tcar\n")
    (found,) = validate(path).problems
    assert (found.line, found.message) == (4, "overlaps line 2 of the same file and class: 0 to 5 s")
