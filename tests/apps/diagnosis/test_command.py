"""`diagnose`: a screen, documents and rows; what is suggested was tried; differences of two systems."""

from __future__ import annotations

import io
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from called import call

import sedeval_soft
from sedeval_soft.fields import FIELDS

SAMPLE = Path(__file__).parents[3] / "sample_data"
REF, SYS, OTHER = (str(SAMPLE / f"{name}.tsv") for name in ("ref", "sys", "sys_b"))

FEW = ("--quiet", "--only", "event.hard", "--replicates", "50")
EVENTS = {"only": "event.hard", "suggestions": False, "replicates": 50}


@pytest.fixture(scope="module")
def document():
    return json.loads(call("diagnose", REF, SYS, "--quiet", "--format", "json").out)


@pytest.fixture(scope="module")
def pair():
    return [sedeval_soft.diagnose(REF, each, **EVENTS) for each in (SYS, OTHER)]


def test_shares_and_losses_are_those_of_the_scores(document):
    rows, scores = pd.DataFrame(document["errors"]), sedeval_soft.evaluate(REF, SYS)
    assert len(document["lost"]) == 6
    for each in document["lost"]:
        basis, reading, average = (each[name] for name in ("basis", "reading", "average"))
        f = scores[f"{basis}.{reading}.f1.{average}"]
        assert (each["f"], each["lost"]) == (f, 1 - f)
        own = rows[(rows["basis"] == basis) & (rows["reading"] == reading) & (rows["average"] == average)]
        assert own["share"].sum() == pytest.approx(1 - f, abs=1e-12)
        assert (own["low"] <= own["share"]).all() and (own["share"] <= own["high"] + 1e-12).all()
    classes = pd.DataFrame(document["classes"])
    of_events = classes[classes["basis"] == "event"]
    assert of_events["share"].sum() == pytest.approx(1 - scores["event.hard.f1.micro"], abs=1e-12)
    assert of_events["fn"].sum() == scores["event.hard.fn.micro"]
    missed = next(
        each for each in document["classes"] if each["kind"] == "missed" and each["basis"] == "event"
    )
    assert missed["example"]["class"] == missed["class"]


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_f_is_the_score_to_the_last_bit(beta):
    """Of random values; 1 minus the sum of shares would differ from it in about every second case."""
    sides = np.random.default_rng(5).random((2, 3, 40, 4))
    diagnosis = sedeval_soft.diagnose(*sides, segment_length=0.5, beta=beta, ci=None, suggestions=False)
    scores, measure = (
        sedeval_soft.evaluate(*sides, segment_length=0.5, beta=beta),
        "f1" if beta == 1 else "fbeta",
    )
    for each in diagnosis.lost:
        assert each.f == scores[f"{each.basis}.{each.reading}.{measure}.{each.average}"]


def test_what_is_suggested_was_tried(document):
    assert document["suggestions"]
    for each in document["suggestions"]:
        assert each["after"] > each["before"]
    scores = sedeval_soft.evaluate(REF, SYS)
    assert document["suggestions"][0]["before"] == scores["event.hard.f1.micro"]
    assert document["suggestions"][0]["after"] == scores["event.optimal.f1.micro"]


def frames(rng, n=60, step=1.0, classes=("car", "dog")):
    """Frames of a file whose values wander, so that events are split at a threshold."""
    rows = []
    for label in classes:
        value = np.clip(np.cumsum(rng.normal(0, 0.25, n)) % 2 - rng.random(n) * 0.8, 0, 1).round(2)
        rows += [("a", k * step, (k + 1) * step, label, float(v)) for k, v in enumerate(value)]
    names = ("filename", "onset", "offset", "event_label", "value")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


TRIED = {
    "min_gap": (0.1, 0.2, 0.5, 1.0),
    "min_duration": (0.1, 0.2, 0.5, 1.0),
    "median_filter": (0.3, 0.5, 1.0, 2.0),
}


@pytest.mark.parametrize("step", [1.0, 0.2501])
def test_what_is_not_tried_would_not_have_helped(step):
    """As if all lengths had been tried, and all thresholds: the best of each is suggested, if it helps."""
    rng, helpful = np.random.default_rng(1), []
    sides = [frames(rng, step=step, n=24) for _ in range(2)]
    sides[1]["value"] = [
        min(1.0, 0.6 * a + 0.4 * b) for a, b in zip(sides[0]["value"], sides[1]["value"], strict=True)
    ]
    for only in ("event.hard", "segment.hard"):
        how = {"only": only, "offset_collar_rate": 0.9, "onset_collar": 2.0, "segment_length": 0.5}
        found = {
            re.split("[ =]", each.settings.replace("--set ", "--"))[0].strip("-").replace("-", "_"): each
            for each in sedeval_soft.diagnose(*sides, replicates=1, **how).suggestions
        }
        helpful += found
        score = f"{only}.f1.micro"
        before = sedeval_soft.evaluate(*sides, **how)[score]
        for name, lengths in TRIED.items():
            tried = {
                length: sedeval_soft.evaluate(*sides, **how, **{name: length})[score] for length in lengths
            }
            best = max(tried.values())
            each = found.get(name)
            assert (each is not None) == (best > before), (name, tried, before)
            if each is not None:
                first = min(length for length in lengths if tried[length] == best)
                assert (each.before, each.after) == (before, best)
                assert each.settings == FIELDS[name].typed(f"{first:g}")
        levels = sorted({0.0, 1.0, *sides[1]["value"]})
        best = max(
            sedeval_soft.evaluate(*sides, **how, threshold=(a + b) / 2, reference_threshold=0.5)[score]
            for a, b in itertools.pairwise(levels)
        )
        each = found.get("threshold")
        assert (each is not None) == (best > before)
        if each is not None:
            assert (each.before, each.after) == (before, best)
            typed, beside = each.settings.removeprefix("--threshold ").split(" --reference-threshold ")
            cuts = {"threshold": float(typed), "reference_threshold": float(beside)}
            assert sedeval_soft.evaluate(*sides, **how, **cuts)[score] == each.after
    assert {"threshold", "median_filter"} <= {*helpful}


def test_values_without_a_fixed_time_step_are_diagnosed():
    """There is no median filter for them."""
    rng = np.random.default_rng(0)
    onset = rng.uniform(0, 100, 40)
    rows = {
        "filename": ["a"] * 40, "onset": onset.tolist(), "offset": (onset + rng.uniform(0.1, 3, 40)).tolist(),
        "event_label": ["car"] * 40, "value": rng.random(40).tolist(),
    }  # fmt: skip
    found = sedeval_soft.diagnose(rows, rows, threshold=0.9, reference_threshold=0.5)
    assert any(each.settings.startswith("--threshold") for each in found.suggestions)


def test_a_screen_holds_one_system_and_two(pair):
    """The costliest kind is first, and the sum of two is the difference of their scores."""
    out = call("diagnose", REF, SYS, *FEW).out
    lines = out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[:3] == ["kind", "FP", "FN"])
    assert lines[at + 1].split()[:4] == ["split", "37", "17", ".209"]
    assert re.search(r"^people talking: split +\.127 +street\.wav at 37\.0 s$", out, re.MULTILINE)
    both = call("diagnose", REF, SYS, OTHER, *FEW).out
    won = pair[1].scores["event.hard.f1.micro"] - pair[0].scores["event.hard.f1.micro"]
    total = next(line.split() for line in both.splitlines() if line.split()[:1] == ["sum"])
    assert float(total[3]) == pytest.approx(won, abs=6e-4)
    for text in (out, both, call("diagnose", REF, SYS, "--quiet").out):
        assert len(text.splitlines()) <= 40 and max(map(len, text.splitlines())) <= 80
    # Each signature is there.
    hashes = [each.scores.short_signature.split()[-1] for each in pair]
    assert [line.split()[-1] for line in both.splitlines() if line.split()[-2:-1] == ["sys"]] == hashes


def test_differences_add_up_to_that_of_the_scores():
    both = [sedeval_soft.diagnose(REF, each, ci=None, suggestions=False) for each in (SYS, OTHER)]
    one, other = (each.scores for each in both)
    won = pd.DataFrame([sedeval_soft.evaluation.scores.plain(each) for each in both[0].differences(both[1])])
    for (basis, reading, average), own in won.groupby(["basis", "reading", "average"]):
        f = f"{basis}.{reading}.f1.{average}"
        assert own["won"].sum() == pytest.approx(other[f] - one[f], abs=1e-12)
        assert own["won"].abs().is_monotonic_decreasing
    kinds = won[won["average"] == "micro"].set_index(["basis", "reading", "kind"])["won"]
    for key, value in kinds.items():
        own = [each.won for each in both[0].differences(both[1], by_class=True)
               if (each.basis, each.reading, each.kind) == key]  # fmt: skip
        assert sum(own) == pytest.approx(value, abs=1e-12)
    back = [each.won for each in both[1].differences(both[0])]
    assert sorted(back) == sorted(-won["won"])


def test_forms_have_the_same_numbers(pair):
    one, other = pair
    rows = pd.read_csv(io.StringIO(call("diagnose", REF, SYS, OTHER, *FEW, "--format", "csv").out))
    assert rows[rows["system"] == SYS]["share"].tolist() == one.to_pandas()["share"].tolist()
    # A column for each number that JSON has of a kind.
    assert {*rows} - {"system", "won"} == {*one.to_pandas()}
    won = {(each.average, each.kind): each.won for each in one.differences(other)}
    second = rows[rows["system"] == OTHER]
    read = zip(second["average"], second["kind"], second["won"], strict=True)
    assert {(average, kind): value for average, kind, value in read} == won
    assert rows[rows["system"] == SYS]["won"].isna().all()
    page = call("diagnose", REF, SYS, OTHER, *FEW, "--format", "markdown").out
    assert f"| merge | .014 | .716 | {won['micro', 'merge']:.3f} |".replace("-0", "-") in page
    assert "| split | 37 | 17 |" in page
    plain = call("diagnose", REF, SYS, OTHER, *FEW, "--format", "json", "--no-suggestions").out
    document = json.loads(plain)
    assert [each["suggestions"] for each in document["systems"]] == [[], []]
    assert [each["system"] for each in document["systems"]] == [SYS, OTHER]
    assert [each["won"] for each in document["differences"]] == [each.won for each in one.differences(other)]
    assert len(document["differences_by_class"]) == len(one.differences(other, by_class=True))


def test_differences_need_one_reference(tmp_path, pair):
    assert pair[0].suggestions == ()
    for others in ((OTHER, SYS, EVENTS), (REF, SYS, EVENTS | {"beta": 2.0})):
        with pytest.raises(sedeval_soft.SettingsError, match="of one reference"):
            pair[0].differences(sedeval_soft.diagnose(*others[:2], **others[2]))
    nothing = table(tmp_path / "ref.tsv", "a"), table(tmp_path / "sys.tsv", "a\t0\t1\tcar")
    empty = sedeval_soft.diagnose(*nothing)
    assert {each.won for each in empty.differences(empty)} == {None}


def test_a_perfect_system_loses_nothing():
    found = sedeval_soft.diagnose(REF, REF, ci=None)
    assert (found.classes, found.suggestions) == ((), ())
    assert {each.lost for each in found.lost} == {0.0} == {each.share for each in found.errors}
    assert "sum" in str(found)


def test_without_values_the_soft_reading_is_not_shown(tmp_path):
    hard = table(tmp_path / "hard.tsv", "a.wav\t0\t1\tcar", "b.wav\t1\t2\tdog")
    out = call("diagnose", hard, hard, "--quiet").out
    assert "segment.hard" in out and "segment.soft.f1" not in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((REF, SYS, OTHER, SYS), "Expected one SYSTEM, or two"),
        ((REF, SYS, "--only", "clip"), "there are kinds of errors of event.hard"),
        ((REF, "nothing.tsv"), "nothing.tsv"),
    ],
)
def test_wrong_calls_are_refused(words, said):
    done = call("diagnose", *words)
    assert done.code == 2 and said in done.err and "Traceback" not in done.err


def table(path, *rows):
    path.write_text("".join(f"{row}\n" for row in ("filename\tonset\toffset\tevent_label", *rows)))
    return str(path)


def test_without_reference_nothing_is_lost(tmp_path):
    ref, system = table(tmp_path / "ref.tsv", "a"), table(tmp_path / "sys.tsv", "a\t0\t1\tcar")
    found = sedeval_soft.diagnose(ref, system)
    assert "lost -" in str(found)
    assert {each["share"] for each in found.to_dict()["errors"] + found.to_dict()["classes"]} == {None}


def test_a_preset_that_follows_another_tool_is_answered_by_our_rules_and_that_is_said():
    done = call("diagnose", REF, SYS, "--preset", "dcase2019-task4", "--only", "event.hard")
    assert done.code == 0 and "without compat=sed_eval" in done.err


def test_operating_points_are_told_of_events(tmp_path):
    ref = table(tmp_path / "ref.tsv", "a\t0\t10\tcar", "b\t0\t1\tdog")
    few, more = (table(tmp_path / f"{k}.tsv", *["a\t0\t10\tcar", "b\t0\t1\tdog"][:k]) for k in (1, 2))
    found = sedeval_soft.diagnose(ref, {0.6: few, 0.3: more})
    assert {(each.basis, each.reading) for each in found.errors} == {("event", "hard")}
