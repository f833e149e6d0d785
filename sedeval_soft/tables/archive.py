"""Archives of tables, zip and tar, read where they are: each member is like a file of a folder.

Nothing is ever written to disk. Members that are links, devices, encrypted, archives themselves, or called so
that they would be extracted elsewhere, are refused: of such an archive nothing is believed.
"""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, Any

from sedeval_soft.errors import InputError, Problem, one_line
from sedeval_soft.tables.compressed import Counted, check_size, compression_of, expand, read_counted
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.files import is_table, stem_of
from sedeval_soft.tables.fit import shown
from sedeval_soft.tables.forms import read_table
from sedeval_soft.tables.joined_tables import read_members
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Bytes, Source, without_mark

_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_TAR_AT = 257
_NESTED = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|7z|rar|tar\.\w+)$", re.IGNORECASE)


def reads(source: Source, form: str) -> bool:
    """Return whether a file is a zip or tar archive, or begins as bzip2 or xz; gzip is undone before."""
    if form == "compressed":
        return bool(compression_of(source.data))
    return (_begins_zip if form == "zip" else _begins_tar)(source.data)


class _Counter:
    """How many bytes came out of an archive, and of how many, against the limits."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source, self.limits = source, limits
        self.file = Counted(source.data)
        self.before = 0

    def check(self, found: int) -> None:
        """Refuse more bytes of a member than may be taken in."""
        check_size(self.source.name, self.before + found, self.file.taken, self.limits)

    def read(self, file: IO[bytes]) -> bytes:
        """Return all that a member holds, counted while it is read."""
        data = read_counted(file, self.check)
        self.before += len(data)
        return data

    def expand(self, name: str, data: bytes) -> bytes:
        """Return what a compressed member holds."""
        made = expand(name, Counted(data), compression_of(data), self.check)
        self.before += len(made)
        return made


def read(source: Source, limits: Limits, form: str) -> EventTable | None:
    """Read the tables of an archive, or what is compressed."""
    if form == "compressed":
        return _read_compressed(source, limits)
    return _read_members(source, limits, _zip_members if form == "zip" else _tar_members)


def _read_compressed(source: Source, limits: Limits) -> EventTable | None:
    """Read a table, or a tar archive, that was compressed with bzip2 or xz (gzip is undone before)."""
    kind = compression_of(source.data)
    if not kind:
        raise InputError(Problem(source.name, "is not compressed with bzip2 or xz", code="broken-archive"))
    counter = _Counter(source, limits)
    data = expand(source.name, counter.file, kind, counter.check)
    if compression_of(data):
        raise InputError(Problem(source.name, "is compressed twice; expected a table", code="nested-archive"))
    digest = source.sha256
    return read_table(Source(source.name, without_mark(data), lambda: digest), limits=limits)


def _read_members(source: Source, limits: Limits, members: Any) -> EventTable:  # noqa: ANN401
    """Read members as those of a folder; what is wrong with an archive is one message."""
    import lzma
    import struct
    import tarfile
    import zipfile
    import zlib

    try:
        found = iter(members(source, _Counter(source, limits)))
        rows = read_members(source.name, found, "archive", limits)
    except (
        *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
        *(OSError, EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError, IndexError),
    ) as error:
        said = one_line(error)
        raise InputError(
            Problem(source.name, f"cannot be read as an archive: {said}", code="broken-archive")
        ) from error
    return rows


def _zip_members(source: Source, counter: _Counter) -> Iterator[tuple[str, Source]]:
    import zipfile

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
    import tarfile

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
    if compression_of(data):
        data = counter.expand(place, data)
    if _begins_zip(data) or _begins_tar(data) or compression_of(data):
        raise _refused(source, name, "is an archive itself; expected tables", "nested-archive")
    return stem_of(name), Source(place, without_mark(data), lambda: digest)


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
