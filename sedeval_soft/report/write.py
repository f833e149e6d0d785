"""Write a result so that its file is complete or as it was."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from sedeval_soft.core.errors import EvaluationError

_DEVICES = ("/dev/", "/proc/")


class OutputError(EvaluationError):
    """A result could not be written; what was there before still is."""


def write_atomic(path: str | os.PathLike[str], text: str) -> None:
    """Write a text to a temporary file beside the target, and rename that.

    Devices and pipes are written directly. A link is followed, and an existing file's permissions
    are kept. Raises OutputError.
    """
    target = Path(os.path.realpath(path))
    try:
        if os.fspath(path).startswith(_DEVICES):
            with Path(path).open("ab") as device:  # /dev/stdout may be a file that has more in it
                device.write(text.encode("utf-8"))
            return
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            target.write_text(text, encoding="utf-8")
            return
        _replace(target, text.encode("utf-8"), mode)
    except OSError as error:
        raise OutputError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    if target.is_dir():
        raise IsADirectoryError(21, "is a directory")
    import tempfile

    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
