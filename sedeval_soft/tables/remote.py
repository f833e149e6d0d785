"""Files elsewhere: URLs such as `s3://bucket/ref.parquet`, read by way of fsspec.

A read that fails is tried again, later each time; one that goes on failing is told with its URL. fsspec, and
what it needs for each kind of URL, are imported where a URL is read.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any, TypeVar

from sedeval_soft.errors import EvaluationError, InputError, Problem, one_line
from sedeval_soft.tables.compressed import Bytes, Taken
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.stored_rows import on_disk

T = TypeVar("T")

_LARGE = 1 << 20
"""Bytes from which a file goes to the disk, and is mapped from there; also how many are read at a time."""

TRIES, FIRST_WAIT = 5, 0.5
"""How often a read is tried, and seconds before the second time; before each one after it, twice as many."""

_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs"}
"""Kinds of URLs and the extras of this package that have what they need."""

_FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
"""What trying again does not mend."""


def fetch(name: str, limits: Limits = LIMITS) -> Bytes:
    """Return the bytes of a file elsewhere, those of a large one mapped from a temporary file.

    Raises InputError where it cannot be read, or is over the limit of size.
    """

    def once(files: Any, path: str) -> Bytes:  # noqa: ANN401 - fsspec has no types
        try:
            return _copy(name, files, path, limits)
        except Exception:
            # What is remembered of a folder may be what is wrong.
            files.invalidate_cache()
            raise

    return _retried(name, once)


def found_by(pattern: str, limits: Limits = LIMITS) -> list[tuple[str, int]]:
    """Return the URLs of the files that a pattern of URLs fits, with their bytes; 0 where nobody knows.

    Raises InputError where they cannot be listed.
    """

    def once(files: Any, path: str) -> list[tuple[str, int]]:  # noqa: ANN401
        files.invalidate_cache()
        infos = files.glob(path, detail=True)
        if len(infos) > limits.members:
            raise limits.refusal(pattern, "members", f"has more than {limits.members} files")
        return sorted(
            (files.unstrip_protocol(key), int(info.get("size") or 0))
            for key, info in infos.items()
            if info.get("type", "file") == "file"
        )

    return _retried(pattern, once)


def size_of_remote(name: str) -> int:
    """Return the bytes of a file elsewhere, 0 where nobody knows; raises InputError where it is not there."""
    return _retried(name, lambda files, path: int(files.info(path).get("size") or 0))


def _copy(name: str, files: Any, path: str, limits: Limits) -> Bytes:  # noqa: ANN401
    with files.open(path, "rb") as stream, TemporaryFile() as copy:
        taken = Taken(name, limits, copy)
        expected = getattr(stream, "size", None)
        if expected is not None and expected > limits.size:
            raise limits.refusal(name, "size", f"has {expected} bytes", expected)
        while piece := stream.read(_LARGE):
            with on_disk(Path(gettempdir())):
                taken.add(piece)
        if expected is not None and taken.size != expected:
            raise OSError(f"{taken.size} of {expected} bytes came")
        with on_disk(Path(gettempdir())):
            copy.flush()
        if taken.size >= _LARGE:
            return mmap.mmap(copy.fileno(), 0, access=mmap.ACCESS_READ)
        copy.seek(0)
        return copy.read()


def _retried(name: str, once: Callable[[Any, str], T]) -> T:
    """Return what a function returns that may fail for a while; raises InputError if it goes on to fail.

    once: takes the file system that a URL is of, and the path in it.
    """
    for tried in range(1, TRIES + 1):
        try:
            return once(*_opened(name))
        except EvaluationError:
            raise
        except _FINAL as error:
            raise _unreadable(name, f"cannot be read: {_text(error)}") from error
        except Exception as error:  # each kind of file system has errors of its own
            if tried == TRIES:
                raise _unreadable(name, f"cannot be read, tried {TRIES} times: {_text(error)}") from error
            time.sleep(FIRST_WAIT * 2 ** (tried - 1))
    raise AssertionError("the last try returns or raises")


def _opened(name: str) -> tuple[Any, str]:
    """Return the file system that a URL is of, and the path in it."""
    lacking = "fsspec"
    try:
        from fsspec.core import url_to_fs

        lacking = ""
        files, path = url_to_fs(name)
    except ImportError as error:
        extra = _EXTRAS.get(name.partition("://")[0].rpartition("::")[2].lower(), "distributed")
        what = f"({lacking or one_line(error)}): install soft-sed-eval[{extra}]"
        raise _unreadable(name, f"is a URL that cannot be read without another package {what}") from error
    except ValueError as error:
        raise _unreadable(name, f"is no URL that can be read: {_text(error)}") from error
    return files, path


def _text(error: Exception) -> str:
    """Return what an error says, in one line of some length."""
    return one_line(getattr(error, "strerror", None) or str(error) or type(error).__name__)


def _unreadable(name: str, message: str) -> InputError:
    return InputError(Problem(name, message, code="unreadable-file"))
