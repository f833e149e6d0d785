"""A folder is written whole, or stays as it was."""

from __future__ import annotations

import pytest

from sedeval_soft.report.write import OutputError, write_folder


def broken():
    """Yield a file, and fail."""
    yield "a.txt", b"new"
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "existing", [None, {}, {"a.txt": b"old", "b.txt": b"old"}], ids=["new", "empty", "full"]
)
def test_a_folder_that_is_not_finished_is_not_there(existing, tmp_path):
    target = tmp_path / "made"
    if existing is not None:
        target.mkdir()
        for name, data in existing.items():
            (target / name).write_bytes(data)
    with pytest.raises(KeyboardInterrupt):
        write_folder(target, broken(), replaceable=[".txt"], force=True)
    assert [path.name for path in tmp_path.iterdir()] == ([] if existing is None else ["made"])
    if existing is not None:
        assert {path.name: path.read_bytes() for path in target.iterdir()} == existing


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    target = tmp_path / "made"
    write_folder(target, [("a.txt", b"1"), ("b.txt", b"2")])
    write_folder(target, [("c.txt", b"3")], replaceable=[".txt"], force=True)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == {"c.txt": b"3"}
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


@pytest.mark.parametrize("name", ["", "..", "../a", "a/b", "/a"])
def test_names_of_files_are_no_paths(name, tmp_path):
    with pytest.raises(OutputError):
        write_folder(tmp_path / "made", [(name, b"")])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_others_in_it_is_not_replaced(tmp_path):
    target = tmp_path / "made"
    (target / "inner").mkdir(parents=True)
    for force in (False, True):
        with pytest.raises(OutputError):
            write_folder(target, [("a.txt", b"")], replaceable=[".txt"], force=force)
    (target / "inner").rmdir()
    (target / "link.txt").symlink_to(tmp_path)
    with pytest.raises(OutputError, match="since it holds 'link.txt'"):
        write_folder(target, [("a.txt", b"")], replaceable=[".txt"], force=True)
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(OutputError, match="it is a file"):
        write_folder(file, [("a.txt", b"")], force=True)


def test_one_name_twice_is_an_error(tmp_path):
    with pytest.raises(OutputError):
        write_folder(tmp_path / "made", [("a.txt", b""), ("a.txt", b"")])
    assert list(tmp_path.iterdir()) == []
