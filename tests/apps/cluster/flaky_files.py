"""Local files under `flaky://` that fail, come short, wait or kill their reader.

Files beside a file NAME order this:

- NAME.fail: how many times opening NAME fails
- NAME.short: how many times a reader gets only half of NAME
- NAME.end: how many processes that open NAME are killed
- NAME.wait: while this file exists, the first process that opens NAME waits

Each process that opens NAME adds a line to NAME.opened.
"""

import io
import os
import signal
import time
from pathlib import Path

from fsspec.implementations.local import LocalFileSystem


def number(path: Path) -> int:
    return int(path.read_text()) if path.exists() else 0


class FlakyFiles(LocalFileSystem):
    protocol = ("flaky",)
    cachable = False

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(str(path).removeprefix("flaky://"))

    def unstrip_protocol(self, name):
        return f"flaky://{name}"

    def open(self, path, mode="rb", **given):  # noqa: ARG002 - as fsspec calls it
        path = Path(self._strip_protocol(path))

        def beside(what: str) -> Path:
            return path.with_name(f"{path.name}.{what}")

        with beside("opened").open("a") as file:
            file.write(f"{os.getpid()}\n")
        opened = beside("opened").read_text().split()
        if len(opened) <= number(beside("fail")):
            raise OSError("the connection was reset")
        if len(opened) <= number(beside("end")):
            os.kill(os.getpid(), signal.SIGKILL)
        while beside("wait").exists() and opened[0] == str(os.getpid()):
            time.sleep(0.02)
        data = path.read_bytes()
        stream = io.BytesIO(data[: len(data) // 2] if len(opened) <= number(beside("short")) else data)
        stream.size = len(data)
        return stream
