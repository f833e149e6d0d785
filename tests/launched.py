"""The command in a process of its own, as a shell begins it, without the time that Python needs to start.

A server that has imported what the command imports forks for each call. A small program beside the caller
hands it the arguments, the folder, the environment and the standard streams themselves, and leaves with the
same exit code. So streams may be pipes, closed or full, and whatever a call leaves behind ends with its
process. What only a new interpreter shows (imports, `python -m`, signals) is tested with `sys.executable`.
"""

# ruff: noqa: PTH109, PTH120, PTH100, SIM115 - the small program must start fast, and streams stay open

from __future__ import annotations

import contextlib
import functools
import json
import os
import socket
import sys

STREAMS = (0, 1, 2)
IMPORTED = (
    *("numpy", "pyarrow.csv", "msgspec", "yaml", "sedeval_soft.cli.main", "sedeval_soft.api.evaluation"),
    *("sedeval_soft.tables", "sedeval_soft.report", "sedeval_soft.settings_files"),
    "sedeval_soft.evaluation.system_scores",
)
"""What most calls import; the rest each imports by itself."""

FIGURES = (
    "sedeval_soft.apps.plots.style",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
)
"""What calls that draw figures import beside that, which takes longer than to draw them."""


def _is_open(descriptor: int) -> bool:
    with contextlib.suppress(OSError):
        return bool(os.fstat(descriptor))
    return False


def call(address: str, arguments: list[str]) -> int:
    """Have the server run the command on our own streams; return its exit code."""
    streams = [number for number in STREAMS if _is_open(number)]
    asked = {
        "arguments": arguments,
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "streams": streams,
    }
    # What takes the place of a closed stream must not be taken for it.
    fillers = [os.open(os.devnull, os.O_RDONLY) for number in STREAMS if number not in streams]
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [b"+"], streams or fillers[:1])
        server.sendall(json.dumps(asked).encode() + b"\n")
        said = server.recv(16)
    return int(said) if said else 70


def serve(folder: str, more: list[str]) -> None:
    """Fork for each call until the one who started this is gone, which closes our standard input."""
    import importlib
    import select
    import shutil
    import signal

    for name in (*IMPORTED, *more):
        importlib.import_module(name)
    # Nobody asks how the forks ended: they say so themselves.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/s")
        listener.listen(64)
        os.write(1, b"ready\n")
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            if 0 in ready:
                return shutil.rmtree(folder)
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    listener.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    _run(connection)


def _run(connection: socket.socket) -> None:
    _, streams, _, _ = socket.recv_fds(connection, 1, len(STREAMS))
    text = b""
    while not text.endswith(b"\n"):
        text += connection.recv(1 << 16)
    asked = json.loads(text)
    _take_streams(dict(zip(asked["streams"], streams, strict=False)), streams)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["soft-sed-eval", *asked["arguments"]]
    leave = os._exit

    def say_and_leave(code: int) -> None:
        connection.sendall(str(code).encode())
        leave(code)

    os._exit = say_and_leave
    from sedeval_soft.cli import main

    try:
        main()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
        os._exit(1)


def _take_streams(given: dict[int, int], received: list[int]) -> None:
    """Put the caller's streams in the places of ours, and close those that the caller has not."""
    for number in STREAMS:
        if number in given:
            os.dup2(given[number], number)
        else:
            os.close(number)
    for descriptor in received:
        os.close(descriptor)
    options = {"closefd": False, "encoding": "utf-8"}
    sys.stdin = open(0, **options) if 0 in given else None
    sys.stdout = open(1, "w", **options) if 1 in given else None
    sys.stderr = open(2, "w", **options, buffering=1, errors="backslashreplace") if 2 in given else None


def unmeasured() -> dict[str, str]:
    """Return an environment in which programs are not looked at by coverage, which takes time and imports."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


@functools.cache
def program(*more: str) -> list[str]:
    """Return the words that run the command by way of a server, which is started by the first who asks.

    more: modules that its calls need beside those that most calls do.
    """
    import subprocess
    import tempfile

    folder = tempfile.mkdtemp(prefix="launched")
    # It ends, and removes the folder, when the pipe to it is closed: with this process, however that ends.
    server = subprocess.Popen(
        [sys.executable, "-W", "ignore", __file__, "serve", folder, *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))},
    )
    assert server.stdout and server.stdout.readline() == b"ready\n"
    _servers.append(server)
    return [sys.executable, "-I", "-S", __file__, "call", f"{folder}/s"]


_servers: list[object] = []


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], sys.argv[3:])
    else:
        os._exit(call(sys.argv[2], sys.argv[3:]))
