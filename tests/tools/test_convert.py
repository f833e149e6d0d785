"""`soft-sed-eval convert`: the tables that it writes, its messages, and the files that it leaves alone."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from called import call
from click.testing import CliRunner

import sedeval_soft
from sedeval_soft.cli.main import group
from sedeval_soft.errors import InputError, SettingsError

TABLE = (
    "filename\tonset\toffset\tevent_label\tsoft_value\na.wav\t0\t1.5\tcar horn\t0.25\nb.wav\t1\t2\tdog\t1\n"
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "in.tsv"
    path.write_text(TABLE)
    return path


def test_extension_of_the_target_says_the_form_and_the_compression(table, tmp_path):
    for name in ("o.csv", "o.parquet", "o.arrow", "o.jsonl", "o.csv.xz", "o.jsonl.bz2"):
        done = call("convert", table, tmp_path / name)
        assert (done.code, done.out, done.err) == (0, "", "")
        assert call("convert", tmp_path / name, "-", "--to", "long").out == TABLE
    call("convert", table, tmp_path / "o.tsv.gz")
    assert gzip.decompress((tmp_path / "o.tsv.gz").read_bytes()).decode() == TABLE
    wide = call("convert", table, "-", "--to", "wide", "-q").out
    (tmp_path / "wide.tsv").write_text(wide)
    call("convert", tmp_path / "wide.tsv", tmp_path / "wide.parquet")
    assert call("convert", tmp_path / "wide.parquet", "-", "--to", "wide").out == wide


def test_long_tables_are_written_number_by_number_as_they_were(tmp_path):
    """Numbers are the shortest decimals, as Python has them; rows of several blocks, and a silent file."""
    rng, n = np.random.default_rng(6), 33_000  # a block is of 32,768
    onset = np.sort(np.round(rng.uniform(1, 2e6, n), 6))
    offset = np.round(onset + rng.uniform(1, 9, n))
    columns = {"filename": ["a.wav"] * n + ["b.wav"], "event_label": ["dog"] * n + [None]}
    columns |= {"onset": [*onset.tolist(), None], "offset": [*offset.tolist(), None]}
    sedeval_soft.convert(columns, tmp_path / "out.tsv")
    times = zip(onset.tolist(), offset.tolist(), strict=True)
    rows = ["\t".join(repr(time).removesuffix(".0") for time in each) for each in times]
    expected = ["filename\tonset\toffset\tevent_label", *(f"a.wav\t{row}\tdog" for row in rows)]
    assert (tmp_path / "out.tsv").read_text().splitlines() == [*expected, "b.wav\t\t\t"]


def test_losses_are_printed_once_and_refused_when_strict(table, tmp_path):
    target, strict = tmp_path / "o.ann", tmp_path / "strict.ann"
    done = call("convert", table, target, "--to", "sed-eval")
    assert (done.code, done.err.count("\n")) == (0, 1) and "2 rows" in done.err
    assert target.read_text() == "a.wav\t0\t1.5\tcar horn\nb.wav\t1\t2\tdog\n"
    assert call("convert", table, target, "--to", "sed-eval", "--quiet").err == ""
    done = call("convert", table, strict, "--to", "sed-eval", "--strict")
    assert done.code == 2 and "2 rows" in done.err and not strict.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            "o.xyz",
            "o --to zip",
            "o.jams",
            "o --to eaf",
            "o --to parkett",
            "o --to long --from rtm",
            "o --to x",
        ),
        *(
            "o --to long --from wide",
            "o --to audacity",
            "- --to score-dir",
            "o/ --to parquet",
            "missing/o.tsv",
        ),
        *("missing/o --to maestro", "in.tsv"),
    ],
)
def test_targets_that_cannot_be_are_refused(arguments, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call("convert", "in.tsv", *arguments.split())
    assert (done.code, done.out) == (2, "")
    assert [path.name for path in tmp_path.iterdir()] == ["in.tsv"]
    assert table.read_text() == TABLE


def test_a_folder_with_something_in_it_is_left_alone(table, tmp_path):
    made, given = tmp_path / "made", ("convert", table, tmp_path / "made", "--to", "maestro", "-q")
    assert call(*given).code == 0
    (made / "a.txt").write_text("old")
    assert call(*given).code == 2 and (made / "a.txt").read_text() == "old"
    assert call(*given, "--force").code == 0
    assert {path.name for path in made.iterdir()} == {"a.txt", "b.txt"}
    assert (made / "a.txt").read_text() == "0\t1.5\tcar horn\t0.25\n"
    (made / "thesis.doc").write_text("dear")
    assert call(*given, "--force").code == 2 and (made / "thesis.doc").read_text() == "dear"


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


def test_standard_streams_are_a_pipe():
    """Bytes go through as they are, whatever the form."""
    data = TABLE.encode()
    for form, begin in (("parquet", b"PAR1"), ("long", TABLE.encode())):
        done = CliRunner().invoke(group, ["convert", "-", "-", "--to", form], input=data)
        data = done.stdout_bytes
        assert done.exit_code == 0 and data.startswith(begin)
    assert (data.decode(), done.stderr) == (TABLE, "")


def test_the_library_converts_what_it_evaluates(table, tmp_path):
    done = sedeval_soft.convert(table, tmp_path / "o.rttm")
    assert len(done.losses) == 1 and "'car horn'" in done.losses[0]
    assert (done.form, done.rows, done.files, done.classes, done.apart) == ("rttm", 2, 2, 2, False)
    data = {"onset": [0.0], "offset": [1.0], "event_label": ["a"]}
    assert sedeval_soft.convert(data, tmp_path / "o.csv").losses == ()
    assert (tmp_path / "o.csv").read_text() == "onset,offset,event_label\n0,1,a\n"
    limits = sedeval_soft.Limits(classes=1)
    table.write_text(TABLE.replace("b.wav", "a.flac"))
    for function, error in (
        (
            lambda: sedeval_soft.convert(tmp_path / "o.rttm", tmp_path / "x", to="jsonl", limits=limits),
            InputError,
        ),
        (lambda: sedeval_soft.convert(data, "-", to="long"), SettingsError),
        (
            lambda: sedeval_soft.convert(table, tmp_path / "x", to="maestro"),
            InputError,
        ),  # two recordings, one name
    ):
        with pytest.raises(error):
            function()
    assert not (tmp_path / "x").exists()
