"""Memory is estimated before it is allocated."""

import os

import pytest

from sedeval_soft import memory
from sedeval_soft.memory import RoomError, check_room, memory_limited


@pytest.fixture
def system(monkeypatch):
    """Replace the files of the system by a mapping from paths to texts, which the test fills."""
    files: dict[str, str] = {}
    monkeypatch.setattr(memory, "_read", lambda path: files.get(path, ""))
    return files


V2, V1 = ("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")


@pytest.mark.parametrize(
    ("names", "group", "folder"),
    [
        *((V2, "0::/a/b\n", "/a/b"), (V2, "0::/a/b\n", "/a"), (V2, "0::/\n", "")),
        *((V1, "5:memory:/docker/x\n", "/memory/docker/x"), (V1, "", "/memory")),
    ],
)
def test_the_share_of_a_container_counts_where_it_is_less(names, group, folder, system):
    folder = f"/sys/fs/cgroup{folder}"
    system |= {
        "/proc/meminfo": "MemAvailable: 600 kB\n", "/proc/self/cgroup": group,
        f"{folder}/{names[0]}": "500000\n", f"{folder}/{names[1]}": "450000\n",
    }  # fmt: skip
    assert (memory.free(), memory.room()) == (50_000, 40_000)
    # Unused pages of files are free memory.
    system[f"{folder}/memory.stat"] = "anon 5\ninactive_file 100000\n"
    assert memory.free() == 150_000
    for no_limit in ("max\n", "9223372036854771712\n"):
        system[f"{folder}/{names[0]}"] = no_limit
        assert memory.free() == 600 * 1024
    del system["/proc/meminfo"]
    assert memory.free() == 1 << 34


def test_a_step_is_refused_before_memory_is_taken(system, monkeypatch):
    system["/proc/meminfo"] = "MemAvailable: 1000000 kB\n"
    check_room(800_000 * 1024, "to sing", "Sing less")
    with pytest.raises(RoomError) as caught:
        check_room(900_000 * 1024, "to sing", "Sing less")
    assert all(part in str(caught.value) for part in ("to sing", "879 MiB", "977 MiB", "80%", "Sing less"))
    # Small steps do not ask for the free memory.
    monkeypatch.setattr(memory, "free", lambda: 1 / 0)
    check_room(1 << 20, "to sing", "Sing less")


def test_a_limit_that_is_given_is_of_the_whole_process(system):
    page = os.sysconf("SC_PAGE_SIZE")
    system["/proc/self/statm"] = "999 300 100 1 0 2 0\n"
    with memory_limited(1000 * page):
        assert memory.room() == 800 * page
        check_room(800 * page, "to sing", "Sing less")
        with pytest.raises(RoomError, match="--memory-limit"):
            check_room(801 * page, "to sing", "Sing less")
    with memory_limited(100 * page), pytest.raises(RoomError):
        check_room(1, "to sing", "Sing less")
    check_room(801 * page, "to sing", "Sing less")


@pytest.mark.parametrize(
    ("size", "text"),
    [(999, "999 bytes"), (1536, "1.5 KiB"), (4 << 30, "4 GiB")],
)
def test_sizes_are_spelled(size, text):
    assert memory.spelled(size) == text
