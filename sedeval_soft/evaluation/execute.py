"""How parts are worked on: one after another, by processes of this machine, or by the workers of a cluster.

Nothing else differs between them. Who is lost, what is begun anew and what goes where is the business of
`concurrent.futures` and of dask.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sedeval_soft import __version__
from sedeval_soft.errors import EvaluationError, SettingsError, one_line, visible
from sedeval_soft.memory import memory_limited, reuse_freed, room, spelled, taken
from sedeval_soft.tables.source import is_url
from sedeval_soft.tables.stored_rows import temporary_folder
from sedeval_soft.threads import become_worker, for_each, processors

_PROCESS = 160 << 20
"""Bytes of a process that has done nothing yet, and of what it needs beside what it counts."""

_THREAD = 128 << 20
"""Bytes of a thread with what it reserves."""

OPTION = "--scheduler"

_CONNECT, _WAIT = 15.0, 120.0
"""Seconds in which a scheduler must answer, and have a worker; dask's settings `soft-sed-eval.connect` and
`soft-sed-eval.wait` say otherwise."""

_SHARE, _LEAST = 0.8, 0.4
"""How much of its memory limit a worker takes, a little above which dask stops giving it work; and how much a
piece of work may take whatever the worker holds, which dask can put on the disk."""

_WORKER = 400 << 20
"""Bytes without which no worker of this machine is begun."""

_ASSUMED = (4, 2 << 30)
"""Threads of all workers, and bytes that each may take, where they do not say."""

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
        from concurrent.futures.process import BrokenProcessPool

        done = 0
        try:
            # Processes are begun when work is handed over; Ctrl-C is this one's to answer.
            with _undisturbed():
                futures = [self._pool.submit(function, item) for item in items]
            results = []
            for done, future in enumerate(futures):  # noqa: B007 - told if the next one fails
                results.append(future.result())
            return results
        except BrokenProcessPool as error:
            guard = (
                "" if done else '; in a script, what asks for jobs must be below `if __name__ == "__main__":`'
            )
            raise EvaluationError(
                "a worker process ended before its work did: it was killed, or there was no memory for it; "
                f"expected fewer --jobs, or a smaller --memory-limit{guard}"
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


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep Ctrl-C from processes that are begun here: this one hears it when all are there, and ends them."""
    import signal

    heard: list[int] = []
    handlers: dict[int, Any] = {}
    mask = getattr(signal, "pthread_sigmask", None)
    before = mask(signal.SIG_BLOCK, {signal.SIGINT}) if mask else None
    try:
        # Another thread may take a signal that is blocked here: the main one answers it all the same.
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if callable(handler):
                with contextlib.suppress(ValueError):
                    signal.signal(number, lambda number, _: heard.append(number))
                    handlers[number] = handler
        yield
    finally:
        for name, handler in handlers.items():
            signal.signal(name, handler)
        if mask:
            mask(signal.SIG_SETMASK, before)
    if heard:
        handlers[heard[0]](heard[0], None)


def _begin_process(memory: int) -> None:
    """Make a process one that ends with its parent, works in one thread and takes so much memory."""
    import multiprocessing
    import threading

    become_worker()
    reuse_freed()
    memory_limited(memory).__enter__()
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
        jobs = sum(worker["nthreads"] for worker in workers) or _ASSUMED[0]
        limits = [
            int(_SHARE * worker["memory_limit"]) // max(1, worker["nthreads"])
            for worker in workers
            if worker.get("memory_limit")
        ]
        super().__init__(jobs, min(limits, default=_ASSUMED[1]))

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
            given = (item,) if pieces is None else (item.with_pieces(None), *map(list, pieces))
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
            found: list[Any] = self._client.gather([*kept])
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
            raise EvaluationError(f"{OPTION} {self._name}: the scheduler was lost") from error
        except MemoryError as error:
            raise EvaluationError(f"{OPTION} {self._name}: a worker has not enough memory") from error
        except Exception as error:
            # Workers that joined late may be of another version, and then fail in many ways.
            _check_versions(self._name, self._client)
            raise EvaluationError(
                f"{OPTION} {self._name}: a worker failed: {type(error).__name__}: {one_line(error)}"
            ) from error
        return found

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
        return function(item.with_pieces(pieces) if pieces else item)


@contextlib.contextmanager
def cluster(scheduler: str, jobs: int = 0, memory: int | None = None) -> Iterator[Dask]:
    """Yield the workers of a scheduler: an address, the path of a scheduler file, or `local`.

    `local` begins them on this machine, so many (0: one for each processor), which share so much memory.
    Raises SettingsError and EvaluationError where there are none, or where they differ.
    """
    try:
        import dask
        import distributed
    except ImportError as error:
        raise SettingsError(
            f"{OPTION} needs the package {error.name}: install soft-sed-eval[distributed]"
        ) from error
    name = visible(scheduler)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quietly())
        # What dask shares with its processes is in cycles, and is told as lost where it is not given back.
        stack.callback(gc.collect)
        where: dict[str, Any]
        if scheduler == "local":
            where = {"address": stack.enter_context(_local(jobs or processors(), memory))}
        elif "://" in scheduler:
            where = {"address": scheduler}
        else:
            _check_file(scheduler)
            where = {"scheduler_file": scheduler}
        timeout = _number(dask, "connect", _CONNECT)
        try:
            client = distributed.Client(**where, timeout=timeout, set_as_default=False)
        except Exception as error:
            raise EvaluationError(f"{OPTION} {name}: cannot be reached: {one_line(error)}") from error
        stack.callback(_close, client)
        wait = _number(dask, "wait", _WAIT)
        try:
            client.wait_for_workers(1, timeout=wait)
        except TimeoutError as error:
            raise EvaluationError(
                f"{OPTION} {name}: there has been no worker for {wait:g} s; expected `dask worker` "
                "processes of that scheduler, whose logs say why they end"
            ) from error
        _check_versions(name, client)
        yield Dask(name, client)


def _number(dask: Any, name: str, default: float) -> float:  # noqa: ANN401 - a module
    value = dask.config.get(f"soft-sed-eval.{name}", default)
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    raise SettingsError(f"dask's setting soft-sed-eval.{name} is {value!r}; expected seconds")


def _check_file(name: str) -> None:
    """Refuse a scheduler file that is none: dask would wait for it."""
    import json

    option = f"{OPTION} {visible(name)}"
    expected = "expected tcp://HOST:PORT, local, or the path of a scheduler file"
    try:
        content = json.loads(Path(name).read_bytes())
    except OSError as error:
        raise SettingsError(f"{option}: cannot be read: {error.strerror or error}; {expected}") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{option}: is no scheduler file; {expected}") from error
    if not isinstance(content, dict) or not isinstance(content.get("address"), str):
        raise SettingsError(f"{option}: has no address of a scheduler; {expected}")


@contextlib.contextmanager
def _local(n_workers: int, memory: int | None) -> Iterator[str]:
    """Yield the address of a scheduler with workers on this machine."""
    import dask
    from distributed import LocalCluster

    if memory is not None and memory < _WORKER:
        raise SettingsError(
            f"{OPTION} local: a worker takes {spelled(_WORKER)} at the least; {spelled(memory)} may be taken"
        )
    n_workers = max(1, min(n_workers, (room() if memory is None else memory) // _WORKER))
    with contextlib.ExitStack() as stack:
        scratch = str(stack.enter_context(temporary_folder()))
        stack.enter_context(dask.config.set({"temporary-directory": scratch}))
        begin = partial(
            LocalCluster,
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            memory_limit="auto" if memory is None else memory // n_workers,
            # None would be dask's own port, which another cluster may have.
            dashboard_address="127.0.0.1:0",
            local_directory=scratch,
            silence_logs=logging.CRITICAL,
        )
        try:
            workers = _begun(begin)
        except Exception as error:
            what = "" if memory is None else f" with {spelled(memory // n_workers)} each"
            raise EvaluationError(
                f"{OPTION} local: {n_workers} workers{what} cannot be begun: {one_line(error)}"
            ) from error
        stack.callback(_close, workers)
        address = workers.scheduler_address
        # Nothing here may keep it when it is closed: what it shares with its processes goes with it.
        del workers, begin
        yield address


def _begun(begin: Callable[[], Any]) -> Any:  # noqa: ANN401 - of dask
    """Return a cluster that is begun; who is interrupted meanwhile ends it before anything else."""
    from concurrent.futures import ThreadPoolExecutor
    from multiprocessing import resource_tracker

    # Threads that begin processes, and these, leave Ctrl-C to who asked for them. What tracks processes is
    # begun before: it would have these threads hear it.
    resource_tracker.ensure_running()
    with _undisturbed():
        pool = ThreadPoolExecutor(1)
        future = pool.submit(begin)
    try:
        return future.result()
    except BaseException:
        # Whatever it is, Ctrl-C or a signal: what is being begun must end.
        with contextlib.suppress(Exception):
            _close(future.result())
        del future
        raise
    finally:
        pool.shutdown(wait=False)


def _close(what: Any) -> None:  # noqa: ANN401 - of dask
    # What is lost cannot be closed any more, which nobody needs to be told.
    with contextlib.suppress(Exception):
        what.close(timeout=10)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Keep dask's own words from standard error: what must be known is told once, by who calls."""
    import warnings

    known = [*logging.root.manager.loggerDict, *_LOGGERS]
    loggers = [logging.getLogger(name) for name in dict.fromkeys(known) if name.split(".")[0] in _LOGGERS]
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
        versions = client.get_versions(check=False)
        own = client.run(resolve_name, "sedeval_soft:__version__", on_error="return")
    except Exception as error:
        raise EvaluationError(
            f"{OPTION} {scheduler}: its workers do not answer: {one_line(error)}"
        ) from error
    ours = {"soft-sed-eval": __version__, **_versions(versions["client"])}
    for address, theirs in sorted({"the scheduler": versions["scheduler"], **versions["workers"]}.items()):
        has = _versions(theirs)
        if address in own and not isinstance(own[address], OSError):  # of one that is lost, nothing is known
            has["soft-sed-eval"] = own[address] if isinstance(own[address], str) else None
        # A scheduler hands work on, and needs nothing to do it with.
        names = [n for n in has if n in ("dask", "distributed") or address != "the scheduler"]
        different = [f"{n} {has[n] or 'is not there'}, here {ours[n]}" for n in names if has[n] != ours[n]]
        if different:
            raise EvaluationError(
                f"{OPTION} {scheduler}: versions differ on {address}: {'; '.join(different)}. Expected the "
                "same everywhere"
            )


def _versions(found: Any) -> dict[str, str | None]:  # noqa: ANN401 - dask's own mapping
    packages = found["packages"]
    python = ".".join(str(packages.get("python")).split(".")[:2])
    return {"python": python, **{name: packages.get(name) for name in _PACKAGES}}
