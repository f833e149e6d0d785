"""Inputs that are more than they may be: each is refused with the option that raises the limit."""

from __future__ import annotations

import gzip
import io
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parted import count_in_parts
from tables import long_rows
from test_samples import tarred, zipped

import sedeval_soft
from sedeval_soft import InputError, Limits, SettingsError
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import LONGEST
from sedeval_soft.tables.file_groups import read_durations, read_partition
from sedeval_soft.tables.fit import fit
from sedeval_soft.tables.forms import form_of
from sedeval_soft.tables.limits import NAMES, size_of

HEAD = "filename\tonset\toffset\tevent_label\n"
OVER = "raises this"


def table(n: int, files: int = 1, classes: int = 1) -> str:
    """Return a table of n events in so many files and classes."""
    return HEAD + "".join(f"f{i % files}\t{i}\t{i + 1}\tc{i % classes}\n" for i in range(n))


def wide(n: int, classes: int) -> str:
    """Return a wide table of n rows and so many classes."""
    head = "\t".join(["onset", "offset", *(f"c{i}" for i in range(classes))])
    return f"{head}\n" + "".join(f"{i}\t{i + 1}" + "\t0.5" * classes + "\n" for i in range(n))


AT_AND_OVER = {
    "rows": (11, "has 12 rows; expected 11 or fewer", table),
    "classes": (5, "classes", lambda n: table(60, classes=n)),
    "classes of a wide table": (5, "classes", lambda n: wide(2, n)),
    "columns of a wide table": (300, "columns|classes", lambda n: wide(2, n if n == 300 else n + 200)),
    "files": (7, "files", lambda n: table(60, files=n)),
    "duration": (100, r"over 100 s \(0\.00115741 days", lambda n: HEAD + f"a\t0\t{n}\tcar\n"),
    "name_length": (30, "class with a name of 31 characters", lambda n: HEAD + "a\t0\t1\t" + "c" * n + "\n"),
    "name_length of files": (30, "file with a name of 31", lambda n: HEAD + "f" * n + "\t0\t1\tcar\n"),
    "line_length": (60, "line of more than 60 bytes", lambda n: HEAD + "a\t0\t1\t" + "c" * (n - 6) + "\n"),
}
"""For each limit a number, what is said of more, and a table that has just so many."""


@pytest.mark.parametrize("what", AT_AND_OVER)
def test_a_table_at_a_limit_is_read_and_one_over_it_is_refused(what, tmp_path):
    name = what.split()[0] if what.split()[0] in NAMES else "classes"
    most, words, make = AT_AND_OVER[what]
    limits = Limits.of([f"{name}={most}"])
    path = tmp_path / "t.tsv"

    def ways(data: bytes, limits: Limits):
        path.write_bytes(data)
        yield lambda: read_rows(path, limits=limits)
        yield lambda: read_rows("-", stdin=io.BytesIO(data), limits=limits)
        path.write_bytes(gzip.compress(data))
        yield lambda: read_rows(path, limits=limits)

    for read in ways(make(most).encode(), limits):
        assert len(read()) > 0
    over = make(most + 1).encode()
    for read in ways(over, limits):
        with pytest.raises(InputError, match=rf"({words}).*--limit {name}=\S+ raises this") as caught:
            read()
        code = "time-too-long" if name == "duration" else f"too-many-{name}"
        assert caught.value.problems[0].code == code
    raised = re.search(rf"--limit ({name}=\d+) raises", str(caught.value))
    if raised:
        assert len(read_rows(path, limits=Limits.of([raised[1]]))) > 0, "the limit that is named is enough"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_place_of_a_long_line_is_told_whatever_ends_it(end, tmp_path):
    path = tmp_path / "t.tsv"
    text = table(500) + "f0\t0\t1\t" + "x" * 3000 + "\n" + "f0\t0\t1\tc\n" * 500
    path.write_text(text.replace("\n", end), newline="")
    with pytest.raises(InputError, match=r"t\.tsv:502: has a line of more than 2000 bytes"):
        read_rows(path, limits=Limits(line_length=2000, name_length=10_000))
    assert len(read_rows(path, limits=Limits(line_length=3010, name_length=10_000))) == 1001


def test_members_of_a_folder_an_archive_or_shards_and_their_sums(tmp_path):
    members = {f"{i}.tsv": b"0\t1\tcar\n1\t2\tdog\n" for i in range(4)}
    shards = f"{tmp_path / 'folder'}/*.tsv"
    (tmp_path / "folder").mkdir()
    for name, data in members.items():
        (tmp_path / "folder" / name).write_bytes(data)
    (tmp_path / "x.zip").write_bytes(zipped(members))
    (tmp_path / "x.tar").write_bytes(tarred(members))
    for path in (shards, *tmp_path.iterdir()):
        size = path.stat().st_size if path != shards and path.is_file() else 64
        assert len(read_rows(path, limits=Limits(members=4, rows=8, files=4, classes=2, size=size))) == 8
        for name, most in (("members", 3), ("rows", 7), ("files", 3), ("classes", 1), ("size", 63)):
            with pytest.raises(InputError, match=rf"--limit {name}=\S+ raises this"):
                read_rows(path, limits=Limits.of([f"{name}={most}"]))


def test_bytes_are_counted_as_they_come_whatever_a_file_says_of_itself(tmp_path):
    path = tmp_path / "t.tsv"
    text = table(5000).encode()
    for data in (text, gzip.compress(text), gzip.compress(text[:50]) + gzip.compress(text[50:])):
        path.write_bytes(data)
        assert len(read_rows(path, limits=Limits(size=len(text)))) == 5000
        with pytest.raises(InputError, match=rf"more than {len(text) - 1} bytes|has {len(text)} bytes"):
            read_rows(path, limits=Limits(size=len(text) - 1))
    path.write_bytes(gzip.compress(b"") * 3 + gzip.compress(bytes(20_000_000)))
    with pytest.raises(InputError, match="has more than 64 bytes for each compressed one.*--limit ratio"):
        read_rows(path)
    path.write_bytes(gzip.compress(wide(50, 1000).encode()))
    assert len(read_rows(path)) == 50, "a short table of zeros is no bomb"
    for device in ("/dev/zero", "/dev/urandom"):
        with pytest.raises(InputError, match="has more than 3145728 bytes"):
            read_rows(device, limits=Limits.of(["size=3M"]))


@pytest.mark.parametrize("read", [read_durations, read_partition])
def test_tables_of_files_have_limits_too(read, tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text(f"filename\t{'fold' if read is read_partition else 'duration'}\nabc\t10\nb\t20\n")
    read(path, limits=Limits(files=2, duration=20))
    over = [Limits(files=1), Limits(name_length=2), Limits(size=10), Limits(line_length=10)]
    for limits in (*over, *[Limits(duration=19)] * (read is read_durations)):
        with pytest.raises(InputError, match=OVER):
            read(path, limits=limits)


DATA = {"filename": ["a", "bb"], "onset": [0.0, 1.0], "offset": [1.0, 200.0], "event_label": ["car", "dog"]}


@pytest.mark.parametrize(
    "limits",
    [Limits(rows=1), Limits(files=1), Limits(classes=1), Limits(name_length=2), Limits(duration=199)],
)
def test_the_library_takes_limits_for_paths_and_for_data(limits, tmp_path):
    path = tmp_path / "t.tsv"
    rows = zip(*DATA.values(), strict=True)
    path.write_text(HEAD + "".join("\t".join(map(str, row)) + "\n" for row in rows))
    for side in (DATA, str(path)):
        for call in (
            lambda g: sedeval_soft.evaluate(g, g, limits=limits),
            lambda g: sedeval_soft.threshold_curves(g, g, limits=limits),
            lambda g: sedeval_soft.compare(g, {"a": g, "b": g}, limits=limits),
            lambda g: sedeval_soft.mean_of_runs(g, {"a": g, "b": g}, limits=limits),
            lambda g: sedeval_soft.Evaluator(limits=limits).update(g, g),
        ):
            with pytest.raises(InputError, match=OVER):
                call(side)
    if limits.duration == 199:
        with pytest.raises(InputError, match=OVER):
            sedeval_soft.evaluate(DATA, DATA, durations={"a": 200.0}, limits=limits)


def test_tallies_have_limits(tmp_path):
    path = tmp_path / "a.tally"
    sedeval_soft.Evaluator().update(DATA, DATA).save(path)
    assert sedeval_soft.Evaluator.load(path, limits=Limits(files=2, classes=2)).compute()
    for limits in (Limits(files=1), Limits(classes=1), Limits(size=1000)):
        with pytest.raises(InputError, match=OVER):
            sedeval_soft.Evaluator.load(path, limits=limits)


def test_limits_of_texts():
    limits = Limits.of(["rows=1e6", "size=2G", "duration=1.5e8", "line-length=32M", "ratio = 7", "rows=5"])
    assert limits == Limits(rows=5, size=2 << 30, duration=1.5e8, line_length=32 << 20, ratio=7)
    assert Limits.of([]) == Limits()
    assert Limits().duration < Limits.of([f"duration={LONGEST:g}"]).duration == LONGEST
    sizes = {"1": 1, "4G": 4 << 30, "1.5k": 1536, "2 MiB": 2 << 20, "3mb": 3 << 20, "1T": 1 << 40}
    sizes |= dict.fromkeys(("", "G", "-1", "1P", "1e3", "nan", "1 0"))
    assert {text: size_of(text) for text in sizes} == sizes
    for text in (
        *("rows", "rows=", "rows=-1", "rows=0", "rows=nan", "rows=inf", "rows=1_0", "row=1", "=3", ""),
        *("size=4X", "rows=1e99", "duration=1e10", "duration=0", "size=9999999999T", "rows=\u0661"),
    ):
        with pytest.raises(SettingsError, match="limit"):
            Limits.of([text])
    with pytest.raises(SettingsError, match="row=1") as caught:
        Limits.of(["row=1", "size=x", "files=3"])
    assert len(str(caught.value).splitlines()) == 2


BOMB = b"\n" * (1 << 20)


def test_decompressed_bytes_are_counted_and_a_bomb_is_known_long_before_its_end(tmp_path):
    path = tmp_path / "bomb"
    for data in (zipped({"a.tsv": BOMB}), tarred({"a.tsv": BOMB}, "w:xz")):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"--limit size="):
            read_rows(path, limits=Limits(size=1 << 19))
    nothing = bytes(1 << 25)
    for data in (zipped({"a.tsv": gzip.compress(nothing)}), tarred({"a.tsv": nothing}, "w:bz2")):
        path.write_bytes(data)
        with pytest.raises(InputError, match="--limit ratio=") as caught:
            # By its size it would be known at its end only.
            read_rows(path, limits=Limits(size=(1 << 25) - 1, ratio=100))
        assert caught.value.problems[0].code == "too-many-ratio"


def test_far_more_rows_than_bytes_are_refused_in_every_way_of_reading(tmp_path):
    path, text = tmp_path / "a.tsv.gz", "filename\tonset\toffset\tevent_label\n"
    path.write_bytes(gzip.compress((text + "a\t0\t1\tx\n" * 500_001).encode()))
    with pytest.raises(InputError, match="--limit ratio="):
        read_rows(path)
    with pytest.raises(InputError, match="--limit ratio="):
        count_in_parts(str(path), str(path), sedeval_soft.Settings(), block=1 << 20)
    assert [*sedeval_soft.validate(path).counts] == ["too-many-ratio"]


@pytest.mark.parametrize("form", ["parquet", "arrow", "arrow-stream", "jsonl", "rttm", "jams"])
def test_what_a_table_has_is_held_to_the_limits(form, tmp_path):
    rows = long_rows([("", 0.0, 1.0, "car"), ("", 1.0, 2.0, "dog")])
    path = tmp_path / f"x{form_of(form).extensions[0]}"
    events = [{"time": k, "duration": 1, "value": label} for k, label in enumerate(("car", "dog"))]
    if form == "arrow-stream":
        table = pa.table({"onset": [0.0, 1.0], "offset": [1.0, 2.0], "event_label": ["car", "dog"]})
        with pa.ipc.new_stream(str(path), table.schema) as writer:
            writer.write_table(table)
    elif form == "jams":
        path.write_text(json.dumps({"annotations": [{"namespace": "segment_open", "data": events}]}))
    else:
        path.write_bytes(form_of(form).write(fit(rows, form_of(form)).rows))
    assert len(read_rows(path, limits=Limits(rows=2))) == 2
    for limits, option in (
        (Limits(rows=1), "rows=2"),
        (Limits(classes=1), "classes=2"),
        (Limits(name_length=2), "name_length=3"),
        (Limits(duration=1.5), "duration=2 raises"),
    ):
        with pytest.raises(InputError, match=f"--limit {option} "):
            read_rows(path, limits=limits)


def test_columns_that_unfold_to_much_are_refused(tmp_path):
    table = pa.table({name: pa.array(np.zeros(1 << 20)) for name in ("onset", "offset", "car")})
    path = tmp_path / "x.parquet"
    pq.write_table(table, path)
    assert path.stat().st_size < 1 << 17
    with pytest.raises(InputError, match="--limit size="):
        read_rows(path, limits=Limits(size=1 << 20))
