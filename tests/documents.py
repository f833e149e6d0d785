"""Runs the examples in documents: commands with their output, and Python."""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from called import PROGRAM, main_in
from tones import sweep, write

ROOT = Path(__file__).parents[1]
OMITTED = "..."
"""A line of only this matches any number of lines of the output."""


def script(name: str) -> ModuleType:
    """Return a script of docs/make, or an example by its path below docs/, loaded but not run."""
    path = ROOT / "docs" / (f"{name}.py" if "/" in name else f"make/{name}.py")
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), vars(module))  # noqa: S102 - our own script
    return module


@dataclass(frozen=True)
class Example:
    """A command in a document, and the lines of output below it."""

    command: str
    output: tuple[str, ...]

    def shows(self, printed: str) -> bool:
        """Return whether the lines match the printed text, apart from omitted lines."""
        lines = (r"(?:.*\n)*?" if line == OMITTED else re.escape(line) + r"\n" for line in self.output)
        end = "" if printed.endswith("\n") or not printed else "\n"
        return re.fullmatch("".join(lines), printed + end) is not None


def make_command(folder: Path) -> None:
    """Write the program `soft-sed-eval` to a new folder."""
    folder.mkdir(parents=True)
    path = folder / "soft-sed-eval"
    path.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n', encoding="utf-8")
    path.chmod(0o755)


def make_workplace(folder: Path) -> dict[str, str]:
    """Write the files that examples use to a folder; return an environment with the program on its PATH."""
    for path in (ROOT / "sample_data").glob("*.tsv"):
        shutil.copy(path, folder)
    for name in ("low.tsv", "high.tsv"):
        shutil.copy(folder / "events.tsv", folder / name)
    shutil.copytree(ROOT / "configs", folder / "configs")
    for name in ("cafe", "metro", "night", "park", "street"):
        write(folder / "audio" / f"{name}.wav", sweep(2, 8_000, 100, 3_000), 8_000)
    make_command(folder / ".bin")
    search = os.pathsep.join((str(folder / ".bin"), os.environ["PATH"]))
    return {**os.environ, "PATH": search, "PYTHONPATH": str(ROOT)}


ASKING = """
exec 3>&1 4<&0 </dev/null >.printed 2>&1
soft-sed-eval() {
    echo "${*@Q}" >&3
    read -r code <&4
    cat .out; cat .err >&2
    return "$code"
}
"""
"""The program in a shell: it asks the test process to run the call, and prints its output."""


def run_all(commands: Sequence[str], folder: Path) -> list[tuple[int, str]]:
    """Run commands in one shell; return the exit code of each, and the text of both its streams.

    Calls of the program run in this process.
    """
    shell = "".join(f"{{\n{command}\n}}\nprintf '\\0%s\\0' $?\n" for command in commands)
    with subprocess.Popen(
        ["bash", "-c", ASKING + shell], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout:
            code, *printed = main_in(folder, shlex.split(line))
            for name, text in zip((".out", ".err"), printed, strict=True):
                (folder / name).write_text(text, encoding="utf-8")
            process.stdin.write(f"{code}\n")
            process.stdin.flush()
    parts = (folder / ".printed").read_text(encoding="utf-8").split("\0")
    assert len(parts) == 2 * len(commands) + 1, parts
    return [(int(code), text) for text, code in zip(parts[:-1:2], parts[1::2], strict=True)]


def without_code(text: str) -> str:
    """Return a document without its code."""
    text = re.sub(r"^( *)(```+).*?^ *\2 *$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def examples(text: str) -> Iterator[Example]:
    """Yield the commands of console blocks, each behind `$ ` (going on behind `> `), with their output."""
    for block in blocks(text, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            first, *lines = part.splitlines()
            more = [line[2:] for line in lines if line.startswith("> ")]
            yield Example("\n".join((first, *more)), tuple(lines[len(more) :]))


def schema(name: str = "soft-sed-eval-1") -> dict[str, Any]:
    """Return one of the package's JSON Schemas."""
    path = ROOT / "sedeval_soft" / "report" / "schema" / f"{name}.schema.json"
    return json.loads(path.read_text(encoding="utf-8"))
