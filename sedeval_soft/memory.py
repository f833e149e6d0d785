"""Limits on memory: the need of a step is estimated and compared before the step allocates it.

By default a step may take 80 % of free memory: the memory that the system reports as available, or the rest
of a container's share. A given limit is for the whole process.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from sedeval_soft.errors import EvaluationError

OPTION = "--memory-limit"

SHARE = 0.8
"""Share of free memory that a step may take by default."""

_UNKNOWN = 1 << 34
"""Bytes assumed to be free if the system does not report them."""

_SMALL = 1 << 26
"""Bytes that are taken without looking, unless a limit was given: to look takes longer."""

_NO_LIMIT = 1 << 60
"""Bytes from which a control group's number is not a limit: its oldest form has no other word for none."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MOST_ARENAS = -1, -3, -8
"""Names of glibc's `mallopt`."""

_GIVEN: ContextVar[int | None] = ContextVar("memory_limit", default=None)


class RoomError(EvaluationError):
    """A step would take more memory than it may."""


@contextlib.contextmanager
def memory_limited(most: int | None) -> Iterator[None]:
    """Let the code inside take at most so many bytes of memory; None for a share of free memory."""
    token = _GIVEN.set(most)
    try:
        yield
    finally:
        _GIVEN.reset(token)


def check_room(needed: float, what: str, fix: str) -> None:
    """Refuse a step that would take more memory than there is; raises RoomError before anything is taken.

    needed: bytes, estimated. what: the step, as the subject of a sentence. fix: a change that would need
    less.
    """
    if has_room(needed):
        return
    given, left = _GIVEN.get(), room()
    if given is None:
        free_now = spelled(left / SHARE)
        limit = f"{free_now} are free, of which {SHARE:.0%} may be taken ({OPTION} sets how much)"
    else:
        limit = f"{spelled(left)} are left of {OPTION} {spelled(given)}"
    raise RoomError(f"{what} would take about {spelled(needed)}; {limit}. {fix}")


@cache
def reuse_freed() -> None:
    """Let the C library of this process keep freed memory for the next arrays: to get new pages takes long.

    The limits are the limits that glibc reaches after arrays of 32 MiB were freed. All threads share this
    memory, except threads that were begun before.
    """
    import ctypes

    with contextlib.suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, 1 << 25)
        library.mallopt(_TRIM_THRESHOLD, 1 << 26)
        # Threads return their own memory to the system, whatever the limits.
        library.mallopt(_MOST_ARENAS, 1)


def given_limit() -> int | None:
    """Return the limit that was given, in bytes, None without one."""
    return _GIVEN.get()


def has_room(needed: float) -> bool:
    """Return whether a step may take so many bytes."""
    return (_GIVEN.get() is None and needed <= _SMALL) or needed <= room()


def room() -> int:
    """Return the bytes that may be taken now."""
    given = _GIVEN.get()
    return int(SHARE * free()) if given is None else max(0, given - taken())


def taken() -> int:
    """Return the bytes of this process alone; 0 if the system does not report them."""
    fields = _read("/proc/self/statm").split()
    if len(fields) < 3:
        return 0
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")


def free() -> int:
    """Return the bytes that are free: of the machine, or of the container's share if that is less."""
    sizes = [left for left in map(_left_of, dict.fromkeys(_groups())) if left is not None]
    available = [line.split()[1] for line in _read("/proc/meminfo").splitlines() if "MemAvailable:" in line]
    if available:
        sizes.append(int(available[0]) * 1024)
    return min(sizes, default=_UNKNOWN)


def _groups() -> Iterator[Path]:
    """Yield the folders of the control groups that this process is in, as far as they are visible."""
    yield from (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory"))
    for line in _read("/proc/self/cgroup").splitlines():
        _, kinds, path = (*line.split(":", 2), "", "")[:3]
        if path.strip("/") and kinds in {"", "memory"}:
            place = Path("/sys/fs/cgroup") / kinds / path.strip("/")
            yield from (place, *(above for above in place.parents if len(above.parts) > 4))


def _left_of(group: Path) -> int | None:
    """Return the remaining memory of a control group, None without a limit."""
    for names in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        limit, usage = (f"{group}/{name}" for name in names)
        most = _read(limit).strip()
        if not most.isdecimal() or int(most) >= _NO_LIMIT:
            continue
        used = _read(usage).strip()
        if used.isdecimal():
            # Pages of files that nobody uses now are given back when memory is asked for.
            stat = dict(line.split() for line in _read(f"{group}/memory.stat").splitlines())
            idle = int(stat.get("total_inactive_file", stat.get("inactive_file", "0")))
            return max(0, int(most) - max(0, int(used) - idle))
    return None


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def spelled(size: float) -> str:
    """Return a number of bytes with a unit and three digits: `1.5 GiB`."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} PiB"
