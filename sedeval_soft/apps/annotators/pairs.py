"""How far each two annotators agree: soft F of what they say over time, and of their events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.apps.annotators.crowd import Crowd
from sedeval_soft.apps.annotators.segments import are_simple
from sedeval_soft.apps.annotators.units import Units, says_yes_or_no
from sedeval_soft.arrays import Bools, Floats, Index
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.event import file_class
from sedeval_soft.measures.matching import maximum_matching
from sedeval_soft.measures.pairs import Condition, Overlapping, PairRule, pair_rule
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import distinct
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import Events, active
from sedeval_soft.timeline.ranges import expand

_FAR, _FAR_AT_LEAST = 3.5, 0.1
"""Deviations, and soft F, below the median annotator's from which on agreement is much less."""

_NORMAL = 0.6745
"""The median absolute deviation of a normal variable whose standard deviation is 1."""

_FEW = 16
"""Pairs within a tolerance of onsets, for each event, up to which they are looked at at once."""

_FEWEST_JUDGED = 4
"""Annotators of fewer than whom nobody can say which is out of line."""

_EVENT_F = "event.soft.f1.micro"


class PairAgreement(NamedTuple):
    """Soft F of two annotators over the time that both labelled, counted in segments, and that of events.

    event_f1_micro: soft event-based F, the mean of either being the reference of the other.
    """

    annotators: tuple[str, str]
    f1_micro: float | None
    f1_macro: float | None
    segments: float
    event_f1_micro: float | None = None


def pairs_of(
    crowd: Crowd, events: Sequence[Events], settings: Settings, order: Sequence[int]
) -> tuple[PairAgreement, ...]:
    """Return how far each two annotators agree; events: of each, sorted; order: of the annotators."""
    n_classes, size = len(crowd.classes), sum(map(len, events))
    settings = replace(settings, only=("event.soft",), measures=(), compat=None)
    simple = are_simple(settings) and (settings.onset or settings.match_by == "iou")
    yes_or_no = simple and all(says_yes_or_no(*table.values) for table in crowd.tables)
    # What is yes is above these, and what is no is not.
    if yes_or_no and active(np.array((0.0, 1.0)), settings.threshold, settings.inclusive).tolist() == [
        False,
        True,
    ]:
        longest = 1 + max(int(each.offset.max(initial=0)) for each in events)
        lines = [Line.of(each, n_classes, longest) for each in events]
    else:
        lines = []

    def agreement(pair: tuple[int, int]) -> PairAgreement:
        names = crowd.names[pair[0]], crowd.names[pair[1]]
        event_f = _event_f(crowd, pair, settings, lines)
        return PairAgreement(names, *soft_f(crowd.units, pair, n_classes), event_f)

    return tuple(for_each(agreement, combinations(order, 2), size))


def soft_f(units: Units, pair: tuple[int, int], n_classes: int) -> tuple[float | None, float | None, float]:
    """Return micro and macro soft F of two annotators, and how many segments' time both labelled.

    F = 2 sum min / (sum + sum), which does not depend on who is the reference; None where neither says
    anything. The macro average is over the classes that either of them uses.
    """
    both = np.flatnonzero(units.given[pair[0]] & units.given[pair[1]])
    label, weight = units.label[both], units.weight[both]
    y, p = (units.values[each, both] * weight for each in pair)
    tp, n_a, n_b = (
        np.bincount(label, each, minlength=n_classes).astype(np.float64) for each in (np.minimum(y, p), y, p)
    )
    used, time = n_a + n_b > 0, segments_in(weight, n_classes)
    if not used.any():
        return None, None, time
    macro = float(f_beta(tp[used], n_a[used], n_b[used]).mean())
    return float(f_beta(tp.sum(), n_a.sum(), n_b.sum())), macro, time


def _event_f(crowd: Crowd, pair: tuple[int, int], settings: Settings, lines: Sequence[Line]) -> float | None:
    """Return the soft event-based F of two annotators, the mean of that against either.

    lines: of each annotator, where all say yes or no: how many events pair is all that is needed then.
    """
    files = np.logical_and(*crowd.has_file[[*pair]])
    if lines:
        sides = lines[pair[0]].inside(files), lines[pair[1]].inside(files)
        hits, size = _matched(*sides, pair_rule(settings)), sum(len(each.events) for each in sides)
        if hits is not None:
            return sum(2 * n / size for n in hits) / 2 if size else None
    if not files.any():
        return None
    (one, lengths), (other, _) = (crowd.within(crowd.tables[each], files) for each in pair)
    scores = [evaluate_rows(*both, settings, lengths)[_EVENT_F] for both in ((one, other), (other, one))]
    defined = [score for score in scores if score is not None]
    return sum(defined) / 2 if defined else None


class Line(NamedTuple):
    """Events in order, and where their onsets are on a line on which one class of a file follows another.

    longest: ticks, more than any time has; so many lie between two of these at the least.
    """

    events: Events
    onset: Index
    longest: int

    @classmethod
    def of(cls, events: Events, n_classes: int, longest: int) -> Line:
        """Lay events out that are by file, class and onset."""
        return cls(events, file_class(events, n_classes) * (2 * longest) + events.onset, longest)

    def inside(self, files: Bools) -> Line:
        """Return what there is in some files, (n_files,)."""
        some = files[self.events.file]
        return self if some.all() else Line(self.events.take(some), self.onset[some], self.longest)


def _matched(one: Line, other: Line, rule: PairRule) -> tuple[int, int] | None:
    """Return how many events pair with either side as the reference; None where very many are at one time."""
    first = rule.conditions(one.events, other.events)[0][0]
    before, after = (np.minimum(each, one.longest) for each in (first.before, first.after))
    begin = np.searchsorted(other.onset, one.onset - before)
    end = np.searchsorted(other.onset, one.onset + after, side="right")
    if int((end - begin).sum()) > _FEW * (len(begin) + len(other.onset)):
        return None
    # Onsets that are near one another are so from either side.
    pairs = expand(begin, end)
    sides = (one.events, other.events, *pairs), (other.events, one.events, *pairs[::-1])
    return _pairing(*sides[0], rule), _pairing(*sides[1], rule)


def _pairing(reference: Events, system: Events, left: Index, right: Index, rule: PairRule) -> int:
    """Return how many events pair at the most; left, right: (n,) those whose onsets may be near."""
    conditions, more = rule.conditions(reference, system)
    checks: list[Condition | Overlapping] = [*conditions, *more]
    for condition in checks:
        held = condition.holds(left, right)
        left, right = left[held], right[held]
    # Most events have one another only.
    alone = (np.bincount(left)[left] == 1) & (np.bincount(right)[right] == 1)
    ends = [each[~alone] for each in (left, right)]
    names = [distinct(each) for each in ends]
    numbers = [np.searchsorted(name, each) for name, each in zip(names, ends, strict=True)]
    partner = maximum_matching(*numbers, *map(len, names))
    return int(alone.sum()) + int((partner >= 0).sum())


def outliers(annotators: Sequence[str], pairs: Sequence[PairAgreement]) -> list[str]:
    """Return a sentence for each of four annotators or more who agrees much less than the others.

    That is whose mean soft F with the others lies below the median annotator's by more than 3.5 standard
    deviations, estimated by the median absolute deviation (Iglewicz & Hoaglin 1993), and by 0.1 at least.
    """
    own = {name: [each.f1_micro for each in pairs if name in each.annotators] for name in annotators}
    means = {
        name: float(np.mean(sorted(f for f in each if f is not None) or [np.nan]))
        for name, each in own.items()
    }
    means = {name: mean for name, mean in means.items() if not np.isnan(mean)}
    if len(means) < _FEWEST_JUDGED:
        return []
    values = np.array([*means.values()])
    median = float(np.median(values))
    deviation = float(np.median(np.abs(values - median))) / _NORMAL
    least = max(_FAR * deviation, _FAR_AT_LEAST)
    return [
        f"{name} agrees much less with the others than they do: its mean soft F with them is {mean:.2f}, "
        f"that of the median annotator {median:.2f}; expected labels of the same sounds"
        for name, mean in means.items()
        if median - mean > least
    ]


def segments_in(weight: Floats, n_classes: int) -> float:
    """Return how many segments' time units of all classes are; a whole number of a grid."""
    segments = float(weight.sum()) / max(n_classes, 1)
    return int(segments) if segments.is_integer() else segments
