"""Arrays and texts in one zip, as `numpy.savez_compressed` writes it and `numpy.load` reads it.

The same members give the same bytes: times are fixed, and the heads of arrays are made here, so that they do
not depend on a version of numpy. Reading trusts nothing: a member's declared size, the head of its array
and its checksum must be those that the caller expects, before and after memory is taken for it.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import EvaluationError

Array = npt.NDArray[Any]

KINDS = {"bool": "|b1", "int32": "<i4", "int64": "<i8", "float64": "<f8"}
"""The types of arrays, as numpy names them and as they are written."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX, _MODE = 3, 0o644 << 16
_LARGE = 1 << 31
_BLOCK = 64
_PIECE = 1 << 20
_DEFLATE = 1100
"""No deflated byte stands for more than 1032 others; what declares more is made up."""
_TEXT, _TEXT_RATIO = 1 << 24, 200
"""Bytes that a text may have in any case, and how many for each compressed one beyond that."""

_BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error),
    *(OSError, EOFError, ValueError, LookupError, ArithmeticError, RuntimeError, MemoryError),
)
"""What zipfile raises for bytes that are not as they should be."""


class MemberError(EvaluationError):
    """A member that is not as expected; the reader adds in which file."""


@dataclass(frozen=True, slots=True)
class Spec:
    """The type, one of `KINDS`, and the shape of an array."""

    kind: str
    shape: tuple[int, ...]

    @property
    def head(self) -> bytes:
        """Return what stands before the numbers: that of numpy's format 1.0."""
        text = f"{{'descr': '{KINDS[self.kind]}', 'fortran_order': False, 'shape': {self.shape!r}, }}"
        size = 10 + len(text) + 1
        text += " " * (-size % _BLOCK) + "\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("ascii")

    @property
    def size(self) -> int:
        """Return the bytes of the numbers."""
        size = np.dtype(KINDS[self.kind]).itemsize
        for length in self.shape:
            size *= length
        return size


def write_members(text: tuple[str, bytes], arrays: Mapping[str, Array]) -> bytes:
    """Return a zip of a text, by its name, and of arrays, in the order of their names."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        _write(archive, text[0], len(text[1]), [text[1]])
        for name in sorted(arrays):
            array = arrays[name]
            spec = Spec(array.dtype.name, array.shape)
            values = np.ascontiguousarray(array, dtype=KINDS[spec.kind]).reshape(-1).view(np.uint8)
            _write(archive, f"{name}.npy", len(spec.head) + spec.size, [spec.head, values.data])
    return stream.getvalue()


def _write(archive: zipfile.ZipFile, name: str, size: int, parts: Iterable[bytes | memoryview]) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system, info.external_attr = _UNIX, _MODE
    with archive.open(info, "w", force_zip64=size >= _LARGE) as member:
        for part in parts:
            for begin in range(0, len(part), _PIECE):
                member.write(part[begin : begin + _PIECE])


@dataclass(frozen=True, slots=True)
class Members:
    """The members of a zip that is being read."""

    archive: zipfile.ZipFile
    by_name: Mapping[str, zipfile.ZipInfo]

    def text(self, name: str) -> bytes:
        """Return the bytes of a member that is no array; raises MemberError."""
        info = self._info(name)
        if info.file_size > max(_TEXT, _TEXT_RATIO * info.compress_size):
            raise MemberError(f"{name} is {info.file_size} bytes long, which cannot be")
        with _damage(name), self.archive.open(info) as member:
            return member.read()

    def array(self, name: str, spec: Spec) -> Array:
        """Return an array that must be as it is expected; raises MemberError."""
        info = self._info(f"{name}.npy")
        head = spec.head
        with _damage(name), self.archive.open(info) as member:
            found = member.read(len(head))
            if found != head:
                said = found[10:].partition(b"\n")[0].strip()[:80].decode("ascii", "backslashreplace")
                raise MemberError(f"array {name} begins {said!r}; expected {spec.kind} {spec.shape}")
            if info.file_size != len(head) + spec.size:
                raise MemberError(
                    f"array {name} has {info.file_size} bytes; expected {len(head) + spec.size}, "
                    f"{spec.kind} {spec.shape}"
                )
            array = np.empty(spec.shape, dtype=KINDS[spec.kind])
            _fill(member, array)
        if spec.kind == "bool" and array.view(np.uint8).max(initial=0) > 1:
            raise MemberError(f"array {name} is of truth values, and holds others")
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self.by_name.get(name)
        if info is None:
            raise MemberError(f"has no {name}")
        return info


def _fill(member: IO[bytes], array: Array) -> None:
    """Read numbers to the end, piece by piece: the last read is what compares the checksum."""
    left = array.reshape(-1).view(np.uint8).data
    while piece := member.read(_PIECE):
        left[: len(piece)] = piece
        left = left[len(piece) :]
    if len(left):
        raise EOFError("it ends early")


@contextmanager
def open_members(data: bytes) -> Iterator[Members]:
    """Open a zip of members, each of which must be what it seems; raises MemberError."""
    with _damage("the list of its members"):
        archive = zipfile.ZipFile(io.BytesIO(data))
    with archive:
        by_name: dict[str, zipfile.ZipInfo] = {}
        for info in archive.infolist():
            if info.filename in by_name:
                raise MemberError(f"has two members {info.filename!r}")
            if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} or info.flag_bits & 0x41:
                raise MemberError(f"{info.filename!r} is packed in a way that no tally is")
            if info.file_size > _DEFLATE * (info.compress_size + 1):
                raise MemberError(f"{info.filename!r} is {info.file_size} bytes long, which cannot be")
            by_name[info.filename] = info
        # Members that lie upon one another would unfold to more than there is.
        if sum(info.compress_size for info in by_name.values()) > len(data):
            raise MemberError("has members longer than itself")
        yield Members(archive, by_name)


@contextmanager
def _damage(what: str) -> Iterator[None]:
    """Turn what broken bytes raise into a MemberError."""
    try:
        yield
    except MemoryError as error:
        raise MemberError(f"{what} does not fit into memory") from error
    except _BROKEN as error:
        raise MemberError(f"{what} is damaged: {error}") from error
