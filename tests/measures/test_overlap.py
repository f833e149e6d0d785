"""Events matched by their intersection over union: against fractions and all assignments, one by one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from tables import long_rows, wide_rows

from sedeval_soft import Scores, Settings, SettingsError, evaluate
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.measures.pairs import intersection_over_union

FILES, LABELS = ("a", "b"), ("car", "dog")
LEVELS = 4
CUTS = [Fraction(2 * k + 1, 2 * LEVELS) for k in range(LEVELS)]
Row = tuple[str, int, int, str, int]
"""File, onset and offset in tenths of a second, label, level of `LEVELS`."""


def overlap(a: Row, b: Row) -> Fraction:
    """The ticks that both have over those that either has; 1 of two that are the same and have none."""
    ours, theirs = set(range(*a[1:3])), set(range(*b[1:3]))
    if not ours | theirs:
        return Fraction(int(a[1] == b[1]))
    return Fraction(len(ours & theirs), len(ours | theirs))


def events_at(rows: list[Row], cuts: dict[str, Fraction], merge: bool) -> list[Row]:
    """The events above a cut of each class: rows, or tenths of a second in a row that any covers."""
    loud = [row for row in rows if Fraction(row[4], LEVELS) > cuts[row[3]]]
    if not merge:
        return loud
    events = []
    for file, label in itertools.product(FILES, LABELS):
        own = [row for row in loud if (row[0], row[3]) == (file, label)]
        ticks = {tick for row in own for tick in range(*row[1:3])}
        for onset in sorted(tick for tick in ticks if tick - 1 not in ticks):
            end = next(tick for tick in itertools.count(onset) if tick not in ticks)
            events.append((file, onset, end, label, LEVELS))
    return events


def most_pairs(ours: list[Row], theirs: list[Row], least: Fraction) -> int:
    """The most pairs of two lists that overlap enough, all assignments tried."""
    fits = [tuple(j for j, b in enumerate(theirs) if overlap(a, b) >= least) for a in ours]

    @cache
    def best(k: int, taken: frozenset[int]) -> int:
        if k == len(fits):
            return 0
        without = best(k + 1, taken)
        return max([without, *(1 + best(k + 1, taken | {j}) for j in fits[k] if j not in taken)])

    return best(0, frozenset())


def counts_at(reference: list[Row], system: list[Row], least: Fraction) -> dict[str, int]:
    """The counts of events by the names of scores."""
    counts = dict.fromkeys(["tp.micro", "n_ref.micro", "n_sys.micro", "matched"], 0)
    for label in LABELS:
        sides = [[[e for e in side if (e[0], e[3]) == (file, label)] for side in (reference, system)]
                 for file in FILES]  # fmt: skip
        found = {
            "tp": sum(most_pairs(*side, least) for side in sides),
            "n_ref": sum(len(side[0]) for side in sides),
            "n_sys": sum(len(side[1]) for side in sides),
        }
        for name, count in found.items():
            counts[f"{name}[{label}]"] = count
            counts[f"{name}.micro"] += count
    matched = sum(most_pairs(*([e for e in side if e[0] == file] for side in (reference, system)), least)
                  for file in FILES)  # fmt: skip
    del counts["matched"]
    return counts | {
        "substitutions.micro": matched - counts["tp.micro"],
        "deletions.micro": counts["n_ref.micro"] - matched,
        "insertions.micro": counts["n_sys.micro"] - matched,
    }


def random_rows(rng: np.random.Generator) -> list[Row]:
    rows = []
    for _ in range(int(rng.integers(0, 13))):
        onset, length, level = (int(rng.integers(0, n)) for n in (14, 9, LEVELS + 1))
        rows.append((str(rng.choice(FILES)), onset, onset + length, str(rng.choice(LABELS)), level))
    return rows


def table(rows: list[Row]):
    named = [(file, on / 10, off / 10, label, level / LEVELS) for file, on, off, label, level in rows]
    return long_rows(named, files=FILES)


def f1(counts: dict[str, int], label: str) -> Fraction | None:
    n_ref, both = counts[f"n_ref[{label}]"], counts[f"n_ref[{label}]"] + counts[f"n_sys[{label}]"]
    return Fraction(2 * counts[f"tp[{label}]"], both) if n_ref else None


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_every_reading_against_all_assignments(seed, merge):
    """Ties, rows that overlap, touch, or have no extent."""
    rng = np.random.default_rng(seed)
    least = (Fraction(1, 10), Fraction(3, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1))[seed % 5]
    sides = random_rows(rng), random_rows(rng)
    own = {"car": CUTS[int(rng.integers(LEVELS))], "dog": CUTS[int(rng.integers(LEVELS))]}
    settings = Settings(
        classes=LABELS, match_by="iou", iou=float(least), events="merge" if merge else "rows",
        only=("event",), thresholds={name: float(cut) for name, cut in own.items()}, threshold=0.375,
        reference_threshold=0.375,
    )  # fmt: skip
    scores = evaluate_rows(*map(table, sides), settings)

    def counted(ours: dict[str, Fraction], theirs: dict[str, Fraction]) -> dict[str, int]:
        cut = [events_at(side, at, merge) for side, at in zip(sides, (ours, theirs), strict=True)]
        return counts_at(*cut, least)

    def alike(at: Fraction) -> dict[str, Fraction]:
        return dict.fromkeys(LABELS, at)

    chosen = alike(CUTS[1])
    for reading, wanted in (
        ("hard", counted(chosen, chosen)),
        ("tuned", counted(chosen, own)),
    ):
        assert {name: scores[f"event.{reading}.{name}"] for name in wanted} == wanted
    levels = [counted(alike(cut), alike(cut)) for cut in CUTS]
    for name in levels[0]:
        wanted = Fraction(sum(each[name] for each in levels), LEVELS)
        assert scores[f"event.soft.{name}"] == pytest.approx(float(wanted), abs=1e-12)
    swept = [counted(chosen, alike(cut)) for cut in (*CUTS, Fraction(2))]
    for label in LABELS:
        each = [f1(counts, label) for counts in swept]
        best = None if None in each else float(max(each))
        assert scores[f"event.optimal.f1[{label}]"] == (
            best if best is None else pytest.approx(best, abs=1e-12)
        )


def hits(reference, system, iou: float, **more) -> Scores:
    return evaluate(long_rows(reference), long_rows(system), match_by="iou", iou=iou, only="event", **more)


def test_an_overlap_that_is_a_decimal_is_met_and_no_more():
    """Of two events that have a tenths of b in common, for all a and b: at a/b, not at the float above."""
    for whole in range(1, 60):
        part = np.arange(1, whole + 1)
        ends = whole * 100_000 + 700_000
        overlaps = intersection_over_union(
            np.full(whole, 700_000), np.full(whole, ends), ends - part * 100_000, np.full(whole, ends)
        )
        assert overlaps.tolist() == [k / whole for k in part.tolist()]
        assert all(got == float(f"{k / whole!r}") for got, k in zip(overlaps, part.tolist(), strict=True))
    for onset, least in ((0.7, 0.3), (0.4, 0.6), (0.9, 0.1), (0.3, 0.7)):
        for shift in (0.0, 0.1, 1234.5):
            sides = [("f", shift, 1 + shift, "a")], [("f", onset + shift, 1 + shift, "a")]
            assert hits(*sides, least)["event.hard.tp.micro"] == 1
            assert hits(*sides, math.nextafter(least, 1))["event.hard.tp.micro"] == 0


def test_average_precision_matches_by_the_same_rule():
    """At a tie both find the event, and just above neither does."""
    sides = [("f", 0.0, 1.0, "a", 1.0)], [("f", 0.7, 1.0, "a", 0.9)]
    for iou, found in ((0.3, 1), (math.nextafter(0.3, 1), 0)):
        scores = hits(*sides, iou, measures="curves")
        assert scores["event.hard.average_precision[a]"] == scores["event.hard.recall[a]"] == found


def test_deviations_are_those_of_matched_events_however_far_off():
    scores = hits([("f", 0, 10, "a")], [("f", 3, 11, "a")], 0.5)
    assert scores["event.hard.onset_bias.micro"] == 3
    assert scores["event.hard.offset_bias.micro"] == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"onset": False}, "match_by=iou knows no collars; expected onset as by default"),
        ({"offset": False, "onset_collar": 0.1}, "expected onset_collar, offset as by default"),
        ({"offset_collar_rate": 0.2}, "expected offset_collar_rate as by default"),
        ({"compat": "sed_eval"}, "compat=sed_eval knows collars only; expected match_by=collar"),
        ({"iou": 0}, "iou must be above 0, at most 1, not 0"),
        ({"match_by": "overlap"}, "match_by must be one of collar, iou, not 'overlap'"),
    ],
)
def test_what_contradicts_it_is_refused(more, said):
    with pytest.raises(SettingsError) as refused:
        Settings(**{"match_by": "iou"} | more)
    assert str(refused.value).startswith(said) or said in str(refused.value)


@pytest.mark.parametrize("iou", [1e-9, 0.9])
@pytest.mark.parametrize("only", ["event.hard", "event.optimal"])
def test_hundreds_of_long_events_at_one_time(only, iou):
    """All of 300 overlap all others: the exact overlap of each pair is looked at."""
    rng = np.random.default_rng(5)
    onset, offset = np.round(rng.uniform(0, 1, 300), 6), np.round(rng.uniform(9, 10, 300), 6)
    rows = [("f", on, off, "a", 0.9) for on, off in zip(onset.tolist(), offset.tolist(), strict=True)]
    scores = evaluate(
        long_rows(rows), long_rows(rows[::-1]), match_by="iou", iou=iou, only=only, events="rows"
    )
    assert scores[f"{only}.f1.micro"] == 1


def test_smooth_values_of_both_sides_are_matched_at_all_levels():
    """Thousands of lifetimes nested in one another on either side: each shares levels with few."""
    time = np.arange(8000)
    sides = [wide_rows(np.exp(-(((time - middle) / 1500) ** 2))[:, None], 0.01) for middle in (4000, 4100)]
    scores = evaluate(*sides, match_by="iou", only="event.soft")
    assert scores["event.soft.f1.micro"] > 0.99
