"""Archives of tables, zip and tar, read in place: each member is like a file of a folder.

The reader never writes members to disk. It refuses an archive with members that are links, devices,
encrypted, archives themselves, or called so that they would be extracted elsewhere.
"""

from __future__ import annotations

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
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sedeval_soft.errors import InputError, Problem, one_line, quoted
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.forms import (
    ARCHIVES,
    LAST_EXTENSIONS,
    MEMBER_EXTENSIONS,
    TEXT_EXTENSIONS,
    form_of,
)
from sedeval_soft.tables.joined_tables import is_table, read_members
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Bytes, Source, as_utf8, compression_of, decompress, spelled, taken

_TAR_AT, _TYPE_AT, _BLOCK = 257, 156, 512
_NESTED = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|7z|rar|tar\.\w+)$", re.IGNORECASE)
_APART, _HIDDEN = re.compile(r"[/\\]"), re.compile(r"(?:^|/)(?:\.(?!/)|__MACOSX(?:/|$))")
_PIECE = 1 << 20

_BROKEN = (
    *(OSError, EOFError, ValueError, zlib.error, lzma.LZMAError),
    *(tarfile.TarError, zipfile.BadZipFile, struct.error),
    *(OverflowError, NotImplementedError, RuntimeError, IndexError),
)
"""The errors that the standard library raises for a damaged archive."""

_REFUSALS = {
    "archive-link": "is a link or a device; expected files",
    "encrypted": "is encrypted; expected files that can be read",
    "nested-archive": "is an archive itself; expected tables",
    "repeated-member": "is in the archive twice; expected one file of each name",
    "unsafe-name": "leads out of the archive; expected names of files in it",
}
"""Why a member is refused, by code."""

_Entry = tuple[str, bool, str, Callable[[], Any]]
"""The name of a member, whether it is a folder, the code of its problem, and the function that opens it."""


def read_archive(source: Source, limits: Limits, form: str, of_members: str = "") -> EventTable | None:
    """Read the tables of an archive as the tables of a folder; of_members: their format, if it is known."""
    try:
        return read_members(source.name, _members(source, limits, form), "archive", limits, of_members)
    except _BROKEN as error:
        message = f"cannot be read as an archive: {one_line(error)}"
        raise InputError(Problem(source.name, message, code="broken-archive")) from error


def _members(source: Source, limits: Limits, form: str) -> Iterator[tuple[str, Source]]:
    """Yield the tables of an archive, each with its path in it; the .json tables if it has no others.

    Raises InputError for a member that is refused, and over a limit.
    """
    limits.check(source.name, "members", _n_entries(source.data, form), "members")
    members = [*_checked_entries(source, form, limits)]
    kinds = (TEXT_EXTENSIONS | MEMBER_EXTENSIONS, LAST_EXTENSIONS)
    tables = ([each for each in members if is_table(each[0], extensions)] for extensions in kinds)
    seen, size, packed = set[str](), 0, partial(len, source.data)
    for name, code, opened in next(filter(None, tables), ()):
        path = "/".join(part for part in _APART.split(name) if part not in {"", "."})
        if code or path in seen:
            raise _refused(source, name, code or "repeated-member")
        seen.add(path)
        with opened() as file:
            pieces = iter(partial(file.read, _PIECE), b"")
            data = taken(source.name, limits, pieces, packed=packed, before=size)
        size += len(data)
        digest, label = hashlib.sha256(data).hexdigest(), spelled(name)
        place = f"{source.name}/{label}"
        if compression_of(data):
            data = decompress(place, data, limits)
        member = Source(place, data, partial(str, digest))
        if compression_of(data) or any(form_of(name).reads(member) for name in ARCHIVES):
            raise _refused(source, label, "nested-archive")
        yield label, replace(member, data=as_utf8(place, data))


def _refused(source: Source, name: str, code: str) -> InputError:
    return InputError(Problem(source.name, f"the member {quoted(name)} {_REFUSALS[code]}", code=code))


def _checked_entries(
    source: Source, form: str, limits: Limits
) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Yield the files of an archive that are not hidden; raises InputError for one that is refused."""
    for name, is_folder, code, opened in _entries(source, form):
        limits.check(source.name, "name_length", len(name), "characters in the name of a member")
        parts = _APART.split(name)
        unsafe = not parts[0] or ".." in parts or re.match(r"[A-Za-z]:", name) or "\0" in name
        if unsafe or code == "archive-link":
            raise _refused(source, name, "unsafe-name" if unsafe else code)
        if not is_folder and not _HIDDEN.search(name):
            if _NESTED.search(name):
                raise _refused(source, name, "nested-archive")
            yield name, code, opened


def _n_entries(data: Bytes, form: str) -> int:
    """Return how many members an archive has, before objects are made of them; more if data look like one."""
    if form == "zip":
        return sum(1 for _ in re.finditer(rb"PK\x01\x02", data))
    heads = np.frombuffer(data, dtype=np.uint8)[: len(data) // _BLOCK * _BLOCK].reshape(-1, _BLOCK)
    magic = heads[:, _TAR_AT : _TAR_AT + 5] == np.frombuffer(b"ustar", dtype=np.uint8)
    # A header that only describes the member behind it is not a member.
    return int(np.count_nonzero(magic.all(axis=1) & ~np.isin(heads[:, _TYPE_AT], [*b"xgLK"])))


def _entries(source: Source, form: str) -> Iterator[_Entry]:
    file = io.BytesIO(source.data)
    if form == "tar":
        tar = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115 - in memory, and read from later
        for member in tar:
            plain = (member.isreg() or member.isdir()) and not member.issparse()
            code = "" if plain else "archive-link"
            yield member.name, member.isdir(), code, partial(tar.extractfile, member)
        return
    archive = zipfile.ZipFile(file)
    for info in archive.infolist():
        plain = stat.S_IFMT(info.external_attr >> 16) in {0, stat.S_IFREG, stat.S_IFDIR}
        code = ("encrypted" if info.flag_bits & 1 else "") if plain else "archive-link"
        yield info.orig_filename, info.is_dir(), code, partial(archive.open, info)
