"""Archives of tables, zip and tar, read where they are: each member is like a file of a folder.

Nothing is ever written to disk. Members that are links, devices, encrypted, archives themselves, or called so
that they would be extracted elsewhere, are refused: of such an archive nothing is believed.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from sedeval_soft.errors import InputError, Problem, one_line
from sedeval_soft.tables.compressed import SPARED
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.files import is_table, stem_of
from sedeval_soft.tables.fit import shown
from sedeval_soft.tables.forms import read_table
from sedeval_soft.tables.joined_tables import read_members
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import BOM, GZIP, Bytes, Source

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_TAR_AT = 257
_NESTED = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|7z|rar|tar\.\w+)$", re.IGNORECASE)

_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")
"""What follows `BZh9`: a block, or the end where there is none."""

_OPEN: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_PIECE = 1 << 20


def reads(source: Source, form: str) -> bool:
    """Return whether a file is a zip or tar archive, or begins as bzip2 or xz; gzip is undone before."""
    if form == "compressed":
        return bool(_compression_of(source.data))
    return _begins_zip(source.data) if form == "zip" else _begins_tar(source.data)


def read(source: Source, limits: Limits, form: str) -> EventTable | None:
    """Read the tables of an archive, or what is compressed."""
    counter = _Counter(source, limits)
    if form == "compressed":
        return _read_compressed(source, counter)
    members = _zip_members if form == "zip" else _tar_members
    try:
        return read_members(source.name, members(source, counter), "archive", limits)
    except (
        *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
        *(OSError, EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError, IndexError),
    ) as error:
        message = f"cannot be read as an archive: {one_line(error)}"
        raise InputError(Problem(source.name, message, code="broken-archive")) from error


def _read_compressed(source: Source, counter: _Counter) -> EventTable | None:
    """Read a table, or a tar archive, that was compressed with bzip2 or xz (gzip is undone before)."""
    if not _compression_of(source.data):
        raise InputError(Problem(source.name, "is not compressed with bzip2 or xz", code="broken-archive"))
    data = counter.expand(source.name, counter.file, _compression_of(source.data))
    if _compression_of(data):
        raise InputError(Problem(source.name, "is compressed twice; expected a table", code="nested-archive"))
    digest = source.sha256
    return read_table(Source(source.name, data.removeprefix(BOM), lambda: digest), limits=counter.limits)


def _compression_of(data: Bytes) -> str:
    """Return how bytes are compressed, nothing where they are not."""
    head = data[:10]
    if head[:2] == GZIP:
        return "gzip"
    if head[:3] == b"BZh" and head[4:] in _BZIP2:
        return "bzip2"
    return "xz" if head[:6] == b"\xfd7zXZ\x00" else ""


class _CountedFile(io.RawIOBase):
    """Bytes as a file, without a copy of them, that knows how many were read: those that others came of."""

    def __init__(self, data: Bytes) -> None:
        self._view = memoryview(data)
        self._at = 0
        self.taken = 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def seekable(self) -> bool:
        """Return that it can be read from anywhere."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place; raises OSError before the beginning, as files do."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._view)}[whence]
        if start + offset < 0:
            raise OSError(22, f"there is no place {start + offset}")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill a buffer as far as there is something."""
        view = memoryview(buffer).cast("B")
        piece = self._view[self._at : self._at + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        self.taken += len(piece)
        return len(piece)


class _Counter:
    """Reads what is in an archive, as long as no more comes out of it than limits allow."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.file = _CountedFile(source.data)
        self.limits = limits
        self._name, self._size = source.name, 0

    def read(self, file: IO[bytes]) -> bytes:
        """Return all that a member holds; raises InputError for a bomb, long before its end."""
        pieces: list[bytes] = []
        while piece := file.read(_PIECE):
            pieces.append(piece)
            self._size += len(piece)
            self.limits.check(self._name, "size", self._size, "decompressed bytes")
            if self._size > SPARED:
                ratio = self._size // max(1, self.file.taken)
                self.limits.check(self._name, "ratio", ratio, "decompressed bytes per byte")
        return b"".join(pieces)

    def expand(self, name: str, file: _CountedFile, kind: str) -> bytes:
        """Return what compressed bytes hold; raises InputError where they are broken, and as `read` does."""
        try:
            with _OPEN[kind](file) as stream:
                return self.read(stream)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            message = f"begins like {kind}, but cannot be decompressed: {error}"
            raise InputError(Problem(name, message, code="broken-archive")) from error


def _zip_members(source: Source, counter: _Counter) -> Iterator[tuple[str, Source]]:
    with zipfile.ZipFile(counter.file) as archive:
        infos = archive.infolist()
        counter.limits.check(source.name, "members", len(infos), "members")
        for info in infos:
            name = info.orig_filename
            _check_name(source, name)
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
                raise _refused(source, name, "is a link or a device; expected files", "archive-link")
            if info.is_dir() or not _wanted(source, name):
                continue
            if info.flag_bits & 1:
                raise _refused(source, name, "is encrypted; expected files that can be read", "encrypted")
            with archive.open(info) as file:
                yield _member(source, name, counter.read(file), counter)


def _tar_members(source: Source, counter: _Counter) -> Iterator[tuple[str, Source]]:
    with tarfile.open(fileobj=counter.file, mode="r:") as archive:
        for number, info in enumerate(archive, 1):
            counter.limits.check(source.name, "members", number, "members")
            _check_name(source, info.name)
            if not (info.isreg() or info.isdir()) or info.issparse():
                raise _refused(source, info.name, "is a link or a device; expected files", "archive-link")
            if info.isdir() or not _wanted(source, info.name):
                continue
            file = archive.extractfile(info)
            if file is not None:
                yield _member(source, info.name, counter.read(file), counter)


def _member(source: Source, name: str, data: bytes, counter: _Counter) -> tuple[str, Source]:
    digest = hashlib.sha256(data).hexdigest()
    place = f"{source.name}/{name.encode('utf-8', 'backslashreplace').decode()}"
    if kind := _compression_of(data):
        data = counter.expand(place, _CountedFile(data), kind)
    if _begins_zip(data) or _begins_tar(data) or _compression_of(data):
        raise _refused(source, name, "is an archive itself; expected tables", "nested-archive")
    return stem_of(name), Source(place, data.removeprefix(BOM), lambda: digest)


def _begins_zip(data: Bytes) -> bool:
    # Text has no NUL: a recording may be called PK, and a class be mustard.
    return data[:4] in _ZIP and b"\0" in data[:30]


def _begins_tar(data: Bytes) -> bool:
    return data[_TAR_AT : _TAR_AT + 5] == b"ustar" and b"\0" in data[:_TAR_AT]


def _check_name(source: Source, name: str) -> None:
    """Refuse an archive of which a member would be extracted elsewhere."""
    parts = re.split(r"[/\\]", name)
    if name.startswith(("/", "\\")) or ".." in parts or re.match(r"[A-Za-z]:", name) or "\0" in name:
        raise _refused(source, name, "leads out of the archive; expected names of files in it", "unsafe-name")


def _wanted(source: Source, name: str) -> bool:
    """Return whether a member is a table; raises InputError for an archive."""
    path = PurePosixPath(name)
    if any(part.startswith(".") or part == "__MACOSX" for part in path.parts):
        return False
    if _NESTED.search(path.name):
        raise _refused(source, name, "is an archive itself; expected tables", "nested-archive")
    return is_table(path.name)


def _refused(source: Source, name: str, why: str, code: str) -> InputError:
    return InputError(Problem(source.name, f"the member {shown(name)} {why}", code=code))
