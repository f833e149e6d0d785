"""Scores of a whole evaluation: of all files, groups, scenes and folds, and the details beside them.

Modules for requested details are imported on demand, which keeps start-up fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.arrays import Index
from sedeval_soft.checks.alignment import NO_DURATIONS
from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.count import columns_of, with_columns
from sedeval_soft.evaluation.optimal import (
    best_counts,
    counts_at,
    optimal_scores,
    with_rule_followed,
    with_tuned,
)
from sedeval_soft.evaluation.scores import (
    Score,
    Scores,
    all_tables,
    finite,
    main_score,
    named,
    score_tally,
    scores_in,
)
from sedeval_soft.evaluation.shard import Files, Shard, scenes_of
from sedeval_soft.evaluation.signature import sign
from sedeval_soft.measures.base import Tables
from sedeval_soft.measures.detection import detection_scores
from sedeval_soft.measures.event import MOST
from sedeval_soft.measures.matching import pair_rule
from sedeval_soft.measures.registry import OVERALL, ScoreName
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import CELLS, ORDERED, Plan
from sedeval_soft.settings import BASES, GROUPS, Settings, split_name
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.recordings import detected, positive

if TYPE_CHECKING:
    from sedeval_soft.evaluation.details import Confusion, Folds, Sweep
    from sedeval_soft.evaluation.resample import Progress
    from sedeval_soft.tables.file_groups import Partition


def score_shard(
    shard: Shard,
    version: str,
    *,
    folds: Partition | None = None,
    by: Partition | None = None,
    points: bool = False,
    progress: Progress | None = None,
) -> Scores:
    """Return all scores of a shard, with the details that the settings request.

    folds: the files of each fold, for the spread of scores. by: the files of each scene, beside the scenes of
    the settings. points: whether the system is one of operating points, which keep their curves. Raises
    EvaluationError for groups, scenes and folds that do not fit the evaluated files and classes.
    """
    asked = settings = shard.settings
    plan, (files, unknown) = Plan.of(asked), _files_of_parts(shard, folds=folds, by=by)
    if asked.tunes:
        shard, settings = _tuned(shard, files["folds"])
    tally = shard.tally
    warnings = [*shard.findings.warnings(settings), *unknown, *_doubts(shard)]

    best = {basis: best_counts(tally, basis, settings) for basis, _ in plan.thresholded}
    in_parts: dict[str | None, tuple[Tables, tuple[str, ...]]] = {}

    def scored(part: Tally, name: str | None) -> dict[str, Score]:
        tables = all_tables(part, settings, best if part is tally else None)
        scores, in_parts[name] = scores_in(tables, part, settings), (tables, part.classes)
        warnings.extend(_sampled(tables, part, name))
        if settings.ci is None:
            return scores
        from sedeval_soft.evaluation.resample import with_intervals

        return with_intervals(scores, part, settings, progress)

    scores = scored(tally, None)
    warnings += unreachable(scores.values(), settings.satisfice) if settings.satisfice else []
    folded = parts_of(shard, "folds", files["folds"])
    of_folds = {name: score_tally(part, settings) for name, (part, _) in folded.items()}
    every, scenes = {**scores}, files["scenes"] | files["by"]
    parts = {over: parts_of(shard, over, scenes) for over in ("groups", "scenes")}
    for over, of_parts in parts.items():
        for name, (part, _) in of_parts.items():
            of_part = scored(part, name).values()
            # A group of classes has averages, and measures over all its classes, only.
            every |= _of_part([s for s in of_part if over != "groups" or s.average is not None], name)
    for name, fold in of_folds.items():
        every |= _of_part(fold.values(), name)
    # The counts of each file, also at best thresholds, without segments and events.
    of_best = (columns_of(f"{basis}.optimal", counts) for basis, (_, counts) in best.items())
    columns = {name: column for own in of_best for name, column in own.items()}
    counts = with_columns(replace(tally, samples={}, events={}), columns)
    if settings.means:
        from sedeval_soft.evaluation.resample import means_of

        every |= means_of(counts, settings, scores, parts, in_parts, progress, tally)
    again = partial(score_shard, version=version, folds=folds, by=by, points=points, progress=progress)
    others, of_others = _variants(shard, again) if settings.variants else ({}, {})
    every |= of_others
    warnings += [warning for own in others.values() for warning in own.warnings]
    details: dict[str, Any] = {}
    if folds or points or settings.worst or settings.reference_sweep or plan.asks_for("confusion", *ORDERED):
        details = _details_of(tally, settings, points=points)
        spread = partial(_folds_of, scores, of_folds, files["folds"], others, of_others)
        details["folds"] = None if folds is None else spread()
    signature, short = sign(version, asked, shard.inputs, shard.durations, folds=folds, by=by)
    result = Scores(
        scores=every,
        system=shard.system,
        classes=tally.classes,
        files=tally.files,
        length=int(tally.per_file["length"].sum()) / TICKS_PER_SECOND,
        n_segments=int(tally.per_file["n_segments"].sum()),
        settings=asked,
        inputs=shard.inputs,
        warnings=tuple(dict.fromkeys(warnings)),
        signature=signature,
        short_signature=short,
        version=version,
        counts=(counts, settings),
        variants=others,
        **details,
    )
    if settings.ci is None:
        return result
    from sedeval_soft.evaluation.resample import interval_notes

    notes = interval_notes(tally, settings, asked.rank_by or main_score(result))
    return replace(result, warnings=tuple(dict.fromkeys((*result.warnings, *notes))))


def _doubts(shard: Shard) -> list[str]:
    """Return warnings of a PSDS without lengths or thresholds, and of answers to queries without an event.

    A query is a class in a file; a file in which neither side has an event is one query. The mean over
    items is over queries with an event, so that an answer to another query costs nothing.
    """
    doubts, settings, plan = list[str](), shard.settings, Plan.of(shard.settings)
    # An array has a row for every segment of its recording.
    whole = all(item.form.startswith("array") for item in shard.inputs if item.role == "reference")
    if plan.psds and shard.durations is None and settings.regions is None and not whole:
        doubts.append(f"PSDS counts false alarms per hour, and {NO_DURATIONS}")
    system = next((item for item in shard.inputs if item.role != "reference"), None)
    if plan.psds and system is not None and not system.has_thresholds:
        doubts.append(
            f"PSDS is over all thresholds, and {system.name} has the events of one: expected values, or "
            "tables at several thresholds (--operating-points)"
        )
    # Who asks for all measures has ordinary tables, and no queries.
    if plan.asks_for("grounding") and {*settings.measures} != {*GROUPS} and plan.scores("segment", "hard"):
        columns = (shard.tally.total(f"segment.hard.{name}") for name in ("answered", "silent"))
        answered, silent = (int(column.sum()) for column in columns)
        text = (
            f"the system answers {answered} of {answered + silent} queries (a class in a file) without an "
            "event in the reference; mean_iou and recall_at_iou do not count these answers, absent_answered "
            "and mean_iou_all do"
        )
        doubts += [text] if answered else []
    return doubts


def _variants(shard: Shard, score: Callable[[Shard], Scores]) -> tuple[dict[str, Scores], dict[str, Score]]:
    """Return all scores of each variant that was counted, and those among them that have names.

    These are the scores that the settings ask for, of all averages and parts.
    """
    split = [split_name(name) for name in shard.settings.variants]
    asked = {(*ScoreName.parse(head)[:3], text) for head, text in split}
    counted = (text for _, text in split if f"@{text}" in shard.variants)
    others = {text: score(shard.variant(text)) for text in dict.fromkeys(counted)}
    of_others: dict[str, Score] = {}
    for text, scores in others.items():
        of_others |= _of_part((s for s in scores.scores.values() if (*s[1:4], text) in asked), text)
    return others, of_others


def parts_for(shard: Shard, name: str, by: Partition | None) -> dict[str, tuple[Tally, Index]]:
    """Return the scenes or groups that a score is a mean over, as `parts_of`; none for other scores.

    by: the files of each scene, beside the scenes of the settings.
    """
    over = (ScoreName.parse(name).part or "").partition(".")[0]
    if over not in ("scenes", "groups"):
        return {}
    files, _ = _files_of_parts(shard, by=by)
    return parts_of(shard, over, files["scenes"] | files["by"])


def parts_of(shard: Shard, over: str, parts: Files) -> dict[str, tuple[Tally, Index]]:
    """Return the tally of each of the `groups`, or of other parts, and the positions of its files among all.

    parts: the files of each scene or fold.
    """
    files = shard.tally.files
    if over == "groups":
        # Batches with other classes leave those of a group in the order of their names.
        every, classes = np.arange(len(files)), shard.settings.groups
        return {name: (part.with_classes(classes[name]), every) for name, part in shard.groups.items()}
    position = {file: i for i, file in enumerate(files)} if parts else {}
    places = {name: np.array([position[file] for file in own], dtype=np.int64) for name, own in parts.items()}
    return {name: (shard.tally.take(index), index) for name, index in places.items()}


def tuned_shard(shard: Shard, folds: Partition | None = None) -> Shard:
    """Return a shard with the counts of the tuned reading, if its settings have one and it has none.

    folds: the files of each fold. Raises EvaluationError for folds that do not fit.
    """
    files = {} if folds is None else _assigned(shard, folds)[0]
    return _tuned(shard, files)[0] if shard.settings.tunes else shard


def _tuned(shard: Shard, folds: Files) -> tuple[Shard, Settings]:
    """Return the result of `tuned_shard`, and settings with the thresholds computed by their rule."""
    settings = with_rule_followed(shard.settings, shard.tally)
    if not any(f"{basis}.tuned.tp" in shard.tally.per_class for basis in BASES):
        groups = {name: with_tuned(part, settings, folds) for name, part in shard.groups.items()}
        shard = shard._replace(tally=with_tuned(shard.tally, settings, folds), groups=groups)
    return shard, settings


def _files_of_parts(shard: Shard, **partitions: Partition | None) -> tuple[dict[str, Files], list[str]]:
    """Return the files of each scene of the settings, and of each part of partitions, by the kind of part.

    Beside them, it returns warnings of files that are not evaluated. Raises EvaluationError if two parts of
    different kinds have the same name, if there is only one fold, or if means over scenes are requested
    without scenes.
    """
    settings, tally = shard.settings, shard.tally
    if settings.means:
        from sedeval_soft.evaluation.resample import check_means

        check_means(settings, scenes=partitions.get("by") is not None or bool(settings.scenes))
    files, warnings = dict.fromkeys(partitions, Files()), []
    for kind, partition in partitions.items():
        if partition is not None:
            files[kind], unknown = _assigned(shard, partition)
            warnings += unknown
    files = {"scenes": scenes_of(tally.files, tally.classes, settings), **files}
    for (kind, names), (other, others) in combinations({"groups": settings.groups, **files}.items(), 2):
        both = sorted({*names} & {*others})
        if both:
            raise EvaluationError(f"{kind} and {other} both have {both[0]!r}; expected each name once")
    if len(files.get("folds", ())) == 1:
        raise EvaluationError(f"there is one fold, {next(iter(files['folds']))!r}; expected two or more")
    return files, warnings


def _assigned(shard: Shard, partition: Partition) -> tuple[Files, list[str]]:
    """Return the files of each part, and a warning of those that are not evaluated."""
    from sedeval_soft.tables.file_groups import assign

    files, unknown = assign(partition, shard.tally.files)
    return files, [f"{partition.source}: {listing(unknown, 'file')} not evaluated"] if unknown else []


def _of_part(scores: Iterable[Score], part: str) -> dict[str, Score]:
    """Return scores by their names as scores of a part, or by settings: behind a group that they have."""
    of = ((each, "@".join(filter(None, (each.group, part)))) for each in scores)
    renamed = (each._replace(name=str(ScoreName(*each[1:6], group)), group=group) for each, group in of)
    return {score.name: score for score in renamed}


def _sampled(tables: Tables, tally: Tally, group: str | None) -> list[str]:
    """Return which scores are means over a sample of levels; of the whole or a group or scene."""
    sampled = [
        (str(ScoreName(basis, reading, measure, OVERALL, group=group)), *values.levels)
        for (basis, reading), table in tables.items()
        for measure, values in table.items()
        if values.levels is not None
    ]
    for family in ("event.soft", "intersection.soft") if group is None else ():
        n_distinct = int(tally.per_file.get(f"{family}.levels", np.zeros(1)).max(initial=0))
        sampled += [(family, MOST, n_distinct)] if n_distinct else []
    return [f"{name} is the mean over {n} of {of_all:,} levels" for name, n, of_all in sampled]


def unreachable(scores: Iterable[Score], satisfice: str) -> list[str]:
    """Return a warning for each basis with classes for which no threshold satisfies the constraint.

    scores: of one evaluation; the nearest value of a constrained measure is beside a missing F.
    """
    values = {(s.basis, s.class_name, s.measure): s.value for s in scores if s.reading == "optimal"}
    nearest: dict[str, list[str]] = {}
    for (basis, label, measure), recall in values.items():
        # A class without reference has none.
        if measure == "satisficed_recall" and recall is None and values[basis, label, "n_ref"]:
            value = values[basis, label, "satisficed_constraint"]
            reached = "undefined" if value is None else f"{value:.4g}"
            name = "all classes at one threshold" if label is None else label
            nearest.setdefault(basis, []).append(f"{name} {reached}")
    return [
        f"{basis}: no threshold reaches {satisfice}; the nearest: {', '.join(classes)}"
        for basis, classes in nearest.items()
    ]


# Details beside the scores.


def _details_of(tally: Tally, settings: Settings, *, points: bool) -> dict[str, Any]:
    """Return the requested details of the scores of a tally, as fields of `Scores`; points: as there."""
    from sedeval_soft.evaluation.details import worst_of

    plan, details = Plan.of(settings), dict[str, Any]()
    if "confusion" in settings.measures:
        details["confusion"] = _confusions(tally, settings, plan)
    if settings.worst:
        details["worst"] = worst_of(tally, settings)
    if points or settings.reference_sweep or plan.asks_for(*ORDERED):
        from sedeval_soft.evaluation.ordered import curves_of

        details["make_curves"] = partial(curves_of, tally, settings)
        if settings.reference_sweep:
            details["sweep"] = _sweep_of(tally, settings)
    return details


def _confusions(tally: Tally, settings: Settings, plan: Plan) -> tuple[Confusion, ...]:
    """Return the confusions of classes, for segments, clips and events, with both sides binarised."""
    from sedeval_soft.evaluation.details import Confusion
    from sedeval_soft.measures.confusion import confuse_events, confuse_segments

    counts = {}
    for basis in CELLS:
        if plan.scores(basis, "hard"):
            reference, system = (tally.samples[f"{basis}.{side}"] for side in ("reference", "system"))
            counts[basis] = confuse_segments(positive(reference, settings), detected(system, settings))
    if plan.confuses_events:
        # The choice of the largest matching must not depend on the order of the table.
        ours, theirs = (tally.events[side].events().in_order() for side in ("reference", "detected"))
        counts["event"] = confuse_events(ours, theirs, len(tally.classes), pair_rule(settings))
    return tuple(
        Confusion(
            basis, "hard", tally.classes, tuple(map(tuple, pairs.tolist())), tuple(missed.tolist()),
            tuple(inserted.tolist()),
        )
        for basis, (pairs, missed, inserted) in counts.items()
    )  # fmt: skip


def _folds_of(
    scores: Mapping[str, Score],
    of_folds: Mapping[str, Mapping[str, Score]],
    folds: Files,
    variants: Mapping[str, Scores],
    of_variants: Mapping[str, Score],
) -> Folds:
    """Return how the averages differ between folds, and the averages of variants that have names.

    scores, of_folds: of all files, and of each fold. variants, of_variants: as `_variants` returns them.
    """
    from sedeval_soft.evaluation.details import Folds, Spread

    spreads = [
        Spread.of(name, [of_fold[name].value for of_fold in of_folds.values()])
        for name, score in scores.items()
        if score.average is not None
    ]
    for text, own in variants.items():
        of_variant = own.folds.spreads if own.folds else ()
        renamed = (replace(each, name=f"{each.name}@{text}") for each in of_variant)
        spreads += [each for each in renamed if each.name in of_variants]
    return Folds(tuple(folds), tuple(map(len, folds.values())), tuple(spreads))


_SWEPT = frozenset({"n_ref", "precision", "recall", "f1", "fbeta", "error_rate"})


def _sweep_of(tally: Tally, settings: Settings) -> Sweep:
    """Return the averages of hard and optimal readings at thresholds of the reference."""
    from sedeval_soft.evaluation.details import THRESHOLDS, Sweep

    at: dict[str, list[int]] = {basis: [] for basis in Plan.of(settings).swept}
    scores: dict[str, list[float | int | None]] = {}
    for threshold in THRESHOLDS:
        for basis, counts in at.items():
            # Number of events and cells whose values equal the threshold.
            values = tally.samples[f"{basis}.reference"] if basis in CELLS else tally.events["levels"].dies
            counts.append(int(np.count_nonzero(values == threshold)))
        for key, value in named(_tables_at(tally, threshold, settings), tally.classes, settings.means):
            if key.average is not None and key.measure in _SWEPT:
                number = None if value is None else finite(value.item())
                scores.setdefault(str(key), []).append(number)
    return Sweep(
        THRESHOLDS,
        {basis: tuple(counts) for basis, counts in at.items()},
        {name: tuple(values) for name, values in scores.items()},
    )


def _tables_at(tally: Tally, threshold: float, settings: Settings) -> Tables:
    """Return the tables of hard and optimal readings with the reference binarised at a threshold."""
    settings = replace(settings, reference_threshold=threshold, measures=(), satisfice=None)
    plan = Plan.of(settings)
    if plan.sweeps_events:
        from sedeval_soft.evaluation.ordered import cut_at

        tally = cut_at(tally, tally.events["levels"].alive(threshold, settings.inclusive))
    tables: Tables = {}
    for basis in BASES:
        if plan.scores(basis, "hard"):
            one = np.full(len(tally.classes), settings.threshold)
            counts = counts_at(tally, basis, one, settings).total()
            tables[basis, "hard"] = detection_scores(counts, settings.beta)
        if plan.scores(basis, "optimal"):
            tables[basis, "optimal"] = optimal_scores(tally, basis, settings)
    return tables
