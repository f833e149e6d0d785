"""Tables as tools and challenges write them beside event lists; the numbers are worked out by hand."""

import pytest

from sedeval_soft import InputError, evaluate
from sedeval_soft.tables import read_rows

CLIPS = "car,dog\na.wav,1,0\nb.wav,0,1\nc.wav,1,1\n"
FOUND = "car,dog\na.wav,0.9,0.1\nb.wav,0.2,0.7\nc.wav,0.6,0.4\n"


def written(folder, **texts):
    for name, text in texts.items():
        folder.joinpath(name).write_text(text)
    return [str(folder / name) for name in texts]


@pytest.mark.parametrize("head", ["filename,", "row_id,", "itemid,", "fname,"])
def test_a_column_a_class_without_times_has_clips(tmp_path, head):
    paths = written(tmp_path, ref=head + CLIPS, sys=head + FOUND)
    scores = evaluate(*paths, only="clip", measures="curves")
    # car: a and c are found. dog: b is found, c is not.
    assert scores["clip.hard.f1[car]"] == 1.0
    assert scores["clip.hard.f1[dog]"] == pytest.approx(2 / 3)
    # Values: car min 0.9 + 0.6 of 2 and 1.7; dog 0.7 + 0.4 of 2 and 1.2.
    assert scores["clip.soft.f1[car]"] == pytest.approx(2 * 1.5 / 3.7)
    assert scores["clip.soft.f1[dog]"] == pytest.approx(2 * 1.1 / 3.2)
    assert scores["clip.hard.roc_auc.macro"] == 1.0
    with pytest.raises(InputError, match="--only clip"):
        evaluate(*paths)


def test_clips_of_a_list_and_of_a_column_a_class_meet(tmp_path):
    weak = "filename\tevent_labels\na.wav\tcar\nb.wav\tdog\nc.wav\tcar,dog\n"
    ref, listed, sys = written(tmp_path, ref="filename," + CLIPS, listed=weak, sys="filename," + FOUND)
    both = [evaluate(side, sys, only="clip.hard", measures="curves") for side in (ref, listed)]
    for name in ("clip.hard.f1.macro", "clip.hard.average_precision.macro"):
        assert both[0][name] == both[1][name] > 0.8


@pytest.mark.parametrize("text", ["filename,car\na.wav,7\n", "filename,begin_x\na.wav,1\n", "filename,car\n"])
def test_other_numbers_beside_names_are_not_clips(tmp_path, text):
    with pytest.raises(InputError) as refused:
        read_rows(*written(tmp_path, table=text))
    assert refused.value.problems[0].code in {"not-a-table", "missing-column"}


def test_onsets_alone_are_events_without_length(tmp_path):
    head = "filename\tonset\tlabel\n"
    ref = head + "a.wav\t1\tclick\na.wav\t2.5\tclick\n"
    paths = written(tmp_path, ref=ref, sys=head + "a.wav\t1.1\tclick\na.wav\t2.9\tclick\n")
    scores = evaluate(*paths)
    assert scores["event.hard.f1.micro"] == 0.5
    rows = read_rows(paths[0])
    assert rows.offset.tolist() == rows.onset.tolist() == [1.0, 2.5]
    assert len(rows.origin.assumed) == 1


def test_times_of_a_clock_are_read(tmp_path):
    table = "filename\tonset\toffset\tevent_label\na.wav\t00:00:01.5\t1:02:03.25\tdog\n"
    rows = read_rows(*written(tmp_path, table=table))
    assert (rows.onset.tolist(), rows.offset.tolist()) == ([1.5], [3723.25])


def test_a_clock_of_many_digits_is_no_time(tmp_path):
    cell = "9" * 400 + ":00:00"
    table = f"filename\tonset\toffset\tevent_label\na.wav\t0\t{cell}\tdog\n"
    with pytest.raises(InputError) as refused:
        read_rows(*written(tmp_path, table=table))
    assert refused.value.problems[0].code == "not-a-number"


def test_label_studio_as_csv_is_its_json_min_as_rows(tmp_path):
    regions = '[{"start": 0.5, "end": 1.75, "channel": 0, "labels": ["Speech", "dog"]}]'
    audio = "/data/upload/1/a1b2c3d4-cafe.wav"
    quoted = regions.replace('"', '""')
    rows = [
        read_rows(path)
        for path in written(
            tmp_path,
            **{
                "min.json": f'[{{"audio": "{audio}", "annotation_id": 1, "label": {regions}}}]',
                "export.csv": f'annotation_id,audio,label\n1,{audio},"{quoted}"\n2,silent.wav,\n',
            },
        )
    ]
    assert rows[1].files == ("cafe.wav", "silent.wav")
    for each in rows:
        assert each.classes == ("Speech", "dog")
        assert (each.onset.tolist(), each.offset.tolist()) == ([0.5, 0.5], [1.75, 1.75])


@pytest.mark.parametrize("head", ["filename\tonset\toffset\tevent_label\n", ""])
def test_times_in_samples(tmp_path, head):
    paths = written(tmp_path, ref=f"{head}a.wav\t0\t32000\tdog\n", sys=f"{head}a.wav\t16000\t32000\tdog\n")
    scores = evaluate(*paths, sample_rate=16000)
    assert scores["segment.hard.recall.micro"] == 0.5
    assert "sample_rate=16000.0" in scores.inputs[0].options


def test_columns_called_samples_need_a_rate(tmp_path):
    text = "filename\tfrom_sample\tto_sample\tlabel\na.wav\t16000\t32000\tdog\n"
    (path,) = written(tmp_path, table=text)
    columns = {"onset": "from_sample", "offset": "to_sample"}
    with pytest.raises(InputError) as refused:
        evaluate(path, path, columns=columns)
    assert refused.value.problems[0].code == "missing-column"
    scores = evaluate(path, path, columns=columns, sample_rate=16000)
    assert scores["segment.hard.f1.micro"] == 1.0


def test_a_rate_without_samples_is_refused(tmp_path):
    ref, sys = written(tmp_path, ref="filename," + CLIPS, sys="filename," + FOUND)
    with pytest.raises(InputError, match="--sample-rate has no effect"):
        evaluate(ref, sys, only="clip", sample_rate=16000)
