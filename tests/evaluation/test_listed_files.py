"""`files`: just the recordings of a list are scored, as if nothing else stood in the tables."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from called import OTHER, REFERENCE, SYSTEM, call
from tables import columns_of

from sedeval_soft import (
    EvaluationError,
    Evaluator,
    compare,
    convert,
    evaluate,
    plot,
    threshold_curves,
    validate,
)
from sedeval_soft.evaluation.partition import Execute
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.file_groups import read_listed

KEPT = ("cafe.wav", "metro.wav")
DURATIONS = str(Path(REFERENCE).with_name("durations.tsv"))
ASKED = {"only": ("segment", "event", "clip"), "psds": "dcase-psds1"}


@pytest.fixture
def by_hand(tmp_path):
    """The sample's tables with the lines of two recordings only."""
    paths = [tmp_path / f"cut_{Path(path).name}" for path in (REFERENCE, SYSTEM, OTHER, DURATIONS)]
    for path, cut in zip((REFERENCE, SYSTEM, OTHER, DURATIONS), paths, strict=True):
        head, *lines = Path(path).read_text().splitlines(keepends=True)
        cut.write_text("".join([head, *(line for line in lines if line.split("\t")[0].strip() in KEPT)]))
    return [*map(str, paths)]


LISTS = {
    "names": "cafe.wav\nmetro.wav\n",
    "DCASE's lists of what is evaluated": (
        "audio/cafe.wav\tcafe\t0.0\t1.0\tcar\naudio/cafe.wav\tcafe\t2\t3\tdog\naudio/metro.wav\tcafe\t0\t1\tcar\n"
    ),
    "DCASE's lists to train with": "audio/cafe.wav\tcafe\n\naudio/metro.wav\tmetro\n",
    "task 4B's": "filename\ncafe/cafe\nmetro/metro\n",
    "csv with another column first": "scene,filename\ncafe,cafe.wav\nmetro,metro.wav\n",
    "comments and blank lines": "# fold 1\n\n  # of 5\ncafe\r\n\r\nmetro\r\n",
    "a header and comments": "#fold\nfile;fold\ncafe;1\n# end\nmetro;1",
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
    assert all(left_out.count(name) == 2 for name in ("3 ", "night.wav", "park.wav", "street.wav"))
    signed = json.loads(scores.signature.partition(" files=")[2].partition(" groups=")[0])
    assert signed["count"] == 2
    assert scores.to_dict()["settings"]["files"] == signed


def test_classes_that_no_listed_recording_has_are_none():
    """Means over classes would be others."""
    ours, theirs = [("a", 0, 2, "car"), ("b", 0, 3, "dog")], [("a", 0, 1, "bird"), ("b", 0, 3, "tram")]
    scores = evaluate(columns_of(ours), columns_of(theirs), files=["a.wav"])
    assert scores.classes == ("bird", "car") and scores["segment.hard.f1.macro"] == 0


def test_a_challenge_ships_a_list_beside_its_settings(tmp_path, by_hand):
    (tmp_path / "challenge").mkdir()
    (tmp_path / "challenge" / "fold.txt").write_text("\n".join(KEPT))
    (tmp_path / "challenge" / "a.yaml").write_text("files: fold.txt\n")
    (tmp_path / "b.yaml").write_text("extends: challenge/a.yaml\nbeta: 1\n")
    expected = evaluate(*by_hand[:2], only="segment.soft")["segment.soft.f1.macro"]
    listed = ("--files", tmp_path / "challenge" / "fold.txt")
    for options in (listed, ("--config", tmp_path / "b.yaml")):
        assert call(REFERENCE, SYSTEM, *options, "--score", "segment.soft.f1.macro").out == f"{expected}\n"
    tuned = [call("tune", *by_hand[:2]), call("tune", REFERENCE, SYSTEM, *listed)]
    assert len({done.out.partition("signature")[0] for done in tuned}) == 1


def converted(_, systems, **files):
    with TemporaryDirectory() as folder:
        convert(systems[0], Path(folder) / "made.csv", **files)
        return (Path(folder) / "made.csv").read_text()


FUNCTIONS = {
    "compare": lambda *sides, **files: [e.value for e in compare(*sides, replicates=9, **files).entries],
    "threshold_curves": lambda reference, systems, **files: (
        threshold_curves(reference, systems[0], **files).classes
    ),
    "Evaluator": lambda reference, systems, **files: dict(
        Evaluator.of_bytes(Evaluator(**files).update(reference, systems[0]).to_bytes()).compute()
    ),
    "plot": lambda reference, systems, **files: [
        label.get_text()
        for axes in plot("classes", reference, systems[0], **files).axes
        for label in axes.get_yticklabels()
    ],
    "convert": converted,
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_take_a_list(function, by_hand):
    reference, *systems, _ = by_hand
    assert function(REFERENCE, [SYSTEM, OTHER], files=KEPT) == function(reference, systems)


def test_validate_names_what_is_listed_but_nowhere(tmp_path):
    chosen = tmp_path / "list.txt"
    chosen.write_text("cafe.wav\nstreat.wav\n")
    assert validate(SYSTEM, REFERENCE, files=chosen).counts["listed-file"] == 1
    # Without a reference the list names what there should be.
    assert validate(SYSTEM, files=chosen).counts["missing-file"] == 1


def test_names_that_nobody_has_are_warned_of_with_what_they_may_mean():
    scores = evaluate(REFERENCE, SYSTEM, files=["cafe.wav", "streat.wav"])
    assert any("'streat.wav'" in text and "'street.wav'" in text for text in scores.warnings)
    # A file that only the system has is one of the list's: all of it are false alarms.
    rows = columns_of([("new.wav", 0, 1, "car")])
    assert evaluate(REFERENCE, rows, files=["new.wav", "cafe.wav"])["event.hard.fp.micro"] == 1


NO_NAMES = {"onset": [0], "offset": [1], "label": ["car"]}


@pytest.mark.parametrize(
    ("reference", "files", "how", "words"),
    [
        *(
            (REFERENCE, text, {}, "list.txt")
            for text in (b"", b"# nothing\n\n", b"filename\n", b"caf\xe9.wav")
        ),
        (REFERENCE, Path("none.txt"), {}, "cannot be read"),
        (REFERENCE, 3, {}, "must be a list"),
        (NO_NAMES, ["a"], {}, "no column of file names"),
        (REFERENCE, ["cafe"], {"execute": Execute()}, "cannot go with files"),
        (REFERENCE, ["cafe.wav", "streat.wav"], {"strict": True}, "neither side"),
        (REFERENCE, ["Cafe.wav", "Street.wav"], {}, "neither side"),
    ],
)
def test_lists_that_cannot_be_are_refused(reference, files, how, words, tmp_path):
    if isinstance(files, bytes):
        (tmp_path / "list.txt").write_bytes(files)
        files = tmp_path / "list.txt"
    with pytest.raises(EvaluationError, match=words):
        evaluate(reference, reference, files=files, **how)


def test_a_table_of_any_form_is_a_list(tmp_path):
    pq.write_table(
        pa.table(columns_of([("b", 0, 1, "x"), ("a", 1, 2, "x"), ("b", 2, 3, "x")])), tmp_path / "l.parquet"
    )
    assert read_listed(tmp_path / "l.parquet") == ("b", "a")
    assert sorted(read_listed(REFERENCE)) == sorted(read_rows(REFERENCE).files)


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
    """A comment is no file, and recordings that are left out are named."""
    monkeypatch.chdir(tmp_path)
    Path("ref.tsv").write_text(HASHED.format("#12-40.wav\t1\t2\tdog\n#12-40.wav\t3\t4\tdog\n"))
    Path("sys.tsv").write_text(HASHED.format("#12-40.wav\t7\t8\tdog\n"))
    Path("list.txt").write_text(text)
    result = evaluate("ref.tsv", "sys.tsv", **{option: "list.txt"})
    assert result["event.hard.f1.micro"] == value
    assert not any("neither side" in warning for warning in result.warnings)
    assert value < 1 or any("'#12-40.wav'" in warning for warning in result.warnings)
