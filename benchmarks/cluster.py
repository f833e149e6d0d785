"""Measure a dask cluster on this machine: the time of 1, 2 and 4 workers, and what each of them works.

    python benchmarks/cluster.py [--workers N]... [--rows 20000000] [--shards 16]

More workers than processors share these, so wall times say little. What each worker works says how long the
run would take if each had a processor of its own: no less than the busiest worker works, and the client.
Needs the dependency group `distributed`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import large
from run import machine, versions

HEAD = "| workers | time | in all workers | in the busiest | in the client | rows a second and worker |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print Markdown."""
    made = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    made.add_argument("--workers", type=int, action="append", help="how many workers (repeatable)")
    made.add_argument("--rows", type=int, default=20_000_000, help="rows of each side")
    made.add_argument("--shards", type=int, default=16, help="shards of Parquet on each side")
    options = made.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="soft-sed-eval-") as folder:
        patterns = large.shards(Path(folder), options.rows, options.shards)
        lines = [measured(patterns, n_workers, options.rows) for n_workers in options.workers or (1, 2, 4)]
    rows = f"{options.rows:,} + {options.rows:,} rows in {options.shards} shards of Parquet on each side."
    print("\n".join([HEAD, "|--:|" + "--:|" * 5, *lines, "", f"{rows} {machine()}.", f"{versions()}."]))
    return 0


def measured(patterns: tuple[str, str], n_workers: int, n_rows: int) -> str:
    """Return a row of the table: one run of all readings of segments, after one of a single shard."""
    from distributed import LocalCluster

    from sedeval_soft import evaluate
    from sedeval_soft.apps.cluster import workers

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        cluster.get_client() as client,
        workers(cluster.scheduler_address) as execute,
    ):
        evaluate(*(name.replace("*", "000") for name in patterns), only=("segment",), execute=execute)
        before, start, ours = client.run(time.process_time), time.perf_counter(), time.process_time()
        evaluate(*patterns, only=("segment",), execute=execute)
        wall, ours = time.perf_counter() - start, time.process_time() - ours
        after = client.run(time.process_time)
    busy = [after[worker] - before[worker] for worker in after]
    rate = 2 * n_rows / sum(busy)
    print(f"{n_workers} workers: {wall:.1f} s", file=sys.stderr, flush=True)
    times = " | ".join(f"{each:.3g} s" for each in (wall, sum(busy), max(busy), ours))
    return f"| {n_workers} | {times} | {rate:,.0f} |"


if __name__ == "__main__":
    sys.exit(main())
