"""How many processes count, and what they cannot be asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

_LOOKED_AT = 1 << 25
"""Bytes of both tables below which nobody asks whether they fit into memory."""


def check_jobs(ctx: click.Context, systems: Sequence[str], given: Mapping[str, Any], *, points: bool) -> None:
    """Refuse several processes, and schedulers, where all rows are looked at together."""
    scheduler = given["scheduler"]
    if scheduler is not None and scheduler != "local" and given["jobs"] is not None:
        raise click.UsageError(f"--jobs is of this machine; --scheduler {scheduler} has its workers.", ctx)
    if scheduler is None and given["jobs"] in (None, 1):
        return
    option, count = ("--jobs", "count") if scheduler is None else ("--scheduler", "counts")
    if points or len(systems) > 1:
        raise click.UsageError(f"{option} is of one SYSTEM, a table; expected one.", ctx)
    for name in ("report", "chance", "check"):
        if given[name]:
            raise click.UsageError(f"{option} {count} parts; --{name} looks at all rows at once.", ctx)


def jobs_of(given: Mapping[str, Any]) -> int | None:
    """Return how many processes count; None where it is for us to say."""
    from sedeval_soft.core.threads import processors

    jobs: int | None = given["jobs"]
    return processors() if jobs == 0 else jobs


def may_be_in_parts(reference: str, system: str, io: Mapping[str, Any]) -> bool:
    """Return whether to look at tables before they are read: where that was asked for, or they are large."""
    if any(io[name] is not None for name in ("jobs", "memory", "scheduler")):
        return True
    from sedeval_soft.tables.source import any_in_shards

    if any_in_shards(reference, system):
        return True
    with suppress(OSError, ValueError):
        return sum(Path(name).stat().st_size for name in (reference, system)) >= _LOOKED_AT
    return False
