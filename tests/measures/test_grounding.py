"""Temporal grounding: mean intersection over union and recall, against fractions by hand."""

import re
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from measure_oracles import agree
from tables import columns_of

from sedeval_soft import evaluate

STEM = "segment.hard"
MEASURES = (
    ("mean_iou", None, ""), ("recall_at_iou", Fraction(3, 10), "@iou=0.3"),
    ("recall_at_iou", Fraction(1, 2), ""), ("recall_at_iou", Fraction(7, 10), "@iou=0.7"),
)  # fmt: skip
"""Measures, the overlap at which an item is found, and the ends of names."""


def table(rows):
    """Return rows of file, onset and offset in hundredths of a second, and class as a table."""
    return columns_of([(f, a / 100, b / 100, label) for f, a, b, label in rows])


def overlaps(reference, system):
    """Return the overlap of every item by class, computed with sets of hundredths of a second."""

    def times(rows, item):
        return {t for f, a, b, label in rows if (f, label) == item for t in range(a, b)}

    found = {}
    for item in sorted({(f, label) for f, a, b, label in reference if b > a}):
        ours, theirs = times(reference, item), times(system, item)
        found.setdefault(item[1], []).append(Fraction(len(ours & theirs), len(ours | theirs)))
    return found


ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 30), st.integers(0, 20), st.sampled_from(("dog", "car")))
    .map(lambda row: (row[0], row[1], row[1] + row[2], row[3])),
    max_size=8,
)  # fmt: skip


@settings(max_examples=15)
@example([("a", 0, 10, "dog"), ("b", 0, 10, "car")], [("a", 0, 3, "dog"), ("b", 0, 7, "car")])
@example([("a", 0, 10, "dog")], [("a", 0, 5, "dog")])
@given(ROWS.filter(lambda rows: any(b > a for _, a, b, _ in rows)), ROWS)
def test_overlaps_are_those_of_sets_of_time(reference, system):
    scores = evaluate(table(reference), table(system), preset="audio-grounding")
    by_class = overlaps(reference, system)
    wanted = {}
    for measure, least, at in MEASURES:
        values = {c: [iou if least is None else iou >= least for iou in of] for c, of in by_class.items()}
        means = {label: Fraction(sum(of), len(of)) for label, of in values.items()}
        every = [value for of in values.values() for value in of]
        wanted |= {f"{measure}[{label}]{at}": means.get(label) for label in scores.classes} | {
            f"{measure}.macro{at}": sum(means.values()) / len(means),
            f"{measure}.micro{at}": Fraction(sum(every), len(every)),
        }
    agree(scores, STEM, wanted, 1e-15)


@pytest.mark.parametrize(
    ("answers", "counts"),
    [
        # There are four queries, a to d; only a has an event in the reference.
        ([("a", 0, 10, "q")], None),
        ([("a", 0, 10, "q"), ("b", 3, 3, "q")], None),
        ([("a", 0, 10, "q"), ("b", 0, 5, "q"), ("d", 2, 3, "q")], (2, 3)),
        # Another class of a file is another query.
        ([("a", 0, 10, "q"), ("a", 0, 10, "r"), ("b", 0, 5, "q"), ("b", 0, 5, "r")], (3, 5)),
    ],
)
def test_an_answer_to_a_query_without_an_event_is_counted_in_a_warning(answers, counts):
    reference = table([("a", 0, 10, "q"), *((file, 0, 0, "q") for file in "bcd")])
    scores = evaluate(reference, table(answers), preset="audio-grounding")
    assert scores[f"{STEM}.mean_iou.micro"] == 1.0
    told = [re.search(r"answers (\d+) of (\d+) queries", warning) for warning in scores.warnings]
    assert [(int(m[1]), int(m[2])) for m in told if m] == ([counts] if counts else [])
    answered, absent = counts or (0, 3)
    # The one item is found, and silence is right about each absent query.
    right = (1 + absent - answered) / (1 + absent)
    agree(scores, STEM, {"absent_answered.micro": answered / absent, "mean_iou_all.micro": right})


def test_the_share_of_answered_absent_queries_has_no_mean_over_scenes():
    """A copy of the reference has no absent query, so the system would decide which scenes count."""
    sides = table([("a", 0, 10, "q"), ("b", 0, 10, "q")]), table([("a", 0, 10, "q"), ("b", 0, 10, "r")])
    asked = {"measures": ("grounding",), "means": ("scenes.mean",), "classes": ("q", "r")}
    scores = evaluate(*sides, by={"a": "one", "b": "two"}, only=(STEM,), **asked)
    assert scores[f"{STEM}.absent_answered.micro"] == 1.0
    assert not any("queries" in warning for warning in evaluate(*sides, measures="all").warnings)
    means = {score.measure for score in scores.scores.values() if score.group == "scenes.mean"}
    assert "mean_iou" in means and "absent_answered" not in means
