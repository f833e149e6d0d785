"""Documents of annotation tools: what they leave open is said, and what strangers may send is refused soon.

`documents.tsv` has the documents, escaped as in JSON but for quotes. Where there are rows, they are read as
these, and words are of notes and of what is assumed; others are refused in the words.
"""

from __future__ import annotations

import json
import shlex
import zipfile
from pathlib import Path

import pytest
from called import call
from drawn import cases, facts

import sedeval_soft
from sedeval_soft.errors import InputError
from sedeval_soft.tables import read_rows

FILES = sorted((Path(__file__).parent / "documents").iterdir())
CASES = {case["name"]: case for case in cases("documents.tsv")}
OPEN = [name for name, case in CASES.items() if case["rows"]]
MENDED = [name for name in CASES if name.startswith("mended ")]
UNLABELLED = [name for name in CASES if name.startswith("unlabelled ")]
OURS = (
    "filename\tonset\toffset\tevent_label\nrec1.wav\t0.5\t1.25\tblackbird\n"
    "rec1.wav\t2.0\t3.5\trobin\nrec1.wav\t3.5\t4.0\tblackbird\n"
)


@pytest.fixture
def document(tmp_path):
    """Return what writes a document of a name, and its path."""

    def written(name):
        path, case = tmp_path / name.rpartition(" ")[2], CASES[name]
        path.write_bytes(case["text"].encode(case["encoding"] or "utf-8"))
        return path

    return written


@pytest.mark.parametrize("form", ["utf-16-le", "utf-16-be"])
def test_a_textgrid_in_utf_16_is_read_in_folders_and_archives(form, tmp_path):
    text, ours = next(path for path in FILES if path.name == "short.TextGrid").read_text(), tmp_path / "o.tsv"
    data = ("\ufeff" + text.replace("robin", "rouge-gorge \u00e9")).encode(form)
    ours.write_text(OURS.replace("robin", "rouge-gorge \u00e9"))
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "rec1.TextGrid").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        archive.writestr("rec1.TextGrid", data)
    for table in ("set", "set.zip"):
        assert sedeval_soft.evaluate(ours, tmp_path / table)["event.hard.f1.micro"] == 1.0


@pytest.mark.parametrize("name", OPEN)
def test_what_a_document_leaves_open_is_said(name, document):
    case, path = CASES[name], document(name)
    read = read_rows(path)
    found = [row if row[-1] is not None else row[:-1] for row in facts(read)[1]]
    assert sorted(found) == sorted(map(tuple, json.loads(case["rows"])))
    for words, said in ((case["words"], read.origin.notes), (case["assumed"], read.origin.assumed)):
        for word in filter(None, words.split("|")):
            assert any(word in each for each in said), (word, said)
    if not case["assumed"] and "media" not in name:
        assert not read.origin.assumed
    for sides in (("validate", path), (path, path)):
        done = call(*sides)
        assert all(text in done.out + done.err for text in read.origin.assumed), done
        assert not read.origin.assumed or call(*sides, "--strict").code == 2 - (sides[0] == "validate")


def test_recordings_that_were_annotated_without_events_are_declared(document):
    assert sorted(read_rows(document("tasks.json")).files) == ["a.wav", "b.wav", "d.wav"]
    assert sorted(read_rows(document("untagged.json")).files) == ["a.wav", "quiet.wav"]


def test_json_beside_tables_is_none_of_them(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.csv").write_text("onset,offset,event_label\n0,1,car\n")
    (tmp_path / "folder" / "settings.json").write_text("[1]")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        for path in (tmp_path / "folder").iterdir():
            archive.write(path, path.name)
    for table in (tmp_path / "folder", tmp_path / "archive.zip"):
        assert facts(read_rows(table))[1] == [("a", 0.0, 1.0, "car", None)]


CHOSEN = {
    ("tiers.TextGrid", "event_label=bird"): {'A "loud" call'},
    ("tiers.TextGrid", "event_label=Bird,event_label=quality"): {'A "loud" call', "good"},
    ("tiers.TextGrid", "event_label=tier"): {"bird", "click", "quality"},
    ("tiers.TextGrid", "ignore=quality,ignore=click"): {'A "loud" call'},
    ("refs.eaf", "event_label=kind"): {"song & call"},
    ("min.json", "event_label=b"): {"dog"},
    ("min.json", "event_label=control"): {"a", "b"},
}


@pytest.mark.parametrize(("name", "option"), CHOSEN)
def test_the_tier_of_labels_is_what_the_user_says(name, option, document, tmp_path):
    path = document(name)
    assert {*read_rows(path).classes} > CHOSEN[name, option] or "tier" in option or "control" in option
    done = call("convert", path, "-", "--columns", option, "--strict")
    assert done.code == 0, done
    (tmp_path / "table.tsv").write_text(done.out)
    assert {*read_rows(tmp_path / "table.tsv").classes} == CHOSEN[name, option]
    scores = sedeval_soft.evaluate(path, path, columns=option)
    assert not [each for each in scores.warnings if "texts of" in each]


@pytest.mark.parametrize("name", UNLABELLED)
def test_what_has_no_label_is_of_the_class_that_the_user_names(name, document):
    path, row = document(name), CASES[name]["words"]
    assert row in call("convert", path, "-", "--label", "bird").out.splitlines()
    assert row not in call("convert", path, "-").out.splitlines()


@pytest.mark.parametrize("name", MENDED)
def test_what_nobody_can_know_is_refused_with_the_option_that_says_it(name, document):
    path, case = document(name), CASES[name]
    done = call("convert", path, "-")
    assert done.code == 2
    assert case["words"] in done.err, done.err
    if case["classes"]:
        option = shlex.split(done.err[done.err.index("--columns") :])[1].strip("),;")
        done = call("convert", path, "-", "--columns", option)
        assert done.code == 0, done
        rows = [line for line in done.out.splitlines()[1:] if "\t0\t" in line or "1.5" in line]
        assert {line.split("\t")[-1] for line in rows} == {*case["classes"].split(",")}


def large(name: str, old: str, new: str) -> str:
    """Return a document with a text that is far too large."""
    return CASES[name]["text"].replace(old, new)


def nested(n: int) -> str:
    """Return a text of JSON in which lists are that deep."""
    return "[" * n + "]" * n


MANY = 2**20
LARGE = {
    "deep.eaf": ("<ANNOTATION_DOCUMENT>" + "<a>" * 100_000, "is not well-formed XML"),
    "label.eaf": (large("refs.eaf", "song", "x" * MANY), "--limit name_length="),
    "digits.TextGrid": (large("tiers.TextGrid", "2.5", "1" * MANY), "is too large"),
    "mixed.TextGrid": (large("tiers.TextGrid", "2.5", "1" * MANY + "x"), "stands where the time"),
    "gaps.TextGrid": (large("tiers.TextGrid", "good", "g" + " " * MANY + "x"), "--limit name_length="),
    "deep.json": (nested(MANY // 2), "cannot be read as Label Studio's JSON"),
    "deeper.json": ('[{"annotations": [], "data": ' + nested(100_000) + "}]", "too deeply"),
    "label.json": (large("series.json", "car", "x" * MANY), "--limit name_length="),
    "quotes.jams": ('{"annotations": [NaN, "' + '\\"' * (MANY // 2), "cannot be read as JAMS"),
}
HOSTILE = [name for name in CASES if name not in {*OPEN, *MENDED, *UNLABELLED}]


@pytest.mark.parametrize("name", [*HOSTILE, *LARGE])
def test_what_strangers_send_gets_one_clear_error_soon(name, tmp_path):
    case = CASES.get(name) or {"encoding": "", "text": LARGE[name][0], "words": LARGE[name][1]}
    path, words = tmp_path / name, case["words"]
    path.write_bytes(case["text"].encode(case["encoding"] or "utf-8"))
    with pytest.raises(InputError) as caught:
        read_rows(path)
    message = str(caught.value)
    if name == "latin.json" and words not in message:
        # Newer versions of msgspec say it so.
        words = "[0].audio: Invalid UTF-8 encoded string"
    assert words in message
    assert len(message) < 900 and all(line.startswith(str(path)) for line in message.split("\n"))
    done = call("validate", path)
    assert (done.code, words.rpartition(": ")[2] in done.out) == (1, True), done
