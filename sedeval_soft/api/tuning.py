"""Find thresholds on one set of files, to score others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sedeval_soft import __version__
from sedeval_soft.api.sources import Durations, read_lengths, sides_of
from sedeval_soft.evaluation.optimal import tune as find
from sedeval_soft.evaluation.shard import count_rows
from sedeval_soft.evaluation.signature import sign
from sedeval_soft.settings import Settings
from sedeval_soft.tables.limits import Limits


def tune(
    reference: Any,  # noqa: ANN401 - as for evaluate
    system: Any,  # noqa: ANN401
    settings: Settings,
    durations: Durations | None,
    limits: Limits,
) -> tuple[dict[str, Any], tuple[str, ...], Settings]:
    """Return the best threshold of each class as a file has them, warnings, and the settings that were used.

    The objective is in the settings; the default is segment-based F. Raises as `evaluate` does.
    """
    objective = settings.objective or "segment.f1"
    settings = replace(
        settings, objective=objective, only=(f"{objective.partition('.')[0]}.optimal",), measures=(),
        thresholds=None, cross_tune=None, satisfice=None, reference_sweep=False,
    )  # fmt: skip
    rows, lengths = sides_of(reference, system, settings, limits), read_lengths(durations, limits)
    shard = count_rows(*rows, settings, lengths)
    tuning = find(shard.tally, settings)
    tuning["signature"] = sign(__version__, settings, shard.inputs, lengths)[0]
    return tuning, shard.findings.warnings(settings), settings
