"""Streams that are closed, full or unread; signals and full disks; outputs that are inputs; progress.

After any of these a file is complete: the old one or the new one.
"""

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
from called import PROGRAM, REFERENCE, SAMPLES, SYSTEM, call

from sedeval_soft.cli import output

F1 = "segment.soft.f1.micro"
OLD = "as it was\n"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SAMPLES.parent), "R": REFERENCE, "S": SYSTEM,
               "E": shlex.join(PROGRAM)}  # fmt: skip


def shell(command, cwd):
    """Run `soft-sed-eval` with a shell's redirections; $E is the program, $R and $S the samples."""
    how = {"capture_output": True, "text": True, "env": ENVIRONMENT}
    return subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=cwd, check=False, **how)


PLACES = {
    # One message if standard output cannot be written.
    **{
        f"$E {what} {place}": (2, rf"soft-sed-eval: standard output: .*: {words}.*\n")
        for what in ("$R $S", "$R $S -o /dev/stdout", "--help")
        for place, words in ((">&-", "Bad file"), (">/dev/full", "No space"))
    },
    # Streams that the command does not need.
    f"$E $R $S --score {F1} -o out.txt <&- >&- 2>&-": (0, ""),
    # The exit code is right without standard error.
    "$E $R no.tsv 2>&- >/dev/null": (2, ""),
    "$E $R 2>/dev/full >/dev/null": (2, ""),
    f"$E $R $S --require '{F1}>=1' 2>/dev/full >/dev/null": (1, ""),
    # Warnings of other packages are not printed: with ties, the code of sed_eval itself finds the matches.
    "$E t.tsv t.tsv --set compat=sed_eval --only event.hard -q -o /dev/null": (0, ""),
    "$E - $S <&-": (2, r"soft-sed-eval: -: .*standard input.*\n"),
}


@pytest.mark.parametrize("command", PLACES)
def test_streams_may_be_closed_or_full(command, tmp_path):
    (tmp_path / "t.tsv").write_text("a\t0\t1\tcar\na\t0.1\t1\tcar\na\t0.15\t1.1\tcar\n")
    done, (code, said) = shell(command, tmp_path), PLACES[command]
    assert (done.returncode, done.stdout) == (code, "") and re.fullmatch(said, done.stderr)
    assert "out.txt" not in command or (tmp_path / "out.txt").read_text().startswith("0.9")


@pytest.mark.parametrize(
    "arguments",
    ["ref.tsv $S -o ref.tsv", "$R ref.tsv -o ./link.tsv", "$R $S --durations ref.tsv -o hard.tsv",
     ". $S -o ref.tsv"],
)  # fmt: skip
def test_an_input_is_never_the_output(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.tsv").write_text(OLD)
    (tmp_path / "link.tsv").symlink_to(tmp_path / "ref.tsv")
    (tmp_path / "hard.tsv").hardlink_to(tmp_path / "ref.tsv")
    done = call(*(ENVIRONMENT.get(word[1:], word) for word in arguments.split()))
    assert (done.code, done.out, (tmp_path / "ref.tsv").read_text()) == (2, "", OLD) and "-o " in done.err


def test_standard_input_is_never_the_output(tmp_path):
    table = tmp_path / "ref.tsv"
    table.write_text(OLD)
    assert (shell("$E $R - -o ref.tsv < ref.tsv", tmp_path).returncode, table.read_text()) == (2, OLD)


# Signals, full disks, and readers who stop reading.

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


@pytest.mark.parametrize(
    ("numbers", "codes", "option"),
    [
        ([signal.SIGINT], {130}, "-o"),
        ([signal.SIGTERM], {143}, "--save-tally"),
        # A second signal does not interrupt the cleanup.
        ([signal.SIGTERM, signal.SIGINT, signal.SIGTERM] * 5, {130, 143}, "-o"),
    ],
)
def test_a_signal_leaves_the_old_output_and_nothing_else(numbers, codes, option, tmp_path):
    target = tmp_path / "out"
    target.write_text(OLD)
    command, pipe = [sys.executable, "-c", SLOWLY, REFERENCE, SYSTEM, option, target], subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, env=ENVIRONMENT)
    assert process.stderr.readline() == b"writing\n"
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
    out, error = process.communicate(timeout=30)
    # Python prints a remark about a signal that it ignores if two arrive at once.
    assert process.returncode in codes and out == b"" and (error.count(b"\n") == 1 or len(numbers) > 1)
    assert error.splitlines()[-1].startswith(b"soft-sed-eval: ")
    assert (target.read_text(), [*tmp_path.iterdir()]) == (OLD, [target])


BIG = "$E many.tsv many.tsv --only segment.hard --format json"
"""Scores of many classes do not fit into a pipe."""


@pytest.mark.parametrize(
    "command",
    [
        f"{BIG} | head -1 > /dev/null",
        "$E explain | true > /dev/null",
        "$E --help | true > /dev/null",
        f"{{ read -r line < pipe; }} & {BIG} -o pipe",
        f"exec 7> >(true); sleep 0.2; {BIG} -o /dev/fd/7",
    ],
)
def test_a_reader_who_leaves_is_not_told(command, tmp_path):
    # The reader has ended, or soon will, before the results are written.
    os.mkfifo(tmp_path / "pipe")
    rows = "".join(f"{i}\t{i + 1}\tclass {i:04d}\n" for i in range(600))
    (tmp_path / "many.tsv").write_text(f"onset\toffset\tevent_label\n{rows}")
    done = shell(command, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_killed_process_left_is_no_table(tmp_path):
    for name in ("a.tsv", ".soft-sed-eval-1-00ff.part", ".soft-sed-eval-1-00ff.tsv"):
        (tmp_path / name).write_text("half of someth" if name[0] == "." else "0\t1\tcar\n")
    assert call(tmp_path, tmp_path, "--score", "segment.hard.f1.micro").out == "1.0\n"


# Progress is shown on a terminal only, after a while, and is removed at the end.


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_progress_is_shown_after_a_while_and_taken_back(patience, monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output, "_PATIENCE", patience)
    with pytest.raises(KeyError), output.progress(quiet=False, label="counting files") as told:  # noqa: PT012
        for done, of, share in ((10, 40, 25), (30, 40, 75), (1, 4, 25)):
            told(done, of)
            assert terminal.getvalue().endswith(f"counting files   {share}%" if patience == 0 else "")
        raise KeyError
    assert terminal.getvalue().endswith("\r\033[K") == (patience == 0) == bool(terminal.getvalue())
    with output.progress(quiet=True) as untold:
        assert untold is None


@pytest.mark.parametrize("terminal", [False, True])
def test_warnings_are_broken_between_words_on_a_terminal_and_nowhere_else(terminal, monkeypatch, capsys):
    text = "a file of the reference is not in the output, " * 4
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(output.sys.stderr, "isatty", lambda: terminal, raising=False)
    output.warn([text, text], quiet=False)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == (4 if terminal else 1) and (not terminal or max(map(len, lines)) <= 60)
    assert " ".join(" ".join(lines).split()) == f"warning: {text}".strip()


def test_warnings_follow_the_results(tmp_path):
    printed = shell("$E $R $S --ci --replicates 50 2>&1", tmp_path).stdout
    assert 0 < printed.index("soft-sed-eval 0") < printed.index("warning: ")
