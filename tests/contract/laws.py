"""Laws that every score must keep, as checks that take an evaluation function.

Tests also run the checks on broken evaluation functions: each check must be able to fail.
"""

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from tables import FILES, LABELS, columns_of

from sedeval_soft import Scores, Settings, evaluate
from sedeval_soft.measures.registry import ScoreName, group_of, measure_of

Table = dict[str, list[Any]]
Evaluate = Callable[[Table, Table, Settings], Scores]

ALL = Settings(
    classes=LABELS,
    only=("all",),
    psds="dcase-psds2",
    measures=("all",),
    satisfice="precision>=0.5",
    means=("harmonic", "geometric"),
)


def scored(reference: Table, system: Table, settings: Settings) -> Scores:
    """Evaluate two tables, as the library does."""
    return evaluate(reference, system, settings=settings)


def rows_of(table: Table) -> list[tuple[Any, ...]]:
    """Return the rows of a table."""
    return list(zip(*table.values(), strict=True))


def random_table(
    seed: int, *, binary: bool = False, n: int = 40, declared: tuple[str, ...] = FILES, fine: bool = False
) -> Table:
    """Build rows on whole seconds, with values from a coarse grid so that ties occur.

    fine: times are a tenth, so that collars reach many events; no two values are equal, and their sums round.
    """
    rng, scale = np.random.default_rng(seed), 10 if fine else 1
    rows: list[tuple[Any, ...]] = []
    for _ in range(n):
        onset = int(rng.integers(0, 20))
        value = 1.0 if binary else float(rng.random()) if fine else float(rng.integers(0, 9)) / 8
        file, length, label = str(rng.choice(FILES)), int(rng.integers(1, 4)), str(rng.choice(LABELS))
        rows.append((file, onset / scale, (onset + length) / scale, label, value))
    return columns_of(rows, declared)


BY_OVERLAP = Settings(
    classes=LABELS, only=("event",), measures=("all",), satisfice="error_rate<=0.5", match_by="iou", iou=0.3
)
FORMS = (
    (False, ALL), (True, ALL), (True, replace(ALL, events="rows")), (True, BY_OVERLAP),
    (False, replace(BY_OVERLAP, events="rows")),
)  # fmt: skip
"""Coarse and fine tables, each way to make events of them, and to match them."""


def same(a: float | None, b: float | None) -> bool:
    """Return whether two values are equal to rounding, or both undefined."""
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)


def shuffled(table: Table, seed: int) -> Table:
    """Return the rows in another order, and so files and classes in another order of appearance."""
    rows = rows_of(table)
    return columns_of([rows[i] for i in np.random.default_rng(seed).permutation(len(rows))])


def order_does_not_matter(evaluate: Evaluate, seed: int) -> None:
    """Rows, files and classes in any order give the same numbers, to the last bit."""
    for fine, settings in FORMS:
        sides = random_table(seed, fine=fine), random_table(seed + 1, fine=fine)
        mixed = evaluate(shuffled(sides[0], seed), shuffled(sides[1], seed + 7), settings)
        assert dict(evaluate(*sides, settings)) == dict(mixed)


def labels_can_be_renamed(evaluate: Evaluate, seed: int) -> None:
    """Renamed classes, in another alphabetical order, keep their scores; no average changes."""
    names = dict(zip(LABELS, ("zebra", "m[0].x", "ant"), strict=True))
    sides = random_table(seed), random_table(seed + 1)
    renamed = [side | {"event_label": [names.get(of) for of in side["event_label"]]} for side in sides]
    other = evaluate(*renamed, replace(ALL, classes=tuple(sorted(names.values()))))
    for name, value in evaluate(*sides, ALL).items():
        parsed = ScoreName.parse(name)
        if parsed.class_name is not None:
            parsed = parsed._replace(class_name=names[parsed.class_name])
        assert same(value, other[str(parsed)]), name


CLIPPED = ("kl_divergence", "kl_divergence_reverse", "cross_entropy", "soft_f1_loss")
"""Measures that clip values near 0 and 1, or add to a denominator: by 1e-7 for each class of a segment."""


def copying_is_best(name: str, *, binary: bool) -> bool:
    """Return whether a system that copies the reference must get the best value of a score."""
    parsed = ScoreName.parse(name)
    if parsed.measure == "coverage":
        return False  # it is best if every segment has one active class, whatever the system
    if binary:
        return True
    if parsed.reading == "optimal" or parsed.measure in {"cross_entropy", "soft_f1_loss"}:
        return False
    group = group_of(name)
    if parsed.reading == "hard":
        # Soft labels are poor probabilities of their own binarised labels.
        return group != "calibration" and parsed.measure != "brier"
    # An uncertain cell is both positive and negative: no order has all positives above all negatives.
    return group != "curves" and (parsed.basis != "ranking" or parsed.measure == "hamming_loss")


def perfect_is_best(evaluate: Evaluate, seed: int) -> None:
    """A copy of a binary reference gets the best value of each measure that is defined.

    So does a copy of a soft reference, if `copying_is_best`.
    """
    for binary, (fine, settings) in product((True, False), FORMS):
        table = random_table(seed, binary=binary, fine=fine)
        compared = set()
        for name, value in evaluate(table, table, settings).items():
            measure = measure_of(name)
            if measure.best is None or value is None or not copying_is_best(name, binary=binary):
                continue
            compared.add(measure.name)
            assert abs(value - measure.best) <= (1e-6 if measure.name in CLIPPED else 0.0), (name, value)
        assert len(compared) > (30 if "segment" in settings.only else 10)


def empty_system_finds_nothing(evaluate: Evaluate, seed: int) -> None:
    """Recall and F are 0, precision is undefined, the error rate is 1: every event is a deletion."""
    made = replace(ALL, only=("segment.hard", "segment.soft", "event.hard"), satisfice=None)
    wanted = {"recall": 0.0, "f1": 0.0, "precision": None, "error_rate": 1.0, "insertion_rate": 0.0,
              "deletion_rate": 1.0}  # fmt: skip
    for name, value in evaluate(random_table(seed), random_table(seed, n=0), made).items():
        measure = ScoreName.parse(name).measure
        if measure in wanted and name.endswith(".micro"):
            assert same(value, wanted[measure]), name


def empty_reference_is_undefined(evaluate: Evaluate, seed: int) -> None:
    """Recall and error rate are undefined; precision and F are 0: every detection is a false alarm."""
    wanted = {"recall": None, "error_rate": None, "precision": 0.0, "f1": 0.0}
    for name, value in evaluate(random_table(seed, n=0), random_table(seed), ALL).items():
        measure = ScoreName.parse(name).measure
        if measure in wanted and name.endswith(".micro") and ".optimal." not in name:
            assert same(value, wanted[measure]), name
        if name.endswith(".macro"):
            assert value is None, name


def values_are_in_range(evaluate: Evaluate, seed: int) -> None:
    """Every value is None or a finite number within the range of its measure."""
    for n in (0, 1, 40):
        for name, value in evaluate(random_table(seed), random_table(seed + 1, n=n), ALL).items():
            low, high = measure_of(name).low, measure_of(name).high
            if value is not None:
                assert math.isfinite(value), name
                assert (low is None or value >= low) and (high is None or value <= high), (name, value)


def soft_equals_hard_on_binary_labels(evaluate: Evaluate, seed: int) -> None:
    """With labels of 0 and 1 the soft reading is the hard one, exactly."""
    for settings in (ALL, replace(BY_OVERLAP, events="rows")):
        scores = evaluate(random_table(seed, binary=True), random_table(seed + 1, binary=True), settings)
        hard = {name: name.replace(".soft.", ".hard.") for name in scores if ".soft." in name}
        pairs = {name: (scores[name], scores[hard[name]]) for name in hard if hard[name] in scores}
        assert len(pairs) > (50 if settings is ALL else 20)
        assert {name: pair for name, pair in pairs.items() if pair[0] != pair[1]} == {}


def swapping_sides_swaps_precision_and_recall(evaluate: Evaluate, seed: int) -> None:
    """TP of segments stays, precision becomes recall, and insertions become deletions."""
    sides = random_table(seed), random_table(seed + 1)
    made = replace(ALL, only=("segment.hard", "segment.soft"), satisfice=None)
    there, back = (evaluate(*order, made) for order in (sides, sides[::-1]))
    for reading in ("hard", "soft"):
        for a, b in (("tp", "tp"), ("precision", "recall"), ("deletions", "insertions"), ("f1", "f1")):
            assert same(there[f"segment.{reading}.{a}.micro"], back[f"segment.{reading}.{b}.micro"])


LAWS = (
    order_does_not_matter,
    labels_can_be_renamed,
    perfect_is_best,
    empty_system_finds_nothing,
    empty_reference_is_undefined,
    values_are_in_range,
    soft_equals_hard_on_binary_labels,
    swapping_sides_swaps_precision_and_recall,
)


def mean_in_fractions(kind: str, values: Iterable[float], weights: Iterable[float]) -> float | None:
    """Return a mean without NaN values, in fractions but for the geometric mean; None if no value is left."""
    known = [
        (Fraction(x), Fraction(w)) for x, w in zip(values, weights, strict=True) if w and not math.isnan(x)
    ]
    if not known:
        return None
    total = sum(w for _, w in known)
    if kind == "mean":
        return float(sum(x * w for x, w in known) / total)
    if any(x == 0 for x, _ in known):
        return 0.0
    if kind == "harmonic":
        return float(total / sum(w / x for x, w in known))
    return statistics.geometric_mean([float(x) for x, w in known for _ in range(int(w))])


def cut_by_hand(table: dict[str, list], regions: dict[str, list[tuple[int, int]]]) -> dict[str, list]:
    """Return a table in which each region is a recording of its own."""
    parts = [(file, k, *region) for file, of in regions.items() for k, region in enumerate(of)]
    rows = [
        (f"{file} {k}", max(onset, begin) - begin, min(offset, end) - begin, label, value)
        for name, onset, offset, label, value in rows_of(table)
        for file, k, begin, end in parts
        if name == file and onset is not None and onset < end and offset > begin
    ]
    return columns_of(rows, [f"{file} {k}" for file, k, *_ in parts])
