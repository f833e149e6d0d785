"""Tables without the usual header and rows: lists of other tools, each as it is written there."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from called import call
from drawn import table

import sedeval_soft
from sedeval_soft.errors import EvaluationError, InputError

FILES = Path(__file__).parent / "dialects"

LONG = "filename\tonset\toffset\tevent_label"


# Labels of whole recordings.


def clips(*arguments: object) -> tuple[float, float, float]:
    """Return the counts and F1 of clips that the command prints: TP, N_sys, N_ref come out of P, R and F1."""
    names = [f"clip.hard.{name}.micro" for name in ("precision", "recall", "f1")]
    done = call(*arguments, "--only", "clip", "--strict", "--format", "json")
    assert done.code == 0, done.err
    return tuple(done.scores[name]["value"] for name in names)


@pytest.mark.parametrize(
    "lines",
    [
        ["filename\tevent_labels", "a.wav\tSpeech", "b.wav\tDog,Speech", "c.wav\t"],
        [
            '"fname","labels","mids","split"',
            'a,Speech,"/m/1",train',
            'b,"Dog,Speech","/m/2,/m/1",val',
            "c,,,val",
        ],
        [
            "filename,fold,target,category,take",
            "a.wav,1,7,Speech,A",
            "b.wav,1,0,Dog,A",
            "b.wav,1,7,Speech,B",
            "c.wav",
        ],
    ],
    ids=["DCASE", "FSD50K", "ESC-50"],
)
def test_weak_labels_are_scored_as_clips_beside_events_and_beside_others(lines, tmp_path):
    """By hand: of 3 labels 2 are found, and one beside them."""
    weak, rows = tmp_path / "weak.csv", ["a 0 3 Speech", "b 9 10 Speech", "c 0 1 Dog", "b 3 3 Dog"]
    weak.write_text("\n".join(lines) + "\n")
    strong = table(tmp_path / "strong.tsv", LONG.replace("\t", " "), *rows)
    other = tmp_path / "other.tsv"
    other.write_text("filename\tevent_labels\nc\tDog\nb\tSpeech\na\tSpeech\n")
    for sides in ((weak, strong), (strong, weak), (weak, other), (other, weak)):
        assert clips(*sides) == (pytest.approx(2 / 3),) * 3
    assert clips(weak, weak) == clips(other, other) == (1, 1, 1)
    assert "weak labels" in call(weak, weak, "--only", "clip", "-v").out
    assert "time-unit" not in call("validate", strong, "--reference", weak).out


def test_weak_labels_with_values_and_lengths_and_in_folders(tmp_path):
    valued = table(
        tmp_path / "valued.tsv", "filename event_label score", "a Dog 0.75", "a Cat 0.25", "b Dog 1"
    )
    whole = table(tmp_path / "whole.tsv", "filename event_label", "a Dog", "b Dog")
    durations = table(tmp_path / "durations.tsv", "filename duration", "a 10", "b 10")
    told = call(whole, valued, "--only", "clip", "--format", "json", "--durations", durations).scores
    # min(1, 0.75) + min(1, 1) of 2 in the reference and 2 in the system.
    assert told["clip.soft.f1.micro"]["value"] == pytest.approx(2 * 1.75 / (2 + 2))
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in "ab":
        table(folder / f"{name}.tsv", "filename event_label", f"{name} Dog")
    assert clips(folder, whole) == clips(whole, f"{folder}/*.tsv") == (1, 1, 1)
    strong = table(tmp_path / "strong.tsv", LONG.replace("\t", " "), "a 0 1 Dog")
    assert "without times" in call(strong, folder).err
    table(folder / "c.tsv", "filename onset offset event_label", "c 0 1 Dog")
    assert "a.tsv is without times" in call(folder, whole, "--only", "clip").err.replace("b.tsv", "a.tsv")


def test_weak_labels_of_data_frames_are_those_of_tables(tmp_path):
    labels, values = ["Dog,Cat", "Cat", None, "Dog"], [0.75, 0.25, 0.5, 1.0]
    files = ["a", "b", "c", "a"]
    frame = pd.DataFrame({"filename": files, "tags": labels, "score": values})
    written, parquet = tmp_path / "a.csv", tmp_path / "a.parquet"
    frame.to_csv(written, index=False)
    frame.to_parquet(parquet)
    theirs = sedeval_soft.evaluate(written, written, only=("clip",), strict=True)
    for system in (frame, frame.to_dict("records"), parquet):
        ours = sedeval_soft.evaluate(written, system, only=("clip",), strict=True)
        assert (dict(ours), len(ours.files)) == (dict(theirs), 3)
    with pytest.raises(InputError, match="whole recordings without times.* expected --only clip"):
        sedeval_soft.evaluate(frame, frame)


def test_whatever_needs_times_is_refused_of_weak_labels_with_what_can_be_had(tmp_path):
    weak = FILES / "dcase-weak.tsv"
    for options in (
        (),
        ("--only", "segment"),
        ("--only", "clip", "--only", "event"),
        ("--only", "clip", "--psds", "dcase-psds1"),
    ):
        refused = call(weak, weak, *options)
        assert (refused.code, refused.out) == (2, "")
        assert "has labels of whole recordings without times" in refused.err
        assert "expected --only clip, or onset and offset" in refused.err
    assert "without post-processing" in call(weak, weak, "--only", "clip", "--median-filter", "1").err
    assert "without times" in call("convert", weak, tmp_path / "out.tsv").err
    assert "no problems" in call("validate", weak).out
    late = tmp_path / "late.tsv"  # of the same recordings
    rows = [line.split("\t")[0] + "\t50\t60\tcar\n" for line in weak.read_text().splitlines()[1:]]
    late.write_text("filename\tonset\toffset\tevent_label\n" + "".join(rows))
    assert "time-unit" not in call("validate", weak, "--reference", late).out
    evaluator = sedeval_soft.Evaluator(only=("clip",)).update(weak, weak)
    assert evaluator.compute()["clip.hard.f1.micro"] == 1


# Cells of POS, NEG and UNK; frames of SELD.


UNKNOWN = "Audiofilename,Starttime,Endtime,Q\nR1,0,1,POS\nR1,2,4,UNK\nR1,6,8,POS\n"
FOUND = "Audiofilename,Starttime,Endtime\nR1,0,1\nR1,2.1,2.9\nR1,4.5,5.5\n"


def test_what_is_unknown_in_few_shot_tables_is_not_evaluated(tmp_path):
    """By hand: of 2 events 1 is found; of 3 detections 1 lies where nothing is known, and 1 is false."""
    paths = ours, theirs, long = [str(tmp_path / name) for name in ("ours.csv", "theirs.csv", "long.tsv")]
    for path, text in zip(paths, (UNKNOWN, FOUND, ""), strict=True):
        Path(path).write_text(text)
    score = ("--label", "Q", "--score", "event.hard.f1.micro")
    done = call(ours, theirs, *score)
    assert float(done.out) == pytest.approx(2 / (2 + 2))
    assert (
        "1 detection and 2 s were left out: ignored class UNK (as the reference says by itself)" in done.err
    )
    assert call(ours, theirs, *score, "--set", "ignore_class=UNK", "--strict").out == done.out
    assert call("convert", ours, long).code == 0
    assert call(long, theirs, *score, "--set", "ignore_class=UNK").out == done.out
    # As a class that is asked for, as sed_eval has it, and as a system's it is no such time.
    asked = call(ours, theirs, *score, "--classes", "Q,UNK")
    assert float(asked.out) == pytest.approx(2 / (3 + 3))
    followed = call(ours, theirs, *score, "--set", "compat=sed_eval")
    assert float(followed.out) == pytest.approx(2 / (2 + 3))
    assert "1 row of UNK counts as no event" in followed.err
    assert float(call(theirs, ours, *score).out) == pytest.approx(2 / (3 + 2))
    assert call("validate", ours, "--reference", ours).code == 0


def test_tables_of_a_folder_and_batches_declare_what_is_unknown(tmp_path):
    """Those without it as well: what each is counted by is the same."""
    texts = {"R1": (UNKNOWN, FOUND), "R2": ("Audiofilename,Starttime,Endtime,Q\nR2,0,1,POS\n",) * 2}
    evaluator = sedeval_soft.Evaluator(label="Q")
    for name, sides in texts.items():
        for side, text in zip(("ours", "theirs"), sides, strict=True):
            (tmp_path / side).mkdir(exist_ok=True)
            (tmp_path / side / f"{name}.csv").write_text(text)
        evaluator.update(tmp_path / "ours" / f"{name}.csv", tmp_path / "theirs" / f"{name}.csv")
    whole = sedeval_soft.evaluate(tmp_path / "ours", tmp_path / "theirs", label="Q")
    assert whole["event.hard.n_sys.micro"] == 3
    again = sedeval_soft.Evaluator.of_bytes(evaluator.to_bytes()).compute()
    for scores in (evaluator.compute(), again):
        assert scores.scores == whole.scores
        assert scores.settings.ignore_class == whole.settings.ignore_class == ("UNK",)
    assert any("1 detection and 2 s were left out" in text for text in again.warnings)


# A file of nothing, and durations beside RTTM.


CLIPS = "car,dog\na.wav,1,0\nb.wav,0,1\nc.wav,1,1\n"
SCORED = "car,dog\na.wav,0.9,0.1\nb.wav,0.2,0.7\nc.wav,0.6,0.4\n"


def written(folder, **texts):
    for name, text in texts.items():
        folder.joinpath(name).write_text(text)
    return [str(folder / name) for name in texts]


def test_a_column_a_class_without_times_has_clips(tmp_path):
    paths = written(tmp_path, ref=f"row_id,{CLIPS}", sys=f"fname,{SCORED}")
    scores = sedeval_soft.evaluate(*paths, only="clip", measures="curves")
    # car: a and c are found. dog: b is found, c is not.
    assert scores["clip.hard.f1[car]"] == 1.0
    assert scores["clip.hard.f1[dog]"] == pytest.approx(2 / 3)
    # Values: car min 0.9 + 0.6 of 2 and 1.7; dog 0.7 + 0.4 of 2 and 1.2.
    assert scores["clip.soft.f1[car]"] == pytest.approx(2 * 1.5 / 3.7)
    assert scores["clip.soft.f1[dog]"] == pytest.approx(2 * 1.1 / 3.2)
    assert scores["clip.hard.roc_auc.macro"] == 1.0
    for more, said in (
        ({}, "--only clip"),
        ({"only": "clip", "sample_rate": 16_000}, "--sample-rate has no"),
    ):
        with pytest.raises(InputError, match=said):
            sedeval_soft.evaluate(*paths, **more)


# Durations in memory.

ROWS = {
    "filename": ["a.wav", "a.wav"], "onset": [0.0, 2.0], "offset": [1.0, 3.0], "event_label": ["car", "car"],
}  # fmt: skip


@pytest.mark.parametrize("form", [pd.DataFrame, dict])
def test_durations_may_be_a_table_as_regions_may(form):
    columns = {"filename": ["a.wav", "a.wav"], "duration": [9.0, 9.0]}
    assert sedeval_soft.evaluate(ROWS, ROWS, durations=form(columns)).length == 9.0
    with pytest.raises(EvaluationError, match=r"'a\.wav' has 9\.0 and 8\.0"):
        sedeval_soft.evaluate(ROWS, ROWS, durations=form({**columns, "duration": [9.0, 8.0]}))


def test_durations_by_file_name_may_be_of_files_that_are_called_as_columns():
    lengths = {"a.wav": 3.0, "filename": 9.0, "duration": 3.0}
    assert sedeval_soft.evaluate(ROWS, ROWS, durations=lengths).length == 15.0


def test_the_length_of_a_segment_may_be_a_number_in_text():
    """Three seconds are thirty segments of 0.1 s."""
    assert sedeval_soft.evaluate(ROWS, ROWS, segment_length="0.1").n_segments == 30
    for wrong in ("x", "0", "1/0"):
        with pytest.raises(EvaluationError, match="segment_length"):
            sedeval_soft.evaluate(ROWS, ROWS, segment_length=wrong)
