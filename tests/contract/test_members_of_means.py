"""A submission can neither remove members from a mean nor raise it by blind additions.

The reference alone decides which classes, files, scenes and groups a mean is over: all that have a value for
a copy of the reference. If another system has no value there, the worst possible value counts. Tests try all
means of the registry: over classes, files, scenes and groups, with and without lengths of files.
"""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from laws import mean_in_fractions, same
from measure_oracles import pearson
from test_additions import ADDITIONS, EVERYTHING, FILES, LABELS, OF_VALUES, ROWS, ends, gains, is_trade, table

import sedeval_soft
from sedeval_soft import Scores, compare
from sedeval_soft.measures.base import mean_of
from sedeval_soft.measures.registry import AVERAGES, ScoreName, measure_of
from sedeval_soft.settings import CLASS_MEANS, MEANS, PART_MEANS

GROUPS = {"cars": ("car",), "dogs": ("dog",)}
SCENES = {"a": "town", "b": "town", "c": "country"}
WITH_MEANS = replace(
    EVERYTHING,
    means=tuple(mean for mean in MEANS if not mean.startswith("files")),
    groups=GROUPS,
    classes=(*LABELS, "rain"),
)
SOME_MEANS = replace(
    WITH_MEANS, means=(*CLASS_MEANS, "files.mean", "files.harmonic", "scenes.harmonic", "groups.geometric")
)
LENGTHS = dict.fromkeys(FILES, 12.0)

PARTS = {"scenes": tuple(dict.fromkeys(SCENES.values())), "groups": tuple(GROUPS)}


def scored(
    reference, system, *, lengths: dict[str, float] | None, values: bool = True, declared=(), made=WITH_MEANS
) -> Scores:
    sides = table(reference, FILES, values=values), table(system, declared, values=values)
    # Files that nobody asked for also have a scene.
    scenes = dict.fromkeys([*(row[0] for row in system), *declared], "country") | SCENES
    return sedeval_soft.evaluate(*sides, settings=made, by=scenes, durations=lengths)


def worst_of(name: str) -> float:
    measure = measure_of(name)
    worst = {"higher": measure.low, "lower": measure.high}[measure.direction]
    assert worst is not None, f"{name}: no value is the worst"
    return worst


KIND = {"macro": "mean", "weighted": "weighted", **{mean: mean for mean in CLASS_MEANS}}


def members(name: ScoreName, scores: Scores) -> tuple[str, list[str]]:
    """Return the kind of a mean, and the names of the scores in it; empty if the score is not a mean."""
    if name.group is not None and name.group in PART_MEANS:
        over, _, kind = name.group.partition(".")
        # Files have no scores of their own here: another test checks means over files.
        return kind, [str(name._replace(group=part)) for part in PARTS.get(over, ())]
    if name.average in KIND and measure_of(name).has_classes:
        names = [str(name._replace(average=None, class_name=label)) for label in scores.classes]
        return KIND[name.average], [each for each in names if each in scores]
    return "", []


def size_of(name: str, scores: Scores) -> float:
    """Return the size of the reference of a class or a part; 1 for scores without one, such as rankings."""
    of = ScoreName.parse(name)
    basis, average = "segment" if of.basis == "ranking" else of.basis, None if of.class_name else "micro"
    size = of._replace(basis=basis, measure="n_ref", average=average)
    return scores.get(str(size), 1.0)


SYSTEMS = {
    "nothing": lambda _: [],
    "one class": lambda reference: [row for row in reference if row[3] == "car"],
    "one scene, and all of another": lambda reference: [
        *(row for row in reference if row[0] == "c"),
        *((f, 0.0, 12.0, c, 1.0) for f in "ab" for c in LABELS),
    ],
}


@pytest.mark.parametrize(
    ("reference", "lengths", "system", "means"),
    [
        ([("a", 0.0, 1.0, "car", 0.75), ("b", 2.0, 4.0, "dog", 1.0)], LENGTHS, "one class",
         (*CLASS_MEANS, "groups.mean")),
        ([("a", 0.0, 1.0, "car", 0.75), ("c", 2.0, 4.0, "dog", 0.5)], None, "nothing",
         (*CLASS_MEANS, "scenes.mean")),
        ([("a", 0.0, 3.0, "car", 0.75), ("c", 2.0, 4.0, "dog", 1.0)], LENGTHS,
         "one scene, and all of another", WITH_MEANS.means),
    ],
)  # fmt: skip
def test_a_mean_is_over_what_a_copy_of_the_reference_has_a_value_of(reference, lengths, system, means):
    made, rows = replace(WITH_MEANS, means=means), SYSTEMS[system](reference)
    scores, copy = (scored(reference, of, lengths=lengths, made=made) for of in (rows, reference))
    checked = set()
    for text in scores:
        name = ScoreName.parse(text)
        kind, names = members(name, scores)
        # Averages of d' are computed from averages of areas.
        if not names or measure_of(text).direction == "none" or name.measure == "d_prime":
            continue
        names = [each for each in names if size_of(each, scores) > 0 and copy[each] is not None]
        values = [worst_of(each) if scores[each] is None else scores[each] for each in names]
        weights = [size_of(each, scores) if kind == "weighted" else 1.0 for each in names]
        wanted = mean_in_fractions("mean" if kind == "weighted" else kind, values, weights)
        assert same(scores[text], wanted), (text, scores[text], wanted)
        checked.add((name.measure, kind, name.group))
    # The test covers every average of the registry.
    assert {*AVERAGES} - {"micro"} == {*KIND} - {*CLASS_MEANS}
    assert {kind for _, kind, _ in checked} == {"mean", "weighted", *CLASS_MEANS}
    assert len({measure for measure, _, _ in checked}) > 40


@given(ROWS, ROWS, st.booleans(), st.booleans(), st.sampled_from([*ADDITIONS]))
@example([("a", 0.0, 1.0, "car", 1.0)], [("a", 0.0, 3.0, "car", 1.0)], True, True, "rows of value 0")
@settings(max_examples=2, deadline=None)
def test_nothing_added_blindly_raises_a_mean(reference, system, values, lengths, addition):
    # Copies may find a second event that touches the first; that does not concern means.
    if not values and addition in {*OF_VALUES, "every row twice"}:
        return
    rows, declared = ADDITIONS[addition](reference, system)
    # Additions after the end of the reference are also after the end of the files.
    durations = {name: max(end, 1.0) for name, end in ends(reference).items()} if lengths else None
    how = {"lengths": durations, "values": values, "made": SOME_MEANS}
    before = scored(reference, system, **how)
    after = scored(reference, [*system, *rows], declared=declared, **how)
    better = {name: pair for name, pair in gains(before, after).items() if not is_trade(name)}
    assert not better, (addition, better)


# Three defects that were found.


def seconds(values: dict[str, list[float]], file: str = "a") -> list[tuple[str, float, float, str, float]]:
    return [(file, float(k), k + 1.0, c, v) for c, column in values.items() for k, v in enumerate(column)]


@pytest.mark.parametrize("least", [5e-324, 1e-320, 1e-308, 1e-30])
def test_a_class_near_0_is_no_perfect_geometric_mean(least):
    """F of a value v against a reference of 1 is 2 v / (1 + v); F of the other class is 1."""
    reference, system = seconds({"car": [1.0], "dog": [1.0]}), seconds({"car": [1.0], "dog": [least]})
    scores = sedeval_soft.evaluate(
        table(reference), table(system), only="segment.soft", means=("geometric", "harmonic")
    )
    f = scores["segment.soft.f1[dog]"]
    assert scores["segment.soft.f1.geometric"] == pytest.approx(math.sqrt(f), rel=1e-12)
    assert scores["segment.soft.f1.harmonic"] == pytest.approx(float(2 / (1 + 1 / Fraction(f))), rel=1e-12)
    assert float(mean_of("geometric", [least, 1.0], [1, 1])) == pytest.approx(math.sqrt(least), rel=1e-12)


HONEST = {"car": [0.9, 0.1, 0.8, 0.2], "dog": [0.6, 0.1, 0.2, 0.7], "rain": [0.2, 0.8, 0.5, 0.6]}
TRUTH = {"car": [1.0, 0.0, 0.75, 0.25], "dog": [0.5, 0.25, 0.25, 1.0], "rain": [0.25, 1.0, 0.5, 0.0]}


@pytest.mark.parametrize("rest", ["missing", "constant"])
def test_submitting_the_easiest_class_alone_wins_no_board(rest):
    """A class whose values are all equal counts as -1 in macro correlations."""
    constant = {} if rest == "missing" else {c: [0.5] * 4 for c in ("dog", "rain")}
    systems = {
        "easiest": table(seconds({"car": HONEST["car"], **constant})),
        "honest": table(seconds(HONEST)),
    }
    asked = {"only": "segment.soft", "measures": "divergence", "durations": {"a": 4.0}}
    board = compare(table(seconds(TRUTH)), systems, rank_by="segment.soft.pearson.macro", **asked)
    each = {c: pearson(TRUTH[c], HONEST[c]) for c in TRUTH}
    assert each["car"] == max(each.values())
    wanted = {"honest": sum(each.values()) / 3, "easiest": (each["car"] - 2) / 3}
    found = {entry.system: entry.value for entry in board.entries}
    assert list(found) == ["honest", "easiest"] and found == pytest.approx(wanted, rel=1e-12)
    # The correlation of the class itself stays undefined.
    assert board["easiest"]["segment.soft.pearson[dog]"] is None
    assert board["honest"]["segment.soft.pearson[dog]"] == pytest.approx(each["dog"], rel=1e-12)


def test_a_board_by_a_mean_over_files_of_macro_averages_warns():
    reference = [("a", 0.0, 2.0, "car", 1.0), ("b", 0.0, 2.0, "dog", 1.0)]
    always = [(f, 0.0, 2.0, c, 1.0) for f in "ab" for c in LABELS]
    systems = {"always": table(always), "honest": table([*reference[:1], ("b", 0.0, 1.0, "dog", 1.0)])}
    for average, first in (("macro", "always"), ("micro", "honest")):
        name = f"segment.hard.f1.{average}@files.mean"
        board = compare(table(reference), systems, rank_by=name, only="segment.hard")
        assert board.entries[0].system == first
        warned = [text for text in board[first].warnings if text.startswith(name)]
        assert len(warned) == (average == "macro")
