"""Run calls of the package that is first on the path, each in a fork of this process, which has imported it.

Reads a line of JSON for each call, {"call": ..., "folder": ...}, and answers with exit codes. What a call
prints becomes the files `stdout` and `stderr` of the folder.
"""

from __future__ import annotations

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
from typing import Any

SECONDS = 300
"""How long a call may take; it is killed then, which is an exit code of its own."""


def warm(modules: list[str]) -> None:
    """Import the package and what it imports late, so that no call needs to."""
    package = import_module("sedeval_soft")
    found = [module.name for module in pkgutil.walk_packages(package.__path__, "sedeval_soft.")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in [*modules, *found]:
            if not name.startswith(("sedeval_soft.apps.training", "sedeval_soft.__main__")):
                with contextlib.suppress(ImportError):
                    import_module(name)


def of_library(code: str) -> None:
    """Print what an expression of the library returns: the values of scores by name, or its text."""
    import numpy as np

    import sedeval_soft

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(name): plain(item) for name, item in value.items()}
        return value

    names = {name: getattr(sedeval_soft, name) for name in sedeval_soft.__all__}
    value = plain(eval(code, {**names, "np": np}))  # noqa: S307 - the calls are ours
    sys.stdout.write(json.dumps(value, indent=1, default=repr))
    sys.stdout.flush()
    os._exit(0)


def run(command: str, folder: str) -> int:
    """Return the exit code of a command; what it prints is added to the files of the folder."""
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
    try:
        of_library(words[1]) if words[0] == "py" else import_module("sedeval_soft.cli").main()
    except Exception as error:  # an error of the library is an outcome, too
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    sys.stderr.flush()
    os._exit(3)


if __name__ == "__main__":
    warm(sys.argv[1:])
    for line in sys.stdin:
        asked = json.loads(line)
        codes = [run(command, asked["folder"]) for command in asked["call"].split(" && ")]
        print(json.dumps(codes), flush=True)  # noqa: T201
