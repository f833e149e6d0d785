"""Documents of annotation tools: what each tool writes, what is said of it, and what strangers may send."""

from __future__ import annotations

import json
import shlex
import time
import zipfile
from pathlib import Path

import pytest
from called import call
from drawn import facts

import sedeval_soft
from sedeval_soft.errors import InputError
from sedeval_soft.memory import RoomError, memory_limited
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.limits import Limits

FILES = sorted((Path(__file__).parent / "documents").iterdir())
OURS = (
    "filename\tonset\toffset\tevent_label\nrec1.wav\t0.5\t1.25\tblackbird\n"
    "rec1.wav\t2.0\t3.5\trobin\nrec1.wav\t3.5\t4.0\tblackbird\n"
)
EVENTS = [("rec1", 0.5, 1.25, "blackbird"), ("rec1", 2.0, 3.5, "robin"), ("rec1", 3.5, 4.0, "blackbird")]
"""What each of the files holds; those of prediction-set.json have values."""


@pytest.fixture
def ours(tmp_path):
    path = tmp_path / "ours.tsv"
    path.write_text(OURS)
    return path


def events(rows):
    """Return recording, onset, offset and label of rows, and their values."""
    found = facts(rows)[1]
    return [(name.removesuffix(".wav"), *rest) for name, *rest, _ in found], [value for *_, value in found]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_a_tool_writes_is_scored_as_the_same_events_in_our_own_form(path, ours, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    # A table that names no recording is named after its file.
    copy = folder / f"rec1{path.suffix}"
    copy.write_bytes(path.read_bytes())
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.write(copy, copy.name)
    table = folder
    for sides in ((ours, table), (table, ours), (ours, tmp_path / "archive.zip")):
        done = call(*sides, "--strict", "--threshold", "0.2", "--score", "event.hard.f1.micro")
        assert (done.code, done.out) == (0, "1.0\n"), done
    done = call("validate", table, "--reference", ours, "--strict")
    assert (done.code, "no problems" in done.out) == (0, True), done
    done = call("convert", table, "-", "--to", "long")
    values = [0.25, 0.5, 0.75] if path.name == "prediction-set.json" else [None] * 3
    (tmp_path / "back.tsv").write_text(done.out)
    assert events(read_rows(tmp_path / "back.tsv")) == (EVENTS, values)
    # Content says the form where the name does not.
    for ends in (b"\r\n", b"\n"):
        copy.write_bytes(path.read_bytes().replace(b"\n", ends))
        read = read_rows(copy.rename(tmp_path / "document"))
        assert [each[1:] for each in events(read)[0]] == [each[1:] for each in EVENTS]


@pytest.mark.parametrize("form", ["utf-16-le", "utf-16-be"])
def test_a_textgrid_in_utf_16_is_read_in_folders_and_archives(form, ours, tmp_path):
    text = next(path for path in FILES if path.name == "short.TextGrid").read_text()
    data = ("\ufeff" + text.replace("robin", "rouge-gorge \u00e9")).encode(form)
    ours.write_text(OURS.replace("robin", "rouge-gorge \u00e9"))
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "rec1.TextGrid").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        archive.writestr("rec1.TextGrid", data)
    for table in ("set", "set.zip"):
        assert sedeval_soft.evaluate(ours, tmp_path / table)["event.hard.f1.micro"] == 1.0


# Documents that leave something open.

TIERS = """File type = "ooTextFile"
Object class = "TextGrid"
0 3 <exists> 3
"IntervalTier" "bird" 0 3 2  0 1 "A ""loud""
call"  1 3 " "
! a comment "of Praat"
"TextTier" "click" 0 3 1  2.5 "x"
"IntervalTier" "quality" 0 3 1  0 1 "good"
"""

EAF = """<?xml version="1.0" encoding="UTF-8"?>
<ANNOTATION_DOCUMENT><HEADER TIME_UNITS="milliseconds">{media}</HEADER>
<TIME_ORDER><TIME_SLOT TIME_SLOT_ID="ts1" TIME_VALUE="500"/><TIME_SLOT TIME_SLOT_ID="ts2" TIME_VALUE="1250"/>
<TIME_SLOT TIME_SLOT_ID="ts3"/></TIME_ORDER>
<TIER TIER_ID="kind"><ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a2" ANNOTATION_REF="a1">
<ANNOTATION_VALUE>song &amp; call</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>{more}</TIER>
<TIER TIER_ID="robin"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a1" TIME_SLOT_REF1="ts1"
TIME_SLOT_REF2="{end}"><ANNOTATION_VALUE></ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER>
</ANNOTATION_DOCUMENT>"""

MEDIA = '<MEDIA_DESCRIPTOR MEDIA_URL="file:///x/{}" MIME_TYPE="audio/x-wav"{}/>'


def eaf(media="", more="", end="ts2"):
    return EAF.format(media=media, more=more, end=end)


def region(label, start=0, **more):
    value = {"start": start, "end": start + 1, "labels": [label]}
    return {"type": "labels", "from_name": "label", "value": value, **more}


def task(*annotations, audio="/data/upload/1/0123abcd-a.wav", **more):
    return {"data": {"audio": audio, "note": "x"}, "annotations": list(annotations), **more}


def studio(*tasks):
    return json.dumps(tasks)


def aoef(annotations, kind="annotation_set", **more):
    tags = [{"id": 0, "key": "species", "value": "robin"}, {"id": 1, "key": "call", "value": "song"}]
    sound = {"uuid": "s", "recording": "r", "geometry": {"type": "TimeStamp", "coordinates": 1.5}}
    recordings = [{"uuid": "r", "path": "a.wav"}, {"uuid": "q", "path": "quiet.wav"}]
    clips = {"clips": [{"uuid": "c", "recording": "q"}], "clip_annotations": [{"clip": "c"}]}
    lists = {"tags": tags, "recordings": recordings, "sound_events": [sound], **clips}
    name = "predictions" if kind == "prediction_set" else "annotations"
    made = [{"sound_event": "s", **each} for each in annotations]
    return json.dumps({"data": {"collection_type": kind, **lists, f"sound_event_{name}": made, **more}})


def vtt(*cues):
    return "WEBVTT\n\n" + "\n\n".join(cues) + "\n"


OPEN = {
    "tiers.TextGrid": (
        TIERS,
        [("", 0.0, 1.0, 'A "loud" call'), ("", 0.0, 1.0, "good"), ("", 2.5, 2.5, "x")],
        ["1 event is a point in time, without length"],
        ["labels are the texts of 3 tiers ('bird', 'click', 'quality')", "--columns event_label=bird takes"],
    ),
    "refs.eaf": (
        eaf(MEDIA.format("rec%201.wav", "")),
        [("rec 1.wav", 0.5, 1.25, "robin"), ("rec 1.wav", 0.5, 1.25, "song & call")],
        ["1 annotation without text took the name of the tier"],
        ["labels are the texts of 2 tiers ('kind', 'robin')"],
    ),
    "media.eaf": (
        eaf(MEDIA.format("a.wav", "") + MEDIA.format("b.wav", "") + MEDIA.format("c.mpg", "")),
        [("", 0.5, 1.25, "robin"), ("", 0.5, 1.25, "song & call")],
        ["names no recording, since it has 2 media files ('a.wav', 'b.wav')"],
        [],
    ),
    "video.eaf": (
        eaf(MEDIA.format("a.mp4", "") + MEDIA.format("a.wav", "")),
        [("a.mp4", 0.5, 1.25, "robin"), ("a.mp4", 0.5, 1.25, "song & call")],
        [],
        ["labels are the texts of 2 tiers"],
    ),
    "origin.eaf": (
        eaf(MEDIA.format("a.wav", ' TIME_ORIGIN="1500"')),
        [("a.wav", 0.5, 1.25, "robin"), ("a.wav", 0.5, 1.25, "song & call")],
        [],
        ["'a.wav' begins at '1500' ms"],
    ),
    "subdivided.eaf": (
        eaf(
            more='<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a3" ANNOTATION_REF="a1" '
            'PREVIOUS_ANNOTATION="a2"><ANNOTATION_VALUE>x</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>'
        ),
        [("", 0.5, 1.25, "robin"), ("", 0.5, 1.25, "song & call"), ("", 0.5, 1.25, "x")],
        [],
        ["2 annotations that divide the time of another one each took all of it"],
    ),
    "tasks.json": (
        studio(
            task({"result": [region("car"), {"type": "choices"}, region("car", 2)]}),
            task({"result": []}, audio="s3://bucket/b.wav?x=1"),
            task({"result": [region("car")], "was_cancelled": True}, audio="c.wav"),
            task({"result": [region("x")]}, {"result": [region("dog")], "ground_truth": True}, audio="d.wav"),
        ),
        [("a.wav", 0.0, 1.0, "car"), ("a.wav", 2.0, 3.0, "car"), ("d.wav", 0.0, 1.0, "dog")],
        ["1 task without annotation", "1 skipped annotation was", "1 annotation beside the ground truth"],
        [],
    ),
    "series.json": (
        studio(task({"result": [region("car"), region("dog") | {"type": "timeserieslabels"}]})),
        [("a.wav", 0.0, 1.0, "car")],
        [],
        ["1 region of type 'timeserieslabels' is left out"],
    ),
    "predictions.json": (
        studio(task(predictions=[{"result": [region("car", score=0.25), region("dog", score=0.5)]}])),
        [("a.wav", 0.0, 1.0, "car", 0.25), ("a.wav", 0.0, 1.0, "dog", 0.5)],
        ["events are those that models predicted"],
        [],
    ),
    "min.json": (
        json.dumps(
            [
                {"url": "/data/local-files/?d=x%20y/a.wav", "a": [region("car")["value"]], "annotation_id": 1,
                 "b": [region("dog")["value"], {"start": 3, "end": 4}]},
                {"url": "q.wav", "annotation_id": 2},
            ]
        ),
        [("x y/a.wav", 0.0, 1.0, "car"), ("x y/a.wav", 0.0, 1.0, "dog")],
        ["1 region without label was ignored"],
        ["labels are the texts of 2 controls ('a', 'b')"],
    ),
    "untagged.json": (
        aoef([{"tags": [0]}, {}]),
        [("a.wav", 1.5, 1.5, "robin")],
        ["1 sound event without a tag 'species' was ignored", "1 event is a point"],
        [],
    ),
    "scores.json": (
        aoef([{"tags": [[0, 0.25]], "score": 1.0}], "prediction_set"),
        [("a.wav", 1.5, 1.5, "robin", 0.25)],
        [],
        [],
    ),
    "people.jams": (
        json.dumps(
            {
                "annotations": [
                    {
                        "namespace": "segment_open",
                        "annotation_metadata": {"annotator": {"name": name}},
                        "data": [{"time": 0, "duration": 1, "value": name, "confidence": confidence}],
                    }
                    for name, confidence in (("ann", float("nan")), ("bob \\\" NaN", 0.5))
                ]
            }
        ),
        [("", 0.0, 1.0, "ann", 1.0), ("", 0.0, 1.0, 'bob \\" NaN', 0.5)],
        ["1 event without a value counts as 1.0"],
        ["has annotations of 2 annotators, whose events are those of one table"],
    ),
    "lines.vtt": (
        vtt("1\n100:00:00.000 --> 100:00:01.500\n<b>car &lt;3</b>\n second ", "00:00.000 --> 00:01.000\n<c>"),
        [("", 360000.0, 360001.5, "car <3 second")],
        ["1 cue of several lines became one label each"],
        [],
    ),
}  # fmt: skip
"""Documents by name: their text, rows, and what is said in notes and as assumptions."""


@pytest.mark.parametrize("name", OPEN)
def test_what_a_document_leaves_open_is_said(name, tmp_path):
    text, rows, notes, assumed = OPEN[name]
    path = tmp_path / name
    path.write_text(text)
    read = read_rows(path)
    found = [row if row[-1] is not None else row[:-1] for row in facts(read)[1]]
    assert sorted(found) == sorted(rows)
    for words, said in ((notes, read.origin.notes), (assumed, read.origin.assumed)):
        for word in words:
            assert any(word in each for each in said), (word, said)
    if not assumed and "media" not in name:
        assert not read.origin.assumed
    for sides in (("validate", path), (path, path)):
        done = call(*sides)
        assert all(text in done.out + done.err for text in read.origin.assumed), done
        assert not read.origin.assumed or call(*sides, "--strict").code == 2 - (sides[0] == "validate")


def test_recordings_that_were_annotated_without_events_are_declared(tmp_path):
    for name, files in (
        ("tasks.json", ["a.wav", "b.wav", "d.wav"]),
        ("untagged.json", ["a.wav", "quiet.wav"]),
    ):
        path = tmp_path / name
        path.write_text(OPEN[name][0])
        assert sorted(read_rows(path).files) == files


def test_json_beside_tables_is_none_of_them(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.csv").write_text("onset,offset,event_label\n0,1,car\n")
    (tmp_path / "folder" / "settings.json").write_text("[1]")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        for path in (tmp_path / "folder").iterdir():
            archive.write(path, path.name)
    for table in (tmp_path / "folder", tmp_path / "archive.zip"):
        assert facts(read_rows(table))[1] == [("a", 0.0, 1.0, "car", None)]


def test_what_is_said_of_many_documents_of_a_folder_is_said_once(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.TextGrid").write_text(TIERS)
    origin = read_rows(tmp_path).origin
    assert origin.notes == ("3 tables: 1 event is a point in time, without length",)
    assert [each.partition(" ('bird'")[0] for each in origin.assumed] == [
        "3 tables: labels are the texts of 3 tiers"
    ]


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
def test_the_tier_of_labels_is_what_the_user_says(name, option, tmp_path):
    path = tmp_path / name
    path.write_text(OPEN[name][0])
    assert {*read_rows(path).classes} > CHOSEN[name, option] or "tier" in option or "control" in option
    done = call("convert", path, "-", "--columns", option, "--strict")
    assert done.code == 0, done
    (tmp_path / "table.tsv").write_text(done.out)
    assert {*read_rows(tmp_path / "table.tsv").classes} == CHOSEN[name, option]
    scores = sedeval_soft.evaluate(path, path, columns=option)
    assert not [each for each in scores.warnings if "texts of" in each]


def test_what_has_no_label_is_of_the_class_that_the_user_names(tmp_path):
    for name, text, row in (
        ("tags.json", aoef([{"score": 0.25}], "prediction_set"), "a.wav\t1.5\t1.5\tbird\t0.25"),
        ("regions.json", studio(task({"result": [region("car") | {"value": {"start": 0, "end": 1}}]})),
         "a.wav\t0\t1\tbird"),
    ):  # fmt: skip
        path = tmp_path / name
        path.write_text(text)
        assert row in call("convert", path, "-", "--label", "bird").out.splitlines()
        assert row not in call("convert", path, "-").out.splitlines()


TWICE = [{"result": [region("car")]}, {"result": [region("dog")]}]

MENDED = {
    "keys": (aoef([{"tags": [0, 1]}]), "tags that are called 'species', 'call'", {"robin"}),
    "data": (studio(task({"result": [region("car")]}, audio="x", )), "'audio', 'note'", {"car"}),
    "twice": (studio(task(*TWICE)), "[0].annotations[0] and [0].annotations[1] both annotate 'a.wav'", None),
    "tasks": (studio(task(TWICE[0]), task(TWICE[1])), "[0].annotations[0] and [1].annotations[0]", None),
    "slots": (eaf(end="ts3"), "'ts3' of an annotation has no time", None),
}  # fmt: skip


@pytest.mark.parametrize("name", MENDED)
def test_what_nobody_can_know_is_refused_with_the_option_that_says_it(name, tmp_path):
    text, words, classes = MENDED[name]
    text = text.replace('"audio": "x"', '"file": "x"')
    words = words.replace("'audio'", "'file'")
    path = tmp_path / "document"
    path.write_text(text)
    done = call("convert", path, "-")
    assert done.code == 2
    assert words in done.err, done.err
    if classes is not None:
        option = shlex.split(done.err[done.err.index("--columns") :])[1].strip("),;")
        done = call("convert", path, "-", "--columns", option)
        assert done.code == 0, done
        assert {
            line.split("\t")[-1] for line in done.out.splitlines()[1:] if "\t0\t" in line or "1.5" in line
        } == classes


def nested(n):
    """Return a text of JSON in which lists are that deep."""
    return "[" * n + "]" * n


def reversed_region():
    return {"type": "labels", "value": {"start": 2, "end": 1, "labels": ["x"]}}


HOSTILE = {
    "bomb.eaf": (
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
        + "".join(f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(9))
        + "]><ANNOTATION_DOCUMENT>&j;</ANNOTATION_DOCUMENT>",
        ": declares a document type",
    ),
    "external.eaf": ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><ANNOTATION_DOCUMENT/>', "a document type"),
    "entity.eaf": ('<ANNOTATION_DOCUMENT><TIER TIER_ID="&a;"/></ANNOTATION_DOCUMENT>', "undefined entity"),
    "deep.eaf": ("<ANNOTATION_DOCUMENT>" + "<a>" * 100_000, "is not well-formed XML"),
    "cut.eaf": ('<ANNOTATION_DOCUMENT>\n<TIER TIER_ID="x">', ":2: is not well-formed XML"),
    "other.eaf": ("<html>\n<ANNOTATION_DOCUMENT/></html>", "begins with 'html'"),
    "latin.eaf": (b"<ANNOTATION_DOCUMENT>\n\xe9", "2: byte 0xe9 at position 1 of the line is not UTF-8"),
    "frames.eaf": (
        '<ANNOTATION_DOCUMENT><HEADER TIME_UNITS="PAL-frames"/></ANNOTATION_DOCUMENT>',
        "PAL-frames",
    ),
    "slot.eaf": (eaf(end="ts9"), "'ts9' of an annotation has no time"),
    "backwards.eaf": (eaf().replace('"500"', '"2500"'), "offset 1.25 is before onset 2.5"),
    "letters.eaf": (eaf().replace('"500"', '"half"'), "is at 'half'; expected milliseconds"),
    "negative.eaf": (eaf().replace('"500"', '"-500"'), "is at '-500'; expected milliseconds, 0 or more"),
    "circle.eaf": (eaf(more='<REF_ANNOTATION ANNOTATION_ID="x" ANNOTATION_REF="x"/>'), "leads to no time"),
    "orphan.eaf": (eaf(more='<REF_ANNOTATION ANNOTATION_ID="x" ANNOTATION_REF="y"/>'), "leads to no time"),
    "repeated.eaf": (eaf(more='<REF_ANNOTATION ANNOTATION_ID="a2" ANNOTATION_REF="a1"/>'), "are called 'a2'"),
    "bare.eaf": (eaf(more='<REF_ANNOTATION ANNOTATION_ID="x"/>'), "REF_ANNOTATION has no ANNOTATION_REF"),
    "label.eaf": (eaf().replace("song", "x" * 2**20), "--limit name_length="),
    "binary.TextGrid": (b"ooBinaryFile\x08TextGrid\0\0", "expected a TextGrid, saved as a text file"),
    "sound.TextGrid": (
        'File type = "ooTextFile"\nObject class = "Sound 2"\n',
        "2: 'Sound 2' stands where the class of an object was expected; expected TextGrid",
    ),
    "fewer.TextGrid": (TIERS.replace("<exists> 3", "<exists> 2"), ":8: 'IntervalTier' stands after the last"),
    "more.TextGrid": (TIERS.replace("<exists> 3", "<exists> 999999999999"), "expected the whole TextGrid"),
    "counted.TextGrid": (
        TIERS.replace('"click" 0 3 1', '"click" 0 3 2'),
        ":8: 'IntervalTier' stands where the time",
    ),
    "point.TextGrid": (TIERS.replace('"click" 0 3 1', '"click" 0 3 1.5'), "'1.5' stands where the number"),
    "tier.TextGrid": (
        TIERS.replace('"TextTier"', '"PitchTier"'),
        "'PitchTier' stands where the class of a tier",
    ),
    "open.TextGrid": (TIERS.replace('"good"', '"good'), ":8: a quote is opened and not closed"),
    "nan.TextGrid": (TIERS.replace("2.5", "nan"), ":7: 'x' stands where the time"),
    "minus.TextGrid": (TIERS.replace("2.5", "-2.5"), ":7: onset -2.5 is negative"),
    "digits.TextGrid": (TIERS.replace("2.5", "1" * 2**20), "is too large"),
    "mixed.TextGrid": (TIERS.replace("2.5", "1" * 2**20 + "x"), "stands where the time"),
    "gaps.TextGrid": (TIERS.replace("good", "g" + " " * 2**20 + "x"), "--limit name_length="),
    "deep.json": (nested(2**19), "cannot be read as Label Studio's JSON"),
    "deeper.json": ('[{"annotations": [], "data": ' + nested(100_000) + "}]", "too deeply"),
    "keyless.json": (studio({"a": 1}), "no task of Label Studio is annotated"),
    "one.json": (studio(task({"result": []}))[1:-1], "is a task of Label Studio by itself; expected a list"),
    "rows.json": ('[{"onset": 0, "offset": 1, "label": "car"}]', "rows of a table are read as JSON lines"),
    "text.json": (
        studio(task({"result": [region("car") | {"value": {"start": "0", "end": 1}}]})),
        "[0].annotations[0].result[0]: Expected `float`, got `str` - at `$.start`",
    ),
    "nan.json": ('[{"audio": "a.wav", "l": [{"start": NaN, "end": 1, "labels": ["x"]}]}]', "got `null`"),
    "latin.json": (
        b'[{"audio": "a\xf8.wav", "l": [{"start": 0, "end": 1, "labels": ["x"]}]}]',
        "[0].audio: 'utf-8' codec can't decode",
    ),
    "backwards.json": (
        studio(task({"result": [reversed_region()]})),
        "[0].annotations[0].result[0].offset 1.0 is before onset 2.0",
    ),
    "label.json": (studio(task({"result": [region("x" * 2**20)]})), "--limit name_length="),
    "tag.json": (aoef([{"tags": [7]}]), "a sound event refers to '7', which is not there"),
    "sound.json": (aoef([{"tags": [0], "sound_event": "z"}]), "sound_event_annotations[0] refers to 'z'"),
    "tagless.json": (aoef([{}]), "has sound events without tags"),
    "dataset.json": (
        aoef([], "dataset"),
        "is a collection of type 'dataset'; expected one of annotation_set",
    ),
    "line.json": (aoef([{"tags": [0]}]).replace('"TimeStamp"', '"LineString"'), "no times in its geometry"),
    "huge.json": (
        aoef([{"tags": [0]}]).replace("1.5", "1" + "0" * 400),
        "no times in its geometry of type 'TimeStamp'",
    ),
    "value.json": (aoef([{"tags": [[0, 85.0]]}], "prediction_set"), "value 85.0 is outside [0, 1]"),
    "time.jams": (
        '{"annotations": [{"namespace": "scaper", "data": [{"time": NaN, "duration": 1, "value": "x"}]}]}',
        "Expected `float`, got `null` - at `$[0].time`",
    ),
    "quotes.jams": ('{"annotations": [NaN, "' + '\\"' * 2**19, "cannot be read as JAMS"),
    "clock.vtt": (vtt("0:00 --> 00:01.000\ncar"), "3: '0:00 --> 00:01.000' does not begin a cue"),
    "joined.vtt": (vtt("00:00.000 --> 00:01.000\ncar\n00:01.000 --> 00:02.000\ndog"), "after a blank line"),
    "cueless.vtt": (vtt("00:00.000 --> 00:01.000\ncar", "dog"), "6: 'dog' does not begin a cue"),
    "first.vtt": ("WEBVTT\n00:00.000 --> 00:01.000\ncar\n", "after a blank line"),
    "backwards.vtt": (vtt("00:02.000 --> 00:01.000\ncar"), "3: offset 1.0 is before onset 2.0"),
    "label.vtt": (vtt("00:00.000 --> 00:01.000\n" + "<" * 2**20), "--limit name_length="),
}
"""Documents that are damaged, or made to do harm, and what is said of them."""


@pytest.mark.parametrize("name", HOSTILE)
def test_what_strangers_send_gets_one_clear_error_soon(name, tmp_path):
    data, words = HOSTILE[name]
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    begin = time.perf_counter()
    with pytest.raises(InputError) as caught:
        read_rows(path)
    assert time.perf_counter() - begin < 5
    message = str(caught.value)
    assert words in message
    assert len(message) < 900 and all(line.startswith(str(path)) for line in message.split("\n"))
    done = call("validate", path)
    assert (done.code, words.rpartition(": ")[2] in done.out) == (1, True), done


def test_many_intervals_are_refused_by_the_limit_of_rows(tmp_path):
    (tmp_path / "a.TextGrid").write_text(
        'File type = "ooTextFile"\n"TextGrid" 0 1 <exists> 1 "TextTier" "x" 0 1 900\n' + '1 "x"\n' * 900
    )
    done = call("convert", tmp_path / "a.TextGrid", "-", "--limit", "rows=899")
    assert done.code == 2 and "--limit rows=900 raises this" in done.err


def test_more_intervals_than_memory_holds_are_refused_as_they_are_read(tmp_path):
    path = tmp_path / "a.TextGrid"
    path.write_text(
        'File type = "ooTextFile"\n"TextGrid" 0 1 <exists> 1 "TextTier" "x" 0 1 40000\n' + '1 "x"\n' * 40_000
    )
    with pytest.raises(InputError, match=r"has more than 10000 rows; .* \(--limit rows=NUMBER"):
        read_rows(path, limits=Limits(rows=10_000))
    with memory_limited(10 << 20), pytest.raises(RoomError, match="to hold 16384 events or more would take"):
        read_rows(path)


def test_tables_whose_names_look_like_documents_are_tables(tmp_path):
    path = tmp_path / "list"
    for name in ("WEBVTT", "File type", "[{a", "ooTextFile", "<?xml", "<ANNOTATION_DOCUMENTS"):
        path.write_text(f"{name}\t0\t1\tcar\n")
        assert read_rows(path).classes == ("car",), name
    # Objects with a list, or a mapping, of their own are still rows.
    for more in ('"annotations": [1]', '"data": {"a": 1}', '"annotations": "x"'):
        path.write_text(f'{{"onset": 0, "offset": 1, "label": "car", {more}}}\n')
        assert read_rows(path).classes == ("car",), more


def test_documents_are_submissions_of_a_board(ours, tmp_path):
    folder = tmp_path / "submissions"
    folder.mkdir()
    for path in FILES:
        if path.suffix in {".json", ".eaf", ".jams"}:
            (folder / path.name).write_bytes(path.read_bytes())
    (folder / "bomb.eaf").write_text(HOSTILE["bomb.eaf"][0])
    done = call(
        "board",
        folder,
        "--reference",
        ours,
        "-o",
        tmp_path / "site",
        "--rank-by",
        "event.hard.f1.micro",
        "-q",
    )
    assert done.code == 0, done
    board = json.loads((tmp_path / "site" / "board.json").read_text())
    assert [each["name"] for each in board["submissions"]] == sorted(
        path.stem for path in folder.iterdir() if path.stem != "bomb"
    )
    assert "a document type" in (tmp_path / "site" / "problems" / "bomb.html").read_text()
