"""The workers of a dask cluster, which count parts of tables in files, each a few recordings.

    with workers("tcp://10.0.0.1:8786") as execute:
        scores = sedeval_soft.evaluate("ref/*.parquet", "sys/*.parquet", execute=execute)

Lost workers, restarted work and the distribution of work are the business of dask.
"""

from __future__ import annotations

import contextlib
import json
import logging
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from sedeval_soft import __version__
from sedeval_soft.arrays import become_worker
from sedeval_soft.errors import EvaluationError, SettingsError, install_command, one_line, visible
from sedeval_soft.evaluation import Execute
from sedeval_soft.memory import memory_limited, taken

__all__ = ["workers"]

OPTION = "--jobs"

_WAIT = 120
"""Seconds in which a scheduler must have a worker; dask's setting `soft-sed-eval.wait` overrides it."""

_SHARE = 0.8
"""The share of its memory limit that a worker takes; a little above it dask gives the worker no more work."""

_ASSUMED = 8 << 30
"""The bytes of a worker without a memory limit."""

_APART = " / "
"""The separator between the name of a piece of work, for messages, and the rest of its unique key."""

_LOGGERS = ("distributed", "tornado", "asyncio")

_PACKAGES = {"soft-sed-eval": "sedeval_soft", "numpy": "numpy", "distributed": "distributed"}
"""Packages of which every worker must have the version that is here: last digits may differ else."""


@contextlib.contextmanager
def workers(scheduler: str) -> Iterator[Execute]:
    """Yield the workers of a scheduler as `sedeval_soft.evaluate(..., execute=)` takes them.

    scheduler: its address, such as tcp://HOST:PORT, or the path of the file that it writes for its workers.
    Raises SettingsError and EvaluationError if no worker is there, or if workers differ.
    """
    try:
        import dask
        import distributed
    except ImportError as error:
        raise SettingsError(
            f"{OPTION} needs the package {error.name}: {install_command('dask', 'distributed')}"
        ) from error
    name, address = visible(scheduler), _address(scheduler)
    wait = dask.config.get("soft-sed-eval.wait", _WAIT)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quietly())
        try:
            client = distributed.Client(address, set_as_default=False)
        except Exception as error:
            raise EvaluationError(f"{OPTION} {name}: cannot be reached: {one_line(error)}") from error
        stack.callback(_close, client)
        try:
            client.wait_for_workers(1, timeout=wait)
        except (TimeoutError, TypeError, ValueError) as error:
            raise EvaluationError(
                f"{OPTION} {name}: there has been no worker for {wait} s; expected `dask worker` "
                "processes of that scheduler, whose logs say why they end"
            ) from error
        _check_versions(name, client)
        # Some versions tell of five where nobody asks for all.
        found = client.scheduler_info(n_workers=-1)["workers"].values()
        jobs = sum(worker["nthreads"] for worker in found)
        limits = [(worker.get("memory_limit") or _ASSUMED) // worker["nthreads"] for worker in found]
        memory = int(_SHARE * min(limits))
        yield Execute(partial(_by_workers, name, client, memory), jobs, memory, elsewhere=True)


def _address(scheduler: str) -> str:
    """Return the address of a scheduler: the given one, or the one in its file, for which dask would wait."""
    if "://" in scheduler:
        return scheduler
    option = f"{OPTION} {visible(scheduler)}"
    expected = "expected tcp://HOST:PORT, the path of a scheduler file, or a number of processes here"
    try:
        return str(json.loads(Path(scheduler).read_bytes())["address"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        why = f"cannot be read: {error.strerror}" if isinstance(error, OSError) else "is not a scheduler file"
        raise SettingsError(f"{option}: {why}; {expected}") from error


def _close(client: Any) -> None:  # noqa: ANN401 - of dask
    # What is lost cannot be closed any more, which nobody needs to be told.
    with contextlib.suppress(Exception):
        client.close(timeout=10)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Keep dask's own messages from standard error: the caller writes the necessary ones once."""
    loggers = [logging.getLogger(name) for name in {*logging.root.manager.loggerDict, *_LOGGERS}
               if name.split(".")[0] in _LOGGERS]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = [(logger, logger.level) for logger in loggers]
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for logger, level in before:
                logger.setLevel(level)


def _check_versions(scheduler: str, client: Any) -> None:  # noqa: ANN401
    """Raise EvaluationError where a worker has another version of what makes results the same.

    A worker that cannot read the data that it is sent would only end, and start anew.
    """
    for package, module in _PACKAGES.items():
        here = resolve_name(f"{module}:__version__")
        try:
            found = client.run(resolve_name, f"{module}:__version__", on_error="return")
        except Exception as error:
            message = f"{OPTION} {scheduler}: its workers do not answer: {one_line(error)}"
            raise EvaluationError(message) from error
        for address, there in sorted(found.items()):
            # Of one that was lost meanwhile nothing is known.
            if there != here and not isinstance(there, OSError):
                raise EvaluationError(
                    f"{OPTION} {scheduler}: versions differ on {address}: {package} {one_line(there)}, here "
                    f"{here}. Expected the same everywhere"
                )


def _by_workers(
    scheduler: str,
    client: Any,  # noqa: ANN401 - of dask
    memory: int,
    function: Callable[[Any], Any],
    items: Iterable[Any],
) -> list[Any]:
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    items = list(items)
    keys = [f"{visible(item.name)}{_APART}{uuid.uuid4().hex}" for item in items]
    work = partial(_work, __version__, memory, function)
    futures = client.map(work, items, key=keys, pure=False)
    try:
        return [future.result() for future in futures]
    except EvaluationError:
        raise
    except KilledWorker as error:
        name = str(error.task).rsplit(_APART, 1)[0]
        raise EvaluationError(
            f"{name}: {error.allowed_failures + 1} workers ended, one after another, while they worked "
            f"on it; the last was {error.last_worker.address}. Expected workers with more memory, or "
            "smaller shards"
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise EvaluationError(f"{OPTION} {scheduler}: the connection to the scheduler was lost") from error
    except Exception as error:
        raise EvaluationError(
            f"{OPTION} {scheduler}: a worker failed: {type(error).__name__}: {one_line(error)}"
        ) from error


def _work(version: str, memory: int, function: Callable[[Any], Any], item: Any) -> Any:  # noqa: ANN401
    """Work as a worker of a cluster, in so much more memory, as the version that asked for it."""
    if version != __version__:
        raise EvaluationError(f"a worker has soft-sed-eval {__version__}, here it is {version}")
    become_worker()
    with memory_limited(taken() + memory):
        return function(item)
