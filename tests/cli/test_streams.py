"""Streams that are closed, full or unread; signals and full disks; outputs that are inputs; progress.

A file is the old one or the new one, never half of one.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
from called import REFERENCE, SAMPLES, SYSTEM, call
from launched import program, unmeasured

from sedeval_soft.cli import output as module
from sedeval_soft.cli.output import progress

F1 = "segment.soft.f1.micro"
OLD = "as it was\n"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SAMPLES.parent), "R": REFERENCE, "S": SYSTEM}


def shell(command, cwd, started=None):
    """Run `soft-sed-eval` with a shell's redirections; $E is the program, $R and $S the samples."""
    how = {
        "capture_output": True,
        "text": True,
        "env": {**ENVIRONMENT, "E": shlex.join(started or program())},
    }
    return subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=cwd, check=False, **how)


@pytest.mark.parametrize("what", ["$R $S", "$R $S -o /dev/stdout", "--help"])
@pytest.mark.parametrize(("place", "words"), [(">&-", "Bad file"), (">/dev/full", "No space")])
def test_standard_output_that_cannot_be_written_is_one_message(what, place, words, tmp_path):
    done = shell(f"$E {what} {place}", tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith(f"soft-sed-eval: standard output: cannot be written: {words}")


def test_what_packages_warn_of_is_not_printed(tmp_path):
    """Matches of sed_eval are found by its own code, which imports pkg_resources."""
    rows = "filename\tonset\toffset\tevent_label\na\t0\t1\tcar\na\t0.1\t1\tcar\n"
    (tmp_path / "t.tsv").write_text(rows + "a\t0.15\t1.1\tcar\n")
    asked = "t.tsv t.tsv --set compat=sed_eval --score event.hard.f1.micro --only event.hard"
    done = shell(f"$E {asked}", tmp_path, [sys.executable, "-m", "sedeval_soft"])
    assert (done.returncode, done.stdout) == (0, "1.0\n")
    assert "pkg_resources" not in done.stderr and "import" not in done.stderr


def test_closed_streams_that_are_not_needed_do_not_matter(tmp_path):
    done = shell(f"$E $R $S --score {F1} -o out.txt <&- >&- 2>&-", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "out.txt").read_text().startswith("0.9")


def test_standard_output_that_is_closed_is_never_an_input(tmp_path):
    # A large input is mapped: its descriptor would take the place of the closed standard output.
    text = "onset\toffset\tevent_label\n" + "".join(f"{i}\t{i + 1}\tcar\n" for i in range(100_000))
    (tmp_path / "t.tsv").write_text(text)
    done = shell("$E t.tsv t.tsv --score segment.hard.f1.micro -o /dev/stdout >&-", tmp_path)
    assert len(text) > 1 << 20
    assert (done.returncode, (tmp_path / "t.tsv").read_text() == text) == (2, True)


@pytest.mark.parametrize("place", ["2>&-", "2>/dev/full"])
def test_exit_codes_do_not_need_standard_error(place, tmp_path):
    for what, code in (("$R no.tsv", 2), ("$R", 2), (f"$R $S --require '{F1}>=1'", 1)):
        assert shell(f"$E {what} {place} >/dev/null", tmp_path).returncode == code


def test_closed_standard_input_is_refused(tmp_path):
    done, said = shell("$E - $S <&-", tmp_path), "-: standard input is closed; expected a table there"
    assert (done.returncode, done.stderr) == (2, f"soft-sed-eval: {said}\n")


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_paths_that_are_not_utf_8_are_escaped(form, tmp_path):
    folder = tmp_path / os.fsdecode(b"\xfe")
    folder.mkdir()
    for path in (tmp_path / os.fsdecode(b"\xff.tsv"), folder / os.fsdecode(b"\xfd.tsv")):
        path.write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    for name, shown in ((r"$'\xff.tsv'", r"\udcff.tsv"), (r"$'\xfe'", r"\udcfe")):
        done = shell(f"$E {name} {name} --format {form}", tmp_path)
        assert done.returncode == 0 and shown in done.stdout
        # A form without room for the signature leaves it to standard error.
        assert re.fullmatch(r"signature: .*\n" if form == "csv" else "", done.stderr)


@pytest.mark.parametrize(
    "arguments",
    ["ref.tsv $S -o ref.tsv", "$R ref.tsv -o ./link.tsv", "$R $S --durations ref.tsv -o hard.tsv",
     ". $S -o ref.tsv", "$R - -o ref.tsv < ref.tsv"],
)  # fmt: skip
def test_an_input_is_never_the_output(arguments, tmp_path):
    (tmp_path / "ref.tsv").write_text(OLD)
    (tmp_path / "link.tsv").symlink_to(tmp_path / "ref.tsv")
    (tmp_path / "hard.tsv").hardlink_to(tmp_path / "ref.tsv")
    done = shell(f"$E {arguments}", tmp_path)
    assert (done.returncode, done.stdout, (tmp_path / "ref.tsv").read_text()) == (2, "", OLD)
    assert re.search(r"-o \S+: this is the .*; expected another file", done.stderr)


# Signals, full disks, and readers who leave.

SLOWLY = """
import os, sys, time
from sedeval_soft.cli import main

def sync(descriptor):
    # The file lies half on the disk, and somebody grows impatient.
    print("writing", file=sys.stderr, flush=True)
    for _ in range(600):
        # Python looks for signals between steps: one that comes just before a long one waits for its end.
        time.sleep(0.1)

os.fsync = sync
main()
"""


def signalled(numbers, *options):
    """Return the exit code, the output and the message of a program that gets signals while it writes."""
    command, pipe = [sys.executable, "-c", SLOWLY, REFERENCE, SYSTEM, *options], subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, env=ENVIRONMENT)
    assert process.stderr and process.stderr.readline() == b"writing\n"
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
    out, error = process.communicate(timeout=30)
    return process.returncode, out, error.decode()


@pytest.mark.parametrize(
    ("number", "code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
@pytest.mark.parametrize("option", ["-o", "--save-tally"])
def test_a_signal_leaves_the_old_output_and_nothing_else(number, code, said, option, tmp_path):
    target = tmp_path / "out"
    target.write_text(OLD)
    assert signalled([number], option, str(target)) == (code, b"", f"soft-sed-eval: {said}\n")
    assert (target.read_text(), [*tmp_path.iterdir()]) == (OLD, [target])


def test_a_second_signal_does_not_break_into_the_clearing_up(tmp_path):
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGTERM) * 5
    assert signalled(numbers, "-o", str(tmp_path / "out"))[0] in {130, 143}
    assert list(tmp_path.iterdir()) == []


LIMITED = """
import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
from sedeval_soft.cli import main; main()
"""


@pytest.mark.parametrize("options", ["-o scores.json", f"--score {F1} --save-tally a.tally"])
def test_a_full_disk_leaves_the_old_output_and_nothing_else(options, tmp_path):
    *options, name = options.split()
    (tmp_path / name).write_text(OLD)
    env = {**unmeasured(), "PYTHONPATH": str(SAMPLES.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", LIMITED, REFERENCE, SYSTEM, *options, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=tmp_path)
    assert done.returncode == 2 and f"{name}: cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert ((tmp_path / name).read_text(), [*tmp_path.iterdir()]) == (OLD, [tmp_path / name])


BIG = "$E many.tsv many.tsv --only segment.hard --format json"
"""Scores of many classes do not fit into a pipe."""


@pytest.mark.parametrize(
    "command",
    [
        *(f"{what} | {reader} > /dev/null" for reader in ("head -1", "true")
          for what in (BIG, "$E tune $R $S", "$E explain", "$E --help")),
        f"{{ read -r line < pipe; }} & {BIG} -o pipe",
        f"exec 7> >(true); sleep 0.2; {BIG} -o /dev/fd/7",
    ],
)  # fmt: skip
def test_a_reader_who_leaves_is_not_told(command, tmp_path):
    # The reader has gone, or nearly, when the results come.
    os.mkfifo(tmp_path / "pipe")
    rows = "".join(f"{i}\t{i + 1}\tclass {i:04d}\n" for i in range(2000))
    (tmp_path / "many.tsv").write_text(f"onset\toffset\tevent_label\n{rows}")
    done = shell(command, tmp_path, [sys.executable, "-m", "sedeval_soft"])
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_killed_process_left_is_no_table(tmp_path):
    for name in ("a.tsv", ".soft-sed-eval-1-00ff.part", ".soft-sed-eval-1-00ff.tsv"):
        (tmp_path / name).write_text("half of someth" if name[0] == "." else "0\t1\tcar\n")
    assert call(tmp_path, tmp_path, "--score", "segment.hard.f1.micro").out == "1.0\n"


# Progress: in front of somebody, after a while, and gone at the end.


class Terminal(io.StringIO):
    def isatty(self):
        return True


def sit(monkeypatch, patience):
    """Put somebody in front of standard error, and return the text that they see."""
    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setattr(module, "_PATIENCE", patience)
    return seen


def test_progress_is_shown_and_taken_back(monkeypatch):
    terminal = sit(monkeypatch, 0.0)
    with pytest.raises(KeyError), progress(quiet=False, label="counting files") as told:  # noqa: PT012
        for done, of, share in ((10, 40, 25), (30, 40, 75), (1, 4, 25)):
            told(done, of)
            assert terminal.getvalue().endswith(f"counting files   {share}%")
        raise KeyError
    assert terminal.getvalue().endswith("\r\033[K")


def test_nobody_is_shown_what_takes_no_time_or_would_not_be_seen(monkeypatch):
    terminal = sit(monkeypatch, 60.0)
    with progress(quiet=False) as told, progress(quiet=True) as untold:
        told(1, 2)
    assert untold is None and terminal.getvalue() == ""


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
