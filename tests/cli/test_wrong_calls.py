"""What wrong calls are told: how the program is called, then what is wrong, as a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import sedeval_soft
from sedeval_soft.errors import EvaluationError, InputError, SettingsError
from sedeval_soft.settings_files import load_settings
from sedeval_soft.tables import read_rows
from sedeval_soft.tools import annotate

PACKAGE = Path(sedeval_soft.__file__).parent


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"a": "x.tsv"}, "annotators must be two or more, not 1"),
        ({"a": "x.tsv", "": "y.tsv"}, "the name of an annotator must not be empty"),
        ({"a": "x.tsv", 3: "y.tsv"}, "the name of an annotator must be a text, not 3"),
    ],
)
def test_names_of_annotators_and_their_number_are_told_apart(tables, said):
    with pytest.raises(SettingsError, match=f"^{said}$"):
        annotate.annotate(tables)


def test_what_is_no_tally_is_told_as_other_arguments_are():
    with pytest.raises(EvaluationError, match="^data must be the bytes of a tally, not 3$"):
        sedeval_soft.Evaluator.of_bytes(3)


def test_an_error_of_the_system_without_a_text_is_not_told_as_none(tmp_path, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise OSError("the disk sulks")

    (tmp_path / "folder").mkdir()
    monkeypatch.setattr("os.scandir", broken)
    monkeypatch.setattr(Path, "open", broken)
    for read in (load_settings, read_rows):
        with pytest.raises(InputError, match="cannot be read: the disk sulks"):
            read(str(tmp_path / "folder"))
