"""The scores of a whole evaluation: of all files, of groups, scenes and folds, and what stands beside them.

What settings ask for beside plain scores is imported only then: start-up is a feature.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.optimal import unreachable
from sedeval_soft.evaluation.score import score_tally
from sedeval_soft.evaluation.scores import Input, Score, Scores
from sedeval_soft.evaluation.shard import Files, Shard, scenes_of
from sedeval_soft.measures.event import Collars
from sedeval_soft.measures.names import spell
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import CELLS, ORDERED, Plan
from sedeval_soft.settings import Settings, short_fraction
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.alignment_report import NO_DURATIONS
from sedeval_soft.timeline.recordings import detected, positive

if TYPE_CHECKING:
    from sedeval_soft.evaluation.curves import Curves
    from sedeval_soft.evaluation.details import Confusion, Folds
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
    """Return all scores of a shard, with what the settings ask for beside them.

    folds: which files are of which fold, for the spread of scores. by: which are of which scene, beside the
    scenes of the settings. points: whether the system is one of operating points, which keep their curves.
    Raises EvaluationError for groups, scenes and folds that do not fit what is evaluated.
    """
    asked = settings = shard.settings
    unknown: list[str] = []
    in_parts: dict[str, Files] = {"folds": {}, "by": {}}
    for kind, partition in (("folds", folds), ("by", by)):
        if partition is not None:
            in_parts[kind], more = _assigned(shard, partition)
            unknown += more
    if settings.tunes:
        shard, settings = _tuned(shard, in_parts["folds"])
    plan, tally = Plan.of(settings), shard.tally
    warnings = [*shard.findings.warnings(settings), *_psds_notes(shard, tally, settings)]
    if plan.scores("event", "soft") and np.isnan(tally.per_file["event.soft.substitutions"]).any():
        warnings.append(_crowded(tally))
    scenes = scenes_of(tally.files, tally.classes, settings)
    warnings += unknown
    # An array has a row for every segment of its recording.
    whole = all(item.form.startswith("array") for item in shard.inputs if item.role == "reference")
    if plan.psds and shard.durations is None and not whole:
        warnings.append(f"PSDS is of false alarms an hour, and {NO_DURATIONS}")
    _check_apart({"groups": settings.groups, "scenes": scenes, **in_parts})
    scenes |= in_parts["by"]

    def scored(of: Tally, name: str | None) -> dict[str, Score]:
        scores = score_tally(of, settings, shard.tables.get(name))
        if settings.ci is None:
            return scores
        from sedeval_soft.evaluation.resample import with_intervals

        return with_intervals(scores, of, settings, progress)

    scores = scored(tally, None)
    warnings += _score_notes(scores, tally, settings)
    of_folds = {name: score_tally(of, settings) for name, of in _of_files(tally, in_parts["folds"]).items()}
    every = {**scores}
    # Batches with other classes leave those of a group in the order of their names.
    groups = {name: of.with_classes(settings.groups[name]) for name, of in shard.groups.items()}
    for name, of in {**groups, **_of_files(tally, scenes)}.items():
        # A group of classes has averages, and measures over all its classes, only.
        own = [s for s in scored(of, name).values() if name in scenes or s.average is not None]
        every |= _of_part(own, name)
        warnings += _psds_notes(shard, of, settings, name)
    for name, fold in of_folds.items():
        every |= _of_part(fold.values(), name)
    return Scores(
        scores=every,
        system=shard.system,
        classes=tally.classes,
        files=tally.files,
        length=int(tally.per_file["length"].sum()) / TICKS_PER_SECOND,
        n_segments=int(tally.per_file["n_segments"].sum()),
        settings=asked,
        inputs=shard.inputs,
        warnings=tuple(warnings),
        signature=sign(version, asked, shard.inputs, shard.durations, folds=folds, by=by),
        version=version,
        folds=None if folds is None else _spread(scores, of_folds, in_parts["folds"]),
        **_details(tally, settings, points=points),
    )


def _details(tally: Tally, settings: Settings, *, points: bool) -> dict[str, Any]:
    """Return what the settings ask for beside scores, as fields of `Scores`."""
    details: dict[str, Any] = {}
    if "confusion" in settings.measures:
        details["confusion"] = _confusions(tally, settings)
    if settings.worst:
        from sedeval_soft.evaluation.worst import worst_of

        details["worst"] = worst_of(tally, settings)
    if settings.reference_sweep:
        from sedeval_soft.evaluation.curves import sweep_of

        details["sweep"] = sweep_of(tally, settings)
    if points or settings.reference_sweep or any(group in settings.measures for group in ORDERED):
        details["make_curves"] = partial(_curves_of, tally, settings)
    return details


def _curves_of(tally: Tally, settings: Settings) -> Curves:
    from sedeval_soft.evaluation.curves import curves_of

    return curves_of(tally, settings)


def _confusions(tally: Tally, settings: Settings) -> tuple[Confusion, ...]:
    """Return which class was taken for which, of segments, clips and events, both sides cut."""
    from sedeval_soft.evaluation.details import Confusion
    from sedeval_soft.measures.confusion import confuse_events, confuse_segments

    plan, counts = Plan.of(settings), {}
    for basis in CELLS:
        if plan.scores(basis, "hard"):
            reference, system = (tally.samples[f"{basis}.{side}"] for side in ("reference", "system"))
            counts[basis] = confuse_segments(positive(reference, settings), detected(system, settings))
    if plan.confuses_events:
        # Which of the largest matchings is found must not depend on the order of the table.
        ours, theirs = (tally.events[side].events().in_order() for side in ("reference", "detected"))
        counts["event"] = confuse_events(ours, theirs, len(tally.classes), Collars.of(settings))
    return tuple(
        Confusion(
            basis, "hard", tally.classes, tuple(map(tuple, of.pairs.tolist())),
            tuple(of.missed.tolist()), tuple(of.inserted.tolist()),
        )
        for basis, of in counts.items()
    )  # fmt: skip


def tuned_shard(shard: Shard, folds: Partition | None = None) -> Shard:
    """Return a shard with the counts of the tuned reading, if its settings have one and it has none.

    folds: which files are of which fold. Raises EvaluationError for folds that do not fit.
    """
    files = {} if folds is None else _assigned(shard, folds)[0]
    return _tuned(shard, files)[0] if shard.settings.tunes else shard


def _tuned(shard: Shard, folds: Files) -> tuple[Shard, Settings]:
    """Return what `tuned_shard` does, and settings that name the thresholds that follow from their rule."""
    from sedeval_soft.evaluation.tuned import has_tuned, with_rule_followed, with_tuned

    settings = with_rule_followed(shard.settings, shard.tally)
    if not has_tuned(shard.tally):
        groups = {name: with_tuned(of, settings, folds) for name, of in shard.groups.items()}
        shard = replace(shard, tally=with_tuned(shard.tally, settings, folds), groups=groups)
    return shard, settings


def _assigned(shard: Shard, partition: Partition) -> tuple[Files, list[str]]:
    """Return the files of each part, and a warning of those that are not evaluated."""
    from sedeval_soft.tables.file_groups import assign

    shard.check_whole()
    files, unknown = assign(partition, shard.tally.files)
    return files, [f"{partition.source}: {listing(unknown, 'file')} not evaluated"] if unknown else []


def _of_files(tally: Tally, parts: Mapping[str, Sequence[str]]) -> dict[str, Tally]:
    """Return the tally of the files of each part."""
    position = {file: i for i, file in enumerate(tally.files)} if parts else {}
    return {
        name: tally.take(np.array([position[file] for file in files], dtype=np.int64))
        for name, files in parts.items()
    }


def _of_part(scores: Iterable[Score], part: str) -> dict[str, Score]:
    """Return scores by the names that they have as those of a part."""
    renamed = {}
    for score in scores:
        name = spell(score.basis, score.reading, score.measure, score.average, score.class_name, part)
        renamed[name] = replace(score, name=name, group=part)
    return renamed


def _check_apart(parts: Mapping[str, Mapping[str, object]]) -> None:
    """Raise EvaluationError where two kinds of parts have the same name, or there is one fold alone."""
    for (kind, names), (other, others) in combinations(parts.items(), 2):
        both = sorted({*names} & {*others})
        if both:
            raise EvaluationError(f"{kind} and {other} both have {both[0]!r}; expected each name once")
    if len(parts["folds"]) == 1:
        raise EvaluationError(f"there is one fold, {next(iter(parts['folds']))!r}; expected two or more")


def _spread(scores: Mapping[str, Score], of_folds: Mapping[str, Mapping[str, Score]], folds: Files) -> Folds:
    """Return how the averages differ between folds."""
    from sedeval_soft.evaluation.details import Folds, Spread

    spreads = [
        Spread.of(name, [of_fold[name].value for of_fold in of_folds.values()])
        for name, score in scores.items()
        if score.average is not None
    ]
    return Folds(tuple(folds), tuple(map(len, folds.values())), tuple(spreads))


def _crowded(tally: Tally) -> str:
    """Return what to know of files in which too many events overlap."""
    crowded = np.isnan(tally.per_file["event.soft.substitutions"])
    files = [tally.files[file] for file in np.flatnonzero(crowded)]
    return (
        f"too many events overlap in {listing(files, 'file')} to match them at every level whatever "
        "their class; the soft event-based error rate of all classes together is left undefined"
    )


def _psds_notes(shard: Shard, tally: Tally, settings: Settings, name: str | None = None) -> Sequence[str]:
    """Return what a reader must know of the PSDS of the whole, or of a group or scene."""
    if shard.tables or "soft" not in Plan.of(settings).psds:
        return shard.notes.get(name, ())
    from sedeval_soft.measures.psds import psds_notes

    return psds_notes(tally, settings, name)


def _score_notes(scores: Mapping[str, Score], tally: Tally, settings: Settings) -> list[str]:
    """Return what a reader must know of constraints that nothing satisfies, and of intervals."""
    notes = [] if settings.satisfice is None else unreachable(list(scores.values()), settings)
    if settings.ci is not None:
        from sedeval_soft.evaluation.resample import interval_notes

        notes += interval_notes(tally, settings)
    return notes


# The signature: the line that makes a result repeatable.


def sign(
    version: str,
    settings: Settings,
    inputs: Sequence[Input],
    durations: Mapping[str, float] | None = None,
    **partitions: Partition | None,
) -> str:
    """Return the signature: `soft-sed-eval 0.1.0 | segment_length=1 ... | reference:sha256=...`.

    durations: seconds by file name; their hash is that of lines of name, tabulator and seconds by name.
    partitions: of the files, by the name of the option that asks for them.
    """
    shown = []
    for name, value in settings.to_dict().items():
        if name == "segment_length":
            text = short_fraction(value)
        elif isinstance(value, bool):
            text = "yes" if value else "no"
        elif isinstance(value, list | dict):
            text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        else:
            text = str(value)
        if value is not None:
            shown.append(f"{name}={text}")
    hashes = [f"{item.role}:sha256={item.sha256 or 'none'}" for item in inputs]
    if durations is not None:
        lines = "".join(f"{name}\t{float(durations[name])!r}\n" for name in sorted(durations))
        hashes.append(f"durations:sha256={sha256(lines.encode('utf-8', 'surrogatepass')).hexdigest()}")
    for name, partition in partitions.items():
        if partition is not None:
            hashed = f"sha256={partition.sha256}" if partition.sha256 else json.dumps(partition.source)
            hashes.append(f"{name}:{hashed}")
    return f"soft-sed-eval {version} | {' '.join(shown)} | {' '.join(hashes)}"


def sign_together(signed: Sequence[tuple[str, Sequence[Input]]], **asked: object) -> str:
    """Return the signature of several systems: that of the first, the other systems, and what they were for.

    signed: the signature and the inputs of each system. asked: what else shaped the numbers, None nothing.
    """
    others = [item for _, inputs in signed[1:] for item in inputs if item.role == "system"]
    hashes = "".join(f" system:sha256={item.sha256 or 'none'}" for item in others)
    shown = "".join(f" {name}={json.dumps(value)}" for name, value in asked.items() if value is not None)
    return f"{signed[0][0]}{hashes} |{shown}"
