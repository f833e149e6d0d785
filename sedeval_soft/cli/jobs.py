"""How many processes count, and what they cannot be asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click


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
