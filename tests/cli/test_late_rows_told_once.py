"""Rows after the end of their recording are told in one line, and those that hardly are, not as a doubt."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import call

SAMPLES = Path(__file__).parents[2] / "sample_data"
REF, SYS, DURATIONS = (SAMPLES / name for name in ("ref.tsv", "sys.tsv", "durations.tsv"))
SCORE = ("--score", "segment.soft.f1.micro")


def scaled_by_thousand(text: str) -> str:
    header, *lines = text.splitlines()
    fields = [line.split("\t") for line in lines]
    for each in fields:
        each[1:3] = [str(float(time) * 1000) if time else "" for time in each[1:3]]
    return "\n".join([header, *("\t".join(each) for each in fields)]) + "\n"


def with_row(text: str) -> str:
    return f"{text}park.wav\t44\t4500\tcar\t0.9\n"


@pytest.mark.parametrize("given", [(), ("--durations", DURATIONS)], ids=["plain", "durations"])
@pytest.mark.parametrize(("change", "code"), [(with_row, "after-end"), (scaled_by_thousand, "time-unit")])
def test_one_fact_is_one_line(tmp_path, change, code, given):
    system = tmp_path / "sys.tsv"
    system.write_text(change(SYS.read_text()))
    done = call(REF, system, *given, *SCORE)
    assert done.code == 0
    (line,) = done.err.splitlines()
    assert line.startswith(f"warning: {system}: ")
    assert line.endswith(f"({code})")


def test_rows_elsewhere_are_told_beside_the_one_in_doubt(tmp_path):
    system = tmp_path / "sys.tsv"
    system.write_text(with_row(SYS.read_text()) + "cafe.wav\t60\t61\tcar\t0.9\n")
    late, others = call(REF, system, *SCORE).err.splitlines()
    assert "from 44 to 4500 s" in late
    assert "2 system rows of 2 files ('cafe.wav', 'park.wav') end up to 4455 s after" in others


def test_events_that_end_a_frame_late_are_no_doubt(tmp_path):
    """As in DCASE's reference of 2019 and the baseline's output: clips of 10 s, rows up to 10.0114 s."""
    table = tmp_path / "events.tsv"
    table.write_text(
        "filename\tonset\toffset\tevent_label\na.wav\t2.4\t10.0114\tDog\nb.wav\t1\t10.115\tDog\n"
    )
    durations = tmp_path / "durations.tsv"
    durations.write_text("filename\tduration\na.wav\t10\nb.wav\t10\n")
    done = call(table, table, "--durations", durations, "--strict", *SCORE)
    assert done.code == 0
    assert "2 system rows end after their file's duration, by 0.115 s at the most" in done.err
    for late in ("9\t12", "10.2\t10.3"):
        system = tmp_path / "late.tsv"
        system.write_text(f"{table.read_text()}a.wav\t{late}\tDog\n")
        refused = call(table, system, "--durations", durations, "--strict", *SCORE)
        assert (refused.code, "(after-end)" in refused.err) == (2, True)


def test_of_several_systems_each_line_names_its_own_once(tmp_path):
    system = tmp_path / "late.tsv"
    system.write_text(with_row(SYS.read_text()))
    told = call(REF, SYS, system, *SCORE)
    assert f"warning: {system}: the row of 'car' from 44 to 4500 s" in told.err
    assert f"{system}: {system}" not in told.err
    system.write_text(SYS.read_text() + "cafe.wav\t59\t70\tcar\t0.9\n")
    refused = call(REF, SYS, system, "--strict", *SCORE)
    assert refused.code == 2
    assert f"{system}: 1 system row of 1 file ('cafe.wav') ends up to 10 s" in refused.err


def test_false_alarms_in_a_recording_that_is_declared_silent_are_no_doubt():
    """night.wav has no events: the reference knows no end of it."""
    done = call(REF, SAMPLES / "sys_b.tsv", "--strict", *SCORE)
    assert (done.code, done.err) == (0, "")


def test_a_board_names_a_submission_once(tmp_path):
    inside = tmp_path / "submissions"
    inside.mkdir()
    (inside / "late.tsv").write_text(with_row(SYS.read_text()))
    (inside / "good.tsv").write_text(SYS.read_text())
    done = call("board", inside, "--reference", REF, "-o", tmp_path / "site", "--strict")
    assert "invalid: late: 1 problem: late.tsv: the row of 'car' from 44 to 4500 s" in done.err + done.out
