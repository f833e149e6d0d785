"""Operating points: lists of a system's events at a few thresholds, or folders of these lists.

A folder whose tables have the same recordings is read as operating points if the user asks for it, or else
refused. The tables are never added up.
"""

import json
import shutil

import numpy as np
import pytest
from called import call
from drawn import lay_out

from sedeval_soft import EvaluationError, InputError, evaluate, operating_points, validate

HEAD = "filename\tonset\toffset\tevent_label\n"
LOOSE = HEAD + "a.wav\t0\t2\tcar\na.wav\t5\t8\tcar\na.wav\t9\t9.5\tcar\nb.wav\t1\t2\tdog\n"
TIGHT = HEAD + "a.wav\t0\t2\tcar\n"
ONLY = ("event", "intersection")


@pytest.fixture
def reference(tmp_path):
    rows = "a.wav\t0\t2\tcar\na.wav\t5\t8\tcar\nb.wav\t1\t2\tdog\n"
    return lay_out(tmp_path, {"ref.tsv": HEAD + rows}) / "ref.tsv"


@pytest.fixture
def folder(tmp_path):
    return lay_out(tmp_path / "sys", {"t0.2.tsv": LOOSE, "t0.6.tsv": TIGHT})


def check_refused(code, *sides, **settings):
    """Check that sides are refused with a code; return the message."""
    with pytest.raises(InputError) as caught:
        evaluate(*sides, **settings)
    assert {problem.code for problem in caught.value.problems} == {code}
    return str(caught.value)


@pytest.mark.parametrize(
    "files",
    [
        {"t0.2.tsv": LOOSE, "t0.6.tsv": TIGHT},
        {"run1.tsv": LOOSE, "run2.tsv": TIGHT},
        {"a.tsv": "onset\toffset\tevent_label\n0\t1\tcar\n", "all.tsv": HEAD + "a\t0\t1\tcar\n"},
        {f"t0.{k}.tsv": "filename\tonset\toffset\tcar\na\t0\t1\t0.5\n" for k in (1, 2)},
    ],
    ids=str,
)
def test_tables_of_the_same_recordings_are_not_added_up(tmp_path, reference, files):
    folder = lay_out(tmp_path / "sys", files)
    archive = shutil.make_archive(str(folder), "zip", folder)
    for sides in ((reference, folder), (folder, reference), (reference, archive)):
        message = check_refused("repeated-recording", *sides)
        assert all(name in message for name in files)
    assert "--operating-points" in check_refused("repeated-recording", reference, folder, jobs=2)
    assert {problem.code for problem in validate(folder).problems} >= {"repeated-recording"}


@pytest.mark.parametrize("more", [{}, {"memory_limit": "4G"}], ids=str)
def test_a_pattern_of_operating_points_is_not_a_table_in_parts(tmp_path, reference, folder, more):
    with pytest.raises(InputError, match=f"--operating-points '{folder}/"):
        evaluate(reference, folder / "*.tsv", **more)
    # Parts of one table may share recordings; tables of different recordings may have numbers in their names.
    parts = lay_out(tmp_path / "parts", {"part-0.tsv": LOOSE, "part-1.tsv": TIGHT})
    others = lay_out(tmp_path / "others", {"snr_0.1.tsv": TIGHT, "snr_0.2.tsv": HEAD + "b.wav\t1\t2\tdog\n"})
    for system, n_sys in ((parts, 5), (others, 2)):
        assert evaluate(reference, system / "*.tsv", **more)["event.hard.n_sys.micro"] == n_sys


@pytest.mark.parametrize("text", ["", HEAD, f"{HEAD[:-1]}\tvalue\n", HEAD.partition("\t")[2]], ids=repr)
def test_a_system_may_detect_nothing_at_a_threshold(folder, reference, text):
    lay_out(folder, {"t0.9.tsv": text})
    expected = evaluate(reference, {0.2: folder / "t0.2.tsv", 0.6: folder / "t0.6.tsv", 0.9: []}, only=ONLY)
    assert expected["event.soft.n_sys.micro"] == pytest.approx(0.6 * 4 + 0.3 * 1)
    assert dict(evaluate(reference, operating_points(folder), only=ONLY)) == dict(expected)
    nothing = evaluate(reference, {0.5: folder / "t0.9.tsv"}, only=ONLY)
    assert (nothing["event.hard.n_sys.micro"], nothing["event.hard.fn.micro"]) == (0, 3)


def test_folders_are_operating_points_where_that_is_said_once_for_all(tmp_path, reference, folder):
    """The user may give an option, a settings file or a keyword, also for a board."""
    name, site, config = "event.soft.f1.macro", tmp_path / "site", tmp_path / "c.yaml"
    expected = evaluate(reference, operating_points(folder))
    scores = evaluate(reference, folder, operating_points=True)
    assert (dict(scores), len(scores.warnings)) == (dict(expected), len(expected.warnings))
    assert scores.inputs[1].options == ("operating_points=yes",)
    config.write_text("operating-points: true\nonly: event\n")
    for more in (("--operating-points",), ("--config", config)):
        assert call(reference, folder, "--score", name, *more).out == f"{expected[name]}\n"
    shutil.copytree(folder, tmp_path / "in" / "ours")
    board = ("board", tmp_path / "in", "--reference", reference, "-o", site, "--rank-by", name)
    assert call(*board, "--no-reports", "--config", config, "--fail-on-invalid").code == 0
    (entry,) = json.loads((site / "board.json").read_text())["submissions"]
    assert entry["value"] == expected[name]


def test_validate_looks_at_operating_points(tmp_path, reference, folder):
    found = validate(folder, reference, operating_points=True)
    assert (found.rows, found.files, found.ok) == (5, 2, True)
    for level in ("0.2", "0.6"):
        lay_out(tmp_path / "deep" / level, {"a.tsv": "onset\toffset\tlabel\n0\t2\tcar\n"})
    assert validate(tmp_path / "deep", operating_points=True).ok
    check_refused("repeated-recording", reference, tmp_path / "deep")
    words = lay_out(tmp_path / "words", {"low.tsv": LOOSE, "high.tsv": TIGHT})
    check_refused("no-thresholds", reference, words, operating_points=True)
    assert [*validate(words, operating_points=True).counts] == ["no-thresholds"]


@pytest.mark.parametrize(
    "low", ["onset\toffset\tevent_label\n0\t2\tcar\n", HEAD[:-1] + "\tvalue\na.wav\t0\t2\tcar\t0.5\n"]
)
def test_tables_without_recordings_or_with_values_are_refused_beside_others(low, folder, reference):
    lay_out(folder, {"t0.2.tsv": low})
    with pytest.raises(InputError):
        evaluate(reference, folder, operating_points=True)
    assert not validate(folder, operating_points=True).ok


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("run_th_0.01.tsv", "run_th_0.5.tsv"), [0.01, 0.5]),
        (("fold2_th_1e-02_seed7.tsv", "fold2_th_0.5_seed7.tsv"), [0.01, 0.5]),
        (["0.csv", "0.5.csv", "1.csv"], [0, 0.5, 1]),
        (["0.5.pred.tsv.gz", "0.7.pred.tsv"], [0.5, 0.7]),
        (["pred.0.5.tsv", "pred.0.7.tsv"], [0.5, 0.7]),
        (["th_0.5.tsv"], [0.5]),
        (["part-0.tsv", "part-1.tsv"], [0, 1]),
        (["fold1_th_0.5.csv"], None),
        (["run.05.csv", "run.10.csv"], None),
        (["v0.1.0.tsv", "v0.2.0.tsv"], None),
        (["a0.1.tsv", "b0.2.tsv"], None),
        (["a0.1_0.3.tsv", "a0.2_0.4.tsv"], None),
        (["t0.5.tsv", "t0.50.tsv"], None),
        (["t0.5.tsv", "t1.5.tsv"], None),
        ([], None),
    ],
)
def test_thresholds_are_found_in_names(names, expected, tmp_path):
    """The names come from a folder or from a pattern, which leaves out other files."""
    folder = lay_out(tmp_path / "x", dict.fromkeys(names, TIGHT))
    if expected is None:
        with pytest.raises(InputError):
            operating_points(folder)
        return
    points = {level: str(folder / name) for level, name in zip(expected, names, strict=True)}
    assert operating_points(folder) == points
    lay_out(folder, {"notes": "of the run"})
    assert operating_points(folder / "*.*") == points


# In memory.

TRUTH = {"filename": ["a", "a"], "onset": [0.0, 5.0], "offset": [2.0, 8.0], "event_label": ["x", "x"]}
MANY = {key: [*cells, more] for (key, cells), more in zip(TRUTH.items(), ("a", 9.0, 9.5, "x"), strict=True)}
FEW = {key: cells[:1] for key, cells in TRUTH.items()}


def test_each_list_is_used_up_to_the_next_threshold():
    points, size = {0.6: FEW, 0.2: MANY}, "event.hard.n_sys.micro"
    found = {at: evaluate(TRUTH, points, threshold=at, reference_threshold=0.5, only=ONLY)[size]
             for at in (0.0, 0.2, 0.59, 0.6, 0.99)}  # fmt: skip
    assert found == {0.0: 3, 0.2: 3, 0.59: 3, 0.6: 1, 0.99: 1}
    scores = evaluate(TRUTH, points, only=ONLY, measures=("curves",))
    by_hand = {
        # For 0.6 of the levels the loose list counts, with 2 of 3 right; for 0.4 the tight list, with 1 of 1.
        "event.soft.tp.micro": 0.6 * 2 + 0.4 * 1,
        "event.soft.n_sys.micro": 0.6 * 3 + 0.4 * 1,
        "intersection.soft.tp.micro": 0.6 * 2 + 0.4 * 1,
        # F is 4/5 for the loose list, and 2/3 for the tight list.
        "event.optimal.f1[x]": 4 / 5,
    }
    assert {name: scores[name] for name in by_hand} == pytest.approx(by_hand)
    assert 0.2 <= scores["event.optimal.threshold[x]"] < 0.6
    assert (scores.inputs[1].events, scores.inputs[1].points) == ("rows", (0.2, 0.6))
    curve = scores.curves.event["x"]
    assert (list(curve.n_sys), curve.f1.max()) == ([3, 1, 0], scores["event.optimal.f1[x]"])


@pytest.mark.parametrize(
    ("points", "settings"),
    [
        ({0.5: FEW, 1.5: FEW}, {}),
        ({float("nan"): FEW}, {}),
        ({0.5: FEW | {"value": [0.5]}}, {}),
        ({0.5: np.zeros((3, 1))}, {}),
        ({0.5: FEW}, {"events": "merge"}),
        ({0.5: FEW}, {"min_gap": 1.0}),
        ({0.5: FEW}, {"only": ["segment"]}),
        ({0.5: FEW}, {"psds_median_filters": [1.0]}),
        (FEW, {"operating_points": "yes"}),
    ],
)
def test_wrong_points_and_settings_that_none_can_follow_are_refused(points, settings):
    assert evaluate(TRUTH, {0.5: FEW}, only="event")
    with pytest.raises(EvaluationError):
        evaluate(TRUTH, points, **settings)
