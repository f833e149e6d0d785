"""`validate` beyond the bad inputs: agreement with scoring, places, corrected copies, and the command."""

import gzip
import io
import re
from pathlib import Path

import pandas as pd
import pytest
from called import call as called
from drawn import lay_out
from hypothesis import given
from hypothesis import strategies as st
from tables import columns_of

from sedeval_soft import InputError, SettingsError, validate
from sedeval_soft.report import render_validation
from sedeval_soft.tables import read_rows

HEAD = "filename\tonset\toffset\tevent_label\tsoft_value\n"
EVENTS = "filename\tonset\toffset\tevent_label\n"
GOOD = "a.wav\t0.0\t1.0\tcar\t0.5\n"
REFERENCE = HEAD + GOOD + "a.wav\t3\t4\tstreet_dog\t1\n"
TABLES = {
    "clean": HEAD + GOOD,
    "noted": EVENTS + "a\t0\t1\tcar\na\t1\t2\tcar\n",
    "warned": HEAD + GOOD + GOOD,
    "wrong": HEAD + GOOD + "a.wav\t3\t2\tcar\t0.5\n",
}


@pytest.fixture(autouse=True)
def here(tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("validate"))


def told(text, reference=None, **options):
    """Write a text as a table to the folder of the test, and validate it against another table."""
    lay_out(Path(), {"t.tsv": text, "r.tsv": reference or ""})
    return validate("t.tsv", reference and "r.tsv", **options)


def spans_by_brute_force(rows):
    """Return the indices of repeated rows, and how many other rows begin before an earlier row ends."""
    again = [i for i, row in enumerate(rows) if row in rows[:i]]
    kept = {*range(len(rows))} - {*again}
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
def test_rows_that_are_there_twice_or_overlap_are_those_that_a_slow_look_finds(rows):
    found = told(EVENTS + "".join(f"{f}\t{on}\t{off}\t{c}\n" for f, c, on, off in rows))
    again, overlapping = spans_by_brute_force(rows)
    assert found.counts.get("duplicate-row", 0) == len(again)
    assert found.counts.get("overlapping-rows", 0) == overlapping
    repeated = [(p.line, int(p.message.split()[-1])) for p in found.problems if p.code == "duplicate-row"]
    assert repeated == [(i + 2, rows.index(rows[i]) + 2) for i in again]


def test_problems_are_told_up_to_a_number_and_all_counted():
    found = told(HEAD + "a.wav\t2\t1\tcar\t1\n" * 500 + "a.wav\t1\t2\t\t1\n" + GOOD * 9, max_problems=10)
    assert found.counts == {"offset-before-onset": 500, "empty-name": 1, "duplicate-row": 8}
    # Frequent problems do not hide rare ones.
    rare = [problem.code for problem in found.problems].count("empty-name")
    assert (len(found.problems), rare, found.more, found.count("error")) == (10, 1, 499, 501)
    text, github = (render_validation(found, form).splitlines() for form in ("text", "github"))
    assert (len(text), len(github)) == (12, 11)
    for line in (text[10], github[-1]):
        assert "8 duplicate-row" in line and "491 offset-before-onset" in line


STEPS = [f"a.wav\t{i}\t{i + 1}\tcar\t0.5\n" for i in range(9)]
ONE = "1\t9\tcar\n"


@pytest.mark.parametrize(
    ("text", "reference", "durations", "counts"),
    [
        (HEAD + GOOD.replace("a.wav", "audio/a"), HEAD + GOOD, None, {}),
        # A table without names of files belongs to the only recording.
        (ONE, EVENTS + "a.wav\t1\t8\tcar\n", None, {"after-reference": 1}),
        (ONE, EVENTS + "a.wav\t1\t8\tcar\n", {"a": 8.5}, {"after-end": 1}),
        (ONE, None, {"a.wav": 9.0}, {}),
        # A recording and a class may have the same name.
        (EVENTS + "a\t0\t1\tcar\ncar\t0\t1\ta\n", EVENTS + "a\t0\t1\tcar\ncar\t0\t1\ta\n", None, {}),
        (ONE, None, {"a.wav": 8.0}, {"after-end": 1}),
        (ONE, None, {"a": 8.0, "b": 9.0}, {"missing-filename-column": 1}),
        # Repeated time steps are still time steps, not events.
        (HEAD + "".join(STEPS + STEPS), None, None, {"duplicate-row": 9}),
        # A name does not count as missing if its line is wrong.
        (HEAD + "a.wav\tx\t2\tcar\t1\n", HEAD + GOOD, None, {"not-a-number": 1}),
        # Hints are left out if they would take long.
        (
            HEAD + "".join(GOOD.replace("a.wav", f"b{i}.wav") for i in range(1500)),
            HEAD + "".join(GOOD.replace("a.wav", f"a{i}.wav") for i in range(1500)),
            None,
            {"unknown-file": 1500, "missing-file": 1500},
        ),
        (gzip.compress(TABLES["warned"].encode(), mtime=0), None, None, {"duplicate-row": 1}),
        # If a list was cut into windows, thousands of rows touch; this gives one note.
        (EVENTS + "".join(f"a\t{i}\t{i + 1}\tcar\n" for i in range(500)), None, None, {"touching-rows": 1}),
        (
            EVENTS + "a.wav\t0\t1\tcar\nb.mp3\tx\t1\tdog\n",
            EVENTS + "a.wav\t0\t1\tcar\nb.wav\t0\t1\tdog\nc.wav\t0\t1\tcat\n",
            None,
            {"not-a-number": 1, "missing-class": 1, "missing-file": 1},
        ),
    ],
)
def test_counts_of_tables(text, reference, durations, counts):
    found = told(text, reference, durations=durations)
    assert found.counts == counts
    assert len(found.problems) == min(sum(counts.values()), 100)


@pytest.mark.parametrize(
    "wrong", [{"max_problems": 0}, {"max_problems": True}, {"preset": "dcase"},
              {"preset": "dcase2019-task4", "classes": ["a"]}, {"fix": "link.tsv"}, {"system": "no"},
              {"system": "no", "fix": "out.tsv"}, {"reference": "no"}, {"durations": "no"}]
)  # fmt: skip
def test_arguments_are_checked_and_nothing_is_written(wrong):
    texts = {"t.tsv": "junk\n", "out.tsv": "before"}
    lay_out(Path(), texts)
    Path("link.tsv").symlink_to("t.tsv")
    with pytest.raises((SettingsError, InputError)):
        validate(**{"system": "t.tsv", **wrong})
    assert not validate("t.tsv", fix="out.tsv").ok
    assert {name: Path(name).read_text() for name in texts} == texts


# Corrected copies.


SPELT = HEAD + GOOD + "a.wav\t2\t3\tCar\t1\na.wav\t3\t4\tstreet  Dog\t1\na.wav\t4\t5\tcat\t1\n"


@pytest.mark.parametrize(
    ("data", "copy", "mends", "options"),
    [
        (HEAD + GOOD, None, [], {}),
        (HEAD + GOOD[:-1], HEAD + GOOD, [], {}),
        ("\ufeff" + HEAD + GOOD, HEAD + GOOD, [], {}),
        ((HEAD + GOOD).replace("\n", "\r\n"), HEAD + GOOD, [], {}),
        ((HEAD + GOOD).replace("\n", "\r"), HEAD + GOOD, [], {}),
        (gzip.compress((HEAD + GOOD).encode(), mtime=0), HEAD + GOOD, [], {}),
        (HEAD + "a.wav \t 0,0\t1.0\tcar\t0.5\n", HEAD + GOOD, [1], {}),
        (HEAD + "a.wav\t0,5\t1,25\tcar\t0.5\n", HEAD + "a.wav\t0.5\t1.25\tcar\t0.5\n",
         [2], {}),
        ("0;1;c\n1;1,5;a, b\n2,25;3;car\n", "0;1;c\n1;1.5;a, b\n2.25;3;car\n",
         [2], {}),
        # Quotes are kept, and added if needed.
        ('onset;offset;label\n0;1,5;"a; ""b"""\n1;2;"c"\n', 'onset;offset;label\n0;1.5;"a; ""b"""\n1;2;"c"\n',
         [1], {}),
        ('onset,offset,label\n"1,5","2,000",car\n', "onset,offset,label\n1.5,2.000,car\n",
         [2], {}),
        ("onset;offset;label\n1.234;2.5;a\n,5;3;b\n", "onset;offset;label\n1.234;2.5;a\n.5;3;b\n",
         [1], {}),  # 2.5 shows that points are decimal points
        (HEAD + GOOD + "\n" + GOOD + HEAD + "a.wav\t0\t1\tcar\t.5\n" + "b.wav\n",
         HEAD + GOOD + "\na.wav\t0\t1\tcar\t.5\nb.wav\n", [2], {}),
        # Classes get the spelling of the reference or of `classes`.
        (SPELT, None, [], {}),
        (SPELT, SPELT.replace("Car", "car").replace("street  Dog", "street_dog"), [1, 1],
         {"reference": REFERENCE}),
        ("onset,offset,Car,Street dog\n0,1,0.5,0\n", "onset,offset,car,street_dog\n0,1,0.5,0\n",
         [1, 1],
         {"classes": ["car", "street_dog"]}),
        ("onset,offset,Car,Dog\n0,1,0.5,0\n", None, [], {"classes": ["car", "CAR", "x"]}),  # which of two?
        ("onset,offset,Car,car\n0,1,0.5,0\n", None, [], {"classes": ["car"]}),  # both would become one column
        # Unsafe fixes are not made.
        (HEAD + "a.wav\t1\t2\tcar\t85\na.wav\t2\t3\tcar\t40\n", None, [], {}),  # percent: is 1 one, or all?
        ("filename;onset;offset;event_label\na.wav;1,250;2,500;car\n", None,
         [0], {}),  # do commas divide thousands?
        ("filename;onset;offset;event_label;value\na.wav;1.234;2.345;car;0,5\n", None,
         [0], {}),  # or points beside commas?
        (EVENTS + "a\t1.250\t2.500\tcar\n", None, [], {}),  # points without commas divide nothing
        ("filename,onset,offset,event_label\na.wav,1,5,2,0,car\n", None, [], {}),  # commas of both kinds
        (EVENTS + "a\t2\t1\tcar\n", None, [], {}),  # one row alone
        (EVENTS + "a\t2\t1\tcar\na\t3\t4\tdog\n", None, [], {}),  # not all are swapped
        (HEAD + GOOD + "a.wav\t1.0\t2.0\tcar\t0.5\n", None, [], {}),  # touching rows
        (HEAD + GOOD + 'a.wav\t0\t1\t"car\t1\n', None, [], {}),
        ('onset,offset,label\n0,1,"a, ""b"""\n\n2,1,car\n', None, [], {}),
    ],
)  # fmt: skip
def test_safe_mends_are_made_and_others_are_not(data, copy, mends, options):
    found = told(data, fix="out.tsv", **options)
    texts = {path.name: path.read_bytes() for path in Path().iterdir()}
    before, after = (each if isinstance(each, bytes) else each.encode() for each in (data, copy or data))
    assert (texts["t.tsv"], texts["out.tsv"], len(texts)) == (before, after, 3)
    # Each kind of fix has the number of fixed cells or rows, 0 if it was not made.
    numbers = [re.search(r"\((\d+)\)$|^(\d+) ", each) for each in found.mends]
    assert [int(number[1] or number[2]) if number else 0 for number in numbers] == mends
    assert found.source == "out.tsv"
    if copy:
        assert found.ok and {*found.counts} <= {"unknown-class", "duplicate-row", "after-reference"}
        read_rows("out.tsv")


def test_rows_of_parquet_are_on_no_line_and_columns_are_noted_unless_the_user_says_so():
    pd.DataFrame(columns_of([("a", 0.0, 1.0, "x")] * 2)).assign(comment="c").to_parquet("t.parquet")
    found = validate("t.parquet")
    assert [(p.code, p.line) for p in found.problems] == [("duplicate-row", None), ("ignored-column", None)]
    assert found.counts == validate("t.parquet", columns={"ignore": "comment"}).counts | {"ignored-column": 1}


def test_standard_input_is_read_and_copied():
    for data, source, fix, counts in (
        (gzip.compress(TABLES["warned"].encode()), "-", None, {"duplicate-row": 1}),
        (TABLES["warned"].encode(), "out.tsv", "out.tsv", {}),
        (b"junk\n", "-", "out.tsv", {"not-a-table": 1}),
    ):
        found = validate("-", stdin=io.BytesIO(data), fix=fix)
        assert (found.source, found.counts) == (source, counts)
    assert Path("out.tsv").read_text() == HEAD + GOOD


# The command.


def call(*arguments):
    return called("validate", *arguments)


@pytest.fixture
def tables(here):
    lay_out(Path(), {f"{name}.tsv": text for name, text in TABLES.items()})


@pytest.mark.parametrize(
    ("name", "plain", "strict"), [("clean", 0, 0), ("noted", 0, 0), ("warned", 0, 1), ("wrong", 1, 1)]
)
def test_exit_codes_of_all_forms(name, plain, strict, tables):
    for form in ("text", "json", "sarif", "github"):
        done = call(f"{name}.tsv", "--format", form)
        assert (done.code, done.out) == (plain, render_validation(validate(f"{name}.tsv"), form))
    level = {"noted": "notice", "warned": "warning", "wrong": "error"}.get(name)
    assert done.out.startswith(f"::{level} file={name}.tsv,line=3,") if level else done.out == ""
    # With -q, text leaves out tables that pass; documents and files stay complete.
    for options, failed in (((), plain), (("--strict",), strict)):
        done, other = call(f"{name}.tsv", "clean.tsv", "-q", *options), call(f"{name}.tsv", *options)
        assert (done.code, done.err, done.out) == (failed, "", other.out * failed)
    assert call(f"{name}.tsv", "-q", "--format", "json").document["errors"] == plain
    assert call(f"{name}.tsv", "-q", "-o", "report.txt").out == "" != Path("report.txt").read_text()


def test_several_tables_are_looked_at_one_by_one_as_compilers_write_it(tables):
    done = call("clean.tsv", "wrong.tsv")
    assert (done.code, done.out) == (1, call("clean.tsv").out + call("wrong.tsv").out)
    assert re.search(r"^wrong\.tsv:3:3: error offset-before-onset: ", done.out, re.MULTILINE)
    assert call("absent.tsv", "-q").code == 2


def test_settings_files_and_presets_say_which_classes_there_can_be(tables):
    for text, code, said in (
        ("classes: [car, dog]", 0, "'dog'"), ("threshold: 0.5", 0, "clean.tsv: "), ("classes: 7", 2, ""),
        ("map: {car: bus}\nclasses: [bus]", 0, "no problems"),
    ):  # fmt: skip
        Path("s.yaml").write_text(text)
        done = call("clean.tsv", "--config", "s.yaml")
        assert done.code == code and said in done.out
    Path("d.tsv").write_text("filename\tduration\na.wav\t0.5\n")
    for options, said in (("--durations d.tsv", "after-end"), ("--preset dcase2019-task4", "unknown-class")):
        assert f"warning {said}: " in call("clean.tsv", *options.split()).out


@pytest.mark.parametrize(
    ("rows", "reference", "options", "counts", "placed"),
    [
        ("a\t0\t1\tbma\na\t3\t4\tBPD\na\t5\t6\txx\n", None, {"preset": "biodcase2025-task2"},
         {"class-spelling": 1, "unknown-class": 1, "assumed": 1, "missing-class": 2},
         {"class-spelling": (3, 4), "unknown-class": (4, 4)}),
        # Rows of two labels of one class can overlap; a label that only the reference has is not missing.
        ("a\t0\t2\tbark\na\t1\t3\thowl\n", EVENTS + "a\t0\t3\twoof\n",
         {"map": {"system:bark": "dog", "system:howl": "dog", "reference:woof": "dog"}},
         {"overlapping-rows": 1}, {}),
    ],
)  # fmt: skip
def test_labels_stand_for_the_classes_that_a_preset_or_a_map_says(rows, reference, options, counts, placed):
    found = told(EVENTS + rows, reference, **options)
    places = {p.code: (p.line, p.column) for p in found.problems}
    assert (found.counts, places) == (counts, places | placed)


@pytest.mark.parametrize("name", ["::error file=x::y", "##[command]", "x\n::error::y"])
def test_a_path_is_no_command(name):
    Path(name).write_text(TABLES["wrong"])
    assert re.fullmatch(r"(?!::|##).*\n(?!::|##).*\n", call("--", name).out)
    (line,) = call("--format", "github", "--", name).out.splitlines()
    escaped = name.replace(":", "%3A").replace("\n", "%0A")
    assert line.startswith(f"::error file={escaped},line=3,title=")
