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
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import IO, Any

from sedeval_soft.errors import InputError, Problem, one_line
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.fit import shown
from sedeval_soft.tables.forms import read_table
from sedeval_soft.tables.joined_tables import is_table, read_members
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import BOM, GZIP, SPARED, Bytes, Source, spelled

_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_TAR_AT = 257
_NESTED = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|7z|rar|tar\.\w+)$", re.IGNORECASE)

_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")
"""What follows `BZh9`: a block, or the end where there is none."""

_OPEN: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_PIECE = 1 << 20

_BROKEN = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
_BROKEN_ARCHIVE = (
    *(*_BROKEN, tarfile.TarError, zipfile.BadZipFile, struct.error),
    *(OverflowError, NotImplementedError, RuntimeError, IndexError),
)

_REFUSALS = {
    "archive-link": "is a link or a device; expected files",
    "encrypted": "is encrypted; expected files that can be read",
    "nested-archive": "is an archive itself; expected tables",
    "unsafe-name": "leads out of the archive; expected names of files in it",
}
"""Why a member is refused, by code."""

_Entry = tuple[str, bool, str, Callable[[], Any]]
"""The name of a member, whether it is a folder, the code of what is wrong with it, and what opens it."""


def reads(source: Source, form: str) -> bool:
    """Return whether a file is a zip or tar archive, or begins as bzip2 or xz; gzip is undone before."""
    return _archive_of(source.data) == form or (form == "compressed" and bool(_compression_of(source.data)))


def _archive_of(data: Bytes) -> str:
    """Return which kind of archive bytes are, nothing where they are none."""
    # Text has no NUL: a recording may be called PK, and a class be mustard.
    if data[:4] in _ZIP and b"\0" in data[:30]:
        return "zip"
    return "tar" if data[_TAR_AT : _TAR_AT + 5] == b"ustar" and b"\0" in data[:_TAR_AT] else ""


def _compression_of(data: Bytes) -> str:
    """Return how bytes are compressed, nothing where they are not."""
    head = data[:10]
    if head[:2] == GZIP:
        return "gzip"
    if head[:3] == b"BZh" and head[4:] in _BZIP2:
        return "bzip2"
    return "xz" if head[:6] == b"\xfd7zXZ\x00" else ""


def read(source: Source, limits: Limits, form: str) -> EventTable | None:
    """Read the tables of an archive; or a table, or a tar archive, that bzip2 or xz compressed."""
    reader = _Reader(source, limits)
    if form != "compressed":
        try:
            return read_members(source.name, reader.members(form), "archive", limits)
        except _BROKEN_ARCHIVE as error:
            raise _broken(source.name, f"cannot be read as an archive: {one_line(error)}") from error
    if not _compression_of(source.data):
        raise _broken(source.name, "is not compressed with bzip2 or xz")
    data = reader.expanded(source.name, reader.file, _compression_of(source.data))
    if _compression_of(data):
        raise _broken(source.name, "is compressed twice; expected a table", "nested-archive")
    return read_table(Source(source.name, data.removeprefix(BOM), lambda: source.sha256), limits=limits)


def _broken(name: str, message: str, code: str = "broken-archive") -> InputError:
    return InputError(Problem(name, message, code=code))


class _CountedFile(io.BytesIO):
    """Bytes as a file that knows how many were read: those that others came of."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes."""
        piece = super().read(size)
        self.taken += len(piece)
        return piece


class _Reader:
    """Reads what is in an archive, as long as no more comes out of it than limits allow."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.file = _CountedFile(source.data)
        self._source, self._limits, self._size = source, limits, 0

    def _read(self, file: IO[bytes]) -> bytes:
        """Return all that a file holds; raises InputError for a bomb, long before its end."""
        pieces: list[bytes] = []
        while piece := file.read(_PIECE):
            pieces.append(piece)
            self._size += len(piece)
            self._limits.check(self._source.name, "size", self._size, "decompressed bytes")
            if self._size > SPARED:
                ratio = self._size // max(1, self.file.taken)
                self._limits.check(self._source.name, "ratio", ratio, "decompressed bytes per byte")
        return b"".join(pieces)

    def expanded(self, name: str, file: IO[bytes], kind: str) -> bytes:
        """Return what compressed bytes hold; raises InputError where they are broken, and for a bomb."""
        try:
            with _OPEN[kind](file) as stream:
                return self._read(stream)
        except _BROKEN as error:
            raise _broken(name, f"begins like {kind}, but cannot be decompressed: {error}") from error

    def members(self, form: str) -> Iterator[Source]:
        """Yield the tables of an archive; raises InputError for a member that is refused."""
        for name, is_folder, code, opened in self._zipped() if form == "zip" else self._tarred():
            path, parts = PurePosixPath(name), re.split(r"[/\\]", name)
            if not parts[0] or ".." in parts or re.match(r"[A-Za-z]:", name) or "\0" in name:
                raise self._refused(name, "unsafe-name")
            if code == "archive-link":
                raise self._refused(name, code)
            if is_folder or any(part.startswith(".") or part == "__MACOSX" for part in path.parts):
                continue
            if _NESTED.search(path.name):
                raise self._refused(name, "nested-archive")
            if not is_table(name):
                continue
            if code:
                raise self._refused(name, code)
            with opened() as file:
                data = self._read(file)
            digest = hashlib.sha256(data).hexdigest()
            place = f"{self._source.name}/{spelled(name)}"
            if kind := _compression_of(data):
                data = self.expanded(place, io.BytesIO(data), kind)
            if _archive_of(data) or _compression_of(data):
                raise self._refused(name, "nested-archive")
            yield Source(place, data.removeprefix(BOM), partial(str, digest))

    def _zipped(self) -> Iterator[_Entry]:
        with zipfile.ZipFile(self.file) as archive:
            infos = archive.infolist()
            self._limits.check(self._source.name, "members", len(infos), "members")
            for info in infos:
                plain = stat.S_IFMT(info.external_attr >> 16) in {0, stat.S_IFREG, stat.S_IFDIR}
                code = "" if plain else "archive-link"
                code = code or ("encrypted" if info.flag_bits & 1 else "")
                yield info.orig_filename, info.is_dir(), code, partial(archive.open, info)

    def _tarred(self) -> Iterator[_Entry]:
        with tarfile.open(fileobj=self.file, mode="r:") as archive:
            for number, info in enumerate(archive, 1):
                self._limits.check(self._source.name, "members", number, "members")
                plain = (info.isreg() or info.isdir()) and not info.issparse()
                code = "" if plain else "archive-link"
                yield info.name, info.isdir(), code, partial(archive.extractfile, info)

    def _refused(self, name: str, code: str) -> InputError:
        return _broken(self._source.name, f"the member {shown(name)} {_REFUSALS[code]}", code)
