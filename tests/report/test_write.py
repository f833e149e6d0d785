"""A file or a folder of results is written as a whole or not at all."""

import os
import stat
from pathlib import Path
from unittest.mock import Mock

import pytest

from sedeval_soft.report import OutputError, write_atomic, write_folder

FULL = Mock(side_effect=OSError(28, "No space left on device"))


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
    assert link.is_symlink() and stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["missing/scores", "folder", "file/scores", "loop", "n" * 300, "a\0b", ""])
def test_a_path_that_cannot_be_written_is_named(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("as it was")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputError) as caught:
        write_atomic(name and tmp_path / name, "x")
    assert str(caught.value).startswith(str(tmp_path / name) if name else ":")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder", "loop"]
    assert (tmp_path / "file").read_text() == "as it was"


@pytest.mark.parametrize(("of", "step"), [(os, "fsync"), (Path, "replace"), (Path, "chmod")])
def test_a_failure_leaves_the_file_as_it_was_and_nothing_else(tmp_path, monkeypatch, of, step):
    (tmp_path / "scores.txt").write_text("as it was")
    monkeypatch.setattr(of, step, FULL)
    with pytest.raises(OutputError, match="No space left"):
        write_atomic(tmp_path / "scores.txt", "new")
    assert inside(tmp_path) == {"scores.txt": b"as it was"}


def test_a_pipe_is_written_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        write_atomic(pipe, "through")
        assert reader.read() == b"through" and stat.S_ISFIFO(pipe.stat().st_mode)


def test_an_open_file_keeps_its_content(tmp_path):
    """Standard output may be an open file with content."""
    with (tmp_path / "out").open("w") as out:
        print("before", file=out, flush=True)
        write_atomic(f"/dev/fd/{out.fileno()}", "after")
    assert (tmp_path / "out").read_text() == "before\nafter"


FORCED = {"replaceable": [".txt"], "force": True}


def broken():
    """Yield a file, and then fail."""
    yield "a.txt", b"new"
    raise KeyboardInterrupt


@pytest.mark.parametrize("existing", [None, {}, {"a.txt": b"old", "b.txt": b"old"}])
def test_a_folder_is_replaced_as_a_whole_or_stays_as_it_was(existing, tmp_path):
    target = tmp_path / "made"
    if existing is not None:
        write_folder(target, existing.items())
    with pytest.raises(KeyboardInterrupt):
        write_folder(target, broken(), **FORCED)
    assert [inside(path) for path in tmp_path.iterdir()] == ([] if existing is None else [existing])
    write_folder(target, [("c.txt", b"3")], **FORCED)
    assert {path: inside(path) for path in tmp_path.iterdir()} == {target: {"c.txt": b"3"}}


def test_the_former_folder_stays_where_the_new_one_cannot_have_its_name(tmp_path, monkeypatch):
    target, rename = tmp_path / "made", Path.replace
    write_folder(target, [("a.txt", b"old")])

    def put_aside_or_back(path, to):
        return rename(path, to) if ".old" in f"{path}{to}" else FULL()

    monkeypatch.setattr(Path, "replace", put_aside_or_back)
    with pytest.raises(OutputError):
        write_folder(target, [("a.txt", b"new")], **FORCED)
    assert {path: inside(path) for path in tmp_path.iterdir()} == {target: {"a.txt": b"old"}}


@pytest.mark.parametrize("name", ["", "..", "../a", "/a", "twice"])
def test_names_of_files_are_no_paths_and_differ(name, tmp_path):
    with pytest.raises(OutputError):
        write_folder(tmp_path / "made", [(name, b""), (name, b"")])
    assert list(tmp_path.iterdir()) == []


OTHERS = {
    "file": lambda target: target.write_text("x"),
    "folder in it": lambda target: (target / "b").mkdir(parents=True),
    "link in it": lambda target: (target.mkdir(), (target / "link.txt").symlink_to(target)),
    "other file in it": lambda target: (target.mkdir(), (target / "a.md").touch()),
    "without force": lambda target: (target.mkdir(), (target / "a.txt").touch()),
}


@pytest.mark.parametrize("case", OTHERS)
def test_a_file_and_a_folder_with_others_in_it_are_not_replaced(case, tmp_path):
    OTHERS[case](tmp_path / "made")
    before = sorted(tmp_path.rglob("*"))
    for force in {False, case != "without force"}:
        with pytest.raises(OutputError):
            write_folder(tmp_path / "made", [("b.txt", b"")], **FORCED | {"force": force})
    assert sorted(tmp_path.rglob("*")) == before
