"""Reports: a page of HTML for people to look at, of one system or several."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from sedeval_soft import __version__
from sedeval_soft.api import (
    SYSTEMS,
    Durations,
    Parted,
    check_object,
    is_points,
    limits_from,
    named_sources,
    path_of,
    read_lengths,
    read_parts,
    settings_from,
    settings_of_points,
    to_rows,
    with_folds,
    with_points,
)
from sedeval_soft.apps.page.page_data import ReportInput
from sedeval_soft.apps.page.report_page import Choices, render
from sedeval_soft.apps.page.sounds import check_audio, sounds_of
from sedeval_soft.apps.page.timeline import lengths_shown
from sedeval_soft.comparison import Board
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation import Progress, Scores, describe, score_shard, shard_of
from sedeval_soft.fields import DEFAULT_ONLY, Keywords
from sedeval_soft.measures import Tally
from sedeval_soft.names import did_you_mean
from sedeval_soft.report import write_atomic
from sedeval_soft.settings import GROUPS, Settings
from sedeval_soft.tables import EventTable, Limits
from sedeval_soft.timeline import Recordings, TooManyOverlapsError, align, with_unknown

_MOST_CLASSES = 1000
"""Classes that a page can show: of more it takes minutes to make, and gigabytes of memory."""

_WORST = 10  # how many files, classes and segments a report lists where the settings do not say


def write_report(
    reference: Any,  # noqa: ANN401 - as for evaluate
    systems: Any,  # noqa: ANN401
    path: str | os.PathLike[str],
    *,
    durations: Durations | None = None,
    folds: Parted | None = None,
    by: Parted | None = None,
    board: Board | None = None,
    choices: Choices | None = None,
    audio: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> tuple[Scores, ...]:
    """Write a report of a system, or of several, and return the data of each.

    - systems: a path or several, or a mapping of names to what `evaluate` takes as a system.
    - path: of the page. board: the systems as they were ranked.
    - choices: the title and the files that are shown.
    - audio: a folder of audio files of recordings, which the page shows as spectrograms and plays.

    It shows intersections, curves, confusions and calibration regardless of the settings, and lists the
    settings that reproduce it. Other arguments and errors as for `evaluate`; SettingsError for a file to show
    that is in no table, OutputError if the page cannot be written.
    """
    limits = limits_from(limits, values)
    chosen = with_folds(settings_from(settings, values, limits=limits), folds)
    if board is not None and chosen.ci is None:
        chosen = replace(chosen, ci="bootstrap")
    # Before all else, which may take long.
    path_of(path, "path")
    for what, given, kind in (("board", board, Board), ("choices", choices, Choices)):
        if given is not None:
            check_object(what, given, kind)
    several = [systems] if isinstance(systems, str | os.PathLike) else systems
    named = named_sources(several, *SYSTEMS, least=1)
    if audio is not None:
        path_of(audio, "audio", "a folder of audio files")
        check_audio(audio)
    lengths, ours = read_lengths(durations, limits), to_rows(reference, "reference", chosen, limits)
    chosen = with_unknown(chosen, ours.origin)
    parts = folds, by, limits
    inputs = [
        _counted(ours, system, name, chosen, lengths, parts, progress) for name, system in named.items()
    ]
    choices, sounds = choices or Choices(), None
    known = dict.fromkeys(file for each in inputs for file in each.pair.files)
    for file in choices.files:
        if file not in known:
            raise SettingsError(f"--timeline {file}: there is no such file{did_you_mean(file, known)}")
    if audio is not None:
        shown = lengths_shown(inputs, choices.timelines, choices.files)
        sounds = sounds_of(audio, path, known, shown)
        inputs = [
            replace(each, scores=replace(each.scores, warnings=(*each.scores.warnings, *sounds.warnings)))
            for each in inputs
        ]
    write_atomic(path, render(inputs, board, choices, sounds))
    return tuple(each.scores for each in inputs)


def _counted(
    ours: EventTable,
    system: Any,  # noqa: ANN401 - as for evaluate
    name: str,
    chosen: Settings,
    lengths: Mapping[str, float] | None,
    parts: tuple[Parted | None, Parted | None, Limits],
    progress: Progress | None,
) -> ReportInput:
    """Return the page's data of a system, which is aligned and counted once."""
    theirs = to_rows(with_points(system, parts[2]), name, chosen, parts[2])
    points = is_points(theirs)
    counted = settings_of_points(chosen, [theirs]) if points else _with_all(chosen)
    pair = align(ours, theirs, counted, lengths)
    if len(pair.classes) > _MOST_CLASSES:
        found = f"found {len(pair.classes)}; --classes names those to evaluate"
        raise SettingsError(f"a report shows {_MOST_CLASSES} classes or fewer; {found}")
    inputs = describe(ours, "reference", counted), describe(theirs, "system", counted)
    shard = shard_of(pair, inputs, name, lengths)
    # The page goes over thresholds of the reference by itself.
    wanted = replace(counted, reference_sweep=chosen.reference_sweep)
    how = read_parts(*parts[:2], shard.tally.files, parts[2]) | {"points": points, "progress": progress}
    scores = score_shard(shard._replace(settings=replace(wanted, ci=None)), __version__, **how)
    signatures: tuple[str, ...] = (scores.signature,)
    if counted.ci is not None:
        # Only what was asked for: intervals of all that a page shows would take minutes.
        sure_settings = replace(wanted, measures=chosen.measures)
        sure = score_shard(shard._replace(settings=sure_settings), __version__, **how)
        signatures = (*signatures, sure.signature)
        both = {name: sure.scores.get(name, score) for name, score in scores.scores.items()}
        warnings = tuple(dict.fromkeys((*scores.warnings, *sure.warnings)))
        scores = replace(scores, scores=both, settings=sure.settings, warnings=warnings)
    bases = tuple(dict.fromkeys(name.partition(".")[0] for name in chosen.only or ()))
    return ReportInput(scores, pair, shard.tally, counted, signatures, bases, *_errors(pair, shard.tally))


def _errors(pair: Recordings, tally: Tally) -> tuple[Sequence[Any], str]:
    """Return the kinds of errors of hard events, and the text of the page without any."""
    from sedeval_soft import event_errors

    settings = pair.settings
    for impossible, why in (
        (
            not settings.wants("event", "hard"),
            "The page has kinds of errors of events with --only event.hard, or without --only.",
        ),
        (
            is_points(pair.system),
            "soft-sed-eval diagnose shows the cost of errors of a system with some thresholds only.",
        ),
        (
            settings.compat or settings.matching == "greedy",
            "Errors have kinds only without --set compat and without --set matching=greedy.",
        ),
        (
            not np.any(tally.per_class.get("event.hard.n_ref", 0)),
            "The reference has no events: F is undefined, and no part of it can be lost.",
        ),
    ):
        if impossible:
            return (), why
    try:
        errors = event_errors(pair, tally)
    except TooManyOverlapsError:
        return (), "Too many events overlap to find the kind of each error. Are rows repeated?"
    return (
        errors,
        "" if errors else "There are no errors: all events are hits, and there are no false alarms.",
    )


def _with_all(settings: Settings) -> Settings:
    """Return the settings by which the statistics of a report are counted: it needs more than scores do."""
    groups = {*settings.measures, "curves", "confusion", "calibration"}
    return replace(
        settings,
        only=("segment", "event", "intersection") if settings.only == DEFAULT_ONLY else settings.only,
        measures=tuple(group for group in GROUPS if group in groups),
        worst=settings.worst or _WORST,
        reference_sweep=not (settings.compat or settings.ignore_class) and settings.matching != "greedy",
    )
