"""`soft-sed-eval convert`: the tables that it writes, its messages, and the files that it does not touch."""

import gzip
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest
from called import PROGRAM, call, unmeasured
from drawn import lay_out
from tables import columns_of

from sedeval_soft import InputError, Limits, SettingsError, convert

TABLE = (
    "filename\tonset\toffset\tevent_label\tsoft_value\na.wav\t0\t1.5\tcar horn\t0.25\nb.wav\t1\t2\tdog\t1\n"
)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(lay_out(tmp_path, {"in.tsv": TABLE}))
    return tmp_path / "in.tsv"


def test_extension_of_the_target_says_the_form_and_the_compression(table):
    for name in ("o.csv", "o.parquet", "o.arrow", "o.jsonl", "o.csv.xz", "o.jsonl.bz2"):
        done = call("convert", table, name)
        assert (done.code, done.out, done.err) == (0, "", "")
        assert call("convert", name, "-", "--to", "long").out == TABLE
    assert call("convert", table, "o.tsv.gz").code == 0
    assert gzip.decompress(Path("o.tsv.gz").read_bytes()).decode() == TABLE


def test_long_tables_are_written_number_by_number_as_they_were(tmp_path):
    """Python's shortest decimals; the rows fill several blocks, and one file is silent."""
    rng, n = np.random.default_rng(6), 33_000  # a block has 32,768 rows
    onset = np.sort(np.round(rng.uniform(1, 2e6, n), 6))
    times = [*zip(onset.tolist(), np.round(onset + rng.uniform(1, 9, n)).tolist(), strict=True)]
    convert(columns_of([("a.wav", *each, "dog") for each in times], "b"), tmp_path / "out.tsv")
    head, *rows, silent = (tmp_path / "out.tsv").read_text().splitlines()
    assert (head, silent) == ("filename\tonset\toffset\tevent_label", "b\t\t\t")
    assert rows == [
        "\t".join(("a.wav", *(repr(t).removesuffix(".0") for t in each), "dog")) for each in times
    ]


def test_losses_are_printed_once_and_refused_when_strict(table):
    given = ("convert", table, "o.ann", "--to", "sed-eval")
    strict = call(*given, "--strict")
    assert strict.code == 2 and "2 rows" in strict.err and not Path("o.ann").exists()
    done = call(*given)
    assert (done.code, done.err.count("\n")) == (0, 1) and "2 rows" in done.err
    assert Path("o.ann").read_text() == "a.wav\t0\t1.5\tcar horn\nb.wav\t1\t2\tdog\n"
    assert call(*given, "--quiet").err == ""


@pytest.mark.parametrize(
    "arguments",
    ["o.xyz", "o --to zip", "o.jams", "o --to eaf", "o --to parkett", "o --to long --from rtm", "o --to x",
     "o --to long --from wide", "o --to audacity", "- --to score-dir", "o/ --to parquet", "missing/o.tsv",
     "missing/o --to maestro", "in.tsv"],
)  # fmt: skip
def test_targets_that_cannot_be_are_refused(arguments, table):
    done = call("convert", "in.tsv", *arguments.split())
    assert (done.code, done.out) == (2, "")
    assert {path.name: path.read_text() for path in table.parent.iterdir()} == {"in.tsv": TABLE}


def test_a_folder_with_something_in_it_is_left_alone(table):
    given = ("convert", table, "made", "--to", "maestro", "-q")
    assert call(*given).code == 0
    tables = {path.name: path.read_text() for path in Path("made").iterdir()}
    assert tables == {"a.txt": "0\t1.5\tcar horn\t0.25\n", "b.txt": "1\t2\tdog\t1\n"}
    for texts, force, code in (({"a.txt": "old"}, (), 2), (tables, ("--force",), 0)):
        Path("made/a.txt").write_text("old")
        assert call(*given, *force).code == code
        assert {path.name: path.read_text() for path in Path("made").iterdir()} == tables | texts
    Path("made/thesis.doc").write_text("dear")
    assert call(*given, "--force").code == 2 and Path("made/thesis.doc").read_text() == "dear"


def test_a_recording_without_a_name_takes_the_name_of_its_file(tmp_path):
    (tmp_path / "scene.txt").write_text("0\t1\tcar\n")
    assert call("convert", tmp_path / "scene.txt", f"{tmp_path / 'scenes'}/", "--to", "audacity").code == 0
    assert [path.name for path in (tmp_path / "scenes").iterdir()] == ["scene.txt"]


@pytest.mark.parametrize(
    "name", ["../out", "a\\b", "/etc/x", "..", "C:x", "CON", "nul", "lpt1.x", ".hidden", "a\x01b", "x" * 300]
)
def test_names_never_become_paths(name, tmp_path):
    (tmp_path / "in.jsonl").write_bytes(
        b'{"file": %s, "onset": 0, "offset": 1, "label": "car"}\n'
        % ("".join(f"\\u{ord(c):04x}" for c in name).join('""').encode())
    )
    done = call("convert", tmp_path / "in.jsonl", f"{tmp_path / 'made'}/", "--to", "audacity")
    assert done.code == 2 and done.err
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_standard_streams_are_a_pipe(table):
    """The streams carry bytes of any form unchanged."""
    command = shlex.join([*PROGRAM, "convert", "-", "-", "--to"])
    piped = f"{command} parquet < in.tsv | tee in.parquet | {command} long"
    done = subprocess.run(["bash", "-c", piped], capture_output=True, check=True, env=unmeasured(), text=True)
    assert (done.stdout, done.stderr, Path("in.parquet").read_bytes()[:4]) == (TABLE, "", b"PAR1")


def test_the_library_converts_what_it_evaluates(table):
    done = convert(table, "o.rttm")
    assert ["'car horn'" in text for text in done.losses] == [True]
    assert (done.form, done.rows, done.files, done.classes, done.apart) == ("rttm", 2, 2, 2, False)
    data = {"onset": [0.0], "offset": [1.0], "event_label": ["a"]}
    assert convert(data, "o.csv").losses == ()
    assert Path("o.csv").read_text() == "onset,offset,event_label\n0,1,a\n"
    two_of_one_name = {"filename": ["a.wav", "a.flac"], **{name: cells * 2 for name, cells in data.items()}}
    for source, target, how, error in (
        (table, "x", {"to": "jsonl", "limits": Limits(classes=1)}, InputError),
        (data, "-", {"to": "long"}, SettingsError),
        (two_of_one_name, "x", {"to": "maestro"}, InputError),
    ):
        with pytest.raises(error):
            convert(source, target, **how)
    assert not Path("x").exists()
