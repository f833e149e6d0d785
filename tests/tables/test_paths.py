"""What is at a path: nothing, where that cannot be looked at."""

from __future__ import annotations

import os

import pytest
from called import call

from sedeval_soft.tables.paths import is_file, is_folder, is_stream, is_there

LONG = "n" * 300


def test_what_there_is(tmp_path):
    file = tmp_path / "file"
    file.touch()
    kinds = {
        file: (True, True, False, False),
        tmp_path: (True, False, True, False),
        tmp_path / "none": (False, False, False, False),
        tmp_path / LONG: (False, False, False, False),
        "a\0b": (False, False, False, False),
        "": (False, False, False, False),
    }
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        kinds[tmp_path / "pipe"] = (True, False, False, True)
    for path, found in kinds.items():
        for name in (path, str(path)):
            assert (is_there(name), is_file(name), is_folder(name), is_stream(name)) == found


@pytest.mark.parametrize(
    "arguments",
    [
        ["ref.tsv", LONG],
        ["ref.tsv", f"{LONG}*"],
        [LONG],
        ["ref.tsv", "ref.tsv", "--config", LONG],
        ["ref.tsv", "ref.tsv", "--thresholds", LONG],
        ["validate", LONG],
        ["convert", LONG, "x.tsv"],
        ["convert", "ref.tsv", f"{LONG}.tsv"],
        ["plot", "pr", "ref.tsv", "ref.tsv", "-o", "x.png", "--style", LONG],
    ],
)
def test_a_name_that_is_too_long_is_refused_as_any_other(arguments, tmp_path, monkeypatch):
    """Anything but an error of the package is raised here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.tsv").write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    assert call(*arguments).code == 2
