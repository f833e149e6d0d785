"""Where a score went: what each kind of error costs, which classes pay it, and what recall depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.count import not_ignored
from sedeval_soft.evaluation.printed import html_of, presented
from sedeval_soft.evaluation.scores import Scores, finite
from sedeval_soft.evaluation.sensitivity import Bin, sensitivity, sides_of
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.errors import KINDS_OF_ERRORS, LEVELS, prices
from sedeval_soft.measures.event_errors import (
    HIT,
    KINDS,
    EventErrors,
    RightElsewhere,
    classify_errors,
    right_elsewhere,
)
from sedeval_soft.measures.pairs import pair_rule
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import to_seconds
from sedeval_soft.timeline.events import Activity, EventLifetimes, Events
from sedeval_soft.timeline.recordings import Recordings, all_lifetimes, hard_events

if TYPE_CHECKING:
    import pandas as pd

AVERAGES = ("micro", "macro")

_SHIFTS = 5
"""Other files whose detections say how often a miss is right at another threshold by chance."""


@dataclass(frozen=True, slots=True)
class KindOfError:
    """What one kind of error costs.

    fp, fn: how many false positives and false negatives are of the kind, in all classes. share: of 1 - F,
    with its interval; of_lost: the same as a part of all that is lost. gain: how much F rises without the
    kind. Shares and gains are None where F is undefined.

    The level of events' errors; None of segments: lower, higher: how many of the misses are right at a lower,
    or a higher, threshold. lower_by, higher_by: how far away that is, the median of these misses; None
    without any. by_chance: the part of the misses that would be right at another threshold if the output were
    that of other files; None where there is one file, or no miss. fp_lower, fp_higher: how many of the false
    positives go with such misses; of a merge the mean of its misses counts. share_lower, share_higher: the
    parts of the share that these misses and false positives make.
    """

    basis: str
    reading: str
    average: str
    kind: str
    fp: float
    fn: float
    share: float | None
    low: float | None
    high: float | None
    of_lost: float | None
    gain: float | None
    lower: float | None = None
    higher: float | None = None
    lower_by: float | None = None
    higher_by: float | None = None
    by_chance: float | None = None
    fp_lower: float | None = None
    fp_higher: float | None = None
    share_lower: float | None = None
    share_higher: float | None = None

    @property
    def count(self) -> float:
        """How many errors are of the kind."""
        return self.fp + self.fn


@dataclass(frozen=True, slots=True)
class Lost:
    """What F is, and what it lost: 1 - F; None where it is undefined.

    optimal: F at the best threshold of each class, found on these very files, of hard readings; None of
    others, and of a system without values.
    """

    basis: str
    reading: str
    average: str
    f: float | None
    lost: float | None
    optimal: float | None


@dataclass(frozen=True, slots=True)
class CostOfClass:
    """What one kind of error costs in one class: its part of the micro average's 1 - F, None without one."""

    basis: str
    reading: str
    kind: str
    class_name: str
    fp: float
    fn: float
    share: float | None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Settings with which a score rises, which was tried: its value without and with them."""

    settings: str
    score: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Difference:
    """What errors of one kind cost each of two systems: shares of 1 - F, None where F is undefined.

    class_name: the class; None for all together. won: how much less they cost the second system. Over all
    kinds of a basis, reading and average that adds up to the F of the second minus that of the first.
    """

    basis: str
    reading: str
    average: str
    kind: str
    class_name: str | None
    first: float | None
    second: float | None
    won: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """Where the scores of a system went.

    scores: all that were computed. lost: F and what it lost, by basis, reading and average. errors: by basis,
    reading, average and kind. classes: the parts of classes in micro averages, the costliest first. bins:
    what recall and precision of events depend on, what differs most first. by_chance: the share of misses
    that would be right at another threshold if the output were that of other files; None where there is one
    file, or no miss. suggestions: settings that were tried and help.
    """

    scores: Scores
    lost: tuple[Lost, ...]
    errors: tuple[KindOfError, ...]
    classes: tuple[CostOfClass, ...]
    bins: tuple[Bin, ...] = ()
    by_chance: float | None = None
    suggestions: tuple[Suggestion, ...] = ()

    def __str__(self) -> str:
        """Return the text that the command prints."""
        text: str = presented("diagnosis.render_diagnoses", [self])
        return text.removesuffix("\n")

    def __repr__(self) -> str:
        """Return a short form: the numbers are many."""
        return f"<diagnosis of {self.scores.system!r}: {len(self.errors)} kinds of errors>"

    def _repr_html_(self) -> str:
        """Return the text that the command prints, for notebooks."""
        return html_of(str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, in the form of the JSON output."""
        document: dict[str, Any] = presented("diagnosis.diagnosis_document", self)
        return document

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for each kind of error in each average."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["errors"])

    def against(self, other: Diagnosis) -> str:
        """Return what this system and another one won where, as the command prints it."""
        text: str = presented("diagnosis.render_diagnoses", [self, other])
        return text.removesuffix("\n")

    def differences(self, other: Diagnosis, *, by_class: bool = False) -> tuple[Difference, ...]:
        """Return what another system won over this one, by kind of error.

        other: of the same reference. by_class: the parts of single classes in micro averages, in place of
        all classes together in both averages. What differs most comes first in each basis, reading and
        average. Raises SettingsError where the two have no F of the same reference and the same beta.
        """
        return tuple(differences_of(self, other, by_class=by_class))

    def table(self, basis: str, reading: str, average: str = "micro") -> list[KindOfError]:
        """Return the kinds of errors of a basis and reading, the costliest first."""
        family = basis, reading, average
        kinds = [each for each in self.errors if (each.basis, each.reading, each.average) == family]
        return sorted(kinds, key=lambda each: -(each.share or 0.0))


def families(scores: Scores) -> list[tuple[str, str]]:
    """Return the bases and readings whose errors have kinds."""
    return [
        family
        for family, (kinds, _) in KINDS_OF_ERRORS.items()
        if f"{'.'.join(family)}.{kinds[0]}_share.micro" in scores
    ]


def measure_of_f(settings: Settings) -> str:
    """Return the name of the F that errors make."""
    return "f1" if settings.beta == 1 else "fbeta"


def f_of(scores: Scores, basis: str, reading: str, average: str) -> float | None:
    """Return the F that errors make, the score of that name; None where there is no reference."""
    first = KINDS_OF_ERRORS[basis, reading][0][0]
    if scores[f"{basis}.{reading}.{first}_share.{average}"] is None:
        return None
    return scores[f"{basis}.{reading}.{measure_of_f(scores.settings)}.{average}"]


def kinds_of(scores: Scores) -> Iterator[KindOfError]:
    """Yield what each kind of error costs, by basis, reading and average."""
    for (basis, reading), average in product(families(scores), AVERAGES):
        stems = {kind: f"{basis}.{reading}.{kind}" for kind in KINDS_OF_ERRORS[basis, reading][0]}
        lost = sum(scores[f"{stem}_share.{average}"] or 0.0 for stem in stems.values())
        for kind, stem in stems.items():
            share, fn = scores.score(f"{stem}_share.{average}"), scores[f"{stem}_fn.micro"] or 0
            of_lost = share.value / lost if share.value is not None and lost else None
            levels = [scores.scores.get(f"{stem}_right_{level}.micro") for level in ("lower", "higher")]
            right = [None if each is None else float(round((each.value or 0.0) * fn)) for each in levels]
            yield KindOfError(
                basis, reading, average, kind, scores[f"{stem}_fp.micro"] or 0, fn, share.value, share.low,
                share.high, of_lost, scores[f"{stem}_gain.{average}"], *right,
            )  # fmt: skip


def classes_of(scores: Scores) -> list[CostOfClass]:
    """Return what each kind costs in each class, the costliest first: at the prices of all classes pooled."""
    costs = []
    for basis, reading in families(scores):
        stem = f"{basis}.{reading}"
        tp, fp, fn = (float(scores[f"{stem}.{name}.micro"] or 0) for name in ("tp", "fp", "fn"))
        of_fp, of_fn = _prices(tp, fp, fn, scores.settings)
        for kind, label in product(KINDS_OF_ERRORS[basis, reading][0], scores.classes):
            n_false, n_missed = (
                float(scores[f"{stem}.{kind}_{what}[{label}]"] or 0) for what in ("fp", "fn")
            )
            if n_false or n_missed:
                share = n_false * of_fp + n_missed * of_fn
                costs.append(CostOfClass(basis, reading, kind, label, n_false, n_missed, finite(share)))
    return sorted(costs, key=lambda each: -(each.share or 0.0))


def differences_of(one: Diagnosis, other: Diagnosis, *, by_class: bool) -> list[Difference]:
    """Return what the other system won over the one; arguments and errors as for `Diagnosis.differences`."""
    both = one.scores, other.scores
    references = [
        [
            (item.sha256, item.rows, item.files, item.classes)
            for item in each.inputs
            if item.role == "reference"
        ]
        for each in both
    ]
    common = [family for family in families(both[0]) if family in families(both[1])]
    if references[0] != references[1] or both[0].settings.beta != both[1].settings.beta or not common:
        raise SettingsError(
            "two systems are compared by F of one reference, with one beta; these two have none in common"
        )

    def shares(of: Diagnosis) -> dict[tuple[str, str, str, str, str | None], float | None]:
        if by_class:
            return {(e.basis, e.reading, AVERAGES[0], e.kind, e.class_name): e.share for e in of.classes}
        return {(e.basis, e.reading, e.average, e.kind, None): e.share for e in of.errors}

    sides, differences = (shares(one), shares(other)), []
    for key in dict.fromkeys(key for side in sides for key in side if key[:2] in common):
        # A class that has no errors of a kind costs nothing, unless nothing is known of all.
        first, second = (
            side.get(key, None if f_of(scores, *key[:3]) is None else 0.0)
            for side, scores in zip(sides, both, strict=True)
        )
        won = None if first is None or second is None else first - second
        differences.append(Difference(*key, first, second, won))
    # Sorting keeps the order of the kinds, and of the classes, of what differs by as much.
    return sorted(
        differences,
        key=lambda e: (common.index((e.basis, e.reading)), AVERAGES.index(e.average), -abs(e.won or 0.0)),
    )


def _prices(tp: float, fp: float, fn: float, settings: Settings) -> tuple[float, float]:
    of_fp, of_fn = prices(np.asarray(tp), np.asarray(fp), np.asarray(fn), settings.beta)
    return float(of_fp), float(of_fn)


def losses_of(scores: Scores, optimal: Mapping[tuple[str, str], float | None]) -> Iterator[Lost]:
    """Yield F and what it lost, by basis, reading and average.

    optimal: F at the best thresholds, by basis and average, where it is known.
    """
    for (basis, reading), average in product(families(scores), AVERAGES):
        f = f_of(scores, basis, reading, average)
        best = optimal.get((basis, average)) if reading == "hard" else None
        yield Lost(basis, reading, average, f, None if f is None else 1.0 - f, best)


def diagnosed(
    scores: Scores,
    pair: Recordings,
    scenes: Mapping[str, Sequence[str]],
    suggestions: Sequence[Suggestion],
    optimal: Mapping[tuple[str, str], float | None],
) -> Diagnosis:
    """Return where the scores went; pair: the rows of both sides. scenes: files of each.

    optimal: F at the best thresholds, by basis and average, where it is known.
    """
    settings, kinds = scores.settings, [*kinds_of(scores)]
    bins: list[Bin] = []
    by_chance = None
    if ("event", "hard") in families(scores):
        events = _classified(pair, settings)
        bins = _bins_of(pair, settings, scenes, events)
        kinds, by_chance = _with_levels(kinds, pair, settings, events)
    return Diagnosis(
        scores, tuple(losses_of(scores, optimal)), tuple(kinds), tuple(classes_of(scores)), tuple(bins),
        by_chance, tuple(suggestions),
    )  # fmt: skip


def rates_by_factor(pair: Recordings, settings: Settings, scenes: Mapping[str, Sequence[str]]) -> list[Bin]:
    """Return what recall and precision of hard events depend on; scenes: the files of each."""
    return _bins_of(pair, settings, scenes, _classified(pair, settings))


class _Classified(NamedTuple):
    """The hard events of the reference and of the system, and what is wrong with them."""

    reference: Events
    errors: EventErrors
    system: Events


def _classified(pair: Recordings, settings: Settings) -> _Classified:
    """Return the hard events of both sides, and what is wrong with them."""
    reference, system = hard_events(pair)
    rule = pair_rule(settings)
    system = not_ignored(pair, reference, system, rule)
    errors = classify_errors(reference, system, len(pair.classes), rule, settings.matching)
    return _Classified(reference, errors, system)


def _lifetimes_of(pair: Recordings, settings: Settings, reference: Events) -> EventLifetimes:
    """Return the lifetimes of the system's events."""
    lifetimes = all_lifetimes(pair, pair.event_rows[1])
    return not_ignored(pair, reference, lifetimes, pair_rule(settings))


class Example(NamedTuple):
    """Where an error is: in which file, from when on in seconds, and of which class."""

    file: str
    onset: float
    class_name: str


@dataclass(frozen=True, slots=True)
class Examples:
    """What a kind of error costs of the micro F of hard events, and where to look at it.

    at: the worst of its errors, those that cost most; of those that cost the same the ones with most time
    that is wrong.
    """

    kind: str
    fp: int
    fn: int
    share: float
    gain: float
    at: tuple[Example, ...]


def examples_of(pair: Recordings, settings: Settings, most: int = 3) -> list[Examples]:
    """Return the kinds of errors that events have, the costliest first, each with its worst examples.

    Raises TooManyOverlapsError where too many events overlap.
    """
    events = _classified(pair, settings)
    fp, fn = (side.sum(axis=1) for side in _by_kind_and_class(events, len(pair.classes)))
    n_ref, n_hits = len(events.reference), len(events.reference) - int(fn.sum())
    if not n_ref:
        return []
    of_each = _prices(n_hits, fp.sum(), fn.sum(), settings)
    mended = f_beta(n_hits + fn, np.asarray(n_ref), n_hits + fp.sum() - fp + fn, settings.beta)
    gain = mended - f_beta(np.asarray(n_hits), np.asarray(n_ref), n_hits + fp.sum(), settings.beta)
    kinds, places = _worst_first(events, of_each)
    kinds_of_events = []
    for number in np.flatnonzero(fp + fn).tolist():
        at = [place[kinds == number][:most].tolist() for place in places]
        examples = (
            Example(pair.files[file], float(to_seconds(onset)), pair.classes[label])
            for file, onset, label in zip(*at, strict=True)
        )
        false, missed = int(fp[number]), int(fn[number])
        share = false * of_each[0] + missed * of_each[1]
        kinds_of_events.append(
            Examples(KINDS[number], false, missed, share, float(gain[number]), tuple(examples))
        )
    return sorted(kinds_of_events, key=lambda each: -each.share)


def _worst_first(events: _Classified, of_each: tuple[float, float]) -> tuple[Index, tuple[Index, ...]]:
    """Return the kind of each error, and its file, onset and class, (n,) each: those that cost most first.

    of_each: what a false positive, and a miss, costs. An error is a miss, a false alarm, or all of those that
    belong together, such as an event and the detections that it is split into; it begins with the first of
    its misses. Of errors that cost the same, those with most time that is wrong come first.
    """
    reference, errors, system = events
    left, right = errors.links
    n_ref, n_sys = len(reference), len(system)
    # An error goes by the first of its misses; a false alarm without any by itself.
    of_false = np.arange(n_sys) + n_ref
    by_time = np.lexsort((reference.offset[left], reference.onset[left], right))[::-1]
    of_false[right[by_time]] = left[by_time]
    of_missed = np.arange(n_ref)
    of_missed[left] = of_false[right]
    length, cost = np.zeros(n_ref + n_sys), np.zeros(n_ref + n_sys)
    for side, kind, error, price in (
        (reference, errors.missed, of_missed, of_each[1]),
        (system, errors.false, of_false, of_each[0]),
    ):
        wrong = kind != HIT
        np.add.at(cost, error[wrong], price)
        np.add.at(length, error[wrong], (side.offset - side.onset)[wrong])
    ours, theirs = reference.take(left), system.take(right)
    common = np.minimum(ours.offset, theirs.offset) - np.maximum(ours.onset, theirs.onset)
    # What both sides say of one class is right.
    same = ours.label == theirs.label
    np.add.at(length, of_missed[left[same]], -2.0 * np.maximum(common[same], 0))
    kind = np.concatenate((errors.missed, errors.false))
    file, onset, label = (
        np.concatenate((getattr(reference, name), getattr(system, name))).astype(np.int64)
        for name in ("file", "onset", "label")
    )
    some = np.flatnonzero(cost > 0)
    worst = some[np.lexsort((label[some], onset[some], file[some], -length[some], -cost[some]))]
    return kind[worst], (file[worst], onset[worst], label[worst])


def _bins_of(
    pair: Recordings,
    settings: Settings,
    scenes: Mapping[str, Sequence[str]],
    events: _Classified,
) -> list[Bin]:
    reference, errors, system = events
    n_hits, n_missed, n_false = (
        int(np.count_nonzero(each))
        for each in (errors.missed == HIT, errors.missed != HIT, errors.false != HIT)
    )
    of_each = _prices(n_hits, n_false, n_missed, settings)
    position = {name: k for k, name in enumerate(pair.files)}
    files_of = {
        scene: np.array([position[name] for name in files if name in position], dtype=np.int64)
        for scene, files in scenes.items()
    }
    ours, theirs = (
        (events, Activity.of_table(rows) if rows.has_values else None)
        for events, rows in zip((reference, system), pair.event_rows, strict=True)
    )
    return sensitivity(
        *sides_of(ours, theirs, errors, of_each), pair.files, files_of, len(pair.classes), settings
    )


def _with_levels(
    kinds: Sequence[KindOfError], pair: Recordings, settings: Settings, events: _Classified
) -> tuple[list[KindOfError], float | None]:
    """Return the kinds of errors with levels, and which part of all misses would be right by chance."""
    reference, errors, _ = events
    lifetimes = _lifetimes_of(pair, settings, reference)
    sizes, rule = (len(pair.files), len(pair.classes)), pair_rule(settings)
    at = np.flatnonzero(errors.missed != HIT)
    missed, kind = reference.take(at), errors.missed[at]

    def elsewhere(moved: Events) -> RightElsewhere:
        return right_elsewhere(
            moved, lifetimes, sizes[1], rule, settings.threshold, inclusive=settings.inclusive
        )

    side, distance = elsewhere(missed)
    n_right = np.zeros(len(KINDS))
    shifts = range(1, min(_SHIFTS, sizes[0] - 1) + 1)
    for shift in shifts:
        moved = replace(missed, file=((missed.file + shift) % sizes[0]).astype(missed.file.dtype))
        n_right += np.bincount(kind[elsewhere(moved).side != 0], minlength=len(KINDS))
    n_looks = np.bincount(kind, minlength=len(KINDS)) * len(shifts)
    n_fp, n_fn = _by_kind_and_class(events, sizes[1])
    levels = dict[str, tuple[Array, Array, Floats]]()
    for name, sign in zip(LEVELS, (-1, 1), strict=True):
        right = np.zeros(len(reference))
        right[at] = side == sign
        levels[name] = *_by_kind_and_class(events, sizes[1], (errors.over_links(right), right)), right[at]
    # Of each class alone, and of all together.
    n_hits = np.bincount(reference.label[errors.missed == HIT], minlength=sizes[1])
    of_class = prices(n_hits, n_fp.sum(axis=0), n_fn.sum(axis=0), settings.beta)
    of_all = _prices(len(reference) - len(at), n_fp.sum(), n_fn.sum(), settings)
    has_reference = np.isfinite(of_class[0])

    def with_levels(each: KindOfError) -> KindOfError:
        number, values = KINDS.index(each.kind), dict[str, Any]()
        for name, (fp, fn, right) in levels.items():
            cost = fp[number].sum() * of_all[0] + fn[number].sum() * of_all[1]
            if each.average == "macro":
                costs = fp[number] * of_class[0] + fn[number] * of_class[1]
                cost = costs[has_reference].sum() / max(np.count_nonzero(has_reference), 1)
            far = distance[(kind == number) & (right > 0)]
            values |= {
                name: float(fn[number].sum()), f"fp_{name}": float(fp[number].sum()),
                f"{name}_by": float(np.median(far)) if len(far) else None,
                f"share_{name}": None if each.share is None else min(float(cost), each.share),
            }  # fmt: skip
        by_chance = float(n_right[number] / n_looks[number]) if n_looks[number] else None
        return replace(each, **values, by_chance=by_chance)

    by_chance = float(n_right.sum() / n_looks.sum()) if n_looks.any() else None
    of_events = ("event", "hard")
    return [with_levels(k) if (k.basis, k.reading) == of_events else k for k in kinds], by_chance


def _by_kind_and_class(
    events: _Classified, n_classes: int, weights: tuple[Floats | None, Floats | None] = (None, None)
) -> tuple[Array, Array]:
    """Return how many false positives and misses are of each kind and class, (n_kinds, n_classes)."""
    reference, errors, system = events
    sums = []
    for side, kind, weight in zip((system, reference), (errors.false, errors.missed), weights, strict=True):
        some = kind != HIT
        group = kind[some] * n_classes + side.label[some]
        sums.append(
            np.bincount(group, None if weight is None else weight[some], minlength=len(KINDS) * n_classes)
        )
    false, missed = (each.reshape(len(KINDS), n_classes) for each in sums)
    return false, missed
