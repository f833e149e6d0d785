"""Where results, tables, remarks and progress go: standard output or a file, and standard error."""

from __future__ import annotations

import contextlib
import glob
import io
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

# Where results and remarks go: standard output or a file, and standard error.


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


def emit(text: str, output: str | None = None) -> None:
    """Write results to a file, or to standard output.

    Standard output is added to, whatever its name: what the caller wrote there before stays.
    """
    if to_standard_output(output):
        click.echo(text, nl=False)
        return
    from sedeval_soft.report import write_atomic

    write_atomic(output or "", text)


def remark(text: str) -> None:
    """Print lines on standard error; nothing is lost that anybody reads where that fails.

    What they tell of inputs is shown as text, whatever a terminal would make of it.
    """
    from sedeval_soft.errors import visible_lines

    with contextlib.suppress(OSError):
        click.echo(visible_lines(text), err=True)


def refuse_overwriting(output: str | None, inputs: Mapping[str, str | None], option: str = "-o") -> None:
    """Raise SettingsError where results would replace an input: `inputs` are paths by what they are.

    option: the one that names the output.
    """
    from sedeval_soft.errors import SettingsError

    if output == "":
        expected = "a path, or - for standard output" if option == "-o" else "a path"
        raise SettingsError(f"{option} names no file; expected {expected}")
    if output is None or to_standard_output(output):
        return
    target = _state(output)
    if target is None or not stat.S_ISREG(target.st_mode):
        return
    for role, path in inputs.items():
        if any(os.path.samestat(target, state) for state in _states(path)):
            raise SettingsError(f"{option} {output}: this is the {role} ({path}); expected another file")


def each_of(role: str, paths: Sequence[str]) -> dict[str, str | None]:
    """Return paths of one role by what they are, as `refuse_overwriting` takes them: numbered if several."""
    return {role if len(paths) == 1 else f"{role} {k}": path for k, path in enumerate(paths, 1)}


def check_tally_path(path: str | None, output: str | None) -> None:
    """Raise SettingsError for a tally that would be written where results are, or to standard output."""
    from sedeval_soft.errors import SettingsError

    if path is None:
        return
    if to_standard_output(path):
        raise SettingsError(f"--save-tally {path}: a tally is no text; expected the path of a file")
    if output is not None and os.path.realpath(output) == os.path.realpath(path):
        raise SettingsError(f"--save-tally {path}: -o writes this file; expected another one")


def _states(path: str | None) -> Iterator[os.stat_result]:
    """Yield what identifies the files of an input: the file, or all files of a folder."""
    if path == "-":
        with contextlib.suppress(OSError):
            yield os.fstat(0)
        return
    state = _state(path) if path else None
    if path is not None and state is None:
        from sedeval_soft.tables.source import is_pattern

        if is_pattern(path):
            yield from filter(None, map(_state, glob.iglob(path, recursive=True)))  # noqa: PTH207 - as typed
    if path is None or state is None:
        return
    if not stat.S_ISDIR(state.st_mode):
        yield state
        return
    with contextlib.suppress(OSError):
        for entry in Path(path).iterdir():
            inner = _state(str(entry))
            if inner is not None:
                yield inner


def _state(path: str) -> os.stat_result | None:
    try:
        return Path(path).stat()
    except (OSError, ValueError):
        return None


# A progress bar on standard error, for work that takes a while in front of somebody.


_PATIENCE = 1.0
"""Seconds without a word before a bar is drawn."""


@contextlib.contextmanager
def progress(*, quiet: bool, label: str = "resampling files") -> Iterator[Callable[[int, int], None] | None]:
    """Yield what is told how many replicates of how many are done; None where nobody would see a bar.

    label: what is done.
    """
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(label)
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """One bar after another: each system, group and scene is resampled by itself."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._began = time.monotonic()
        self._bar: Any = None
        self._done = 0

    def __call__(self, done: int, total: int) -> None:
        if done < self._done or done >= total:
            self.close()
        self._done = done if done < total else 0
        if done >= total or time.monotonic() - self._began < _PATIENCE:
            return
        if self._bar is None:
            self._bar = click.progressbar(
                length=total, label=self._label, file=sys.stderr, update_min_steps=1
            )
            self._bar.__enter__()
        self._bar.update(done - self._bar.pos)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.finish()
            # The line is taken back: what stays on the screen are results.
            click.echo("\r\033[K", file=sys.stderr, nl=False)
            self._bar = None


# Where a table goes that a command has made: a file, a folder, or standard output.


def hand_over(made: Any, output: str | None, *, force: bool, quiet: bool, **how: Any) -> None:  # noqa: ANN401
    """Write rows, or a table that is read first, where they are wanted, and say what the form loses.

    how: the arguments of `prepare`; without `to` standard output gets long TSV. force: what is there may be
    replaced. Raises SettingsError where a terminal would get what is no text.
    """
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.tools.convert import prepare, write

    printed = to_standard_output(output)
    target = "-" if printed or output is None else output
    prepared = prepare(made, target, **how)
    if printed:
        if not prepared.form.text and sys.stdout.isatty():
            raise SettingsError(
                f"{prepared.form.name} is no text for a terminal; expected the name of a file"
            )
        click.echo(prepared.content(), nl=False)
    else:
        write(prepared, target, force=force)
    if not quiet:
        for loss in prepared.conversion.losses:
            remark(f"warning: {prepared.form.name} loses {loss}")
