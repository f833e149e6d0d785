"""Score several systems against one reference: a board, or the mean over runs of one system."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Unpack

from sedeval_soft import __version__
from sedeval_soft.api.evaluation import settings_for_scores, settings_of_points, with_folds
from sedeval_soft.api.sources import (
    Durations,
    Parted,
    check_text,
    limits_from,
    path_of,
    read_lengths,
    read_parts,
    settings_from,
    shown,
    to_rows,
    with_points,
)
from sedeval_soft.arrays import for_each, processors
from sedeval_soft.checks.alignment import STRICT
from sedeval_soft.comparison.board import Board
from sedeval_soft.comparison.compare import (
    check_baseline,
    check_rank_by,
    mean_scores,
    rank_scores,
)
from sedeval_soft.comparison.paired import Paired
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.evaluation.resample import Progress
from sedeval_soft.evaluation.scores import Scores, main_score
from sedeval_soft.evaluation.shard import Shard, count_rows
from sedeval_soft.evaluation.system_scores import parts_for, score_shard, tuned_shard
from sedeval_soft.fields import Keywords
from sedeval_soft.memory import has_room, reuse_freed
from sedeval_soft.settings import Settings, split_name
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits

Systems = Mapping[str, Any] | Sequence[str | os.PathLike[str]]
SYSTEMS = "system", "paths, or a mapping of names to systems"

_BYTES = 600
"""The most bytes that one value of a system takes while all scores and intervals are computed."""


@dataclass(frozen=True, slots=True)
class Task:
    """The reference and the settings for several systems, read once for all of them.

    reference: its rows. durations: seconds by file name. folds, by: as for `evaluate`. rank_by: the
    score that ranks them. columns: others that are shown on a board of submissions.
    """

    reference: EventTable
    settings: Settings
    durations: Mapping[str, float] | None
    folds: Parted | None
    by: Parted | None
    limits: Limits
    rank_by: str = ""
    columns: tuple[str, ...] = ()

    def count(
        self, rows: EventTable, name: str, settings: Settings | None = None, *, cells: bool = False
    ) -> Shard:
        """Return the statistics of a system; settings: for this system alone, see `count_rows`."""
        return count_rows(self.reference, rows, settings or self.settings, self.durations, name, cells=cells)

    def partitions(self, shard: Shard) -> dict[str, Any]:
        """Return the files of the statistics by fold, and by scene."""
        return read_parts(self.folds, self.by, shard.tally.files, self.limits)


def ranking_of(settings: Settings | None, values: Keywords) -> tuple[str | None, Settings | None, Keywords]:
    """Return the score that ranks systems if one is named, and the settings without one beside them.

    Raises SettingsError for a score by which none can be ranked.
    """
    if settings is not None and "rank_by" in values:
        settings, values = replace(settings, rank_by=values["rank_by"]), values.copy()
        del values["rank_by"]
    rank_by = settings_from(settings, values).rank_by
    if rank_by is not None:
        check_rank_by(rank_by)
    return rank_by, settings, values


def compare(
    reference: Any,  # noqa: ANN401 - as for evaluate
    systems: Systems,
    *,
    baseline: str | None = None,
    durations: Durations | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Board:
    """Score systems against one reference, and rank them by a score.

    systems: at least two, as paths, or as a mapping of names to what `evaluate` takes as a system. baseline:
    the system, by its name or the last part of its path, with which others are compared; None for the best.
    `rank_by` among the settings is the score that ranks them; without it F1 of segments, soft if the
    reference has values. Other arguments as for `evaluate`; `ci` chooses intervals, by default the bootstrap.

    Raises InputError for input that cannot be scored, SettingsError for settings.
    """
    rank_by, settings, values = ranking_of(settings, values)
    if baseline is not None:
        names = [*named_sources(systems, *SYSTEMS)]
        # By its name, or by the last part of a path, if one system alone has it.
        alike = [name for name in names if PurePath(name).name == baseline]
        baseline = alike[0] if baseline not in names and len(alike) == 1 else baseline
        check_baseline(baseline, names)
    chosen = settings_for_scores([rank_by] if rank_by else [], settings, values)
    chosen = chosen if chosen.ci else replace(chosen, ci="bootstrap")
    limits = limits_from(limits, values)
    scores, shards = _score(reference, systems, chosen, durations, folds, by, limits, progress)
    rank_by = rank_by or main_score(scores[0])
    if rank_by is None:
        raise SettingsError("there is no F1 to rank systems by; name a score with rank_by")
    tallies, text = [shard.tally for shard in shards], split_name(rank_by)[1]
    if text:
        folds_of = [read_parts(folds, None, shard.tally.files, limits)["folds"] for shard in shards]
        shards = [
            tuned_shard(shard.variant(text), each) for shard, each in zip(shards, folds_of, strict=True)
        ]
    parts = [
        parts_for(shard, rank_by, read_parts(None, by, shard.tally.files, limits)["by"]) for shard in shards
    ]
    paired = Paired.of_tallies(
        [shard.tally for shard in shards], rank_by, scores[0].settings, progress, parts
    )
    return rank_scores(scores, paired, rank_by=rank_by, baseline=baseline, tallies=tallies)


def mean_of_runs(
    reference: Any,  # noqa: ANN401 - as for evaluate
    runs: Systems,
    *,
    name: str | None = None,
    durations: Durations | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Scores:
    """Score repeated trainings of one system, and return the mean of each score with its interval.

    runs: at least two, as paths, or as a mapping of names to what `evaluate` takes as a system. name: the
    system's. The interval is for the mean over runs, by Student's t: it covers differences between trainings,
    not between files. Raises as `evaluate` does.
    """
    chosen = settings_from(settings, values, limits=limits)
    if name is not None:
        check_text("name", name)
    if chosen.ci is not None:
        raise SettingsError("ci cannot go with runs, which have intervals over runs")
    if chosen.worst:
        raise SettingsError("worst cannot go with a mean of runs; ask for it for each of them")
    scores, _ = _score(reference, runs, chosen, durations, folds, by, limits_from(limits, values))
    return mean_scores(scores, name or f"mean of {', '.join(each.system for each in scores)}")


def score_several(
    reference: Any,  # noqa: ANN401 - as for evaluate
    systems: Systems,
    *,
    mean: str | None = None,
    apart: bool = False,
    baseline: str | None = None,
    progress: Progress | None = None,
    **how: Any,  # noqa: ANN401 - settings, limits, durations, folds and by
) -> tuple[list[Scores], Board | None]:
    """Return the scores of several systems, and their board if they are compared.

    mean: the name of the one system that all are trainings of, "" to name it after them; None to compare
    them. apart: each is scored alone, without a comparison or resampling, as for scores of single files.
    Other arguments and errors as for `compare`.
    """
    if apart:
        return _score(reference, systems, **how)[0], None
    if mean is not None:
        return [mean_of_runs(reference, systems, name=mean or None, **how)], None
    board = compare(reference, systems, baseline=baseline, progress=progress, **how)
    return [*board.systems], board


def _score(
    reference: Any,  # noqa: ANN401 - as for evaluate
    systems: Systems,
    settings: Settings,
    durations: Durations | None,
    folds: Parted | None,
    by: Parted | None,
    limits: Limits,
    progress: Progress | None = None,
) -> tuple[list[Scores], list[Shard]]:
    """Return the scores of each system, and the counts by which they are resampled together."""
    reuse_freed()
    named = {name: with_points(system, limits) for name, system in named_sources(systems, *SYSTEMS).items()}
    settings = settings_of_points(with_folds(settings, folds), named.values())
    ours = to_rows(reference, "reference", settings, limits)
    task = Task(ours, settings, read_lengths(durations, limits), folds, by, limits)
    tables = ((name, to_rows(system, name, settings, limits)) for name, system in named.items())

    def of_system(table: tuple[str, EventTable]) -> tuple[Scores, Shard]:
        name, rows = table
        try:
            shard = task.count(rows, name, cells=True)
            partitions = task.partitions(shard)
            # Systems are resampled together, with the counts of all readings.
            shard = tuned_shard(shard, partitions["folds"])
            return score_shard(shard, __version__, **partitions, progress=progress), shard
        except EvaluationError as error:
            *lines, last = str(error).split("\n")
            if last != STRICT:
                raise
            # It is told of which system warnings are that settings make errors.
            lines = [_with_name(name, rows.origin.name, line) for line in lines]
            raise EvaluationError("\n".join([*lines, last])) from error

    scores, shards, sources = [], [], []
    for some in _at_once(tables):
        sources += [rows.origin.name for _, rows in some]
        for each, shard in for_each(of_system, some, sum(_size(rows) for _, rows in some)):
            scores.append(each)
            shards.append(shard)
    # What is true of all is told once; of anything else it is told of which system.
    common = set.intersection(*({*each.warnings} for each in scores))
    for i, (each, table) in enumerate(zip(scores, sources, strict=True)):
        warnings = (
            text if text in common else _with_name(each.system, table, text) for text in each.warnings
        )
        scores[i] = replace(each, warnings=tuple(warnings))
    return scores, shards


def _at_once(tables: Iterable[tuple[str, EventTable]]) -> Iterator[list[tuple[str, EventTable]]]:
    """Yield the tables of systems that are evaluated at the same time: as many as there is room for."""
    some: list[tuple[str, EventTable]] = []
    for name, rows in tables:
        some.append((name, rows))
        # The next one is taken to be as large.
        needed = _BYTES * (sum(_size(each) for _, each in some) + _size(rows))
        if len(some) == processors() or not has_room(needed):
            yield some
            some = []
    if some:
        yield some


def _size(rows: EventTable) -> int:
    """Return how many values a table has."""
    return len(rows) * max(1, len(rows.values))


def _with_name(system: str, table: str, warning: str) -> str:
    """Return a warning with the system that it is of, unless it names that, or its table."""
    return warning if warning.startswith((f"{system}: ", f"{table}: ")) else f"{system}: {warning}"


def named_sources(
    sources: Mapping[str, Any] | Sequence[Any],
    what: str,
    expected: str,
    *,
    numbered: bool = False,
    least: int = 2,
) -> dict[str, Any]:
    """Return sources by name; raises SettingsError for others.

    what: a word for each source, such as `system`. expected: a description of all sources. numbered: whether
    sources of a list that are not paths are called by their number. least: the fewest sources allowed.
    """
    if isinstance(sources, Mapping):
        named = dict(sources)
    elif isinstance(sources, Sequence) and not isinstance(sources, str):
        named = {}
        for i, source in enumerate(sources, 1):
            unnamed = numbered and not isinstance(source, str | os.PathLike)
            name = f"{what} {i}" if unnamed else path_of(source, f"{what}s", expected)
            if name in named:
                raise SettingsError(f"{what} {name!r} is given twice; expected each once")
            named[name] = source
    else:
        raise SettingsError(f"{what}s must be {expected}, not {shown(sources)}")
    article = "an" if what[0] in "aeiou" else "a"
    for name in named:
        if not isinstance(name, str):
            raise SettingsError(f"the name of {article} {what} must be a text, not {shown(name)}")
        if not name:
            raise SettingsError(f"the name of {article} {what} must not be empty")
    if len(named) < least:
        raise SettingsError(f"{what}s must be {'two' if least > 1 else 'one'} or more, not {len(named)}")
    return named
