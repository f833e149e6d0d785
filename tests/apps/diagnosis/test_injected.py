"""Errors that are injected at known rates are found, and called what they are."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from injected import injected_errors
from shared_data import shared
from tables import long_rows

from sedeval_soft import Settings
from sedeval_soft.apps.diagnosis.events import (
    BACKGROUND,
    CONFUSION,
    DUPLICATE,
    HIT,
    KINDS,
    classify_errors,
)
from sedeval_soft.measures.pairs import Collars
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.file_groups import read_durations
from sedeval_soft.timeline.events import events_of
from sedeval_soft.timeline.recordings import align

PAGE = Path(__file__).parents[3] / "docs" / "explanations" / "errors.md"
RATES = dict.fromkeys(KINDS, 0.05)


def injected(rows, made, seed, rates=RATES, lengths=None, **how):
    pair = align(rows, rows, made, lengths)
    return injected_errors(pair, rates, seed=seed, **how), pair


def attributed(rows, made, seeds, lengths=None, rates=RATES):
    """Of each kind: how many errors are injected, how many collars do not forgive, and how many are found.

    An error is forgiven where its detection is within the collars of the event that it was made of.
    """
    count = Counter()
    for seed in seeds:
        out, pair = injected(rows, made, seed, rates, lengths)
        system = events_of(out.rows, 0.5, inclusive=False, merge=False)
        rule = Collars.of(made)
        errors = classify_errors(out.events, system, len(pair.classes), rule)
        onset, offset = rule.right_ends(out.events.take(out.source), system)
        forgiven = np.zeros(len(out.events), dtype=bool)
        forgiven[out.source[onset & offset & (out.wrong != CONFUSION) & (out.wrong != HIT)]] = True
        for k, name in enumerate(KINDS):
            if k in {DUPLICATE, BACKGROUND}:
                made_so = counted = out.wrong == k
                found = errors.false
            else:
                made_so, found = out.kind == k, errors.missed
                counted = made_so & ~forgiven
            count.update(
                {(name, 0): made_so.sum(), (name, 1): counted.sum(), (name, 2): (found[counted] == k).sum()}
            )
    return {name: tuple(int(count[name, what]) for what in range(3)) for name in KINDS}


def random_reference(seed, n_files=40):
    """Recordings of a minute with some events of five classes, none of them near another one of its class."""
    rng = np.random.default_rng(seed)
    rows = []
    for file in range(n_files):
        for label in "abcde":
            at = rng.uniform(0, 8)
            while at < 50:
                length = rng.uniform(0.5, 6)
                rows.append((f"f{file}", round(at, 3), round(at + length, 3), label))
                at += length + rng.uniform(2, 25)
    return long_rows(rows)


@pytest.mark.parametrize("rate", [0.2, 0.5])
def test_injected_errors_are_attributed_to_their_kind(rate):
    made = Settings(offset_collar_rate=rate)
    lengths = {f"f{file}": 60.0 for file in range(40)}
    for name, (made_so, counted, found) in attributed(random_reference(1), made, range(4), lengths).items():
        assert made_so > 60, name
        assert counted > 0.5 * made_so, name
        assert found >= 0.95 * counted, (name, found, counted)


def test_injected_errors_of_dcase_are_attributed_as_the_page_says():
    reference = read_rows(shared("dcase2019_task4/dcase2019t4_gt.csv"))
    lengths = read_durations(shared("dcase2019_task4/dcase2019t4_meta.csv"))
    found = attributed(reference, Settings(offset_collar_rate=0.2), range(5), lengths)
    rows = re.findall(
        r"^\| `(\w+)` \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \|$", PAGE.read_text(), flags=re.MULTILINE
    )
    said = {name: tuple(float(cell.replace(",", "")) for cell in cells) for name, *cells in rows}
    assert {*said} == {*KINDS}
    for name, (made_so, counted, right) in found.items():
        assert right >= 0.95 * counted, name
        assert said[name][:2] == (made_so, counted), name
        assert abs(said[name][2] - 100 * right / counted) <= 0.05, name
