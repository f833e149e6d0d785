"""What costs most, in plain words: by class where one makes half of the cost of a kind, else in one."""

from __future__ import annotations

from collections.abc import Sequence

from sedeval_soft.apps.diagnosis.results import CostOfClass, Diagnosis, KindOfError
from sedeval_soft.errors import be, visible

_MOST = 3

_LEAST = 0.02
"""The part of all that is lost from which something is worth a sentence."""

_OF_EVENTS = {
    "missed": ("{misses} {are} missed", ""),
    "background": ("", "{alarms} belong{s} to no event"),
    "onset": ("{misses} {are} detected with a wrong onset", ""),
    "offset": ("{misses} {are} detected with a wrong offset", ""),
    "both_boundaries": ("{misses} {are} detected with a wrong onset and a wrong offset", ""),
    "split": ("{misses} {are} split", "{alarms} cover{s} only a piece of an event"),
    "merge": ("{misses} {are} merged with another one", "{alarms} cover{s} several events"),
    "duplicate": ("", "{alarms} repeat{s} an event that is detected already"),
    "confusion": ("{misses} {are} detected as another class", "{alarms} {are} of another class"),
    "confusion_and_boundary": (
        "{misses} {are} detected as another class and with other boundaries",
        "{alarms} {are} of another class and with other boundaries",
    ),
}
"""What is said of misses, and of false alarms."""

_BOTH = {
    "split": "{misses} {are} split into {others}",
    "merge": "{misses} {are} merged into {others}",
}
"""What is said where there are both, in place of one beside the other."""

_OF_SEGMENTS = {
    "boundary": ("{misses} at the ends of events {are} missed", "{alarms} next to events {are} false alarms"),
    "missed": ("{misses} {are} missed", ""),
    "background": ("", "{alarms} {are} false alarms"),
    "confusion": ("{misses} {are} detected as another class", "{alarms} {are} of another class"),
}

_OF_VALUES = {
    "too_low": ("values{of} are too low, by {misses} in all", ""),
    "too_high": ("", "values{of} are too high, by {alarms} in all"),
    "confusion": (
        "values{of} are too low where those of other classes are too high, by {misses} in all",
        "too high where those of others are too low, by {alarms}",
    ),
}

_FORMS = {("event", "hard"): _OF_EVENTS, ("segment", "hard"): _OF_SEGMENTS, ("segment", "soft"): _OF_VALUES}


def sentences(diagnosis: Diagnosis) -> list[str]:
    """Return the costliest things in plain words: of events, else of segments."""
    every = diagnosis.families
    f = diagnosis.f_of(*every[0], "micro")
    if f is None or f >= 1:
        return []
    lost, costs = 1.0 - f, []
    for kind in diagnosis.table(*every[0]):
        classes = [
            each
            for each in diagnosis.classes
            if (each.basis, each.reading, each.kind) == (*every[0], kind.kind)
        ]
        if classes and (classes[0].share or 0.0) >= 0.5 * (kind.share or 0.0):
            costs += [(each.share or 0.0, _of_class(each)) for each in classes]
        elif classes:
            costs.append((kind.share or 0.0, _of_all(kind, classes)))
    costs.sort(key=lambda cost: -cost[0])
    costly = [cost for cost in costs if cost[0] >= _LEAST * lost] or costs[:1]
    return [f"{100 * share / lost:.0f} %: {text}." for share, text in costly[:_MOST]]


def _of_class(cost: CostOfClass) -> str:
    """Return what a kind of error costs a class; of a side without errors nothing is said."""
    return _sentence(cost, f" of {visible(cost.class_name)}", cost.fp, cost.fn)


def _of_all(kind: KindOfError, classes: Sequence[CostOfClass]) -> str:
    """Return what a kind of error costs all classes, and the two of which there are most."""
    # An error of two sides is said once.
    fp = kind.fp if kind.kind in _BOTH or not kind.fn else 0.0
    most = sorted(classes, key=lambda each: -(each.fn if kind.fn else each.fp))[:2]
    parts = [_sentence(kind, "", fp, kind.fn)]
    for each, them in zip(most, (" of them", ""), strict=False):
        parts.append(f"{_number(each.fn if kind.fn else each.fp)}{them} {visible(each.class_name)}")
    return ", ".join(parts)


def _sentence(cost: CostOfClass | KindOfError, of: str, fp: float, fn: float) -> str:
    """Return what there is of a kind of error; of: which class."""
    of_miss, of_alarm = ("event", "detection") if cost.basis == "event" else ("segment", "segment")
    what = of if cost.reading == "hard" else ""
    names = {
        "misses": _counted(fn, of_miss) + what,
        "alarms": _counted(fp, of_alarm) + what,
        "others": _counted(fp, of_alarm),
        "of": of,
    }
    if cost.basis == "event" and cost.kind in _BOTH and fp and fn:
        forms = [(_BOTH[cost.kind], fn)]
    else:
        forms = [*zip(_FORMS[cost.basis, cost.reading][cost.kind], (fn, fp), strict=True)]
    texts = [form.format(**names, are=be(n), s="s" if n == 1 else "") for form, n in forms if form and n]
    return ", and ".join(texts)


def _counted(value: float, noun: str) -> str:
    return f"{_number(value)} {noun}{'' if value == 1 else 's'}"


def _number(value: float) -> str:
    """Return a number of errors, with a decimal where segments or values share few."""
    return f"{value:.0f}" if value >= 100 or value == round(value) else f"{value:.1f}"
