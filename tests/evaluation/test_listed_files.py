"""`files`: just the recordings of a list are scored, as if nothing else stood in the tables."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from called import OTHER, REFERENCE, SYSTEM, call

from sedeval_soft import (
    EvaluationError,
    Evaluator,
    InputError,
    SettingsError,
    compare,
    convert,
    evaluate,
    plot,
    threshold_curves,
    validate,
    write_report,
)
from sedeval_soft.evaluation.partition import Execute
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.file_groups import read_listed

KEPT = ("cafe.wav", "street.wav")
DURATIONS = str(Path(REFERENCE).with_name("durations.tsv"))
ASKED = {"only": ("segment", "event", "clip"), "psds": "dcase-psds1"}


@pytest.fixture
def by_hand(tmp_path):
    """The sample's tables with the lines of two recordings only."""
    paths = []
    for path in (REFERENCE, SYSTEM, OTHER, DURATIONS):
        head, *lines = Path(path).read_text().splitlines(keepends=True)
        out = tmp_path / f"cut_{Path(path).name}"
        out.write_text("".join([head, *(line for line in lines if line.split("\t")[0].strip() in KEPT)]))
        paths.append(str(out))
    return paths


LISTS = {
    "names": "cafe.wav\nstreet.wav\n",
    "DCASE's lists of what is evaluated": (
        "audio/cafe.wav\tcafe\t0.0\t1.0\tcar\naudio/cafe.wav\tcafe\t2\t3\tdog\naudio/street.wav\tcafe\t0\t1\tcar\n"
    ),
    "DCASE's lists to train with": "audio/cafe.wav\tcafe\n\naudio/street.wav\tstreet\n",
    "task 4B's": "filename\ncafe/cafe\nstreet/street\n",
    "csv with another column first": "scene,filename\ncafe,cafe.wav\nstreet,street.wav\n",
    "comments and blank lines": "# fold 1\n\n  # of 5\ncafe\r\n\r\nstreet\r\n",
    "a header and comments": "#fold\nfile;fold\ncafe;1\n# end\nstreet;1",
}


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
def test_lists_as_data_sets_have_them(tmp_path, text):
    chosen = tmp_path / "list.txt"
    chosen.write_text(text)
    assert evaluate(REFERENCE, SYSTEM, files=chosen, only="event.hard").files == KEPT


def test_listed_files_are_the_tables_cut_by_hand(by_hand):
    expected = evaluate(*by_hand[:2], durations=by_hand[3], **ASKED)
    scores = evaluate(REFERENCE, SYSTEM, durations=DURATIONS, files=KEPT, **ASKED)
    assert dict(scores) == dict(expected)
    assert (scores.files, scores.classes) == (KEPT, expected.classes)
    left_out = " ".join(warning for warning in scores.warnings if "not listed" in warning)
    assert all(left_out.count(name) == 2 for name in ("3 ", "metro.wav", "night.wav", "park.wav"))
    signed = json.loads(scores.signature.partition(" files=")[2].partition(" groups=")[0])
    assert signed["count"] == 2
    assert scores.to_dict()["settings"]["files"] == signed


def test_classes_that_no_listed_recording_has_are_none():
    """Means over classes would be others."""
    names = ("filename", "onset", "offset", "label")
    ours = [("a", 0, 2, "car"), ("b", 0, 3, "dog"), ("b", 1, 2, "car"), ("a", 3, 4, "bird")]
    theirs = [("a", 0, 1, "car"), ("b", 0, 3, "tram"), ("a", 2, 4, "bird")]
    whole = [[dict(zip(names, row, strict=True)) for row in side] for side in (ours, theirs)]
    cut = [[row for row in side if row["filename"] == "a"] for side in whole]
    expected, scores = (
        evaluate(*sides, only="all", measures="all", **files)
        for sides, files in ((cut, {}), (whole, {"files": ["a.wav"]}))
    )
    assert scores.classes == ("bird", "car")
    assert dict(scores) == dict(expected)


def test_each_command_and_each_function_takes_it(tmp_path, by_hand):
    reference, system, other, _ = by_hand
    chosen, name = tmp_path / "list.txt", "segment.soft.f1.macro"
    chosen.write_text("\n".join(KEPT))
    expected = str(evaluate(reference, system)[name])
    assert call(REFERENCE, SYSTEM, "--files", chosen, "--score", name).out == f"{expected}\n"
    # As a challenge ships it.
    (tmp_path / "challenge").mkdir()
    (tmp_path / "challenge" / "fold.txt").write_text("\n".join(KEPT))
    config, listed = tmp_path / "challenge" / "settings.yaml", tmp_path / "listed.yaml"
    config.write_text("files: fold.txt\n")
    listed.write_text("extends: challenge/settings.yaml\nbeta: 1\n")
    for each in (config, listed):
        assert call(REFERENCE, SYSTEM, "--config", each, "--score", name).out == f"{expected}\n"
    listed.write_text("files: [cafe, street]\n")
    assert call(REFERENCE, SYSTEM, "--config", listed, "--score", name).out == f"{expected}\n"

    tuned = [call("tune", reference, system), call("tune", REFERENCE, SYSTEM, "--files", chosen)]
    tuned = [done.out.partition("signature")[0] for done in tuned]
    assert tuned[0] == tuned[1]
    values = [e.value for e in compare(reference, [system, other], replicates=9).entries]
    assert values == [e.value for e in compare(REFERENCE, [SYSTEM, OTHER], replicates=9, files=KEPT).entries]
    counted = Evaluator(files=[*KEPT, "night.wav"]).update(reference, system)
    more = {"filename": ["night"], "onset": [0], "offset": [1], "label": ["car"]}
    counted.update(more, more)
    assert counted.compute().files == (*KEPT[:1], "night", *KEPT[1:])
    curves = threshold_curves(REFERENCE, SYSTEM, files=chosen).classes
    assert curves == threshold_curves(reference, system).classes

    (tmp_path / "in").mkdir()
    for path in (SYSTEM, OTHER):
        (tmp_path / "in" / Path(path).name).write_bytes(Path(path).read_bytes())
    build = ("board", tmp_path / "in", "--reference", REFERENCE, "-o", tmp_path / "site", "--no-reports")
    assert call(*build, "--files", chosen).code == 0
    made = json.loads((tmp_path / "site" / "board.json").read_text())
    assert sorted(each["value"] for each in made["submissions"]) == sorted(values)
    assert convert(SYSTEM, tmp_path / "made.csv", files=chosen).files == 2
    assert dict(evaluate(reference, tmp_path / "made.csv")) == dict(evaluate(reference, system))
    write_report(REFERENCE, {"ours": SYSTEM}, tmp_path / "page.html", files=KEPT)
    assert plot("classes", REFERENCE, SYSTEM, files=KEPT)


def test_validate_looks_at_listed_files(tmp_path):
    chosen, table = tmp_path / "list.txt", tmp_path / "sys.tsv"
    chosen.write_text("cafe.wav\nstreet.wav\n")
    table.write_text(
        "filename\tonset\toffset\tevent_label\tvalue\ncafe.wav\t0\t1\tcar\t0.5\n"
        "lost.wav\t4\t9\ttram\t0.5\nstreet.wav\t900\t901\tcar\t0.5\n"
    )
    found = validate(table, REFERENCE, files=chosen, durations=DURATIONS)
    assert ("after-end", 4) in {(p.code, p.line) for p in found.problems}
    assert {"unknown-class", "unknown-file", "missing-file"}.isdisjoint(found.counts)
    assert found.files == 2
    assert validate(table, REFERENCE).counts["unknown-file"] == 1
    # Without a reference the list says what there should be.
    chosen.write_text("cafe.wav\nstreet.wav\nstreat.wav\n")
    assert validate(table, files=chosen).counts["missing-file"] == 1
    assert validate(table, REFERENCE, files=chosen).counts["listed-file"] == 1


def test_names_that_nobody_has_are_told_with_what_they_may_mean(tmp_path):
    scores = evaluate(REFERENCE, SYSTEM, files=["cafe.wav", "streat.wav"])
    assert any("1 listed file ('streat.wav')" in text and "'street.wav'" in text for text in scores.warnings)
    for asked in (
        {"files": ["cafe.wav", "streat.wav"], "strict": True},
        {"files": ["Cafe.wav", "Street.wav"]},
    ):
        with pytest.raises(EvaluationError, match="neither side"):
            evaluate(REFERENCE, SYSTEM, **asked)
    with pytest.raises(InputError, match="expected names of files that it has"):
        convert(SYSTEM, tmp_path / "x.tsv", files=["none", "nothing"])
    # A file that only the system has is one of the list's: all of it are false alarms.
    rows = {"filename": ["new.wav"], "onset": [0], "offset": [1], "label": ["car"]}
    assert evaluate(REFERENCE, rows, files=["new.wav", "cafe.wav"])["event.hard.fp.micro"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "names no file"), ("# nothing\n\n", "names no file"), ("filename\n", "names no file"),
     ("caf\xe9.wav", "not UTF-8")],
)  # fmt: skip
def test_what_is_no_list_is_refused(tmp_path, text, message):
    chosen = tmp_path / "list.txt"
    chosen.write_bytes(text.encode("latin-1"))
    unnamed = {"onset": [0], "offset": [1], "label": ["car"]}
    for reference, asked, error in (
        (REFERENCE, {"files": chosen}, message), (REFERENCE, {"files": tmp_path / "x.txt"}, "cannot be read"),
        (REFERENCE, {"files": 3}, "must be a list"), (unnamed, {"files": ["a"]}, "no column of file names"),
        (REFERENCE, {"files": ["cafe"], "execute": Execute()}, "cannot go with files"),
    ):  # fmt: skip
        with pytest.raises((InputError, SettingsError), match=error):
            evaluate(reference, reference, **asked)
    assert call(REFERENCE, SYSTEM, "--files", chosen, "-o", chosen).code == 2


def test_a_table_of_any_form_is_a_list(tmp_path):
    table = pa.table(
        {"filename": ["b", "a", "b"], "onset": [0, 1, 2], "offset": [1, 2, 3], "label": ["x"] * 3}
    )
    pq.write_table(table, tmp_path / "list.parquet")
    assert read_listed(tmp_path / "list.parquet") == ("b", "a")
    assert sorted(read_listed(REFERENCE)) == sorted(read_rows(REFERENCE).files)


def test_a_tally_of_listed_files_says_so():
    part, whole = (Evaluator(**asked).update(REFERENCE, SYSTEM) for asked in ({"files": KEPT}, {}))
    again = Evaluator.of_bytes(part.to_bytes()).compute()
    assert dict(again) == dict(evaluate(REFERENCE, SYSTEM, files=KEPT))
    with pytest.raises(EvaluationError, match="files is"):
        whole.merge(part)


HASHED = "filename\tonset\toffset\tevent_label\n{}b.wav\t1\t3\tdog\n"
TABLES_OF_FILES = [
    # By hand: one event of b.wav is found; two of #12-40.wav are missed, and another is a false alarm.
    ("files", "#12-40.wav\nb.wav\n", 0.4),
    ("files", "filename\n#12-40.wav\nb.wav\n", 0.4),
    ("files", "# those of the\n#dev, all\n#12-40\nb.wav\n", 0.4),
    ("files", "#12-40.wav\n", 0.0),
    # Of the other recording nothing is listed.
    ("files", "# 12-40 is bad\n#c.wav\nb.wav\n", 1.0),
    # The false alarm is after the region: 2/(2 + 2).
    ("regions", "#12-40.wav\t0\t5\nb.wav\t0\t5\n", 0.5),
    ("regions", "# all\n#filename\tonset\toffset\n#12-40.wav\t0\t5\nb.wav\t0\t5\n#c.wav\t0\t5\n", 0.5),
    ("regions", "# all\nfilename\tonset\toffset\n#12-40.wav\t0\t5\nb.wav\t0\t5\n", 0.5),
    ("regions", "#12-40.wav 1 0 5\nb.wav 1 0 5\n", 0.5),
    ("durations", "# all\n#12-40.wav\t9\nb.wav\t9\n", 0.4),
    ("durations", "filename\tduration\n#12-40.wav\t9\nb.wav\t9\n", 0.4),
    ("durations", "#12-40.wav 1 0 9\nb.wav 1 0 9\n", 0.4),
    ("by", "# all\n#12-40.wav\thome\nb.wav\thome\n", 0.4),
]


@pytest.mark.parametrize(("option", "text", "value"), TABLES_OF_FILES)
def test_a_line_that_names_a_recording_is_no_comment(option, text, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ref.tsv").write_text(HASHED.format("#12-40.wav\t1\t2\tdog\n#12-40.wav\t3\t4\tdog\n"))
    Path("sys.tsv").write_text(HASHED.format("#12-40.wav\t7\t8\tdog\n"))
    Path("said.txt").write_text(text)
    result = evaluate("ref.tsv", "sys.tsv", **{option: "said.txt"})
    assert result["event.hard.f1.micro"] == value
    # A comment is no file, and recordings that are left out are named.
    assert not any("neither side" in warning for warning in result.warnings)
    if value == 1.0:
        assert any("'#12-40.wav'" in warning for warning in result.warnings)
