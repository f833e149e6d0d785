"""Hostile tables and settings are refused in a few seconds and little memory.

The message names the option that admits them. Many inputs take long to make, so all tests here are slow.
"""

import gzip
import os
import tarfile
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attacked import BYTES, SECONDS, attack
from called import call
from drawn import lay_out, tarred, zipped

pytestmark = pytest.mark.slow

HEAD = "filename\tonset\toffset\tevent_label\n"
GOOD = HEAD + "a\t0\t1\tcar\n"
FAR = HEAD + "a\t30000000\t31000000\tcar\nb\t0\t31000000\tdog\n"
"""Rows of a year."""

MIB = 1 << 20


@pytest.fixture
def reference(tmp_path):
    return made(tmp_path / "ref.tsv", GOOD)


def made(path: Path, *parts: str | bytes) -> Path:
    """Write some texts or bytes to a file, piece by piece."""
    with path.open("wb") as file:
        file.writelines(part.encode() if isinstance(part, str) else part for part in parts)
    return path


def bomb(path: Path, piece: bytes, times: int) -> Path:
    """Write a gzipped file that unpacks to many copies of a piece."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return made(path, *(packer.compress(piece) for _ in range(times)), packer.flush())


def test_the_measure_can_fail(reference):
    done = attack(reference, reference, "--score", "segment.soft.f1.micro")
    done.scored()
    assert done.text == "1.0\n" and done.memory > 30 * MIB
    for wrong in (done.refused, partial(done.scored, "2.0"), partial(done.scored, memory=30 * MIB)):
        with pytest.raises(AssertionError):
            wrong()


ROWS = b"0\t1\tcar\n" * (MIB // 8)


@pytest.mark.parametrize(
    ("way", "piece"),
    [
        *(("file", piece) for piece in (bytes(MIB), ROWS, b"\n" * MIB)),
        *(("folder", ROWS), ("standard input", ROWS), ("durations", bytes(MIB))),
    ],
)
def test_a_bomb(way, piece, reference, tmp_path):
    folder = lay_out(tmp_path / "folder", {})
    path = bomb(folder / "bomb.tsv.gz", piece, 512)
    assert path.stat().st_size < 2 * MIB
    given = {
        "file": (path,), "folder": (folder,), "standard input": ("-",),
        "durations": (reference, "--durations", path),
    }  # fmt: skip
    attack(reference, *given[way], stdin=path).refused(
        "has more than 64 bytes for each compressed one", "--limit ratio=NUMBER raises this", memory=BYTES / 4
    )


def test_a_bomb_of_many_members(reference, tmp_path):
    path = made(tmp_path / "bomb.gz", gzip.compress(bytes(MIB), 9) * 1000)
    attack(reference, path).refused("--limit ratio=NUMBER raises this")


def test_a_bomb_that_is_let_in_ends_at_the_limit_of_size_or_of_memory(reference, tmp_path):
    path = bomb(tmp_path / "bomb.gz", b"0\t1\tcar\n" * (MIB // 8), 600)
    let_in = ("--limit", "ratio=2000")
    attack(reference, path, *let_in, "--limit", "size=100M").refused("has more than 104857600 bytes")
    attack(reference, path, *let_in, "--memory-limit", "300M").refused("to hold it", "--memory-limit 300 MiB")


@pytest.mark.parametrize(
    ("side", "onset"),
    [
        *(("system", onset) for onset in ("1e12", "1e300", "9" * 400)),
        ("reference", "1e12"),
        ("durations", "1e12"),
    ],
)
def test_a_time_that_no_recording_has(side, onset, reference, tmp_path):
    path = made(tmp_path / "t.tsv", HEAD + f"a\t{onset}\t{onset}\tcar\n")
    given, said = {
        "system": ((reference, path), "t.tsv:2:2: onset"),
        "reference": ((path, reference), "t.tsv:2:2: onset"),
        "durations": (
            (reference, reference, "--durations", made(tmp_path / "lengths.tsv", f"a\t{onset}\n")),
            "over 31536000 s",
        ),
    }[side]
    attack(*given).refused(said)


@pytest.mark.parametrize(
    "options",
    [
        ("--segment-length", "1e-6"), ("--segment-length", "0.001"),
        ("--median-filter", "0.5", "--segment-length", "1e-3"),
        ("--segment-length", "1e-3", "--memory-limit", "500M"),
    ],
)  # fmt: skip
def test_a_long_recording_in_tiny_segments_is_counted_by_its_rows(options, reference, tmp_path):
    done = attack(reference, made(tmp_path / "t.tsv", FAR), *options, "--score", "segment.hard.recall.micro")
    done.scored()
    assert done.text.startswith("0.0\n"), done.text


@pytest.mark.parametrize("limit", [(), ("--limit", "duration=1e9")])
def test_a_long_recording_without_a_grid_is_scored(limit, reference, tmp_path):
    path = made(tmp_path / "t.tsv", HEAD + f"a\t0\t{'1e9' if limit else '31000000'}\tcar\n")
    attack(reference, path, *limit, "--only", "event", "--score", "event.soft.f1.micro").scored()


def test_a_file_of_a_megabyte_that_stands_for_very_many_rows(reference, tmp_path):
    """Two small files, Parquet and gzip, unpack to millions of rows: the limit `ratio` refuses both."""
    told = "rows in", "bytes", "--limit ratio="
    attack(reference, columnar(tmp_path / "t.parquet", ["car"], 10_000_000)).refused(*told)
    numbers = np.random.default_rng(1).integers(0, 10**6, 30_000).tolist()
    noise = b"".join(b"a\t%06d\t9999999\tcar\n" % number for number in numbers)
    same = b"a\t0\t1\tcar\n" * 1000
    rows = b"".join(line + same for line in (noise[k : k + 40 * 21] for k in range(0, len(noise), 40 * 21)))
    path = made(tmp_path / "t.tsv.gz", gzip.compress(HEAD.encode() + rows, 9))
    assert path.stat().st_size < MIB
    attack(reference, path).refused(*told)


ENTITIES = "".join(f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(9))
HOSTILE: dict[str, tuple[str | Callable[[], str], str, str]] = {
    # The text, options, and words of the message.
    **{
        f"t{k}.tsv": (FAR, f"--segment-length {options}", "would take about ... --memory-limit")
        for k, options in enumerate(
            (
                "0.0001 --set pool=mean",
                "0.001 --measures all",
                "1e-5 --only ranking",
                "1e-3 --memory-limit 500M --measures all",
                "0.001 --worst 3 --only segment.hard",
            )
        )
    },
    "segments.tsv": (
        lambda: HEAD + "".join(f"f{i}\t0\t1e9\tcar\n" for i in range(10_000)),
        "--limit duration=1e9 --segment-length 1e-6",
        "segments x 1 class ... would take about ... re the times in seconds",
    ),
    "columns.tsv": (
        lambda: "onset\toffset" + "".join(map("\tc{0}".format, range(10**7))) + "\n",
        "",
        "columns.tsv:1: has more than ... --limit classes=NUMBER raises this",
    ),
    "labels.tsv": (
        lambda: HEAD + "".join(map("a\t0\t1\tc{0}\n".format, range(10**6))),
        "",
        "classes or more; expected 5000 or fewer (--limit classes=",
    ),
    "both.tsv": (
        lambda: HEAD + "".join(map("f{0}\t0\t1\tc{0}\n".format, range(40_000))),
        "--limit classes=100000",
        "to count 40001 classes in 40001 files would take about",
    ),
    "keys.jsonl": (
        lambda: "".join(f'{{"onset":0,"offset":1,"k{i % 5000}":1}}\n' for i in range(25_000)),
        "",
        "bytes of cells per byte ... --limit ratio=",
    ),
    "fields.jsonl": (
        lambda: '{"onset":0,"offset":1' + "".join(f',"k{i}":1' for i in range(80_000)) + "}\n",
        "",
        "fields of classes ... --limit classes=",
    ),
    "quoted.tsv": (
        lambda: HEAD + "a\t0\t1\t" + '"b"\t' * 3_000_000 + "\n",
        "",
        "quoted.tsv:2: has more than 5100 fields",
    ),
    "few.tsv": (HEAD + "a\t0\t1\t" + '"b"\t' * 4_000 + "\n", "", "few.tsv:2: has 4004 fields"),
    **{
        f"nothing{k}.tsv": (lambda text=text: text * (128 * MIB // len(text)), "", "is empty")
        for k, text in enumerate(("\n", " \n", "\t\n", "\r"))
    },
    # Each takes 0.5 s of processor time, mostly for the start; quadratic patterns took 10 s and more.
    "letter.txt": ("x" * 900_000 + "\n", "", "is neither a header nor a row"),
    "bars.txt": ("a|" * 25_000 + "a\n", "", "is neither a header nor a row"),
    "blank.txt": (";;\n" + "\n" * 500_000 + "x\n", "", "is neither a header nor a row"),
    "quotes.txt": ('File type = "ooTextFile"\n"' + '""' * 400_000, "", "not closed"),
    "bomb.eaf": (f'<!DOCTYPE x [<!ENTITY a "ha">{ENTITIES}]><ANNOTATION_DOCUMENT>&j;', "", "a document type"),
    "deep.eaf": ("<ANNOTATION_DOCUMENT>" + "<a>" * 300_000, "", "is not well-formed XML"),
    "deep.json": ('[{"annotations":[],"data":' + "[" * MIB, "", "nested too deeply"),
    "tasks.json": ("[" + ",".join(["{}"] * (MIB // 3)) + "]", "", "no task of Label Studio is annotated"),
    "nan.jams": ('{"annotations":[NaN,"' + '\\"' * (MIB // 2), "", "cannot be read as JAMS"),
    "points.TextGrid": (
        '"ooTextFile" "TextGrid" 0 1 <exists> 1 "TextTier" "x" 0 1 170000\n' + '0 "a" ' * 160_000,
        "",
        "expected the whole TextGrid",
    ),
}


@pytest.mark.parametrize(("name", "text", "options", "said"), [(name, *HOSTILE[name]) for name in HOSTILE])
def test_a_hostile_text_is_refused(name, text, options, said, reference, tmp_path):
    path = made(tmp_path / name, text if isinstance(text, str) else text())
    attack(reference, path, *options.split()).refused(*said.split(" ... "))


@pytest.mark.parametrize(
    ("piece", "before", "said"),
    [
        (b"x", b"", "line_length"),
        (b"x", HEAD.encode() + b"a\t0\t1\t", "t.tsv:2: has a line of more than 16777216 bytes"),
        (b'"', HEAD.encode() + b"a\t0\t1\t", "t.tsv:2: has a line of more than 16777216 bytes"),
        (b"\t", b"", "--limit classes=NUMBER raises this"),
        (b"\0", b"", "line_length"),
        (b'"', b"onset\toffset\t", "line_length"),
    ],
)
def test_a_line_of_a_gigabyte(piece, before, said, reference, tmp_path):
    path = made(tmp_path / "t.tsv", before, *[piece * MIB] * 1024)
    try:
        attack(reference, path).refused(said, "raises this")
        attack(reference, reference, "--durations", path).refused("raises this")
    finally:
        path.unlink()


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/urandom"])
def test_a_device_without_end(name, reference):
    attack(reference, name, "--memory-limit", "400M").refused("to hold it would take about")
    attack(reference, name, "--limit", "size=50M").refused("--limit size=NUMBER raises this")


def test_a_table_of_a_recording_that_memory_cannot_hold_is_refused_before_it_is_counted(reference, tmp_path):
    path = made(tmp_path / "t.tsv", HEAD, *["a\t0\t1\tcar\n" * 100_000] * 50)
    told = "to count the 5000001 rows of 1 recording ('a') on both sides would take about", "250 MiB"
    attack(reference, path, "--memory-limit", "250M").refused(*told, memory=250 * MIB)


def test_a_warning_for_each_of_many_classes_is_not_printed(reference, tmp_path):
    path = made(tmp_path / "t.tsv", HEAD, *(f"a\t0\t1\tc{i}\n" for i in range(5_000)))
    done = attack(reference, path, "--score", "segment.hard.f1.micro", "--only", "segment.hard")
    done.scored("4950 more classes")
    assert len(done.text.splitlines()) < 60


def test_a_report_of_too_many_classes_is_refused_before_it_is_made(reference, tmp_path):
    path = made(tmp_path / "t.tsv", HEAD, *(f"a\t{k}\t{k + 1}\tc{k}\n" for k in range(5_000)))
    asked = ("--only", "event.hard", "-o", tmp_path / "page.html")
    attack("report", path, path, *asked).refused("found 5000; --classes", seconds=10 * SECONDS)
    assert not (tmp_path / "page.html").exists()


def test_intervals_of_many_classes_keep_to_the_limit_of_memory(reference, tmp_path):
    """1,000 replicates of some 50 scores for 2,000 classes would take a gigabyte."""
    rows = (f"f{k % 50}\t{k % 9}\t{k % 9 + 1}\tc{k % 2000}\n" for k in range(6_000))
    path = made(tmp_path / "t.tsv", HEAD, *rows)
    asked = ("--ci", "--only", "segment.hard", "--score", "segment.hard.f1.macro", "-q")
    done = attack(path, path, *asked, "--memory-limit", "500M")
    done.scored(memory=500 * MIB, seconds=10 * SECONDS)
    assert done.text.split()[-3:] == ["1.0"] * 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("threshold: " + "x" * 900_000, "threshold must be 0 to 2, not 'xxx"),
        ("segment_length: 1/" + "x" * 900_000, "segment_length must be"),
        ('thresholds: {"' + "x" * 1000 + '": 3}', "thresholds of 'xxx"),
        ("classes: [" + "x, " * 60_000 + "y]", "classes has 'x' twice"),
        ("classes: [" + ", ".join(f"c{i}" for i in range(60_000)) + "]", "has 60000 classes; expected 5000"),
        ("groups:\n" + "".join(f"  g{i}: [car]\n" for i in range(20_000)), "groups has 20000 names"),
        ("scenes:\n" + "".join(f"  s{i}: [a]\n" for i in range(3_000)), "scenes has 3000 names"),
    ],
    ids=lambda text: text[:12],
)
def test_settings_of_many_names_or_a_long_one(text, said, reference, tmp_path):
    done = attack(reference, reference, "--config", made(tmp_path / "c.yaml", text))
    # YAML itself takes a second for 10,000 names on a slow machine.
    done.refused(said, seconds=10 * SECONDS)
    assert len(done.text) < 1000


@pytest.mark.parametrize(
    "name",
    ["../../out", "/o", "..\\out", "C:\\out", "out\0", "a" * 4000, "~/out", "|ls"],
)  # fmt: skip
def test_names_in_a_table_never_become_paths(name, tmp_path):
    text = f"{HEAD[:-1]}\tsoft_value\n{name}\t0\t1\t{name}\t0.9\n"
    place = lay_out(tmp_path / "deep" / "er", {"t.tsv": text})
    sides = place / "t.tsv", place / "t.tsv"
    codes = [
        call(*sides, "-o", place / "o.json", "--save-tally", place / "x", "--worst", "2").code,
        call("plot", "pr", *sides, "-o", place / "c.tsv").code,
        call("tune", *sides, "-o", place / "th.yaml").code,
        call("merge", place / "x", "-o", place / "m.txt").code,
    ]
    assert {*codes} == {2 if "\0" in name else 0}
    written = () if "\0" in name else ("o.json", "x", "c.tsv", "th.yaml", "m.txt")
    assert {path.name for path in tmp_path.rglob("*")} == {"deep", "er", "t.tsv", *written}


def test_a_link_out_of_a_folder_is_read_as_what_it_is_and_never_written(reference, tmp_path):
    folder = lay_out(tmp_path / "folder", {})
    (folder / "a.tsv").symlink_to("/dev/zero")
    (folder / "b.tsv").symlink_to(folder)
    attack(reference, folder).refused("holds no table")
    os.mkfifo(folder / "c.tsv")
    attack(reference, folder).refused("holds no table")


@pytest.mark.parametrize(
    ("only", "code", "said"),
    [
        # Any number of events at the same time merge into one.
        ("intersection.soft", 0, "(duplicate-row)"),
        ("intersection.optimal", 0, "(duplicate-row)"),
        ("event.hard", 2, "are rows repeated"),
        ("event.soft", 2, "are rows repeated"),
    ],
)
def test_very_many_events_at_one_time(only, code, said, tmp_path):
    path = made(tmp_path / "t.tsv", HEAD, "a\t0\t10\tcar\n" * 20_000)
    attack(path, path, "--only", only, "--memory-limit", "2G").ended(code, said)


def columnar(path: Path, labels: list[str], n: int = 1, **how: object) -> Path:
    """Write a table with some labels, n rows of each, as Parquet or Arrow by its extension."""
    codes = np.repeat(np.arange(len(labels), dtype=np.int32), n)
    label = pa.DictionaryArray.from_arrays(codes, pa.array(labels)) if n > 1 else pa.array(labels)
    table = pa.table({
        "filename": pa.DictionaryArray.from_arrays(np.zeros(len(codes), dtype=np.int32), ["a"]),
        "onset": np.zeros(len(codes)), "offset": np.ones(len(codes)), "event_label": label,
    })  # fmt: skip
    if path.suffix == ".parquet":
        pq.write_table(table, path, compression="zstd", **how)
    else:
        new = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
        with new(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
    return path


def long_labels(length: int, n: int) -> list[str]:
    """Return labels that differ only at their ends."""
    return ["x" * length + str(i) for i in range(n)]


LABELS = {"60": (MIB, 60), "700": (MIB, 700), "short": (4000, 60_000)}
"""Length and number of labels. Each test makes its own: all together would take a gigabyte."""


@pytest.mark.parametrize(
    ("name", "labels", "encoding"),
    [
        *(("t.parquet", labels, None) for labels in LABELS),
        ("t.parquet", "700", "PLAIN"),
        ("t.parquet", "short", "DELTA_BYTE_ARRAY"),
        ("t.parquet", "700", "DELTA_LENGTH_BYTE_ARRAY"),
        *((name, "60", None) for name in ("t.arrow", "t.arrows")),
    ],
)
def test_a_few_bytes_that_are_long_names(name, labels, encoding, reference, tmp_path):
    how = {"use_dictionary": False, "column_encoding": {"event_label": encoding}} if encoding else {}
    path = columnar(tmp_path / name, long_labels(*LABELS[labels]), **how)
    assert path.stat().st_size < MIB
    attack(reference, path).refused("raises this)", memory=BYTES / 2)
    for limit in (("--limit", "size=1M"), ("--memory-limit", "500M")):
        attack(reference, path, *limit).refused(memory=500 * MIB)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
@pytest.mark.parametrize("labels", [["x" * 4000], ["car"]])
def test_a_name_in_very_many_rows(name, labels, reference, tmp_path):
    """Names are not copied to each row: 4,000 letters in half a million rows would take 2 GB."""
    path = columnar(tmp_path / name, labels, 500_000)
    attack(reference, path, "--score", "segment.hard.f1.micro").scored()


def test_a_column_of_names_as_times_is_not_read_cell_by_cell(tmp_path):
    path = columnar(tmp_path / "t.parquet", ["x" * 4000, "y"], 250_000)
    columns = "onset=event_label,event_label=filename,ignore=onset"
    attack(path, path, "--columns", columns).refused("event_label")


@pytest.mark.parametrize("archive", [zipped, tarred])
def test_an_archive_of_very_many_members(archive, reference, tmp_path):
    many, fewer = (
        made(tmp_path / f"{n}.archive", archive({f"{i}.tsv": b"" for i in range(n)}))
        for n in (70_000, 10_000)
    )
    attack(reference, many).refused("has 70000 members", "--limit members=70000 raises this", seconds=2)
    attack(reference, fewer, "--score", "segment.hard.f1.micro").scored()


def test_bombs_in_a_board_leave_the_others_untouched(reference, tmp_path):
    """Bombs do not change the site by a byte, neither while they are there nor after they are deleted."""
    entries = lay_out(tmp_path / "submissions", {"honest.tsv": GOOD})
    alone, site = tmp_path / "alone", tmp_path / "site"
    given = ("--reference", reference, "--no-reports", "--memory-limit", "500M", "--time-limit", "60")
    attack("board", entries, *given, "-o", alone).scored()
    bombs = (
        columnar(entries / "bomb.parquet", long_labels(MIB, 200)),
        # Only the memory limit stops a packed batch of Arrow: its size is unknown until it is decoded.
        columnar(entries / "packed.arrow", long_labels(MIB, 700)),
        bomb(entries / "zeros.tsv.gz", bytes(MIB), 512),
    )
    done = attack("board", entries, *given, "-o", site)
    assert done.code == 0 and all(f"invalid: {path.name.split('.')[0]}: " in done.text for path in bombs)
    assert (site / "data/honest.json").read_bytes() == (alone / "data/honest.json").read_bytes()
    for path in bombs:
        path.unlink()
    attack("board", entries, *given, "-o", site).scored("1 submission: 1 ranked, 0 invalid; 1 unchanged")
    for path in (path for path in alone.rglob("*") if path.is_file()):
        assert (site / path.relative_to(alone)).read_bytes() == path.read_bytes()


def test_of_two_boards_at_once_one_is_written(reference, tmp_path):
    entries = lay_out(tmp_path / "submissions", {f"{i}.tsv": GOOD for i in range(4)})
    given = ("board", entries, "--reference", reference, "-o", tmp_path / "site", "--no-reports", "--title")
    titles = ("One", "Two")
    with ThreadPoolExecutor(2) as pool:
        done = dict(zip(titles, pool.map(lambda title: attack(*given, title), titles), strict=True))
    (won, first), (_, second) = sorted(done.items(), key=lambda ended: ended[1].code)
    if second.code == 0:
        pytest.skip("one was done before the other began")
    assert (first.code, second.code) == (0, 2) and "another board is being written to it" in second.text
    assert f"<title>{won}</title>" in (tmp_path / "site" / "index.html").read_text()


# Files of settings.

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)

SETTINGS = {
    "laughs": (LAUGHS, "uses a YAML alias"),
    "laughs as a number": (f"{LAUGHS}threshold: *i\n", "uses a YAML alias"),
    "itself": ("classes: &a [*a]\n", "uses a YAML alias"),
    "merged": (LAUGHS.replace("[x, x,", "[{x: 1}, {y: 1},") + "<<: *i\n", "uses a YAML alias"),
    # The words of this message depend on the version of Python.
    "long number": (f"threshold: {'9' * 5000}\n", "s.yaml: "),
    "number beyond floats": (f"threshold: {'9' * 400}\n", "threshold must be 0 to 2, not 99999"),
    "timestamp": ("threshold: !!timestamp nonsense\n", "could not determine"),
    "binary": ("threshold: !!binary '\u00e9'\n", "could not determine"),
    "python": ("threshold: !!python/object/apply:os.system ['touch owned']\n", "could not determine"),
    "python name": ("threshold: !!python/name:os.system\n", "could not determine"),
    "deep": ("classes: " + "[" * 5000 + "]" * 5000 + "\n", "nested too deeply"),
    "deep mappings": ("{a: " * 3000 + "1" + "}" * 3000, "nested too deeply"),
    "brackets": ("[" * 100_000, "nested too deeply"),
    "keys": ("".join(f"{i}: \n" for i in range(120_000)), "has more than 100000 keys and values"),
    "unknown keys": ("".join(f"k{i}: 1\n" for i in range(40_000)), "unknown setting 'k0'"),
    "anchors": ("".join(f"k{i}: &a{i} 1\n" for i in range(20_000)), "unknown setting 'k0'"),
    "large": ("# " + "x" * (1 << 25), "has more than 1048576 bytes"),
}


@pytest.mark.parametrize(
    ("option", "name"),
    # The same reader reads both.
    [*(("--config", name) for name in SETTINGS), *(("--thresholds", name) for name in ("laughs", "large"))],
)
def test_settings_of_strangers_are_refused(option, name, reference, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, said = SETTINGS[name]
    attack(reference, reference, option, made(tmp_path / "s.yaml", text)).refused("s.yaml", said)
    assert not (tmp_path / "owned").exists()


def test_names_that_end_in_very_many_extensions(tmp_path):
    ours, theirs = (
        made(tmp_path / f"{side}.tsv", HEAD, *(f"{'a.' * 1990}{k}{end}\t0\t1\tcar\n" for k in range(200)))
        for side, end in (("ref", "x"), ("sys", "!"))
    )
    attack(ours, theirs, "--score", "segment.hard.f1.micro").scored()


@pytest.mark.parametrize("length", [3_000, 200_000])
def test_names_of_members_are_held_to_the_limit(length, reference, tmp_path):
    path = tmp_path / "t.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for k in range(3):
            archive.addfile(tarfile.TarInfo("a." * length + f"{k}.tsv"))
    attack(reference, path).refused("characters in the name of a member", "--limit name_length=")


@pytest.mark.parametrize(
    ("option", "said"),
    [("--config", "more than 1048576 bytes"),
     *((option, "--limit size=NUMBER raises this") for option in ("--files", "--regions", "--durations"))],
)  # fmt: skip
def test_a_device_without_end_as_settings_or_as_a_table_of_files(option, said, reference):
    attack(reference, reference, option, "/dev/zero", "--limit", "size=50M").refused(said, memory=500 * MIB)


ROWS_THAT_OVERLAP = {
    "of 50 classes": [b"%d\t%d\tc%d\n" % (k, k + 12_500, k % 50) for k in range(25_000)],
    "in one another": [b"%d\t%d\tc\n" % (k, 100_000 - k) for k in range(15_000)],
}


@pytest.mark.parametrize("rows", ROWS_THAT_OVERLAP)
def test_rows_that_overlap_become_steps(rows, tmp_path):
    path = made(tmp_path / "t.tsv", "onset\toffset\tevent_label\n", *ROWS_THAT_OVERLAP[rows])
    attack("convert", path, tmp_path / "wide.tsv", "--to", "wide").scored()
