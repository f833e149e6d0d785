"""A result, or a folder of results, is written as a whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sedeval_soft.errors import EvaluationError
from sedeval_soft.report.write import OutputError, write_atomic, write_folder


def test_writes_and_replaces_and_keeps_modes_and_links(tmp_path):
    (tmp_path / "folder").mkdir()
    link, target, usual = tmp_path / "link", tmp_path / "folder" / "target", tmp_path / "usual"
    link.symlink_to("folder/target")
    usual.touch()
    write_atomic(link, "first é\n")
    assert target.stat().st_mode == usual.stat().st_mode
    target.chmod(0o640)
    write_atomic(str(link), b"second\n")
    assert target.read_bytes() == b"second\n"
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing/scores.txt", "no folder .*missing"),
        ("folder", "is a folder"),
        ("file/scores.txt", "[Nn]ot a directory|no folder"),
        ("loop", "[Tt]oo many levels"),
        ("n" * 300, "too long"),
        ("a\0b", "null"),
        ("", "empty"),
    ],
)
def test_says_why_it_cannot(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("as it was")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(EvaluationError, match=reason) as caught:
        write_atomic(name and tmp_path / name, "x")
    assert str(caught.value).startswith(str(tmp_path / name) if name else ":")
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "as it was"


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


def test_standard_output_that_is_a_file_keeps_what_it_has(tmp_path):
    code = (
        "from sedeval_soft.report.write import write_atomic; print('before', flush=True);"
        "write_atomic('/dev/stdout', 'after')"
    )
    path = tmp_path / "out"
    with path.open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert path.read_text() == "before\nafter"


def test_a_reader_who_left_is_no_error_of_ours():
    read, write = os.pipe()
    os.close(read)
    with pytest.raises(BrokenPipeError):
        write_atomic(f"/dev/fd/{write}", "x")
    os.close(write)


def broken():
    """Yield a file, and fail."""
    yield "a.txt", b"new"
    raise KeyboardInterrupt


@pytest.mark.parametrize("existing", [None, {}, {"a.txt": b"old", "b.txt": b"old"}])
def test_a_folder_is_replaced_as_a_whole_or_stays_as_it_was(existing, tmp_path):
    target = tmp_path / "made"
    if existing is not None:
        target.mkdir()
        for name, data in existing.items():
            (target / name).write_bytes(data)
    with pytest.raises(KeyboardInterrupt):
        write_folder(target, broken(), replaceable=[".txt"], force=True)
    assert [path.name for path in tmp_path.iterdir()] == ([] if existing is None else ["made"])
    assert {path.name: path.read_bytes() for path in target.glob("*")} == (existing or {})
    write_folder(target, [("c.txt", b"3")], replaceable=[".txt"], force=True)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == {"c.txt": b"3"}
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_the_former_folder_stays_where_the_new_one_cannot_have_its_name(tmp_path, monkeypatch):
    target, rename = tmp_path / "made", Path.replace
    write_folder(target, [("a.txt", b"old")])

    def fail(path, to):
        return rename(path, to) if ".old" in f"{path}{to}" else path.joinpath("gone").unlink()

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OutputError):
        write_folder(target, [("a.txt", b"new")], replaceable=[".txt"], force=True)
    assert [(path.name, path.read_bytes()) for path in target.iterdir()] == [("a.txt", b"old")]
    assert [*tmp_path.iterdir()] == [target]


@pytest.mark.parametrize("name", ["", "..", "../a", "/a", "twice"])
def test_names_of_files_are_no_paths_and_differ(name, tmp_path):
    with pytest.raises(OutputError):
        write_folder(tmp_path / "made", [(name, b""), (name, b"")])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("inside", ["folder", "link.txt", None])
def test_a_folder_with_others_in_it_and_a_file_are_not_replaced(inside, tmp_path):
    target = tmp_path / "made"
    if inside is None:
        target.write_text("x")
    elif inside == "folder":
        (target / inside).mkdir(parents=True)
    else:
        target.mkdir()
        (target / inside).symlink_to(tmp_path)
    for force in (False, True):
        with pytest.raises(OutputError):
            write_folder(target, [("a.txt", b"")], replaceable=[".txt"], force=force)
    assert inside is None or [path.name for path in target.iterdir()] == [inside]
