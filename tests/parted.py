"""Counts tables of files in parts, even small ones."""

from collections.abc import Mapping
from typing import Any

from sedeval_soft import Limits, Settings
from sedeval_soft.evaluation import Execute, Shard
from sedeval_soft.evaluation.partition import count_tables


def count_in_parts(
    reference: object,
    system: object,
    settings: Settings,
    lengths: Mapping[str, float] | None = None,
    limits: Limits | None = None,
    scheduler: str | None = None,
    **how: Any,
) -> Shard:
    """Return the statistics of tables; how: as for `count_tables`, but with few parts and small blocks."""
    given = str(reference), str(system), settings, lambda: lengths, limits or Limits()
    how = {"n_parts": 3, "block": 300, **how}
    if scheduler is None:
        return count_tables(*given, how.pop("execute", None) or Execute(), **how)
    from sedeval_soft.apps.cluster import workers

    with workers(scheduler) as execute:
        return count_tables(*given, execute, **how)
