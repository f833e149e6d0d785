"""Compare with sed_scores_eval: segments, events, intersections, presets, score folders.

Measures are best F, average precision, areas under the ROC, PSDS, median filters and piPSDS. Presets are
compared on MAESTRO and random scores, with sed_scores_eval called as in the challenges' baselines.
"""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from documents import ROOT, blocks, examples, make_workplace, run_all
from drawn import facts
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared
from tables import columns_of, wide_rows

from sedeval_soft import Settings, evaluate
from sedeval_soft.settings_files import load_preset
from sedeval_soft.tables import read_rows
from sedeval_soft.timeline.postprocess import postprocessed
from sedeval_soft.tools.convert import convert

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

import peer_intersection as peer
from peer_intersection import CRITERIA, FRAME, LABELS, WEIGHTS
from sed_scores_eval import io as peer_io
from sed_scores_eval import segment_based

# For a class that is always active the peer divides 0 by 0.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning")

# Segments: frames fit them or cross their edges, files end within a segment, and lengths differ.

DRAWN = {
    "seed": st.integers(0, 2**32 - 1),
    "frame": st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.64, 1.0]),
    "length": st.sampled_from([0.2, 0.5, 1.0]),
}


def truth_of(rng, seconds: float) -> list[tuple[float, float, str]]:
    """Return events of each class that neither touch nor overlap, on eighths of a second (exact in floats).

    Each class has an event at the beginning: the others may be after the end of the recording, and
    sed_scores_eval refuses classes without events.
    """
    events = [(0.125, 0.25, label) for label in LABELS]
    for label in LABELS:
        n = 2 * int(rng.integers(1, 4))
        edges = np.sort(rng.choice(np.arange(3, max(int(8 * seconds), 10)), size=n, replace=False)) / 8
        events += [(onset, offset, label) for onset, offset in edges.reshape(-1, 2).tolist()]
    return events


def segments_of(seed: int, frame: float, levels: int | None) -> peer.Case:
    """Return a case of three files; if levels is None, all values differ."""
    rng = np.random.default_rng(seed)
    scores, truth, ends = {}, {}, {}
    for name in "abc":
        n = int(rng.integers(14, 30))  # longer than the part that a duration may cut off
        values = rng.random((n, len(LABELS)))
        scores[name] = values if levels is None else np.round(values * levels) / levels
        # The recording may end before the last frame does, or after it.
        ends[name] = float(rng.choice([-1.3, 0.0, 0.37, 2.5]))
        truth[name] = truth_of(rng, n * frame)
    return peer.Case(scores, truth, frame=frame, ends=ends)


def asked(case: peer.Case, length: float):
    """Return the arguments of the peer's functions."""
    return {**case.both(), "audio_durations": case.durations(), "segment_length": length}


def evaluated(case: peer.Case, **chosen):
    return evaluate(*case.sides(), durations=case.durations(), **chosen)


@settings(max_examples=120, deadline=None)
@given(**DRAWN, levels=st.sampled_from([2, 5, 20, None]))
def test_best_f_and_thresholds(seed, frame, length, levels):
    case, same = segments_of(seed, frame, levels), True
    f, precision, recall, thresholds, statistics = segment_based.best_fscore(**asked(case, length))
    got = evaluated(case, segment_length=length, only=("segment.optimal",))
    for label in LABELS:
        names = ("f1", "precision", "recall", "tp", "n_sys", "n_ref", "threshold")
        own = {name: got[f"segment.optimal.{name}[{label}]"] for name in names}
        mine, other = np.inf if own["threshold"] is None else own["threshold"], thresholds[label]
        assert own["n_ref"] == statistics[label]["n_ref"]
        if own["f1"] != pytest.approx(f[label], abs=1e-12):
            # Their threshold of minus infinity also detects values of 0; our thresholds are at least 0.
            assert other == -np.inf and own["f1"] < f[label]
            same = False
            continue
        if own["n_sys"] != statistics[label]["n_sys"]:
            # Two thresholds have the same F, up to the last digit of their floats. We take the higher.
            assert mine > other
            same = False
            continue
        expected = statistics[label]["tps"], precision[label], recall[label]
        assert (own["tp"], own["precision"], own["recall"]) == pytest.approx(expected, abs=1e-12)
        scores = [-np.inf, *segment_scores(case, LABELS.index(label), length)]
        lowest = min(score for score in scores if score > other)
        assert max(score for score in scores if score <= other) <= mine < lowest
    for name, theirs in (("f1", f), ("precision", precision), ("recall", recall)) if same else ():
        averages = [got[f"segment.optimal.{name}.{average}"] for average in ("macro", "micro")]
        expected = [theirs["macro_average"], theirs["micro_average"]]
        assert averages == pytest.approx(expected, abs=1e-12)


def segment_scores(case: peer.Case, column: int, length: float) -> list[float]:
    """Return the highest score of the frames that overlap each segment, frame by frame."""
    scores = []
    for name, duration in case.durations().items():
        frames = [*zip(case.edges(name), case.edges(name)[1:], case.scores[name][:, column], strict=False)]
        for k in range(int(np.ceil(round(duration / length, 6)))):
            begin, end = round(k * length, 6), round((k + 1) * length, 6)
            scores.append(float(max((v for a, b, v in frames if a < end and b > begin), default=0.0)))
    return scores


@settings(max_examples=120, deadline=None)
@given(**DRAWN, levels=st.sampled_from([2, 5, 50, None]), max_fpr=st.sampled_from([0.1, 0.33, 1.0]))
def test_average_precision_and_areas(seed, frame, length, levels, max_fpr):
    """Average precision agrees. If scores tie, their areas use steps below the line, and ours the line."""
    case = segments_of(seed, frame, levels)
    arguments = asked(case, length)
    theirs = {
        "average_precision": segment_based.average_precision(**arguments)[0],
        "roc_auc": segment_based.auroc(**arguments)[0],
        "partial_auc": segment_based.auroc(**arguments, max_fpr=max_fpr)[0],
    }
    got = evaluated(
        case, segment_length=length, only=("segment.hard",), measures=("curves",), max_fpr=max_fpr
    )
    # Two segments also tie if the same frame is the highest of both.
    scores = [segment_scores(case, column, length) for column in range(len(LABELS))]
    tied = any(len({*column}) < len(column) for column in scores)
    for name, values in theirs.items():
        mine = {label: got[f"segment.hard.{name}[{label}]"] for label in LABELS}
        exact = name == "average_precision" or not tied
        for label, value in mine.items():
            if value is None:
                assert name != "average_precision"
            elif exact:
                assert value == pytest.approx(values[label], abs=1e-12), name
            elif name == "roc_auc":
                assert value >= values[label] - 1e-12
        if exact and None not in mine.values():
            assert got[f"segment.hard.{name}.macro"] == pytest.approx(values["mean"], abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "number"),
    [("precision", 0.5), ("precision", 0.7), ("precision", 0.999), ("recall", 0.8)],
)
def test_the_best_f_under_a_constraint(measure, number):
    """If no threshold reaches a precision, ours is undefined, with a warning; theirs is 1."""
    reached, constraint = set(), f"{measure}>={number}"
    for seed in range(8):
        case = peer.made(seed, (5, None)[seed % 2])
        case = replace(case, ends=dict.fromkeys(case.scores, 0.0))
        theirs = segment_based.best_fscore(**asked(case, 1.0), **{f"min_{measure}": number})
        got = evaluated(case, segment_length=1.0, only="segment.optimal", satisfice=constraint)
        for label in LABELS:
            prefix, expected = "segment.optimal.satisficed", [values[label] for values in theirs[:4]]
            own = [got[f"{prefix}_{name}[{label}]"] for name in ("f", "precision", "recall")]
            reached.add(own[0] is not None)
            if own[0] is not None:
                assert own == pytest.approx(expected[:3], abs=1e-12)
                continue
            assert expected == [0.0, 1.0, 0.0, np.inf] and own[1] is None
            assert 0 < got[f"{prefix}_constraint[{label}]"] < number
            assert any(f"no threshold reaches {constraint}" in text for text in got.warnings)
    # Some threshold always reaches a recall.
    assert reached >= ({True} if measure == "recall" or number < 0.6 else {True, False})


# Events and intersections. All scores are above 0: the peer also tries a threshold below all scores, at
# which a whole file is one event, even at scores of 0. Here time of value 0 is silent, as is time without
# rows.

COLLARS = (
    {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.2},
    {"onset_collar": 0.5, "offset_collar": 0.5, "offset_collar_rate": 0.0},
    {"onset_collar": 1.0, "offset_collar": 0.1, "offset_collar_rate": 0.5},
)

CASES = [(seed, (3, 10, None)[seed % 3]) for seed in range(30)]


def made(seed: int, levels: int | None) -> peer.Case:
    case = peer.made(seed, levels)
    return peer.Case({name: 0.05 + 0.9 * values for name, values in case.scores.items()}, case.truth)


def counts(scores, stem: str, label: str) -> tuple[int, int]:
    return scores[f"{stem}.tp[{label}]"], scores[f"{stem}.fp[{label}]"]


@pytest.mark.parametrize("basis", ["event", "intersection"])
def test_best_f(basis):
    """F, precision, recall and averages agree, and thresholds select the same events."""
    compared, stem = 0, f"{basis}.optimal"
    for seed, levels in CASES:
        case, same = made(seed, levels), True
        chosen = COLLARS[seed % 3] if basis == "event" else dict(list(CRITERIA[seed % 5].items())[:2])
        got = evaluated(case, only=(stem,), **chosen)
        theirs = peer.best(case, basis, **chosen)
        for label in LABELS:
            other = theirs[label]
            assert got[f"{stem}.f1[{label}]"] == pytest.approx(other["f1"], abs=1e-12)
            assert got[f"{stem}.n_ref[{label}]"] == other["n_ref"]
            threshold = got[f"{stem}.threshold[{label}]"]
            threshold = np.inf if threshold is None else threshold
            counted = other["tp"], other["fp"]
            if counts(got, stem, label) != counted:
                # Two thresholds have the same F, up to rounding: we take the higher.
                assert threshold > other["threshold"]
                same = False
                continue
            # Without detections, theirs is 1, and ours is undefined.
            precision = pytest.approx(other["precision"], abs=1e-12) if any(counted) else None
            assert got[f"{stem}.recall[{label}]"] == pytest.approx(other["recall"], abs=1e-12)
            assert got[f"{stem}.precision[{label}]"] == precision
            for cut in (threshold, other["threshold"]):
                at = evaluated(case, only=(f"{basis}.hard",), threshold=min(max(cut, 0.0), 1.0), **chosen)
                assert counts(at, f"{basis}.hard", label) == counted
            compared += 0 < other["f1"]
        for average in ("macro", "micro") if same else ("macro",):
            assert got[f"{stem}.f1.{average}"] == pytest.approx(theirs[f"{average}_average"]["f1"], abs=1e-12)
    assert compared > len(CASES)


def check_psds(case: peer.Case, lengths: tuple[float, ...] = (), **chosen: float) -> float:
    """Compare PSDS, or piPSDS over median filters, of all classes and of each; return theirs."""
    name = "intersection.hard.pipsds" if lengths else "intersection.hard.psds"
    got = evaluated(case, only=("intersection.hard",), psds_median_filters=lengths, **chosen)
    theirs, by_class = peer.psds(case, lengths, **chosen)
    ours = {label: got[f"{name}[{label}]"] for label in LABELS}
    assert (got[name], ours) == (pytest.approx(theirs, abs=1e-12), pytest.approx(by_class, abs=1e-12))
    return theirs


@pytest.mark.parametrize("shares", CRITERIA, ids=str)
def test_psds(shares):
    values = [
        check_psds(made(*case), alpha_ct=alpha_ct, alpha_st=alpha_st, max_efpr=max_efpr, **shares)
        for case, (alpha_ct, alpha_st), max_efpr in itertools.product(CASES[::2], WEIGHTS, (100.0, 2000.0))
    ]
    # Criteria of 1 are hardly ever met, as frames do not fit events exactly.
    assert sum(0 < value < 1 for value in values) > 10 or shares["dtc"] == 1.0


@pytest.mark.parametrize("steps", [1, 3, 5, 7, 15])
def test_median_filter(steps):
    """At lengths other than odd multiples of a frame, their output changes within frames."""
    changed = 0
    for seed, levels in CASES:
        case = made(seed, levels)
        _, system = case.sides()
        ours = postprocessed(system, Settings(median_filter=steps * FRAME))
        theirs = peer.median_filtered(case, steps * FRAME)
        values = np.stack(ours.values, axis=-1)
        assert np.array_equal(values, np.concatenate([theirs[name] for name in ours.files]))
        changed += (values != np.stack(system.values, axis=-1)).any()
    assert changed == (steps > 1) * len(CASES)


@pytest.mark.parametrize("shares", CRITERIA[:4], ids=str)
def test_pipsds(shares):
    """Our PSDS of filtered scores also equals their piPSDS over one filter."""
    values = []
    for number, (seed, levels) in enumerate(CASES[::3]):
        case = made(seed, levels)
        weights = dict(zip(("alpha_ct", "alpha_st"), WEIGHTS[number % len(WEIGHTS)], strict=True))
        values += [
            check_psds(case, tuple(FRAME * n for n in steps), **shares, **weights)
            for steps in ((1, 3, 5, 9), (3, 7), (5,))
        ]
        one = evaluated(case, only=("intersection.hard",), median_filter=5 * FRAME, **shares, **weights)
        assert one["intersection.hard.psds"] == pytest.approx(values[-1], abs=1e-12)
    assert sum(0 < value < 1 for value in values) > 10


# Presets.

MAESTRO = load_preset("dcase2024-task4-maestro")["classes"]


def merged(rows):
    """Return events by file, with touching events of a class joined, as the peer demands."""
    events = {}
    for (name, label), group in rows.groupby(["filename", "event_label"]):
        kept = events.setdefault(name, [])
        for onset, offset in sorted(zip(group.onset, group.offset, strict=True)):
            if kept and kept[-1][2] == label and onset <= kept[-1][1]:
                kept[-1] = (kept[-1][0], max(offset, kept[-1][1]), label)
            else:
                kept.append((onset, offset, label))
    return events


@pytest.fixture(scope="module")
def maestro():
    """Return our arguments and theirs for a noisy system on MAESTRO, all of whose scores differ."""
    hard, soft = (
        pd.read_csv(shared("maestro") / name, sep="\t") for name in ("gt_dev.csv", "soft_gt_dev.csv")
    )
    noise = np.random.default_rng(2024).random((len(soft), len(MAESTRO)))
    system = soft.assign(**{label: 0.4 * soft[label] + 0.6 * noise[:, i] for i, label in enumerate(MAESTRO)})
    truth, parts = merged(hard), dict([*system.groupby("filename")])
    columns = ["onset", "offset", *MAESTRO]
    theirs = {
        "scores": {name: part[columns].reset_index(drop=True) for name, part in parts.items()},
        "ground_truth": {name: truth.get(name, []) for name in parts},
        "audio_durations": {name: float(part.offset.max()) for name, part in parts.items()},
        "segment_length": 1.0,
    }
    # A class outside the challenge must not change scores.
    return (hard, system.assign(**{"coffee machine": 0.9})), theirs


def test_maestro_of_2024_and_task_4b_of_2023(maestro):
    ours, theirs = maestro
    scores, before = (
        evaluate(*ours, durations=theirs["audio_durations"], preset=preset)
        for preset in ("dcase2024-task4-maestro", "dcase2023-task4b")
    )
    partial, area = (segment_based.auroc(**theirs, **how)[0] for how in ({"max_fpr": 0.1}, {}))
    best, at_half = segment_based.best_fscore(**theirs)[0], segment_based.fscore(**theirs, threshold=0.5)[0]
    for name, of_class, mean in (
        ("hard.partial_auc", partial, "mean"),
        ("hard.roc_auc", area, "mean"),
        ("optimal.f1", best, "macro_average"),
    ):
        for label in MAESTRO:
            assert scores[f"segment.{name}[{label}]"] == pytest.approx(of_class[label], abs=1e-12)
        assert scores[f"segment.{name}.macro"] == pytest.approx(of_class[mean], abs=1e-12)
    assert {*partial} == {*MAESTRO, "mean"} and 0.1 < partial["mean"] < 0.9
    found = before["segment.optimal.f1.macro"], before["segment.hard.f1.micro"]
    assert found == pytest.approx((best["macro_average"], at_half["micro_average"]), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_desed_of_2024(seed):
    case = peer.made(seed, labels=load_preset("dcase2024-task4-desed")["classes"])
    theirs, by_class = peer.psds(case, dtc=0.7, gtc=0.7, alpha_ct=0, alpha_st=1)
    # A class outside the challenge must not change scores.
    wider = {
        name: np.column_stack((values, np.full(len(values), 0.9))) for name, values in case.scores.items()
    }
    sides = peer.Case(wider, case.truth, (*case.labels, "coffee machine")).sides()
    got = evaluate(*sides, durations=case.durations(), preset="dcase2024-task4-desed")
    assert got["intersection.hard.psds"] == pytest.approx(theirs, abs=1e-12)
    assert 0.001 < theirs < 1 and {*by_class} == {*case.labels}


# We read its score folders, and it reads ours.


def test_folders_that_the_peer_wrote_are_read(tmp_path):
    from sed_scores_eval.base_modules.io import write_sed_scores
    from sed_scores_eval.base_modules.scores import create_score_dataframe

    values, edges = np.random.default_rng(0).random((2, 5, 2)), np.arange(6) * 0.1
    frames = [create_score_dataframe(each, edges, ["car", "dog"]) for each in values]
    write_sed_scores(dict(zip(("Y1", "Y2.3"), frames, strict=True)), tmp_path / "scores")
    rows = read_rows(tmp_path / "scores")
    assert (rows.has_steps, rows.files, rows.classes) == (True, ("Y1", "Y2.3"), ("car", "dog"))
    assert np.array_equal(np.array(rows.values).T, np.concatenate(values))
    assert np.array_equal(rows.onset, np.tile(edges[:-1], 2))


def test_folders_that_are_written_are_read_by_the_peer(tmp_path):
    rows = wide_rows(np.random.default_rng(1).random((8, 3)), 0.02, files=2)
    assert convert(rows, tmp_path / "scores", to="score-dir").losses == ()
    lazy = peer_io.lazy_sed_scores_loader(tmp_path / "scores")
    assert set(lazy.audio_ids if hasattr(lazy, "audio_ids") else lazy.keys()) == set(rows.files)
    for code, name in enumerate(rows.files):
        kept, frame = rows.file == code, lazy[name]
        assert list(frame.columns) == ["onset", "offset", *rows.classes]
        # The default parser of pandas is not exact in the last digits.
        assert np.allclose(frame.to_numpy()[:, 2:], np.array(rows.values).T[kept], rtol=1e-14, atol=0)
    assert facts(read_rows(tmp_path / "scores")) == facts(rows)


def test_scores_and_events_of_the_peer_are_sides(tmp_path):
    """The mappings that its readers return score as the tables that they read."""
    rows = wide_rows(np.random.default_rng(2).random((40, 3)).round(3), 0.25, files=4)
    convert(rows, tmp_path / "scores", to="score-dir")
    events = [
        (f"{file}.wav", k, k + 1.5, f"class{k % 3}") for file in rows.files for k in range(int(file[-1]))
    ]
    table = tmp_path / "events.tsv"
    pd.DataFrame(columns_of(events, ["file0.wav"])).to_csv(table, sep="\t", index=False)
    ground_truth = peer_io.read_ground_truth_events(table)
    lazy = peer_io.lazy_sed_scores_loader(tmp_path / "scores")
    given = {"durations": dict.fromkeys(rows.files, 2.5), "psds": "dcase-psds1"}
    expected = dict(evaluate(table, tmp_path / "scores", **given))
    assert expected["intersection.hard.psds"] is not None
    for theirs in ({file: lazy[file] for file in rows.files}, lazy):
        assert dict(evaluate(ground_truth, theirs, **given)) == expected


# The guide for users of sed_scores_eval and psds_eval calls them beside ours: numbers are equal.


def area(x, y, max_x=None, decreasing_y=False):
    """Return the sum of rectangles of psds_eval, whose own code fails with numpy 2.4."""
    limit = x.max() if max_x is None else max_x
    kept = x < limit
    return float((np.diff(np.append(x[kept], limit)) * y[kept]).sum())


@pytest.mark.filterwarnings("ignore")
def test_calls_side_by_side(tmp_path, monkeypatch):
    psds_eval = pytest.importorskip("psds_eval", reason="needs psds_eval: pip install --group parity")
    monkeypatch.setattr(psds_eval.PSDSEval, "_auc", staticmethod(area))
    text = (ROOT / "docs" / "guides" / "other-tools.md").read_text(encoding="utf-8")
    commands = [example.command for example in examples(text)]
    make_workplace(tmp_path)
    assert all(code == 0 for code, _ in run_all(commands, tmp_path))
    monkeypatch.chdir(tmp_path)
    codes = blocks(text, "py")
    assert len(codes) == 2
    for code in codes:
        assert code.count("assert ") >= 2
        exec(compile(code, "other-tools.md", "exec"), {})  # noqa: S102 - our own document
