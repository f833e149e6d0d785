"""How parts are worked on: one after another, by processes of this machine, or by the workers of a cluster.

Nothing else differs between them. Who is lost, what is begun anew and what goes where is the business of
`concurrent.futures` and of dask.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sedeval_soft import __version__
from sedeval_soft.errors import EvaluationError, SettingsError, install_command, one_line, visible
from sedeval_soft.memory import memory_limited, reuse_freed, room, taken
from sedeval_soft.tables.source import is_url
from sedeval_soft.threads import become_worker, for_each, processors

_PROCESS = 160 << 20
"""Bytes of a process that has done nothing yet, and of what it needs beside what it counts."""

_THREAD = 128 << 20
"""Bytes of a thread with what it reserves."""

OPTION = "--scheduler"

_WAIT = 120
"""Seconds in which a scheduler must have a worker; dask's setting `soft-sed-eval.wait` says otherwise."""

_SHARE, _LEAST = 0.8, 0.4
"""How much of its memory limit a worker takes, a little above which dask stops giving it work; and how much a
piece of work may take whatever the worker holds, which dask can put on the disk."""

_ASSUMED = 8 << 30
"""Bytes of a worker that does not say how many it may take."""

_APART = " / "
"""What parts the name of a piece of work, which messages tell, from what makes its key its own."""

_LOGGERS = ("distributed", "tornado", "asyncio")

_PACKAGES = ("numpy", "dask", "distributed")
"""Packages of which every worker must have the version that is here: last digits may differ else."""


class Execute:
    """Who works: this process, on one item after another, unless another kind of these says otherwise.

    jobs: how many work at a time. memory: bytes that each may take. on_disk: whether what is written to a
    folder here can be read there.
    """

    on_disk = True

    def __init__(self, jobs: int = 1, memory: int | None = None) -> None:
        """Choose how many work, and how much memory each takes; None for what there is of it."""
        self.jobs, self.memory = jobs, room() if memory is None else memory

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Return the function's result for each item, in order; raises what the first that fails raises.

        An item says by its `size` how many bytes of memory it takes.
        """
        items = list(items)
        sizes = sorted(_THREAD + item.size for item in items)
        # Threads, where those that are worked on together fit into memory.
        together = sum(sizes[-processors() :]) <= room()
        return for_each(function, items, sys.maxsize if together else 0)

    def keep(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Return what stands for the results, which stay where they are made."""
        return list(map(function, items))

    def derive(self, function: Callable[[Any], Any], kept: Iterable[Any]) -> list[Any]:
        """Return what stands for the function's results of what is kept, made where that is."""
        return list(map(function, kept))

    def fetch(self, kept: Sequence[Any]) -> list[Any]:
        """Return the results that are kept; raises as `map` does."""
        return list(kept)

    def path(self, name: str) -> str:
        """Return the path of a file for those who work."""
        return name


class Processes(Execute):
    """Processes of this machine, which end with this one; `processes` begins them."""

    def __init__(self, pool: Any, jobs: int, memory: int) -> None:  # noqa: ANN401 - a ProcessPoolExecutor
        """Choose a pool of so many processes that may each take so much memory."""
        super().__init__(jobs, memory)
        self._pool = pool

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Let each process work on the next item."""
        import signal
        from concurrent.futures.process import BrokenProcessPool

        # Processes are begun when work is handed over. They do not hear Ctrl-C: this one does, and ends them.
        change_mask = getattr(signal, "pthread_sigmask", None)  # Windows has none
        mask = change_mask and change_mask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            futures = [self._pool.submit(function, item) for item in items]
        finally:
            if change_mask:
                change_mask(signal.SIG_SETMASK, mask)
        try:
            return [future.result() for future in futures]
        except BrokenProcessPool as error:
            raise EvaluationError(
                "a worker process ended early: it was killed, or memory ran out; "
                "expected fewer --jobs, or a smaller --memory-limit; in a script, what asks for jobs must be "
                'below `if __name__ == "__main__":`'
            ) from error

    def keep(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Return the results: processes of one machine share its disk."""
        return self.map(function, items)


@contextlib.contextmanager
def processes(jobs: int) -> Iterator[Execute]:
    """Yield so many processes, as far as memory lets them be begun; they share what there is of it."""
    jobs = max(1, min(jobs, room() // _PROCESS))
    if jobs == 1:
        yield Execute()
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    memory = room() // jobs
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, spawn, _begin_process, (memory,))
    try:
        yield Processes(pool, jobs, memory)
    except BaseException:
        # Its own, and nobody else's: evaluations may run in several threads.
        for process in [*(pool._processes or {}).values()]:
            process.kill()
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _begin_process(memory: int) -> None:
    """Make a process one that ends with its parent, works in one thread and takes so much memory."""
    become_worker()
    reuse_freed()
    memory_limited(memory).__enter__()
    end_with_parent()


def end_with_parent() -> None:
    """Let this process end when the one does that began it, however that ends."""
    import multiprocessing
    import threading

    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


class Dask(Execute):
    """The workers of a dask scheduler, which share no disk; `cluster` connects to them."""

    on_disk = False

    def __init__(self, name: str, client: Any) -> None:  # noqa: ANN401 - of dask
        """Choose a client; name: what the scheduler was asked for by."""
        self._name, self._client = name, client
        # Some versions tell of five where nobody asks for all.
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [(worker.get("memory_limit") or _ASSUMED) // worker["nthreads"] for worker in workers]
        jobs = sum(worker["nthreads"] for worker in workers)
        super().__init__(jobs, int(_SHARE * min(limits)))

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Let workers work on items; what comes back is small."""
        return self.fetch(self.keep(function, items))

    def keep(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Return futures of the results, which stay with the workers."""
        futures = []
        for item in items:
            key = f"{visible(getattr(item, 'name', 'some recordings'))}{_APART}{uuid.uuid4().hex}"
            pieces = getattr(item, "pieces", None)
            # dask finds futures in arguments and lists of these, not within other objects.
            given = (item,) if pieces is None else (replace(item, pieces=([], [])), *map(list, pieces))
            future = self._client.submit(_work, __version__, function, *given, key=key, pure=False)
            futures.append(future)
        return futures

    def derive(self, function: Callable[[Any], Any], kept: Iterable[Any]) -> list[Any]:
        """Return futures of what is made of futures."""
        return [self._client.submit(function, future, pure=False) for future in kept]

    def fetch(self, kept: Sequence[Any]) -> list[Any]:
        """Return the results of futures; raises what the first that fails raised, in their order."""
        from concurrent.futures import CancelledError

        from distributed.scheduler import KilledWorker

        try:
            for future in kept:
                error = future.exception()
                if error is not None:
                    raise error
            results: list[Any] = self._client.gather([*kept])
        except EvaluationError:
            raise
        except KilledWorker as error:
            name = str(error.task).rsplit(_APART, 1)[0]
            raise EvaluationError(
                f"{name}: {error.allowed_failures + 1} workers ended, one after another, while they worked "
                f"on it; the last was {error.last_worker.address}. Expected workers with more memory, or "
                "smaller shards"
            ) from error
        except CancelledError as error:
            raise EvaluationError(
                f"{OPTION} {self._name}: the connection to the scheduler was lost"
            ) from error
        except MemoryError as error:
            raise EvaluationError(f"{OPTION} {self._name}: a worker does not have enough memory") from error
        except Exception as error:
            raise EvaluationError(
                f"{OPTION} {self._name}: a worker failed: {type(error).__name__}: {one_line(error)}"
            ) from error
        return results

    def path(self, name: str) -> str:
        """Return the path from the root: workers are begun elsewhere."""
        if name == "-":
            raise SettingsError(f"{OPTION}: workers cannot read standard input; expected files or URLs")
        return name if is_url(name) else os.path.abspath(name)  # noqa: PTH100 - as it is typed else


def _work(version: str, function: Callable[[Any], Any], item: Any, *pieces: Any) -> Any:  # noqa: ANN401
    """Work as a worker of a cluster, within what it may take, as the version that asked for it."""
    from distributed import get_worker

    if version != __version__:
        raise EvaluationError(f"a worker has soft-sed-eval {__version__}, here it is {version}")
    become_worker()
    limit = None
    with contextlib.suppress(ValueError, AttributeError):
        limit = get_worker().memory_manager.memory_limit
    memory = int(max(_SHARE * limit, taken() + _LEAST * limit)) if limit else None
    with contextlib.nullcontext() if memory is None else memory_limited(memory):
        return function(replace(item, pieces=pieces) if pieces else item)


@contextlib.contextmanager
def cluster(scheduler: str) -> Iterator[Dask]:
    """Yield the workers of a scheduler: an address, or the path of a scheduler file.

    Raises SettingsError and EvaluationError where there are none, or where they differ.
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
        yield Dask(name, client)


def _address(scheduler: str) -> str:
    """Return the address of a scheduler: what was given, or that in its file, for which dask would wait."""
    import json

    if "://" in scheduler:
        return scheduler
    option = f"{OPTION} {visible(scheduler)}"
    expected = "expected tcp://HOST:PORT, or the path of a scheduler file; --jobs uses this machine"
    try:
        return str(json.loads(Path(scheduler).read_bytes())["address"])
    except OSError as error:
        raise SettingsError(f"{option}: cannot be read: {error.strerror or error}; {expected}") from error
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise SettingsError(f"{option}: is not a scheduler file; {expected}") from error


def _close(client: Any) -> None:  # noqa: ANN401 - of dask
    # What is lost cannot be closed any more, which nobody needs to be told.
    with contextlib.suppress(Exception):
        client.close(timeout=10)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Keep dask's own words from standard error: what must be known is told once, by who calls."""
    import warnings

    names = {*logging.root.manager.loggerDict, *_LOGGERS}
    loggers = [logging.getLogger(name) for name in names if name.split(".")[0] in _LOGGERS]
    before = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for logger, level in zip(loggers, before, strict=True):
                logger.setLevel(level)


def _check_versions(scheduler: str, client: Any) -> None:  # noqa: ANN401
    """Raise EvaluationError where a worker has another version of what makes results the same.

    A worker that cannot read what it is sent would just end, and be begun anew.
    """
    from pkgutil import resolve_name

    try:
        versions = client.get_versions()
        packages = client.run(resolve_name, "sedeval_soft:__version__", on_error="return")
    except Exception as error:
        raise EvaluationError(
            f"{OPTION} {scheduler}: its workers do not answer: {one_line(error)}"
        ) from error
    here = {"soft-sed-eval": __version__, **_versions(versions["client"])}
    for address, version in sorted(packages.items()):
        # Of one that was lost meanwhile nothing is known.
        if isinstance(version, OSError) or address not in versions["workers"]:
            continue
        has = {"soft-sed-eval": version if isinstance(version, str) else None}
        has |= _versions(versions["workers"][address])
        different = [f"{n} {has[n] or 'is not there'}, here {here[n]}" for n in here if has[n] != here[n]]
        if different:
            raise EvaluationError(
                f"{OPTION} {scheduler}: versions differ on {address}: {'; '.join(different)}. Expected the "
                "same everywhere"
            )


def _versions(machine: Any) -> dict[str, str | None]:  # noqa: ANN401 - dask's own mapping
    packages = machine["packages"]
    python = ".".join(str(packages.get("python")).split(".")[:2])
    return {"python": python, **{name: packages.get(name) for name in _PACKAGES}}
