"""The files of a site, and a cache beside it, so that the next build need not do all of it again.

The cache has one JSON document for what came of each submission, by a hash of all that shaped it, and one for
what was computed of pairs. Each stands below the hash of its bytes: what is damaged, or of other inputs, is
made anew; nothing in it is ever run.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec

from sedeval_soft.errors import SettingsError
from sedeval_soft.report.write import OutputError, write_atomic

T = TypeVar("T")

MARK = ".soft-sed-eval-board"
"""A file that says that a folder is a site of ours: nothing of others is replaced or taken away."""

_OURS = ("index.html", "board.json", "board.csv", "reports", "problems", "data", "assets")

_PAGES = {
    "reports": re.compile(r"[A-Za-z0-9._-]+\.html"),
    "problems": re.compile(r"[A-Za-z0-9._-]+\.html"),
    "data": re.compile(r"[A-Za-z0-9._-]+\.json"),
    "assets": re.compile(r"plotly-[A-Za-z0-9._-]+\.min\.js"),
}
"""The folders of a site, and the names of files in them that are made for one submission, or one release."""

_MAGIC = b"soft-sed-eval kept 1 "
_RECORD = re.compile(r"[0-9a-f]{64}\.(json|tally)")
"""Files of the cache; earlier versions had tallies apart."""


@dataclass(frozen=True, slots=True)
class SiteFolder:
    """The folder of a site."""

    root: Path

    @classmethod
    def open(cls, site: str | os.PathLike[str], submissions: str | os.PathLike[str]) -> SiteFolder:
        """Return a folder, which is made where there is none; raises OutputError for one of others."""
        name = os.fspath(site)
        root = _folder(name, submissions, "-o")
        with _refusing(name):
            if not (root / MARK).exists():
                other = next((each for each in _OURS if os.path.lexists(root / each)), None)
                if other is not None:
                    raise OutputError(
                        f"{name}: is not a site of this command, and has {other!r}, which would be replaced; "
                        "expected a new folder"
                    )
                write_atomic(root / MARK, "Made by soft-sed-eval board, which replaces its files.\n")
        return cls(root)

    def path(self, path: str) -> Path:
        """Return where a file of the site is to be written; its folder is made."""
        target = self.root / path
        with _refusing(str(target)):
            target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file unless it holds just that: who publishes a site sees what changed."""
        data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
        _write(self.path(path), data)

    def prune(self, pages: Container[str]) -> None:
        """Take away the pages of submissions that are no more."""
        for folder, names in _PAGES.items():
            for path in _files(self.root / folder):
                if names.fullmatch(path.name) and f"{folder}/{path.name}" not in pages:
                    remove(path)


@dataclass(frozen=True, slots=True)
class BoardCache:
    """The folder beside a site in which the cache is."""

    root: Path

    @classmethod
    def open(
        cls, cache: str | os.PathLike[str] | None, site: Path, submissions: str | os.PathLike[str]
    ) -> BoardCache:
        """Return the cache in a folder, which is made where there is none; beside the site by default."""
        name = f"{site}.cache" if cache is None else os.fspath(cache)
        return cls(_folder(name, submissions, "--cache", site))

    def read(self, name: str, kind: type[T]) -> T | None:
        """Return what was written under a name, None where that is not there as it was left."""
        head, _, text = _bytes(self.root / f"{name}.json").partition(b"\n")
        if head != _MAGIC + sha256(text).hexdigest().encode("ascii"):
            return None
        try:
            return msgspec.convert(json.loads(text), kind)
        except (ValueError, RecursionError, msgspec.ValidationError):
            return None

    def write(self, name: str, document: object) -> None:
        """Write an object of a dataclass."""
        # Names may hold what no UTF-8 has: ASCII keeps them as they are.
        text = json.dumps(msgspec.to_builtins(document), sort_keys=True, separators=(",", ":")).encode(
            "ascii"
        )
        seal = _MAGIC + sha256(text).hexdigest().encode("ascii")
        _write(self.root / f"{name}.json", seal + b"\n" + text)

    def prune(self, keys: Container[str]) -> None:
        """Forget submissions that are no more, or are other ones now."""
        for path in _files(self.root):
            if _RECORD.fullmatch(path.name) and (path.stem not in keys or path.suffix != ".json"):
                remove(path)


def remove(path: Path) -> None:
    """Remove a file where there is one."""
    with contextlib.suppress(OSError):
        path.unlink()


def _folder(name: str, submissions: str | os.PathLike[str], option: str, site: Path | None = None) -> Path:
    """Return the real path of a folder, which is made; neither among the submissions nor in the site."""
    if not name:
        raise OutputError("'': cannot be written: the name is empty")
    with _refusing(name):
        root, folder = Path(os.path.realpath(name)), Path(os.path.realpath(submissions))
        if root == folder or folder in root.parents:
            raise SettingsError(f"{option} {name}: is in the folder of submissions; expected another one")
        if site is not None and (root == site or site in root.parents):
            wrong = f"{option} {name}: is in the site, which is published"
            raise SettingsError(f"{wrong}; expected another folder")
        root.mkdir(parents=True, exist_ok=True)
    return root


def _write(path: Path, data: bytes) -> None:
    """Write a file unless it holds just that."""
    if _bytes(path) != data:
        write_atomic(path, data)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_file())
    except OSError:
        return []


@contextlib.contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Raise OutputError where a path cannot be written."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"{name}: cannot be written: {reason}") from error
