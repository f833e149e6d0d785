"""A submission cannot raise a score by adding rows, files or classes blindly.

Tests add to random submissions: rows of value 0, rows after the end of a recording, files and classes that
nobody asked for, copies, rows without extent, very many short rows, files declared empty. No score of the
registry may improve, with or without durations. `TRADES` lists the exceptions, each with its reason, as does
docs/explanations/differences.md. The tests set `events`: under "auto", one more row could turn a list of
events into time steps.

Rows that are cut in two, and short rows within others, leave the function of time as it is: they may change
only `COUNTED_IN_ROWS`. Rows with NaN or infinite numbers are refused.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tables import columns_of, wide_rows

import sedeval_soft
from sedeval_soft import EvaluationError, Scores, Settings, compare
from sedeval_soft.measures.registry import ScoreName, measure_of

Row = tuple[str, float, float, str, float]
Rows = list[Row]
Added = tuple[Rows, tuple[str, ...]]
"""Rows, and files that are declared without any."""

FILES, LABELS = ("a", "b", "c"), ("car", "dog")

EVERYTHING = Settings(
    only=("all",),
    measures=("all",),
    psds="dcase-psds1",
    psds_median_filters=(1.0,),
    satisfice="precision>=0.5",
    thresholds={"car": 0.25},
)

UNFILTERED = replace(EVERYTHING, psds_median_filters=())
"""No median filters, which join steps: for tables with another step or none, and for rows that are events."""

ROWS = st.lists(
    st.tuples(
        *(st.sampled_from(FILES), st.integers(0, 7), st.integers(1, 3)),
        *(st.sampled_from(LABELS), st.sampled_from([0.125, 0.25, 0.5, 0.625, 0.75, 1.0])),
    ).map(lambda row: (row[0], float(row[1]), float(row[1] + row[2]), *row[3:])),
    min_size=1,
    max_size=10,
)


def table(rows: Rows, declared: tuple[str, ...] = (), *, values: bool = True) -> dict[str, list]:
    columns = columns_of(rows, declared)
    return {name: column for name, column in columns.items() if values or name != "value"}


def ends(rows: Rows) -> dict[str, float]:
    return {name: max((row[2] for row in rows if row[0] == name), default=0.0) for name in FILES}


def after_the_end(value: float, gap: float = 0.0) -> Callable[[Rows, Rows], Added]:
    return lambda reference, _: (
        [(name, end + gap + 1, end + gap + 3, "car", value) for name, end in ends(reference).items()],
        (),
    )


def other_files(value: float) -> Callable[[Rows, Rows], Added]:
    return lambda _, __: ([(f"x{i}", 0.0, 30.0, "dog", value) for i in range(5)], ())


def other_classes(value: float) -> Callable[[Rows, Rows], Added]:
    return lambda reference, _: (
        [(f, 0.0, end, f"x{i}", value) for f, end in ends(reference).items() if end for i in range(5)],
        (),
    )


def late_classes(reference: Rows, _: Rows) -> Added:
    """Add weak rows of another class from the end of the reference on."""
    return [(f, end, end + 3.0, "x", 1e-6) for f, end in ends(reference).items()], ()


def silent_rows(reference: Rows, _: Rows) -> Added:
    return [(f, 0.0, end, c, 0.0) for f, end in ends(reference).items() if end for c in LABELS], ()


def without_extent(_: Rows, __: Rows) -> Added:
    return [(f, t, t, c, 1.0) for f in FILES for c in LABELS for t in (0.0, 2.0, 50.0)], ()


def milliseconds(reference: Rows, _: Rows) -> Added:
    """Add a thousand short events; more would have the same effect."""
    return [(f, end + 1 + k / 500, end + 1 + k / 500 + 0.001, "car", 1.0)
            for f, end in ends(reference).items() for k in range(1000)], ()  # fmt: skip


ADDITIONS: dict[str, Callable[[Rows, Rows], Added]] = {
    "rows of value 0": silent_rows,
    "silence right after the end": after_the_end(0.0),
    "detections long after the end": after_the_end(1.0, gap=100.0),
    "weak detections after the end": after_the_end(0.0625),
    "a thousand events of a millisecond after the end": milliseconds,
    "silent files that nobody asked for": other_files(0.0),
    "files that nobody asked for": other_files(0.75),
    "all files declared empty": lambda _, __: ([], (*FILES, *(f"x{i}" for i in range(50)))),
    "silent classes that nobody asked for": other_classes(0.0),
    "classes that nobody asked for": other_classes(0.75),
    "classes that nobody asked for late": late_classes,
    "every row twice": lambda _, system: (list(system), ()),
    "rows without extent": without_extent,
}


def cut_in_two(rows: Rows, cuts: list[tuple[bool, int]]) -> Rows:
    """Cut each row at some thousandths of its length, or leave it whole; cuts: (whole, thousandths)."""
    cut: Rows = []
    for (name, onset, offset, *rest), (whole, share) in zip(rows, cuts, strict=False):
        middle = onset + (offset - onset) * share / 1000
        edges = [onset, offset] if whole else [onset, middle, offset]
        cut += [(name, *times, *rest) for times in zip(edges, edges[1:], strict=False)]
    return [*cut, *rows[len(cuts) :]]


def short_rows_within(rows: Rows) -> Rows:
    """Return forty rows of 10 ms within each row, with its value."""
    return [(f, on + (off - on) * k / 41, on + (off - on) * k / 41 + 0.01, c, v)
            for f, on, off, c, v in rows for k in range(1, 41)]  # fmt: skip


OF_VALUES = frozenset(name for name in ADDITIONS if "silen" in name or "weak" in name or "value 0" in name)
"""Additions that need values: without values each row is a detection."""

BEST_FOR = frozenset(
    {"f1", "joint_f", "single_f", "best_error_rate", "satisficed_f", "average_precision"}
)  # fmt: skip
"""Measures that the optimal reading optimises, by class or for all classes together."""

NOT_MONOTONE = frozenset(
    {
        *("expected_calibration_error", "maximum_calibration_error", "adaptive_calibration_error"),
        *("brier_reliability", "brier_resolution", "brier_within_bins", "wasserstein", "pearson", "spearman"),
        "entropy_correlation",
    }
)
"""Measures that false alarms may improve anywhere: they compare all values together, not cell by cell."""

TRADES: dict[str, Callable[[ScoreName], bool]] = {
    # More false alarms move the thresholds that are best for F, and other measures may improve there. One of
    # these is F of all classes at the thresholds of single classes.
    "thresholds are best for something else": lambda of: (
        of.reading == "optimal"
        and (of.measure not in BEST_FOR or (of.measure == "f1" and of.average == "micro"))
    ),
    # A false alarm beside a miss makes one substitution of the two, and a longer one may undo that: D becomes
    # S or S becomes D, and S + D + I never falls.
    "misses become substitutions": lambda of: (
        of.measure in {"deletion_rate", "substitution_rate"} and of.average == "micro"
    ),
    # If a clip is silent in the reference, detections after its end raise the system's value of the clip.
    "a clip has one value": lambda of: of.basis == "clip" and of.measure in NOT_MONOTONE,
}
"""Scores that an addition may improve, by reason."""

COUNTED_IN_ROWS = frozenset({"event", "intersection"})
"""Bases that count rows if each row is an event: other rows are then another answer.

Half of a detection may match an event that the whole does not match: it may end with the event, or pass the
DTC that the whole fails.
"""


def scored(
    reference: Rows,
    system: Rows,
    added: Added = ((), ()),
    *,
    values: bool = True,
    chosen: Settings = EVERYTHING,
    durations: dict[str, float] | None = None,
) -> Scores:
    rows, declared = added
    sides = table(reference, FILES, values=values), table([*system, *rows], declared, values=values)
    return sedeval_soft.evaluate(*sides, settings=chosen, durations=durations)


def gains(before: Scores, after: Scores) -> dict[str, tuple[float | None, float | None]]:
    """Return the scores that improve by more than rounding."""
    found = {}
    for name, score in before.scores.items():
        measure = measure_of(name)
        sign = {"higher": 1.0, "lower": -1.0, "none": 0.0}[measure.direction]
        old, new = score.value, after[name]
        # A score does not improve from undefined to the worst value, or from any value to undefined.
        worst = measure.low if sign > 0 else measure.high
        # d' is infinite, its best value, if the area below the curve is 1.
        if not sign or new is None or (old is None and (new == worst or "d_prime" in name)):
            continue
        if old is None or sign * (new - old) > 1e-9:
            found[name] = (old, new)
    return found


def is_trade(name: str) -> bool:
    return any(holds(ScoreName.parse(name)) for holds in TRADES.values())


@given(
    *(ROWS, ROWS, st.booleans(), st.sampled_from(["merge", "rows"]), st.sampled_from(["max", "mean"])),
    *(st.booleans(), st.lists(st.sampled_from([*ADDITIONS]), min_size=2, max_size=2, unique=True)),
)
@example(
    [("a", 0.0, 1.0, "car", 1.0)], [("b", 5.0, 6.0, "dog", 1.0)], True, "merge", "max", False, [*ADDITIONS]
)
@example(
    [("a", 0.0, 1.0, "car", 1.0)], [("b", 5.0, 6.0, "dog", 1.0)], True, "rows", "mean", True, [*ADDITIONS]
)
@example(
    *([("a", 0.0, 1.5, "car", 1.0)], [("a", 0.0, 1.5, "car", 1.0), ("a", 2.0, 2.1, "car", 1.0)]),
    *(True, "merge", "mean", False, ["detections long after the end", "classes that nobody asked for late"]),
)
@example(
    *([("a", 0.0, 1.0, "car", 1.0)] * 2, [("a", 0.0, 1.0, "car", 1.0)]),
    *(False, "rows", "max", False, ["every row twice"]),
)
@settings(max_examples=3, deadline=None)
def test_nothing_added_blindly_raises_a_score(reference, system, values, events, pool, lasting, additions):
    # Recordings last 1 s longer than their reference: `after_the_end` adds rows after that.
    durations = {name: end + 1 for name, end in ends(reference).items()} if lasting else None
    chosen = replace(EVERYTHING if events == "merge" else UNFILTERED, events=events, pool=pool)
    how = {"values": values, "chosen": chosen, "durations": durations}
    before = scored(reference, system, **how)
    for name in additions:
        if not values and name in OF_VALUES:
            continue
        after = scored(reference, system, ADDITIONS[name](reference, system), **how)
        better = {score: pair for score, pair in gains(before, after).items() if not is_trade(score)}
        if name == "every row twice" and events == "rows" and within_one_collar(reference):
            # If two events of a class are within the collars of one detection, its copy finds the second.
            better = {score: pair for score, pair in better.items() if not score.startswith("event.")}
        assert not better, (name, better)


def within_one_collar(rows: Rows) -> bool:
    """Return whether a detection could match either of two events of a class.

    By default collars, or at an IoU of 0.5, as average precision matches: there it may match two that touch.
    """
    for one, other in itertools.combinations(rows, 2):
        touch = max(one[1], other[1]) <= min(one[2], other[2])
        longest = max(one[2] - one[1], other[2] - other[1])
        near = abs(one[1] - other[1]) <= 0.4 and abs(one[2] - other[2]) <= 2 * max(0.2, longest / 2)
        if (one[0], one[3]) == (other[0], other[3]) and (touch or near):
            return True
    return False


def differing(before: Scores, after: Scores) -> dict[str, tuple[float | None, float | None]]:
    """Return the scores that differ by more than rounding."""
    return {
        name: (score.value, after[name])
        for name, score in before.scores.items()
        if (after[name] is None) != (score.value is None)
        or (score.value is not None and abs(after[name] - score.value) > 1e-9 * max(1.0, abs(score.value)))
    }


@given(
    *(ROWS, ROWS, st.lists(st.tuples(st.booleans(), st.integers(1, 999)), min_size=10, max_size=10)),
    *(st.booleans(), st.sampled_from(["rows", "merge"])),
)
@example([("a", 0.0, 1.0, "car", 1.0)], [("a", 0.0, 2.0, "car", 1.0)], [(False, 500)], False, "rows")
@example(
    *([("a", 0.0, 3.0, "car", 1.0)], [("a", 0.0, 3.0, "car", 1.0)] * 2, [(False, 300), (False, 600)]),
    *(True, "merge"),
)
@settings(max_examples=3, deadline=None)
def test_rows_split_in_two_and_short_rows_within_rows_change_only_what_is_counted_in_rows(
    reference, system, cuts, values, events
):
    how = {"values": values, "chosen": replace(UNFILTERED, events=events)}
    before = scored(reference, system, **how)
    for rows in (cut_in_two(system, cuts), [*system, *short_rows_within(system)]):
        others = differing(before, scored(reference, rows, **how))
        if events == "rows":
            others = {k: pair for k, pair in others.items() if k.split(".")[0] not in COUNTED_IN_ROWS}
        assert not others, (values, events, others)


@given(ROWS, st.data())
@settings(max_examples=3, deadline=None)
def test_copies_of_detections_that_pass_change_no_intersection(reference, data):
    """A detection that equals a reference event passes the DTC, as do its copies: none is a false alarm."""
    system = data.draw(st.lists(st.sampled_from(reference), min_size=1, max_size=6, unique=True))
    copies = data.draw(st.lists(st.sampled_from(system), min_size=1, max_size=6))
    chosen, made = replace(UNFILTERED, only=("intersection",)), partial(table, declared=FILES, values=False)
    both = system, [*system, *copies]
    before, after = (sedeval_soft.evaluate(made(reference), made(of), settings=chosen) for of in both)
    assert differing(before, after) == {}
    points, chosen = [{0.25: made(of), 0.5: made(of[:1])} for of in both], replace(chosen, thresholds={})
    before, after = (sedeval_soft.evaluate(made(reference), of, settings=chosen) for of in points)
    # A best threshold may be shown between other levels, if counts do not change between them.
    assert not {name for name in differing(before, after) if "threshold" not in name}


def three_minutes() -> tuple[Rows, Rows]:
    """Return a reference with an event a minute, and a system with three events, two of them right."""
    reference = [("cafe.wav", 60.0 * k, 60.0 * k + 10, "car", 1.0) for k in range(3)]
    return reference, [("cafe.wav", 30.0 * k, 30.0 * k + 10, "car", 0.9 - 0.1 * k) for k in range(3)]


def test_a_row_of_value_0_hours_later_betters_nothing_and_strict_refuses_it():
    rows, detections = three_minutes()
    reference, system = table(rows), table(detections)
    gamed = table([*detections, ("cafe.wav", 9000.0, 9001.0, "car", 0.0)])
    before, after = (sedeval_soft.evaluate(reference, of, settings=EVERYTHING) for of in (system, gamed))
    same = ("intersection.hard.psds", "segment.hard.accuracy.micro", "segment.soft.brier.micro",
            "segment.hard.partial_auc.micro")  # fmt: skip
    assert [before[name] for name in same] == [after[name] for name in same]
    assert gains(before, after) == {} and None not in [after[name] for name in same]
    late = "recordings end 69.2 times as late as in the reference"
    assert any(late in text and "durations" in text for text in after.warnings)
    assert not any(late in text for text in before.warnings)
    lasting = {"cafe.wav": 130.0}
    assert sedeval_soft.evaluate(reference, gamed, durations=lasting)["segment.soft.f1.micro"] is not None
    for durations, why in ((None, "69.2 times as late"), (lasting, "after-end|time-unit")):
        with pytest.raises(EvaluationError, match=why):
            sedeval_soft.evaluate(reference, gamed, strict=True, durations=durations)
    board = compare(reference, {"plain": system, "gamed": gamed}, rank_by="segment.hard.accuracy.micro")
    assert len({entry.value for entry in board.entries}) == 1


@pytest.mark.parametrize("pool", ["max", "mean"])
def test_false_alarms_after_the_end_count_where_false_alarms_do(pool):
    """By hand: the reference lasts 4 s, with second 0 active; the system lasts 8 s, with 0 and 6 active.

    So TP 1, TN 3, FP 1: accuracy 4 / 5, specificity 3 / 4.
    """
    sides = [wide_rows(np.array([values]).T) for values in ([1.0, 0, 0, 0], [1.0, 0, 0, 0, 0, 0, 1, 0])]
    scores = sedeval_soft.evaluate(*sides, classes=sides[0].classes, pool=pool, only="all", measures="all")
    wanted = {
        "n_sys": 2, "fp": 1, "tn": 3, "insertions": 1, "precision": 0.5, "error_rate": 1.0, "accuracy": 0.8,
        "specificity": 0.75, "balanced_accuracy": 0.875, "roc_auc": 1.0, "average_precision": 0.5,
    }  # fmt: skip
    assert {name: scores[f"segment.hard.{name}.micro"] for name in wanted} == wanted
    for name in ("brier", "kl_divergence", "mean_absolute_error", "expected_calibration_error"):
        assert scores[f"segment.soft.{name}.micro"] == pytest.approx(0.0, abs=2e-7)
    assert (scores["event.hard.fp.micro"], scores.length) == (1, 4.0)


@pytest.mark.parametrize("silence", ["no rows", "declared"])
def test_a_recording_that_the_reference_has_nothing_of_lasts_no_time(silence):
    reference, system = three_minutes()
    declared = ("quiet.wav",) if silence == "declared" else ()
    more = [*system, ("quiet.wav", 0.0, 5.0, "car", 0.9)]
    scores, plain = (
        sedeval_soft.evaluate(table(reference, quiet), table(rows), only="all", psds="dcase-psds1")
        for quiet, rows in ((declared, more), ((), system))
    )
    assert scores.length == plain.length == 130.0
    assert scores["segment.hard.fp.micro"] == plain["segment.hard.fp.micro"] + 5
    assert scores["segment.hard.tn.micro"] == plain["segment.hard.tn.micro"]
    assert scores["intersection.hard.psds"] <= plain["intersection.hard.psds"]


@pytest.mark.parametrize(
    ("column", "bad"),
    [
        *(("value", bad) for bad in (np.nan, np.inf, -0.5, 7.0)),
        *((end, bad) for end in ("onset", "offset") for bad in (np.nan, np.inf, -np.inf)),
    ],
)
@pytest.mark.parametrize("values", [True, False])
def test_rows_that_are_none_are_refused_and_not_scored(column, bad, values):
    reference, system = (table(rows, values=values or column == "value") for rows in three_minutes())
    system[column][0] = bad
    with pytest.raises(EvaluationError):
        sedeval_soft.evaluate(reference, system)
