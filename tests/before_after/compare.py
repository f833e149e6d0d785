"""Run the commit of an earlier tree beside this one, and say where what users see differs.

    python tests/before_after/compare.py COMMIT [--calls WORD ...] [--jobs N] [--keep FOLDER]

A call is the same where exit code, standard output and written files are equal to the byte; in JSON, ends
of intervals may differ by 1e-12 relative to their size. Messages on standard error that differ are listed,
but count as no failure: they are read by a person. The version is left out. Exits with 1 where a number, a
file or an exit code differs.
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

from calls import CALLS, SHARED  # noqa: E402 - the folder is no package
from inputs import make  # noqa: E402

CLOSE = 1e-12
"""By how much ends of intervals may differ."""

_LOOSE = {"low", "high", "ci", "interval", "p"}
_VERSION = re.compile(rb"\d+\.\d+\.\d+(\.dev\d+)?(\+\w+)?")


@dataclass
class Outcome:
    """What a call left behind: exit codes, both streams, and files by name."""

    codes: list[int] = field(default_factory=list)
    output: bytes = b""
    messages: str = ""
    files: dict[str, bytes] = field(default_factory=dict)


NEW = "entropy_correlation"
"""The measure that the tree has and the commit before it has not."""


def run(tree: Path, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run the command of a tree in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "COLUMNS": "120", "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "sedeval_soft", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)


def outcome(tree: Path, call: str, inputs: Path, name: str) -> Outcome:
    """Run the commands of a call in a folder of inputs; `OUT/` in them is a new folder."""
    out = inputs / name
    out.mkdir()
    result = Outcome()
    for command in call.split(" && "):
        arguments = [word.replace("OUT/", f"{name}/") for word in shlex.split(command)]
        done = run(tree, arguments, inputs)
        result.codes.append(done.returncode)
        result.output += done.stdout.replace(name.encode(), b"OUT")
        result.messages += done.stderr.decode().replace(name, "OUT")
    for path in sorted(out.rglob("*")):
        # What a cache is called and how it is written is nobody's concern.
        if path.is_file() and path.parent.suffix != ".cache":
            # A picture is looked at, not compared: that it is drawn is enough.
            content = path.read_bytes() if path.suffix != ".svg" else b"a picture"
            result.files[str(path.relative_to(out))] = content.replace(name.encode(), b"OUT")
    shutil.rmtree(out)
    return result


def numbers(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all values of a JSON document with their places."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers(item, f"{place}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            name = item.get("name", index) if isinstance(item, dict) else index
            yield from numbers(item, f"{place}[{name}]")
    else:
        yield place, value


def close(place: str, before: object, after: object) -> bool:
    """Say whether two values of JSON are the same, or ends of an interval that are as good as the same."""
    if before == after and type(before) is type(after):
        return True
    loose = place.rpartition(".")[2].partition("[")[0] in _LOOSE
    both = isinstance(before, int | float) and isinstance(after, int | float)
    return loose and both and math.isclose(float(before), float(after), rel_tol=CLOSE, abs_tol=CLOSE)  # type: ignore[arg-type]


def differences(before: bytes, after: bytes) -> list[str]:
    """Return what differs between two outputs, a line each; nothing where they are the same."""
    before, after = (_VERSION.sub(b"VERSION", text) for text in (before, after))
    if before == after:
        return []
    try:
        one, other = dict(numbers(json.loads(before))), dict(numbers(json.loads(after)))
    except ValueError:
        texts = [text.decode(errors="replace").splitlines() for text in (before, after)]
        lines = [line[:160] for line in difflib.unified_diff(*texts, lineterm="", n=0)][2:]
        return (
            [line for line in lines if NEW not in line and not line.startswith("@@")]
            if lines
            else ["bytes differ"]
        )
    absent = object()
    return [
        f"{place}: {one.get(place, 'absent')!r} -> {other.get(place, 'absent')!r}"
        for place in [*one, *(place for place in other if place not in one)]
        if NEW not in place and not close(place, one.get(place, absent), other.get(place, absent))
    ]


def compared(before: Outcome, after: Outcome) -> tuple[list[str], list[str]]:
    """Return the differences of a call that count, and those of its messages."""
    wrong = [] if before.codes == after.codes else [f"exit {before.codes} -> {after.codes}"]
    wrong += differences(before.output, after.output)
    for name in sorted({*before.files, *after.files}):
        if name not in before.files or name not in after.files:
            wrong.append(f"{name} is written by one tree only")
            continue
        wrong += [f"{name}: {line}" for line in differences(before.files[name], after.files[name])]
    said = differences(before.messages.encode(), after.messages.encode())
    return wrong, said


def main() -> int:
    """Compare the trees call by call; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit")
    parser.add_argument("--calls", nargs="+", default=[], help="only calls with one of these words in them")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--lines", type=int, default=6, help="differences shown of a call")
    chosen = parser.parse_args()
    shared = ROOT.parent / "shared" / "data"
    calls = [*CALLS, *(SHARED if shared.is_dir() else [])]
    calls = [call for call in calls if not chosen.calls or any(word in call for word in chosen.calls)]
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary) / "before"
        subprocess.run(
            ["git", "worktree", "add", "-q", "--detach", str(tree), chosen.commit], cwd=ROOT, check=True
        )
        try:
            sides = [Path(temporary) / side / "inputs" for side in ("a", "b")]
            make(
                sides[0],
                ROOT / "sample_data",
                shared if shared.is_dir() else None,
                lambda words, folder: run(tree, words, folder),
            )
            shutil.copytree(sides[0], sides[1], symlinks=True)

            def both(number: int) -> tuple[list[int], list[str], list[str]]:
                name = f"OUT{number:03d}OUT"
                before = outcome(tree, calls[number], sides[0], name)
                return before.codes, *compared(before, outcome(ROOT, calls[number], sides[1], name))

            with ThreadPoolExecutor(chosen.jobs) as pool:
                for call, (codes, wrong, said) in zip(calls, pool.map(both, range(len(calls))), strict=True):
                    failures += bool(wrong)
                    verdict = "DIFFERS" if wrong else "message" if said else "same"
                    print(f"{verdict:8}{' '.join(map(str, codes)):4}{call}", flush=True)
                    for line in [
                        *wrong[: chosen.lines],
                        *(f"stderr {line}" for line in said[: chosen.lines]),
                    ]:
                        print(f"    {line[:220]}")
                    if len(wrong) > chosen.lines:
                        print(f"    ... {len(wrong)} differences")
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, check=True)
    print(f"{len(calls)} calls, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
