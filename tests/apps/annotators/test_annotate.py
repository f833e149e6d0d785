"""`annotate`: a reference of several tables, their agreement and competence, and the ceiling.

Agreement is held against definitions and other packages.
"""

from __future__ import annotations

import json
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from called import call
from hypothesis import given, settings
from hypothesis import strategies as st
from opinions import units_of

from sedeval_soft import EvaluationError, Settings, annotate, evaluate
from sedeval_soft.apps.annotators.agreement import alpha, alphas
from sedeval_soft.apps.annotators.models import competence_of
from sedeval_soft.apps.annotators.references import METHODS, mean
from sedeval_soft.cli import tables as command
from sedeval_soft.report.fitted import number
from sedeval_soft.tables import read_rows

SAMPLES = Path(__file__).parents[3] / "sample_data"
TABLES = [str(SAMPLES / name) for name in ("ref.tsv", "sys.tsv", "sys_b.tsv")]


def table(**files):
    """Return events of one second: by file the seconds of class a, None for a file that is only declared."""
    rows = [(name, second) for name, seconds in files.items() for second in (seconds or [None])]
    return {
        "filename": [name for name, _ in rows],
        "onset": [None if s is None else float(s) for _, s in rows],
        "offset": [None if s is None else s + 1.0 for _, s in rows],
        "event_label": [None if s is None else "a" for _, s in rows],
    }


def values(rows):
    """Return values by file, segment and class."""
    of = zip(rows.file, rows.onset, rows.label, rows.value, strict=True)
    return {(rows.files[f], int(on), rows.classes[k]): round(float(v), 6) for f, on, k, v in of}


def test_means_and_majorities():
    tables = [table(x=[0, 1, 2]), table(x=[0, 1]), table(x=[0]), table(x=[0])]
    assert values(annotate(tables).reference) == {("x", 0, "a"): 1.0, ("x", 1, "a"): 0.5, ("x", 2, "a"): 0.25}
    # A tie is not a majority.
    assert values(annotate(tables, method="majority").reference) == {("x", 0, "a"): 1.0}


def test_files_that_a_table_lacks_are_missing_unless_said():
    tables = [table(x=[0], y=[0]), table(x=[0]), table(x=[0], y=None)]
    # Nobody labelled z, which only durations name.
    found = annotate(tables, durations={"x": 1.0, "y": 1.0, "z": 9.0}, missing="unlabelled")
    assert values(found.reference)["y", 0, "a"] == 0.5 and found.reference.files == ("x", "y")
    assert [a.files for a in found.annotators] == [2, 1, 2]
    assert [pair.segments for pair in found.pairs] == [1, 2, 1]
    assert any("'z'" in warning for warning in found.warnings)
    # Names match as they do in evaluations.
    made = annotate([table(**{"x.wav": [0]}), table(x=[0, 1]), table(**{"folder/x.wav": [1]})])
    assert made.reference.files == ("x.wav",) and [a.files for a in made.annotators] == [1, 1, 1]


def test_what_a_missing_file_means_is_asked():
    """Three listened to x and y; what the second heard in y, nothing or never, is not for us to guess."""
    people = {"a": table(x=[0], y=[0]), "b": table(x=[0]), "c": table(x=[0], y=None)}
    # A file of the durations that nobody names is silent to all, or was labelled by nobody.
    whole, lengths = [table(x=[0]), table(x=[0])], {"x": 1.0, "z": 2.0}
    for crowd, given_, words in ((people, {}, "b .*'y'"), (whole, {"durations": lengths}, "'z'")):
        with pytest.raises(EvaluationError, match=words):
            annotate(crowd, **given_)
    shares = {how: values(annotate(people, missing=how).reference) for how in ("silent", "unlabelled")}
    assert [shares[how]["y", 0, "a"] for how in shares] == [0.333333, 0.5]
    assert annotate(whole, durations=lengths, missing="silent").reference.files == ("x", "z")
    assert annotate(whole).settings["missing"] is None


@pytest.mark.parametrize("lengths", [None, {"x": 3.0, "y": 8.0}])
def test_a_system_is_scored_as_by_evaluate_however_long_files_are(lengths):
    """What it detects after the last label counts as false alarms, if no duration says that the file ends."""
    people = [table(x=[0, 1], y=[2]), table(x=[0], y=[2, 3])]
    own = table(x=[0, 5, 6], y=[3])
    names = ["segment.soft.f1.micro", "segment.hard.precision.macro", "event.soft.f1.micro"]
    system = table(x=[0, 5, 6], y=[3], z=[0])
    made = annotate(people, systems=[system], ceiling_of=system, scores=names, durations=lengths)
    # Nobody labelled z.
    assert any("'z'" in text for text in made.warnings)
    expected = evaluate(made.reference, own, durations=lengths)
    late = {text for text in expected.warnings if "--durations" in text}
    assert late <= {*made.warnings} and bool(late) == (lengths is None)
    found = {each.score: each.value for each in made.systems[0].scores}
    assert found == {name: expected[name] for name in names}
    # By hand: against either the system hits 1 or 2 of 3 active seconds, and has 4 itself.
    assert lengths or made.ceiling[0].system == pytest.approx(np.mean([2 / 7, 4 / 7]))


@pytest.mark.parametrize(("n", "length"), [(4, 0.5), (5, 60.0)])
def test_ceilings_are_scores_of_evaluate_to_the_last_bit(n, length):
    """Thirds, whose sums depend on their order, and quarters; few pieces in a segment, and hundreds."""
    rng = np.random.default_rng(n)
    tables = []
    for _ in range(n):
        onset = np.sort(np.round(rng.uniform(0, 119, 150), 3))
        offset = np.round(onset + rng.uniform(0.05, 0.5, 150), 3)
        names = rng.choice(["a.wav", "b.wav"], 150), rng.choice(["c", "d"], 150)
        tables.append({"filename": names[0], "onset": onset, "offset": offset, "event_label": names[1]})
    asked = {"durations": {"a.wav": 120.0, "b.wav": 120.0}, "classes": ["c", "d"]}
    scores = ["segment.soft.f1.micro", "segment.soft.f1.macro", "segment.hard.f1.micro"]
    how = {"scores": scores, "segment_length": length, "continuous": True}
    found = annotate(tables, ceiling_of=tables[0], **how, **asked).ceiling
    references = [
        annotate([*tables[:k], *tables[k + 1 :]], scores=scores, **asked).reference for k in range(n)
    ]
    sides = (zip(references, tables, strict=True), ((each, tables[0]) for each in references))
    people, machine = ([evaluate(*pair, segment_length=length, **asked) for pair in side] for side in sides)
    for name, ceiling in zip(scores, found, strict=True):
        assert ceiling.annotators == tuple(each[name] for each in people)
        assert ceiling.system == pytest.approx(np.mean([each[name] for each in machine]))
        assert ceiling.mean == pytest.approx(np.mean(ceiling.annotators))
        assert ceiling.share == pytest.approx(ceiling.system / ceiling.mean)


def test_annotators_who_share_no_file_have_no_ceiling():
    found = annotate([table(x=[0]), table(y=[0]), table(y=[0])], missing="unlabelled")
    assert (found.ceiling[0].annotators[0], found.ceiling[0].mean) == (None, 1.0) and found.warnings
    assert [pair.f1_micro for pair in found.pairs] == [None, None, 1.0]


@pytest.mark.parametrize("method", METHODS)
def test_the_command_writes_the_reference_and_prints_the_agreement(tmp_path, method):
    assert command.METHODS == tuple(METHODS)
    target = tmp_path / "ref.parquet"
    done = call("annotate", *TABLES, "-o", target, "--method", method, "--format", "json")
    found = annotate(TABLES, method=method)
    assert done.document == json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values(read_rows(target)) == values(found.reference)
    printed = call("annotate", *TABLES, "--method", method).out
    for each in found.confusions[:1] if method == "dawid-skene" else ():
        assert "/".join(number(of[0]) for of in (each.sensitivity, each.specificity)) in printed


@pytest.mark.parametrize(
    ("annotators", "given_", "said"),
    [
        ([TABLES[0]], {}, "annotators"),
        (TABLES[0], {}, "annotators"),
        ([TABLES[0]] * 2, {}, "twice"),
        (TABLES, {"method": "median"}, "method"),
        (TABLES, {"method": []}, "method"),
        (TABLES, {"scores": 5}, "scores"),
        (TABLES, {"scores": [5]}, "scores"),
        (TABLES, {"scores": ["segment.hard.error_rate.micro"]}, "segment.hard.error_rate.micro"),
        (TABLES, {"scores": "segment.hard.f1.micro"}, "scores"),
        (TABLES, {"scores": ["segment.hard.f1"]}, "segment.hard.f1"),
        (TABLES, {"scores": ["segment.hard.f1[barking]"]}, "barking"),
        (TABLES, {"missing": "absent"}, "missing"),
        (TABLES, {"segment_lenght": 1}, "segment_length"),
        (TABLES, {"preset": "dcase2019-task5"}, "dcase2019-task5"),
        (TABLES, {"settings": {"pool": "mean"}}, "Settings"),
        (TABLES, {"settings": Settings(), "pool": "mean"}, "pool"),
        (TABLES, {"consensus": 1}, "consensus"),
        (TABLES, {"same_iou": 0.5}, "same_iou"),
        *((TABLES, {"consensus": True, "same_iou": wrong}, "same_iou") for wrong in (0.0, "x", float("nan"))),
        (TABLES, {"systems": TABLES, "scores": ["segment.optimal.f1.micro"]}, "segment.optimal.f1.micro"),
        (TABLES, {"systems": TABLES, "scores": ["segment.hard.tp.micro"]}, "segment.hard.tp.micro"),
    ],
)
def test_wrong_arguments_are_refused(annotators, given_, said):
    with pytest.raises(EvaluationError, match=said):
        annotate(annotators, **given_)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ref.tsv"], "found 1"),
        (["ref.tsv", "sys.tsv", "-o", "sys.tsv"], "-o sys.tsv: "),
        (["ref.tsv", "sys.tsv", "--to", "long"], "--to"),
        (["ref.tsv", "sys.tsv", "--same-iou", "0.5"], "same_iou"),
        (["ref.tsv", "sys.tsv", "--system", "sys.tsv", "--system", "sys.tsv"], "sys.tsv"),
    ],
)
def test_wrong_calls_are_refused(arguments, said, monkeypatch):
    monkeypatch.chdir(SAMPLES)
    done = call("annotate", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_preset_is_taken_as_by_evaluate():
    asked = {"scores": ["event.hard.f1.macro"], "ceiling_of": TABLES[1], "classes": ["car", "zz"]}
    found = annotate(TABLES, preset="dcase2019-task4", **asked)
    spelt = {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.2, "compat": "sed_eval"}
    assert found.ceiling == annotate(TABLES, **spelt, **asked).ceiling
    assert annotate(TABLES, preset="dcase2019-task4", onset_collar=2.0, **asked).ceiling != found.ceiling
    # A class that nobody names is reported once.
    assert len([text for text in found.warnings if "'zz'" in text]) == 1


def test_nothing_and_hostile_names(tmp_path):
    nothing = {"filename": [], "onset": [], "offset": [], "event_label": []}
    assert len(annotate([nothing, nothing]).reference) == 0
    paths = [tmp_path / f"\x1b[31m{i}.tsv" for i in range(2)]
    for path in paths:
        path.write_text('filename\tonset\toffset\tevent_label\n<b>.wav\t0\t1\t"<script>\x1b[2J"\n')
    done = call("annotate", *paths, "-o", "-")
    assert done.code == 0 and "\x1b" not in done.err
    assert call("annotate", *paths, "--format", "json").document["annotators"]


# Agreement, competence and references of arrays.


def opinions_of(seed, shape=(3, 2, 12), *, binary=False, missing=0.3):
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 1.0] if binary else [0.0, 0.25, 0.5, 0.75, 1.0], shape)
    return values, rng.random((shape[0], shape[2])) >= missing


def test_alpha_of_the_example_of_its_author():
    """Krippendorff 2011, Computing Krippendorff's alpha-reliability, section C: four observers, interval."""
    rows = ("123321412...", "12332241 25.3", ".3332342251.", "123324412 51.")
    data = np.array([[0 if c == "." else int(c) for c in row.replace(" ", "")] for row in rows], dtype=float)
    assert alpha(data, data > 0) == pytest.approx(0.849, abs=5e-4)
    assert alpha(data + 1e6, data > 0) == pytest.approx(alpha(data, data > 0), abs=1e-6)
    assert alpha(np.tile([0.0, 1.0, 0.4], (2, 1)), np.ones((2, 3), dtype=bool)) == 1.0


@given(st.integers(0, 2**32), st.integers(2, 5), st.booleans())
@settings(max_examples=40)
def test_alphas_are_those_of_the_krippendorff_package(seed, n, binary):
    values, labelled = opinions_of(seed, (n, 2, 15), binary=binary)
    classes = [np.where(labelled, values[:, k], np.nan) for k in range(2)]
    together = np.concatenate(classes, axis=1)
    for data, value in zip(
        [together, *classes], alphas(units_of(values, labelled), values.reshape(n, -1), 2), strict=True
    ):
        paired = data[:, (~np.isnan(data)).sum(axis=0) >= 2]
        if not paired.size or len(np.unique(paired[~np.isnan(paired)])) < 2:
            assert value is None
            continue
        for level in ["interval", "nominal"] if binary else ["interval"]:
            expected = krippendorff.alpha(reliability_data=paired, level_of_measurement=level)
            assert value == pytest.approx(expected, abs=1e-9)


def crowd(competence, says_yes, prevalence, n_segments, seed, missing=0.0):
    """Return the opinions that the model of competences would give, and who labelled which segment."""
    rng = np.random.default_rng(seed)
    there = rng.random((len(prevalence), n_segments)) < np.array(prevalence)[:, None]
    shape = (len(competence), *there.shape)
    knows = rng.random(shape) < np.array(competence)[:, None, None]
    guess = rng.random(shape) < np.array(says_yes)[:, None, None]
    values = np.where(knows, there, guess).astype(float)
    return values, rng.random((shape[0], n_segments)) >= missing


@pytest.mark.parametrize(("seed", "missing"), [(1, 0.0), (2, 0.4)])
def test_competences_that_were_simulated_are_estimated(seed, missing):
    competence, says_yes = [0.95, 0.8, 0.6, 0.4, 0.15], [0.5, 0.2, 0.7, 0.4, 0.3]
    prevalence = [0.1, 0.3, 0.5, 0.05]
    estimate = competence_of(units_of(*crowd(competence, says_yes, prevalence, 6000, seed, missing)), 0.5)
    assert np.abs(estimate.competence - competence).max() < 0.04
    assert np.abs(estimate.prevalence - prevalence).max() < 0.02
    # Who always knows never guesses: the more one knows, the less is seen of the guesses.
    assert np.abs(estimate.says_yes - says_yes)[1:].max() < 0.06


def test_a_reference_weighs_by_competence():
    """What one alone says has the share of the competence."""
    votes = crowd([0.9, 0.1, 0.1], [0.5] * 3, [0.3], 60, 0)[0][:, 0]
    found = annotate([table(x=np.flatnonzero(each).tolist()) for each in votes], method="competence")
    competence = np.array([a.competence for a in found.annotators])
    only = np.flatnonzero(votes.sum(axis=0) == 1)[0]
    expected = competence[votes[:, only] > 0] / competence.sum()
    assert values(found.reference)["x", int(only), "a"] == pytest.approx(expected[0], abs=1e-3)


def test_those_who_labelled_nothing_and_no_segments_at_all():
    said, labelled = crowd([0.9, 0.9, 0.9], [0.5] * 3, [0.3], 50, 0)
    labelled[2] = False
    assert competence_of(units_of(said, labelled), 0.5).competence[2] == 0.8
    nothing = units_of(np.zeros((2, 3, 0)), np.zeros((2, 0), dtype=bool))
    assert np.all(competence_of(nothing, 0.5).competence == 0.8) and mean(nothing).shape == (0,)
