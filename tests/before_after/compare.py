# ruff: noqa: T201 - what differs is printed
"""Run the same calls with an earlier commit and with this tree, and list every number that differs.

    python tests/before_after/compare.py [byte|numbers] [--base REV] [--calls WORD ...]

`byte`: exit codes, standard output, standard error and written files are identical, but for the version.
`numbers`: exit codes are equal, and JSON, YAML, CSV and TSV have the same keys and equal numbers, to 1e-12
(absolute below 1, else relative). Text is ignored. A place is the name of a score and what of it:
`segment.soft.f1.macro.value`.

`expected.tsv` lists differences that are meant: call, place and reason; `*` is anything, the place `exit` is
the exit code. Exits with 1 if anything else differs.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

BASE = "2120c388"
"""The commit that is compared with unless --base names another; `expected.tsv` lists what differs from it."""

WARM = (
    *("numpy", "pyarrow.csv", "pyarrow.parquet", "pandas", "rich.console", "yaml", "jinja2", "scipy.stats"),
    *("scipy.optimize", "scipy.sparse.csgraph", "scipy.special", "matplotlib.backends.backend_svg"),
)
"""What workers import once, not in every call."""

_VERSION = re.compile(rb"\b\d+\.\d+\.\d+(\.dev\d+)?(\+\w+)?")
TOLERANCE = 1e-12
"""Of numbers: absolute below 1, else relative."""

_UNSEEN = ("settings.", "version", "signature")
"""Places of JSON that are no result."""


@dataclass
class Outcome:
    """What a call left behind: its exit codes, and what it wrote, by name; standard output is `stdout`."""

    codes: list[int]
    written: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    """A place of a call where the trees differ."""

    call: str
    place: str
    before: object
    after: object


class Side:
    """A tree, a folder of inputs, and a process that runs calls in it."""

    def __init__(self, tree: Path, inputs: Path, warm: Sequence[str] = WARM) -> None:
        fixed = {"PYTHONPATH": str(tree), "COLUMNS": "120", "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "0"}
        fixed |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        self.inputs, self.folder = inputs, str(inputs).encode()
        self.process = subprocess.Popen(
            [sys.executable, HERE / "worker.py", *warm],
            cwd=inputs, env={**os.environ, **fixed}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, call: str, name: str) -> Outcome:
        """Run a call; `OUT/` in it is a new folder. Raises RuntimeError if the process has ended."""
        out = self.inputs / name
        out.mkdir()
        asked = {"call": call.replace("OUT/", f"{name}/"), "folder": name}
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the worker ended in: {call}")
        outcome = Outcome(json.loads(answer))
        for path in sorted(out.rglob("*")):
            if path.is_file() and path.parent.suffix != ".cache":
                content = path.read_bytes().replace(self.folder, b"HERE").replace(name.encode(), b"OUT")
                outcome.written[str(path.relative_to(out))] = _VERSION.sub(b"VERSION", content)
        shutil.rmtree(out)
        return outcome


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all values of a document with their places; items of lists are called by their names."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            name = item.get("name", index) if isinstance(item, dict) else index
            yield from leaves(item, f"{place}[{name}]")
    else:
        yield place, value


def cells(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the cells of a table; a row is called by its first cell, counted if it is there already."""
    header, *rows = csv.reader(text.splitlines(), delimiter="\t" if "\t" in text.partition("\n")[0] else ",")
    seen: Counter[str] = Counter()
    for row in rows:
        first = row[0] if row else ""
        seen[first] += 1
        for column, cell in zip(header, row, strict=False):
            try:
                value: object = float(cell)
            except ValueError:
                value = cell
            yield f"{first}#{seen[first]}.{column}", value


def values(name: str, content: bytes, call: str) -> dict[str, Any]:
    """Return the values of what was written, by place; nothing where it has no form that can be read."""
    import yaml

    text = content.decode(errors="replace")
    kind = Path(name).suffix[1:] if name != "stdout" else (re.findall(r"--format (\w+)", call) or [""])[-1]
    try:
        if kind in ("csv", "tsv") or call.startswith("convert"):
            return dict(cells(text))
        if kind in ("yaml", "yml") or call.startswith("tune"):
            return dict(leaves(yaml.safe_load(text)))
        return dict(leaves(json.loads(text)))
    except (ValueError, yaml.YAMLError):
        return {}


def _number(value: object) -> bool:
    return value is None or isinstance(value, int | float)


def _close(before: object, after: object, tolerance: float) -> bool:
    if isinstance(before, int | float) and isinstance(after, int | float):
        return math.isclose(before, after, rel_tol=tolerance, abs_tol=tolerance)
    return before == after


def matches(pattern: str, text: str) -> bool:
    """Say whether a text matches a pattern, in which `*` is anything and all else is itself."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def differences(call: str, before: Outcome, after: Outcome, *, numbers: bool) -> Iterator[Difference]:
    """Yield what differs. numbers: numbers alone, to the tolerance; else all bytes count."""
    if before.codes != after.codes:
        yield Difference(call, "exit", before.codes, after.codes)
    absent = "absent"
    for name in dict.fromkeys([*before.written, *after.written]):
        texts = before.written.get(name, b""), after.written.get(name, b"")
        if texts[0] == texts[1] and name in before.written and name in after.written:
            continue
        sides = [values(name, text, call) for text in texts]
        found = False
        for place in dict.fromkeys([*sides[0], *sides[1]]):
            pair = sides[0].get(place, absent), sides[1].get(place, absent)
            text = not any(_number(value) for value in pair) or place.startswith(_UNSEEN)
            if not (_close(*pair, TOLERANCE if numbers else 0.0) or (text and numbers)):
                found = True
                yield Difference(call, place if name == "stdout" else f"{name}: {place}", *pair)
        if not (numbers or found):
            before_, after_ = ({*text.decode(errors="replace").splitlines()} for text in texts)
            old, new = ("\n".join(sorted(lines)) for lines in (before_ - after_, after_ - before_))
            yield Difference(call, name, old[:2000] or "bytes", new[:2000] or "other bytes")


def compare(
    trees: Sequence[Path],
    inputs: Sequence[Path],
    calls: Sequence[str],
    *,
    numbers: bool,
    workers: int = 2,
    warm: Sequence[str] = WARM,
) -> list[Difference]:
    """Return all differences between two trees, each of which has a folder of equal inputs."""
    free: SimpleQueue[list[Side]] = SimpleQueue()
    for _ in range(workers):
        free.put([Side(tree, folder, warm) for tree, folder in zip(trees, inputs, strict=True)])

    def both(number: int) -> list[Difference]:
        pair = free.get()
        outcomes = [side.run(calls[number], f"OUT{number:03d}OUT") for side in pair]
        free.put(pair)
        return [*differences(calls[number], *outcomes, numbers=numbers)]

    with ThreadPoolExecutor(workers) as pool:
        found = [difference for each in pool.map(both, range(len(calls))) for difference in each]
    for _ in range(workers):
        for side in free.get():
            side.process.communicate()
    return found


def unexpected(found: Sequence[Difference], expected: Sequence[Sequence[str]]) -> list[Difference]:
    """Return the differences that no row (call, place, reason) expects; print how many each row expects."""
    counts = [0] * len(expected)
    rest = []
    for difference in found:
        for number, (call, place, _) in enumerate(expected):
            if matches(call, difference.call) and matches(place, difference.place):
                counts[number] += 1
                break
        else:
            rest.append(difference)
    for (call, place, reason), count in zip(expected, counts, strict=True):
        print(f"expected {count:6}  {call}  {place}: {reason}")
    return rest


def main() -> int:
    """Compare the trees call by call; return the exit code."""
    from calls import CALLS
    from inputs import make

    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("way", nargs="?", choices=["byte", "numbers"], default="byte")
    parser.add_argument("--base", default=BASE, help=f"the earlier commit (default: {BASE})")
    parser.add_argument("--calls", nargs="+", default=[], help="only calls with one of these words in them")
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    calls = [call for call in CALLS if not chosen.calls or any(word in call for word in chosen.calls)]
    with (HERE / "expected.tsv").open() as file:
        _, *expected = csv.reader(file, delimiter="\t")
    with tempfile.TemporaryDirectory() as temporary:
        base, *inputs = (Path(temporary) / name for name in ("base", "a", "b"))
        archive = ["git", "-C", ROOT, "archive", "--prefix=base/", f"--output={base}.tar", chosen.base]
        subprocess.run(archive, check=True)
        shutil.unpack_archive(f"{base}.tar", temporary)
        make(inputs[0], ROOT, lambda folder: Side(base, folder, WARM[:3]))
        shutil.copytree(inputs[0], inputs[1])
        found = compare([base, ROOT], inputs, calls, numbers=chosen.way == "numbers", workers=chosen.workers)
    found = unexpected(found, expected)
    for number, difference in enumerate(found):
        if not number or found[number - 1].call != difference.call:
            print(f"\n{difference.call}")
        print(f"    {difference.place}: {difference.before} -> {difference.after}")
    print(f"\n{len(calls)} calls; {len({each.call for each in found})} differ, in {len(found)} places")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
