"""`diagnose`: every error has a kind, and the prices of kinds add up to what was lost."""

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

SAMPLE = Path(__file__).parents[2] / "sample_data"
REF, SYS, OTHER = (str(SAMPLE / f"{name}.tsv") for name in ("ref", "sys", "sys_b"))

FEW = ("--quiet", "--only", "event.hard")


@pytest.fixture(scope="module")
def document():
    return json.loads(call("diagnose", REF, SYS, "--quiet", "--format", "json").out)


def test_shares_add_up_to_what_was_lost(document):
    rows = pd.DataFrame(document["errors"])
    scores = sedeval_soft.evaluate(REF, SYS)
    for (basis, reading, average), own in rows.groupby(["basis", "reading", "average"]):
        lost = 1 - scores[f"{basis}.{reading}.f1.{average}"]
        assert own["share"].sum() == pytest.approx(lost, abs=1e-12)
        assert own["of_lost"].sum() == pytest.approx(1, abs=1e-12)
        assert (own["low"] <= own["share"]).all() and (own["share"] <= own["high"] + 1e-12).all()
    hard = rows[(rows["basis"] == "event") & (rows["average"] == "micro")]
    assert hard["fp"].sum() == scores["event.hard.fp.micro"]
    assert hard["fn"].sum() == scores["event.hard.fn.micro"]
    classes = pd.DataFrame(document["classes"])
    of_events = classes[classes["basis"] == "event"]["share"].sum()
    assert of_events == pytest.approx(1 - scores["event.hard.f1.micro"], abs=1e-12)


def test_f_and_what_it_lost_are_in_the_document(document):
    scores = sedeval_soft.evaluate(REF, SYS)
    assert len(document["lost"]) == 6
    for each in document["lost"]:
        basis, reading, average = (each[name] for name in ("basis", "reading", "average"))
        f = scores[f"{basis}.{reading}.f1.{average}"]
        assert (each["f"], each["lost"]) == (f, 1 - f)
        best = scores[f"{basis}.optimal.f1.{average}"] if reading == "hard" else None
        assert each["optimal"] == best
    text = call("diagnose", REF, SYS, "--quiet").out
    assert (
        f"macro .733, at best thresholds {scores['segment.optimal.f1.macro']:.3f}".replace("0.", ".") in text
    )


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


def test_bins_of_a_factor_hold_all_events_and_their_loss(document):
    scores, rows = sedeval_soft.evaluate(REF, SYS), pd.DataFrame(document["sensitivity"])
    assert {*rows["factor"]} == {"duration", "classes at once"}
    for (measure, factor), own in rows.groupby(["measure", "factor"]):
        count = {"recall": "n_ref", "precision": "n_sys"}[measure]
        assert own["n"].sum() == scores[f"event.hard.{count}.micro"], factor
        assert (own["n"] * own["value"]).sum() == pytest.approx(scores["event.hard.tp.micro"])
        assert own["share"].sum() == pytest.approx(1 - scores["event.hard.f1.micro"], abs=1e-12)


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


@pytest.mark.parametrize("step", [1.0, 0.5, 0.1, 0.05, 0.2501])
def test_what_is_not_tried_would_not_have_helped(step):
    """As if all lengths had been tried, and all thresholds: the best of each is suggested, if it helps."""
    rng, helpful = np.random.default_rng(round(100 * step)), 0
    for _ in range(4):
        sides = [frames(rng, step=step) for _ in range(2)]
        sides[1]["value"] = [
            min(1.0, 0.6 * a + 0.4 * b) for a, b in zip(sides[0]["value"], sides[1]["value"], strict=True)
        ]
        for only in ("event.hard", "segment.hard"):
            how = {"only": only, "offset_collar_rate": 0.9, "onset_collar": 2.0, "segment_length": 0.5}
            found = {
                re.split("[ =]", each.settings.replace("--set ", "--"))[0].strip("-").replace("-", "_"): each
                for each in sedeval_soft.diagnose(*sides, ci="jackknife", **how).suggestions
            }
            score = f"{only}.f1.micro"
            before = sedeval_soft.evaluate(*sides, **how)[score]
            for name, lengths in TRIED.items():
                tried = {
                    length: sedeval_soft.evaluate(*sides, **how, **{name: length})[score]
                    for length in lengths
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
                helpful += 1
                # A tenth of what it gains may be given up for few digits.
                assert before + 0.9 * (best - before) - 1e-12 <= each.after <= best + 1e-12
                typed, beside = each.settings.removeprefix("--threshold ").split(" --reference-threshold ")
                cuts = {"threshold": float(typed), "reference_threshold": float(beside)}
                assert sedeval_soft.evaluate(*sides, **how, **cuts)[score] == each.after
    assert helpful


def test_a_threshold_has_few_digits():
    suggested = [each.settings for each in sedeval_soft.diagnose(REF, OTHER, only="event.hard").suggestions]
    typed = [text.split()[1] for text in suggested if text.startswith("--threshold")]
    assert len(typed) == 1 and len(typed[0]) <= 5


def test_median_filters_of_very_long_recordings_are_not_tried():
    names = ("filename", "onset", "offset", "event_label", "value")
    sides = []
    for wrong in ((), (30, 40, 80, 120)):
        active = [(20 <= k < 60 or 100 <= k < 150) != (k in wrong) for k in range(200)]
        rows = [("a", k / 10, (k + 1) / 10, "car", float(on)) for k, on in enumerate(active)]
        sides.append({name: [row[k] for row in rows] for k, name in enumerate(names)})
    for hours, expected in ((1, True), (300, False)):
        found = sedeval_soft.diagnose(
            *sides, only="event.hard", durations={"a": 3600.0 * hours}, ci="jackknife"
        )
        assert any("median" in each.settings for each in found.suggestions) == expected


def test_nothing_is_tried_where_nobody_asks_for_it():
    plain = json.loads(call("diagnose", REF, SYS, *FEW, "--format", "json", "--no-suggestions").out)
    assert plain["suggestions"] == []
    full = json.loads(call("diagnose", REF, SYS, *FEW, "--format", "json").out)
    assert full["suggestions"] and {**full, "suggestions": []} == plain
    assert sedeval_soft.diagnose(REF, SYS, only="event.hard", suggestions=False).suggestions == ()


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


def test_text_has_the_costliest_kind_first_and_says_so():
    lines = call("diagnose", REF, SYS, *FEW).out.splitlines()
    assert max(map(len, lines)) <= 80
    at = next(i for i, line in enumerate(lines) if line.split()[:2] == ["FP", "FN"])
    assert lines[at + 1].split()[:3] == ["split", "37", "17"]
    assert "23 %: 10 events of people talking are split into 23 detections." in map(str.strip, lines)


def test_it_is_one_screen():
    lines = call("diagnose", REF, SYS, "--quiet").out.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    assert "  too low .081 · too high .007 · confusion .003" in lines


def test_two_systems_win_what_their_scores_differ_by():
    lines = call("diagnose", REF, SYS, OTHER, "--quiet").out.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    total = next(line.split() for line in lines if line.split()[:1] == ["sum"])
    scores = [sedeval_soft.evaluate(REF, each) for each in (SYS, OTHER)]
    won = scores[1]["event.hard.f1.micro"] - scores[0]["event.hard.f1.micro"]
    assert float(total[3]) == pytest.approx(won, abs=6e-4)
    # Both can be had again: the signature of each is there.
    hashes = [call("diagnose", REF, each, *FEW).out.split()[-1] for each in (SYS, OTHER)]
    assert [line.split()[-1] for line in lines if "sys " in line][-2:] == hashes and hashes[0] != hashes[1]
    document = json.loads(call("diagnose", REF, SYS, OTHER, "--quiet", "--format", "json").out)
    assert [each["system"] for each in document["systems"]] == [SYS, OTHER]
    differences = pd.DataFrame(document["differences"])
    for (basis, reading, average), own in differences.groupby(["basis", "reading", "average"]):
        f = f"{basis}.{reading}.f1.{average}"
        assert own["won"].sum() == pytest.approx(scores[1][f] - scores[0][f], abs=1e-12)
        assert own["won"].abs().is_monotonic_decreasing
    classes = pd.DataFrame(document["differences_by_class"])
    kinds = classes.groupby(["basis", "reading", "kind"])["won"].sum()
    for each in document["differences"]:
        if each["average"] == "micro" and (each["first"] or each["second"]):
            assert kinds[each["basis"], each["reading"], each["kind"]] == pytest.approx(
                each["won"], abs=1e-12
            )


def test_differences_are_the_same_in_rows_and_in_python():
    one, other = (sedeval_soft.diagnose(REF, each, only="event.hard") for each in (SYS, OTHER))
    won = {(each.average, each.kind): each.won for each in one.differences(other)}
    rows = pd.read_csv(io.StringIO(call("diagnose", REF, SYS, OTHER, *FEW, "--format", "csv").out))
    assert rows["won"][: len(won)].isna().all()
    second = rows[len(won) :]
    read = zip(second["average"], second["kind"], second["won"], strict=True)
    assert {(average, kind): value for average, kind, value in read} == won
    page = call("diagnose", REF, SYS, OTHER, *FEW, "--format", "markdown").out
    assert f"| merge | .014 | .716 | {won['micro', 'merge']:.3f} |".replace("-0", "-") in page
    assert str(one.against(other)) in call("diagnose", REF, SYS, OTHER, *FEW).out
    back = {(each.average, each.kind): each.won for each in other.differences(one)}
    assert back == {key: -value for key, value in won.items()}


def test_differences_need_one_reference(tmp_path):
    one = sedeval_soft.diagnose(REF, SYS)
    with pytest.raises(sedeval_soft.SettingsError, match="of one reference"):
        one.differences(sedeval_soft.diagnose(OTHER, SYS))
    nothing = table(tmp_path / "ref.tsv", "a"), table(tmp_path / "sys.tsv", "a\t0\t1\tcar")
    empty = sedeval_soft.diagnose(*nothing)
    assert {each.won for each in empty.differences(empty)} == {None}
    assert "A -, B -" in empty.against(empty)


def test_rows_are_read_without_options():
    rows = pd.read_csv(io.StringIO(call("diagnose", REF, SYS, *FEW, "--format", "csv").out))
    assert list(rows["kind"].unique())[:2] == ["missed", "background"]
    made = sedeval_soft.diagnose(REF, SYS, only="event.hard").to_pandas()
    assert rows["share"].tolist() == made["share"].tolist()
    # A column for all that JSON has of a kind.
    assert {*rows} - {"system"} == {*made}
    page = call("diagnose", REF, SYS, *FEW, "--format", "markdown").out
    assert "| split | 37 | 17 |" in page


def test_a_perfect_system_loses_nothing():
    out = call("diagnose", REF, REF, "--quiet").out
    assert out.count("no errors") == 3 and "What costs most" not in out


def test_without_values_the_soft_reading_is_not_shown(tmp_path):
    hard = tmp_path / "hard.tsv"
    hard.write_text("filename\tonset\toffset\tevent_label\na.wav\t0\t1\tcar\nb.wav\t1\t2\tdog\n")
    out = call("diagnose", str(hard), str(hard), "--quiet").out
    assert "segment.hard" in out and "segment.soft" not in out


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


def test_a_side_without_errors_is_not_told(tmp_path):
    """A reference event that is hit, and two more detections inside it: a split that misses nothing."""
    ref = table(tmp_path / "ref.tsv", "a\t0\t10\tcar")
    system = table(tmp_path / "sys.tsv", "a\t0\t10\tcar", "a\t2\t4\tcar", "a\t6\t7\tcar")
    out = call("diagnose", ref, system, "--only", "event", "--quiet").out
    assert "100 %: 2 detections of car cover only a piece of an event." in out


def test_without_reference_nothing_is_lost_that_could_be_told(tmp_path):
    ref, system = table(tmp_path / "ref.tsv", "a"), table(tmp_path / "sys.tsv", "a\t0\t1\tcar")
    out = call("diagnose", ref, system, "--quiet").out
    assert "What costs most" not in out and "lost -" in out
    found = sedeval_soft.diagnose(ref, system).to_dict()
    assert {each["share"] for each in found["errors"] + found["classes"]} == {None}


def test_a_preset_that_follows_another_tool_is_answered_by_our_rules_and_that_is_said():
    done = call("diagnose", REF, SYS, "--preset", "dcase2019-task4", "--only", "event.hard")
    assert done.code == 0 and "without compat=sed_eval" in done.err


def test_beta_is_that_of_the_settings(tmp_path):
    out = call("diagnose", REF, SYS, OTHER, *FEW, "--set", "beta=2").out
    assert "event.hard.fbeta.micro" in out and "f1.micro" not in out


def test_operating_points_are_told_of_events(tmp_path):
    ref = table(tmp_path / "ref.tsv", "a\t0\t10\tcar", "b\t0\t1\tdog")
    few, more = (table(tmp_path / f"{k}.tsv", *["a\t0\t10\tcar", "b\t0\t1\tdog"][:k]) for k in (1, 2))
    found = sedeval_soft.diagnose(ref, {0.6: few, 0.3: more})
    assert {(each.basis, each.reading) for each in found.errors} == {("event", "hard")}
