"""`diagnose`: screen, documents and rows; it tries all that it suggests; differences of two systems."""

import io
import itertools
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
from called import OTHER, REFERENCE, SYSTEM, call
from tables import columns_of

import sedeval_soft
from sedeval_soft.apps.diagnosis.results import place_of
from sedeval_soft.fields import FIELDS

FEW = ("--quiet", "--only", "event.hard", "--replicates", "50")
EVENTS = {"only": "event.hard", "suggestions": False, "replicates": 50}


@pytest.fixture(scope="module")
def pair():
    return [sedeval_soft.diagnose(REFERENCE, each, **EVENTS) for each in (SYSTEM, OTHER)]


def test_losses_classes_and_suggestions_are_those_of_the_scores():
    found, scores = (
        sedeval_soft.diagnose(REFERENCE, SYSTEM, ci=None),
        sedeval_soft.evaluate(REFERENCE, SYSTEM),
    )
    lost = found.to_dict()["lost"]
    f_of = [scores[f"{each['basis']}.{each['reading']}.f1.{each['average']}"] for each in lost]
    assert [(each["f"], each["lost"]) for each in lost] == [(f, 1 - f) for f in f_of] and len(lost) == 6
    events = [each for each in found.classes if each.basis == "event"]
    f, best = (scores[f"event.{reading}.f1.micro"] for reading in ("hard", "optimal"))
    assert sum(each.share for each in events) == pytest.approx(1 - f, abs=1e-12)
    assert sum(each.fn for each in events) == scores["event.hard.fn.micro"]
    assert all(at.class_name == each.class_name for each in events for at in each.at)
    assert (found.suggestions[0].before, found.suggestions[0].after) == (f, best)


def frames(rng, n, step):
    """Return frames of a file whose values wander, so that a threshold splits events."""
    rows = []
    for label in ("car", "dog"):
        value = np.clip(np.cumsum(rng.normal(0, 0.25, n)) % 2 - rng.random(n) * 0.8, 0, 1).round(2)
        rows += [("a", k * step, (k + 1) * step, label, float(v)) for k, v in enumerate(value)]
    return columns_of(rows)


def test_what_is_not_tried_would_not_have_helped():
    """The best of all lengths and of all thresholds is suggested if it helps, as if each had been tried."""
    rng, helpful = np.random.default_rng(1), []
    sides = [frames(rng, n=24, step=0.2501) for _ in range(2)]
    pairs = zip(sides[0]["value"], sides[1]["value"], strict=True)
    sides[1]["value"] = [min(1.0, 0.6 * a + 0.4 * b) for a, b in pairs]
    cuts = [*itertools.pairwise(sorted({0.0, 1.0, *sides[1]["value"]}))]
    for only in ("event.hard", "segment.hard"):
        how = {"only": only, "offset_collar_rate": 0.9, "onset_collar": 2.0, "segment_length": 0.5}

        def score(**values):
            return sedeval_soft.evaluate(*sides, **how, **values)[f"{only}.f1.micro"]  # noqa: B023

        suggestions = sedeval_soft.diagnose(*sides, replicates=1, **how).suggestions
        found, before, expected = {each.settings: each for each in suggestions}, score(), {}
        for name, lengths in (
            ("min_gap", (0.1, 0.2, 0.5, 1.0)),
            ("min_duration", (0.1, 0.2, 0.5, 1.0)),
            ("median_filter", (0.3, 0.5, 1.0, 2.0)),
        ):
            tried = {length: score(**{name: length}) for length in lengths}
            best = max(lengths, key=lambda length: (tried[length], -length))
            expected[FIELDS[name].typed(f"{best:g}")] = tried[best]
        (typed,) = [each for each in found if each.startswith("--threshold ")] or ["none"]
        expected[typed] = max(score(threshold=(a + b) / 2, reference_threshold=0.5) for a, b in cuts)
        helps = {settings: (before, after) for settings, after in expected.items() if after > before}
        assert {each: (found[each].before, found[each].after) for each in expected if each in found} == helps
        helpful += helps
        if typed != "none":
            at, beside = typed.removeprefix("--threshold ").split(" --reference-threshold ")
            assert score(threshold=float(at), reference_threshold=float(beside)) == found[typed].after
    assert any("median" in each for each in helpful) and any("--threshold" in each for each in helpful)


def test_values_without_a_fixed_time_step_are_diagnosed():
    """A median filter needs a fixed time step, so none is tried."""
    times = np.random.default_rng(0).uniform(0, 100, (40, 2)).tolist()
    rows = columns_of([("a", onset, onset + 2, "car", value / 100) for onset, value in times])
    found = sedeval_soft.diagnose(rows, rows, threshold=0.9, reference_threshold=0.5)
    assert any(each.settings.startswith("--threshold") for each in found.suggestions)


def test_a_screen_has_one_system_or_two(pair):
    """The costliest kind is first; for two systems, all kinds sum to the difference of their scores."""
    outs = [
        call("diagnose", REFERENCE, *systems, *FEW).out.splitlines()
        for systems in ((SYSTEM,), (SYSTEM, OTHER))
    ]
    alone, both = ([line.split() for line in out] for out in outs)
    at = next(i for i, line in enumerate(alone) if line[:3] == ["kind", "FP", "FN"])
    assert alone[at + 1][:4] == ["split", "37", "17", ".209"]
    where = [line[-4:] for line in alone if line[:3] == ["people", "talking:", "split"]]
    assert where == [["street.wav", "at", "37.0", "s"]]
    one, other = (each.scores for each in pair)
    (total,) = (float(line[3]) for line in both if line[:1] == ["sum"])
    assert total == pytest.approx(other["event.hard.f1.micro"] - one["event.hard.f1.micro"], abs=6e-4)
    signatures = [line[-1] for line in both if line[-2:-1] == ["sys"]]
    assert signatures == [each.short_signature.split()[-1] for each in (one, other)]
    whole = call("diagnose", REFERENCE, SYSTEM, "--quiet", "--replicates", "50").out.splitlines()
    assert all(len(out) <= 40 and max(map(len, out)) <= 80 for out in (*outs, whole))


def test_differences_add_up_to_that_of_the_scores():
    first, second = (
        sedeval_soft.diagnose(REFERENCE, each, ci=None, suggestions=False) for each in (SYSTEM, OTHER)
    )
    won, of_classes = first.differences(second), first.differences(second, by_class=True)
    family = attrgetter("basis", "reading", "average")
    for basis, reading, average in {*map(family, won)}:
        own = [each.won for each in won if family(each) == (basis, reading, average)]
        one, other = (each.scores[f"{basis}.{reading}.f1.{average}"] for each in (first, second))
        assert sum(own) == pytest.approx(other - one, abs=1e-12)
        assert own == sorted(own, key=abs, reverse=True)
    for each in won:
        own = [of.won for of in of_classes if place_of(of) == place_of(each)]
        assert each.average == "macro" or sum(own) == pytest.approx(each.won, abs=1e-12)


def test_forms_have_the_same_numbers(pair):
    one, other = pair
    printed = call("diagnose", REFERENCE, SYSTEM, OTHER, *FEW, "--format", "csv").out
    rows = pd.read_csv(io.StringIO(printed))
    # Rows have a column for each number that a kind has in JSON.
    assert {*rows} - {"system", "won"} == {*one.to_pandas()}
    first, second = (rows[rows["system"] == name] for name in (SYSTEM, OTHER))
    assert first["share"].tolist() == one.to_pandas()["share"].tolist() and first["won"].isna().all()
    won = {(each.average, each.kind): each.won for each in one.differences(other)}
    assert second.set_index(["average", "kind"])["won"].to_dict() == won
    asked = ("--format", "json", "--no-suggestions")
    document = call("diagnose", REFERENCE, SYSTEM, OTHER, *FEW, *asked).document
    assert {each["system"]: each["suggestions"] for each in document["systems"]} == {SYSTEM: [], OTHER: []}
    assert [each["won"] for each in document["differences"]] == [*won.values()]
    assert len(document["differences_by_class"]) == len(one.differences(other, by_class=True))


def test_differences_need_one_reference(pair):
    assert pair[0].suggestions == ()
    for reference, beta in ((OTHER, 1.0), (REFERENCE, 2.0)):
        with pytest.raises(sedeval_soft.SettingsError, match="of one reference"):
            pair[0].differences(sedeval_soft.diagnose(reference, SYSTEM, beta=beta, **EVENTS))
    empty = sedeval_soft.diagnose(columns_of([], "a"), columns_of([("a", 0, 1, "car", 1.0)]))
    assert {each.won for each in empty.differences(empty)} == {None}


def test_a_perfect_system_loses_nothing():
    found = sedeval_soft.diagnose(REFERENCE, REFERENCE, ci=None)
    assert (found.classes, found.suggestions) == ((), ())
    assert {each["lost"] for each in found.to_dict()["lost"]} == {each.share for each in found.errors} == {0}


@pytest.mark.parametrize("words", [(SYSTEM, OTHER, SYSTEM), (SYSTEM, "--only", "clip"), ("nothing.tsv",)])
def test_wrong_calls_are_refused(words):
    assert call("diagnose", REFERENCE, *words).code == 2


def test_tables_without_values_without_events_of_some_thresholds_and_a_preset():
    events = [("a", 0, 10, "car"), ("b", 0, 1, "dog")]
    both, few = columns_of(events), columns_of(events[:1])
    out = str(sedeval_soft.diagnose(both, both))
    assert "segment.hard" in out and "segment.soft.f1" not in out
    found = sedeval_soft.diagnose(columns_of([], "a"), few)
    assert "lost -" in str(found)
    assert {each["share"] for each in found.to_dict()["errors"] + found.to_dict()["classes"]} == {None}
    found = sedeval_soft.diagnose(both, {0.6: few, 0.3: both})
    assert {(each.basis, each.reading) for each in found.errors} == {("event", "hard")}
    # For a preset that follows another tool, our rules are used and a warning reports it.
    done = call("diagnose", REFERENCE, SYSTEM, "--preset", "dcase2019-task4", "--only", "event.hard")
    assert done.code == 0 and "without compat=sed_eval" in done.err
