"""The comparison of two trees notices a changed number, a changed exit code and a changed text."""

import pytest
from compare import Difference, compare, unexpected

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
    """Two packages that differ by 1e-3, a word and an exit code."""
    made = []
    for name, given in (("a", ("0.5", "one", 0)), ("b", ("0.501", "two", 2))):
        cli = tmp_path_factory.mktemp(name) / "sedeval_soft" / "cli"
        cli.mkdir(parents=True)
        (cli.parent / "__init__.py").touch()
        (cli / "__init__.py").write_text(
            PROGRAM.format(**dict(zip(("value", "word", "code"), given, strict=True)))
        )
        made.append(cli.parents[1])
    return made


NUMBER = Difference(CALLS[0], "systems[s].value", 0.5, 0.501)
CODE = Difference(CALLS[1], "exit", [0, 0], [0, 2])


TEXTS = [Difference(CALLS[0], "systems[s].text", "one", "two"), Difference(CALLS[1], "stdout", "one", "two")]


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


def test_an_expected_difference_is_counted_and_no_failure(capsys):
    assert unexpected([NUMBER, CODE], [("print*", "exit", "meant")]) == [NUMBER]
    assert capsys.readouterr().out == "expected      1  print*  exit: meant\n"
