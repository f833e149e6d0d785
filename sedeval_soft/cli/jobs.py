"""How many processes count, and what they cannot be asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click


def check_jobs(ctx: click.Context, systems: Sequence[str], given: Mapping[str, Any], *, points: bool) -> None:
    """Refuse several processes where all rows are looked at together."""
    if given["jobs"] in (None, 1):
        return
    if points or len(systems) > 1:
        raise click.UsageError("--jobs is of one SYSTEM, a table; expected one.", ctx)
    for name in ("report", "chance", "check"):
        if given[name]:
            raise click.UsageError(f"--jobs count parts; --{name} looks at all rows at once.", ctx)


def jobs_of(given: Mapping[str, Any]) -> int | None:
    """Return how many processes count, 0 for one for each processor; None where tables are read at once."""
    jobs: int | None = given["jobs"]
    return 1 if jobs is None and given["memory_limit"] is not None else jobs
