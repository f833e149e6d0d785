"""Operating points, a system known at some thresholds only: lists of events, folders of them.

Folders whose tables have the same recordings are operating points, or refused; never added up.
"""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from called import call
from drawn import lay_out
from shared_data import shared

from sedeval_soft import (
    EvaluationError,
    Evaluator,
    InputError,
    SettingsError,
    build_site,
    compare,
    evaluate,
    operating_points,
    validate,
)
from sedeval_soft.tables.joined_tables import seem_thresholds, thresholds_in

HEAD = "filename\tonset\toffset\tevent_label\n"
REFERENCE = HEAD + "a.wav\t0\t2\tcar\na.wav\t5\t8\tcar\nb.wav\t1\t2\tdog\n"
LOOSE = HEAD + "a.wav\t0\t2\tcar\na.wav\t5\t8\tcar\na.wav\t9\t9.5\tcar\nb.wav\t1\t2\tdog\n"
TIGHT = HEAD + "a.wav\t0\t2\tcar\n"
ONLY = ("event", "intersection")
PSDS = ("--set", "max_efpr=1000", "--score", "intersection.hard.psds")


@pytest.fixture
def reference(tmp_path):
    path = tmp_path / "ref.tsv"
    path.write_text(REFERENCE)
    return path


NAMES = [
    ("run_th_0.01.tsv", "run_th_0.5.tsv"),
    ("0.010.tsv", "0.500.tsv"),
    ("predictions0.01.csv", "predictions0.5.csv"),
    ("baseline_0.01.csv", "baseline_0.5.csv"),
    ("thr-0.01.tsv", "thr-0.50.tsv"),
    ("fold2_th_1e-02_seed7.tsv", "fold2_th_0.5_seed7.tsv"),
]


@pytest.mark.parametrize("names", NAMES, ids=" ".join)
def test_a_folder_whose_names_hold_thresholds_is_a_system_at_these(tmp_path, reference, names):
    folder = lay_out(tmp_path / "sys", dict(zip(names, (LOOSE, TIGHT), strict=True)))
    expected = evaluate(reference, {0.01: folder / names[0], 0.5: folder / names[1]}, only=ONLY)
    scores = evaluate(reference, folder, only=ONLY)
    assert dict(scores) == dict(expected)
    assert scores.inputs[1].form == "operating points at 0.01, 0.5"
    assert [each.points for each in scores.inputs] == [(), (0.01, 0.5)]
    said = [text for text in scores.warnings if "taken as 2 operating points" in text]
    assert said
    assert str(folder) in said[0]
    assert "--operating-points" in said[0]
    with pytest.raises(EvaluationError, match="taken as 2 operating points"):
        evaluate(reference, folder, only=ONLY, strict=True)
    # Who says what they are has nothing to be warned of.
    declared = evaluate(reference, operating_points(folder), only=ONLY)
    assert dict(declared) == dict(expected)
    assert not [text for text in declared.warnings if "operating points" in text]


def test_the_dcase_baseline_in_a_folder_is_that_of_its_tables_one_by_one(tmp_path):
    """psds_eval's own example: added up, the five tables have a PSDS of 0.0."""
    data = shared("dcase2019_task4")
    levels = ("0.1", "0.3", "0.5", "0.7", "0.9")
    folder = tmp_path / "baseline"
    folder.mkdir()
    for level in levels:
        shutil.copy(data / f"baseline_{level}.csv", folder)
    truth, given = data / "dcase2019t4_gt.csv", ("--durations", data / "dcase2019t4_meta.csv")
    how = (*given, "--psds", "dcase-psds1", "--format", "json")
    expected = call(truth, folder, "--operating-points", *how)
    assert expected.scores["intersection.hard.psds"]["value"] == pytest.approx(0.14351230791544833, abs=1e-15)
    # With a pattern that leaves out what is beside it, and of the tables one by one.
    beside = call(truth, data / "baseline_*.csv", "--operating-points", *how)
    points = {float(level): str(folder / f"baseline_{level}.csv") for level in levels}
    assert evaluate(truth, points, durations=given[1], psds="dcase-psds1")[
        "intersection.hard.psds"
    ] == pytest.approx(0.14351230791544833, abs=1e-15)
    assert beside.scores == expected.scores
    taken = call(truth, folder, *how)
    assert taken.code == 0
    assert taken.scores == expected.scores
    assert "taken as 5 operating points of one system, at thresholds 0.1 to 0.9" in taken.err
    assert call(truth, folder, *how, "--strict").code == 2
    # The reference stands in the same folder: names say nothing, and the tables are of the same recordings.
    shutil.copy(truth, folder)
    refused = call(truth, folder, *how)
    assert refused.code == 2
    assert "both have rows of recording" in refused.err


SHARED = [
    ({"run1.tsv": LOOSE, "run2.tsv": TIGHT}, "other systems"),
    ({"part-0.tsv": LOOSE, "part-1.tsv": TIGHT}, "whole numbers"),
    ({"th_05.tsv": LOOSE, "th_50.tsv": TIGHT}, "percentages"),
    ({"v0.1.0.tsv": LOOSE, "v0.2.0.tsv": TIGHT}, "versions"),
    ({"a0.1.tsv": LOOSE, "b0.2.tsv": TIGHT}, "other words"),
    ({"a0.1_0.3.tsv": LOOSE, "a0.2_0.4.tsv": TIGHT}, "two numbers"),
    ({"t0.5.tsv": LOOSE, "t0.50.tsv": TIGHT}, "one threshold twice"),
    ({"t0.5.tsv": LOOSE, "t1.5.tsv": TIGHT}, "above 1"),
    ({"a.tsv": "onset\toffset\tevent_label\n0\t1\tcar\n", "all.tsv": HEAD + "a\t0\t1\tcar\n"}, "one by name"),
    (
        {f"t0.{k}.tsv": "filename\tonset\toffset\tevent_label\tvalue\na\t0\t1\tcar\t0.5\n" for k in (1, 2)},
        "with values",
    ),
    ({f"t0.{k}.tsv": "filename\tonset\toffset\tcar\na\t0\t1\t0.5\n" for k in (1, 2)}, "wide"),
]


@pytest.mark.parametrize("files", [files for files, _ in SHARED], ids=[why for _, why in SHARED])
def test_tables_of_the_same_recordings_are_not_added_up(tmp_path, reference, files):
    folder = lay_out(tmp_path / "sys", files)
    names = sorted(files)
    calls = [(reference, folder), (folder, reference), (reference, folder, "--jobs", "2")]
    for done in (call(*arguments) for arguments in (calls if "run1.tsv" in files else calls[:1])):
        assert done.code == 2
        assert f"{folder}: {names[0]} and {names[1]} both have rows of recording 'a" in done.err
        assert "--operating-points" in done.err
    assert not validate(folder).ok
    assert {problem.code for problem in validate(folder).problems} >= {"repeated-recording"}


def test_a_board_and_an_archive_refuse_them(tmp_path, reference):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "whole.tsv").write_text(LOOSE)
    points = lay_out(folder / "points", {"t0.2.tsv": LOOSE, "t0.6.tsv": TIGHT})
    site = tmp_path / "site"
    assert call("board", folder, "--reference", reference, "-o", site).code == 0
    text = "".join(path.read_text() for path in site.rglob("*.html"))
    assert "t0.2.tsv and t0.6.tsv both have rows of recording" in text
    assert "whole" in text
    assert str(tmp_path) not in text
    done = call(reference, shutil.make_archive(str(tmp_path / "sys"), "zip", points))
    assert done.code == 2
    assert "both have rows of recording 'a.wav'" in done.err
    assert "--operating-points says that they are" in done.err


@pytest.mark.parametrize("more", [(), ("--memory-limit", "4G")], ids=str)
def test_a_pattern_of_them_is_no_table_in_parts(tmp_path, reference, more):
    folder = lay_out(tmp_path / "sys", {"t0.2.tsv": LOOSE, "t0.6.tsv": TIGHT})
    done = call(reference, folder / "*.tsv", *more)
    assert done.code == 2
    assert "hold thresholds, 0.2 to 0.6" in done.err
    assert f"--operating-points '{folder}/*.tsv'" in done.err
    assert call(reference, "--operating-points", folder / "*.tsv", *PSDS).code == 0
    # Parts of a table are what they were, whatever recordings they divide.
    parts = lay_out(tmp_path / "parts", {"part-0.tsv": LOOSE, "part-1.tsv": TIGHT})
    assert call(reference, parts / "*.tsv", *more).code == 0


def test_folders_of_recordings_are_what_they_were(tmp_path, reference):
    """One table a recording, tables of different recordings, and numbers that are no thresholds."""
    rows = {"a.wav": "a.wav\t0\t2\tcar\na.wav\t5\t8\tcar\n", "b.wav": "b.wav\t1\t2\tdog\n"}
    whole = evaluate(reference, reference)
    plain = {
        f"{name[0]}.tsv": HEAD.partition("\t")[2] + text.replace(f"{name}\t", "")
        for name, text in rows.items()
    }
    # Shards that happen to be called so, but have different recordings.
    shards = {f"snr_0.{k}.tsv": HEAD + text for k, text in enumerate(rows.values(), 1)}
    # One that only declares what another has rows of adds nothing.
    listed = {"all.tsv": REFERENCE, "list.tsv": HEAD + "a.wav\t\t\t\nb.wav\t\t\t\n"}
    for number, files in enumerate((plain, shards, listed)):
        scores = evaluate(reference, lay_out(tmp_path / f"sys{number}", files))
        assert dict(scores) == dict(whole)
        assert not scores.warnings
    numbered = {"0.1.tsv": "onset\toffset\tevent_label\n0\t1\tcar\n", "0.5.tsv": "0\t1\tcar\n"}
    ours = lay_out(tmp_path / "numbered", numbered)
    assert evaluate(ours, ours).warnings == ()


@pytest.mark.parametrize(
    "text", ["", HEAD, f"{HEAD[:-1]}\tvalue\n", "onset\toffset\tevent_label\n"], ids=repr
)
def test_a_system_may_detect_nothing_at_a_threshold(tmp_path, reference, text):
    folder = lay_out(tmp_path / "sys", {"t0.2.tsv": LOOSE, "t0.6.tsv": TIGHT, "t0.9.tsv": text})
    expected = evaluate(reference, {0.2: folder / "t0.2.tsv", 0.6: folder / "t0.6.tsv", 0.9: []}, only=ONLY)
    assert expected["event.soft.n_sys.micro"] == pytest.approx(0.6 * 4 + 0.3 * 1)
    for system in (folder, operating_points(folder)):
        assert dict(evaluate(reference, system, only=ONLY)) == dict(expected)
    done = call(reference, folder, "--operating-points", "--score", "event.soft.n_sys.micro")
    assert (done.code, float(done.out)) == (0, pytest.approx(2.7))
    # With but one list of anything, too; of nothing at all nothing is found.
    few = lay_out(tmp_path / "few", {"t0.2.tsv": LOOSE, "t0.9.tsv": text})
    assert evaluate(reference, few, only=ONLY)["event.soft.n_sys.micro"] == pytest.approx(0.9 * 4)
    nothing = evaluate(reference, {0.5: tmp_path / "few" / "t0.9.tsv"}, only=ONLY)
    assert nothing["event.hard.n_sys.micro"] == 0
    assert nothing["event.hard.fn.micro"] == 3


def test_an_empty_list_in_memory_is_one_of_nothing():
    pandas = pytest.importorskip("pandas")
    ours = {"filename": ["a"], "onset": [0.0], "offset": [2.0], "event_label": ["x"]}
    for nothing in ([], {}, pandas.DataFrame(), pandas.DataFrame(columns=list(ours)), {k: [] for k in ours}):
        assert evaluate(ours, {0.2: ours, 0.5: nothing})["event.soft.n_sys.micro"] == pytest.approx(0.5)
    with pytest.raises(InputError):
        evaluate(ours, [])


def test_wherever_a_system_is_taken(tmp_path, reference):
    folder = lay_out(tmp_path / "sys", {"t0.2.tsv": LOOSE, "t0.6.tsv": TIGHT})
    name = "event.soft.f1.micro"
    expected = evaluate(reference, operating_points(folder))[name]
    counted = Evaluator(only=("event",)).update(reference, folder)
    assert counted.compute()[name] == expected
    board = compare(reference, [folder, reference], rank_by=name, replicates=10)
    assert {entry.system: entry.value for entry in board.entries}[str(folder)] == expected
    several = call(reference, folder, reference, "--rank-by", name, "--format", "json", "--replicates", "10")
    assert several.code == 0
    assert "taken as 2 operating points" in several.err
    page = tmp_path / "page.html"
    assert call("report", reference, folder, "-o", page, "--quiet").code == 0
    assert page.exists()
    figure = tmp_path / "f.svg"
    assert call("plot", "psd-roc", reference, folder, "--set", "max_efpr=100", "-o", figure).code == 0
    refused = call(reference, folder, "--score", "segment.soft.f1.micro")
    assert refused.code == 2
    assert "operating points have no scores of segments" in refused.err
    assert "taken as 2 operating points" in refused.err
    done = call(reference, folder, "--jobs", "tcp://local")
    assert done.code == 2
    assert "a scheduler needs tables in files" in done.err


def test_names_that_say_no_thresholds_are_refused_by_the_option(tmp_path, reference):
    folder = lay_out(tmp_path / "sys", {"low.tsv": LOOSE, "high.tsv": TIGHT})
    done = call(reference, "--operating-points", folder)
    assert done.code == 2
    assert "does not say by its names at which thresholds its tables are (high.tsv, low.tsv)" in done.err
    assert call(reference, reference, "--operating-points", folder).code == 2


def test_folders_are_operating_points_where_that_is_said_once_for_all(tmp_path, reference):
    """By a board's option, by a settings file that a challenge ships, or by a keyword."""
    submissions = tmp_path / "in"
    folder = lay_out(submissions, {}) and lay_out(
        submissions / "ours", {"t0.2.tsv": LOOSE, "t0.6.tsv": TIGHT}
    )
    name, site = "event.soft.f1.macro", tmp_path / "site"
    expected = evaluate(reference, operating_points(folder))
    scores = evaluate(reference, folder, operating_points=True)
    assert dict(scores) == dict(expected)
    assert scores.warnings == expected.warnings
    assert scores.inputs[1].options == ("operating_points=yes",)
    config = tmp_path / "c.yaml"
    config.write_text("operating-points: true\nonly: event\n")
    done = call(reference, folder, "--config", config, "--score", name)
    assert (done.code, float(done.out), "taken as" in done.err) == (0, expected[name], False)
    for more in (("--operating-points",), ("--config", config)):
        built = ("board", submissions, "--reference", reference, "-o", site, "--rank-by", name, *more)
        assert call(*built, "--fail-on-invalid").code == 0
        (entry,) = json.loads((site / "board.json").read_text())["submissions"]
        assert entry["value"] == expected[name]
        assert entry["report"]
    made = build_site(submissions, reference, site, rank_by=name, operating_points=True)
    assert made.board.entries[0].value == expected[name]
    assert call("plot", "psd-roc", reference, folder, "--operating-points", "--set", "max_efpr=9", "-o",
                tmp_path / "f.svg").err.count("taken as") == 0  # fmt: skip
    for found in (validate(folder, reference, operating_points=True), validate(folder, reference)):
        assert found.form.startswith("2 operating points at 0.2 to 0.6, long table")
    assert not validate(folder, operating_points=True).counts
    assert call("validate", folder, "--operating-points", "--strict").code == 0
    deep = lay_out(tmp_path / "deep", {})
    for level in ("0.2", "0.6"):
        lay_out(deep / level, {"a.tsv": "onset\toffset\tlabel\n0\t2\tcar\n"})
    assert validate(deep, operating_points=True).ok
    assert not validate(deep).ok
    lay_out(tmp_path / "words", {"low.tsv": LOOSE, "high.tsv": TIGHT})
    assert [*validate(tmp_path / "words", operating_points=True).counts] == ["no-thresholds"]
    with pytest.raises(InputError, match="does not say by its names"):
        evaluate(reference, tmp_path / "words", operating_points=True)
    with pytest.raises(SettingsError, match="must be true or false"):
        evaluate(reference, folder, operating_points="yes")


def test_validate_says_how_a_folder_is_taken(tmp_path, reference):
    folder = lay_out(tmp_path / "sys", {"t0.2.tsv": LOOSE, "t0.6.tsv": TIGHT, "t0.9.tsv": ""})
    found = validate(folder, reference)
    assert found.ok
    assert [p.code for p in found.problems if p.severity == "warning"] == ["operating-points"]
    assert json.loads(call("validate", folder, "--format", "json").out)


@pytest.mark.parametrize(
    ("low", "said"),
    [
        ("onset\toffset\tevent_label\n0\t2\tcar\n", "does not name its recordings"),
        (HEAD.replace("\n", "\tvalue\n") + "a.wav\t0\t2\tcar\t0.5\n", "has values; expected a list"),
    ],
)
def test_what_is_no_list_beside_others_is_refused_by_all(low, said, tmp_path, reference):
    """Where just some name their recordings, the rows of others were of none, and scoring broke off."""
    folder = lay_out(tmp_path / "sys", {"t0.2.tsv": low, "t0.6.tsv": TIGHT})
    done = call(reference, "--operating-points", folder)
    assert (done.code, said in done.err) == (2, True)
    done = call("validate", folder, "--operating-points")
    assert (done.code, said in done.out) == (1, True), done


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["x/0.csv", "x/0.5.csv", "x/1.csv"], [0, 0.5, 1]),
        (["0.5.pred.tsv.gz", "0.7.pred.tsv"], [0.5, 0.7]),
        (["pred.0.5.tsv", "pred.0.7.tsv"], [0.5, 0.7]),
        (["th_0.5"], [0.5]),
        (["fold1_th_0.5.csv"], None),
        (["run.05.csv", "run.10.csv"], None),
        ([], None),
    ],
)
def test_thresholds_in_names(names, expected):
    assert thresholds_in(names) == expected
    # Whole numbers, and one number, are thresholds only where somebody says so.
    assert thresholds_in(["part-0", "part-1"]) == [0, 1]
    assert not seem_thresholds(["part-0", "part-1"])
    assert not seem_thresholds(["th_0.5"])


# In memory.

TRUTH = {"filename": ["a", "a"], "onset": [0.0, 5.0], "offset": [2.0, 8.0], "event_label": ["x", "x"]}
MANY = TRUTH | {
    "filename": ["a"] * 3,
    "onset": [0.0, 5.0, 9.0],
    "offset": [2.0, 8.0, 9.5],
    "event_label": ["x"] * 3,
}
FEW = {"filename": ["a"], "onset": [0.0], "offset": [2.0], "event_label": ["x"]}


def test_each_list_stands_up_to_the_next_threshold():
    points = {0.6: FEW, 0.2: MANY}
    for threshold, n_sys in ((0.0, 3), (0.2, 3), (0.59, 3), (0.6, 1), (0.99, 1)):
        scores = evaluate(TRUTH, points, threshold=threshold, reference_threshold=0.5, only=ONLY)
        assert scores["event.hard.n_sys.micro"] == n_sys
    # 0.6 of the levels have the loose list with 2 of 3 right, 0.4 the tight one with 1 of 1.
    scores = evaluate(TRUTH, points, only=ONLY)
    assert scores["event.soft.tp.micro"] == pytest.approx(0.6 * 2 + 0.4 * 1)
    assert scores["event.soft.n_sys.micro"] == pytest.approx(0.6 * 3 + 0.4 * 1)
    assert scores["intersection.soft.tp.micro"] == pytest.approx(0.6 * 2 + 0.4 * 1)
    # Best F: 4/5 of the loose list, 2/3 of the tight one.
    assert scores["event.optimal.f1[x]"] == pytest.approx(4 / 5)
    assert 0.2 <= scores["event.optimal.threshold[x]"] < 0.6
    assert scores.inputs[1].form == "operating points at 0.2, 0.6"
    assert scores.inputs[1].events == "rows"


@pytest.mark.parametrize(
    ("points", "settings", "expected"),
    [
        ({0.5: FEW, 1.5: FEW}, {}, "expected a threshold in \\[0, 1\\]"),
        ({0.5: FEW, -0.1: FEW}, {}, "expected a threshold in \\[0, 1\\]"),
        ({float("nan"): FEW}, {}, "expected a threshold in \\[0, 1\\]"),
        ({0.5: FEW | {"value": [0.5]}}, {}, "expected a list of events"),
        ({0.5: np.zeros((3, 1))}, {}, "expected a list of events"),
        ({0.5: FEW}, {"events": "merge"}, "operating points"),
        ({0.5: FEW}, {"min_gap": 1.0}, "operating points"),
        ({0.5: FEW}, {"only": ["segment"]}, "operating points"),
        ({0.5: FEW}, {"psds_median_filters": [1.0]}, "operating points"),
    ],
)
def test_what_is_no_operating_point_and_settings_that_none_can_follow_are_refused(points, settings, expected):
    with pytest.raises(EvaluationError, match=expected):
        evaluate(TRUTH, points, **settings)


@pytest.mark.parametrize("measures", [(), ("curves",), ("all",)])
def test_curves_are_over_the_points(measures):
    scores = evaluate(TRUTH, {0.6: FEW, 0.2: MANY}, measures=measures)
    curve = scores.curves.event["x"]
    assert list(curve.n_sys) == [3, 1, 0]
    assert curve.f1.max() == scores["event.optimal.f1[x]"]


def test_recordings_that_the_reference_lacks_may_be_thresholds(reference, tmp_path):
    """Names of files hold thresholds, while the tables do not name recordings."""
    rows = {f"{name}.tsv": f"onset\toffset\tevent_label\n0\t{name}\tcar\n" for name in ("0.1", "0.5", "0.9")}
    folder = lay_out(tmp_path / "out", rows)
    archive = shutil.make_archive(str(folder), "zip", folder)
    for system in (folder, f"{folder}/*.tsv", archive):
        told = "\n".join(evaluate(reference, system).warnings)
        assert "('0.1', '0.5', '0.9')" in told
        assert "their names hold thresholds" in told
        assert "--operating-points" in told
        with pytest.raises(EvaluationError, match="hold thresholds"):
            evaluate(reference, system, strict=True)
