"""`files` scores only the recordings of a list; `map` renames classes."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from called import OTHER, REFERENCE, SYSTEM, call, written
from drawn import lay_out
from tables import columns_of, long_rows, wide_rows

from sedeval_soft import (
    EvaluationError,
    Evaluator,
    InputError,
    compare,
    convert,
    evaluate,
    plot,
    threshold_curves,
    validate,
)
from sedeval_soft.evaluation import Execute
from sedeval_soft.tables.file_groups import read_listed

KEPT = ("cafe.wav", "metro.wav")
DURATIONS = str(Path(REFERENCE).with_name("durations.tsv"))


@pytest.fixture
def by_hand(tmp_path):
    """Write the sample's tables with the lines of two recordings only; return their paths."""
    for path in (REFERENCE, SYSTEM, OTHER, DURATIONS):
        lines = Path(path).read_text().splitlines(keepends=True)
        kept = "".join(line for line in lines if line.split("\t")[0].strip() in ("filename", *KEPT))
        (tmp_path / Path(path).name).write_text(kept)
    return [str(tmp_path / Path(path).name) for path in (REFERENCE, SYSTEM, OTHER, DURATIONS)]


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
    asked = {"only": ("segment", "event", "clip"), "psds": "dcase-psds1"}
    expected = evaluate(*by_hand[:2], durations=by_hand[3], **asked)
    scores = evaluate(REFERENCE, SYSTEM, durations=DURATIONS, files=KEPT, **asked)
    assert dict(scores) == dict(expected)
    assert (scores.files, scores.classes) == (KEPT, expected.classes)
    left_out = " ".join(warning for warning in scores.warnings if "not listed" in warning)
    assert all(left_out.count(name) == 2 for name in ("3 ", "night.wav", "park.wav", "street.wav"))
    signed = scores.to_dict()["settings"]["files"]
    assert signed["count"] == 2 and signed["sha256"] in scores.signature.partition(" files=")[2]


def test_classes_that_no_listed_recording_has_are_none():
    """They would change means over classes."""
    ours, theirs = [("a", 0, 2, "car"), ("b", 0, 3, "dog")], [("a", 0, 1, "bird"), ("b", 0, 3, "tram")]
    scores = evaluate(columns_of(ours), columns_of(theirs), files=["a.wav"])
    assert scores.classes == ("bird", "car") and scores["segment.hard.f1.macro"] == 0


def test_a_challenge_ships_a_list_beside_its_settings(tmp_path, by_hand):
    texts = {"c/fold.txt": "\n".join(KEPT), "c/a.yaml": "files: fold.txt\n", "b.yaml": "extends: c/a.yaml\n"}
    listed = ("--files", lay_out(tmp_path, texts) / "c" / "fold.txt")
    for options in (listed, ("--config", tmp_path / "b.yaml")):
        done = call(REFERENCE, SYSTEM, *options, "--score", "segment.soft.f1.macro")
        assert done.out == call(*by_hand[:2], "--score", "segment.soft.f1.macro").out
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


def test_validate_names_what_is_listed_but_nowhere():
    listed = ["cafe.wav", "streat.wav"]
    assert validate(SYSTEM, REFERENCE, files=listed).counts["listed-file"] == 1
    # Without a reference the list names the expected files.
    assert validate(SYSTEM, files=listed).counts["missing-file"] == 1


def test_names_that_nobody_has_are_warned_of_with_what_they_may_mean():
    scores = evaluate(REFERENCE, SYSTEM, files=["cafe.wav", "streat.wav"])
    assert any("'streat.wav'" in text and "'street.wav'" in text for text in scores.warnings)
    # A listed file that only the system has counts: all its detections are false alarms.
    found = evaluate(REFERENCE, {"new.wav": [(0, 1, "car")]}, files=["new.wav", "cafe.wav"])
    assert found["event.hard.fp.micro"] == 1


@pytest.mark.parametrize(
    ("reference", "files", "how", "words"),
    [
        *(
            (REFERENCE, text, {}, "list.txt")
            for text in (b"", b"# nothing\n\n", b"filename\n", b"caf\xe9.wav")
        ),
        (REFERENCE, Path("none.txt"), {}, "cannot be read"),
        (REFERENCE, 3, {}, "must be a list"),
        ({"onset": [0], "offset": [1], "label": ["car"]}, ["a"], {}, "no column of file names"),
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
    rows = columns_of([("b", 0, 1, "x"), ("a", 1, 2, "x"), ("b", 2, 3, "x")])
    pd.DataFrame(rows).to_parquet(tmp_path / "l.parquet")
    assert read_listed(tmp_path / "l.parquet") == ("b", "a")


HASHED = "filename\tonset\toffset\tevent_label\n{}b.wav\t1\t3\tdog\n"


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        # By hand: one event of b.wav is found; two of #12-40.wav are missed, and another is a false alarm.
        ("files", "#12-40.wav\nb.wav\n", 0.4),
        ("files", "filename\n#12-40.wav\nb.wav\n", 0.4),
        ("files", "# those of the\n#dev, all\n#12-40\nb.wav\n", 0.4),
        ("files", "#12-40.wav\n", 0.0),
        # The other recording is not listed.
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
    ],
)
def test_a_line_that_names_a_recording_is_no_comment(option, text, value, tmp_path, monkeypatch):
    """A comment does not name a file, and a warning names recordings that are left out."""
    monkeypatch.chdir(tmp_path)
    ours = HASHED.format("#12-40.wav\t1\t2\tdog\n#12-40.wav\t3\t4\tdog\n")
    lay_out(
        tmp_path, {"ref.tsv": ours, "sys.tsv": HASHED.format("#12-40.wav\t7\t8\tdog\n"), "list.txt": text}
    )
    result = evaluate("ref.tsv", "sys.tsv", **{option: "list.txt"})
    assert result["event.hard.f1.micro"] == value
    assert not any("neither side" in warning for warning in result.warnings)
    assert value < 1 or any("'#12-40.wav'" in warning for warning in result.warnings)


# --- classes under other names ---------------------------------------------------------------------

CALLS = {"bma": "bm", "bmb": "bm", "bmz": "bm", "d": "d"}
CALLED = [("a", 0.0, 1.0, "bma", 1.0), ("a", 3.0, 4.0, "bmz", 1.0), ("b", 0.0, 2.0, "d", 1.0)]
DETECTED = [("a", 0.0, 1.0, "bmb", 1.0), ("a", 1.0, 2.0, "bma", 1.0), ("b", 0.0, 2.0, "d", 1.0)]


def renamed(rows):
    return long_rows([(file, on, off, CALLS[label], value) for file, on, off, label, value in rows])


@pytest.mark.parametrize("events", ["auto", "merge", "rows"])
def test_mapped_tables_score_as_renamed_ones(events):
    asked = {"events": events, "only": "all", "max_efpr": 1000.0}
    found = evaluate(long_rows(CALLED), long_rows(DETECTED), map=CALLS, **asked)
    assert dict(found) == dict(evaluate(renamed(CALLED), renamed(DETECTED), **asked))
    assert found.classes == ("bm", "d")


def test_of_a_wide_table_the_largest_value_counts():
    values = np.random.default_rng(0).random((2, 20, 3))
    sides = [wide_rows(side, files=2) for side in values]
    found = evaluate(*sides, map={"class0": "x", "class1": "x"}, only="segment.soft")
    merged = (np.stack([side[:, :2].max(axis=1), side[:, 2]], axis=1) for side in values)
    by_hand = (replace(wide_rows(side, files=2), classes=("x", "class2")) for side in merged)
    assert dict(found) == dict(evaluate(*by_hand, only="segment.soft"))
    assert any("class2" in warning and "not in `map`" in warning for warning in found.warnings)


def test_a_label_may_be_that_of_one_side():
    sides = ([{"onset": 0, "offset": 1, "label": label}] for label in ("dog", "hund"))
    found = evaluate(*sides, map={"system:hund": "dog"})
    assert found["segment.hard.f1.macro"] == 1.0 and not found.warnings


def test_the_command_reads_a_table(tmp_path):
    sides = [written(tmp_path / f"{k}.tsv", long_rows(rows)) for k, rows in enumerate((CALLED, DETECTED))]
    path, name = tmp_path / "map.tsv", "segment.hard.f1.macro"
    path.write_text("label\tclass\tparent\nbma\tbm\twhale\nbmb\tbm\twhale\nbmz\tbm\twhale\nd\td\twhale\n")
    (tmp_path / "settings.yaml").write_text("map: map.tsv\n")
    expected = evaluate(*sides, map=CALLS)[name]
    for options in (("--map", path), ("--config", tmp_path / "settings.yaml")):
        assert float(call(*sides, *options, "--score", name).out) == expected
    assert evaluate(*sides, map=path, map_to="parent").classes == ("whale",)
    with pytest.raises(InputError, match=r"map.tsv:1:.*'family'"):
        evaluate(*sides, map=path, map_to="family")
