"""Every regular expression of the package takes linear time, and means the same in each Python.

Patterns are those of all `re` calls of the package, and of its tables: they are taken apart as Python does,
and run on texts that repeat what they repeat and then do not fit.
"""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import sedeval_soft
from sedeval_soft import settings_files
from sedeval_soft.tables import lines, text
from sedeval_soft.tables.columns import data

PACKAGE = Path(sedeval_soft.__file__).parent
ANYWHERE = {"search", "sub", "subn", "split", "findall", "finditer"}
AT_BEGIN = {"match", "fullmatch"}
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


class Found(NamedTuple):
    """A pattern: where it is used, and how."""

    where: str
    pattern: re.Pattern[Any]
    ways: frozenset[str]


def known(node: ast.expr, name: str) -> Any:
    """Return what an expression is where a module is imported; raises NameError for names of a function."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        module = importlib.import_module(f"sedeval_soft.{name}")
        return eval(compile(ast.Expression(node), name, "eval"), {**vars(module)})  # noqa: S307 - ours


def found_in(path: Path) -> Iterator[Found]:
    """Yield the patterns of the `re` calls in a module."""
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    named = {
        call: ast.unparse(each.targets[0])
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign)
        for call in ast.walk(each.value)
    }
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and re.fullmatch(r"re\.[a-z]+", ast.unparse(call.func))):
            continue
        way = ast.unparse(call.func).removeprefix("re.")
        if way == "escape":
            continue
        said = [ast.unparse(node) for node in (*call.args[1:], *(each.value for each in call.keywords))]
        flags = [
            known(ast.parse(text, mode="eval").body, name)
            for text in said
            if re.fullmatch(r"re\.[A-Z]+( \| re\.[A-Z]+)*", text)
        ]
        try:
            patterns = [known(call.args[0], name)]
        except NameError:
            assert name in OF_LOCALS, f"{name}:{call.lineno}: give what this pattern may be in OF_LOCALS"
            patterns = OF_LOCALS[name]
        for pattern in patterns:
            compiled = re.compile(pattern, *flags)
            names = named.get(call, "nothing").replace(", ", "|").strip("()")
            ways = re.findall(rf"\b(?:{names})\.({'|'.join((*ANYWHERE, *AT_BEGIN))})\b", SOURCES)
            yield Found(
                f"{name}:{call.lineno}", compiled, frozenset(ways or AT_BEGIN if way == "compile" else {way})
            )


FOUND = [found for path in sorted(PACKAGE.rglob("*.py")) for found in found_in(path)]


def nodes(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the operators of a pattern and their arguments, whatever they are in."""
    for node in tree if isinstance(tree, list | tuple | re._parser.SubPattern) else ():
        if (
            isinstance(node, tuple)
            and len(node) == 2
            and isinstance(node[0], re._constants._NamedIntConstant)
        ):
            yield node
            yield from nodes(node[1])
        else:
            yield from nodes(node)


def sample(tree: Any) -> str:
    """Return a text that a part of a pattern fits, assertions aside."""
    made = ""
    for operator, argument in tree:
        what = str(operator)
        if what == "LITERAL":
            made += chr(argument)
        elif what in {"NOT_LITERAL", "ANY", "IN"}:
            one = re._parser.SubPattern(re._parser.State(), [(operator, argument)])
            fits = re._compiler.compile(one).fullmatch
            made += next(
                c for c in map(chr, [120, 49, *range(32, 127), 9, 10, *range(128, 0xE000)]) if fits(c)
            )
        elif what in {"MAX_REPEAT", "MIN_REPEAT"}:
            made += sample(argument[2]) * max(1, argument[0])
        elif what == "SUBPATTERN":
            made += sample(argument[3])
        elif what == "BRANCH":
            made += sample(argument[1][0])
    return made


def attacks(pattern: str) -> list[tuple[str, str]]:
    """Return what a text begins with, and what it then repeats, that may take a pattern long."""
    tree = re._parser.parse(pattern)
    begins, repeated = {""}, {"x", "1", " ", ".", "\t", "\n", '"', "a.", ".a", "a\t", "\t\n"}
    whole = sample(tree)
    begins |= {whole[:n] for n in range(1, min(len(whole), 12) + 1)}
    for operator, argument in nodes(tree):
        if str(operator) in {"MAX_REPEAT", "MIN_REPEAT"} and int(argument[1]) > 100:
            repeated.add(sample(argument[2]))
    return [(begin, piece) for begin in sorted(begins) for piece in sorted(filter(None, repeated))]


def slowest(pattern: re.Pattern[Any], ways: frozenset[str]) -> tuple[float, str]:
    """Return the seconds that a pattern takes, and for which text; stops where it is slow."""
    plain = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    most = (0.0, "")
    for begin, piece in attacks(plain):
        for n in (100, 300, 1_000, 3_000, 10_000):
            text: Any = f"{begin}{piece * n}\0"
            text = text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
            for run in [pattern.search] * bool(ways & ANYWHERE) + [pattern.fullmatch] * bool(ways & AT_BEGIN):
                started = time.process_time()
                run(text)
                most = max(most, (time.process_time() - started, f"{begin!r}, {piece!r} {n} times"))
                if most[0] > SECONDS:
                    return most
    return most


def test_there_are_patterns_and_the_measure_can_fail():
    assert len(FOUND) > 80
    assert slowest(re.compile(r"\s+$"), frozenset({"search", "fullmatch"}))[0] > SECONDS


@pytest.mark.parametrize("found", FOUND, ids=[found.where for found in FOUND])
def test_a_pattern_is_linear_and_means_the_same_in_each_python(found):
    whole = found.pattern.pattern
    operators = {
        str(operator) for operator, _ in nodes(re._parser.parse(whole, found.pattern.flags & ~re.LOCALE))
    }
    # Python 3.11.2 finds other texts with these.
    assert operators.isdisjoint({"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}), whole
    seconds, text = slowest(found.pattern, found.ways)
    assert seconds < SECONDS, (whole, text)
