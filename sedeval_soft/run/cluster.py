"""Work that the workers of a dask cluster do, each piece of it once, whoever is lost meanwhile.

dask begins a piece of work anew where its worker was lost, and makes results anew that were lost with one.
What it does not do is done here: a piece that alone is late is also given to another worker, and the first
result is taken; whatever goes wrong for good is one message that names the piece.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import queue
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from sedeval_soft import __version__
from sedeval_soft.core.room import room, spelled, taken
from sedeval_soft.core.threads import processors
from sedeval_soft.errors import EvaluationError, SettingsError, one_line, visible
from sedeval_soft.formats.buckets import own_folder
from sedeval_soft.run.workers import undisturbed

OPTION = "--scheduler"

_TICK = 0.5
"""Seconds between looks at what the workers do, while nothing arrives."""

WAIT, LATE, CONNECT = 120.0, 60.0, 15.0
"""Seconds that pass without any worker before that is an error, without any result before work is given to a
second worker, and in which a scheduler must answer. Settings `soft-sed-eval.wait`, `.late` and `.connect` of
dask say otherwise."""

_SHARE, _LEAST = 0.8, 0.4
"""How much of its memory limit a worker takes, a little above which dask stops giving it work; and how much a
piece of work may take whatever the worker holds, which dask can put on the disk."""

_WORKER = 400 << 20
"""Bytes without which no worker of this machine is begun."""

_ASSUMED = (4, 2 << 30)
"""Threads of all workers, and bytes that each may take, where there is none yet."""

_LOGGERS = ("distributed", "tornado", "asyncio")

_PACKAGES = ("numpy", "dask", "distributed")
"""Packages of which every worker must have the version that is here: last digits may differ else."""


@dataclass(slots=True)
class Job:
    """A piece of work. told: future of what is waited for. kept: futures of what the cluster keeps of it."""

    told: Any
    kept: tuple[Any, ...] = ()


@dataclass(slots=True)
class Cluster:
    """The workers of a scheduler. name: what it was asked for by. client: dask's connection to it."""

    name: str
    client: Any
    wait: float = WAIT
    late: float = LATE
    _alone_since: float | None = None
    _token: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    _count: int = 0

    def submit(self, what: str, function: Callable[..., Any], *given: Any, workers: Any = None) -> Any:  # noqa: ANN401 - dask's own
        """Return the future of a function's result; futures among what it is given stand for results."""
        self._count += 1
        key = f"soft-sed-eval-{what}-{self._token}-{self._count}"
        return self.client.submit(function, *given, key=key, workers=workers, pure=False)

    def size(self) -> tuple[int, int]:
        """Return how many pieces of work are done at a time, and the bytes that each may take."""
        workers = self._workers().values()
        threads = sum(worker["nthreads"] for worker in workers)
        limits = [
            int(_SHARE * worker["memory_limit"]) // max(1, worker["nthreads"])
            for worker in workers
            if worker.get("memory_limit")
        ]
        return (threads or _ASSUMED[0]), min(limits, default=_ASSUMED[1])

    def done(self, make: Callable[[int, Any], Job], names: Sequence[str]) -> list[Job]:
        """Return the jobs of some pieces of work when all of them are done, in order.

        make: begins a piece by its number, on some workers only if any are named. names: of the pieces, for
        messages. Raises EvaluationError for a piece that cannot be done.
        """
        arrived: queue.SimpleQueue[tuple[int, Job]] = queue.SimpleQueue()

        def begin(number: int, workers: Any = None) -> Job:  # noqa: ANN401
            job = make(number, workers)
            job.told.add_done_callback(lambda _: arrived.put((number, job)))
            return job

        begun = {number: [begin(number)] for number in range(len(names))}
        finished: dict[int, Job] = {}
        last = time.monotonic()
        longest = 0.0
        while len(finished) < len(names):
            try:
                number, job = arrived.get(timeout=_TICK)
            except queue.Empty:
                self._check()
                left = [number for number in begun if number not in finished]
                if time.monotonic() - last > max(self.late, 3 * longest):
                    last = time.monotonic()
                    for each in left:
                        if len(begun[each]) == 1 and (others := self._others(begun[each][0])):
                            begun[each].append(begin(each, others))
                continue
            if number in finished:
                continue
            if job.told.status == "finished":
                finished[number] = job
                begun[number] = [job]  # of another one that is still at work, the future is let go of
                longest, last = max(longest, time.monotonic() - last), time.monotonic()
            else:
                begun[number].remove(job)
                if not begun[number]:
                    raise self._failed(job.told, names[number])
        return [finished[number] for number in range(len(names))]

    def results(self, futures: Sequence[Any], names: Sequence[str]) -> list[Any]:
        """Return the results of futures, in order; raises EvaluationError where one cannot be had."""
        try:
            found: list[Any] = self.client.gather(list(futures))
        except EvaluationError:
            raise
        except Exception as error:
            bad = [name for f, name in zip(futures, names, strict=True) if f.status != "finished"]
            raise self._said(error, ", ".join(bad[:3]) or "results") from error
        return found

    def _workers(self) -> dict[str, Any]:
        # Some versions tell of five where nobody asks for all.
        found: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        return found

    def _check(self) -> None:
        """Raise EvaluationError where nobody is left to work."""
        if self.client.status not in ("running", "connecting"):
            raise EvaluationError(f"{OPTION} {self.name}: the scheduler was lost")
        if self._workers():
            self._alone_since = None
            return
        now = time.monotonic()
        self._alone_since = self._alone_since or now
        if now - self._alone_since > self.wait:
            raise EvaluationError(
                f"{OPTION} {self.name}: there has been no worker for {self.wait:g} s; expected `dask worker` "
                "processes of that scheduler, whose logs say why they end"
            )

    def _others(self, job: Job) -> list[str]:
        """Return the workers that do not work on a job, none where nobody does or nobody else is there."""
        keys = {future.key for future in (job.told, *job.kept)}
        busy = {worker for worker, own in self.client.processing().items() if keys & {*own}}
        return [worker for worker in self._workers() if worker not in busy] if busy else []

    def _failed(self, future: Any, name: str) -> Exception:  # noqa: ANN401
        name = visible(name)
        if future.status != "error":
            return EvaluationError(f"{OPTION} {self.name}: the scheduler was lost, or let go of {name}")
        return self._said(future.exception(), name)

    def _said(self, error: BaseException, name: str) -> EvaluationError:
        from distributed.scheduler import KilledWorker

        if isinstance(error, EvaluationError):
            return error
        if isinstance(error, KilledWorker):
            return EvaluationError(
                f"{name}: {error.allowed_failures + 1} workers ended, one after another, while they worked "
                f"on it; the last was {error.last_worker.address}. Expected workers with more memory, or "
                "smaller shards"
            )
        if isinstance(error, MemoryError):
            return EvaluationError(f"{name}: a worker has not enough memory for it")
        # Workers that joined late may be of another version, and then fail in many ways.
        _check_versions(self.name, self.client)
        text = one_line(error)
        return EvaluationError(f"{name}: a worker failed: {type(error).__name__}: {text}")


def folder_here() -> Path | None:
    """Return the folder of this process if it is a worker, which goes when it does, else None."""
    from distributed import get_worker

    try:
        return Path(get_worker().local_directory)
    except (ValueError, AttributeError):
        return None


def memory_here() -> int | None:
    """Return the bytes that this process may take now if it is a worker with a limit, else None."""
    from distributed import get_worker

    try:
        limit = get_worker().memory_manager.memory_limit
    except (ValueError, AttributeError):
        return None
    return int(max(_SHARE * limit, taken() + _LEAST * limit)) if limit else None


@contextlib.contextmanager
def connected(scheduler: str, jobs: int = 0, memory: int | None = None) -> Iterator[Cluster]:
    """Yield the cluster of a scheduler: an address, the path of a scheduler file, or `local`.

    `local` begins one on this machine, of so many worker processes (0: one for each processor) that share so
    much memory. Raises SettingsError and EvaluationError where there is none, or where workers differ.
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
        timeout = _number(dask, "connect", CONNECT)
        try:
            client = distributed.Client(**where, timeout=timeout, set_as_default=False)
        except Exception as error:
            text = one_line(error)
            raise EvaluationError(f"{OPTION} {name}: cannot be reached: {text}") from error
        stack.callback(_close, client)
        _check_versions(name, client)
        yield Cluster(name, client, _number(dask, "wait", WAIT), _number(dask, "late", LATE))


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
        found = json.loads(Path(name).read_bytes())
    except OSError as error:
        raise SettingsError(f"{option}: cannot be read: {error.strerror or error}; {expected}") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{option}: is no scheduler file; {expected}") from error
    if not isinstance(found, dict) or not isinstance(found.get("address"), str):
        raise SettingsError(f"{option}: has no address of a scheduler; {expected}")


@contextlib.contextmanager
def _local(n_workers: int, memory: int | None) -> Iterator[Any]:
    import dask
    from distributed import LocalCluster

    if memory is not None and memory < _WORKER:
        raise SettingsError(
            f"{OPTION} local: a worker takes {spelled(_WORKER)} at the least; {spelled(memory)} may be taken"
        )
    n_workers = max(1, min(n_workers, (room() if memory is None else memory) // _WORKER))
    with contextlib.ExitStack() as stack:
        scratch = str(stack.enter_context(own_folder()))
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
            cluster = _begun(begin)
        except Exception as error:
            text = one_line(error)
            what = "" if memory is None else f" with {spelled(memory // n_workers)} each"
            raise EvaluationError(
                f"{OPTION} local: {n_workers} workers{what} cannot be begun: {text}"
            ) from error
        stack.callback(_close, cluster)
        address = cluster.scheduler_address
        # Nothing here may keep it when it is closed: what it shares with its processes goes with it.
        del cluster, begin
        yield address


def _begun(begin: Callable[[], Any]) -> Any:  # noqa: ANN401 - of dask
    """Return a cluster that is begun; who is interrupted meanwhile ends it before anything else."""
    # Threads that begin processes, and these, leave Ctrl-C to who asked for them. What tracks processes is
    # begun before: it would have these threads hear it.
    resource_tracker.ensure_running()
    with undisturbed():
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
    try:
        found = client.get_versions(check=False)
        own = client.run(resolve_name, "sedeval_soft:__version__", on_error="return")
    except Exception as error:
        text = one_line(error)
        raise EvaluationError(f"{OPTION} {scheduler}: its workers do not answer: {text}") from error
    ours = {"soft-sed-eval": __version__, **_versions(found["client"])}
    for address, theirs in sorted({"the scheduler": found["scheduler"], **found["workers"]}.items()):
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
