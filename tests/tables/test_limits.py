"""Inputs above a limit are refused with a code, for each limit that the user may raise."""

import gzip
import io
import json
import re
import shutil

import numpy as np
import pyarrow as pa
import pytest
from drawn import lay_out, tarred, written, zipped
from parted import count_in_parts
from tables import long_rows

from sedeval_soft import (
    Evaluator,
    InputError,
    Limits,
    Settings,
    SettingsError,
    compare,
    convert,
    evaluate,
    mean_of_runs,
    threshold_curves,
    validate,
)
from sedeval_soft.tables import read_rows

HEAD = "filename\tonset\toffset\tevent_label\n"


def table(n: int, files: int = 1, classes: int = 1) -> str:
    """Return a table of n events in some files and classes."""
    return HEAD + "".join(f"f{i % files}\t{i}\t{i + 1}\tc{i % classes}\n" for i in range(n))


def wide(n: int, classes: int) -> str:
    """Return a wide table of n rows and some classes."""
    head = "onset\toffset" + "".join(f"\tc{i}" for i in range(classes))
    return "\n".join([head, *(f"{i}\t{i + 1}" + "\t0.5" * classes for i in range(n)), ""])


def check_over(name, read):
    """Check that a call is refused because of a limit; return the message."""
    with pytest.raises(InputError) as caught:
        read()
    # In tables without lines, a wrong time has the code of the form.
    assert name == "duration" or caught.value.problems[0].code == f"too-many-{name}"
    assert f"--limit {name}=" in str(caught.value)
    return str(caught.value)


AT_AND_OVER = {
    "rows": (11, table),
    "classes": (5, lambda n: table(60, classes=n)),
    "classes of a wide table": (5, lambda n: wide(2, n)),
    "classes, of far too many columns": (300, lambda n: wide(2, n if n == 300 else n + 200)),
    "files": (7, lambda n: table(60, files=n)),
    "duration": (100, lambda n: HEAD + f"a\t0\t{n}\tcar\n"),
    "name_length": (30, lambda n: HEAD + "a\t0\t1\t" + "c" * n + "\n"),
    "name_length of files": (30, lambda n: HEAD + "f" * n + "\t0\t1\tcar\n"),
    "line_length": (60, lambda n: HEAD + "a\t0\t1\t" + "c" * (n - 6) + "\n"),
}
"""For each limit a number, and a function that builds a table of this size."""


def read(how, text, path, limits):
    """Read a text as a file, from standard input or packed."""
    if how == "standard input":
        return read_rows("-", stdin=io.BytesIO(text.encode()), limits=limits)
    path.write_bytes(gzip.compress(text.encode()) if how == "packed" else text.encode())
    return read_rows(path, limits=limits)


@pytest.mark.parametrize("how", ["a file", "standard input", "packed"])
@pytest.mark.parametrize("case", AT_AND_OVER)
def test_a_table_at_a_limit_is_read_and_one_over_it_is_refused(case, how, tmp_path):
    """The message names a limit that admits the table."""
    name, (most, make), path = re.match(r"\w+", case)[0], AT_AND_OVER[case], tmp_path / "t.tsv"
    limits = Limits.of([f"{name}={most}"])
    assert len(read(how, make(most), path, limits)) > 0
    message = check_over(name, lambda: read(how, make(most + 1), path, limits))
    if raised := re.search(rf"--limit ({name}=\d+)", message):
        assert name == "line_length" or len(read(how, make(most + 1), path, Limits.of([raised[1]]))) > 0


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_place_of_a_long_line_is_found_whatever_ends_it(end, tmp_path):
    path = tmp_path / "t.tsv"
    text = table(500) + "f0\t0\t1\t" + "x" * 3000 + "\n" + "f0\t0\t1\tc\n" * 500
    path.write_text(text.replace("\n", end), newline="")
    with pytest.raises(InputError) as caught:
        read_rows(path, limits=Limits(line_length=2000, name_length=10_000))
    assert [(p.line, p.code) for p in caught.value.problems] == [(502, "too-many-line_length")]
    assert len(read_rows(path, limits=Limits(line_length=3010, name_length=10_000))) == 1001


def test_members_of_a_folder_an_archive_or_shards_and_their_sums(tmp_path):
    members = {f"{i}.tsv": "0\t1\tcar\n1\t2\tdog\n" for i in range(4)}
    folder, archive = lay_out(tmp_path / "folder", members), tmp_path / "x.tar"
    archive.write_bytes(tarred({name: text.encode() for name, text in members.items()}))
    enough = {"members": 4, "rows": 8, "files": 4, "classes": 2}
    for path in (folder, f"{folder}/*.tsv", archive, shutil.make_archive(str(folder), "zip", folder)):
        assert len(read_rows(path, limits=Limits(**enough))) == 8
        for name, most in (enough | {"size": 64}).items():
            check_over(name, lambda: read_rows(path, limits=Limits(**{name: most - 1})))  # noqa: B023
    assert len(read_rows(folder, limits=Limits(size=64))) == 8


def test_bytes_are_counted_as_they_come_whatever_a_file_says_of_itself(tmp_path):
    path, text = tmp_path / "t.tsv", table(500).encode()
    for data in (text, gzip.compress(text), gzip.compress(text[:50]) + gzip.compress(text[50:])):
        path.write_bytes(data)
        assert len(read_rows(path, limits=Limits(size=len(text)))) == 500
        check_over("size", lambda: read_rows(path, limits=Limits(size=len(text) - 1)))
    check_over("size", lambda: read_rows("/dev/zero", limits=Limits.of(["size=3M"])))
    path.write_bytes(gzip.compress(wide(50, 1000).encode()))
    assert len(read_rows(path)) == 50, "a short table of zeros is no bomb"


NOTHING = bytes(18 << 20)
BOMBS = {
    "gzip of several": lambda: gzip.compress(b"") * 3 + gzip.compress(NOTHING),
    "gzip in zip": lambda: zipped({"a.tsv": gzip.compress(NOTHING)}),
    "bz2": lambda: tarred({"a.tsv": NOTHING}, "w:bz2"),
    "far more rows than bytes": lambda: gzip.compress((HEAD + "a\t0\t1\tx\n" * 500_001).encode()),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_known_long_before_its_end(name, tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(BOMBS[name]())
    # The size would reveal it only at its end.
    check_over("ratio", lambda: read_rows(path, limits=Limits(size=(18 << 20) - 1)))
    if "rows" in name:
        path = path.rename(f"{path}.gz")
        sides = str(path), str(path)
        check_over("ratio", lambda: count_in_parts(*sides, Settings(), block=1 << 20))
        assert [*validate(path).counts] == ["too-many-ratio"]


DATA = {"filename": ["a", "bb"], "onset": [0.0, 1.0], "offset": [1.0, 200.0], "event_label": ["car", "dog"]}
OVER = {"rows": 1, "files": 1, "classes": 1, "name_length": 2, "duration": 199}


def test_tables_of_files_have_limits_too(tmp_path):
    path, rows = tmp_path / "t.tsv", long_rows([("b", 0.0, 1.0, "car")])
    wrong = {"files": 1, "name_length": 2, "size": 10, "line_length": 10}
    for how, column, limited in (("durations", "duration", wrong | {"duration": 199}), ("by", "fold", wrong)):
        path.write_text(f"filename\t{column}\nabc\t200\nb\t200\n")
        for name, most in limited.items():
            given = {"limits": Limits(**{name: most}), how: path}
            check_over(name, lambda: evaluate(rows, rows, **given))  # noqa: B023


@pytest.mark.parametrize("name", OVER)
@pytest.mark.parametrize(
    "function",
    [
        lambda g, limits: evaluate(g, g, limits=limits),
        lambda g, limits: threshold_curves(g, g, limits=limits),
        lambda g, limits: compare(g, {"a": g, "b": g}, limits=limits),
        lambda g, limits: mean_of_runs(g, {"a": g, "b": g}, limits=limits),
        lambda g, limits: Evaluator(limits=limits).update(g, g),
    ],
)
def test_data_in_memory_have_limits_in_every_function(function, name):
    check_over(name, lambda: function(DATA, Limits(**{name: OVER[name]})))


def test_tallies_have_limits(tmp_path):
    path = tmp_path / "a.tally"
    Evaluator().update(DATA, DATA).save(path)
    assert Evaluator.load(path, limits=Limits(files=2, classes=2)).compute()
    for name, most in (("files", 1), ("classes", 1), ("size", 1000)):
        check_over(name, lambda: Evaluator.load(path, limits=Limits(**{name: most})))  # noqa: B023


def test_limits_are_read_from_texts():
    limits = Limits.of(["rows=1e6", "size=2G", "duration=1.5e8", "line-length=32M", "ratio = 7", "rows=5"])
    assert limits == Limits(rows=5, size=2 << 30, duration=1.5e8, line_length=32 << 20, ratio=7)
    assert Limits.of([]) == Limits() and Limits().duration < Limits.of(["duration=1e9"]).duration
    sizes = {"1": 1, "4G": 4 << 30, "1.5k": 1536, "2 MiB": 2 << 20, "3mb": 3 << 20, "1T": 1 << 40}
    assert {text: Limits.of([f"size={text}"]).size for text in sizes} == sizes
    with pytest.raises(SettingsError) as caught:
        Limits.of(["row=1", "size=x", "files=3"])
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    "text",
    [
        *("rows", "rows=", "rows=-1", "rows=0", "rows=nan", "rows=inf", "rows=1_0", "row=1", "=3", ""),
        *("size=4X", "rows=1e99", "duration=1e10", "duration=0", "size=9999999999T", "rows=\u0661"),
        *("size=", "size=G", "size=-1", "size=1P", "size=1e3", "size=nan", "size=1 0"),
    ],
)
def test_texts_that_are_not_limits_are_refused(text):
    with pytest.raises(SettingsError):
        Limits.of([text])


TWO = {"onset": [0.0, 1.0], "offset": [1.0, 2.0], "event_label": ["car", "dog"]}


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream", "jsonl", "rttm", "jams"])
def test_tables_of_every_form_have_limits(form, tmp_path):
    path = tmp_path / "x"
    if form == "stream":
        written(form, pa.table(TWO), path)
    elif form == "jams":
        events = [{"time": k, "duration": 1, "value": label} for k, label in enumerate(TWO["event_label"])]
        path.write_text(json.dumps({"annotations": [{"namespace": "segment_open", "data": events}]}))
    else:
        convert(TWO, path, to=form)
    enough = {"rows": 2, "classes": 2, "name_length": 3, "duration": 2}
    assert len(read_rows(path, limits=Limits(**enough))) == 2
    for name, most in enough.items():
        limits = Limits(**enough | {name: most - (0.5 if name == "duration" else 1)})
        assert f"--limit {name}={most} " in check_over(name, lambda: read_rows(path, limits=limits))  # noqa: B023


def test_columns_that_unfold_to_much_are_refused(tmp_path):
    zeros = pa.table(dict.fromkeys(("onset", "offset", "car"), np.zeros(1 << 20)))
    path = written("parquet", zeros, tmp_path / "x.parquet")
    assert path.stat().st_size < 1 << 17
    check_over("size", lambda: read_rows(path, limits=Limits(size=1 << 20)))
