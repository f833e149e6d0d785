"""What is at a path: nothing, where that cannot be looked at."""

from __future__ import annotations

import pytest
from called import call

LONG = "n" * 300


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
