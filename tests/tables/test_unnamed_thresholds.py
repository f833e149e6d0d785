"""Folders whose names hold thresholds while their tables do not name recordings."""

from __future__ import annotations

from zipfile import ZipFile

import pytest

from sedeval_soft import EvaluationError, evaluate

HEADER = "onset\toffset\tevent_label\n"


@pytest.fixture
def reference(tmp_path):
    path = tmp_path / "ref.tsv"
    path.write_text("filename\tonset\toffset\tevent_label\na.wav\t0\t4\tcar\nb.wav\t1\t3\tdog\n")
    return path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "out"
    path.mkdir()
    for number, name in enumerate(("0.1", "0.5", "0.9")):
        (path / f"{name}.tsv").write_text(f"{HEADER}{number}\t4\tcar\n")
    return path


def test_recordings_that_the_reference_lacks_may_be_thresholds(reference, folder, tmp_path):
    archive = tmp_path / "out.zip"
    with ZipFile(archive, "w") as packed:
        for path in folder.iterdir():
            packed.write(path, path.name)
    for system in (folder, f"{folder}/*.tsv", archive):
        told = "\n".join(evaluate(reference, system).warnings)
        assert "('0.1', '0.5', '0.9')" in told
        assert "their names hold thresholds" in told
        assert "--operating-points" in told
        with pytest.raises(EvaluationError, match="hold thresholds"):
            evaluate(reference, system, strict=True)


def test_names_of_recordings_are_no_thresholds(reference, folder):
    for path, name in zip(sorted(folder.iterdir()), ("a", "b", "c"), strict=True):
        path.rename(folder / f"{name}.tsv")
    assert "thresholds" not in "\n".join(evaluate(reference, folder).warnings)
    folder = folder.rename(folder.parent / "numbered")
    for path, name in zip(sorted(folder.iterdir()), ("0.1", "0.5", "0.9"), strict=True):
        path.rename(folder / f"{name}.tsv")
    assert evaluate(folder, folder).warnings == ()


def test_no_pattern_is_advised_that_is_refused(reference, folder):
    for path in folder.iterdir():
        path.write_text(reference.read_text())
    with pytest.raises(EvaluationError, match="as REFERENCE, give one of them") as refused:
        evaluate(folder, reference)
    assert "a pattern" not in str(refused.value)
