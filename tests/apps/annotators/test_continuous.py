"""References in continuous time: exact functions of what annotators say: brute force and laws."""

from __future__ import annotations

from called import call
from hypothesis import given, settings
from hypothesis import strategies as st

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
    people = people_of(crowd, unit=1.0)
    how = {"method": method, "classes": CLASSES, "scores": ["segment.soft.f1.micro"]}
    exact = annotate(people, **how)
    grid = annotate(people, segment_length=length, **how)
    assert (exact.settings["continuous"], grid.settings["continuous"]) == (True, False)
    if method != "competence" or length == 1.0:
        assert function(exact.reference) == function(grid.reference)
    if length == 1.0:
        # How much time there is, is counted in segments: agreement is that of the grid, too.
        assert exact.annotators == grid.annotators
        for one, other in zip(exact.agreement, grid.agreement, strict=True):
            assert one[:3] == other[:3]
            assert other.unitizing is None
        assert exact.pairs == grid.pairs
        assert exact.segments == grid.segments
        assert exact.ceiling == grid.ceiling


@settings(max_examples=4)
@given(PEOPLE, st.randoms(use_true_random=False), st.sampled_from([*METHODS]), st.booleans())
def test_the_order_of_annotators_and_files_does_not_matter(crowd, random, method, consensus):
    """The reference is the same to the last bit, and so is what is said of each annotator."""
    order = random.sample(range(len(crowd)), len(crowd))
    names, back = "abcd"[: len(crowd)], [order.index(k) for k in range(len(crowd))]
    people = dict(zip(names, people_of(crowd), strict=True))
    turned = people_of([crowd[k][::-1] for k in order], declared=FILES[::-1])
    one, other = (
        annotate(each, method=method, consensus=consensus, scores=["event.soft.f1.micro"])
        for each in (people, dict(zip([names[k] for k in order], turned, strict=True)))
    )
    ours, theirs = (
        [column.tobytes() for column in (rows.file, rows.label, rows.onset, rows.offset, *rows.values)]
        for rows in (one.reference, other.reference)
    )
    assert (one.reference.files, one.reference.classes) == (other.reference.files, other.reference.classes)
    assert ours == theirs
    assert one.annotators == tuple(other.annotators[k] for k in back)
    assert one.agreement == other.agreement
    assert one.boundaries == tuple(other.boundaries[k] for k in back[: len(other.boundaries)])
    pairs = ({frozenset(pair.annotators): pair[1:] for pair in each.pairs} for each in (one, other))
    assert next(pairs) == next(pairs)
    for ceiling, turned_ceiling in zip(one.ceiling, other.ceiling, strict=True):
        assert ceiling.annotators == tuple(turned_ceiling.annotators[k] for k in back)
        assert ceiling.mean == turned_ceiling.mean
    for confusion, turned_confusion in zip(one.confusions, other.confusions, strict=True):
        assert confusion.prevalence == turned_confusion.prevalence
        assert confusion.sensitivity == tuple(turned_confusion.sensitivity[k] for k in back)


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
    for name, onset in (("a", 1.234567), ("b", 1.5), ("c", 1.5)):
        (tmp_path / f"{name}.tsv").write_text(
            f"filename\tonset\toffset\tevent_label\nx.wav\t{onset}\t3.25\tdog\n"
        )
    tables = [tmp_path / f"{name}.tsv" for name in "abc"]
    printed = call("annotate", *tables, "-o", "-", "-q").out.splitlines()
    assert printed[1:] == ["x.wav\t1.234567\t1.5\tdog\t0.3333333333333333", "x.wav\t1.5\t3.25\tdog\t1"]
    asked = ("--score", "event.soft.f1.micro", "--format", "json")
    document = call("annotate", *tables, *asked).document
    assert document["settings"]["continuous"] is True
    # Above 1/2 the other two begin within the collar of the second, below it they do not.
    assert document["ceiling"][0]["annotators"] == [0.0, 0.5, 0.5]
    both = call("annotate", *tables, "--continuous", "--segment-length", "0.1", "--format", "json").document
    assert (both["settings"]["continuous"], both["settings"]["segment_length"]) == (True, 0.1)
