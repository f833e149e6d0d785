"""Tables as tools and challenges write them beside event lists; the numbers are worked out by hand."""

import pytest

from sedeval_soft import InputError, evaluate

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


def test_a_rate_without_samples_is_refused(tmp_path):
    ref, sys = written(tmp_path, ref="filename," + CLIPS, sys="filename," + FOUND)
    with pytest.raises(InputError, match="--sample-rate has no effect"):
        evaluate(ref, sys, only="clip", sample_rate=16000)
