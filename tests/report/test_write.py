"""A result, or a folder of results, is written as a whole or not at all."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from sedeval_soft.report.write import OutputError, write_atomic, write_folder


def inside(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_writes_and_replaces_and_keeps_modes_and_links(tmp_path):
    (tmp_path / "folder").mkdir()
    link, target, usual = tmp_path / "link", tmp_path / "folder" / "target", tmp_path / "usual"
    link.symlink_to("folder/target")
    usual.touch()
    write_atomic(link, "first é\n")
    assert target.stat().st_mode == usual.stat().st_mode
    target.chmod(0o640)
    write_atomic(str(link), b"second\n")
    assert inside(target.parent) == {"target": b"second\n"}
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["missing/scores", "folder", "file/scores", "loop", "n" * 300, "a\0b", ""])
def test_a_path_that_cannot_be_written_is_named(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("as it was")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError) as caught:
        write_atomic(name and tmp_path / name, "x")
    assert str(caught.value).startswith(str(tmp_path / name) if name else ":")
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "as it was"


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_failure_leaves_the_file_as_it_was_and_nothing_else(tmp_path, monkeypatch, step):
    def fail(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "scores.txt").write_text("as it was")
    monkeypatch.setattr(os if step == "fsync" else Path, step, fail)
    with pytest.raises(OutputError, match="No space left"):
        write_atomic(tmp_path / "scores.txt", "new")
    assert inside(tmp_path) == {"scores.txt": b"as it was"}


def test_pipes_and_open_files_are_written_and_stay_what_they_are(tmp_path):
    """A file that is open, as standard output may be, keeps its content; a reader who left is no error."""
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_atomic(pipe, "through")
    reader.join(10)
    assert read == ["through"] and stat.S_ISFIFO(pipe.stat().st_mode)
    with (tmp_path / "out").open("w") as out:
        print("before", file=out, flush=True)
        write_atomic(f"/dev/fd/{out.fileno()}", "after")
    assert (tmp_path / "out").read_text() == "before\nafter"
    closed, write = os.pipe()
    os.close(closed)
    with pytest.raises(BrokenPipeError):
        write_atomic(f"/dev/fd/{write}", "x")
    os.close(write)


FORCED = {"replaceable": [".txt"], "force": True}


def broken():
    """Yield a file, and fail."""
    yield "a.txt", b"new"
    raise KeyboardInterrupt


@pytest.mark.parametrize("existing", [None, {}, {"a.txt": b"old", "b.txt": b"old"}])
def test_a_folder_is_replaced_as_a_whole_or_stays_as_it_was(existing, tmp_path):
    target = tmp_path / "made"
    if existing is not None:
        write_folder(target, existing.items())
    with pytest.raises(KeyboardInterrupt):
        write_folder(target, broken(), **FORCED)
    assert [path.name for path in tmp_path.iterdir()] == ([] if existing is None else ["made"])
    assert existing is None or inside(target) == existing
    write_folder(target, [("c.txt", b"3")], **FORCED)
    assert inside(target) == {"c.txt": b"3"}
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_the_former_folder_stays_where_the_new_one_cannot_have_its_name(tmp_path, monkeypatch):
    target, rename = tmp_path / "made", Path.replace
    write_folder(target, [("a.txt", b"old")])

    def fail(path, to):
        return rename(path, to) if ".old" in f"{path}{to}" else path.joinpath("gone").unlink()

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OutputError):
        write_folder(target, [("a.txt", b"new")], **FORCED)
    assert inside(target) == {"a.txt": b"old"}
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


@pytest.mark.parametrize("name", ["", "..", "../a", "/a", "twice"])
def test_names_of_files_are_no_paths_and_differ(name, tmp_path):
    with pytest.raises(OutputError):
        write_folder(tmp_path / "made", [(name, b""), (name, b"")])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["file", "folder", "link.txt", "a.md", "full"])
def test_a_file_and_a_folder_with_others_in_it_are_not_replaced(kind, tmp_path):
    """`full` has files of a kind that is replaced, with `force`."""
    target, other = tmp_path / "made", tmp_path / "made" / kind
    target.mkdir()
    if kind == "file":
        target.rmdir()
        target.write_text("x")
    elif kind == "folder":
        other.mkdir()
    elif kind == "link.txt":
        other.symlink_to(tmp_path)
    else:
        (target / {"full": "a.txt"}.get(kind, kind)).touch()
    before = sorted(tmp_path.rglob("*"))
    for force in (False, True)[: 1 + (kind != "full")]:
        with pytest.raises(OutputError):
            write_folder(target, [("b.txt", b"")], **FORCED | {"force": force})
    assert sorted(tmp_path.rglob("*")) == before
