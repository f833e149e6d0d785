"""`check --with sed_scores_eval`: best F, best error rates, areas and PSDS, computed by that package itself.

It gets the reference's events at its threshold, those that touch as one, and the system's values after
post-processing, as it wants them: steps from 0 to the end of each file, and only classes that have a
reference.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.evaluation.optimal import counts_at
from sedeval_soft.evaluation.scores import Score, finite, score_tally
from sedeval_soft.interop.second_opinion import Comparison, Value, comparison_text, value_at
from sedeval_soft.measures.base import Averaged, ratio
from sedeval_soft.measures.curve_scores import Ordered, Points
from sedeval_soft.measures.detection import detection_scores
from sedeval_soft.measures.registry import ScoreName
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import CELLS, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.fit import in_steps
from sedeval_soft.tables.ticks import to_seconds, to_ticks
from sedeval_soft.timeline.events import events_of
from sedeval_soft.timeline.recordings import Recordings, hard_events, positive

ZEROS = "silence has a score"
TIES = "equally good thresholds"
SILENT = "precision of silence"
STAIRS = "stairs below ties"

CAUSES = {
    ZEROS: "to it a value of 0 is a score as others: at minus infinity all time is detected; here 0 never is",
    TIES: "of thresholds with the same F ours is the highest; its floats may tell them apart",
    STAIRS: "its ROC goes right before it goes up where scores tie; ours goes straight, as scikit-learn's",
    SILENT: "where nothing is detected its precision is 1 (0 of all classes); ours is undefined",
}
"""Each rule of sed_scores_eval's that differs from ours where it can be asked, and what it is."""

_RAISED = 0.5
"""What a value of 0 becomes where it is to be a score."""

_OVERALL = ""
_ENDS = {"micro_average": ".micro", "macro_average": ".macro", "mean": ".macro", _OVERALL: ""}
"""How names of ours end for what is of no single class there."""

_AREAS = {"roc_auc": "auroc", "average_precision": "average_precision"}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the package is asked with.

    module: of it, for a basis. arguments: that all its functions take, with scores and reference by file.
    durations: seconds by file. labels: classes with a reference. raised: the tally of the same where a value
    of 0 is a score, and our scores of that.
    """

    module: Any
    arguments: dict[str, Any]
    durations: dict[str, float]
    labels: tuple[str, ...]
    raised: Tally
    scored: Mapping[str, Score]


def refuse_settings(settings: Settings) -> None:
    """Raise SettingsError where sed_scores_eval has no such setting, or nothing of its is evaluated."""
    if settings.has_regions:
        raise SettingsError("sed_scores_eval knows no regions; expected no --regions and no after_shots")
    plan = Plan.of(settings)
    bases = [basis for basis in ("segment", "event", "intersection") if plan.scores(basis, "optimal")]
    if not bases and "hard" not in plan.psds:
        raise SettingsError("sed_scores_eval needs optimal readings or PSDS; --only leaves them out")
    if settings.pool != "max" and "segment" in bases:
        raise SettingsError("sed_scores_eval takes the highest value of a segment: expected --set pool=max")
    if "event" in bases and not (settings.onset and settings.offset):
        raise SettingsError("sed_scores_eval always looks at onsets and offsets of events")
    if "event" in bases and settings.match_by == "iou":
        raise SettingsError("sed_scores_eval matches events by collars; expected --set match_by=collar")
    if settings.ignore_class is not None:
        raise SettingsError("sed_scores_eval evaluates all time; expected no ignored classes")


def second_opinion(pair: Recordings, tally: Tally, settings: Settings, ours: Mapping[str, Value]) -> str:
    """Return a table of sed_scores_eval's scores beside ours, and why they differ."""
    compared, notes = check_sed_scores_eval(pair, tally, settings, ours)
    return comparison_text("sed_scores_eval", compared, CAUSES, notes)


def check_sed_scores_eval(
    pair: Recordings, tally: Tally, settings: Settings, ours: Mapping[str, Value]
) -> tuple[list[Comparison], list[str]]:
    """Score a pair with sed_scores_eval; return its scores beside ours, and what should be said of that.

    Raises SettingsError where it has no such setting or is not installed, EvaluationError where it fails.
    """
    import pandas as pd

    refuse_settings(settings)
    needs = "pip install 'sed-scores-eval==0.0.4' 'pandas<3' (it needs a C compiler)"
    try:
        import sed_scores_eval  # noqa: F401 - whether it is there
    except ImportError as error:
        raise SettingsError(f"sed_scores_eval needs that package: {needs}") from error
    if int(pd.__version__.split(".")[0]) >= 3:
        raise SettingsError(f"sed_scores_eval 0.0.4 fails on pandas {pd.__version__}: {needs}")
    compared: list[Comparison] = []
    notes: dict[str, None] = {}
    plan = Plan.of(settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for basis in ("segment", "event", "intersection"):
            if plan.scores(basis, "optimal") or (basis == "intersection" and "hard" in plan.psds):
                asked = _asked(pair, tally, basis, settings)
                left_out = [label for label in pair.classes if label not in asked.labels]
                if left_out:
                    refused = "sed_scores_eval refuses classes without a reference"
                    notes[f"{refused}; left out: {', '.join(left_out)}."] = None
                scores: list[_Opinion] = []
                try:
                    if asked.labels:
                        scores = [*_best(asked, basis, settings), *_others(asked, basis, settings)]
                except (ValueError, AssertionError, KeyError, TypeError, IndexError) as error:
                    failed = f"sed_scores_eval failed on {basis}-based scores"
                    raise EvaluationError(f"{failed}: {error}") from error
                compared += [
                    Comparison(name, ours[name], theirs, ((ZEROS, asked.scored[name].value), *steps(name)))
                    for name, theirs, steps in scores
                    if name in ours
                ]
    return compared, list(notes)


def _asked(pair: Recordings, tally: Tally, basis: str, settings: Settings) -> _Asked:
    import pandas as pd
    from sed_scores_eval import collar_based, intersection_based, segment_based

    events = events_of(pair.reference, settings.reference_cut, settings.inclusive, merge=True)
    if basis not in CELLS:
        if len(hard_events(pair)[0]) != len(events):
            raise SettingsError(
                "sed_scores_eval refuses reference events that touch or overlap; expected --set events=merge"
            )
        events = events.take(events.offset > events.onset)
        present = np.unique(events.label)
    else:
        present = np.unique(positive(tally.samples[f"{basis}.reference"], settings).nonzero()[0])
    labels = tuple(pair.classes[code] for code in present.tolist())
    truth: dict[str, list[tuple[float, float, str]]] = {name: [] for name in pair.files}
    columns = events.file, to_seconds(events.onset), to_seconds(events.offset), events.label
    for file, onset, offset, label in zip(*(column.tolist() for column in columns), strict=True):
        if pair.classes[label] in labels:
            truth[pair.files[file]].append((onset, offset, pair.classes[label]))
    steps = _steps(pair.system, pair)
    table = pd.DataFrame(
        {"onset": steps.onset, "offset": steps.offset}
        | {label: steps.values[steps.classes.index(label)] for label in labels}
    )
    bounds = pairwise(np.searchsorted(steps.file, np.arange(len(pair.files) + 1)).tolist())
    scores = {
        name: table[begin:end].reset_index(drop=True)
        for name, (begin, end) in zip(pair.files, bounds, strict=True)
    }
    # Where 0 is a score, values lie from a half to 1, and 0 is what no row covers.
    raised = replace(
        steps,
        values=tuple(
            _RAISED + column * (1 - _RAISED) if label in labels else np.zeros_like(column)
            for label, column in zip(steps.classes, steps.values, strict=True)
        ),
    )
    plain = replace(settings, ci=None, worst=0, thresholds=None, cross_tune=None, psds_median_filters=())
    counted = tally_pair(pair._replace(system=raised, raw=raised, plan=Plan.of(plain)))
    modules = {"segment": segment_based, "event": collar_based, "intersection": intersection_based}
    durations = dict(zip(pair.files, pair.reach.tolist(), strict=True))
    arguments: dict[str, Any] = {"scores": scores, "ground_truth": truth}
    if basis == "segment":
        arguments |= {"audio_durations": durations, "segment_length": settings.segment_length}
    elif basis == "event":
        names = ("onset_collar", "offset_collar", "offset_collar_rate")
        arguments |= {name: getattr(settings, name) for name in names}
    else:
        arguments |= {f"{name}_threshold": settings.criterion(name) for name in ("dtc", "gtc")}
    return _Asked(modules[basis], arguments, durations, labels, counted, score_tally(counted, plain))


def _steps(system: EventTable, pair: Recordings) -> EventTable:
    """Return the values of all classes in steps that touch, from 0 to the end of a file or its last row."""
    wide = in_steps(system)
    last = np.zeros(len(pair.files))
    np.maximum.at(last, wide.file, wide.offset)
    short = np.flatnonzero(to_ticks(last) < pair.reach_ticks)
    columns = (
        np.concatenate((wide.file, short.astype(np.int32))),
        np.concatenate((wide.onset, last[short])),
        np.concatenate((wide.offset, pair.reach[short])),
    )
    order = np.lexsort((columns[1], columns[0]))
    values = (np.append(column, np.zeros(len(short)))[order] for column in wide.values)
    return replace(
        wide,
        file=columns[0][order],
        onset=columns[1][order],
        offset=columns[2][order],
        values=tuple(values),
    )


_Opinion = tuple[str, Value, Callable[[str], Sequence[tuple[str, Value]]]]
"""Our name of a score, what it is to them, and what its name tells of further causes of a difference."""


def _best(asked: _Asked, basis: str, settings: Settings) -> Iterator[_Opinion]:
    """Yield best F and its precision and recall, and what becomes of ours at their thresholds."""
    if not Plan.of(settings).scores(basis, "optimal"):
        return
    # F, precision and recall by class and average, and thresholds by class.
    best = asked.module.best_fscore(**asked.arguments, beta=settings.beta)
    tally = asked.raised
    cuts = np.array([float(best[3].get(label, math.inf)) for label in tally.classes])
    # Theirs may be below all values, which here is between those that are raised and none.
    thresholds = np.where(cuts < 0, _RAISED / 2, _RAISED + cuts * (1 - _RAISED))
    table = detection_scores(counts_at(tally, basis, thresholds, settings).total(), settings.beta)
    places = [tally.classes.index(label) for label in asked.labels]

    def steps(text: str) -> Sequence[tuple[str, Value]]:
        name = ScoreName.parse(text)
        measure = table[name.measure]
        at = value_at(measure, name, tally.classes)
        silent = _precision(measure, name, at, places) if name.measure == "precision" else at
        return (TIES, at), (SILENT, silent)

    main = "f1" if settings.beta == 1 else "fbeta"
    for measure, values in zip((main, "precision", "recall"), best[:3], strict=True):
        for label, value in values.items():
            yield f"{basis}.optimal.{measure}{_ENDS.get(label, f'[{label}]')}", float(value), steps


def _others(asked: _Asked, basis: str, settings: Settings) -> Iterator[_Opinion]:
    """Yield areas, best error rates and PSDS by our names."""
    module, arguments, plan = asked.module, asked.arguments, Plan.of(settings)
    by_class: dict[str, Mapping[str, float]] = {}
    if basis == "segment":
        for name, theirs in _AREAS.items() if "curves" in settings.measures else ():
            by_class[f"segment.hard.{name}"] = getattr(module, theirs)(**arguments)[0]
    elif plan.scores(basis, "optimal"):
        by_class[f"{basis}.optimal.best_error_rate"] = module.best_error_rate(**arguments)[0]
    if basis == "intersection" and "hard" in plan.psds:
        weights: dict[str, float | None]
        weights = {name: settings.criterion(name) for name in ("alpha_ct", "alpha_st", "max_efpr")}
        # It refuses a criterion for cross triggers that have no weight.
        weights["cttc_threshold"] = settings.criterion("cttc") if weights["alpha_ct"] else None
        psds, of_classes, *_ = module.psds(**arguments, **weights, audio_durations=asked.durations)
        by_label = {label: of_classes[label] for label in asked.labels}
        by_class["intersection.hard.psds"] = {_OVERALL: psds, **by_label}

    def stairs(text: str) -> Sequence[tuple[str, Value]]:
        return ((STAIRS, _below_ties(ScoreName.parse(text), asked, settings)),)

    for stem, values in by_class.items():
        for label, value in values.items():
            if label != "micro_average":
                end = _ENDS.get(label, f"[{label}]")
                steps = stairs if stem.endswith("roc_auc") else lambda _: ()
                yield f"{stem}{end}", finite(float(value)), steps


def _below_ties(name: ScoreName, asked: _Asked, settings: Settings) -> Value:
    """Return the area under the ROC of segments by steps, of a class or the mean over all that were asked."""
    labels = asked.labels if name.class_name is None else (name.class_name,)
    areas, tally = [], asked.raised
    for c in map(tally.classes.index, labels):
        hits = positive(tally.samples["segment.reference"][c], settings)
        points = Points.of(Ordered.of(tally.samples["segment.system"][c], hits))
        before = np.append(0, points.tp[:-1])
        areas.append(ratio(np.sum(before * np.diff(points.fp, prepend=0)), points.tp[-1] * points.fp[-1]))
    return finite(float(np.mean(areas)))


def _precision(precision: Averaged, name: ScoreName, value: Value, places: list[int]) -> Value:
    """Return a precision, which is a value by our rule, by theirs: 1 where nothing is detected."""
    if name.average == "macro":
        assert precision.classes is not None  # noqa: S101 - for the type checker: precision has classes
        return float(np.mean(np.nan_to_num(precision.classes[places], nan=1.0)))
    if value is None:
        return 0.0 if name.average else 1.0
    return value
