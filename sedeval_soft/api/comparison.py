"""Score several systems against one reference: a board, or the mean over runs of one system."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Unpack

from sedeval_soft import __version__
from sedeval_soft.api.evaluation import chosen_with, settings_of_points, with_folds
from sedeval_soft.api.sources import (
    Columns,
    Durations,
    Parted,
    check_name,
    check_names,
    limits_from,
    read_lengths,
    read_parts,
    settings_from,
    shown,
    to_rows,
    with_points,
)
from sedeval_soft.comparison.board import Board
from sedeval_soft.comparison.compare import (
    RANK_BY,
    check_baseline,
    check_rank_by,
    compare_scores,
    mean_scores,
)
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.evaluation.resample import Progress
from sedeval_soft.evaluation.score import score_shard, tuned_shard
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.evaluation.shard import Shard, shard_of_rows
from sedeval_soft.fields import Keywords
from sedeval_soft.settings import Settings
from sedeval_soft.tables.limits import Limits
from sedeval_soft.timeline.alignment_report import STRICT

Systems = Mapping[str, Any] | Sequence[str | os.PathLike[str]]


def compare(
    reference: Any,  # noqa: ANN401 - as for evaluate
    systems: Systems,
    *,
    rank_by: str = RANK_BY,
    baseline: str | None = None,
    durations: Durations | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    columns: Columns | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Board:
    """Score systems against one reference, and rank them by a score.

    systems: at least two, as paths, or as a mapping of names to what `evaluate` takes as a system.
    rank_by: the score that ranks them. baseline: the system from which differences are taken; None for the
    best. Other arguments as for `evaluate`; intervals are bootstrapped unless `ci` says otherwise.

    Raises InputError for input that cannot be scored, SettingsError for settings.
    """
    check_rank_by(rank_by)
    if baseline is not None:
        check_baseline(baseline, list(_named(systems)))
    chosen = chosen_with([rank_by], settings, values)
    chosen = chosen if chosen.ci else replace(chosen, ci="bootstrap")
    found = _score(reference, systems, chosen, (durations, folds, by, progress), limits_from(limits, columns))
    return compare_scores(
        [scores for scores, _ in found],
        [shard.tally for _, shard in found],
        rank_by=rank_by,
        baseline=baseline,
        progress=progress,
    )


def mean_of_runs(
    reference: Any,  # noqa: ANN401 - as for evaluate
    runs: Systems,
    *,
    name: str | None = None,
    durations: Durations | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    limits: Limits | None = None,
    columns: Columns | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Scores:
    """Score repeated trainings of one system, and return the mean of each score with its interval.

    runs: at least two, as paths, or as a mapping of names to what `evaluate` takes as a system. name: the
    system's. The interval is that of the mean over runs, by the jackknife: it says how much trainings differ,
    and nothing of how much files do. Raises as `evaluate` does.
    """
    chosen = settings_from(settings, values)
    if name is not None:
        check_name(name)
    if chosen.ci is not None:
        raise SettingsError("ci is of one system's files; runs have the jackknife's interval over runs")
    if chosen.worst:
        raise SettingsError("worst is of one system's output; ask for it with each of the runs")
    found = _score(reference, runs, chosen, (durations, folds, by, None), limits_from(limits, columns))
    names = [scores.system for scores, _ in found]
    return mean_scores([scores for scores, _ in found], name or f"mean of {', '.join(names)}")


def _score(
    reference: Any,  # noqa: ANN401 - as for evaluate
    systems: Systems,
    settings: Settings,
    given: tuple[Durations | None, Parted | None, Parted | None, Progress | None],
    limits: Limits | None,
) -> list[tuple[Scores, Shard]]:
    named = {name: with_points(system, limits) for name, system in _named(systems).items()}
    settings = with_folds(settings, given[1])
    settings = settings_of_points(settings, named.values())
    ours, lengths = to_rows(reference, "reference", settings, limits), read_lengths(given[0], limits)
    found = []
    for name, system in named.items():
        theirs = to_rows(system, name, settings, limits)
        with _naming(name):
            shard = shard_of_rows(ours, theirs, settings, lengths, name, cells=True)
            files = shard.tally.files
            folds = read_parts(given[1], "folds", files, limits)
            by = read_parts(given[2], "by", files, limits)
            # Systems are resampled together, with the counts of all readings.
            shard = tuned_shard(shard, folds)
            found.append((score_shard(shard, __version__, folds=folds, by=by, progress=given[3]), shard))
    # What is true of all is said once; of anything else it is said of which.
    common = set.intersection(*({*scores.warnings} for scores, _ in found))
    return [
        (replace(scores, warnings=tuple(_said_of(scores.system, w, common) for w in scores.warnings)), shard)
        for scores, shard in found
    ]


def _said_of(system: str, warning: str, common: Container[str]) -> str:
    """Return a warning with the system that it is of, unless it names that, or is of all."""
    return warning if warning in common or warning.startswith(f"{system}: ") else f"{system}: {warning}"


@contextmanager
def _naming(system: str) -> Iterator[None]:
    """Say of which system warnings are that settings make errors."""
    try:
        yield
    except EvaluationError as error:
        lines = str(error).split("\n")
        if lines[-1] != STRICT:
            raise
        raise EvaluationError("\n".join(_said_of(system, line, (STRICT,)) for line in lines)) from error


def _named(systems: Systems) -> dict[str, Any]:
    """Return systems by name, at least two."""
    if isinstance(systems, Mapping):
        named = dict(systems)
    elif isinstance(systems, Sequence) and not isinstance(systems, str):
        names = [os.fspath(path) for path in systems]
        named = dict(zip(names, names, strict=True))
        twice = next((name for name in named if names.count(name) > 1), None)
        if twice is not None:
            raise SettingsError(f"system {twice!r} is given twice; expected each once")
    else:
        raise SettingsError(f"systems must be paths, or a mapping of names to systems, not {shown(systems)}")
    check_names(named, "a system")
    if len(named) < 2:
        raise SettingsError(f"systems must be two or more, not {len(named)}")
    return named
