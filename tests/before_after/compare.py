# ruff: noqa: T201 - what differs is printed
"""Run the same calls with an earlier commit and with this tree, and list every number that differs.

    python tests/before_after/compare.py [byte|numbers] [--base REV] [--calls WORD ...]

`byte`: exit codes, standard output, standard error and written files are identical, but for the version.
`numbers`: exit codes are equal, and JSON, YAML, CSV and TSV have the same keys and equal numbers, to 1e-12
(absolute below 1, else relative). Text is ignored. A place is the name of a score and of one of its fields:
`segment.soft.f1.macro.value`.

`expected.tsv` lists expected differences: call, place and reason; `*` matches anything, the place `exit` is
the exit code. Exits with 1 if anything else differs.
"""

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
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

BASE = "2120c388"
"""The earlier commit, unless --base names another; `expected.tsv` lists the differences from it."""

WARM = (
    *("numpy", "pyarrow.csv", "pyarrow.parquet", "pandas", "rich.console", "yaml", "jinja2", "scipy.stats"),
    *("scipy.optimize", "scipy.sparse.csgraph", "scipy.special", "matplotlib.backends.backend_svg"),
)
"""Modules that workers import once, not in every call."""

_VERSION = re.compile(rb"\b\d+\.\d+\.\d+(\.dev\d+)?(\+\w+)?")
TOLERANCE = 1e-12
"""The tolerance of numbers: absolute below 1, else relative."""

_UNSEEN = ("settings.", "version", "signature")
"""Places in JSON that are not results."""

Outcome = tuple[list[int], dict[str, bytes]]
"""The exit codes of a call, and its written files by name; standard output is `stdout`."""

Difference = tuple[str, str, object, object]
"""A call, the place of a difference, and the value of each tree there."""


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
        """Run a call; `OUT/` in it is a new folder."""
        out = self.inputs / name
        out.mkdir()
        asked = {"call": call.replace("OUT/", f"{name}/"), "folder": name}
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        assert answer, f"the worker ended in: {call}"
        written = {
            str(path.relative_to(out)): self.cleaned(path.read_bytes(), name)
            for path in sorted(out.rglob("*"))
            if path.is_file() and path.parent.suffix != ".cache"
        }
        shutil.rmtree(out)
        return json.loads(answer), written

    def cleaned(self, content: bytes, name: str) -> bytes:
        """Return written content without versions, and without the names of our folders."""
        return _VERSION.sub(b"VERSION", content.replace(self.folder, b"HERE").replace(name.encode(), b"OUT"))


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all values of a document with their places; items of lists are called by their names."""
    if isinstance(value, list):
        names = (item.get("name", k) if isinstance(item, dict) else k for k, item in enumerate(value))
        value = dict(zip(names, value, strict=True))
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{place}.{key}" if place else str(key))
    else:
        yield place, value


def parsed(cell: str) -> float | str:
    """Return a cell as a number, or as its text."""
    try:
        return float(cell)
    except ValueError:
        return cell


def cells(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the cells of a table by row and column; rows with the same first cell are numbered."""
    header, *rows = csv.reader(text.splitlines(), delimiter="\t" if "\t" in text.partition("\n")[0] else ",")
    seen: Counter[str] = Counter()
    for row in filter(None, rows):
        seen[row[0]] += 1
        for column, cell in zip(header, row, strict=False):
            yield f"{row[0]}#{seen[row[0]]}.{column}", parsed(cell)


def values(name: str, content: bytes, call: str) -> dict[str, Any]:
    """Return the values of a written file by place; nothing if its format cannot be read."""
    text = content.decode(errors="replace")
    kind = Path(name).suffix[1:] if name != "stdout" else (re.findall(r"--format (\w+)", call) or [""])[-1]
    try:
        if kind in ("csv", "tsv") or call.startswith("convert"):
            return dict(cells(text))
        as_yaml = kind in ("yaml", "yml") or call.startswith("tune")
        return dict(leaves(yaml.safe_load(text) if as_yaml else json.loads(text)))
    except (ValueError, yaml.YAMLError):
        return {}


def _number(value: object) -> bool:
    return value is None or isinstance(value, int | float)


def _close(before: object, after: object, tolerance: float) -> bool:
    if isinstance(before, int | float) and isinstance(after, int | float):
        return math.isclose(before, after, rel_tol=tolerance, abs_tol=tolerance)
    return before == after


def differences(call: str, before: Outcome, after: Outcome, *, numbers: bool) -> Iterator[Difference]:
    """Yield differences. numbers: compare only numbers, to the tolerance; else compare all bytes."""
    if before[0] != after[0]:
        yield call, "exit", before[0], after[0]
    for name in {**before[1], **after[1]}:
        texts = before[1].get(name), after[1].get(name)
        if texts[0] == texts[1]:
            continue
        old, new = (values(name, text or b"", call) for text in texts)
        pairs = [(place, old.get(place, "absent"), new.get(place, "absent")) for place in {**old, **new}]
        found = [
            (call, place if name == "stdout" else f"{name}: {place}", *pair)
            for place, *pair in pairs
            if not _close(*pair, TOLERANCE if numbers else 0.0)
            and not (numbers and (place.startswith(_UNSEEN) or not any(map(_number, pair))))
        ]
        yield from found
        if not (numbers or found):
            lines, others = ({*(text or b"").decode(errors="replace").splitlines()} for text in texts)
            sides = ("\n".join(sorted(each))[:2000] for each in (lines - others, others - lines))
            yield call, name, *(side or "other bytes" for side in sides)


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


def meant(difference: Difference, expected: Sequence[Sequence[str]]) -> bool:
    """Return whether a row (call, place, reason) expects a difference; `*` in it matches anything."""
    patterns = ([".*".join(map(re.escape, text.split("*"))) for text in row[:2]] for row in expected)
    return any(all(map(re.fullmatch, pair, difference[:2])) for pair in patterns)


def main() -> int:
    """Compare the trees call by call; return the exit code."""
    from calls import CALLS
    from inputs import make

    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("way", nargs="?", choices=["byte", "numbers"], default="byte")
    parser.add_argument("--base", default=BASE, help=f"the earlier commit (default: {BASE})")
    parser.add_argument("--calls", nargs="+", default=[], help="only calls with one of these words in them")
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
        found = compare([base, ROOT], inputs, calls, numbers=chosen.way == "numbers")
    found = [difference for difference in found if not meant(difference, expected)]
    by_call = {call: [*places] for call, places in groupby(found, key=itemgetter(0))}
    for call, places in by_call.items():
        print(f"\n{call}")
        for _, place, before, after in places:
            print(f"    {place}: {before} -> {after}")
    print(f"\n{len(calls)} calls; {len(by_call)} differ, in {len(found)} places")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
