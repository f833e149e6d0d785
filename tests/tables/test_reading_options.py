"""Options of how tables are read: each acts, or it is refused by its name."""

from __future__ import annotations

import pytest
from called import call

from sedeval_soft import InputError, evaluate
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.limits import LIMITS

TURN = "SPEAKER m1 1 {} {} <NA> <NA> {} <NA> <NA>\n"
OURS = "".join(TURN.format(*each) for each in ((0, 2, "anna"), (1.5, 2.5, "ben"), (6, 1, "anna")))
THEIRS = "".join(TURN.format(*each) for each in ((0, 4, "speech"), (5.5, 1, "speech")))
LONG = "filename\tonset\toffset\tevent_label\nm1\t0\t2\tdog\n"
WIDE = "filename\tonset\toffset\tdog\nm1\t0\t2\t0.5\n"
FEW = "filename\tonset\toffset\tQ\nm1\t0\t2\tPOS\n"
TABLES = {
    "rttm": OURS,
    "tsv": LONG,
    "wide.tsv": WIDE,
    "weak.tsv": "filename\tevent_label\nm1\tdog\n",
    "txt": "m1\t0\t2\tdog\n",
    "audacity.txt": "0.0\t2.0\tdog\n\\\t100\t200\n",
    "few.csv": FEW.replace("\t", ","),
    "jsonl": '{"filename": "m1", "onset": 0, "offset": 2, "event_label": "dog"}\n',
}


@pytest.fixture
def turns(tmp_path):
    (tmp_path / "ref.rttm").write_text(OURS)
    (tmp_path / "sys.rttm").write_text(THEIRS)
    return tmp_path / "ref.rttm", tmp_path / "sys.rttm"


def test_names_of_speakers_are_ignored_as_in_the_table_that_rttm_becomes(turns):
    """By hand: 5 s of speech, of which 0.5 s are missed, and 0.5 s are false alarms: 1/5."""
    asked = {"preset": "voice-activity", "durations": {"m1": 10}}
    name = "segment.hard.error_rate.micro"
    for columns in ("ignore=event_label", "ignore=name"):
        scores = evaluate(*turns, columns=columns, label="any", **asked)
        assert scores[name] == pytest.approx(0.2, abs=1e-12)
        assert not scores.warnings
    # By hand: of 5.5 s of two speakers all are missed, and 5 s are false alarms; each second of one is the
    # substitution of the other.
    assert evaluate(*turns, **asked)[name] == pytest.approx((5.5 + 5 - 4.5) / 5.5, abs=1e-12)
    for how in ({"label": "speech"}, {"columns": "value=nosuch"}, {"columns": "ignore=nosuch"}):
        with pytest.raises(InputError) as refused:
            evaluate(*turns, **how, **asked)
        (found,) = refused.value.problems
        assert (found.code, next(iter(how.values())) in found.message) == ("no-effect", True)
    with pytest.raises(InputError, match="--label NAME"):
        evaluate(*turns, columns="ignore=event_label", **asked)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("option", "text"), [("label", "any"), ("columns", "value=nosuch")])
def test_an_option_without_effect_is_refused_by_name_in_each_form(name, option, text, tmp_path):
    path = tmp_path / f"m1.{name}"
    path.write_text(TABLES[name])
    limits = LIMITS.reading(**{option: text})
    (said,) = read_rows(path, limits=limits).origin.lacking
    assert said.startswith(f"--{option} {text} has no effect")
    assert "no-effect" in call("validate", path, f"--{option}", text).out
    if name != "weak.tsv":
        done = call("convert", path, tmp_path / "out.tsv", f"--{option}", text)
        assert (done.code, said in done.err, (tmp_path / "out.tsv").exists()) == (2, True, False)
    assert not read_rows(path).origin.lacking


def test_an_option_for_one_side_is_not_refused(tmp_path):
    (tmp_path / "ref.tsv").write_text(LONG)
    (tmp_path / "sys.tsv").write_text("filename\tonset\toffset\nm1\t0\t2\n")
    scores = evaluate(tmp_path / "ref.tsv", tmp_path / "sys.tsv", label="dog", strict=True)
    assert scores["event.hard.f1.micro"] == 1.0


def test_what_a_preset_or_a_settings_file_says_may_have_nothing_to_do(tmp_path):
    path, config = tmp_path / "t.tsv", tmp_path / "c.yaml"
    path.write_text(LONG)
    config.write_text("label: bird\ncolumns: [value=nosuch]\n")
    done = call(path, path, "--config", config, "--strict", "--score", "event.hard.f1.micro")
    assert (done.code, done.out) == (0, "1.0\n"), done.err
    few = {
        "preset": "dcase2021-2024-few-shot",
        "classes": "dog",
        "by": {"m1": "a"},
        "after_shots": None,
        "region_edges": "cut",
    }
    assert "label=Q" in evaluate(path, path, **few).inputs[0].options
    assert "no-effect" not in call("validate", path, "--preset", few["preset"]).out
    # The user says it once more: then it is an option like others.
    assert call(path, path, "--config", config, "--label", "bird").code == 2
    with pytest.raises(InputError, match="--label Q has no effect"):
        evaluate(path, path, label="Q", **few)
