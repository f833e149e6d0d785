"""`annotate`: a reference from several tables, their agreement and competence, and the `ceiling`.

Agreement and Dawid and Skene's model are compared with other packages, and estimates with simulations.
"""

import json

import krippendorff
import numpy as np
import pandas as pd
import pytest
from called import SAMPLES, call
from hypothesis import given, settings
from hypothesis import strategies as st
from opinions import TABLES, confused, rows_of, table, tables_of, units_of

from sedeval_soft import EvaluationError, Settings, annotate, evaluate
from sedeval_soft.apps.annotators.agreement import alphas
from sedeval_soft.apps.annotators.models import Patterns, competence_of, dawid_skene
from sedeval_soft.apps.annotators.references import METHODS, value_of
from sedeval_soft.cli import tables as command
from sedeval_soft.report import number
from sedeval_soft.tables import read_rows


def heard(**files):
    """Return events of one second; files: the seconds of class a by file. A file without any is declared."""
    rows = [(name, float(s), s + 1.0, "a") for name, seconds in files.items() for s in seconds]
    return table(rows, [name for name, seconds in files.items() if not seconds])


def test_what_a_missing_file_means_is_asked():
    """The second of three annotators has no row of y: only the user knows if y is silent or unlabelled."""
    people = {"a": heard(x=[0], y=[0]), "b": heard(x=[0]), "c": heard(x=[0], y=[])}
    # A file that only the durations name is silent to all, or nobody labelled it.
    lengths, whole = dict.fromkeys("xyz", 1.0), [heard(x=[0], y=[])] * 2
    for crowd, known, words in ((people, None, "b .*'y'"), (whole, lengths, "'z'")):
        with pytest.raises(EvaluationError, match=words):
            annotate(crowd, durations=known)
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
    """Late detections are false alarms unless a duration ends the file; nobody labelled z."""
    people = [heard(x=[0, 1], y=[2]), heard(x=[0], y=[2, 3])]
    names = ["segment.soft.f1.micro", "segment.hard.precision.macro", "event.soft.f1.micro"]
    system, how = heard(x=[0, 5, 6], y=[3], z=[0]), {"durations": lengths, "preset": "dcase2019-task4"}
    made = annotate(people, systems=[system], ceiling_of=system, scores=names, **how)
    expected = evaluate(made.reference, heard(x=[0, 5, 6], y=[3]), **how)
    late = {text for text in expected.warnings if "--durations" in text}
    assert late <= {*made.warnings} and bool(late) == (lengths is None)
    assert {each.score: each.value for each in made.systems[0].scores} == {n: expected[n] for n in names}
    # By hand: the system has 4 active seconds, and hits 1 or 2 of the 3 that either annotator has.
    assert lengths or made.ceiling[0].system == pytest.approx(np.mean([2 / 7, 4 / 7]))


@pytest.mark.parametrize("length", [0.5, 60.0])
def test_ceilings_are_scores_of_evaluate_to_the_last_bit(length):
    """Values are thirds, whose sums depend on their order; segments have few pieces, or many."""
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
        expected = tuple(own), *map(pytest.approx, (of_system, mean, of_system / mean))
        assert (ceiling.annotators, ceiling.system, ceiling.mean, ceiling.share) == expected


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
        # The number of events by the number of annotators who have them.
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
    rng, said = np.random.default_rng(seed), [0.0, 1.0] if binary else [0.0, 0.25, 0.5, 0.75, 1.0]
    values, labelled = rng.choice(said, (n, 2, 15)), rng.random((n, 15)) >= 0.3
    classes = [np.where(labelled, values[:, k], np.nan) for k in range(2)]
    found = alphas(units_of(values, labelled), values.reshape(n, -1), 2)
    for data, value in zip([np.concatenate(classes, axis=1), *classes], found, strict=True):
        paired = data[:, (~np.isnan(data)).sum(axis=0) >= 2]
        if len(np.unique(paired[~np.isnan(paired)])) < 2:
            assert value is None
            continue
        # For ones and zeros, the nominal alpha is the same.
        level = "nominal" if binary else "interval"
        expected = krippendorff.alpha(reliability_data=paired, level_of_measurement=level)
        assert value == pytest.approx(expected, abs=1e-9)


def test_competences_that_were_simulated_are_estimated_and_weigh():
    """An annotator knows or guesses; the reference weighs labels by the share that each annotator knows."""
    rng, shape, prevalence = np.random.default_rng(2), (5, 4, 6000), np.array([0.1, 0.3, 0.5, 0.05])
    competence, says_yes = np.array([[0.95, 0.8, 0.6, 0.4, 0.15], [0.5, 0.2, 0.7, 0.4, 0.3]])
    there = rng.random(shape[1:]) < prevalence[:, None]
    knows, guess = (rng.random(shape) < each[:, None, None] for each in (competence, says_yes))
    values, labelled = np.where(knows, there, guess).astype(float), rng.random((5, 6000)) >= 0.4
    units = units_of(values, labelled)
    estimate = competence_of(units, 0.5)
    assert estimate.competence == pytest.approx(competence, abs=0.04)
    assert estimate.prevalence == pytest.approx(prevalence, abs=0.02)
    # An annotator who knows more guesses less, so the first one's guesses are hard to estimate.
    assert estimate.says_yes[1:] == pytest.approx(says_yes[1:], abs=0.06)
    weight = estimate.competence[:, None, None] * labelled[:, None]
    expected = (values * weight).sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-9)
    assert value_of(units, "competence", 0.5) == pytest.approx(expected.reshape(-1), abs=1e-12)


# Dawid and Skene's model.


def test_sensitivities_that_were_simulated_are_estimated():
    values, labelled, (there, *rates) = confused(6, 3, 6000, 2, 0.3)
    units, truth = units_of(values, labelled), there.reshape(-1)
    estimate = dawid_skene(Patterns.of(units, 0.5), 3)
    assert estimate.sensitivity == pytest.approx(rates[0], abs=0.07)
    assert estimate.specificity == pytest.approx(rates[1], abs=0.04)
    assert estimate.prevalence == pytest.approx(there.mean(axis=1), abs=0.03)
    # Classes are present as often as their probability, which is nearer to the truth than the mean.
    made, plain = (value_of(units, method, 0.5) for method in ("dawid-skene", "mean"))
    assert np.mean((made - truth) ** 2) < 0.75 * np.mean((plain - truth) ** 2)
    assert made[made > 0.9].mean() == pytest.approx(truth[made > 0.9].mean(), abs=0.02)
    # Over all classes: hits and correct rejections in the segments that an annotator labelled.
    for said, seen, *micro in zip(values, labelled, *estimate.micro(), strict=True):
        hits, rejections = said[:, seen][there[:, seen]], 1 - said[:, seen][~there[:, seen]]
        assert micro[0] == pytest.approx(hits.mean(), abs=0.05)
        assert micro[1] == pytest.approx(rejections.mean(), abs=0.03)


@settings(max_examples=8)
@given(st.integers(0, 2**32), st.integers(1, 5))
def test_likelihood_never_falls(seed, n):
    values, labelled, _ = confused(n, 2, 40, seed, 0.3)
    estimate = dawid_skene(Patterns.of(units_of(values, labelled), 0.5), 2)
    assert np.all(np.diff(estimate.likelihood) > -1e-9)


def test_what_nobody_hears_is_no_event():
    """Each annotator misses half of the events. An event that all miss is probable, yet not in the result."""
    rng = np.random.default_rng(0)
    there = rng.random(4000) < 0.5
    units = units_of((there & (rng.random((3, 1, 4000)) < 0.5)).astype(float), np.ones((3, 4000), dtype=bool))
    patterns, made = Patterns.of(units, 0.5), value_of(units, "dawid-skene", 0.5)
    posterior, silent = dawid_skene(patterns, 1).posterior[patterns.pattern], ~units.values.any(axis=0)
    assert posterior[silent].min() > 0.05
    assert made == pytest.approx(np.where(silent, 0.0, posterior))


def test_values_that_are_not_determined_are_undefined_and_said():
    values, labelled, _ = confused(4, 2, 60, 3)
    two = annotate(tables_of(values, labelled)[:2], method="dawid-skene")
    assert all(0 <= value <= 1 for value in two.reference.value)
    # Only one other annotator labelled the segments of the fourth.
    labelled[1:3, 30:] = labelled[3, :30] = False
    made = annotate(tables_of(values, labelled), method="dawid-skene", missing="unlabelled")
    for found, undefined in ((two, [True, True]), (made, [False, False, False, True])):
        assert [each.sensitivity is None for each in found.annotators] == undefined and found.warnings


@pytest.mark.parametrize(
    ("n_annotators", "n_segments", "missing", "most"),
    [(4, 200, 0.0, 1), (6, 150, 0.5, 3), (2, 80, 0.0, 1)],
)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_dawid_skene_of_crowd_kit(n_annotators, n_segments, missing, most):
    """Both start alike and take as many steps; most: how often a segment may be repeated."""
    aggregation = pytest.importorskip("crowdkit.aggregation", reason="crowd-kit is not installed")
    values, labelled, _ = confused(n_annotators, 2, n_segments, n_annotators, missing)
    times = np.random.default_rng(0).integers(1, most + 1, n_segments)
    patterns = Patterns.of(units_of(values, labelled, np.tile(times, 2).astype(float)), 0.5)
    estimate, segment = dawid_skene(patterns, 2), np.repeat(np.arange(n_segments), times)
    posterior = estimate.posterior[patterns.pattern].reshape(2, n_segments)[:, segment]
    who, task = np.nonzero(labelled[:, segment])
    some = labelled.any(axis=0)[segment]
    for k in range(2):
        said = values[who, k, segment[task]].astype(int)
        labels = pd.DataFrame({"task": task, "worker": who, "label": said})
        model = aggregation.DawidSkene(n_iter=len(estimate.likelihood), tol=-np.inf).fit(labels)
        theirs = model.probas_[1].reindex(np.arange(len(segment))).to_numpy()
        assert posterior[k][some] == pytest.approx(theirs[some], abs=1e-6)
        assert estimate.prevalence[k] == pytest.approx(model.priors_[1], abs=1e-6)
        for j in range(n_annotators if n_annotators > 2 else 0):
            found = estimate.sensitivity[j, k], estimate.specificity[j, k]
            expected = [model.errors_.loc[(j, label), label] for label in (1, 0)]
            assert found == pytest.approx(expected, abs=1e-6)
