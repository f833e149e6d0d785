"""Inputs that are more than they may be: each is refused with the option that raises the limit."""

from __future__ import annotations

import gzip
import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedeval_soft
from sedeval_soft.errors import InputError, SettingsError
from sedeval_soft.tables import read_durations, read_partition, read_rows
from sedeval_soft.tables.compressed import decompress
from sedeval_soft.tables.event_table import LONGEST
from sedeval_soft.tables.limits import NAMES, Limits, size_of
from sedeval_soft.tables.source import open_source

HEAD = "filename\tonset\toffset\tevent_label\n"


def table(n: int, files: int = 1, classes: int = 1) -> str:
    """Return a table of n events in so many files and classes."""
    return HEAD + "".join(f"f{i % files}\t{i}\t{i + 1}\tc{i % classes}\n" for i in range(n))


def wide(n: int, classes: int) -> str:
    """Return a wide table of n rows and so many classes."""
    head = "\t".join(["onset", "offset", *(f"c{i}" for i in range(classes))])
    return f"{head}\n" + "".join(f"{i}\t{i + 1}" + "\t0.5" * classes + "\n" for i in range(n))


LONG_LINE = HEAD + "a\t0\t1\t" + "x" * 3000 + "\n"

AT_AND_OVER = {
    "size": (1000, "x" * 10, lambda n: (HEAD + "a\t0\t1\t" + "c" * n)[:n]),
    "rows": (150, "lines or more|rows", table),
    "classes": (5, "classes", lambda n: table(60, classes=n)),
    "classes of a wide table": (5, "classes", lambda n: wide(2, n)),
    "columns of a wide table": (300, "columns|classes", lambda n: wide(2, n if n == 300 else n + 200)),
    "files": (7, "files", lambda n: table(60, files=n)),
    "duration": (100, r"over 100 s \(0\.00115741 days", lambda n: HEAD + f"a\t0\t{n}\tcar\n"),
    "name_length": (30, "class with a name of 31 characters", lambda n: HEAD + "a\t0\t1\t" + "c" * n + "\n"),
    "name_length of files": (30, "file with a name of 31", lambda n: HEAD + "f" * n + "\t0\t1\tcar\n"),
    "line_length": (60, "line of more than 60 bytes", lambda n: HEAD + "a\t0\t1\t" + "c" * (n - 6) + "\n"),
}  # fmt: skip
"""For each limit a number, what is said of more, and a table that has just so many."""


@pytest.mark.parametrize("what", AT_AND_OVER)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("way", ["file", "standard input"])
def test_a_table_at_a_limit_is_read_and_one_over_it_is_refused(what, packed, way, tmp_path):
    name = what.split()[0] if what.split()[0] in NAMES else "classes"
    most, said, make = AT_AND_OVER[what]
    limits = Limits.of([f"{name}={most}"])

    def read(n: int) -> object:
        data = make(n).encode()
        data = gzip.compress(data) if packed else data
        if way == "standard input":
            return read_rows("-", stdin=io.BytesIO(data), limits=limits)
        path = tmp_path / "t.tsv"
        path.write_bytes(data)
        return read_rows(path, limits=limits)

    if name == "size":
        with pytest.raises(InputError, match=r"size=(NUMBER|\d+) raises this"):
            read(most + 1)
        assert len(read(most)) == 1
        return
    assert len(read(most)) > 0
    with pytest.raises(InputError, match=rf"({said}).*--limit {name}=\S+ raises this"):
        read(most + 101 if name == "rows" else most + 1)


@pytest.mark.parametrize("what", ["classes", "files", "name_length"])
def test_the_limit_that_is_named_is_enough(what, tmp_path):
    _, _, make = AT_AND_OVER[what]
    path = tmp_path / "t.tsv"
    path.write_text(make(20))
    with pytest.raises(InputError) as caught:
        read_rows(path, limits=Limits.of([f"{what}=3"]))
    raised = re.search(rf"--limit ({what}=\d+) raises", str(caught.value))
    assert len(read_rows(path, limits=Limits.of([raised[1]]))) > 0
    assert caught.value.problems[0].code == f"too-many-{what}"


def test_rows_are_counted_exactly_where_there_are_few(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text(table(11))
    assert len(read_rows(path, limits=Limits(rows=11))) == 11
    with pytest.raises(
        InputError, match=r"has 11 rows; expected 10 or fewer \(--limit rows=11 raises this\)"
    ):
        read_rows(path, limits=Limits(rows=10))


def test_the_place_of_a_long_line_is_told(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text(table(500) + "f0\t0\t1\t" + "x" * 3000 + "\n" + "f0\t0\t1\tc\n" * 500)
    with pytest.raises(InputError, match=r"t\.tsv:502: has a line of more than 2000 bytes"):
        read_rows(path, limits=Limits(line_length=2000, name_length=10_000))
    assert len(read_rows(path, limits=Limits(line_length=3010, name_length=10_000))) == 1001


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@given(st.lists(st.integers(0, 30), min_size=1, max_size=30), st.integers(8, 30))
def test_lines_are_measured_whatever_ends_them(end, lengths, most):
    from sedeval_soft.tables.text_lines import check_lines

    data = end.join("x" * length for length in lengths).encode()
    source = open_source("-", io.BytesIO(data))
    longest = max(len(line) for line in data.splitlines()) if data.splitlines() else 0
    if longest > most:
        with pytest.raises(InputError, match="has a line of more than"):
            check_lines(source, Limits(line_length=most))
    elif longest + len(end) <= most:
        check_lines(source, Limits(line_length=most))


def test_members_of_a_folder_and_their_sums(tmp_path):
    for i in range(4):
        (tmp_path / f"{i}.tsv").write_text("0\t1\tcar\n1\t2\tdog\n")
    assert len(read_rows(tmp_path, limits=Limits(members=4, rows=8, files=4, classes=2, size=64))) == 8
    for name, most in (("members", 3), ("rows", 7), ("files", 3), ("classes", 1), ("size", 63)):
        with pytest.raises(InputError, match=rf"--limit {name}=\S+ raises this"):
            read_rows(tmp_path, limits=Limits.of([f"{name}={most}"]))


def test_a_gzipped_file_of_many_members_is_one(tmp_path):
    parts = [b"0\t1\tcar\n" * 1000, b"", bytes(range(256)) * 5000]
    packed = b"".join(map(gzip.compress, parts))
    assert decompress("x", packed) == b"".join(parts)
    assert decompress("x", packed + b"\0" * 200_000) == b"".join(parts)
    with pytest.raises(InputError, match="ratio"):
        decompress("x", gzip.compress(b"") * 3 + gzip.compress(bytes(20_000_000)))
    with pytest.raises(InputError, match="more than 1279999 bytes"):
        decompress("x", packed, Limits(size=1_279_999))


@given(st.binary(max_size=3000), st.integers(0, 9), st.integers(1, 3), st.data())
def test_gzip_reads_back_and_what_is_cut_short_or_followed_is_refused(content, level, times, data):
    packed = gzip.compress(content, level)
    assert decompress("x", packed * times) == content * times
    with pytest.raises(InputError, match="cannot be decompressed"):
        decompress("x", packed[: data.draw(st.integers(2, len(packed) - 1))])
    with pytest.raises(InputError, match="cannot be decompressed"):
        decompress("x", packed + b"more")


@pytest.mark.parametrize("size", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_gzip_of_whole_pieces(size):
    content = np.random.default_rng(0).integers(0, 4, size, dtype=np.uint8).tobytes()
    assert decompress("x", gzip.compress(content)) == content


def test_a_short_table_of_zeros_is_no_bomb(tmp_path):
    path = tmp_path / "t.tsv.gz"
    path.write_bytes(gzip.compress(wide(50, 1000).encode()))
    assert len(read_rows(path)) == 50


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom"])
def test_a_device_without_end_is_refused(path):
    with pytest.raises(InputError, match="has more than 3145728 bytes"):
        read_rows(path, limits=Limits.of(["size=3M"]))


def test_tables_of_files_have_limits_too(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("filename\tduration\na\t10\nb\t20\n")
    assert read_durations(path, Limits(files=2, duration=20)) == {"a": 10.0, "b": 20.0}
    for limits in (Limits(files=1), Limits(duration=19), Limits(size=10), Limits(line_length=10)):
        with pytest.raises(InputError, match="raises this"):
            read_durations(path, limits)
    path.write_text("filename\tfold\nabc\t1\nb\t2\n")
    for limits in (Limits(files=1), Limits(name_length=2), Limits(size=10)):
        with pytest.raises(InputError, match="raises this"):
            read_partition(path, limits=limits)


DATA = {"filename": ["a", "bb"], "onset": [0.0, 1.0], "offset": [1.0, 200.0], "event_label": ["car", "dog"]}


@pytest.mark.parametrize(
    "limits",
    [Limits(rows=1), Limits(files=1), Limits(classes=1), Limits(name_length=2), Limits(duration=199)],
)
def test_the_library_takes_limits_for_paths_and_for_data(limits, tmp_path):
    path = tmp_path / "t.tsv"
    rows = zip(*DATA.values(), strict=True)
    path.write_text(HEAD + "".join("\t".join(map(str, row)) + "\n" for row in rows))
    for given_ in (DATA, str(path)):
        assert sedeval_soft.evaluate(given_, given_)["event.hard.f1.micro"] == 1.0
        for call in (
            lambda g: sedeval_soft.evaluate(g, g, limits=limits),
            lambda g: sedeval_soft.threshold_curves(g, g, limits=limits),
            lambda g: sedeval_soft.compare(g, {"a": g, "b": g}, limits=limits),
            lambda g: sedeval_soft.mean_of_runs(g, {"a": g, "b": g}, limits=limits),
            lambda g: sedeval_soft.Evaluator(limits=limits).update(g, g),
        ):
            with pytest.raises(InputError, match="raises this"):
                call(given_)
    if limits.duration == 199:
        with pytest.raises(InputError, match="raises this"):
            sedeval_soft.evaluate(DATA, DATA, durations={"a": 200.0}, limits=limits)


def test_tallies_have_limits(tmp_path):
    path = tmp_path / "a.tally"
    sedeval_soft.Evaluator().update(DATA, DATA).save(path)
    assert sedeval_soft.Evaluator.load(path, limits=Limits(files=2, classes=2)).compute()
    for limits in (Limits(files=1), Limits(classes=1), Limits(size=1000)):
        with pytest.raises(InputError, match="raises this"):
            sedeval_soft.Evaluator.load(path, limits=limits)


def test_limits_of_texts():
    found = Limits.of(["rows=1e6", "size=2G", "duration=1.5e8", "line-length=32M", "ratio = 7", "rows=5"])
    assert found == Limits(rows=5, size=2 << 30, duration=1.5e8, line_length=32 << 20, ratio=7)
    assert Limits.of([]) == Limits()


@pytest.mark.parametrize(
    "text",
    ["rows", "rows=", "rows=-1", "rows=0", "rows=nan", "rows=inf", "rows=1_0", "row=1", "=3", "", "size=4X",
     "rows=1e99", "duration=1e10", "duration=0", "size=9999999999T", "rows=\u0661"],
)  # fmt: skip
def test_what_is_no_limit_is_refused(text):
    with pytest.raises(SettingsError, match="limit"):
        Limits.of([text])


def test_all_wrong_limits_are_told_at_once():
    with pytest.raises(SettingsError) as caught:
        Limits.of(["row=1", "size=x", "files=3"])
    assert len(str(caught.value).splitlines()) == 2


def test_no_limit_of_durations_is_beyond_what_ticks_can_sum():
    assert Limits.of([f"duration={LONGEST:g}"]).duration == LONGEST
    assert Limits().duration < LONGEST


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("4G", 4 << 30), ("1.5k", 1536), ("2 MiB", 2 << 20), ("3mb", 3 << 20), ("1T", 1 << 40),
     ("", None), ("G", None), ("-1", None), ("1P", None), ("1e3", None), ("nan", None), ("1 0", None)],
)  # fmt: skip
def test_sizes(text, size):
    assert size_of(text) == size
