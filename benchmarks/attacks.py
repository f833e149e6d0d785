"""Make hostile files, give each to the command, and print what it took as a table.

    python benchmarks/attacks.py [--only WORD]... [--write]

Each attack is a row of ATTACKS: what it is, and what makes it in a folder and returns the arguments of the
command, which runs in a process of its own whose time and peak memory are measured. `--write` puts the table
into benchmarks/attacks.md. Fails where one took more than a minute or 1 GB, or was not answered.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "attacks.md"
MARKS = "<!-- attacks: made by `python benchmarks/attacks.py --write` -->\n", "<!-- end of attacks -->\n"
SECONDS, BYTES, KILL_AFTER = 60.0, 1 << 30, 60

HEAD = "filename\tonset\toffset\tevent_label\n"
YEAR = "a\t0\t31536000\tcar\n"
MIB = 1 << 20

Attack = Callable[[Path], Sequence[object]]
"""Makes files in a folder that has a table `ref.tsv`; returns the arguments of the command."""


def file(name: str, content: Callable[[], str | bytes], *options: str) -> Attack:
    """Return an attack by one file as the system."""

    def make(folder: Path) -> Sequence[object]:
        data = content()
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return folder / "ref.tsv", folder / name, *options

    return make


def settings(text: Callable[[], str]) -> Attack:
    """Return an attack by a settings file."""

    def make(folder: Path) -> Sequence[object]:
        (folder / "s.yaml").write_text(text())
        return folder / "ref.tsv", folder / "ref.tsv", "--config", folder / "s.yaml"

    return make


def columns(labels: Sequence[str], n: int = 1, form: str = "parquet", **how: object) -> Attack:
    """Return an attack by a file of columns: n rows of each label."""

    def make(folder: Path) -> Sequence[object]:
        codes = np.repeat(np.arange(len(labels), dtype=np.int32), n)
        label = pa.DictionaryArray.from_arrays(codes, pa.array(labels))
        table = pa.table(
            {
                "filename": pa.DictionaryArray.from_arrays(np.zeros(len(codes), dtype=np.int32), ["a"]),
                "onset": np.zeros(len(codes)),
                "offset": np.ones(len(codes)),
                "event_label": label if n > 1 else label.cast(pa.string()),
            }
        )
        path = folder / f"t.{form}"
        if form == "parquet":
            pq.write_table(table, path, compression="zstd", **how)
        else:
            new = pa.ipc.new_stream if form == "arrows" else pa.ipc.new_file
            with new(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
                writer.write_table(table)
        return folder / "ref.tsv", path

    return make


def members(name: str, n: int) -> Attack:
    """Return an attack by an archive of empty tables."""

    def make(folder: Path) -> Sequence[object]:
        if name.endswith("zip"):
            with zipfile.ZipFile(folder / name, "w") as archive:
                for i in range(n):
                    archive.writestr(zipfile.ZipInfo(f"{i}.tsv"), b"")
        else:
            with tarfile.open(folder / name, "w:gz" if name.endswith("gz") else "w") as archive:
                for i in range(n):
                    archive.addfile(tarfile.TarInfo(f"{i}.tsv"))
        return folder / "ref.tsv", folder / name

    return make


def board(folder: Path) -> Sequence[object]:
    """Return a board of an honest submission beside bombs."""
    made = folder / "submissions"
    made.mkdir()
    columns(LONG[:200])(made)
    (made / "honest.tsv").write_text(HEAD + "a\t0\t1\tcar\n")
    (made / "zeros.tsv.gz").write_bytes(gzip.compress(bytes(256 * MIB), 9))
    return (
        *("board", made, "--reference", folder / "ref.tsv", "-o", folder / "site", "--no-reports", "--quiet"),
        *("--memory-limit", "500M"),
    )


def lines(line: str, n: int) -> Callable[[], str]:
    """Return what makes a table of lines with their numbers."""
    return lambda: HEAD + "".join(line.format(i) for i in range(n))


def crowd(n: int, *options: str) -> Attack:
    """Return an attack by n events on each side that may all match one another."""

    def make(folder: Path) -> Sequence[object]:
        for name, less in (("ref.tsv", 0.0), ("sys.tsv", 0.05)):
            rows = (f"a\t{i * 1e-5 + less:.5f}\t{1 + i * 1e-5 - less:.5f}\tcar\n" for i in range(n))
            (folder / name).write_text(HEAD + "".join(rows))
        return folder / "ref.tsv", folder / "sys.tsv", *options

    return make


def noise(n: int, recordings: int = 1) -> Attack:
    """Return an attack by recordings with n rows of 10 microseconds and random values, on each side."""

    def make(folder: Path) -> Sequence[object]:
        for seed, name in enumerate(("ref.tsv", "sys.tsv")):
            values = np.random.default_rng(seed).random((recordings, n))
            rows = (
                f"f{k}\t{i * 1e-5:.5f}\t{(i + 1) * 1e-5:.5f}\tcar\t{v:.3f}\n"
                for k, of_one in enumerate(values)
                for i, v in enumerate(of_one)
            )
            (folder / name).write_text(HEAD[:-1] + "\tvalue\n" + "".join(rows))
        return folder / "ref.tsv", folder / "sys.tsv"

    return make


LONG = ["x" * MIB + str(i) for i in range(700)]
SHORT = ["x" * 4000 + str(i) for i in range(60_000)]

ATTACKS: dict[str, Attack] = {
    "60 names of 1 MB, Parquet": columns(LONG[:60]),
    "700 names of 1 MB, Parquet": columns(LONG),
    "the same, each the end of the one before": columns(
        LONG, use_dictionary=False, column_encoding={"event_label": "DELTA_BYTE_ARRAY"}
    ),
    "200 names of 1 MB, Arrow": columns(LONG[:200], form="arrow"),
    "60,000 names of 4,000 letters, Parquet": columns(SHORT),
    "a name of 4,000 letters in 500,000 rows, Parquet": columns(["x" * 4000], 500_000),
    "10 million rows that are the same, Parquet": columns(["car"], 10_000_000),
    "512 MiB of rows, gzip": file(
        "t.tsv.gz", lambda: gzip.compress(HEAD.encode() + b"a\t0\t1\tcar\n" * (512 * MIB // 12), 9)
    ),
    "160,000 empty tables, tar.gz": members("t.tar.gz", 160_000),
    "300,000 empty tables, zip": members("t.zip", 300_000),
    "40,000 empty tables, tar.gz": members("t.tar.gz", 40_000),
    "80,000 classes": file("t.tsv", lines("a\t0\t1\tc{}\n", 80_000)),
    "5,000 classes": file("t.tsv", lines("a\t0\t1\tc{}\n", 4_999)),
    "40,000 recordings": file("t.tsv", lines("f{}\t0\t1\tcar\n", 40_000)),
    "25,000 objects with 5,000 fields, JSON lines": file(
        "t.jsonl", lambda: "".join(f'{{"onset":0,"offset":1,"k{i % 5000}":1}}\n' for i in range(25_000))
    ),
    "100,000 brackets, JAMS": file("t.jams", lambda: '{"annotations": ' + "[" * 100_000),
    "2,000 events that fit 2,000 others": crowd(2000),
    "4,000 events that fit 4,000 others": crowd(4000),
    "20,000 events that fit 20,000 others": crowd(20_000),
    "4,000 events that fit 4,000 others, greedy": crowd(4000, "--set", "matching=greedy"),
    "4,000 events that fit 4,000 others, as sed_eval": crowd(4000, "--set", "compat=sed_eval"),
    "1,000 steps of noise in 10 ms": noise(1000),
    "20,000 steps of noise in 0.2 s": noise(20_000),
    "40 steps of noise in each of 750 recordings": noise(40, 750),
    "60 steps of noise in each of 500 recordings": noise(60, 500),
    "a row of a year": file("t.tsv", lambda: HEAD + YEAR),
    "a row of a year, in milliseconds": file("t.tsv", lambda: HEAD + YEAR, "--segment-length", "0.001"),
    "a row of a year, all measures": file("t.tsv", lambda: HEAD + YEAR, "--measures", "all"),
    "300,000 unknown keys, settings": settings(lambda: "".join(f"k{i}: 1\n" for i in range(300_000))),
    "40,000 unknown keys, settings": settings(lambda: "".join(f"k{i}: 1\n" for i in range(40_000))),
    "20,000 anchors, settings": settings(lambda: "".join(f"k{i}: &a{i} 1\n" for i in range(20_000))),
    "100,000 brackets, settings": settings(lambda: "[" * 100_000),
    "a board with two bombs and --memory-limit 500M": board,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if an attack took too much."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--only", action="append", default=[], help="attacks with this word (repeatable)")
    parser.add_argument("--write", action="store_true", help="write the table into benchmarks/attacks.md")
    options = parser.parse_args(arguments)
    rows, failed = ["| attack | file | answer | seconds | peak memory |", "|---|--:|---|--:|--:|"], False
    for name, make in ATTACKS.items():
        if not options.only or any(word in name for word in options.only):
            row, well = measured(name, make)
            print(row, flush=True)
            rows.append(row)
            failed |= not well
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        table = "".join(f"{row}\n" for row in rows)
        PAGE.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}", encoding="utf-8")
    return int(failed)


def measured(name: str, make: Attack) -> tuple[str, bool]:
    """Return the row of an attack, and whether it was answered in time and room."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "ref.tsv").write_text(HEAD + "a\t0\t1\tcar\n")
        arguments = make(folder)
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != "ref.tsv"]
        size = sum(path.stat().st_size for path in files)
        command = [sys.executable, "-m", "sedeval_soft", *map(str, arguments)]
        launcher = [sys.executable, "-I", "-S", str(ROOT / "benchmarks" / "launch.py"), f"{place}/output"]
        try:
            done = subprocess.run(
                [*launcher, *command], capture_output=True, check=False, timeout=KILL_AFTER, cwd=ROOT
            )
        except subprocess.TimeoutExpired:
            return f"| {name} | {shown(size)} | none | over {KILL_AFTER} | |", False
    cost = json.loads(done.stdout)
    seconds, memory = min(cost["seconds"], cost["processor_seconds"]), cost["peak_bytes"]
    if arguments[0] == "board":  # others work for it
        seconds = cost["seconds"]
    said = re.search(r"expected .*?(--[a-z-]+)", done.stderr.decode("utf-8", "replace").split("\n")[-2:][0])
    answer = {0: "scored", 2: f"refused{f' ({said[1]})' if said else ''}"}.get(done.returncode, "failed")
    well = done.returncode in {0, 2} and seconds < SECONDS and memory < BYTES
    return f"| {name} | {shown(size)} | {answer} | {seconds:.1f} | {memory / MIB:.0f} MiB |", well


def shown(size: int) -> str:
    """Return a number of bytes as people write it."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, size // 1000)} kB"


if __name__ == "__main__":
    sys.exit(main())
