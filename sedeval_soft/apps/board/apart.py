"""Work in a separate process, within memory and time: a harmful submission costs the others nothing.

The process is forked from one that has imported the modules, if the system can fork; otherwise it starts
anew. The system ends it if it takes more memory than estimates allow, which only Linux checks; any end of the
process is an error here.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from sedeval_soft.errors import EvaluationError, one_line
from sedeval_soft.memory import given_limit, memory_limited, room, spelled

OPTION = "--time-limit"

SECONDS, BYTES = 600.0, 4 << 30
"""Default limits of time and memory for a submission."""

_SLACK = 1 << 28
"""Bytes that a process may take beyond what estimates may let it: they are estimates."""


class LostError(EvaluationError):
    """A process ended, or took too long, before its work was done."""


def apart(
    function: Callable[..., Iterator[Any]],
    *given: Any,  # noqa: ANN401
    seconds: float | None = None,
    needs: Sequence[str] = (),
) -> Generator[Any, None, None]:
    """Yield the results of a function that works in a separate process; raises the errors of the function.

    seconds: that it may take, None for any time. needs: modules that it imports. Memory is limited as it is
    here. Raises LostError if the process ends before the function does, MemoryError if it takes more.
    """
    import multiprocessing

    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if forks else "spawn")
    if forks:
        context.set_forkserver_preload([__name__, *needs])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, given_limit(), function, given), daemon=True)
    until = None if seconds is None else time.monotonic() + seconds
    try:
        with _without_main():
            process.start()
        sender.close()
        while True:
            if not receiver.poll(until and max(0.0, until - time.monotonic())):
                raise LostError(f"took more than {seconds:.15g} s ({OPTION} sets how much)")
            try:
                what, value = receiver.recv()
            except (EOFError, OSError) as error:
                process.join()
                # A negative status is a signal: the system sends 9 where memory is short.
                raise LostError(
                    f"the process that worked on it ended with status {process.exitcode}"
                ) from error
            if what == "raised":
                raise value
            if what == "done":
                return
            yield value
    finally:
        if process.pid is not None:
            process.kill()
            process.join()
        receiver.close()


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Let a process begin without the script that runs here, which may not be safe to be imported."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _work(pipe: Any, most: int | None, function: Callable[..., Iterator[Any]], given: Any) -> None:  # noqa: ANN401
    """Send the results of a function, as the process that works on it."""
    from sedeval_soft.evaluation import end_with_parent

    # Ctrl-C is heard by the process that waits, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    error: BaseException
    with memory_limited(most):
        limit_process(room())
        try:
            for value in function(*given):
                pipe.send(("yielded", value))
            pipe.send(("done", None))
            return
        except MemoryError:
            error = MemoryError()
        except BaseException as raised:
            error = raised
    try:
        pipe.send(("raised", error))
    except Exception:
        pipe.send(("raised", EvaluationError(f"{type(error).__name__}: {one_line(error)}")))


def limit_process(more: int) -> None:
    """Have the system refuse this process memory beyond its present memory and so many bytes, and a little.

    Systems without such a limit are left alone.
    """
    try:
        import resource

        data = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5]) * resource.getpagesize()
    except (ImportError, OSError, ValueError, IndexError):
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = data + more + _SLACK
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))


def of_memory() -> str:
    """Return the message for work that ran out of memory."""
    most = given_limit()
    return "needs more memory than there is" if most is None else f"needs more than {spelled(most)} of memory"
