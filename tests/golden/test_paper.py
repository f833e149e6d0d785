"""Harju & Mesaros 2023: Table 1 and Figure 1, error counts by hand, and our page of their numbers."""

import re

import numpy as np
import pytest
from documents import script
from shared_data import shared

from sedeval_soft import evaluate

# Table 1: one class, four segments. The paper shows the points only in a figure: they are reconstructed from
# the printed numbers. Hard P R F at >= 0.5 and soft P R F in percent, KLD in nats.
TABLE_1 = [
    ((0.1, 0.2, 0.8, 0.9), (0.6, 0.1, 0.9, 0.2), (50, 50, 50), (66.7, 60.0, 63.2), 0.446),
    ((0.1, 0.2, 0.8, 0.9), (0.2, 0.3, 0.9, 0.6), (100, 100, 100), (85.0, 85.0, 85.0), 0.083),
    ((0.4, 0.4, 0.5, 0.7), (0.5, 0.5, 0.4, 0.4), (0, 0, 0), (88.9, 80.0, 84.2), 0.061),
]


def column(values):
    return np.array([values]).T


@pytest.mark.parametrize(("reference", "system", "hard", "soft", "divergence"), TABLE_1, ids=["1", "2", "3"])
def test_table_1(reference, system, hard, soft, divergence):
    scores = evaluate(column(reference), column(system), inclusive=True)
    for reading, expected in (("hard", hard), ("soft", soft)):
        got = [scores[f"segment.{reading}.{measure}.micro"] for measure in ("precision", "recall", "f1")]
        assert [round(100 * value, 1) for value in got] == list(expected)
    assert round(scores["segment.soft.kl_divergence.micro"], 3) == divergence


@pytest.mark.parametrize("e", np.round(np.linspace(-0.2, 0.8, 21), 2))
def test_figure_1(e):
    """Reference (0.8, 0.2), prediction (0.8, 0.2 + e): soft F is 2/(2+e), or 2(1+e)/(2+e) if e < 0."""
    scores = evaluate(column((0.8, 0.2)), column((0.8, 0.2 + e)))
    expected = 2 / (2 + e) if e >= 0 else 2 * (1 + e) / (2 + e)
    assert scores["segment.soft.f1.micro"] == pytest.approx(expected, abs=1e-15)


def test_soft_error_counts_by_hand():
    """Classes (a, b, c), one segment: y = (0.8, 0.3, 0.0), p = (0.1, 0.3, 0.6).

    Sorted: y 0.8 0.3 0.0, p 0.6 0.3 0.1. TP = 0.1 + 0.3 + 0.0 = 0.4. The minima of the sorted values
    are 0.6 + 0.3 + 0.0 = 0.9, so S = 0.5; D = 0.8 - 0.6 = 0.2; I = 0.1.

    By levels:

    - (0, 0.1]: a and b are hits, c is an insertion (0.1);
    - (0.1, 0.3]: b is a hit, c a substitution of a (0.2);
    - (0.3, 0.6]: c is a substitution of a (0.3);
    - (0.6, 0.8]: a is a deletion (0.2).

    So S = 0.5, D = 0.2, I = 0.1.
    """
    scores = evaluate(np.array([[0.8, 0.3, 0.0]]), np.array([[0.1, 0.3, 0.6]]), only=("segment.soft",))
    names = ("tp", "substitutions", "deletions", "insertions")
    assert [scores[f"segment.soft.{name}.micro"] for name in names] == pytest.approx([0.4, 0.5, 0.2, 0.1])


def test_hard_counts_by_hand():
    """Two classes, four segments; y > 0.5: a a,b - b; p > 0.5: a b b -.

    TP: a in segment 1, b in segment 2. N_ref = 4, N_sys = 3. Segment 2 misses a (D 1), segment 3 adds b
    (I 1), segment 4 misses b (D 1); nothing is substituted. ER = 3/4.
    """
    reference = np.array([[0.9, 0.1], [0.8, 0.7], [0.2, 0.0], [0.5, 0.6]])
    system = np.array([[0.7, 0.2], [0.5, 0.9], [0.1, 0.8], [0.0, 0.0]])
    scores = evaluate(reference, system, only=("segment.hard",))
    names = ("tp", "n_ref", "n_sys", "tn", "substitutions", "deletions", "insertions", "error_rate")
    assert [scores[f"segment.hard.{name}.micro"] for name in names] == [2, 4, 3, 3, 0, 2, 1, 0.75]


def test_events_by_hand():
    """Collars 0.2 s, offsets 0.2 s or half the length; (a) hit, (b) onset 0.3 s late, (c) other class.

    Reference: car 0-2, car 5-6, dog 8-9. System: car 0.2-2.9 (offset 0.9 late, allowed 1.0: hit), car 5.3-6
    (miss), cat 8-9 (right time, wrong class). TP 1, M 2: S = 1, D = 1, I = 1; ER = 3/3.
    """
    reference = {"onset": [0, 5, 8], "offset": [2, 6, 9], "label": ["car", "car", "dog"]}
    system = {"onset": [0.2, 5.3, 8], "offset": [2.9, 6, 9], "label": ["car", "car", "cat"]}
    scores = evaluate(reference, system, only=("event",))
    names = ("tp", "substitutions", "deletions", "insertions", "error_rate")
    assert [scores[f"event.hard.{name}.micro"] for name in names] == [1, 1, 1, 1, 1.0]


# Compute the page of numbers again: its tables, and numbers that need no data.

MADE = script("paper")
TEXT = MADE.PAGE.read_text(encoding="utf-8")
PARTS = re.split(
    r"^### ([\w ]+).*\n\n", TEXT.partition(MADE.BEGIN)[2].partition(MADE.END)[0], flags=re.MULTILINE
)
PRINTED = {title: f"{table.strip()}\n" for title, table in zip(PARTS[1::2], PARTS[2::2], strict=True)}


def test_what_needs_no_data_is_made_again():
    assert (PRINTED["Table 1"], PRINTED["Figure 1"]) == (MADE.table_1(), MADE.figure_1())
    assert PRINTED["Table 1"].count("| the same |") == 3
    rows = [[cell.strip() for cell in line.split("|")] for line in PRINTED["Figure 1"].splitlines()[2:]]
    assert len(rows) > 5 and all(soft_f == formula for *_, soft_f, _, formula, _ in rows)


@pytest.mark.slow
def test_the_row_of_data_sampling_is_made_again():
    soft = MADE.reference(shared("maestro"))
    sampled = MADE.over_folds(soft, MADE.folds_of(shared("maestro")))
    scores = MADE.runs_of(soft, lambda seed: sampled("data-sampling", seed, {}), MADE.RUNS)
    assert MADE.sampled("data-sampling", "", scores, MADE.TABLE_2["data-sampling"]) in PRINTED["Table 2"]


def test_without_data_labels_are_simulated_and_said_to_be(capsys, tmp_path):
    MADE.main([str(tmp_path)], 2)
    out = capsys.readouterr().out
    assert "SIMULATED" in out.splitlines()[0] and "Table 2" in out and "**23.2**" not in out
    assert MADE.PAGE.read_text(encoding="utf-8") == TEXT
