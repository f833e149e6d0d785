"""Write a result so that its file, or its folder of files, is complete or as it was."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sedeval_soft.errors import EvaluationError, SettingsError

_OPEN_ALREADY = re.compile(r"/dev/(stdin|stdout|stderr|fd/\d+)|/proc/(self|\d+)/fd/\d+")
"""Names of files that a process has open: `/dev/stdout` may be a file with other content."""

STANDARD_OUTPUT = frozenset({"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
"""Its names."""

PART_PREFIX, PART_SUFFIX = ".soft-sed-eval-", ".part"
"""Begin and end of the names of unfinished files: such a file remains only if a process is killed at once,
and may then be deleted. Readers of folders of tables skip them.
"""


class OutputError(EvaluationError):
    """A result could not be written; the previous file is unchanged."""


def write_atomic(path: str | os.PathLike[str], content: str | bytes | Iterable[bytes]) -> None:
    """Write a text, or bytes, or pieces of these, to a temporary file beside the target, and rename that.

    Devices, pipes and files that are open already (`/dev/stdout`) are written directly. A link is followed,
    and an existing file's permissions are kept. Raises OutputError; BrokenPipeError if the reader has closed
    the pipe.
    """
    name = os.fspath(path)
    if isinstance(content, str | bytes):
        content = (content.encode("utf-8") if isinstance(content, str) else content,)

    def write(target: Path, mode: str = "wb") -> None:
        with target.open(mode) as opened:
            opened.writelines(content)

    with _failing(name):
        if _OPEN_ALREADY.fullmatch(name):
            write(Path(name), "ab")
        else:
            replaced(name, write)


def add_to(path: str | os.PathLike[str], text: str) -> None:
    """Append a text to a file that other processes also write; raises OutputError."""
    with _failing(os.fspath(path)), Path(path).open("ab") as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def replaced(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Let a function write a file beside the target, and rename that; as `write_atomic` otherwise."""
    import secrets

    name = os.fspath(path)
    with _failing(name):
        try:
            mode = Path(name).stat().st_mode
        except FileNotFoundError:
            mode = None
        if not name or (mode is not None and stat.S_ISDIR(mode)):
            raise IsADirectoryError(21, "it is a folder" if name else "the name is empty")
        if mode is not None and not stat.S_ISREG(mode):
            write(Path(name))
            return
        target = Path(os.path.realpath(name))
        if not target.parent.is_dir():
            raise NotADirectoryError(20, f"there is no folder {target.parent}")
        # Named before it is made: whatever interrupts us, wherever, it is known what must go.
        part = target.parent / f"{PART_PREFIX}{os.getpid()}-{secrets.token_hex(8)}{PART_SUFFIX}"
        try:
            with open(part, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                write(part)
                os.fsync(file.fileno())
            part.chmod(stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
            part.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise


@contextlib.contextmanager
def _failing(name: str) -> Iterator[None]:
    """Turn an error in writing into an OutputError that names the file."""
    try:
        yield
    except (BrokenPipeError, OutputError):
        raise
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL, a text that is none
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"{name}: cannot be written: {reason}") from error


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], taken: str, text: str) -> Iterator[None]:
    """Lock a file, created with a text if it does not exist, against other processes.

    The lock ends with this process, however it ends. taken: the message if another process has the lock.
    Raises OutputError. If the system, or a network's disk, has no locks, the file is not locked.
    """
    name = os.fspath(path)
    with contextlib.ExitStack() as stack:
        with _failing(name):
            # Never replaced: who holds a file that another was renamed over holds nothing.
            file = stack.enter_context(Path(name).open("a", encoding="utf-8"))
            try:
                _lock(file.fileno())
            except (BlockingIOError, PermissionError) as error:
                raise OutputError(taken) from error
            except OSError:
                pass
            if not os.fstat(file.fileno()).st_size:
                file.write(text)
                file.flush()
        yield


def _lock(descriptor: int) -> None:
    """Lock an open file; raises OSError if another process has the lock."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _umask() -> int:
    """Return which permissions new files of this process do not have."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_folder(
    path: str | os.PathLike[str],
    members: Iterable[tuple[str, bytes]],
    *,
    replaceable: Collection[str] = (),
    force: bool = False,
) -> None:
    """Write files to a temporary folder beside the target, and rename that.

    members: names of files, not paths, and their content. An existing folder is replaced if it is empty; with
    force, also if it has nothing but files with `replaceable` extensions: a mistaken target must not cost a
    home folder. Raises OutputError; the previous folder is then unchanged.
    """
    import shutil
    import tempfile

    name = os.fspath(path)
    with _failing(name):
        target = Path(os.path.realpath(name))
        inside = [*target.iterdir()] if target.is_dir() else []
        others = [p.name for p in inside if p.is_symlink() or not p.is_file() or p.suffix not in replaceable]
        expected = f"expected nothing but files ending in {', '.join(sorted({*replaceable}))}"
        for wrong, reason in (
            (not name, "cannot be written: the name is empty"),
            (not target.parent.is_dir(), f"cannot be written: there is no folder {target.parent}"),
            (
                target.exists() and not target.is_dir(),
                "cannot be written: it is a file; expected the name of a folder",
            ),
            (inside and not force, "the folder is not empty; expected a new one, or --force to replace it"),
            (others, f"is not replaced, since it holds {''.join(map(repr, others[:1]))}; {expected}"),
        ):
            if wrong:
                raise OutputError(f"{name}: {reason}")
        made = Path(tempfile.mkdtemp(dir=target.parent, prefix=PART_PREFIX, suffix=PART_SUFFIX))
        old = made.with_suffix(f".old{PART_SUFFIX}")
        try:
            for member, data in members:
                if member in {"", ".", ".."} or "/" in member or os.sep in member:
                    raise ValueError(f"{member!r} is not the name of a file in a folder")
                # Never over another: systems that take upper for lower case have one file for both.
                with (made / member).open("xb") as file:
                    file.write(data)
            # All at once: file by file it takes as long as all the rest.
            if hasattr(os, "sync"):
                os.sync()
            made.chmod(0o777 & ~_umask())
            # Put aside until the new one has its name: at no moment is what it holds gone.
            if inside:
                target.replace(old)
            made.replace(target)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            if old.exists() and not target.exists():
                old.replace(target)
            raise
        shutil.rmtree(old, ignore_errors=True)


def refuse_replacing(
    outputs: Mapping[str, str | None], inputs: Mapping[str, str | Sequence[str] | None]
) -> None:
    """Raise SettingsError if results replace an input or one another, or two inputs are standard input.

    outputs: paths by the options that name them. inputs: paths by their kind, one or several.
    """
    read: list[tuple[str, str]] = []
    for role, given in inputs.items():
        paths = [given] if isinstance(given, str) else given or ()
        read += [(role if len(paths) < 2 else f"{role} {k}", path) for k, path in enumerate(paths, 1)]
    piped = [role for role, path in read if path == "-"]
    if len(piped) > 1:
        raise SettingsError(f"{' and '.join(piped)} are both standard input; expected one of them")
    written: dict[str, str] = {}
    for flag, path in ((flag, path) for flag, path in outputs.items() if path is not None):
        if not path:
            expected = "a path, or - for standard output" if flag == "-o" else "a path"
            raise SettingsError(f"{flag} names no file; expected {expected}")
        if path in STANDARD_OUTPUT and flag in _FILES:
            raise SettingsError(f"{flag} {path}: {_FILES[flag]}; expected the path of a file")
        target = None if path in STANDARD_OUTPUT else _state(path)
        for role, source in read if target is not None and stat.S_ISREG(target.st_mode) else ():
            if any(os.path.samestat(target, state) for state in _states(source)):  # type: ignore[arg-type]
                raise SettingsError(f"{flag} {path}: this is the {role} ({source}); expected another file")
        other = written.setdefault(os.path.realpath(path), flag)
        if other != flag:
            raise SettingsError(f"{flag} {path}: {other} writes this file; expected another one")


_FILES = {"--save-tally": "a tally is not text", "--fix": "standard output has the report"}
"""Options that write no standard output, and why."""


def _states(path: str) -> list[os.stat_result]:
    """Return the identity of the files of an input: the file, or all files of a folder or a pattern."""
    import glob

    in_folder = glob.iglob(f"{glob.escape(path)}/*", include_hidden=True)  # noqa: PTH207 - as typed
    paths = (path, *in_folder, *glob.iglob(path, recursive=True))  # noqa: PTH207
    return [state for state in map(_state, paths) if state is not None]


def _state(path: str) -> os.stat_result | None:
    try:
        return os.fstat(0) if path == "-" else Path(path).stat()
    except (OSError, ValueError):
        return None
