"""What a user says of how tables are read, in every command, in settings files and in Python."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from called import call
from parted import count_in_parts
from test_samples import zipped

from sedeval_soft import (
    Evaluator,
    InputError,
    Settings,
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
from sedeval_soft.api.sources import limits_from
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.tables import read_rows

HEAD = "filename\tonset\toffset\tevent_label\tvalue\n"
OURS = HEAD + "a\t0\t2\tspeech\t0.75\na\t4\t6\tspeech\t0.25\nb\t1\t2\tspeech\t1\n"
NAME = "segment.soft.f1.micro"

SPEAKER = "SPEAKER {} 1 {} {} <NA> <NA> speech {} <NA>\n".format
TABLES = {
    "columns": (
        "take,t0,t1,label,p\na,0,2,speech,0.75\na,4,6,speech,0.25\nb,1,2,speech,1\n",
        "filename=take,onset=t0,offset=t1,value=p",
    ),
    "label": ("filename;onset;offset;value\na;0;2;0.75\na;4;6;0.25\nb;1;2;1\n", "speech"),
    "source_form": (
        SPEAKER("a", 0, 2, 0.75) + SPEAKER("a", 4, 2, 0.25) + SPEAKER("b", 1, 1, 1),
        "system=rttm",
    ),
}
"""By what must be said of them: tables of one system, and that."""

FLAGS = {"columns": "--columns", "label": "--label", "source_form": "--from", "sample_rate": "--sample-rate"}


@pytest.fixture
def reference(tmp_path):
    path = tmp_path / "ref.tsv"
    path.write_text(OURS)
    return str(path)


@pytest.mark.parametrize("name", TABLES)
def test_each_command_each_function_and_settings_files_take_it(tmp_path, reference, name):
    text, said = TABLES[name]
    folder = tmp_path / "in"
    folder.mkdir()
    path = str(folder / "sys.x")
    Path(path).write_text(text)
    flag, given = FLAGS[name], {name: said}
    key = flag.removeprefix("--")
    plain = call(reference, path, "--score", NAME)
    assert (plain.code, plain.out) == ((0, "1.0\n") if name == "source_form" else (2, ""))
    (tmp_path / "c.yaml").write_text(f"{key}: {json.dumps(said)}\n")
    (tmp_path / "d.yaml").write_text("extends: c.yaml\nbeta: 1\n")
    for more in ((flag, said), ("--config", tmp_path / "c.yaml"), ("--config", tmp_path / "d.yaml")):
        done = call(reference, path, *more, "--format", "json", "--only", "segment")
        assert done.scores[NAME]["value"] == 1
        system = next(item for item in done.document["inputs"] if item["role"] == "system")
        assert system["options"] == [f"{key}={said.removeprefix('system=')}"]
        assert f" system:{key}={json.dumps(said.removeprefix('system='))}" in done.document["signature"]
        assert call("tune", reference, path, *more, "-q").code == 0
        page = tmp_path / "page.html"
        assert call("report", reference, path, *more, "-o", page, "-q").code == 0
        figure = tmp_path / "x.svg"
        assert call("plot", "classes", reference, path, *more, "-o", figure).code == 0
    assert call("validate", path, flag, said).code == 0
    assert call("convert", path, tmp_path / "made.tsv", flag, said).code == 0
    assert evaluate(reference, tmp_path / "made.tsv")[NAME] == 1
    more = (flag, said.replace("system=", "reference="))
    assert call("simulate", "constant", path, "-o", tmp_path / "made.tsv", *more).code == 0
    site = tmp_path / "site"
    board = ("board", folder, "--reference", reference, "-o", site, "--fail-on-invalid", "--no-reports")
    assert call(*board, flag, said).code == 0

    assert evaluate(reference, path, **given)[NAME] == 1
    assert Evaluator(**given).update(reference, path).compute()[NAME] == 1
    assert compare(reference, {"a": path, "b": path}, **given, replicates=9).entries[0].value == 1
    assert mean_of_runs(reference, {"a": path, "b": path}, **given)[NAME] == 1
    assert threshold_curves(reference, path, **given).classes
    assert validate(path, reference, **given).ok
    assert convert(path, tmp_path / "again.tsv", **given).rows == 3
    assert build_site(folder, reference, site, reports=False, **given).scored == ()
    write_report(reference, {"ours": path}, tmp_path / "again.html", **given)
    assert plot("classes", reference, path, **given)


UNLABELLED = {
    "with header": "filename,onset,offset\na,0,2\na,4,6\nb,1,2\n",
    "and a column to ignore": "filename,onset,offset,note\na,0,2,x\na,4,6,y\nb,1,2,z\n",
    "without header": "a\t0\t2\na\t4\t6\nb\t1\t2\n",
    "by number": "0\t2\tx\ta\n4\t6\ty\ta\n1\t2\tz\tb\n",
    "json": "".join(
        json.dumps({"file": f, "onset": x, "offset": y}) + "\n"
        for f, x, y in (("a", 0, 2), ("a", 4, 6), ("b", 1, 2))
    ),
}
HOW = {"and a column to ignore": ["ignore=note"], "by number": ["onset=1,offset=2,filename=4,ignore=3"]}


@pytest.mark.parametrize("kind", UNLABELLED)
def test_rows_without_labels_are_of_the_class_that_is_said(tmp_path, kind):
    path, whole = tmp_path / "sys.x", tmp_path / "whole.tsv"
    path.write_text(UNLABELLED[kind])
    whole.write_text("a\t0\t2\tspeech\na\t4\t6\tspeech\nb\t1\t2\tspeech\n")
    how = {"columns": HOW[kind]} if kind in HOW else {}
    scores = evaluate(whole, path, label="speech", **how)
    assert dict(scores) == dict(evaluate(whole, whole))
    assert scores.inputs[1].form.endswith("all rows of 'speech'")
    # Tables that have labels keep them, and a large one is read in parts.
    with pytest.raises(InputError, match="--label dog has no effect"):
        evaluate(whole, whole, label="dog")
    limits = limits_from(None, {"label": "speech", **how})
    in_parts = count_in_parts(whole, path, Settings(), limits=limits)
    assert dict(score_shard(in_parts, "1")) == dict(scores)
    done = call(
        "validate", path, "--label", "speech", *(f"--columns={text}" for text in how.get("columns", ()))
    )
    assert "all rows of 'speech'" in done.out
    with pytest.raises(InputError, match=r"--label (NAME|car)|--columns|no column of labels"):
        evaluate(whole, path)


def test_a_folder_and_an_archive_of_tables_without_labels(tmp_path):
    (tmp_path / "vad" / "day").mkdir(parents=True)
    (tmp_path / "vad" / "day" / "a.txt").write_text("0.5\t1.5\n")
    (tmp_path / "vad" / "b.csv").write_text("onset,offset\n1,2\n")
    (tmp_path / "vad" / "b.csv").rename(tmp_path / "vad" / "day" / "b.csv")
    scores = evaluate(tmp_path / "vad", tmp_path / "vad", label="speech")
    assert (scores.files, scores.classes) == (("a", "b"), ("speech",))


def test_forms_are_those_of_the_tables_in_folders_and_archives(tmp_path):
    """Three columns of a class called by a number are a track of Audacity's only where that is said."""
    folder = tmp_path / "tracks"
    folder.mkdir()
    (folder / "a.txt").write_text("0.5\t1.5\tcar\n\\\t100\t200\n")
    expected = evaluate(folder, folder).inputs[1]
    archive = shutil.make_archive(str(folder), "zip", folder)
    for source in (folder, archive):
        read = evaluate(source, source, source_form="audacity").inputs[1]
        assert (read.rows, read.files) == (expected.rows, expected.files)
        with pytest.raises(InputError, match="expected SPEAKER"):
            evaluate(source, source, source_form="rttm")


@pytest.mark.parametrize("form", ["long", "csv", "wide", "maestro", "rttm"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.tsv", OURS),
        ("t.csv", OURS.replace("\t", ",")),
        ("t.tsv", "onset\toffset\tcar\n0\t1\t0.5\n"),
        ("t.eaf", "onset\toffset\tlabel\n0\t1\tcar\n"),
        ("t.txt", SPEAKER("a", 0, 2, 0.75)),
        ("t.zip", OURS),
    ],
)
def test_validate_refuses_what_cannot_be_read_as_the_form_that_is_said(tmp_path, name, text, form):
    path = tmp_path / name
    path.write_bytes(zipped({"t.tsv": text.encode()}) if name == "t.zip" else text.encode())
    read: set[str] = set()
    try:
        read_rows(path, form=form)
    except InputError as error:
        read = {problem.message for problem in error.problems}
    found = validate(path, source_form=form)
    assert found.ok == (not read)
    assert read <= {problem.message for problem in found.problems}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label": ""}, "label must be the name of a class"),
        ({"label": 3}, "label must be the name"),
        ({"source_form": "audacty"}, "did you mean 'audacity'"),
        ({"source_form": "both=rttm"}, "expected the name of a"),
        ({"source_form": ["rttm", "jams"]}, "expected one form"),
        ({"columns": "what=x"}, "there is no role 'what'"),
        ({"sample_rate": True}, "sample_rate must be above 0"),
        ({"sample_rate": 0}, "sample_rate must be above 0"),
    ],
)
def test_what_cannot_be_said_is_refused(reference, tmp_path, given, message):
    with pytest.raises(SettingsError, match=message):
        evaluate(reference, reference, **given)
    (name, value), flags = next(iter(given.items())), []
    config = tmp_path / "c.yaml"
    config.write_text(f"{FLAGS[name].removeprefix('--')}: {json.dumps(value)}\n")
    if value:  # an empty text says nothing there
        flags = [f"{FLAGS[name]}={each}" for each in (value if isinstance(value, list) else [value])]
        assert call(reference, reference, "--config", config).code == 2
    assert not flags or isinstance(value, int) or message in call(reference, reference, *flags).err
    with pytest.raises(SettingsError, match="unknown argument 'lable'"):
        validate(reference, lable="x")
