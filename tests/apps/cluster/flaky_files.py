"""Files of this machine under `flaky://`, which fail, come short, wait or end who reads them, as is laid out.

Beside a file NAME there may be NAME.fail (how many times opening it fails), NAME.short (how many times half
of it comes), NAME.end (how many processes that open it are killed) and NAME.wait (while it is there, the
first process that opens NAME waits). Each process that opens NAME leaves a line in NAME.opened.
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
