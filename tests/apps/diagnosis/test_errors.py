"""Errors of events and segments, and their costs: prices by quadrature, kinds by brute force.

Factors of recall and precision: bins contain all events, and agree with a slow count.
"""

import itertools
import math
import re
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import columns_of

from sedeval_soft import Settings, diagnose, evaluate
from sedeval_soft.apps.diagnosis.events import HIT, KINDS, classify_errors
from sedeval_soft.apps.diagnosis.prices import prices
from sedeval_soft.apps.diagnosis.segments import (
    SEGMENT_KINDS,
    SOFT_KINDS,
    segment_errors,
    soft_errors,
)
from sedeval_soft.apps.diagnosis.sensitivity import classes_at_once
from sedeval_soft.measures.matching import Collars, Overlap, pair_rule
from sedeval_soft.timeline import Events

LABELS = ("car", "dog", "talk")
SEEDS = [range(80), pytest.param(range(80, 2_000), marks=pytest.mark.slow)]
"""Seeds of random cases: some, and many that are slow."""


# Prices.


def by_quadrature(tp, fp, fn, beta):
    """Return the costs of an FP and an FN, by Gauss and Legendre, over the logarithm of the denominator."""
    b = beta * beta
    d0 = (1 + b) * tp + b * fn + fp
    x = (fn - fp) / d0
    growth = np.log1p(x) if abs(x) < 0.5 else np.log((1 + b) * (tp + fn) / d0)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    u = (nodes + 1) / 2
    d, pace = d0 * np.exp(u * growth), np.expm1(u * growth) / x if x else u
    weights = weights / 2 * (d / d0 * growth / x if x else 1)
    mended = tp + fn * pace
    return [(1 + b) * float(weights @ (each / d**2)) for each in (mended, d - mended)]


COUNTS = st.integers(0, 40) | st.floats(0.01, 40) | st.sampled_from([1e-4, 1e4, 1e6, 0])


@given(COUNTS, COUNTS, COUNTS, st.sampled_from([0.5, 1.0, 2.0]))
def test_prices_are_the_integral_over_mending_at_one_pace(tp, fp, fn, beta):
    found = prices(*map(np.array, (tp, fp, fn)), beta)
    if tp + fn == 0:
        assert np.isnan(found).all()
        return
    f = (1 + beta**2) * tp / (beta**2 * (tp + fn) + tp + fp)
    assert np.allclose(found, by_quadrature(tp, fp, fn, beta), rtol=1e-11, atol=0)
    assert abs(fp * found[0] + fn * found[1] - (1 - f)) < 1e-12


@given(st.integers(1, 10**4), st.integers(0, 10**4), st.floats(-0.2, 0.2), st.sampled_from([0.5, 1.0, 2.0]))
def test_prices_of_nearly_as_many_misses_as_false_alarms_and_of_the_least_counts(fn, tp, more, beta):
    """Near x = 0, a series replaces a difference that would lose its digits; cases include the transition."""
    for fp in (fn, fn * (1 + more), fn + 1e-3):
        found = prices(*map(np.array, (tp, fp, fn)), beta)
        assert np.allclose(found, by_quadrature(tp, fp, fn, beta), rtol=1e-12, atol=0)
    with np.errstate(all="raise"):
        least = prices(*(np.array(2.0**-1000 * each) for each in (3, 1, 2)))
    assert [2.0**-1000 * each for each in least] == [*prices(*map(np.array, (3.0, 1.0, 2.0)))]


# Shares and gains of random tables.


def side_of(rows):
    """Return rows of (file, class, onset, offset, ...) as events."""
    file, label, onset, offset = (np.array([row[k] for row in rows], dtype=np.int64) for k in range(4))
    return Events(file.astype(np.int32), label.astype(np.int32), onset, offset, onset * 1e-6, offset * 1e-6)


def table_of(rows, files=("a", "b")):
    """Return rows of (file, class, onset, offset, value) as a table that declares all files."""
    named = [(files[f], onset / 1e6, offset / 1e6, LABELS[c], value) for f, c, onset, offset, value in rows]
    return columns_of(named, files)


def random_side(
    rng, *, fewest=0, most=6, latest=14, longest=8, n_files=1, n_classes=3, jitter=0, unit=1000, least=0
):
    """Return rows in ticks on a coarse grid, or near it; with a least length of 0, some have no extent."""
    n = int(rng.integers(fewest, most + 1))
    onset = 1 + rng.integers(0, latest, n)
    offset = onset + rng.integers(least, longest, n)
    times = unit * np.array((onset, offset)) + rng.integers(-jitter, jitter + 1, (2, n))
    codes = rng.integers(0, n_files, n), rng.integers(0, n_classes, n)
    values = rng.choice([0.2, 0.4, 0.6, 0.8, 1.0], n).tolist()
    return [*zip(*(each.tolist() for each in (*codes, *np.sort(times, axis=0))), values, strict=True)]


def sides_of(seed, **shape):
    """Return two sides of two files, with many ties or with times off the grid."""
    # In ticks: the step of the grid, and how far times are off it.
    rng, (unit, jitter) = (
        np.random.default_rng(seed),
        ((500_000, 250_001), (500_000, 0), (100_000, 0))[seed % 3],
    )
    shape = {"most": 12, "latest": 10, "least": 1, "n_files": 2, "unit": unit, "jitter": jitter} | shape
    return [random_side(rng, **shape) for _ in range(2)]


def scored(reference, system, **values):
    """Return scores, and numbers of a diagnosis by names such as `event.hard.split_share.macro`."""
    fixed = {"classes": LABELS, "only": ("event", "segment"), "ci": None, "suggestions": False}
    diagnosis = diagnose(reference, system, **fixed | values)
    scores = dict(diagnosis.scores)
    for each in diagnosis.errors:
        stem = f"{each.basis}.{each.reading}.{each.kind}"
        scores |= {f"{stem}_{what}.{each.average}": getattr(each, what) for what in ("share", "gain")}
        scores |= {f"{stem}_{what}.micro": getattr(each, what) for what in ("fp", "fn")}
    return scores


FAMILIES = {"event.hard": KINDS, "segment.hard": SEGMENT_KINDS, "segment.soft": SOFT_KINDS}
IN_PARTS = {"filename": ["a", "a", "b"], "onset": [0.0, 3.2, 1.0], "offset": [2.5, 6.0, 4.0]}
SETTINGS = (
    *[{"beta": beta, "events": events} for beta in (1.0, 2.0, 0.5) for events in ("auto", "rows")],
    {"pool": "mean", "segment_length": 0.7}, {"matching": "greedy", "events": "rows"}, {"offset": False},
    {"inclusive": True, "threshold": 0.6}, {"ignore_class": ("talk",), "classes": ("car", "dog")},
    {"durations": {"a": 3.3, "b": 2.1}}, {"regions": IN_PARTS}, {"regions": IN_PARTS, "ignore_class": ("x",)},
    {"min_gap": 0.3, "min_duration": 0.3}, {"onset": False}, {"offset_collar_rate": 1.0, "onset_collar": 5.0},
    {"reference_threshold": 0.1}, {"match_by": "iou"}, {"match_by": "iou", "iou": 0.2, "matching": "greedy"},
)  # fmt: skip


@pytest.mark.parametrize("case", range(len(SETTINGS)))
def test_shares_sum_to_what_is_lost(case):
    chosen = {"segment_length": 0.5} | SETTINGS[case]
    for seed in range(case, case + 4):
        sides = [table_of(rows) for rows in sides_of(seed)]
        if "x" in chosen.get("ignore_class", ()):
            # The evaluation leaves out one class of the reference.
            sides[0]["event_label"] = [v and v.replace("talk", "x") for v in sides[0]["event_label"]]
        scores = scored(*sides, **chosen)
        for (prefix, kinds), average in itertools.product(FAMILIES.items(), ("micro", "macro")):
            shares, gains, fp, fn = (
                [scores[f"{prefix}.{kind}_{what}"] for kind in kinds]
                for what in (f"share.{average}", f"gain.{average}", "fp.micro", "fn.micro")
            )
            n_ref, n_sys, tp = (scores[f"{prefix}.{name}.micro"] for name in ("n_ref", "n_sys", "tp"))
            if n_ref == 0:
                assert {*shares, *gains} == {None}
                continue
            f = scores[f"{prefix}.{'f1' if chosen.get('beta', 1) == 1 else 'fbeta'}.{average}"]
            assert math.fsum(shares) == pytest.approx(1 - f, abs=1e-12), (prefix, average)
            assert min(*shares, *gains) >= 0
            counts = math.fsum(fp), math.fsum(fn)
            assert "matching" in chosen or counts == pytest.approx((n_sys - tp, n_ref - tp), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_gains_are_those_of_mended_tables(seed):
    """The tables lose the false alarms of a kind, and gain copies of the events that it missed."""
    rows = [[(*row[:4], 1.0) for row in side] for side in sides_of(seed, fewest=30, most=30)]
    how = {
        "events": "rows", "only": "event.hard", "beta": (1.0, 2.0, 0.5)[seed % 3], "classes": LABELS,
        "match_by": "iou" if seed % 4 == 3 else "collar",
    }  # fmt: skip
    errors = classify_errors(*map(side_of, rows), len(LABELS), pair_rule(Settings.of(**how)))
    missed, false = (np.array([*KINDS, "hit"])[kinds] for kinds in (errors.missed, errors.false))
    reference, scores = table_of(rows[0]), scored(*map(table_of, rows), **how)
    assert len({*missed} | {*false}) > 5
    for fixed, average in itertools.product((*([kind] for kind in KINDS), KINDS), ("micro", "macro")):
        kept = [row for row, kind in zip(rows[1], false, strict=True) if kind not in fixed]
        added = [row for row, kind in zip(rows[0], missed, strict=True) if kind in fixed]
        f = f"event.hard.{'f1' if how['beta'] == 1 else 'fbeta'}.{average}"
        gained = evaluate(reference, table_of([*kept, *added]), **how)[f] - scores[f]
        lost = 1 - scores[f] if len(fixed) > 1 else scores[f"event.hard.{fixed[0]}_gain.{average}"]
        assert gained == pytest.approx(lost, abs=1e-12), (fixed, average)


# Kinds, by brute force.


RULES = (
    Collars(1000, 1000, 0.0), Collars(2000, 2000, 0.5), Collars(0, 1000, 0.2), Collars(3000, 1000, 0.2),
    Collars(2000, None, 0.0), Collars(None, 2000, 0.5), Collars(0, 0, 0.0), Overlap(0.5), Overlap(0.3),
)  # fmt: skip


def right(r, s, rule):
    """Return whether the onset of a pair is right, and whether the offset is."""
    if isinstance(rule, Overlap):
        # An end is wrong if correcting it alone is enough. If either end is, the one further off is wrong,
        # and the onset on a tie.
        wrong_onset, wrong_offset = (overlaps(r, mended, rule) for mended in (
            (*s[:2], r[2], s[3]), (*s[:2], s[2], r[3]),
        ))  # fmt: skip
        if wrong_onset and wrong_offset:
            wrong_onset = abs(r[2] - s[2]) >= abs(r[3] - s[3])
            wrong_offset = not wrong_onset
        return wrong_offset, wrong_onset
    onset = rule.onset is None or abs(r[2] - s[2]) <= rule.onset
    length = round(rule.rate * (r[3] - r[2]))
    return onset, rule.offset is None or abs(r[3] - s[3]) <= max(length, rule.offset)


def compatible(r, s, rule):
    """Return whether a pair may match, whatever its classes."""
    return overlaps(r, s, rule) if isinstance(rule, Overlap) else all(right(r, s, rule))


def overlaps(r, s, rule):
    """Return whether a pair overlaps enough; two events without extent do if their times are equal."""
    return r[2:4] == s[2:4] or share(r, s) >= rule.least


def common(r, s):
    """Return how long both last together; 0 if one of them has no extent."""
    lasts = r[3] > r[2] and s[3] > s[2]
    return max(0, min(r[3], s[3]) - max(r[2], s[2])) if lasts else 0


def share(r, s):
    return common(r, s) / max((r[3] - r[2]) + (s[3] - s[2]) - common(r, s), 1)


def nearest(edges, ref, sys):
    """Return the matching of most pairs with the least sum of distances, after trying every one."""
    of, found = {}, []
    for i, j in edges:
        of.setdefault(i, [None]).append(j)
    for chosen in itertools.product(*of.values()):
        pairs = [(i, j) for i, j in zip(of, chosen, strict=True) if j is not None]
        if len({j for _, j in pairs}) == len(pairs):
            away = sum(abs(ref[i][2] - sys[j][2]) + abs(ref[i][3] - sys[j][3]) for i, j in pairs)
            found.append(((-len(pairs), away), pairs))
    return min(found)[1]


def slow_kinds(ref, sys, rule):
    """Count the errors (kind, "fp" or "fn") of a file; ref, sys: rows in the order of time."""
    n, m, count = {*range(len(ref))}, {*range(len(sys))}, Counter()
    every = [*itertools.product(n, m)]
    same = {(i, j) for i, j in every if ref[i][1] == sys[j][1]}
    own = {(i, j) for i, j in same if compatible(ref[i], sys[j], rule)}
    over = {(i, j): common(ref[i], sys[j]) for i, j in every}
    in_ref, in_sys = (
        {edge for edge in same if over[edge] > 0 and 2 * over[edge] >= of(*edge)[3] - of(*edge)[2]}
        for of in (lambda _, j: sys[j], lambda i, _: ref[i])
    )

    def explain(kind, ours=(), theirs=()):
        n.difference_update(ours)
        m.difference_update(theirs)
        count.update([(kind, "fn")] * len(ours) + [(kind, "fp")] * len(theirs))

    def pair(edges, name):
        for i, j in nearest([(i, j) for i, j in edges if i in n and j in m], ref, sys):
            explain(name(i, j), [i], [j])

    def gather(kind, inside, part):
        # Each part goes to the whole that shares most time with it, on a tie to the first.
        owned, wholes = {}, {}
        for edge in sorted(inside, key=lambda edge: (-over[edge], edge)):
            if edge[0] in n and edge[1] in m and edge[part] not in owned:
                owned[edge[part]] = edge[1 - part]
                wholes.setdefault(edge[1 - part], []).append(edge[part])
        for whole, parts in wholes.items():
            if len(parts) >= 2:
                explain(kind, *((parts, [whole]) if part == 0 else ([whole], parts)))

    def named(i, j):
        onset, offset = right(ref[i], sys[j], rule)
        return "both_boundaries" if onset == offset else "onset" if offset else "offset"

    pair(own, lambda *_: "hit")
    gather("split", in_ref, 1)
    gather("merge", in_sys, 0)
    near = [(i, j) for i, j in same if over[i, j] > 0
            and (share(ref[i], sys[j]) >= 0.1 or any(right(ref[i], sys[j], rule)))]  # fmt: skip
    pair(near, named)
    explain("merge", {i for i, _ in own | in_sys} & n)
    explain("duplicate", (), {j for _, j in own} & m)
    explain("split", (), {j for _, j in in_ref} & m)
    others = {*every} - same
    pair([(i, j) for i, j in others if compatible(ref[i], sys[j], rule)], lambda *_: "confusion")
    pair([(i, j) for i, j in others if share(ref[i], sys[j]) >= 0.5], lambda *_: "confusion_and_boundary")
    explain("missed", [*n])
    explain("background", (), [*m])
    return Counter({each: number for each, number in count.items() if each[0] != "hit"})


def kinds_of(sides, rule):
    """Count the errors (kind, "fp" or "fn") in rows."""
    errors = classify_errors(*map(side_of, sides), len(LABELS), rule)
    found = ((errors.false, "fp"), (errors.missed, "fn"))
    return Counter((KINDS[k], what) for kinds, what in found for k in kinds.tolist() if k != HIT)


@pytest.mark.parametrize("seeds", SEEDS)
def test_kinds_are_those_of_a_slow_oracle(seeds):
    """No two times are equal, so there is one way to count; `test_where_kinds_begin` has equal times."""
    for seed in seeds:
        rng, rule = np.random.default_rng(seed), RULES[seed % len(RULES)]
        shape = {"most": 6, "n_classes": int(rng.integers(1, 4)), "latest": int(rng.choice([4, 14, 30]))}
        rows = [random_side(rng, **shape, jitter=200) for _ in range(2)]
        sides = [sorted(side, key=lambda row: (row[2], row[3])) for side in rows]
        assert kinds_of(sides, rule) == slow_kinds(*sides, rule), (seed, sides, rule)


@pytest.mark.parametrize("seeds", SEEDS)
def test_no_order_no_name_and_no_other_file_changes_the_kinds(seeds):
    """Some cases have many events at few times, so that nearly all tie."""
    for seed in seeds:
        rng, rule = np.random.default_rng(seed), RULES[seed % len(RULES)]
        latest, longest = ((3, 2), (6, 4), (4, 3), (20, 9))[seed % 4]
        shape = {"most": int(rng.integers(1, 14)), "n_files": 3, "latest": latest, "longest": longest}
        sides = [random_side(rng, **shape) for _ in range(2)]
        files, labels, plain = rng.permutation(3).tolist(), rng.permutation(3).tolist(), kinds_of(sides, rule)
        other = [
            [(files[rows[k][0]], labels[rows[k][1]], *rows[k][2:]) for k in rng.permutation(len(rows))]
            for rows in sides
        ]
        assert kinds_of(other, rule) == plain, (seed, sides, rule)
        of_files = ([[row for row in rows if row[0] == file] for rows in sides] for file in range(3))
        assert sum((kinds_of(own, rule) for own in of_files), Counter()) == plain


# Segments.


def slow_segment_errors(y, p):
    """Return amounts of one file by kind, side and class, as fractions; y, p: [class][segment] booleans."""
    count, n = Counter(), len(y[0])
    missed, false = ([{t for t in range(n) if a[t] > b[t]} for a, b in zip(*sides, strict=True)]
                     for sides in ((y, p), (p, y)))  # fmt: skip
    for c, (ours, theirs) in enumerate(zip(y, p, strict=True)):
        hits = {t for t in range(n) if ours[t] and theirs[t]}
        for run in re.finditer("1+", "".join("01"[on] for on in ours)):
            at = range(*run.span())
            late = {at[0], at[-1]} & missed[c] if hits & {*at} else set()
            missed[c] -= late
            count["boundary", "fn", c] += len(late)
        early = {t for t in false[c] if {t - 1, t + 1} & hits}
        false[c] -= early
        count["boundary", "fp", c] += len(early)
    for t in range(n):
        fn, fp = ([c for c in range(len(y)) if t in side[c]] for side in (missed, false))
        both = min(len(fn), len(fp))
        for side, what, kind in ((fn, "fn", "missed"), (fp, "fp", "background")):
            for c in side:
                count["confusion", what, c] += Fraction(both, len(side))
                count[kind, what, c] += 1 - Fraction(both, len(side))
    return count


def slow_soft_errors(y, p):
    """Return the same amounts for the soft reading; y, p: [class][segment] fractions."""
    count = Counter()
    for ours, theirs in zip(zip(*y, strict=True), zip(*p, strict=True), strict=True):
        ranked = zip(sorted(ours, reverse=True), sorted(theirs, reverse=True), strict=True)
        confused = sum(map(min, ranked)) - sum(map(min, ours, theirs))
        for (more, less), what, kind in (
            ((ours, theirs), "fn", "too_low"),
            ((theirs, ours), "fp", "too_high"),
        ):
            wrong = [max(a - b, Fraction(0)) for a, b in zip(more, less, strict=True)]
            for c, each in enumerate(wrong):
                part = each * confused / sum(wrong) if each else 0
                count["confusion", what, c] += part
                count[kind, what, c] += each - part
    return count


@given(st.integers(0, 2**32), st.integers(0, 3))
def test_segment_kinds_are_those_of_a_slow_count(seed, cut):
    """Several files at once have the counts of each file alone."""
    rng = np.random.default_rng(seed)
    start = np.append(0, np.cumsum(rng.integers(1, 8, rng.integers(1, 4))))
    y, p = rng.integers(0, 5, (2, 3, start[-1]))
    hard, soft = segment_errors(y > cut, p > cut, start), soft_errors(y / 4, p / 4)
    for begin, end in itertools.pairwise(start.tolist()):
        ours, theirs = y[:, begin:end], p[:, begin:end]
        wanted = slow_segment_errors((ours > cut).tolist(), (theirs > cut).tolist())
        in_quarters = [[[Fraction(v, 4) for v in row] for row in side.tolist()] for side in (ours, theirs)]
        for expected, found, kinds in (
            (wanted, hard, SEGMENT_KINDS), (slow_soft_errors(*in_quarters), soft, SOFT_KINDS),
        ):  # fmt: skip
            assert {name.partition(".")[0] for name in found} == {*kinds}
            for kind, what, c in itertools.product(kinds, ("fp", "fn"), range(3)):
                total = found[f"{kind}.{what}"][c, begin:end].sum() if f"{kind}.{what}" in found else 0
                assert abs(total - float(expected[kind, what, c])) < 1e-12, (kind, what)


# Intervals.


@pytest.mark.parametrize(("ci", "beta"), [("bootstrap", 1.0), ("bootstrap", 2.0), ("jackknife", 1.0)])
def test_intervals_are_those_of_files_that_were_drawn_or_left_out(ci, beta):
    """A file counts as often as it was drawn, as if it had been recorded that often."""
    sides, replicates = sides_of(4, n_files=4, fewest=40, most=40), 15
    how = {"beta": beta, "segment_length": 0.5, "classes": LABELS, "suggestions": False}

    def shares(drawn, **values):
        again = [
            [(k, *row[1:]) for k, file in enumerate(drawn) for row in side if row[0] == file]
            for side in sides
        ]
        tables = [table_of(rows, "abcd"[: len(drawn)]) for rows in again]
        return diagnose(*tables, only=("event.hard", "segment"), **how | {"ci": None} | values).errors

    found = shares(range(4), replicates=replicates, seed=3, ci=ci)
    drawn = {
        "bootstrap": np.random.default_rng(3).integers(4, size=(replicates, 4)).tolist(),
        "jackknife": [[k for k in range(4) if k != out] for out in range(4)],
    }[ci]
    again = np.array([[each.share for each in shares(some)] for some in drawn], dtype=float)
    ends = np.nanquantile(again, (0.025, 0.975), axis=0)
    if ci == "jackknife":
        error = np.sqrt(((again - again.mean(axis=0)) ** 2).sum(axis=0) * 3 / 4)
        ends = [np.array([e.share for e in found]) + k * 1.959963984540054 * error for k in (-1, 1)]
    ours, closeness = [(each.low, each.high) for each in found], 1e-9 if ci == "jackknife" else 1e-12
    assert np.array(ours) == pytest.approx(np.transpose(ends), abs=closeness)
    assert {(each.low, each.high) for each in shares(range(4))} == {(None, None)}


# By hand.


BEGIN = (0, 0, 100)
PARTS = [(0, 80, 120), (0, 180, 220)]


@pytest.mark.parametrize(
    ("reference", "system", "kinds"),
    [
        # One class: the events share a tenth of the time that both cover, or one end is right.
        ([BEGIN], [(0, 82, 180)], "both_boundaries"),
        ([BEGIN], [(0, 82, 181)], None),
        ([BEGIN], [(0, 0, 5)], "offset"),
        ([BEGIN], [(0, 95, 100)], "onset"),
        ([BEGIN], [(0, 40, 100)], "onset"),
        ([BEGIN], [(0, 3, 100)], "onset"),
        ([BEGIN], [(0, 100, 200)], None),
        # Two classes: the events are within the collars, or share half of the time that both cover.
        ([BEGIN], [(1, 2, 102)], "confusion"),
        ([BEGIN], [(1, 3, 103)], "confusion_and_boundary"),
        ([BEGIN], [(1, 0, 50)], "confusion_and_boundary"),
        ([BEGIN], [(1, 0, 49)], None),
        # Several events: half of each part is inside.
        ([(0, 100, 200)], PARTS, {("split", "fp"): 2, ("split", "fn"): 1}),
        (
            [(0, 100, 200)],
            [(0, 79, 120), PARTS[1]],
            {("both_boundaries", "fp"): 1, ("both_boundaries", "fn"): 1, ("background", "fp"): 1},
        ),
        (PARTS, [(0, 100, 200)], {("merge", "fp"): 1, ("merge", "fn"): 2}),
        ([BEGIN], [BEGIN, (0, 2, 102)], {("duplicate", "fp"): 1}),
        ([BEGIN], [BEGIN, (0, 90, 110)], {("split", "fp"): 1}),
        ([BEGIN], [BEGIN, (0, 90, 111)], {("background", "fp"): 1}),
        ([BEGIN, (0, 90, 110)], [BEGIN], {("merge", "fn"): 1}),
        ([BEGIN, (0, 90, 111)], [BEGIN], {("missed", "fn"): 1}),
    ],
)
def test_where_kinds_begin(reference, system, kinds):
    sides = [[(0, *row) for row in side] for side in (reference, system)]
    if not isinstance(kinds, dict):
        kinds = {(kinds or "background", "fp"): 1, (kinds or "missed", "fn"): 1}
    assert kinds_of(sides, Collars(2, 2, 0.0)) == kinds


def test_which_of_two_classes_is_confused_does_not_depend_on_their_names():
    """Two classes at one time, one detection of a third: the two classes differ by their other events."""
    rows, found = [[(0, 0, 10), (1, 0, 10), (1, 50, 70)], [(2, 0, 10)]], set()
    for names in itertools.permutations(range(3)):
        sides = [side_of([(0, names[c], a, b) for c, a, b in side]) for side in rows]
        found.add(tuple(KINDS[k] for k in classify_errors(*sides, 3, Collars(2, 2, 0.0)).missed))
    (kinds,) = found
    assert sorted(kinds) == ["confusion", "missed", "missed"]


# Factors of recall and precision.


def by_factor(diagnosis):
    factors = defaultdict(list)
    for each in diagnosis.bins:
        factors[each.measure, each.factor].append(each)
    return factors


@pytest.mark.parametrize("seed", [0, 3])
def test_bins_of_each_factor_hold_all_events(seed):
    rng, files = np.random.default_rng(seed), tuple("abcdefgh"[: 1 + 2 * seed])
    rows = [
        (str(rng.choice(files)), a, a + round(float(rng.uniform(0.1, 4)), 1), str(rng.choice(LABELS)), 1.0)
        for a in np.round(rng.uniform(0, 60, 250), 1).tolist()
    ]
    # The system finds half of the events, some with another onset, and adds false alarms.
    found = [(f, a + (k % 3 > 1), b + 1, *of) for k, (f, a, b, *of) in enumerate(rows[::2])]
    how = {
        "events": ("rows", "merge")[seed % 2], "beta": (1.0, 2.0)[seed % 3 == 0], "ci": None,
        "offset": False, "only": "event.hard", "classes": LABELS,
    }  # fmt: skip
    diagnosis = diagnose(columns_of(rows, files), columns_of(found, files), **how)
    factors, scores = by_factor(diagnosis), diagnosis.scores
    # With few files, almost all events have equally many classes at once.
    of_length = {("recall", "duration"), ("precision", "duration")}
    assert {*factors} - {("recall", "classes at once")} == of_length
    assert len(factors) == 3 or len(files) == 1
    for (measure, factor), bins in factors.items():
        side = {"recall": "n_ref", "precision": "n_sys"}[measure]
        count, tp = (scores[f"event.hard.{name}.micro"] for name in (side, "tp"))
        assert (sum(each.n for each in bins), 0 < tp < count) == (count, True), (measure, factor)
        assert abs(math.fsum(each.n * each.value for each in bins) - tp) < 1e-9


def test_intervals_are_those_of_resampled_files():
    """Events are far apart, and the system has some of them, so the hits are known."""
    files, replicates, rng = ("a", "b", "c"), 40, np.random.default_rng(0)
    rows = [
        (str(rng.choice(files)), 10.0 * k, 10.0 * k + float(rng.integers(1, 9)), "car", 1.0)
        for k in range(300)
    ]
    lengths, file = (
        np.array(column) for column in zip(*((r[2] - r[1], files.index(r[0])) for r in rows), strict=True)
    )
    hits = rng.random(len(rows)) < lengths / 9
    sides = columns_of(rows, files), columns_of([*itertools.compress(rows, hits)], files)
    diagnosis = diagnose(*sides, only="event.hard", replicates=replicates, seed=0)
    # No event is longer than 8 s.
    edges = np.setdiff1d(np.quantile(lengths, (0.25, 0.5, 0.75), method="inverted_cdf"), 8)
    member = np.searchsorted(edges, lengths)
    drawn = np.random.default_rng(0).integers(len(files), size=(replicates, len(files)))
    weights = np.stack([np.bincount(some, minlength=len(files))[file] for some in drawn])
    bins = sorted(by_factor(diagnosis)["recall", "duration"], key=lambda each: each.place)
    for each in bins:
        here, rest = (
            np.array([np.average(hits[some], weights=w[some]) if w[some].any() else np.nan for w in weights])
            for some in (member == each.place, member != each.place)
        )
        assert (each.n, each.value) == (np.sum(member == each.place), np.mean(hits[member == each.place]))
        ends, apart = (np.nanquantile(values, (0.025, 0.975)) for values in (here, here - rest))
        differs = max(apart[0], -apart[1], 0)
        assert (each.low, each.high, each.differs) == pytest.approx((*ends, differs), abs=1e-12)
    assert any(each.differs for each in bins)
    first, second, *_, last = (f"{edge:g} s" for edge in edges)
    expected = [f"up to {first}", f"{first[:-2]} to {second}", f"over {last}"]
    assert [bins[k].name for k in (0, 1, len(edges))] == expected


def test_events_of_one_file_have_no_interval():
    """If one file has all events of a group, resampling files gives no interval for it."""
    rows = [("a", 10.0 * k, 10.0 * k + 1, "car", 1.0) for k in range(30)]
    rows += [("b", 10.0 * k, 10.0 * k + 2 + k % 2, "car", 1.0) for k in range(60)]
    diagnosis = diagnose(columns_of(rows), columns_of(rows[5:]), only="event.hard", replicates=20)
    short, *_ = sorted(by_factor(diagnosis)["recall", "duration"], key=lambda each: each.place)
    assert (short.n, short.value, short.rest) == (30, pytest.approx(25 / 30), 1.0)
    assert (short.low, short.high, short.differs) == (None, None, 0.0)


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 12), st.integers(0, 6)).map(
        lambda r: (*r[:3], r[2] + r[3])
    ),
    max_size=10,
)


@given(ROWS)
def test_classes_at_once_are_classes_not_events(rows):
    """Overlapping events of one class count once; the test counts at every tick."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    found = classes_at_once(Events(*columns, columns[2] * 1e-6, columns[3] * 1e-6))
    for (file, _, onset, offset), mean in zip(rows, found.tolist(), strict=True):
        active = [
            len({label for f, label, a, b in rows if f == file and a <= t < b}) for t in range(onset, offset)
        ]
        wanted = Fraction(sum(active), len(active)) if active else 0
        assert abs(mean - float(wanted)) < 1e-12
