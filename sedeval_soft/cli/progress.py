"""A progress bar on standard error, for work that takes a while in front of somebody."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import click

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
