"""Signals that end the process: what was begun is taken back first."""

from __future__ import annotations

import contextlib
import signal
from types import FrameType

_SAID = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class StoppedError(BaseException):
    """The process is to end: no `except Exception` may keep it, and all that is open is closed on the way."""

    def __init__(self, number: int) -> None:
        super().__init__(_SAID.get(signal.Signals(number), "stopped"))
        self.code = 128 + number


def stop_cleanly() -> None:
    """Let SIGINT and SIGTERM end the process by way of a `StoppedError`, once.

    A signal that the caller has us ignore (`nohup`, a shell's background) stays ignored.
    """
    for number in _SAID:
        # Not in the main thread, where this is a library's, there is nothing to set.
        with contextlib.suppress(ValueError):
            if signal.getsignal(number) not in {signal.SIG_IGN, None}:
                signal.signal(number, _stop)


def _stop(number: int, _: FrameType | None) -> None:
    for each in _SAID:
        # A second one must not break into the clearing up.
        signal.signal(each, signal.SIG_IGN)
    raise StoppedError(number)
