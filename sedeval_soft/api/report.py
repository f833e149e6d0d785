"""Reports: a page of HTML for people to look at, of one system or several."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from sedeval_soft import __version__
from sedeval_soft.api.evaluation import has_points, of_points, with_folds
from sedeval_soft.api.sources import (
    Durations,
    Parted,
    is_points,
    read_lengths,
    read_parts,
    settings_from,
    to_rows,
)
from sedeval_soft.core.board import Board
from sedeval_soft.core.intake import Limits
from sedeval_soft.core.pair import align
from sedeval_soft.core.settings import DEFAULT_ONLY, Settings
from sedeval_soft.core.value import Scores
from sedeval_soft.page.material import Material
from sedeval_soft.page.render import Choices, render
from sedeval_soft.report.write import write_atomic
from sedeval_soft.run.curves import curves_of
from sedeval_soft.run.evaluation import describe, score_shard, shard_of
from sedeval_soft.run.intervals import Progress

_WORST = 10
"""How many files, classes and segments a report lists where the settings do not say."""


def report(
    reference: Any,  # noqa: ANN401 - as for evaluate
    systems: Any,  # noqa: ANN401
    path: str | os.PathLike[str],
    *,
    durations: Durations | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    board: Board | None = None,
    choices: Choices | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Any,  # noqa: ANN401 - the fields of Settings
) -> tuple[Scores, ...]:
    """Write a report of a system, or of several, and return what it says of each.

    systems: a path, or a mapping of names to what `evaluate` takes as a system. path: of the page. board:
    the systems as they were ranked. choices: the title and what is shown.

    It shows intersections, curves, confusions and calibration whether the settings ask for them or not, and
    says by which settings it can be had again. Other arguments and errors as for `evaluate`; OutputError
    where it cannot be written.
    """
    chosen = with_folds(settings_from(settings, values), folds)
    named = {os.fspath(systems): systems} if isinstance(systems, str | os.PathLike) else dict(systems)
    lengths = read_lengths(durations, limits)
    ours = to_rows(reference, "reference", chosen, limits)
    materials = []
    for name, system in named.items():
        own = of_points(chosen) if is_points(system) else chosen
        theirs = to_rows(system, name, own, limits)
        counted = _counted(own, points=has_points(theirs))
        pair = align(ours, theirs, counted, lengths)
        inputs = describe(ours, "reference", counted), describe(theirs, "system", counted)
        shard = shard_of(pair, inputs, counted, name, lengths)
        files = shard.tally.files
        scores = score_shard(
            # The page sweeps for itself, by more thresholds.
            replace(shard, settings=replace(counted, reference_sweep=own.reference_sweep)),
            __version__,
            folds=read_parts(folds, "folds", files, limits),
            by=read_parts(by, "by", files, limits),
            points=has_points(theirs),
            progress=progress,
        )
        materials.append(Material(scores, pair, shard.tally, counted, curves_of(shard.tally, counted)))
    write_atomic(path, render(materials, board, choices or Choices()))
    return tuple(material.scores for material in materials)


def _counted(settings: Settings, *, points: bool) -> Settings:
    """Return the settings by which the statistics of a report are counted: it needs more than scores do."""
    if points:
        return settings
    everything = settings.only == DEFAULT_ONLY
    groups = dict.fromkeys((*settings.measures, "curves", "confusion", "calibration"))
    return replace(
        settings,
        only=("segment", "event", "intersection") if everything else settings.only,
        measures=tuple(groups),
        worst=settings.worst or _WORST,
        reference_sweep=not settings.compat and settings.matching != "greedy",
    )
