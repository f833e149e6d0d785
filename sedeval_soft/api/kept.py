"""The files of a site, and what is kept beside it so that the next build need not do all of it again."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sedeval_soft.board.records import Record
from sedeval_soft.board.remembered import Comparisons
from sedeval_soft.errors import SettingsError
from sedeval_soft.formats.sealed import seal, unsealed
from sedeval_soft.report.write import OutputError, write_atomic
from sedeval_soft.tables.submissions import sha256_of

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

_KEPT = re.compile(r"[0-9a-f]{64}\.(json|tally)")
_COMPARISONS = "comparisons.json"


@dataclass(frozen=True, slots=True)
class Tree:
    """The folder of a site."""

    root: Path

    @classmethod
    def of(cls, site: str | os.PathLike[str], submissions: str | os.PathLike[str]) -> Tree:
        """Return the tree of a folder, which is made where there is none; raises OutputError."""
        name = os.fspath(site)
        if not name:
            raise OutputError("'': cannot be written: the name is empty")
        root = _outside(name, submissions, "-o")
        with _told(name):
            root.mkdir(parents=True, exist_ok=True)
            mark = root / MARK
            if not mark.exists():
                taken = next((each for each in _OURS if os.path.lexists(root / each)), None)
                if taken is not None:
                    raise OutputError(
                        f"{name}: is not a site of this command, and has {taken!r}, which would be replaced; "
                        "expected a new folder"
                    )
                write_atomic(mark, "Made by soft-sed-eval board, which replaces its files.\n")
        return cls(root)

    def path(self, path: str) -> Path:
        """Return where a file of the site is to be written; its folder is made."""
        target = self.root / path
        with _told(str(target)):
            target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file unless it holds just that: who publishes a site sees what changed."""
        target = self.path(path)
        data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
        with contextlib.suppress(OSError):
            if target.stat().st_size == len(data) and target.read_bytes() == data:
                return
        write_atomic(target, data)

    def sha256(self, path: str) -> str:
        """Return the hash of a file, empty where there is none."""
        return sha256_of(self.root / path)

    def prune(self, pages: Container[str], *, csv: bool) -> None:
        """Take away the pages of submissions that are no more; csv: whether there is a table of all."""
        for folder, names in _PAGES.items():
            for path in _inside(self.root / folder):
                if names.fullmatch(path.name) and f"{folder}/{path.name}" not in pages:
                    _remove(path)
        if not csv:
            _remove(self.root / "board.csv")


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder beside a site: what came of each submission, by its key, and what was drawn of pairs.

    Nothing in it is taken for what it is not: what is damaged, or of other inputs, is made anew.
    """

    root: Path

    @classmethod
    def of(
        cls, cache: str | os.PathLike[str] | None, tree: Tree, submissions: str | os.PathLike[str]
    ) -> Kept:
        """Return what is kept in a folder, which is made where there is none; beside the site by default."""
        name = f"{tree.root}.cache" if cache is None else os.fspath(cache)
        if not name:
            raise OutputError("'': cannot be written: the name is empty")
        root = _outside(name, submissions, "--cache")
        if root == tree.root or tree.root in root.parents:
            raise SettingsError(
                f"--cache {name}: is in the site, which is published; expected another folder"
            )
        with _told(name):
            root.mkdir(parents=True, exist_ok=True)
        return cls(root)

    def record(self, key: str) -> Record | None:
        """Return what came of a submission, None where that is not known."""
        record = unsealed(_bytes(self.root / f"{key}.json"), Record)
        return record if record is not None and record.key == key else None

    def has_tally(self, record: Record) -> bool:
        """Return whether there is what a submission is compared by."""
        return bool(record.tally) and sha256_of(self.root / f"{record.key}.tally") == record.tally

    def tally(self, record: Record) -> bytes:
        """Return the bytes of what a submission is compared by."""
        return _bytes(self.root / f"{record.key}.tally")

    def keep(self, record: Record, tally: bytes) -> None:
        """Keep what came of a submission."""
        if tally:
            write_atomic(self.root / f"{record.key}.tally", tally)
        write_atomic(self.root / f"{record.key}.json", seal(record))

    def comparisons(self) -> Comparisons:
        """Return what is known of pairs of submissions."""
        return unsealed(_bytes(self.root / _COMPARISONS), Comparisons) or Comparisons()

    def keep_comparisons(self, comparisons: Comparisons) -> None:
        """Keep what is known of pairs of submissions."""
        data = seal(comparisons)
        if sha256_of(self.root / _COMPARISONS) != sha256(data).hexdigest():
            write_atomic(self.root / _COMPARISONS, data)

    def prune(self, keys: Container[str]) -> None:
        """Forget submissions that are no more, or are other ones now."""
        for path in _inside(self.root):
            if _KEPT.fullmatch(path.name) and path.stem not in keys:
                _remove(path)


def _outside(name: str, submissions: str | os.PathLike[str], option: str) -> Path:
    """Return the real path of a folder, which must not be among the submissions."""
    with _told(name):
        root, folder = Path(os.path.realpath(name)), Path(os.path.realpath(submissions))
    if root == folder or folder in root.parents:
        raise SettingsError(f"{option} {name}: is in the folder of submissions; expected another one")
    return root


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_file())
    except OSError:
        return []


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


@contextlib.contextmanager
def _told(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"{name}: cannot be written: {said}") from error
