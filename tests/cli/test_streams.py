"""Standard streams that are closed or full, and outputs that are inputs."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from called import REFERENCE, SAMPLES, SYSTEM
from launched import program

from sedeval_soft.cli import output as module
from sedeval_soft.cli.output import progress

F1 = "segment.soft.f1.micro"


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `soft-sed-eval` with a shell's redirections; $E is the program, $R and $S the samples."""
    given = {"E": shlex.join(program()), "R": REFERENCE, "S": SYSTEM, "PYTHONPATH": str(SAMPLES.parent)}
    how = {"capture_output": True, "text": True, "env": {**os.environ, **given}}
    return subprocess.run(["bash", "-c", command], cwd=cwd, check=False, **how)


@pytest.mark.parametrize("what", ["$R $S", "$R $S -o /dev/stdout", "--help"])
@pytest.mark.parametrize(("place", "words"), [(">&-", "Bad file"), (">/dev/full", "No space")])
def test_standard_output_that_cannot_be_written_is_one_message(what, place, words, tmp_path):
    done = shell(f"$E {what} {place}", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"soft-sed-eval: standard output: cannot be written: {words}")
    assert len(done.stderr.splitlines()) == 1


def test_what_packages_warn_of_is_not_printed(tmp_path):
    """Matches of sed_eval are found by its own code, which imports pkg_resources."""
    rows = "filename\tonset\toffset\tevent_label\na\t0\t1\tcar\na\t0.1\t1\tcar\n"
    (tmp_path / "t.tsv").write_text(rows + "a\t0.15\t1.1\tcar\n")
    score = ("--set", "compat=sed_eval", "--score", "event.hard.f1.micro", "--only", "event.hard")
    command = [sys.executable, "-m", "sedeval_soft", "t.tsv", "t.tsv", *score]
    given = {**os.environ, "PYTHONPATH": str(SAMPLES.parent)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=given)
    assert (done.returncode, done.stdout) == (0, "1.0\n")
    assert "pkg_resources" not in done.stderr and "import" not in done.stderr


def test_closed_streams_that_are_not_needed_do_not_matter(tmp_path):
    done = shell(f"$E $R $S --score {F1} -o out.txt <&- >&- 2>&-", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "out.txt").read_text().startswith("0.9")


def test_standard_output_that_is_closed_is_never_an_input(tmp_path):
    # A large input is mapped: its descriptor would take the place of the closed standard output.
    table = tmp_path / "t.tsv"
    table.write_text("onset\toffset\tevent_label\n" + "".join(f"{i}\t{i + 1}\tcar\n" for i in range(100_000)))
    before = table.read_bytes()
    assert len(before) > 1 << 20
    done = shell("$E t.tsv t.tsv --score segment.hard.f1.micro -o /dev/stdout >&-", tmp_path)
    assert done.returncode == 2
    assert table.read_bytes() == before


@pytest.mark.parametrize("place", ["2>&-", "2>/dev/full"])
def test_exit_codes_do_not_need_standard_error(place, tmp_path):
    for what, code in (("$R no.tsv", 2), ("$R", 2), (f"$R $S --require '{F1}>=1'", 1)):
        assert shell(f"$E {what} {place} >/dev/null", tmp_path).returncode == code


def test_closed_standard_input_is_refused(tmp_path):
    done = shell("$E - $S <&-", tmp_path)
    assert done.returncode == 2
    assert done.stderr == "soft-sed-eval: -: standard input is closed; expected a table there\n"


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_paths_that_are_not_utf_8_are_escaped(form, tmp_path):
    folder = Path(os.fsdecode(b"\xfe"))
    (tmp_path / folder).mkdir()
    for path in (Path(os.fsdecode(b"\xff.tsv")), folder / os.fsdecode(b"\xfd.tsv")):
        (tmp_path / path).write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    for name, shown in ((r"$'\xff.tsv'", r"\udcff.tsv"), (r"$'\xfe'", r"\udcfe")):
        done = shell(f"$E {name} {name} --format {form}", tmp_path)
        assert done.returncode == 0 and shown in done.stdout
        # What has no room for the signature leaves it to standard error.
        said = r"signature: .*\n" if form == "csv" else ""
        assert re.fullmatch(said, done.stderr)


@pytest.mark.parametrize(
    "arguments",
    ["ref.tsv $S -o ref.tsv", "$R ref.tsv -o ./link.tsv", "$R $S --durations ref.tsv -o hard.tsv",
     ". $S -o ref.tsv", "$R - -o ref.tsv < ref.tsv"],
)  # fmt: skip
def test_an_input_is_never_the_output(arguments, tmp_path):
    (tmp_path / "ref.tsv").write_text("this is not read")
    (tmp_path / "link.tsv").symlink_to(tmp_path / "ref.tsv")
    (tmp_path / "hard.tsv").hardlink_to(tmp_path / "ref.tsv")
    done = shell(f"$E {arguments}", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(r"-o \S+: this is the .*; expected another file", done.stderr)
    assert (tmp_path / "ref.tsv").read_text() == "this is not read"


# What is shown while work is done: in front of somebody, after a while, and gone at the end.

TAKEN_BACK = "\r\033[K"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def sit(monkeypatch, patience=0.0):
    """Sit somebody in front of standard error, and return what they see."""
    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setattr(module, "_PATIENCE", patience)
    return seen


def test_progress_is_shown_and_taken_back(monkeypatch):
    terminal = sit(monkeypatch)
    with progress(quiet=False, label="counting files") as told:
        told(10, 40)
        told(30, 40)
        assert terminal.getvalue().endswith("counting files   75%")
        told(1, 4)
        assert terminal.getvalue().endswith("counting files   25%")
    assert terminal.getvalue().endswith(TAKEN_BACK)
    with pytest.raises(KeyError), progress(quiet=False) as told:  # noqa: PT012 - both belong to it
        told(1, 2)
        raise KeyError
    assert terminal.getvalue().endswith(TAKEN_BACK)


def test_nobody_is_shown_what_takes_no_time_or_would_not_be_seen(monkeypatch):
    terminal = sit(monkeypatch, patience=60.0)
    with progress(quiet=False) as told:
        told(1, 2)
    with progress(quiet=True) as told:
        assert told is None
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("terminal", [False, True])
def test_warnings_are_broken_between_words_on_a_terminal_and_nowhere_else(terminal, monkeypatch, capsys):
    text = "a file of the reference is not in the output, " * 4
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(module.sys.stderr, "isatty", lambda: terminal, raising=False)
    module.warn([text, text], quiet=False)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == (4 if terminal else 1) and (not terminal or max(map(len, lines)) <= 60)
    assert " ".join(" ".join(lines).split()) == f"warning: {text}".strip()


def test_warnings_follow_the_results(tmp_path):
    done = shell("$E $R $S --ci --replicates 50 2>&1", tmp_path)
    assert 0 < done.stdout.index("soft-sed-eval 0") < done.stdout.index("warning: intervals are rough")
