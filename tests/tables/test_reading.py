"""Options for reading tables, in every command, in settings files and in Python.

`readings.tsv` has the rows that each option leads to.
"""

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
def sides(tmp_path):
    """Write a reference, and a system's output with unusual columns into a folder of its own."""
    folder = lay_out(tmp_path, {"ref.tsv": OURS, "in/sys.csv": THEIRS})
    return folder / "ref.tsv", folder / "in" / "sys.csv"


def test_each_command_and_settings_files_take_them(tmp_path, sides):
    reference, path = sides
    out = tmp_path / "made.tsv"
    assert call(reference, path).code == 2
    keys = {"columns": GIVEN["columns"], "label": "speech", "from": "system=csv"}
    lay_out(tmp_path, {"c.yaml": json.dumps(keys), "d.yaml": "extends: c.yaml\nbeta: 1\n"})
    flags = [f"--{key}={text}" for key, text in keys.items()]
    for more in (flags, ["--config", tmp_path / "d.yaml"]):
        done = call(reference, path, *more, "--format", "json", "--only", "segment")
        assert done.scores[NAME]["value"] == 1
        options = [f"columns={keys['columns']}", "label=speech", "from=csv"]
        assert done.document["inputs"][1]["options"] == options
        assert all(f" system:{option.split('=')[0]}=" in done.document["signature"] for option in options)
    alone = [flag.replace("system=", "") for flag in flags]
    for command in (
        ("tune", reference, path, *flags, "-q"),
        ("plot", "classes", reference, path, *flags, "-o", tmp_path / "x.svg"),
        ("report", reference, path, *flags, "-o", tmp_path / "page.html", "-q"),
        ("board", path.parent, "--reference", reference, "--fail-on-invalid", "--no-reports", *flags,
         "-o", tmp_path / "site"),
        ("validate", path, *alone),
        ("simulate", "constant", path, "-o", out, *alone),
        ("convert", path, out, "--force", *alone),
    ):  # fmt: skip
        assert call(*command).code == 0, command
    assert evaluate(reference, out)[NAME] == 1


def test_each_function_takes_them(tmp_path, sides):
    reference, path = sides
    two = {"a": path, "b": path}
    results = {
        "evaluate": evaluate(reference, path, **GIVEN, jobs=1)[NAME],
        "Evaluator": Evaluator(**GIVEN).update(reference, path).compute()[NAME],
        "compare": compare(reference, two, **GIVEN, replicates=9).entries[0].value,
        "mean_of_runs": mean_of_runs(reference, two, **GIVEN)[NAME],
        "threshold_curves": len(threshold_curves(reference, path, **GIVEN).classes),
        "validate": validate(path, reference, **GIVEN).ok,
        "plot": bool(plot("classes", reference, path, **GIVEN)),
    }
    assert results == dict.fromkeys(results, 1)
    assert convert(path, tmp_path / "again.tsv", **GIVEN).rows == 3
    assert build_site(path.parent, reference, tmp_path / "site", reports=False, **GIVEN).scored == ("sys",)
    write_report(reference, two, tmp_path / "again.html", **GIVEN)


# An option without effect is refused by name, unless a preset or a settings file sets it.

LONG = "filename\tonset\toffset\tevent_label\nm1\t0\t2\tdog\n"


@pytest.mark.parametrize("given", [{"label": "any"}, {"columns": "value=nosuch"}], ids=str)
def test_an_option_without_effect_is_refused_by_code(given, tmp_path):
    lay_out(tmp_path, {"m1.tsv": LONG, "sys.tsv": "filename\tonset\toffset\nm1\t0\t2\n"})
    path, out = tmp_path / "m1.tsv", tmp_path / "out.tsv"
    for function, other in ((evaluate, path), (convert, out)):
        with pytest.raises(InputError) as refused:
            function(path, other, **given)
        assert {problem.code for problem in refused.value.problems} == {"no-effect"}
    assert [*validate(path, **given).counts] == ["no-effect"] and not out.exists()
    assert evaluate(path, tmp_path / "sys.tsv", label="dog", strict=True)[EVENTS] == 1.0


def test_options_of_a_preset_or_a_settings_file_may_have_no_effect(tmp_path):
    lay_out(tmp_path, {"t.tsv": LONG, "c.yaml": "label: bird\ncolumns: [value=nosuch]\n"})
    path, config = tmp_path / "t.tsv", tmp_path / "c.yaml"
    done = call(path, path, "--config", config, "--strict", "--score", EVENTS)
    assert (done.code, done.out) == (0, "1.0\n"), done.err
    few = {"preset": "dcase2021-2024-few-shot", "classes": "dog", "by": {"m1": "a"}, "after_shots": None,
           "region_edges": "cut"}  # fmt: skip
    assert "label=Q" in evaluate(path, path, **few).inputs[0].options
    assert "no-effect" not in validate(path, preset=few["preset"]).counts
    # If the user also gives it on the command line, it must have an effect.
    assert call(path, path, "--config", config, "--label", "bird").code == 2
    with pytest.raises(InputError):
        evaluate(path, path, label="Q", **few)


def test_forms_are_those_of_the_tables_in_folders_and_archives(tmp_path):
    """An Audacity track, speech segments without a header, and tables in subfolders."""
    folder = lay_out(tmp_path / "tracks", {"a.txt": "0.5\t1.5\tcar\n\\\t100\t200\n"})
    for source in (folder, shutil.make_archive(str(folder), "zip", folder)):
        read = evaluate(source, source, source_form="audacity").inputs[1]
        assert (read.rows, read.files) == (1, 1)
        with pytest.raises(InputError):
            evaluate(source, source, source_form="rttm")
    vad = lay_out(tmp_path / "vad", {"day/a.txt": "0.5\t1.5\n", "day/b.csv": "onset,offset\n1,2\n"})
    scores = evaluate(vad, vad, label="speech")
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
def test_options_that_cannot_be_are_refused(sides, tmp_path, flag, given):
    for function in (evaluate, validate):
        with pytest.raises(SettingsError):
            function(*sides, **given)
    ((_, value),) = given.items()
    (tmp_path / "c.yaml").write_text(f"{flag}: {json.dumps(value)}\n")
    assert call(*sides, "--config", tmp_path / "c.yaml").code == 2
    if isinstance(value, str) and value:
        assert call(*sides, f"--{flag}={value}").code == 2
