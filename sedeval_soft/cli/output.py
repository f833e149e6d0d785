"""Where results, remarks and progress go: standard output or a file, and standard error."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import click

_STANDARD_OUTPUT = frozenset({"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})


def hold_streams() -> None:
    """Hold the places of standard streams that the caller closed.

    The next file that is opened would take such a place: `/dev/stdout` could then be an input. Writing
    to a standard output that is closed fails as writing to a full disk does.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # takes the lowest free place, which is this one
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")


def to_standard_output(output: str | None) -> bool:
    """Return whether results go to standard output, by no name or one of its names."""
    return output is None or output in _STANDARD_OUTPUT


def emit(text: str, output: str | None = None, *, exact: bool = False) -> None:
    """Write results to a file, or to standard output.

    Standard output is added to, whatever its name: what the caller wrote there before stays. exact: whether
    the text has commands for what keeps a log, or names that shall stay as they are; else none gets out.
    """
    from sedeval_soft.errors import without_commands

    text = text if exact else without_commands(text)
    if output is None or to_standard_output(output):
        click.echo(text, nl=False)
        return
    from sedeval_soft.report.write import write_atomic

    write_atomic(output, text)


def remark(text: str) -> None:
    """Print lines on standard error; nothing is lost that anybody reads where that fails.

    What they tell of inputs is shown as text, whatever a terminal would make of it.
    """
    from sedeval_soft.errors import visible

    with contextlib.suppress(OSError):
        click.echo("\n".join(map(visible, text.split("\n"))), err=True)


def warn(warnings: Sequence[str], *, quiet: bool) -> None:
    """Print warnings on standard error, each once, unless nobody wants to read them.

    On a terminal each is broken between words; elsewhere it is one line.
    """
    width = None
    if sys.stderr is not None and sys.stderr.isatty():
        from shutil import get_terminal_size

        width = get_terminal_size().columns
    for warning in () if quiet else dict.fromkeys(warnings):
        text = f"warning: {warning}"
        if width is not None:
            from sedeval_soft.report.fitted import folded

            text = "\n".join(folded(text, width))
        remark(text)


# Files that results must not replace.


def check_files(outputs: Mapping[str, str | None], inputs: Mapping[str, str | Sequence[str] | None]) -> None:
    """Raise SettingsError if results replace an input or one another, or two inputs are standard input.

    outputs: paths by the options that name them. inputs: paths by what they are, one or several.
    """
    from sedeval_soft.errors import SettingsError

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
        if to_standard_output(path) and flag in _FILES:
            raise SettingsError(f"{flag} {path}: {_FILES[flag]}; expected the path of a file")
        target = None if to_standard_output(path) else _state(path)
        for role, source in read if target is not None and stat.S_ISREG(target.st_mode) else ():
            if any(os.path.samestat(target, state) for state in _states(source)):  # type: ignore[arg-type]
                raise SettingsError(f"{flag} {path}: this is the {role} ({source}); expected another file")
        other = written.setdefault(os.path.realpath(path), flag)
        if other != flag:
            raise SettingsError(f"{flag} {path}: {other} writes this file; expected another one")


_FILES = {"--save-tally": "a tally is not text", "--fix": "standard output has the report"}
"""Options that write no standard output, and why."""


def _states(path: str) -> list[os.stat_result]:
    """Return what identifies the files of an input: the file, or all files of a folder or a pattern."""
    import glob

    in_folder = glob.iglob(f"{glob.escape(path)}/*", include_hidden=True)  # noqa: PTH207 - as typed
    paths = (path, *in_folder, *glob.iglob(path, recursive=True))  # noqa: PTH207
    return [state for state in map(_state, paths) if state is not None]


def _state(path: str) -> os.stat_result | None:
    from pathlib import Path

    try:
        return os.fstat(0) if path == "-" else Path(path).stat()
    except (OSError, ValueError):
        return None


# Progress on standard error, of work that takes a while in front of somebody.


_PATIENCE = 1.0
"""Seconds without a word before progress is shown."""


@contextlib.contextmanager
def progress(*, quiet: bool, label: str = "resampling files") -> Iterator[Callable[[int, int], None] | None]:
    """Yield what is told how many replicates of how many are done; None where nobody would see it.

    label: what is done. Each system, group and scene is resampled by itself, and counts from the begin.
    """
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    began = time.monotonic()
    # The line is taken back: what stays on the screen are results.
    clear, shown = "\r\033[K", ""

    def show(done: int, total: int) -> None:
        nonlocal shown
        line = f"{clear}{label}  {done / total:4.0%}"
        if line != shown and time.monotonic() - began >= _PATIENCE:
            click.echo(line, file=sys.stderr, nl=False)
            shown = line

    try:
        yield show
    finally:
        if shown:
            click.echo(clear, file=sys.stderr, nl=False)
