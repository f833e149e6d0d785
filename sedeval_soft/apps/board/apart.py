"""Work in a separate process, within memory and time: a harmful submission costs the others nothing.

The process is forked from one that has imported the modules, if the system can fork; otherwise it starts
anew. The system ends it if it takes more memory than estimates allow, which only Linux checks; any end of the
process is an error here.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from sedeval_soft.errors import EvaluationError
from sedeval_soft.memory import given_limit, memory_limited, room, spelled

T = TypeVar("T")

OPTION = "--time-limit"

SECONDS, BYTES = 600.0, 4 << 30
"""Default limits of time and memory for a submission."""

_SLACK = 1 << 28
"""Bytes that a process may take beyond what estimates may let it: they are estimates."""


class LostError(EvaluationError):
    """A process ended, or took too long or too much memory, before its work was done."""


def apart(
    function: Callable[..., T],
    *given: Any,  # noqa: ANN401
    seconds: float | None = None,
    needs: Sequence[str] = (),
) -> T:
    """Return the result of a function that works in a separate process; raises the errors of the function.

    seconds: that it may take, None for any time. needs: modules that it imports. Memory is limited as it is
    here. Raises LostError if the process ends before the function does, or takes more.
    """
    import multiprocessing

    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if forks else "spawn")
    if forks:
        context.set_forkserver_preload([__name__, *needs])
    receiver, sender = context.Pipe(duplex=False)
    work = sender, given_limit() or room(), function, given
    process = context.Process(target=_work, args=work, daemon=True)
    with _without_main():
        process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            raise LostError(f"took more than {seconds:.15g} s ({OPTION} sets how much)")
        result: T | BaseException = receiver.recv()
    except (EOFError, OSError) as error:
        process.join()
        # A negative status is a signal: the system sends 9 if memory is short.
        raise LostError(f"the process that worked on it ended with status {process.exitcode}") from error
    finally:
        process.kill()
        process.join()
        receiver.close()
    if isinstance(result, BaseException):
        raise result
    return result


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Let a process begin without the script that runs here, which may not be safe to be imported."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _work(pipe: Any, most: int, function: Callable[..., Any], given: Any) -> None:  # noqa: ANN401
    """Send the result of a function, or its error, as the process that works on it."""
    from sedeval_soft.evaluation import end_with_parent

    # The process that waits receives Ctrl-C, and ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    with memory_limited(most):
        limit_process(room())
        try:
            pipe.send(function(*given))
        except MemoryError:
            pipe.send(LostError(f"needs more than {spelled(most)} of memory"))
        except BaseException as error:
            pipe.send(error)


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
