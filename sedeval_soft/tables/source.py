"""The bytes of an input: from a file, standard input or a URL, compressed or not, with their hash.

fsspec reads remote files, such as `s3://bucket/ref.parquet`; it is imported when it is needed. The error of a
failed read has the URL.
"""

from __future__ import annotations

import codecs
import errno
import glob
import hashlib
import io
import math
import mmap
import os
import re
import shlex
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO

from sedeval_soft.errors import EvaluationError, InputError, Problem, install_command, one_line
from sedeval_soft.memory import check_room
from sedeval_soft.names import did_you_mean
from sedeval_soft.tables.limits import LIMITS, Limits

Bytes = bytes | mmap.mmap

BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which readers take away."""

_MARKS = {
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "UTF-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "UTF-16"),
}
"""Byte order marks of other encodings; the first that fits decides."""

_COMPRESSION = re.compile(
    rb"(?P<gzip>\x1f\x8b)|(?P<bz2>BZh[1-9](?:1AY&SY|\x17rE8P\x90))|(?P<lzma>\xfd7zXZ\x00)"
)
"""The first bytes of compressed data, by the module that reads them."""

_PROGRAM = {"gzip": "gzip", "bz2": "bzip2", "lzma": "xz"}

_COMPRESSED_NAME = re.compile(r"\.(gz|bz2|xz)$", re.IGNORECASE)

_COMPARED = 10_000  # names of a folder that are compared with one that is not in it
_LARGE = 1 << 20
"""Bytes from which a file is mapped, and hashed in a thread of its own while the table is read."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]+://", re.ASCII)
_PACKED = (".gz", ".bz2", ".xz", ".zip", ".tgz", ".tbz", ".tbz2", ".txz", ".parquet", ".pq", ".arrow")
_UNPACKED = 6
"""The number of bytes of text for a packed byte."""

SPARED = 1 << 24  # decompressed bytes for which no ratio is checked: a short table of zeros does no harm
_AT_ONCE = 1 << 24  # bytes that are hashed before their pages are let go of
_CHECKED = 1 << 26  # bytes after which memory for as many more is checked

_STORES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs"}
"""Kinds of URLs and the packages that they need beside fsspec."""


@dataclass(frozen=True, slots=True)
class Source:
    """An input's text.

    name: as the user gave it. data: UTF-8 bytes, decompressed, without byte order mark; a large file is
    mapped, not copied. unpacked_of: the number of bytes that came, 0 if they are the bytes of data.
    """

    name: str
    data: Bytes
    _digest: Callable[[], str]
    unpacked_of: int = 0

    @property
    def packed(self) -> int:
        """Return how many bytes came."""
        return self.unpacked_of or len(self.data)

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the bytes as they came, before decompression."""
        return self._digest()


def open_source(
    path: str | os.PathLike[str],
    stdin: BinaryIO | None = None,
    limits: Limits = LIMITS,
    scratch: Path | None = None,
) -> Source:
    """Take in a file, or standard input for `-`; raises InputError if that fails, or over a limit.

    scratch: a folder for decompressed data that memory should not keep.
    """
    name = os.fspath(path)
    data = raw = read_bytes(name, stdin, limits)
    digest = _hashed(raw, keep=scratch is None)
    if compression_of(raw) and scratch is not None:
        from tempfile import TemporaryFile

        with on_disk(scratch), TemporaryFile(dir=scratch) as file:
            decompress(spelled(name), raw, limits, file)
            file.flush()
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
    elif compression_of(raw):
        data = decompress(spelled(name), raw, limits)
    return Source(spelled(name), as_utf8(name, data), digest, len(raw))


def as_utf8(name: str, data: Bytes) -> Bytes:
    """Return a text without its byte order mark; raises InputError for one in UTF-16.

    Praat writes UTF-16 if a text is not ASCII: a file of Praat in UTF-16 is accepted.
    """
    encoding = next((each for mark, each in _MARKS.items() if data[: len(mark)] == mark), "")
    if not encoding:
        return data[len(BOM) :] if data[: len(BOM)] == BOM else data
    try:
        text, damage = data[:].decode(encoding), ""
    except UnicodeDecodeError as error:
        text, damage = "", f" that is damaged ({error.reason})"
    if "ooTextFile" in text[:100]:
        return text.encode()
    raise InputError(Problem(name, f"is {encoding}{damage}; expected UTF-8 text", line=1, code="utf-16"))


def copy_command(name: str) -> str:
    """Return the command that writes a fixed copy of a table; empty if it is not a file of its own."""
    return mend_command(name) if os.path.isfile(name) else ""


def mend_command(name: str) -> str:
    """Return the command that writes a fixed copy of a file."""
    path = Path(name)
    copy = str(path.with_name(f"{path.stem}.fixed{path.suffix}"))
    return f"soft-sed-eval validate {shlex.quote(name)} --fix {shlex.quote(copy)}"


def _hashed(raw: Bytes, *, keep: bool) -> Callable[[], str]:
    """Return a function that returns the hash of bytes; many bytes are hashed in the background.

    keep: whether pages of a mapped file may stay in memory.
    """
    if len(raw) < _LARGE:
        return partial(str, hashlib.sha256(raw).hexdigest())
    from concurrent.futures import ThreadPoolExecutor

    def sha256() -> str:
        digest = hashlib.sha256()
        for at in range(0, len(raw), _AT_ONCE):
            digest.update(memoryview(raw)[at : at + _AT_ONCE])
            if not keep:
                let_go(raw, at, at + _AT_ONCE)
        return digest.hexdigest()

    thread = ThreadPoolExecutor(1, thread_name_prefix="sha256")
    future = thread.submit(sha256)
    thread.shutdown(wait=False)
    return future.result


def let_go(data: Bytes, begin: int, end: int) -> None:
    """Give back the memory of pages of a mapped file; later readers get them from the disk."""
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        begin -= begin % mmap.PAGESIZE
        with suppress(OSError, ValueError):
            data.madvise(mmap.MADV_DONTNEED, begin, min(end, len(data)) - begin)


def read_bytes(name: str, stdin: BinaryIO | None = None, limits: Limits = LIMITS) -> Bytes:
    """Return the bytes of a file, or of standard input for `-`; raises InputError as `open_source` does.

    The bytes of a small file are a copy, the bytes of a large one its mapped pages.
    """
    if not name:
        raise unreadable("''", "is not the name of a file; expected a path, or - for standard input")
    if name == "-" and stdin is None and sys.stdin is None:
        raise unreadable(name, "standard input is closed; expected a table there")
    if is_url(name):
        with _elsewhere(name) as (files, path):
            return _fetched(name, files, path, limits)
    try:
        with nullcontext(stdin or sys.stdin.buffer) if name == "-" else Path(name).open("rb") as file:
            state = None if name == "-" else os.fstat(file.fileno())
            if state is not None and stat.S_ISREG(state.st_mode) and state.st_size >= _LARGE:
                limits.check(spelled(name), "size", state.st_size, "bytes")
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            # A device or a pipe has no size, and may have no end.
            most = min(_LARGE, limits.size + 1)
            first = file.read(most)
            if len(first) < most:
                return first
            return taken(spelled(name), limits, chain([first], iter(partial(file.read, _LARGE), b"")))
    except OSError as error:
        like = _named_alike(name) if isinstance(error, FileNotFoundError) else ""
        raise unreadable(name, f"cannot be read: {error.strerror or error}{like}") from error
    except ValueError as error:
        raise unreadable(repr(name), f"is not the name of a file: {error}") from error


def _named_alike(name: str) -> str:
    """Return a question for a file of the same folder that is called nearly as one that is not there."""
    path = Path(name)
    with suppress(OSError), os.scandir(path.parent) as entries:
        return did_you_mean(path.name, [entry.name for entry in islice(entries, _COMPARED)], n=1, cutoff=0.8)
    return ""


def unreadable(name: str, message: str) -> InputError:
    """Return the error of a file, or a folder, that cannot be read."""
    return InputError(Problem(name, message, code="unreadable-file"))


def spelled(name: str) -> str:
    """Return the name of a file as text: bytes in it that are not UTF-8 are written as escapes."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


class FullError(EvaluationError):
    """A disk that has no room, or cannot be written to."""


@contextmanager
def on_disk(folder: Path | None = None) -> Iterator[None]:
    """Raise FullError with the problem if temporary files cannot be written, in a folder if it is known."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        needed = "; temporary files take about as much room as the input, uncompressed" if full else ""
        text = f"cannot be written: {error.strerror or error}{needed}"
        place = folder or os.environ.get("TMPDIR", "temporary files")
        raise FullError(f"{place}: {text}. TMPDIR names their folder, which all workers must see") from error


def is_url(name: str) -> bool:
    """Return whether a name is the name of a remote file, such as `s3://bucket/ref.parquet`."""
    return _URL.match(name) is not None


def is_pattern(name: str) -> bool:
    """Return whether a name is a pattern of names, such as `ref/*.parquet`, and not a file's own."""
    # In a URL of the web, a question mark begins a query.
    magic = "*[" if is_url(name) and name.lower().startswith("http") else "*?["
    return any(sign in name for sign in magic) and (is_url(name) or not os.path.lexists(name))


def without_compression(name: str) -> str:
    """Return the name of a file without `.gz`, `.bz2` or `.xz`."""
    return _COMPRESSED_NAME.sub("", name)


def extension_of(name: str) -> str:
    """Return the extension of a file's name, below `.gz`, `.bz2` or `.xz`, in lower case."""
    # An archive may have very many: a path object of each takes longer than to read it.
    last = without_compression(name).replace("\\", "/").rstrip("/").rpartition("/")[2]
    stem, dot, end = last.rpartition(".")
    return f"{dot}{end}".lower() if stem and end else ""


def bytes_as_text(name: str, size: int) -> int:
    """Return the bytes that a file of so many bytes would have as text, estimated."""
    return size * _UNPACKED if name.lower().endswith(_PACKED) else size


def list_files(name: str, limits: Limits = LIMITS) -> list[tuple[str, int]]:
    """Return the names of the files that a name or a pattern matches, with their bytes; 0 if not known.

    Raises InputError if they cannot be listed, and if a URL does not exist.
    """
    if is_url(name):
        with _elsewhere(name) as (files, path):
            if not is_pattern(name):
                return [(name, int(files.info(path).get("size") or 0))]
            files.invalidate_cache()
            infos = files.glob(path, detail=True)
            limits.few_enough(name, infos)
            return sorted(
                (files.unstrip_protocol(key), int(info.get("size") or 0))
                for key, info in infos.items()
                if info.get("type", "file") == "file"
            )
    if not is_pattern(name):
        return [(name, _size(name))]
    try:
        # Messages have names as they were typed, which a Path would change.
        fitting = filter(os.path.isfile, glob.iglob(name, recursive=True))  # noqa: PTH207
        return [(path, _size(path)) for path in sorted(limits.few_enough(spelled(name), fitting))]
    except (OSError, ValueError) as error:
        raise unreadable(spelled(name), f"cannot be looked for: {error}") from error


def _size(name: str) -> int:
    return Path(name).stat().st_size if os.path.exists(name) else 0


# Files elsewhere. fsspec has no types.


def _fetched(name: str, files: Any, path: str, limits: Limits) -> Bytes:  # noqa: ANN401
    """Return the bytes of a remote file, the bytes of a large one mapped from a temporary file."""
    from tempfile import TemporaryFile

    with files.open(path, "rb") as stream, TemporaryFile() as copy:
        expected = getattr(stream, "size", None)
        limits.check(name, "size", expected or 0, "bytes")
        taken(name, limits, iter(partial(stream.read, _LARGE), b""), copy)
        if expected is not None and copy.tell() != expected:
            raise OSError(f"{copy.tell()} of {expected} bytes came")
        with on_disk():
            copy.flush()
        if copy.tell() >= _LARGE:
            return mmap.mmap(copy.fileno(), 0, access=mmap.ACCESS_READ)
        copy.seek(0)
        return copy.read()


@contextmanager
def _elsewhere(name: str) -> Iterator[tuple[Any, str]]:
    """Yield the file system that a URL is of, and the path in it; raises InputError if reading fails.

    Stores retry on their own.
    """
    try:
        from fsspec.core import url_to_fs

        yield url_to_fs(name)
    except EvaluationError:
        raise
    except ImportError as error:
        package = _STORES.get(name.partition("://")[0].rpartition("::")[2].lower(), "fsspec")
        what = f"another package ({one_line(error)}): {install_command(package)}"
        raise unreadable(name, f"is a URL that cannot be read without {what}") from error
    except Exception as error:  # each kind of file system has errors of its own
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise unreadable(name, f"cannot be read: {one_line(said)}") from error


# Decompressed bytes are counted: the size in a file's own header is not trusted.


def taken(
    name: str,
    limits: Limits,
    pieces: Iterable[bytes],
    file: IO[bytes] | None = None,
    packed: Callable[[], float] = lambda: math.inf,
    before: int = 0,
) -> bytes:
    """Take in pieces of unknown length; return their bytes, or nothing if a file takes them.

    name: of the input. packed: the compressed bytes that they came of so far. before: bytes of the input that
    were taken in already. Raises InputError over a limit, RoomError if memory is short, FullError.
    """
    size, checked, memory = before, before + _CHECKED, io.BytesIO()
    for piece in pieces:
        size += len(piece)
        if size > limits.size:
            raise limits.refusal(name, "size", f"has more than {limits.size} bytes")
        if size > max(SPARED, limits.ratio * packed()):
            why = f"has more than {limits.ratio} bytes for each compressed one"
            raise limits.refusal(name, "ratio", why)
        if file is None and size > checked:
            # The buffer doubles, more or less, when it is full.
            check_room(size, f"{name}: to hold it", "Expected less data, or data in several parts")
            checked = size + _CHECKED
        with on_disk():
            (file or memory).write(piece)
    return memory.getvalue()


def compression_of(data: Bytes) -> str:
    """Return the compression of data, as the name of Python's module for it; empty for uncompressed data."""
    match = _COMPRESSION.match(data[:10])
    return (match and match.lastgroup) or ""


def decompress(name: str, raw: Bytes, limits: Limits = LIMITS, file: IO[bytes] | None = None) -> bytes:
    """Return the decompressed bytes of an input; nothing if a file takes them.

    Raises InputError if they are damaged, and if they become more than limits allow.
    """
    stream = raw if isinstance(raw, mmap.mmap) else io.BytesIO(raw)
    return taken(name, limits, _decompressed(name, stream, compression_of(raw)), file, stream.tell)


def _decompressed(name: str, stream: mmap.mmap | io.BytesIO, kind: str) -> Iterator[bytes]:
    module = import_module(kind)
    try:
        with module.open(stream) as file:
            yield from iter(partial(file.read, _LARGE), b"")
    except (OSError, EOFError, ValueError, zlib.error, getattr(module, "LZMAError", OSError)) as error:
        message = f"begins like {_PROGRAM[kind]}, but cannot be decompressed: {error}"
        raise InputError(Problem(name, message, code="broken-gzip")) from error


def compressed(path: str, data: bytes) -> bytes:
    """Return bytes as a file of that name has them: compressed if its extension requires it."""
    module = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}.get(PurePosixPath(path).suffix.lower())
    if module is None:
        return data
    how = {"mtime": 0} if module == "gzip" else {}  # the same input gives the same bytes
    return bytes(import_module(module).compress(data, **how))
