"""From a pair of tables to a shard, and from shards to the scores of a system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.evaluation.groups import Files, of_files, scenes_of, tally_groups
from sedeval_soft.evaluation.optimal import unreachable
from sedeval_soft.evaluation.score import confusion_tables, score_tally
from sedeval_soft.evaluation.scores import Input, Score, Scores
from sedeval_soft.evaluation.shard import Shard
from sedeval_soft.evaluation.signature import sign
from sedeval_soft.measures.names import spell
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import ORDERED, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.alignment_report import NO_DURATIONS
from sedeval_soft.timeline.recordings import Recordings, merges

if TYPE_CHECKING:
    from sedeval_soft.evaluation.curves import Curves
    from sedeval_soft.evaluation.resample import Progress
    from sedeval_soft.evaluation.scores import Folds, Sweep, Worst
    from sedeval_soft.tables.file_groups import Partition


def shard_of(
    pair: Recordings,
    inputs: tuple[Input, ...],
    settings: Settings,
    system: str,
    durations: Mapping[str, float] | None = None,
    *,
    cells: bool = False,
) -> Shard:
    """Return the statistics of a pair; `inputs` and `durations` are what it was made of.

    cells: whether the values of all segments are kept, whatever the scores need.
    """
    tally, groups = tally_pair(pair, settings, cells=cells), tally_groups(pair, settings)
    return Shard(settings, system, tally, groups, pair.findings, inputs, durations)


def describe(rows: EventTable, role: str, settings: Settings) -> Input:
    """Return what was read, for headers and signatures."""
    origin = rows.origin
    # Post-processing makes events of rows that may touch.
    joined = role == "system" and settings.postprocesses
    return Input(
        name=origin.name,
        role=role,
        sha256=origin.sha256,
        rows=len(rows),
        files=len(rows.files),
        classes=len(rows.classes),
        form=origin.form,
        has_values=rows.has_values,
        events="merge" if merges(rows, settings) or joined else "rows",
        ignored=origin.ignored,
    )


def score_shard(
    shard: Shard,
    version: str,
    *,
    folds: Partition | None = None,
    by: Partition | None = None,
    points: bool = False,
    progress: Progress | None = None,
) -> Scores:
    """Return all scores of a shard, with what the settings ask for beside them.

    folds: which files are of which fold, for the spread of scores. by: which are of which scene, beside the
    scenes of the settings. points: whether the system is one of operating points, which keep their curves.
    Raises EvaluationError for groups, scenes and folds that do not fit what is evaluated.
    """
    asked, settings = shard.settings, _with_rule_followed(shard.settings, shard.tally)
    parted, unknown = _parted(shard, folds=folds, by=by)
    shard = _tuned(shard, settings, parted["folds"])
    tally = shard.tally
    warnings = [*shard.findings.warnings(settings), *_psds_notes(tally, settings), *_crowded(tally)]
    scenes = scenes_of(tally.files, tally.classes, settings)
    warnings += unknown
    # An array has a row for every segment of its recording.
    whole = all(item.form.startswith("array") for item in shard.inputs if item.role == "reference")
    if Plan.of(settings).psds and shard.durations is None and not whole:
        warnings.append(f"PSDS is of false alarms an hour, and {NO_DURATIONS}")
    # Batches with other classes leave those of a group in the order of their names.
    groups = {name: part.with_classes(settings.groups[name]) for name, part in shard.groups.items()}
    _check_apart({"groups": settings.groups, "scenes": scenes, **parted})
    scenes |= parted["by"]
    counted = shard.tables
    scores = _with_intervals(score_tally(tally, settings, counted.get(None)), tally, settings, progress)
    warnings += _score_notes(list(scores.values()), tally, settings)
    of_folds = dict(_of_folds(tally, parted["folds"], settings))
    found = {**scores}
    for name, part in {**groups, **of_files(tally, scenes)}.items():
        own = _with_intervals(score_tally(part, settings, counted.get(name)), part, settings, progress)
        # A group of classes has averages, and measures over all its classes, only.
        kept = [score for score in own.values() if name in scenes or score.average is not None]
        found |= _renamed(kept, name)
        warnings += _psds_notes(part, settings, name)
    for name, of_fold in of_folds.items():
        found |= _renamed(list(of_fold.values()), name)
    inputs = shard.inputs
    keeps_curves = points or settings.reference_sweep or any(g in settings.measures for g in ORDERED)
    return Scores(
        scores=found,
        system=shard.system,
        classes=tally.classes,
        files=tally.files,
        length=int(tally.per_file["length"].sum()) / TICKS_PER_SECOND,
        n_segments=int(tally.per_file["n_segments"].sum()),
        settings=asked,
        inputs=inputs,
        warnings=tuple(warnings),
        signature=sign(version, asked, inputs, shard.durations, folds=folds, by=by),
        version=version,
        confusion=confusion_tables(tally, settings),
        folds=_spread(scores, of_folds, parted["folds"]) if folds is not None else None,
        worst=_worst_of(tally, settings),
        sweep=_sweep_of(tally, settings),
        make_curves=partial(_curves_of, tally, settings) if keeps_curves else None,
    )


def tuned_shard(shard: Shard, folds: Partition | None = None) -> Shard:
    """Return a shard with the counts of the tuned reading, if its settings have one and it has none.

    folds: which files are of which fold. Raises EvaluationError for folds that do not fit.
    """
    parted, _ = _parted(shard, folds=folds)
    return _tuned(shard, _with_rule_followed(shard.settings, shard.tally), parted["folds"])


def _tuned(shard: Shard, settings: Settings, folds: Files) -> Shard:
    """Return what `tuned_shard` does; settings: those of the shard, their rule followed."""
    if not settings.tunes:
        return shard
    from sedeval_soft.evaluation.tuned import has_tuned, with_tuned

    if has_tuned(shard.tally):
        return shard
    groups = {name: with_tuned(part, settings, folds) for name, part in shard.groups.items()}
    return replace(shard, tally=with_tuned(shard.tally, settings, folds), groups=groups)


def _parted(shard: Shard, **given: Partition | None) -> tuple[dict[str, Files], list[str]]:
    """Return the files of each part, and warnings of those that are not evaluated."""
    files = shard.tally.files
    parted: dict[str, Files] = {name: {} for name in given}
    warnings = []
    for name, partition in given.items():
        if partition is not None:
            from sedeval_soft.tables.file_groups import assign

            shard.check_whole()
            parted[name], more = assign(partition, files)
            warnings += [f"{partition.source}: {listing(more, 'file')} not evaluated"] if more else []
    return parted, warnings


def _check_apart(parts: Mapping[str, Mapping[str, object]]) -> None:
    """Raise EvaluationError where two kinds of parts have the same name: scores are called by it."""
    for (kind, names), (other, others) in combinations(parts.items(), 2):
        both = sorted({*names} & {*others})
        if both:
            raise EvaluationError(f"{kind} and {other} both have {both[0]!r}; expected each name once")


def _crowded(tally: Tally) -> list[str]:
    overlapping = tally.per_file.get("event.soft.substitutions")
    if overlapping is None or not np.isnan(overlapping).any():
        return []
    crowded = [tally.files[file] for file in np.flatnonzero(np.isnan(overlapping))]
    said = (
        f"too many events overlap in {listing(crowded, 'file')} to match them at every level whatever "
        "their class; the soft event-based error rate of all classes together is left undefined"
    )
    return [said]


def _psds_notes(tally: Tally, settings: Settings, name: str | None = None) -> list[str]:
    if "soft" not in Plan.of(settings).psds:
        return []
    from sedeval_soft.measures.psds import psds_notes

    return psds_notes(tally, settings, name)


def _renamed(scores: list[Score], part: str) -> dict[str, Score]:
    found = {}
    for score in scores:
        stem = (score.basis, score.reading, score.measure, score.average, score.class_name)
        found[spell(*stem, part)] = replace(score, name=spell(*stem, part), group=part)
    return found


def _of_folds(tally: Tally, folds: Files, settings: Settings) -> Iterator[tuple[str, dict[str, Score]]]:
    """Yield the scores of the files of each fold."""
    if len(folds) == 1:
        raise EvaluationError(f"there is one fold, {next(iter(folds))!r}; expected two or more")
    for name, part in of_files(tally, folds).items():
        yield name, score_tally(part, settings)


def _spread(scores: Mapping[str, Score], of_folds: Mapping[str, Mapping[str, Score]], folds: Files) -> Folds:
    """Return how the averages differ between folds."""
    from sedeval_soft.evaluation.scores import Folds, Spread

    spreads = [
        Spread.of(name, [of_fold[name].value for of_fold in of_folds.values()])
        for name, score in scores.items()
        if score.average is not None
    ]
    return Folds(tuple(folds), tuple(map(len, folds.values())), tuple(spreads))


# What settings ask for beside plain scores is imported where they do: start-up is a feature.


def _with_rule_followed(settings: Settings, tally: Tally) -> Settings:
    """Return settings that name the thresholds that follow from their rule, if they have one."""
    if not isinstance(settings.thresholds, str):
        return settings
    from sedeval_soft.evaluation.tuned import with_rule_followed

    return with_rule_followed(settings, tally)


def _with_intervals(
    scores: dict[str, Score], tally: Tally, settings: Settings, progress: Progress | None
) -> dict[str, Score]:
    if settings.ci is None:
        return scores
    from sedeval_soft.evaluation.resample import with_intervals

    return with_intervals(scores, tally, settings, progress)


def _score_notes(scores: list[Score], tally: Tally, settings: Settings) -> list[str]:
    """Return what a reader must know of constraints that nothing satisfies, and of intervals."""
    notes = [] if settings.satisfice is None else unreachable(scores, settings)
    if settings.ci is not None:
        from sedeval_soft.evaluation.resample import interval_notes

        notes += interval_notes(tally, settings)
    return notes


def _worst_of(tally: Tally, settings: Settings) -> Worst | None:
    if not settings.worst:
        return None
    from sedeval_soft.evaluation.worst import worst_of

    return worst_of(tally, settings)


def _sweep_of(tally: Tally, settings: Settings) -> Sweep | None:
    if not settings.reference_sweep:
        return None
    from sedeval_soft.evaluation.reference_sweep import sweep_of

    return sweep_of(tally, settings)


def _curves_of(tally: Tally, settings: Settings) -> Curves:
    from sedeval_soft.evaluation.curves import curves_of

    return curves_of(tally, settings)
