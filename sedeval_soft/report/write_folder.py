"""Write a folder of files so that it is complete or as it was."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from sedeval_soft.report.write import OutputError, umask


def write_folder(
    path: str | os.PathLike[str],
    members: Iterable[tuple[str, bytes]],
    *,
    replaceable: Iterable[str] = (),
    force: bool = False,
) -> None:
    """Write files to a temporary folder beside the target, and rename that.

    members: names of files, not paths, and what they hold. An existing folder is replaced where it is empty;
    with force, too, where it holds nothing but files with `replaceable` extensions: a mistaken target must
    not cost a home folder. Raises OutputError; what was there before still is, then.
    """
    import shutil
    import tempfile

    name = os.fspath(path)
    try:
        target = Path(os.path.realpath(name))
        _check(name, target, frozenset(replaceable), force=force)
        made = Path(tempfile.mkdtemp(dir=target.parent, prefix=".soft-sed-eval-", suffix=".part"))
        try:
            _fill(made, members)
            made.chmod(0o777 & ~umask())
            _put(made, target)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        said = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"{name}: cannot be written: {said}") from error


def _check(name: str, target: Path, replaceable: frozenset[str], *, force: bool) -> None:
    if not name:
        raise OutputError("'': cannot be written: the name is empty")
    if not target.parent.is_dir():
        raise OutputError(f"{name}: cannot be written: there is no folder {target.parent}")
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"{name}: cannot be written: it is a file; expected the name of a folder")
    found = list(target.iterdir())
    if found and not force:
        raise OutputError(f"{name}: the folder is not empty; expected a new one, or --force to replace it")
    other = next((p for p in found if p.is_symlink() or not p.is_file() or p.suffix not in replaceable), None)
    if other is not None:
        expected = f"nothing but files ending in {', '.join(sorted(replaceable))}"
        raise OutputError(f"{name}: is not replaced, since it holds {other.name!r}; expected {expected}")


def _fill(folder: Path, members: Iterable[tuple[str, bytes]]) -> None:
    for name, data in members:
        if name in {"", ".", ".."} or "/" in name or os.sep in name:
            raise ValueError(f"{name!r} is not the name of a file in a folder")
        # Never over another: systems that take upper for lower case have one file for both.
        with (folder / name).open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def _put(made: Path, target: Path) -> None:
    """Put a folder in the place of one that is not there, empty, or to be replaced."""
    import shutil

    if not target.is_dir() or not any(target.iterdir()):
        made.replace(target)
        return
    old = made.with_suffix(".old")
    target.replace(old)
    try:
        made.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            old.replace(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
