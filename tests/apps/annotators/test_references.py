"""References of consensus events and in continuous time: slow definitions, laws, and cases by hand."""

from fractions import Fraction
from itertools import combinations, permutations, product
from statistics import median

import numpy as np
import pytest
from called import call
from hypothesis import given, settings
from hypothesis import strategies as st
from opinions import TABLES, apart, rows_of, table

from sedeval_soft import annotate
from sedeval_soft.apps.annotators.consensus import consensus_of
from sedeval_soft.apps.annotators.references import METHODS
from sedeval_soft.timeline import Activity, Events

# Consensus events.


def events_of(rows):
    """Return rows (file, class, onset, offset) in ticks as events."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    codes, times = columns[:2].astype(np.int32), columns[2:]
    return Events(*codes, *times, *(times / 1e6))


def iou(one, other):
    if one[:2] != other[:2]:
        return Fraction(0)
    common = min(one[3], other[3]) - max(one[2], other[2])
    return Fraction(max(common, 0), max(one[3], other[3]) - min(one[2], other[2]))


def slow_clusters(annotators, share):
    """Return clusters of (annotator, row) by the definition: one merger after another, in fractions."""
    clusters = [[(who, row)] for who, rows in enumerate(annotators) for row in rows]
    while True:
        mergers = []
        for one, other in combinations(clusters, 2):
            if not {who for who, _ in one} & {who for who, _ in other}:
                pairs = [iou(a, b) for (_, a), (_, b) in product(one, other)]
                first = sorted(min(row for _, row in cluster) for cluster in (one, other))
                mergers.append((-sum(pairs) / len(pairs), first, one, other))
        mean, _, one, other = min(mergers, default=(1, None, None, None))
        if -mean < share:
            return clusters
        clusters = [each for each in clusters if each not in (one, other)] + [one + other]


ROW = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 20), st.integers(1, 12)).map(
    lambda row: (*row[:3], row[2] + row[3])
)
ROWS_OF_PEOPLE = st.lists(st.lists(ROW, max_size=7).map(apart), min_size=2, max_size=5)
SHARES = st.sampled_from([Fraction(1, 5), Fraction(3, 10), Fraction(1, 2), Fraction(3, 5), Fraction(1)])


@given(ROWS_OF_PEOPLE, SHARES)
@settings(max_examples=50)
def test_clusters_are_those_of_the_definition(people, share):
    labelled, found = np.ones((len(people), 2), dtype=bool), []
    made = consensus_of([*map(events_of, people)], labelled, iou=float(share))
    for at, column in enumerate(made.members.T.tolist()):
        found.append([(who, people[who][place]) for who, place in enumerate(column) if place >= 0])
        rows = [row for _, row in found[-1]]
        assert {row[:2] for row in rows} == {(made.file[at], made.label[at])}
        assert made.confidence[at] == len(rows) / len(people)
        for axis, middle, spread in (
            (2, made.onset, made.onset_spread),
            (3, made.offset, made.offset_spread),
        ):
            times = [row[axis] for row in rows]
            distance = sum(abs(time - median(times)) for time in times) / len(times) / 1e6
            assert middle[at] == median(times) // 1
            assert spread[at] == pytest.approx(distance if len(rows) > 1 else np.nan, abs=1e-15, nan_ok=True)
    assert sorted(found) == sorted(map(sorted, slow_clusters(people, share)))


def test_confidence_is_a_share_of_those_who_labelled_the_file():
    people = [[(0, 0, 0, 10), (1, 0, 0, 10)], [(0, 0, 0, 10)], []]
    labelled, tables = np.array([[True, True], [True, False], [True, True]]), [*map(events_of, people)]
    # If all annotators of a file have a weight of 0, they count alike.
    for weights, confidence in (
        ([1, 1, 1], [2 / 3, 1 / 2]), ([0.5, 0.25, 0.25], [0.75, 2 / 3]), ([0.0, 1.0, 0.0], [1.0, 1 / 2]),
    ):  # fmt: skip
        assert consensus_of(tables, labelled, np.array(weights)).confidence.tolist() == confidence


def test_annotators_rows_that_overlap_are_one_event():
    rows = [(0.0, 1.0, "a"), (0.5, 0.75, "a"), (1.0, 2.0, "a"), (2.0, 3.0, "b"), (3.0, 3.0, "b")]
    people = [table([("x", *row) for row in rows])] * 2
    # Each touching row is an event of its own; a row without extent is not an event.
    expected = [("x", 0.0, 1.0, "a", 1.0), ("x", 1.0, 2.0, "a", 1.0), ("x", 2.0, 3.0, "b", 1.0)]
    assert rows_of(annotate(people, consensus=True).reference) == expected
    merged = annotate(people, consensus=True, events="merge", scores=["event.hard.f1.micro"])
    # The `ceiling` joins events in the same way.
    assert merged.ceiling[0].mean == 1.0
    assert rows_of(merged.reference) == [("x", 0.0, 2.0, "a", 1.0), expected[2]]


def test_the_reference_has_the_consensus_events():
    """By hand: three hear a dog, two a car; the IoU of the dogs are 8 / 10, 8 / 12 and 10 / 12."""
    people = [
        table([("x", 0.0, 10.0, "dog"), ("x", 20.0, 22.0, "car")], "y"),
        table([("x", 2.0, 10.0, "dog"), ("x", 21.0, 23.0, "car"), ("y", 1.0, 2.0, "dog")]),
        table([("x", 0.0, 12.0, "dog")]),
    ]
    dog, car, other = [("x", 0.0, 10.0, "dog"), ("x", 20.5, 22.5, "car"), ("y", 1.0, 2.0, "dog")]
    # The cars' IoU is 1 / 3.
    cars = [("x", 20.0, 22.0, "car", 0.333333), ("x", 21.0, 23.0, "car", 0.333333)]
    for how, rows in (
        ({}, [(*dog, 1.0), (*car, 0.666667), (*other, 0.5)]),
        ({"method": "majority"}, [(*dog, 1.0), (*car, 1.0)]),
        ({"same_iou": 0.34}, [(*dog, 1.0), *cars, (*other, 0.5)]),
    ):
        made = annotate(people, missing="unlabelled", consensus=True, **how)
        assert rows_of(made.reference) == rows
    frame = made.events.to_pandas()
    assert frame["onset_spread"].fillna(-1).tolist() == [pytest.approx(2 / 3), -1, -1, -1]
    assert frame["annotators"].tolist()[3] == ["annotator 2"]


def test_competence_weighs_confidence():
    made = annotate(TABLES, consensus=True, method="competence")
    weight = {each.name: each.competence for each in made.annotators}
    events = made.to_dict()["events"]
    shares = [sum(map(weight.get, each["annotators"])) / sum(weight.values()) for each in events]
    assert [each["confidence"] for each in events] == pytest.approx(shares, abs=1e-12)


def test_the_ceiling_counts_who_labelled_a_file():
    """By hand: one of the two others who labelled y has the event, so its soft precision is 0.5."""
    hears = table([("y", 0.0, 1.0, "a")], "x")
    asked = {"scores": ["segment.soft.precision.micro", "segment.soft.f1.micro"], "missing": "unlabelled"}
    made = annotate([table([], "x"), hears, hears, table([], "y")], consensus=True, **asked)
    # An annotator who labelled only x has no score there, as nobody hears anything in x.
    assert [each.annotators for each in made.ceiling] == [(None, 0.5, 0.5, None), (None, 2 / 3, 2 / 3, 0.0)]
    # The first and the last annotator share no file.
    assert [pair.f1_micro for pair in made.pairs] == [None, None, None, 1.0, 0.0, 0.0]


# Continuous time.


FILES, CLASSES = ("x", "y"), ("a", "b")
EVENT = st.tuples(st.sampled_from(FILES), st.integers(0, 40), st.integers(1, 12), st.sampled_from(CLASSES))
PEOPLE = st.lists(st.lists(EVENT, max_size=5), min_size=2, max_size=3)


def people_of(crowd, unit=0.25, files=FILES):
    """Return a table for each annotator, of events (file, begin, length, class) in units."""
    return [
        table([(f, unit * begin, unit * (begin + n), k) for f, begin, n, k in own], files) for own in crowd
    ]


def function(rows):
    """Return a table as pieces of constant value: file, class, onset and offset in ticks, value."""
    pieces = Activity.of_table(rows).merged()
    names = [rows.files[k] for k in pieces.file], [rows.classes[k] for k in pieces.label]
    times = pieces.onset.tolist(), pieces.offset.tolist()
    return sorted(zip(*names, *times, pieces.value.tolist(), strict=True))


@settings(max_examples=6)
@given(PEOPLE, st.sampled_from(["mean", "majority"]))
def test_it_is_what_annotators_say_at_every_time(crowd, method):
    made = annotate(people_of(crowd), method=method, classes=CLASSES, scores=["segment.soft.f1.micro"])
    found, expected = {}, {}
    for name, label, begin, end, value in function(made.reference):
        assert begin % 250_000 == end % 250_000 == 0
        found |= {(name, label, k): value for k in range(begin // 250_000, end // 250_000) if value}
    for name, label, at in product(FILES, CLASSES, range(53)):
        who = (any(e[::3] == (name, label) and e[1] <= at < e[1] + e[2] for e in own) for own in crowd)
        share = sum(who) / len(crowd)
        expected[name, label, at] = share if method == "mean" else float(share > 0.5)
    assert found == {key: share for key, share in expected.items() if share}
    assert made.settings["continuous"]


@settings(max_examples=3)
@given(PEOPLE, st.sampled_from(["mean", "competence"]))
def test_a_grid_on_which_all_boundaries_lie_changes_nothing(crowd, method):
    how = {"method": method, "classes": CLASSES, "scores": ["segment.soft.f1.micro"]}
    people = people_of(crowd, unit=1.0)
    exact, grid = annotate(people, **how), annotate(people, segment_length=1.0, **how)
    assert (exact.settings["continuous"], grid.settings["continuous"]) == (True, False)
    assert all(each.unitizing is None for each in grid.agreement)
    ours, theirs = (
        (function(each.reference), each.annotators, [of[:3] for of in each.agreement], each.pairs,
         each.segments, each.ceiling)
        for each in (exact, grid)
    )  # fmt: skip
    assert ours == theirs


@settings(max_examples=3)
@given(PEOPLE, st.randoms(use_true_random=False), st.sampled_from([*METHODS]), st.booleans())
def test_the_order_of_annotators_and_files_does_not_matter(crowd, random, method, consensus):
    """The reference is the same to the last bit, and so are the numbers of each annotator."""
    order = random.sample(range(len(crowd)), len(crowd))
    one, other = people_of(crowd), people_of([crowd[k][::-1] for k in order], files=FILES[::-1])
    how = {"method": method, "consensus": consensus, "scores": ["event.soft.f1.micro"], "systems": one[:1]}
    found = []
    for people in (dict(enumerate(one)), dict(zip(order, other, strict=True))):
        made = annotate({"abcd"[k]: each for k, each in people.items()}, **how)
        rows, at = made.reference, [[*people].index(k) for k in range(len(crowd))]
        each_of = [
            made.annotators, *([made.boundaries] if consensus else []),
            *(ceiling.annotators for ceiling in made.ceiling),
            *(confusion.sensitivity for confusion in made.confusions),
            *(score.against for score in made.systems[0].scores),
        ]  # fmt: skip
        found.append((
            rows.files, rows.classes,
            [each.tobytes() for each in (rows.file, rows.label, rows.onset, rows.offset, *rows.values)],
            made.agreement, [[of[k] for k in at] for of in each_of], [each.mean for each in made.ceiling],
            {frozenset(pair.annotators): pair[1:] for pair in made.pairs},
            [each.prevalence for each in made.confusions],
            [score._replace(against=()) for score in made.systems[0].scores],
        ))  # fmt: skip
    assert found[0] == found[1]


def test_labels_beyond_the_end_of_a_file_are_no_agreement():
    """A file lasts 5 s: labels after its end do not count, as if they did not exist."""
    one, other = (
        annotate(people_of([[("x", 8, first, "a")], [("x", 12, second, "a"), ("x", 0, 3, "b")]], files=()),
                 durations={"x": 5.0})
        for first, second in ((20, 30), (12, 8))
    )  # fmt: skip
    assert (one.agreement, one.annotators, one.segments) == (other.agreement, other.annotators, 5)
    assert [each[:4] for each in one.pairs] == [each[:4] for each in other.pairs]


def test_time_steps_stay_on_their_grid_unless_asked():
    steps = {
        "filename": ["x"] * 4, "onset": [0.0, 0.5, 1.0, 1.5], "offset": [0.5, 1.0, 1.5, 2.0],
        "event_label": ["a"] * 4, "soft_value": [0.2, 0.8, 0.4, 0.4],
    }  # fmt: skip
    events = table([("x", 0.25, 0.75, "a")])
    assert not annotate([steps, events]).settings["continuous"]
    exact = annotate([steps, events], continuous=True).reference
    assert [piece[2:] for piece in function(exact)] == [
        (0, 250_000, 0.1), (250_000, 500_000, 0.6), (500_000, 750_000, 0.9), (750_000, 1_000_000, 0.4),
        (1_000_000, 2_000_000, 0.2),
    ]  # fmt: skip
    # Events with values are not time steps.
    opinion = {name: column[:1] for name, column in steps.items()} | {"onset": [0.1]}
    assert annotate([opinion, events]).settings["continuous"]


def test_boundaries_are_kept_by_the_command(tmp_path):
    tables = [tmp_path / f"{name}.tsv" for name in "abc"]
    for path, onset in zip(tables, (1.234567, 1.5, 1.5), strict=True):
        path.write_text(f"filename\tonset\toffset\tevent_label\nx.wav\t{onset}\t3.25\tdog\n")
    columns = ("--columns", "onset=onset", "--missing", "silent", "--ceiling-of", tables[1])
    printed = call("annotate", *tables, "-o", "-", "-q", *columns)
    assert printed.out.splitlines()[1:] == [
        "x.wav\t1.234567\t1.5\tdog\t0.3333333333333333", "x.wav\t1.5\t3.25\tdog\t1",
    ]  # fmt: skip
    assert printed.err.count("\n") > 10
    asked = ("--score", "event.soft.f1.micro", "--format", "json")
    document = call("annotate", *tables, *asked, "--continuous", "--segment-length", "0.1").document
    assert document["settings"].items() >= {"continuous": True, "segment_length": 0.1}.items()
    # Above a level of 1/2, the others' event begins within the collar of the second's; below, it does not.
    assert call("annotate", *tables, *asked).document["ceiling"][0]["annotators"] == [0.0, 0.5, 0.5]


TICK, LENGTH = 1e-6, 60


def unitizing(people, files=FILES, length=LENGTH, **how):
    """Return alpha of all classes and by class; people: events in ticks, and the files that they labelled."""
    tables = [people_of([events], TICK, labelled)[0] for events, labelled in people]
    made = annotate(tables, durations=dict.fromkeys(files, length * TICK), missing="unlabelled", **how)
    return {each.class_name: each.unitizing for each in made.agreement}


def segments(events, name, label):
    """Return the units and gaps of a continuum as (begin, end, whether it is a unit)."""
    units, at, found = sorted((b, b + n) for f, b, n, k in events if (f, k) == (name, label)), 0, []
    for begin, end in [*units, (LENGTH, LENGTH)]:
        found += [(at, begin, False), (begin, end, True)]
        at = end
    return [each for each in found if each[0] < each[1]]


def slow(people, labels):
    """Return alpha by equations 1, 4 and 6 of Krippendorff et al. 2016; continua of files are pooled."""
    observed, selves = np.zeros((2, 2)), np.zeros(2)
    for name, label in product(FILES, labels):
        crowd = [segments(events, name, label) for events, labelled in people if name in labelled]
        for one, other in permutations(crowd, 2):
            for (begin, end, c), (start, stop, k) in product(one, other):
                observed[int(c), int(k)] += max(min(end, stop) - max(begin, start), 0) / (len(crowd) - 1)
        for begin, end, c in (each for own in crowd if len(crowd) > 1 for each in own):
            selves[int(c)] += (end - begin) ** 2 if c else end - begin
    margins, total = observed.sum(axis=1), observed.sum()
    expected = total * (np.outer(margins, margins) - np.diag(selves)) / max(total**2 - selves.sum(), 1)
    return 1 - observed[0, 1] / expected[0, 1] if margins.all() else None


EVENTS = st.lists(EVENT, max_size=6).map(
    lambda rows: [(f, b, e - b, k) for f, k, b, e in apart((f, k, b, b + n) for f, b, n, k in rows)]
)
PERSON = st.tuples(EVENTS, st.sets(st.sampled_from(FILES), min_size=1))


@settings(max_examples=10)
@given(st.lists(PERSON, min_size=2, max_size=4))
def test_it_is_that_of_the_definition(people):
    people = [([e for e in events if e[0] in labelled], sorted(labelled)) for events, labelled in people]
    made = unitizing(people, classes=("a", "b"))
    for label, labels in (("a", "a"), ("b", "b"), (None, "ab")):
        expected = slow(people, labels)
        assert made[label] == (None if expected is None else pytest.approx(expected, abs=1e-9))


@pytest.mark.parametrize(
    ("length", "people", "o", "c", "n", "n_1"),
    [
        # o = (10 + 5 + 5) / 2 and c = 9 + 9 + 100 + 9 + 25 + 156.
        (60, [[(2, 3)], [(2, 3), (10, 10)], [(2, 3), (15, 5)]], 10, 308, 180, 24),
        # From the tests of krippendorff-unitized-alpha 0.1.0, which expects 0.56: o = (5 + 19 + 14) / 2 and
        # c = 144 + 961 + 49 + 961 + 576 + 63.
        (56, [[(3, 12), (22, 31)], [(3, 7), (22, 31)], [(22, 24)]], 19, 2754, 168, 105),
    ],
)
def test_examples(length, people, o, c, n, n_1):
    crowd = [([("x", *each, "a") for each in own], ("x",)) for own in people]
    made = unitizing(crowd, files=("x",), length=length)["a"]
    assert made == pytest.approx(1 - o * (n**2 - c) / (n * n_1 * (n - n_1)), abs=1e-12)
