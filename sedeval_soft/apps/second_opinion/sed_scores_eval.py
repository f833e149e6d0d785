"""sed_scores_eval: best F, best error rates, areas and PSDS, computed by that package itself.

The package receives the reference's events at its threshold, touching ones joined, and the system's values
after post-processing, in its own form: steps from 0 to the end of each file, and only classes with a
reference.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from sedeval_soft.apps.second_opinion.comparison import Value, refuse
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.evaluation import finite
from sedeval_soft.measures import Tally
from sedeval_soft.plan import CELLS, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables import EventTable, in_steps, to_seconds, to_ticks
from sedeval_soft.timeline import Recordings, events_of, hard_events, positive

CAUSES = {
    "silence has a score": "to it a value of 0 is a score as others: at minus infinity all time is detected",
    "equally good thresholds": "of thresholds with the same F ours is the highest; its floats may differ",
    "stairs below ties": "its ROC goes right before it goes up where scores tie; ours goes straight",
    "precision of silence": "where nothing is detected its precision is 1 (0 of all classes); ours undefined",
}
"""Each rule of sed_scores_eval's that differs from ours if the settings allow it, and its value."""

_OVERALL = ""
_ENDS = {"micro_average": ".micro", "macro_average": ".macro", "mean": ".macro", _OVERALL: ""}
"""The endings of our names for its scores that are of no single class."""

_MODULES = {"segment": "segment_based", "event": "collar_based", "intersection": "intersection_based"}


def refuse_settings(settings: Settings) -> None:
    """Raise SettingsError where sed_scores_eval has no such setting, or nothing of its is evaluated."""
    plan = Plan.of(settings)
    bases = [basis for basis in _MODULES if plan.scores(basis, "optimal")]
    refuse(
        (settings.has_regions,
         "sed_scores_eval knows no regions; expected no --regions and no after_shots"),
        (not bases and "hard" not in plan.psds,
         "sed_scores_eval needs optimal readings or PSDS; --only leaves them out"),
        (settings.pool != "max" and "segment" in bases,
         "sed_scores_eval takes the highest value of a segment: expected --set pool=max"),
        ("event" in bases and not (settings.onset and settings.offset),
         "sed_scores_eval always looks at onsets and offsets of events"),
        ("event" in bases and settings.match_by == "iou",
         "sed_scores_eval matches events by collars; expected match_by=collar"),
        (settings.ignore_class is not None,
         "sed_scores_eval evaluates all time; expected no ignored classes"),
    )  # fmt: skip


def opinion(pair: Recordings, tally: Tally, settings: Settings) -> tuple[dict[str, Value], list[str]]:
    """Return the scores of sed_scores_eval by our names, and notes for the reader.

    Raises SettingsError if it is not installed, EvaluationError if it fails.
    """
    import pandas as pd

    needs = "pip install 'sed-scores-eval==0.0.4' 'pandas<3' (it needs a C compiler)"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import_module("sed_scores_eval")
    except ImportError as error:
        raise SettingsError(f"sed_scores_eval is not installed; expected {needs}") from error
    if int(pd.__version__.split(".")[0]) >= 3:
        raise SettingsError(f"sed_scores_eval 0.0.4 fails on pandas {pd.__version__}: {needs}")
    found: dict[str, Value] = {}
    notes: dict[str, None] = {}
    plan = Plan.of(settings)
    for basis in _MODULES:
        if not (plan.scores(basis, "optimal") or (basis == "intersection" and "hard" in plan.psds)):
            continue
        labels, arguments = _arguments(pair, tally, basis, settings)
        left_out = [label for label in pair.classes if label not in labels]
        if left_out:
            refused = "sed_scores_eval refuses classes without a reference"
            notes[f"{refused}; left out: {', '.join(left_out)}."] = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found |= _scores(basis, labels, arguments, pair, settings) if labels else ()
        except (ValueError, AssertionError, KeyError, TypeError, IndexError) as error:
            raise EvaluationError(f"sed_scores_eval failed on {basis}-based scores: {error}") from error
    return found, [*notes]


def by_its_rules(pair: Recordings, settings: Settings) -> Mapping[str, Value]:  # noqa: ARG001 - as the other
    """Return none: we have no scores by the rules of sed_scores_eval."""
    return {}


def _arguments(
    pair: Recordings, tally: Tally, basis: str, settings: Settings
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the classes with a reference, and the arguments that all functions of a basis take."""
    import pandas as pd

    events = events_of(pair.reference, settings.reference_cut, settings.inclusive, merge=True)
    if basis in CELLS:
        present = np.unique(positive(tally.samples[f"{basis}.reference"], settings).nonzero()[0])
    else:
        if len(hard_events(pair)[0]) != len(events):
            raise SettingsError(
                "sed_scores_eval refuses reference events that touch or overlap; expected events=merge"
            )
        events = events.take(events.offset > events.onset)
        present = np.unique(events.label)
    labels = tuple(pair.classes[code] for code in present.tolist())
    truth: dict[str, list[tuple[float, float, str]]] = {name: [] for name in pair.files}
    columns = events.file, to_seconds(events.onset), to_seconds(events.offset), events.label
    for file, onset, offset, label in zip(*(column.tolist() for column in columns), strict=True):
        if pair.classes[label] in labels:
            truth[pair.files[file]].append((onset, offset, pair.classes[label]))
    steps = _steps(pair.system, pair)
    values = {label: steps.values[steps.classes.index(label)] for label in labels}
    table = pd.DataFrame({"onset": steps.onset, "offset": steps.offset} | values)
    bounds = pairwise(np.searchsorted(steps.file, np.arange(len(pair.files) + 1)).tolist())
    scores = {
        name: table[begin:end].reset_index(drop=True)
        for name, (begin, end) in zip(pair.files, bounds, strict=True)
    }
    of_basis: dict[str, Any] = {
        "segment": {"audio_durations": _durations(pair), "segment_length": settings.segment_length},
        "event": {k: getattr(settings, k) for k in ("onset_collar", "offset_collar", "offset_collar_rate")},
        "intersection": {f"{name}_threshold": settings.criterion(name) for name in ("dtc", "gtc")},
    }
    return labels, {"scores": scores, "ground_truth": truth} | of_basis[basis]


def _durations(pair: Recordings) -> dict[str, float]:
    return dict(zip(pair.files, pair.reach.tolist(), strict=True))


def _steps(system: EventTable, pair: Recordings) -> EventTable:
    """Return the values of all classes in steps that touch, from 0 to the end of a file or its last row."""
    wide = in_steps(system)
    last = np.zeros(len(pair.files))
    np.maximum.at(last, wide.file, wide.offset)
    short = np.flatnonzero(to_ticks(last) < pair.reach_ticks)
    file = np.concatenate((wide.file, short.astype(np.int32)))
    onset, offset = (
        np.concatenate((wide.onset, last[short])),
        np.concatenate((wide.offset, pair.reach[short])),
    )
    order = np.lexsort((onset, file))
    values = tuple(np.append(column, np.zeros(len(short)))[order] for column in wide.values)
    return replace(wide, file=file[order], onset=onset[order], offset=offset[order], values=values)


def _scores(
    basis: str, labels: tuple[str, ...], arguments: dict[str, Any], pair: Recordings, settings: Settings
) -> Iterator[tuple[str, Value]]:
    """Yield scores of the package by our names: best F, precision and recall, error rates, areas, PSDS."""
    module, plan = import_module(f"sed_scores_eval.{_MODULES[basis]}"), Plan.of(settings)
    best: dict[str, Mapping[str, float]] = {}
    if plan.scores(basis, "optimal"):
        names = ("f1" if settings.beta == 1 else "fbeta", "precision", "recall")
        values = module.best_fscore(**arguments, beta=settings.beta)
        best = {f"{basis}.optimal.{name}": value for name, value in zip(names, values[:3], strict=True)}
    alone: dict[str, Mapping[str, float]] = {}
    if basis == "segment" and "curves" in settings.measures:
        for name, theirs in (("roc_auc", "auroc"), ("average_precision", "average_precision")):
            alone[f"segment.hard.{name}"] = getattr(module, theirs)(**arguments)[0]
    elif basis != "segment" and plan.scores(basis, "optimal"):
        alone[f"{basis}.optimal.best_error_rate"] = module.best_error_rate(**arguments)[0]
    if basis == "intersection" and "hard" in plan.psds:
        weights: dict[str, float | None]
        weights = {name: settings.criterion(name) for name in ("alpha_ct", "alpha_st", "max_efpr")}
        # It refuses a criterion for cross triggers that have no weight.
        weights["cttc_threshold"] = settings.criterion("cttc") if weights["alpha_ct"] else None
        psds, of_classes, *_ = module.psds(**arguments, **weights, audio_durations=_durations(pair))
        alone["intersection.hard.psds"] = {_OVERALL: psds} | {label: of_classes[label] for label in labels}
    for stem, values in (best | alone).items():
        for label, value in values.items():
            # Of scores that are no F, their micro average is of another kind than ours.
            if stem in best or label != "micro_average":
                yield f"{stem}{_ENDS.get(label, f'[{label}]')}", finite(float(value))
