"""The comparison of two trees notices a changed number, a changed exit code and a changed text."""

import pytest
from compare import compare, meant

PROGRAM = """
import os, sys

def main():
    call = sys.argv[1:]
    if call == ["scores", "--format", "json"]:
        sys.stdout.write('{{"systems": [{{"name": "s", "value": {value}, "text": "{word}", "same": 1}}]}}')
    elif call == ["print"]:
        sys.stdout.write("{word}\\n")
    sys.stdout.flush()
    os._exit({code} if call == ["fail"] else 0)
"""
CALLS = ["scores --format json", "print && fail"]


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """Write two packages that differ by 1e-3, by a word and by an exit code."""
    made = [tmp_path_factory.mktemp(name) for name in "ab"]
    sides = {"value": "0.5", "word": "one", "code": 0}, {"value": "0.501", "word": "two", "code": 2}
    for tree, given in zip(made, sides, strict=True):
        (tree / "sedeval_soft" / "cli").mkdir(parents=True)
        (tree / "sedeval_soft" / "__init__.py").touch()
        (tree / "sedeval_soft" / "cli" / "__init__.py").write_text(PROGRAM.format(**given))
    return made


NUMBER = (CALLS[0], "systems.s.value", 0.5, 0.501)
CODE = (CALLS[1], "exit", [0, 0], [0, 2])
TEXTS = [(CALLS[0], "systems.s.text", "one", "two"), (CALLS[1], "stdout", "one", "two")]


@pytest.mark.parametrize(
    ("numbers", "expected"), [(True, [NUMBER, CODE]), (False, [NUMBER, TEXTS[0], CODE, TEXTS[1]])]
)
def test_numbers_and_exit_codes_that_differ_are_listed_and_texts_byte_by_byte(
    numbers, expected, trees, tmp_path
):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    assert compare(trees, folders, CALLS, numbers=numbers, workers=1, warm=()) == expected
    assert compare(trees[:1] * 2, folders, CALLS, numbers=numbers, workers=1, warm=()) == []


def test_a_difference_is_expected_by_call_and_place():
    rows = [("print*", "exit", "meant"), ("scores", "systems*", "another call")]
    assert [meant(each, rows) for each in (NUMBER, CODE)] == [False, True]
