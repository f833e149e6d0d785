"""References in continuous time: exact functions of what annotators say: brute force and laws."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from called import call
from hypothesis import given, settings
from hypothesis import strategies as st
from opinions import apart

from sedeval_soft import annotate
from sedeval_soft.apps.annotators.references import METHODS
from sedeval_soft.timeline.events import Activity

FILES, CLASSES = ("x", "y"), ("a", "b")
TICKS = st.integers(0, 40)
EVENT = st.tuples(st.sampled_from(FILES), TICKS, st.integers(1, 12), st.sampled_from(CLASSES))
PEOPLE = st.lists(st.lists(EVENT, max_size=6), min_size=2, max_size=4)


def table(events, unit=0.25, *, declared=()):
    """Return events of whole units as columns; declared: files that are labelled, whatever they hold."""
    rows = [(name, unit * begin, unit * (begin + n), label) for name, begin, n, label in events]
    rows += [(name, None, None, None) for name in declared]
    names = "filename", "onset", "offset", "event_label"
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def people_of(crowd, unit=0.25, declared=FILES):
    return [table(events, unit, declared=declared) for events in crowd]


def function(rows):
    """Return a table as pieces of constant value: file, class, onset, offset in ticks, and value."""
    pieces = Activity.of_table(rows).merged()
    names = [rows.files[k] for k in pieces.file], [rows.classes[k] for k in pieces.label]
    return sorted(
        zip(*names, pieces.onset.tolist(), pieces.offset.tolist(), pieces.value.tolist(), strict=True)
    )


def says(events, name, label, at):
    """Return whether one of the events sounds at a time in units."""
    return any(f == name and k == label and begin <= at < begin + n for f, begin, n, k in events)


@settings(max_examples=6)
@given(PEOPLE, st.sampled_from(["mean", "majority"]))
def test_it_is_what_annotators_say_at_every_time(crowd, method):
    made = annotate(people_of(crowd), method=method, classes=CLASSES, scores=["segment.soft.f1.micro"])
    assert made.settings["continuous"]
    pieces = function(made.reference)
    for name in FILES:
        for label in CLASSES:
            for k in range(53):
                at, votes = k + 0.5, sum(says(events, name, label, k + 0.5) for events in crowd)
                expected = votes / len(crowd) if method == "mean" else float(2 * votes > len(crowd))
                value = [
                    v for f, c, begin, end, v in pieces
                    if (f, c) == (name, label) and begin <= at * 250_000 < end
                ]  # fmt: skip
                assert (value or [0.0]) == [expected]


@settings(max_examples=4)
@given(PEOPLE, st.sampled_from(["mean", "majority", "competence"]), st.sampled_from([1.0, 0.5, 0.25]))
def test_a_grid_on_which_all_boundaries_lie_changes_nothing(crowd, method, length):
    how = {"method": method, "classes": CLASSES, "scores": ["segment.soft.f1.micro"]}
    people = people_of(crowd, unit=1.0)
    exact, grid = annotate(people, **how), annotate(people, segment_length=length, **how)
    assert (exact.settings["continuous"], grid.settings["continuous"]) == (True, False)
    assert all(each.unitizing is None for each in grid.agreement)
    if method != "competence" or length == 1.0:
        assert function(exact.reference) == function(grid.reference)
    if length == 1.0:
        # How much time there is, is counted in segments: agreement is that of the grid, too.
        ours, theirs = (
            (each.annotators, [of[:3] for of in each.agreement], each.pairs, each.segments, each.ceiling)
            for each in (exact, grid)
        )
        assert ours == theirs


@settings(max_examples=4)
@given(PEOPLE, st.randoms(use_true_random=False), st.sampled_from([*METHODS]), st.booleans())
def test_the_order_of_annotators_and_files_does_not_matter(crowd, random, method, consensus):
    """The reference is the same to the last bit, and so is what is said of each annotator."""
    names = "abcd"[: len(crowd)]
    order = random.sample(range(len(crowd)), len(crowd))
    turned = people_of([crowd[k][::-1] for k in order], declared=FILES[::-1])
    found = []
    for people in (
        dict(zip(names, people_of(crowd), strict=True)),
        dict(zip([names[k] for k in order], turned, strict=True)),
    ):
        made = annotate(people, method=method, consensus=consensus, scores=["event.soft.f1.micro"])
        rows, at = made.reference, [[*people].index(name) for name in names]
        columns = (rows.file, rows.label, rows.onset, rows.offset, *rows.values)
        each_of = [made.annotators, *(made.boundaries and [made.boundaries])]
        each_of += [ceiling.annotators for ceiling in made.ceiling]
        each_of += [confusion.sensitivity for confusion in made.confusions]
        found.append((
            rows.files, rows.classes, [column.tobytes() for column in columns], made.agreement,
            [[of[k] for k in at] for of in each_of], [each.mean for each in made.ceiling],
            {frozenset(pair.annotators): pair[1:] for pair in made.pairs},
            [each.prevalence for each in made.confusions],
        ))  # fmt: skip
    assert found[0] == found[1]


def test_labels_beyond_the_end_of_a_file_are_no_agreement():
    """A file that lasts 5 s: what is said after that does not count, as if it were not said."""
    people = [table([("x", 8, 20, "a")]), table([("x", 12, 30, "a"), ("x", 0, 3, "b")])]
    cut = [table([("x", 8, 12, "a")]), table([("x", 12, 8, "a"), ("x", 0, 3, "b")])]
    one, other = (annotate(each, durations={"x": 5.0}) for each in (people, cut))
    assert (one.agreement, one.annotators, one.segments) == (other.agreement, other.annotators, 5)
    assert [each[:4] for each in one.pairs] == [each[:4] for each in other.pairs]


def test_time_steps_stay_on_their_grid_unless_asked():
    steps = {
        "filename": ["x"] * 4, "onset": [0.0, 0.5, 1.0, 1.5], "offset": [0.5, 1.0, 1.5, 2.0],
        "event_label": ["a"] * 4, "soft_value": [0.2, 0.8, 0.4, 0.4],
    }  # fmt: skip
    events = table([("x", 1, 2, "a")])
    assert not annotate([steps, events]).settings["continuous"]
    exact = annotate([steps, events], continuous=True).reference
    assert [piece[2:] for piece in function(exact)] == [
        (0, 250_000, 0.1), (250_000, 500_000, 0.6), (500_000, 750_000, 0.9), (750_000, 1_000_000, 0.4),
        (1_000_000, 2_000_000, 0.2),
    ]  # fmt: skip
    # Events with values are no time steps.
    opinion = {name: column[:1] for name, column in steps.items()} | {"onset": [0.1]}
    assert annotate([opinion, events]).settings["continuous"]


def test_boundaries_are_kept_by_the_command(tmp_path):
    tables = [tmp_path / f"{name}.tsv" for name in "abc"]
    for path, onset in zip(tables, (1.234567, 1.5, 1.5), strict=True):
        path.write_text(f"filename\tonset\toffset\tevent_label\nx.wav\t{onset}\t3.25\tdog\n")
    columns = ("--columns", "onset=onset", "--missing", "silent", "--ceiling-of", tables[1])
    printed = call("annotate", *tables, "-o", "-", "-q", *columns)
    assert printed.out.splitlines() == [
        "filename\tonset\toffset\tevent_label\tsoft_value",
        "x.wav\t1.234567\t1.5\tdog\t0.3333333333333333", "x.wav\t1.5\t3.25\tdog\t1",
    ]  # fmt: skip
    assert printed.err.count("\n") > 10
    asked = ("--score", "event.soft.f1.micro", "--format", "json")
    document = call("annotate", *tables, *asked, "--continuous", "--segment-length", "0.1").document
    assert (document["settings"]["continuous"], document["settings"]["segment_length"]) == (True, 0.1)
    # Above 1/2 the other two begin within the collar of the second, below it they do not.
    assert call("annotate", *tables, *asked).document["ceiling"][0]["annotators"] == [0.0, 0.5, 0.5]


TICK = 1e-6
LENGTH = 60


def unitizing(people, files=FILES, length=LENGTH, **how):
    """Return alpha of all classes, and by class; people: lists of (file, begin, length, class), in ticks."""
    tables = [table(events, TICK, declared=labelled) for events, labelled in people]
    made = annotate(tables, durations=dict.fromkeys(files, length * TICK), missing="unlabelled", **how)
    return {each.class_name: each.unitizing for each in made.agreement}


def segments(events, name, label):
    """Return units and gaps of a continuum: begin, end, and whether it is a unit."""
    units, at, found = sorted((b, b + n) for f, b, n, k in events if (f, k) == (name, label)), 0, []
    for begin, end in units:
        found += [(at, begin, False)] * (at < begin) + [(begin, end, True)]
        at = end
    return found + [(at, LENGTH, False)] * (at < LENGTH)


def slow(people, labels):
    """Return alpha by equations 1, 4 and 6 of Krippendorff et al. 2016, continua of files pooled."""
    observed, selves = np.zeros((2, 2)), np.zeros(2)
    for name in FILES:
        crowd = [events for events, labelled in people if name in labelled]
        for label in labels:
            cut = [segments(events, name, label) for events in crowd] if len(crowd) > 1 else []
            for one, other in permutations(cut, 2):
                for begin, end, c in one:
                    for start, stop, k in other:
                        observed[int(c), int(k)] += max(min(end, stop) - max(begin, start), 0) / (
                            len(crowd) - 1
                        )
            for begin, end, c in (each for own in cut for each in own):
                selves[int(c)] += (end - begin) ** 2 if c else end - begin
    margins, total = observed.sum(axis=1), observed.sum()
    expected = total * (np.outer(margins, margins) - np.diag(selves)) / max(total**2 - selves.sum(), 1)
    return 1 - observed[0, 1] / expected[0, 1] if margins.all() else None


EVENT = st.tuples(
    st.sampled_from(FILES), st.sampled_from("ab"), st.integers(0, LENGTH - 13), st.integers(1, 12)
).map(lambda row: (*row[:3], row[2] + row[3]))
EVENTS = st.lists(EVENT, max_size=6).map(lambda rows: [(f, b, e - b, k) for f, k, b, e in apart(rows)])
PERSON = st.tuples(EVENTS, st.sets(st.sampled_from(FILES), min_size=1))


@settings(max_examples=10)
@given(st.lists(PERSON, min_size=2, max_size=4))
def test_it_is_that_of_the_definition(people):
    people = [([e for e in events if e[0] in labelled], sorted(labelled)) for events, labelled in people]
    made = unitizing(people, classes=("a", "b"))
    for label, labels in (("a", "a"), ("b", "b"), (None, "ab")):
        expected = slow(people, labels)
        assert made[label] == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_examples():
    """Three continua of 60 and of 56; the second is that of the tests of krippendorff-unitized-alpha 0.1.0.

    By hand: n = 180, n_1 = 24, n_0 = 156, o = (10 + 5 + 5) / 2 and c = 9 + 9 + 100 + 9 + 25 + 156. Of the
    second n = 168, n_1 = 105, n_0 = 63, o = (5 + 19 + 14) / 2 and c = 144 + 961 + 49 + 961 + 576 + 63. That
    package expects 0.56.
    """
    first = [
        [("x", 2, 3, "a")],
        [("x", 2, 3, "a"), ("x", 10, 10, "a")],
        [("x", 2, 3, "a"), ("x", 15, 5, "a")],
    ]
    made = unitizing([(each, ("x",)) for each in first], files=("x",))["a"]
    assert made == pytest.approx(1 - 10 * (180**2 - 308) / (180 * 24 * 156), abs=1e-12)
    second = [
        [("x", 3, 12, "a"), ("x", 22, 31, "a")],
        [("x", 3, 7, "a"), ("x", 22, 31, "a")],
        [("x", 22, 24, "a")],
    ]
    made = unitizing([(each, ("x",)) for each in second], files=("x",), length=56)["a"]
    assert made == pytest.approx(1 - 19 * (168**2 - 2754) / (168 * 105 * 63), abs=1e-12)
    assert made == pytest.approx(0.56, abs=0.005)
