"""Tables without the usual header and rows: lists of other tools, each as it is written there."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import call

FILES = Path(__file__).parent / "dialects"

LONG = "filename\tonset\toffset\tevent_label"


def table(path: Path, *lines: str) -> Path:
    """Write lines, whose fields stand between blanks here and tabs there."""
    path.write_text("".join("\t".join(line.split(" ")) + "\n" for line in lines))
    return path


def alike(first: Path, second: Path, *options: str) -> None:
    """Hold two tables to be the same: every score of each against the other is that of a perfect system."""
    for sides in ((first, second), (second, first)):
        for score in ("segment.soft.f1.micro", "event.soft.f1.micro"):
            done = call(*sides, *options, "--strict", "--score", score)
            assert (done.code, done.out) == (0, "1.0\n"), done


OURS = {
    "tut-2017.ann": [
        LONG,
        "a001\t1.589213\t2.38382\tcar",
        "a001\t3.1\t4.0\tchildren",
        "b093\t0\t2.25\tcar",
    ],
    "birdnet-audacity.txt": [
        f"{LONG}\tvalue",
        "birdnet-audacity\t0\t3\tTurdus merula, Common Blackbird\t0.8123",
        "birdnet-audacity\t3\t6\tParus major, Great Tit\t0.3301",
        "birdnet-audacity\t3\t6\tTurdus merula, Common Blackbird\t0.6125",
    ],
}
"""The same events in our own form."""


@pytest.mark.parametrize("name", OURS)
def test_tables_of_other_tools_are_read_as_they_are(name, tmp_path):
    ours = tmp_path / "ours.tsv"
    ours.write_text("\n".join(OURS[name]) + "\n")
    alike(FILES / name, ours)


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        ("x 1 2 3", "filename=1,onset=2,offset=3,event_label=4"),
        ("x 1 2 0.5", "event_label=1,onset=2,offset=3,value=4"),
        ("1 2 3 4", "onset=1,offset=2,event_label=3"),
        ("car 1 2", "onset=2,offset=3,event_label=1"),
        ("a.wav car 1 2", "filename=1,onset=3,offset=4,event_label=2"),
        ("7 1 2 car x y z", "onset=2,offset=3,event_label=4"),
    ],
)
def test_a_table_without_header_that_nobody_knows_is_read_by_the_numbers_of_its_columns(
    row, columns, tmp_path
):
    path = table(tmp_path / "a.txt", row)
    refused = call(path, path)
    assert (refused.code, refused.out) == (2, "")
    assert f"--columns {columns}" in refused.err
    fields, roles = row.split(" "), dict(pair.split("=") for pair in columns.split(","))
    values = [fields[int(at) - 1] for at in roles.values()]
    alike(path, table(tmp_path / "ours.tsv", " ".join(roles), " ".join(values)), "--columns", columns)


def test_numbers_of_columns_leave_no_time_out_and_tables_with_a_header_alone(tmp_path):
    path = table(tmp_path / "a.txt", "car 1 2 x y")
    refused = call(path, path, "--columns", "onset=2,event_label=1")
    assert "gives columns by number, but none as the offset; expected offset=NUMBER once" in refused.err
    twice = call(path, path, "--columns", "onset=2,offset=3,event_label=1,event_label=4")
    assert "but 2 as the event_label" in twice.err
    told = call(path, path, "--columns", "onset=2,offset=3,event_label=1")
    assert "event_label from column 1, onset from column 2, offset from column 3" in told.out
    alike(path, table(tmp_path / "b.txt", "event_label onset offset", "car 1 2"),
          "--columns", "onset=2,offset=3,event_label=1")  # fmt: skip
