"""Write a result so that its file is complete or as it was."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from sedeval_soft.errors import EvaluationError

_OPEN_ALREADY = re.compile(r"/dev/(stdin|stdout|stderr|fd/\d+)|/proc/(self|\d+)/fd/\d+")
"""Names of what a process has open: `/dev/stdout` may be a file that has more in it."""


PART_PREFIX, PART_SUFFIX = ".soft-sed-eval-", ".part"
"""How the names of unfinished files begin and end: one is left behind only where a process is killed at once,
and may then be deleted. Folders of tables are read past it."""


class OutputError(EvaluationError):
    """A result could not be written; what was there before still is."""


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a text, or bytes, to a temporary file beside the target, and rename that.

    Devices, pipes and what is open already (`/dev/stdout`) are written directly. A link is followed, and
    an existing file's permissions are kept. Raises OutputError; BrokenPipeError where nobody reads any more.
    """
    name = os.fspath(path)
    with _failing(name):
        data = content.encode("utf-8") if isinstance(content, str) else content
        if _OPEN_ALREADY.fullmatch(name):
            with Path(name).open("ab") as opened:
                opened.write(data)
            return
        _put(name, lambda target: _fill(target, data))


def add_to(path: str | os.PathLike[str], text: str) -> None:
    """Write a text behind what a file has, which others write too; raises OutputError."""
    with _failing(os.fspath(path)), Path(path).open("ab") as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def replaced(path: str | os.PathLike[str], write: Callable[[Path], None]) -> None:
    """Let a function write a file beside the target, and rename that; as `write_atomic` otherwise."""
    with _failing(os.fspath(path)):
        _put(os.fspath(path), write)


@contextlib.contextmanager
def _failing(name: str) -> Iterator[None]:
    """Turn what goes wrong in writing into an OutputError that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL, a text that is none
        said = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"{name}: cannot be written: {said}") from error


def _put(name: str, write: Callable[[Path], None]) -> None:
    try:
        mode = Path(name).stat().st_mode
    except FileNotFoundError:
        mode = None
    if not name or (mode is not None and stat.S_ISDIR(mode)):
        raise IsADirectoryError(21, "it is a folder" if name else "the name is empty")
    if mode is not None and not stat.S_ISREG(mode):
        write(Path(name))
        return
    target = Path(os.path.realpath(name))
    if not target.parent.is_dir():
        raise NotADirectoryError(20, f"there is no folder {target.parent}")
    _replace(target, write, mode)


def _fill(target: Path, data: bytes) -> None:
    with target.open("wb") as file:
        file.write(data)


def _replace(target: Path, write: Callable[[Path], None], mode: int | None) -> None:
    """Let a function write a new file beside the target, and put it in the target's place."""
    import secrets

    # Named before it is made: whatever interrupts us, wherever, it is known what must go.
    part = target.parent / f"{PART_PREFIX}{os.getpid()}-{secrets.token_hex(8)}{PART_SUFFIX}"
    try:
        with open(part, "xb", opener=_for_us_alone) as file:
            write(part)
            os.fsync(file.fileno())
        part.chmod(stat.S_IMODE(mode) if mode is not None else 0o666 & ~umask())
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _for_us_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def umask() -> int:
    """Return which permissions new files of this process do not have."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
