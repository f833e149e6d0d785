"""Scores of tables with other headers and rows: labels of whole recordings, cells of POS, NEG and UNK.

`test_texts.py` and `test_sample_files.py` check the rows that are read from them.
"""

from pathlib import Path

import pandas as pd
import pytest
from drawn import lay_out, table

from sedeval_soft import EvaluationError, Evaluator, InputError, convert, evaluate, validate

# Labels of whole recordings.


def clips(*sides: object, **settings: object) -> list[float]:
    """Return precision, recall and F1 of clips: TP, N_sys and N_ref follow from them."""
    scores = evaluate(*sides, only="clip", strict=True, **settings)
    return [scores[f"clip.hard.{name}.micro"] for name in ("precision", "recall", "f1")]


def test_weak_labels_are_scored_as_clips_beside_events_and_beside_others(tmp_path):
    """By hand: the system finds 2 of 3 labels, and one label is false."""
    weak, other = tmp_path / "weak.csv", tmp_path / "other.tsv"
    weak.write_text('"fname","labels"\na,Speech\nb,"Dog,Speech"\nc,\n')
    other.write_text("filename\tevent_labels\nc\tDog\nb\tSpeech\na\tSpeech\n")
    rows = ["filename onset offset event_label", "a 0 3 Speech", "b 9 10 Speech", "c 0 1 Dog", "b 3 3 Dog"]
    strong = table(tmp_path / "strong.tsv", *rows)
    for sides in ((weak, strong), (strong, weak), (weak, other), (other, weak)):
        assert clips(*sides) == pytest.approx([2 / 3] * 3)
    assert clips(weak, weak) == clips(other, other) == [1, 1, 1]
    assert not any("time-unit" in validate(*sides).counts for sides in ((strong, weak), (weak, strong)))
    assert Evaluator(only=("clip",)).update(weak, weak).compute()["clip.hard.f1.micro"] == 1


def test_weak_labels_with_values_and_lengths_and_in_folders(tmp_path):
    rows = ("filename event_label score", "a Dog 0.75", "a Cat 0.25", "b Dog 1")
    valued = table(tmp_path / "valued.tsv", *rows)
    whole = table(tmp_path / "whole.tsv", "filename event_label", "a Dog", "b Dog")
    scores = evaluate(whole, valued, only="clip", durations={"a": 10.0, "b": 10.0})
    # min(1, 0.75) + min(1, 1), of 2 in the reference and 2 in the system.
    assert scores["clip.soft.f1.micro"] == pytest.approx(2 * 1.75 / (2 + 2))
    folder = lay_out(tmp_path / "folder", {f"{x}.tsv": f"filename\tevent_label\n{x}\tDog\n" for x in "ab"})
    assert clips(folder, whole) == clips(whole, f"{folder}/*.tsv") == [1, 1, 1]
    lay_out(folder, {"c.tsv": "filename\tonset\toffset\tevent_label\nc\t0\t1\tDog\n"})
    with pytest.raises(InputError, match=r"[ab]\.tsv"):
        clips(folder, whole)


def test_weak_labels_of_data_frames_are_those_of_tables(tmp_path):
    rows = [("a", "Dog,Cat", 0.75), ("b", "Cat", 0.25), ("c", None, 0.5), ("a", "Dog", 1.0)]
    frame = pd.DataFrame(rows, columns=["filename", "tags", "score"])
    written, parquet = tmp_path / "a.csv", tmp_path / "a.parquet"
    frame.to_csv(written, index=False)
    frame.to_parquet(parquet)
    theirs = evaluate(written, written, only=("clip",), strict=True)
    for system in (frame, frame.to_dict("records"), parquet):
        ours = evaluate(written, system, only=("clip",), strict=True)
        assert (dict(ours), len(ours.files)) == (dict(theirs), 3)


@pytest.mark.parametrize(
    "settings",
    [{}, {"only": "segment"}, {"only": ["clip", "event"]}, {"only": "clip", "psds": "dcase-psds1"},
     {"only": "clip", "median_filter": 1}],
)  # fmt: skip
def test_whatever_needs_times_is_refused_of_weak_labels(settings, tmp_path):
    weak = Path(__file__).parent / "dialects" / "dcase-weak.tsv"
    with pytest.raises(EvaluationError):
        evaluate(weak, weak, **settings)
    with pytest.raises(EvaluationError):
        convert(weak, tmp_path / "out.tsv")
    assert not validate(weak).counts


# Cells of POS, NEG and UNK.


UNKNOWN = "Audiofilename,Starttime,Endtime,Q\nR1,0,1,POS\nR1,2,4,UNK\nR1,6,8,POS\n"
FOUND = "Audiofilename,Starttime,Endtime\nR1,0,1\nR1,2.1,2.9\nR1,4.5,5.5\n"


def test_unknown_cells_of_few_shot_tables_are_not_evaluated(tmp_path):
    """By hand: the system finds 1 of 2 events; of 3 detections, 1 is in unknown time and 1 is false."""
    lay_out(tmp_path, {"ours.csv": UNKNOWN, "theirs.csv": FOUND})
    ours, theirs, long = (tmp_path / name for name in ("ours.csv", "theirs.csv", "long.tsv"))
    convert(ours, long)
    found = [
        evaluate(*sides, label="Q", **settings)["event.hard.f1.micro"]
        for sides, settings in (
            ((ours, theirs), {}),
            ((ours, theirs), {"ignore_class": "UNK", "strict": True}),
            ((long, theirs), {"ignore_class": "UNK"}),
            # UNK is an ordinary class if `classes` has it, with compat=sed_eval, and in a system.
            ((ours, theirs), {"classes": ("Q", "UNK")}),
            ((ours, theirs), {"compat": "sed_eval"}),
            ((theirs, ours), {}),
        )
    ]
    assert found == pytest.approx([*[2 / (2 + 2)] * 3, 2 / (3 + 3), 2 / (2 + 3), 2 / (3 + 2)])
    assert validate(ours, ours).ok


def test_tables_of_a_folder_and_batches_declare_unknown_times(tmp_path):
    """Tables without unknown times, too: all are counted with the same settings."""
    known = "Audiofilename,Starttime,Endtime,Q\nR2,0,1,POS\n"
    ours = lay_out(tmp_path / "ours", {"R1.csv": UNKNOWN, "R2.csv": known})
    theirs = lay_out(tmp_path / "theirs", {"R1.csv": FOUND, "R2.csv": known})
    evaluator, whole = Evaluator(label="Q"), evaluate(ours, theirs, label="Q")
    for name in ("R1.csv", "R2.csv"):
        evaluator.update(ours / name, theirs / name)
    assert whole["event.hard.n_sys.micro"] == 3
    for scores in (evaluator.compute(), Evaluator.of_bytes(evaluator.to_bytes()).compute()):
        assert scores.scores == whole.scores
        assert scores.settings.ignore_class == whole.settings.ignore_class == ("UNK",)
        assert any("1 detection and 2 s" in text for text in scores.warnings)


def test_a_column_a_class_without_times_has_clips(tmp_path):
    lay_out(tmp_path, {"ref": "row_id,car,dog\na.wav,1,0\nb.wav,0,1\nc.wav,1,1\n",
                       "sys": "fname,car,dog\na.wav,0.9,0.1\nb.wav,0.2,0.7\nc.wav,0.6,0.4\n"})  # fmt: skip
    paths = tmp_path / "ref", tmp_path / "sys"
    scores = evaluate(*paths, only="clip")
    # car: a and c are found. dog: b is found, c is not. Soft car: TP 0.9 + 0.6, of 2 and 1.7.
    names = ("clip.hard.f1[car]", "clip.hard.f1[dog]", "clip.soft.f1[car]")
    assert [scores[name] for name in names] == pytest.approx([1.0, 2 / 3, 2 * 1.5 / 3.7])
    for more in ({}, {"only": "clip", "sample_rate": 16_000}):
        with pytest.raises(InputError):
            evaluate(*paths, **more)


# Durations in memory.


@pytest.mark.parametrize("form", [pd.DataFrame, dict])
def test_durations_may_be_a_table_or_by_name_even_of_a_column(form):
    rows = [{"filename": "a.wav", "onset": 0.0, "offset": 1.0, "event_label": "car"}]
    columns = {"filename": ["a.wav", "a.wav"], "duration": [9.0, 9.0]}
    assert evaluate(rows, rows, durations=form(columns)).length == 9.0
    with pytest.raises(EvaluationError):
        evaluate(rows, rows, durations=form({**columns, "duration": [9.0, 8.0]}))
    assert evaluate(rows, rows, durations={"a.wav": 3.0, "filename": 9.0, "duration": 3.0}).length == 15.0
