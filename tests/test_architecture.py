"""Rules of the source that no linter has: cycles of imports, optional packages, writing of files, patterns.

`lint-imports` checks the directions of imports. ruff checks docstrings, annotations, imports at module level,
and calls that could run a file.
"""

import ast
import importlib
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import sedeval_soft
from sedeval_soft import settings_files
from sedeval_soft.tables import lines, text
from sedeval_soft.tables.columns import data

ROOT = Path(sedeval_soft.__file__).parent
OPTIONAL = {
    "array_api_compat": "apps.training",
    "dask": "apps.cluster",
    "distributed": "apps.cluster",
    "fsspec": "tables",
    "numba": "measures",
    "torch": "apps.training",
    "torchmetrics": "apps.training",
}
"""Packages that may be missing, and the modules that may import them."""

WRITES = {"write_text", "write_bytes", "savez", "savez_compressed", "tofile", "NamedTemporaryFile"}
WRITERS = {"report.write", "tables.stored_rows"}
"""Modules that may write files by name, results or temporary ones; all others call these."""

Trees = dict[str, ast.Module]
"""Modules by their names below the package."""


@cache
def modules(root: Path) -> Trees:
    return {
        ".".join(path.relative_to(root).with_suffix("").parts)
        .removesuffix("__init__")
        .rstrip("."): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(root.rglob("*.py"))
    }


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def without_face(tree: ast.Module) -> ast.Module:
    """Return a module without the names that only type checkers import; others are imported when used."""
    if "__getattr__ = face(__name__)" not in map(ast.unparse, tree.body):
        return tree
    typed = (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" for node in tree.body)
    return ast.Module([node for node, left_out in zip(tree.body, typed, strict=True) if not left_out], [])


def cycle(found: Trees) -> list[str]:
    """Return the modules of a cycle of imports, including imports in functions."""
    edges = {
        name: ({each.removeprefix("sedeval_soft.") for each in imports(without_face(tree))} & {*found})
        - {name, ""}
        for name, tree in found.items()
        if name
    }
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def strangers(found: Trees) -> list[str]:
    """Return imports of optional packages by modules that may not import them."""
    return [
        f"{name} imports {each}"
        for name, tree in found.items()
        for each in imports(tree)
        if not f"{name}.".startswith(OPTIONAL.get(each.split(".")[0], name) + ".")
    ]


def writes(found: Trees) -> list[str]:
    """Return forbidden calls: those that write a file by its name, or run code from a file."""
    wrong = []
    for name, tree in found.items():
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            given = [ast.unparse(each) for each in (*node.args, *(word.value for word in node.keywords))]
            opens = called == "open" and any(re.fullmatch(r"'[rbt]*[wax+][wabtx+]*'", word) for word in given)
            # Members of an archive in memory are not files.
            opens = opens and ast.unparse(node.func) != "archive.open"
            loads = ast.unparse(node.func) == "np.load" and "False" not in given
            if loads or (name not in WRITERS and (called in WRITES or opens)):
                wrong.append(f"{name}:{node.lineno} calls {called}")
    return wrong


@pytest.mark.parametrize("rule", [cycle, strangers, writes])
def test_rule(rule):
    found = modules(ROOT)
    assert len(found) > 40
    assert rule(found) == []


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (cycle, "def f():\n    from sedeval_soft.b import c"),
        (strangers, "def f():\n    import torch"),
        *(
            (writes, line)
            for line in ("Path(p).open('wb')", "open(p, mode='a')", "p.write_text('')", "np.savez(p, a)")
        ),
        *((writes, line) for line in ("np.load(p)", "np.load(p, allow_pickle=True)")),
    ],
)
def test_rule_can_fail(rule, text, tmp_path):
    (tmp_path / "a.py").write_text(text)
    (tmp_path / "b.py").write_text("from sedeval_soft.a import f")
    assert rule(modules(tmp_path))


def test_no_name_of_a_face_is_that_of_a_module_of_its_room():
    """Once imported, such a module would replace the name; mypy finds other conflicts."""
    listed = [
        f"{name}.{each.asname or each.name}".lstrip(".")
        for name, tree in modules(ROOT).items()
        for block in {*tree.body} - {*without_face(tree).body}
        for node in block.body
        for each in node.names
    ]
    assert len({*listed}) == len(listed) > 100
    assert {*listed}.isdisjoint(modules(ROOT))


# Every regular expression of the package takes linear time, and means the same in each Python.
#
# The tests collect the patterns of all `re` calls and of the package's tables, and parse them as Python does.
# They run each pattern on texts that repeat its repeated parts, and then do not match.

ANYWHERE = {"search", "sub", "subn", "split", "findall", "finditer"}
TRIED = [120, 49, *range(32, 127), 9, 10, *range(128, 0xE000)]
"""Letters: a sample has the first that matches."""
SECONDS = 0.15
"""Processor time for 10,000 repetitions: linear patterns take 1 ms, quadratic ones 0.5 s and more."""

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
"""Patterns that modules build at run time, by module: copied here, or built from the same parts."""


USES: dict[str, set[str]] = defaultdict(set)
for path in ROOT.rglob("*.py"):
    for compiled, used in re.findall(r"\b(\w+)\.([a-z]+)\(", path.read_text(encoding="utf-8")):
        USES[compiled].add(used)


def found_in(name: str, tree: ast.Module) -> Iterator[Any]:
    """Yield the patterns of the `re` calls in a module, and how each is used."""
    nodes = [*ast.walk(tree)]
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    calls = [call for call in calls if ast.unparse(call.func.value) == "re" and call.func.attr != "escape"]
    assigned = [node for node in nodes if isinstance(node, ast.Assign)]
    for call in calls:
        constant = isinstance(call.args[0], ast.Constant)
        known = {} if constant else vars(importlib.import_module(f"sedeval_soft.{name}".rstrip(".")))
        try:
            patterns = [eval(ast.unparse(call.args[0]), {**known})]  # noqa: S307 - ours
        except NameError:
            patterns = OF_LOCALS[name]  # after a KeyError, add the module's patterns to OF_LOCALS
        flags = {getattr(re, flag) for flag in re.findall(r"\bre\.([A-Z]+)\b", ast.unparse(call))}
        targets = [ast.unparse(node.targets[0]) for node in assigned if call in ast.walk(node.value)]
        of_names = {use for own in re.findall(r"\w+", " ".join(targets)) for use in USES[own]}
        uses = of_names if call.func.attr == "compile" else {call.func.attr}
        for pattern in patterns:
            yield pytest.param(re.compile(pattern, sum(flags)), uses, id=f"{name}:{call.lineno}")


FOUND = [found for module in modules(ROOT).items() for found in found_in(*module)]


def sample(tree: Any, repeated: set[str]) -> str:
    """Return a text that part of a pattern matches, without assertions; add repeated texts to `repeated`."""
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
    """Return the longest time of a pattern in seconds, and the text; stop at the first slow text."""
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
