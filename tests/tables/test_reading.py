"""Options of how tables are read, in every command, in settings files and in Python.

How each option reads a table, `readings.tsv` has.
"""

from __future__ import annotations

import json
import shutil

import pytest
from called import call
from drawn import lay_out

from sedeval_soft import (
    Evaluator,
    InputError,
    SettingsError,
    build_site,
    compare,
    convert,
    evaluate,
    mean_of_runs,
    plot,
    threshold_curves,
    validate,
    write_report,
)

HEAD = "filename\tonset\toffset\tevent_label\tvalue\n"
OURS = HEAD + "a\t0\t2\tspeech\t0.75\na\t4\t6\tspeech\t0.25\nb\t1\t2\tspeech\t1\n"
NAME, EVENTS = "segment.soft.f1.micro", "event.hard.f1.micro"
THEIRS = "take,t0,t1,p\na,0,2,0.75\na,4,6,0.25\nb,1,2,1\n"
GIVEN = {
    "columns": "filename=take,onset=t0,offset=t1,value=p",
    "label": "speech",
    "source_form": "system=csv",
}


@pytest.fixture
def reference(tmp_path):
    path = tmp_path / "ref.tsv"
    path.write_text(OURS)
    return str(path)


def test_each_command_and_settings_files_take_them(tmp_path, reference):
    folder = lay_out(tmp_path / "in", {"sys.csv": THEIRS})
    path, out, site = folder / "sys.csv", tmp_path / "made.tsv", tmp_path / "site"
    assert call(reference, path).code == 2
    keys = {"columns": GIVEN["columns"], "label": "speech", "from": "system=csv"}
    (tmp_path / "c.yaml").write_text(json.dumps(keys))
    (tmp_path / "d.yaml").write_text("extends: c.yaml\nbeta: 1\n")
    flags = [f"--{key}={text}" for key, text in keys.items()]
    for more in (flags, ["--config", tmp_path / "d.yaml"]):
        done = call(reference, path, *more, "--format", "json", "--only", "segment")
        assert done.scores[NAME]["value"] == 1
        system = next(item for item in done.document["inputs"] if item["role"] == "system")
        assert system["options"] == [f"columns={keys['columns']}", "label=speech", "from=csv"]
        assert all(
            f" system:{option.split('=')[0]}=" in done.document["signature"] for option in system["options"]
        )
    assert call("tune", reference, path, *flags, "-q").code == 0
    assert call("plot", "classes", reference, path, *flags, "-o", tmp_path / "x.svg").code == 0
    assert call("report", reference, path, *flags, "-o", tmp_path / "page.html", "-q").code == 0
    alone = [flag.replace("system=", "") for flag in flags]
    assert call("validate", path, *alone).code == 0
    assert call("convert", path, out, *alone).code == 0
    assert evaluate(reference, out)[NAME] == 1
    assert call("simulate", "constant", path, "-o", out, *alone).code == 0
    board = ("board", folder, "--reference", reference, "-o", site, "--fail-on-invalid", "--no-reports")
    assert call(*board, *flags).code == 0


def test_each_function_takes_them(tmp_path, reference):
    folder = lay_out(tmp_path / "in", {"sys.csv": THEIRS})
    path, site = folder / "sys.csv", tmp_path / "site"
    for how in ({}, {"jobs": 1}):
        assert evaluate(reference, path, **GIVEN, **how)[NAME] == 1
    assert Evaluator(**GIVEN).update(reference, path).compute()[NAME] == 1
    assert compare(reference, {"a": path, "b": path}, **GIVEN, replicates=9).entries[0].value == 1
    assert mean_of_runs(reference, {"a": path, "b": path}, **GIVEN)[NAME] == 1
    assert threshold_curves(reference, path, **GIVEN).classes
    assert validate(path, reference, **GIVEN).ok
    assert convert(path, tmp_path / "again.tsv", **GIVEN).rows == 3
    assert build_site(folder, reference, site, reports=False, **GIVEN).scored == ("sys",)
    write_report(reference, {"ours": path}, tmp_path / "again.html", **GIVEN)
    assert plot("classes", reference, path, **GIVEN)


# An option that has no effect is refused by name, but where it may have none.

LONG = "filename\tonset\toffset\tevent_label\nm1\t0\t2\tdog\n"


@pytest.mark.parametrize("option", ["--label=any", "--columns=value=nosuch"])
def test_an_option_without_effect_is_refused_by_code(option, tmp_path):
    path, out = tmp_path / "m1.tsv", tmp_path / "out.tsv"
    path.write_text(LONG)
    given = dict([option.removeprefix("--").split("=", 1)])
    for function in (lambda: evaluate(path, path, **given), lambda: convert(path, out, **given)):
        with pytest.raises(InputError) as refused:
            function()
        assert {problem.code for problem in refused.value.problems} == {"no-effect"}
    assert [*validate(path, **given).counts] == ["no-effect"] and not out.exists()
    (tmp_path / "sys.tsv").write_text("filename\tonset\toffset\nm1\t0\t2\n")
    assert evaluate(path, tmp_path / "sys.tsv", label="dog", strict=True)[EVENTS] == 1.0


def test_options_of_a_preset_or_a_settings_file_may_have_no_effect(tmp_path):
    path, config = tmp_path / "t.tsv", tmp_path / "c.yaml"
    path.write_text(LONG)
    config.write_text("label: bird\ncolumns: [value=nosuch]\n")
    done = call(path, path, "--config", config, "--strict", "--score", EVENTS)
    assert (done.code, done.out) == (0, "1.0\n"), done.err
    few = {"preset": "dcase2021-2024-few-shot", "classes": "dog", "by": {"m1": "a"}, "after_shots": None,
           "region_edges": "cut"}  # fmt: skip
    assert "label=Q" in evaluate(path, path, **few).inputs[0].options
    assert "no-effect" not in validate(path, preset=few["preset"]).counts
    # If the user gives it once more, it is an option like others.
    assert call(path, path, "--config", config, "--label", "bird").code == 2
    with pytest.raises(InputError):
        evaluate(path, path, label="Q", **few)


def test_forms_are_those_of_the_tables_in_folders_and_archives(tmp_path):
    """A track of Audacity's without labels, a class without header, and tables in folders of a folder."""
    folder = lay_out(tmp_path / "tracks", {"a.txt": "0.5\t1.5\tcar\n\\\t100\t200\n"})
    archive = shutil.make_archive(str(folder), "zip", folder)
    for source in (folder, archive):
        read = evaluate(source, source, source_form="audacity").inputs[1]
        assert (read.rows, read.files) == (1, 1)
        with pytest.raises(InputError):
            evaluate(source, source, source_form="rttm")
    folder = lay_out(tmp_path / "vad", {"day/a.txt": "0.5\t1.5\n", "day/b.csv": "onset,offset\n1,2\n"})
    scores = evaluate(folder, folder, label="speech")
    assert (scores.files, scores.classes) == (("a", "b"), ("speech",))


@pytest.mark.parametrize(
    ("flag", "given"),
    [
        ("label", {"label": ""}),
        ("label", {"label": 3}),
        ("from", {"source_form": "audacty"}),
        ("from", {"source_form": "both=rttm"}),
        ("from", {"source_form": ["rttm", "jams"]}),
        ("columns", {"columns": "what=x"}),
        ("columns", {"columns": "filename"}),
        ("columns", {"columns": "filename="}),
        ("columns", {"columns": "filename=x,value=X"}),
        ("columns", {"columns": {"filename": [3]}}),
        ("columns", {"columns": {3: "x"}}),
        ("sample-rate", {"sample_rate": True}),
        ("sample-rate", {"sample_rate": 0}),
    ],
)
def test_options_that_cannot_be_are_refused(reference, tmp_path, flag, given):
    for function in (evaluate, validate):
        with pytest.raises(SettingsError):
            function(reference, reference, **given)
    ((_, value),) = given.items()
    (tmp_path / "c.yaml").write_text(f"{flag}: {json.dumps(value)}\n")
    assert call(reference, reference, "--config", tmp_path / "c.yaml").code == 2
    if isinstance(value, str) and value:
        assert call(reference, reference, f"--{flag}={value}").code == 2
