"""What wrong calls are told: how the program is called, then what is wrong, as a sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sedeval_soft
from sedeval_soft.errors import EvaluationError, InputError, SettingsError
from sedeval_soft.settings_files import load_settings
from sedeval_soft.tables import read_rows
from sedeval_soft.tools import annotate

PACKAGE = Path(sedeval_soft.__file__).parent


def _usage_errors() -> Iterator[tuple[str, str]]:
    """Yield where usage errors are raised, and the literal text that their messages begin with."""
    for path in sorted((PACKAGE / "cli").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            texts: list[ast.expr] = []
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "UsageError":
                texts = [node.args[0]]
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "refuse":
                rows = [getattr(getattr(each, "value", None), "elt", each) for each in node.args]
                texts = [row.elts[1] for row in rows if isinstance(row, ast.Tuple)]
            for text in texts:
                first = text.values[0] if isinstance(text, ast.JoinedStr) else text
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield f"{path.name}:{text.lineno}", first.value


def test_sentences_begin_with_a_capital_or_an_option():
    texts = dict(_usage_errors())
    assert len(texts) > 15
    assert not {place: text for place, text in texts.items() if not re.match(r"[A-Z-]", text)}


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


def test_no_text_of_an_error_of_the_system_is_taken_as_given():
    every = [(path, path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))]
    assert any("error.strerror or error" in text for _, text in every)
    assert [str(path) for path, text in every if re.search(r"error\.strerror\b(?! or error)", text)] == []
