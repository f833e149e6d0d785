"""`annotate`: a reference of several tables, their agreement and competence, and the ceiling.

Agreement is compared with definitions and other packages.
"""

import json

import krippendorff
import numpy as np
import pytest
from called import call
from hypothesis import given, settings
from hypothesis import strategies as st
from opinions import SAMPLES, TABLES, rows_of, table, units_of

from sedeval_soft import EvaluationError, Settings, annotate, evaluate
from sedeval_soft.apps.annotators.agreement import alphas
from sedeval_soft.apps.annotators.models import competence_of
from sedeval_soft.apps.annotators.references import METHODS, value_of
from sedeval_soft.cli import tables as command
from sedeval_soft.report.fitted import number
from sedeval_soft.tables import read_rows


def heard(**files):
    """Return events of one second: by file the seconds of class a, none for a file that is only declared."""
    rows = [(name, float(s), s + 1.0, "a") for name, seconds in files.items() for s in seconds]
    return table(rows, [name for name, seconds in files.items() if not seconds])


def test_what_a_missing_file_means_is_asked():
    """Three listened to x and y; what the second heard in y, nothing or never, is not for us to guess."""
    people = {"a": heard(x=[0], y=[0]), "b": heard(x=[0]), "c": heard(x=[0], y=[])}
    # A file of the durations that nobody names is silent to all, or was labelled by nobody.
    lengths, whole = dict.fromkeys("xyz", 1.0), [heard(x=[0], y=[])] * 2
    for crowd, given_, words in ((people, {}, "b .*'y'"), (whole, {"durations": lengths}, "'z'")):
        with pytest.raises(EvaluationError, match=words):
            annotate(crowd, **given_)
    silent, apart = (annotate(people, durations=lengths, missing=how) for how in ("silent", "unlabelled"))
    found = [(rows_of(made.reference)[1][-1], made.reference.files) for made in (silent, apart)]
    assert found == [(0.333333, ("x", "y", "z")), (0.5, ("x", "y"))]
    assert [each.files for each in apart.annotators] == [2, 1, 2]
    assert [pair.segments for pair in apart.pairs] == [1, 2, 1]
    assert any("'z'" in warning for warning in apart.warnings)
    # Names of files match as in evaluations.
    made = annotate([heard(**{"x.wav": [0]}), heard(x=[0, 1]), heard(**{"folder/x.wav": [1]})])
    assert made.reference.files == ("x.wav",) and [each.files for each in made.annotators] == [1, 1, 1]


@pytest.mark.parametrize("lengths", [None, {"x": 3.0, "y": 8.0}])
def test_a_system_is_scored_as_by_evaluate_however_long_files_are(lengths):
    """Late detections are false alarms if no duration says that the file ends; nobody labelled z."""
    people = [heard(x=[0, 1], y=[2]), heard(x=[0], y=[2, 3])]
    names = ["segment.soft.f1.micro", "segment.hard.precision.macro", "event.soft.f1.micro"]
    system, how = heard(x=[0, 5, 6], y=[3], z=[0]), {"durations": lengths, "preset": "dcase2019-task4"}
    made = annotate(people, systems=[system], ceiling_of=system, scores=names, **how)
    expected = evaluate(made.reference, heard(x=[0, 5, 6], y=[3]), **how)
    late = {text for text in expected.warnings if "--durations" in text}
    assert late <= {*made.warnings} and bool(late) == (lengths is None)
    assert {each.score: each.value for each in made.systems[0].scores} == {n: expected[n] for n in names}
    # By hand: against either the system hits 1 or 2 of 3 active seconds, and has 4 itself.
    assert lengths or made.ceiling[0].system == pytest.approx(np.mean([2 / 7, 4 / 7]))


@pytest.mark.parametrize("length", [0.5, 60.0])
def test_ceilings_are_scores_of_evaluate_to_the_last_bit(length):
    """Thirds, whose sums depend on their order; few pieces in a segment, and many."""
    rng, tables = np.random.default_rng(4), []
    for _ in range(4):
        onset = np.sort(np.round(rng.uniform(0, 59, 25), 3))
        offset = np.round(onset + rng.uniform(0.05, 0.9, 25), 3)
        rows = zip(onset.tolist(), offset.tolist(), rng.choice(["c", "d"], 25).tolist(), strict=True)
        tables.append(table([("a.wav", *row) for row in rows]))
    asked = {"durations": {"a.wav": 60.0}, "classes": ["c", "d"]}
    scores = ["segment.soft.f1.micro", "segment.soft.f1.macro", "segment.hard.f1.micro"]
    how = {"scores": scores, "segment_length": length, "continuous": True}
    found = annotate(tables, ceiling_of=tables[0], **how, **asked).ceiling
    references = [annotate([*tables[:k], *tables[k + 1 :]], **asked).reference for k in range(4)]
    asked |= {"segment_length": length, "only": ("segment.soft", "segment.hard")}
    people, machine = (
        [evaluate(*pair, **asked) for pair in zip(references, side, strict=True)]
        for side in (tables, tables[:1] * 4)
    )
    for name, ceiling in zip(scores, found, strict=True):
        own, system = ([each[name] for each in side] for side in (people, machine))
        mean, of_system = np.mean(own), np.mean(system)
        assert ceiling.annotators == tuple(own)
        numbers = ceiling.system, ceiling.mean, ceiling.share
        assert numbers == pytest.approx((of_system, mean, of_system / mean))


@pytest.mark.parametrize(
    ("options", "how"),
    [
        (["--method", "dawid-skene"], {"method": "dawid-skene"}),
        (["--events", "consensus", "--same-iou", "0.5"], {"consensus": True, "same_iou": 0.5}),
    ],
)
def test_the_command_writes_the_reference_and_prints_the_rest(tmp_path, options, how):
    assert command.METHODS == tuple(METHODS)
    asked = ("annotate", *TABLES, "--system", TABLES[1], *options)
    done = call(*asked, "-o", tmp_path / "ref.parquet", "--format", "json")
    found = annotate(TABLES, systems=[TABLES[1]], **how)
    assert done.document == json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert rows_of(read_rows(tmp_path / "ref.parquet")) == rows_of(found.reference)
    lines = [line.split() for line in call(*asked).out.splitlines()]
    if found.events is None:
        each = found.confusions[0]
        rates = "/".join(number(of[0]) for of in (each.sensitivity, each.specificity))
        assert any(rates in line for line in lines)
    else:
        # How many events so many annotators have.
        counts = np.bincount(found.events.events.annotators)[1:].tolist()
        assert all([str(n), str(of)] in [line[:2] for line in lines] for n, of in enumerate(counts, 1))


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
    assert (done.code, done.out) == (2, "") and said in done.err


# Agreement, competence and references of arrays.


@given(st.integers(0, 2**32), st.integers(2, 5), st.booleans())
@settings(max_examples=20)
def test_alphas_are_those_of_the_krippendorff_package(seed, n, binary):
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 1.0] if binary else [0.0, 0.25, 0.5, 0.75, 1.0], (n, 2, 15))
    labelled = rng.random((n, 15)) >= 0.3
    classes = [np.where(labelled, values[:, k], np.nan) for k in range(2)]
    found = alphas(units_of(values, labelled), values.reshape(n, -1), 2)
    for data, value in zip([np.concatenate(classes, axis=1), *classes], found, strict=True):
        paired = data[:, (~np.isnan(data)).sum(axis=0) >= 2]
        if len(np.unique(paired[~np.isnan(paired)])) < 2:
            assert value is None
            continue
        for level in ["interval", "nominal"] if binary else ["interval"]:
            expected = krippendorff.alpha(reliability_data=paired, level_of_measurement=level)
            assert value == pytest.approx(expected, abs=1e-9)


def test_competences_that_were_simulated_are_estimated_and_weigh():
    """Who knows says what is there, who does not guesses; a reference has the share of the competence."""
    rng, shape = np.random.default_rng(2), (5, 4, 6000)
    competence, says_yes = np.array([0.95, 0.8, 0.6, 0.4, 0.15]), np.array([0.5, 0.2, 0.7, 0.4, 0.3])
    prevalence = np.array([0.1, 0.3, 0.5, 0.05])
    there = rng.random(shape[1:]) < prevalence[:, None]
    knows, guess = (rng.random(shape) < each[:, None, None] for each in (competence, says_yes))
    values, labelled = np.where(knows, there, guess).astype(float), rng.random((5, 6000)) >= 0.4
    units = units_of(values, labelled)
    estimate = competence_of(units, 0.5)
    assert estimate.competence == pytest.approx(competence, abs=0.04)
    assert estimate.prevalence == pytest.approx(prevalence, abs=0.02)
    # Who always knows never guesses: the more one knows, the less is seen of the guesses.
    assert estimate.says_yes[1:] == pytest.approx(says_yes[1:], abs=0.06)
    weight = estimate.competence[:, None, None] * labelled[:, None]
    expected = (values * weight).sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-9)
    assert value_of(units, "competence", 0.5) == pytest.approx(expected.reshape(-1), abs=1e-12)
