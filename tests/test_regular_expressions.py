"""Every regular expression of the package takes linear time, and means the same in each Python.

Patterns are those of all `re` calls of the package, and of its tables: they are taken apart as Python does,
and run on texts that repeat what they repeat and then do not fit.
"""

import ast
import importlib
import re
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import sedeval_soft
from sedeval_soft import settings_files
from sedeval_soft.tables import lines, text
from sedeval_soft.tables.columns import data

PACKAGE = Path(sedeval_soft.__file__).parent
ANYWHERE = {"search", "sub", "subn", "split", "findall", "finditer"}
TRIED = [120, 49, *range(32, 127), 9, 10, *range(128, 0xE000)]
"""Letters, of which a sample has the first that fits."""
SECONDS = 0.15
"""Of the processor, for 10,000 repetitions: a linear pattern takes 1 ms, a quadratic one 0.5 s and more."""

_QUOTED = text._QUOTED % (b",", b",")
_NUMBER = r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*"
_PART = r"([^.@[]+)"

OF_LOCALS = {
    "cli.wrong_calls": [r"(columns|label)(=?)", r"^(?:columns|label)(?:[ =]|: ).*"],
    "measures.registry": [rf"{_PART}\.{_PART}\.{_PART}(?:\.(macro|micro)|\[(.*)\])?(?:@([^]]*))?"],
    "report.delimited": [r'[,"#\r\n]|^\s|\s$|^$|^:'],
    "settings": [f"{_NUMBER}/{_NUMBER}"],
    "settings_files": [rf"(?:{form})\Z" for _, form, _ in settings_files._FORMS],
    "tables.columns": [row[0] for row in data("headerless.tsv")],
    "tables.file_groups": [],  # a pattern of the user's own
    "tables.lines": [lines._FIELD.format(delimiter) for delimiter in lines.DELIMITERS],
    "tables.forms": [row[4].encode("latin-1") for row in data("forms.tsv") if row[4]],
    "tables.text": [r"\|", " +", b'%b(?:[^"]{0,200}%b){0,500}' % (_QUOTED, _QUOTED)],
}
"""Patterns that are made where they are used, by module: written here once more, or what they are made of."""


SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py")))


def found_in(path: Path) -> Iterator[Any]:
    """Yield the patterns of the `re` calls in a module, and how each is used."""
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    named = {call: ast.unparse(node.targets[0]) for node in assigned for call in ast.walk(node.value)}
    for call in ast.walk(tree):
        way = re.fullmatch(r"re\.(?!escape)([a-z]+)", ast.unparse(getattr(call, "func", ast.Pass())))
        if not way:
            continue
        constant = isinstance(call.args[0], ast.Constant)
        known = {} if constant else vars(importlib.import_module(f"sedeval_soft.{name}".rstrip(".")))
        try:
            patterns = [eval(ast.unparse(call.args[0]), {**known})]  # noqa: S307 - ours
        except NameError:
            patterns = OF_LOCALS[name]  # a KeyError: give what this pattern may be
        flags = {getattr(re, flag) for flag in re.findall(r"\bre\.([A-Z]+)\b", ast.unparse(call))}
        names = named.get(call, "nothing").replace(", ", "|").strip("()")
        uses = {*re.findall(rf"\b(?:{names})\.([a-z]+)\(", SOURCES)} if way[1] == "compile" else {way[1]}
        for pattern in patterns:
            yield pytest.param(re.compile(pattern, sum(flags)), uses, id=f"{name}:{call.lineno}")


FOUND = [found for path in sorted(PACKAGE.rglob("*.py")) for found in found_in(path)]


def sample(tree: Any, repeated: set[str]) -> str:
    """Return a text that a part of a pattern fits, assertions aside, and add what it may repeat often."""
    made = ""
    for operator, argument in tree:
        match str(operator):
            case "LITERAL":
                made += chr(argument)
            case "NOT_LITERAL" | "ANY" | "IN":
                one = re._parser.SubPattern(re._parser.State(), [(operator, argument)])
                made += next(filter(re._compiler.compile(one).fullmatch, map(chr, TRIED)))
            case "MAX_REPEAT" | "MIN_REPEAT":
                piece = sample(argument[2], repeated)
                repeated |= {piece} if argument[1] > 100 else set()
                made += piece * max(1, argument[0])
            case "SUBPATTERN":
                made += sample(argument[3], repeated)
            case "BRANCH":
                first, *_ = [sample(branch, repeated) for branch in argument[1]]
                made += first
            case "ASSERT" | "ASSERT_NOT":
                sample(argument[1], repeated)
    return made


def slowest(pattern: re.Pattern[Any], uses: set[str]) -> tuple[float, str]:
    """Return the seconds that a pattern takes, and for which text; stops where it is slow."""
    encode = str if isinstance(pattern.pattern, str) else lambda text: text.encode("latin-1", "replace")
    plain = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    repeated = {"x", "1", " ", ".", "\t", "\n", '"', "a.", ".a", "a\t", "\t\n"}
    whole, most = sample(re._parser.parse(plain), repeated), (0.0, "")
    runs = [pattern.search] * bool(uses & ANYWHERE) + [pattern.fullmatch] * (not uses <= ANYWHERE)
    for begin, piece, n in product(
        sorted({whole[:n] for n in range(13)}), sorted(repeated - {""}), (100, 300, 1000, 3000, 10_000)
    ):
        for run in runs or [pattern.fullmatch]:
            started = time.process_time()
            run(encode(f"{begin}{piece * n}\0"))
            most = max(most, (time.process_time() - started, f"{begin!r}, {piece!r} {n} times"))
        if most[0] > SECONDS:
            break
    return most


def test_there_are_patterns_and_the_measure_can_fail():
    assert len(FOUND) > 80
    assert slowest(re.compile(r"\s+$"), {"search"})[0] > SECONDS


@pytest.mark.parametrize(("pattern", "uses"), FOUND)
def test_a_pattern_is_linear_and_means_the_same_in_each_python(pattern, uses):
    # Python 3.11.2 finds other texts with possessive repeats and atomic groups.
    parsed = repr(re._parser.parse(pattern.pattern, pattern.flags & ~re.LOCALE))
    assert "POSSESSIVE_REPEAT" not in parsed and "ATOMIC_GROUP" not in parsed
    seconds, text = slowest(pattern, uses)
    assert seconds < SECONDS, (pattern.pattern, text)
