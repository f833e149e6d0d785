# ruff: noqa: T201 - what a call prints is read
"""Import the package that is first on the path, and run each call of it in a fork of this process.

Reads a line of JSON for each call, {"call": ..., "folder": ...}, and answers with exit codes. The output of a
call goes to the files `stdout` and `stderr` of the folder.
"""

import contextlib
import json
import os
import pkgutil
import shlex
import signal
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module

SECONDS = 300
"""A call that takes longer is killed, which gives its own exit code."""


def warm(modules: list[str]) -> None:
    """Import the package, and the modules that it imports late, so that no call needs to."""
    package = import_module("sedeval_soft")
    found = (module.name for module in pkgutil.walk_packages(package.__path__, "sedeval_soft."))
    left_out = ("sedeval_soft.apps.training", "sedeval_soft.__main__")
    for name in (*modules, *(name for name in found if not name.startswith(left_out))):
        with contextlib.suppress(ImportError), warnings.catch_warnings(action="ignore"):
            import_module(name)


def of_library(code: str) -> None:
    """Print the result of an expression of the library: the values of scores by name, or its text."""
    import numpy as np

    import sedeval_soft

    names = {name: getattr(sedeval_soft, name) for name in sedeval_soft.__all__}
    value = eval(code, {**names, "np": np})  # noqa: S307 - the calls are ours
    json.dump(
        value, sys.stdout, indent=1, default=lambda of: dict(of) if isinstance(of, Mapping) else repr(of)
    )


def run(command: str, folder: str) -> int:
    """Run a command and return its exit code; its output is added to the files of the folder."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(SECONDS)
    words = command.split(" ", 1) if command.startswith("py ") else shlex.split(command)
    source = words.pop(words.index("<") + 1) if "<" in words else os.devnull
    os.dup2(os.open(source, os.O_RDONLY), 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    sys.argv = ["soft-sed-eval", *(word for word in words if word != "<")]
    code = 0
    try:
        of_library(words[1]) if words[0] == "py" else import_module("sedeval_soft.cli").main()
    except Exception as error:  # an error of the library is an outcome, too
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        code = 3
    print(end="", flush=True)
    os._exit(code)


if __name__ == "__main__":
    warm(sys.argv[1:])
    for line in sys.stdin:
        asked = json.loads(line)
        codes = [run(command, asked["folder"]) for command in asked["call"].split(" && ")]
        print(json.dumps(codes), flush=True)
