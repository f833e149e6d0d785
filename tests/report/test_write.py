"""A result is written as a whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sedeval_soft.errors import EvaluationError
from sedeval_soft.report import write_atomic

SHM = Path("/dev/shm")  # noqa: S108 - a folder below /dev whose files are no devices


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "scores.txt"
    write_atomic(path, "first é\n")
    write_atomic(str(path), "second\n")
    assert path.read_bytes() == b"second\n"
    assert list(tmp_path.iterdir()) == [path]


def test_keeps_the_mode_of_a_file_and_gives_a_new_one_the_usual(tmp_path):
    path = tmp_path / "old"
    path.write_text("x")
    path.chmod(0o640)
    write_atomic(path, "y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    usual = tmp_path / "usual"
    usual.touch()
    write_atomic(tmp_path / "new", "y")
    assert (tmp_path / "new").stat().st_mode == usual.stat().st_mode


def test_follows_links_also_to_what_is_not_there(tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to("folder/target")
    for text in ("first", "second"):
        write_atomic(link, text)
        assert link.is_symlink()
        assert (tmp_path / "folder" / "target").read_text() == text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing/scores.txt", "no folder .*missing"),
        ("folder", "is a folder"),
        ("file/scores.txt", "[Nn]ot a directory|no folder"),
        ("loop", "[Tt]oo many levels"),
        ("n" * 300, "too long"),
        ("a\0b", "null"),
    ],
)
def test_says_why_it_cannot(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("as it was")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(EvaluationError, match=reason) as caught:
        write_atomic(tmp_path / name, "x")
    assert str(caught.value).startswith(str(tmp_path / name))
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "as it was"


def test_an_empty_name_is_refused():
    with pytest.raises(EvaluationError, match="empty"):
        write_atomic("", "x")


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_failure_leaves_the_file_as_it_was_and_nothing_else(tmp_path, monkeypatch, step):
    path = tmp_path / "scores.txt"
    path.write_text("as it was")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os if step == "fsync" else Path, step, fail)
    with pytest.raises(EvaluationError, match="No space left"):
        write_atomic(path, "new")
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_text_that_cannot_be_encoded_changes_nothing(tmp_path):
    path = tmp_path / "scores.txt"
    path.write_text("as it was")
    with pytest.raises(EvaluationError, match="cannot be written"):
        write_atomic(path, "\udcff")
    assert path.read_text() == "as it was"


def test_writes_into_a_pipe_and_keeps_it(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_atomic(pipe, "through")
    reader.join(10)
    assert read == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_devices_stay_devices():
    write_atomic(os.devnull, "x")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


@pytest.mark.skipif(not os.access(SHM, os.W_OK), reason="no /dev/shm here")
def test_a_file_of_a_folder_below_dev_is_replaced():
    path = SHM / f"sedeval-soft-{os.getpid()}"
    try:
        write_atomic(path, "first")
        write_atomic(path, "second")
        assert path.read_text() == "second"
    finally:
        path.unlink()


def test_standard_output_that_is_a_file_keeps_what_it_has(tmp_path):
    code = (
        "from sedeval_soft.report import write_atomic; print('before', flush=True);"
        "write_atomic('/dev/stdout', 'after')"
    )
    path = tmp_path / "out"
    with path.open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert path.read_text() == "before\nafter"


def test_a_reader_who_left_is_no_error_of_ours():
    read, write = os.pipe()
    os.close(read)
    try:
        with pytest.raises(BrokenPipeError):
            write_atomic(f"/dev/fd/{write}", "x")
    except EvaluationError:
        pytest.fail("a broken pipe became a message")
    finally:
        os.close(write)
