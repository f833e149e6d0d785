"""Rules of the source that no linter has: cycles of imports, optional packages, and who writes files.

Directions of imports are held by `lint-imports`; docstrings, annotations, imports at module level and what
could run a file by ruff.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import sedeval_soft

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
"""Packages that are not always there, and the rooms that are made for them."""

WRITES = {"write_text", "write_bytes", "savez", "savez_compressed", "tofile", "NamedTemporaryFile"}
WRITERS = {"report.write", "tables.stored_rows"}
"""Modules that may write files by name, results or temporary ones; all others go through them."""

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
    """Return a room without the names that its face has for type checkers: these are imported when used."""
    if "__getattr__ = face(__name__)" not in map(ast.unparse, tree.body):
        return tree
    typed = (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" for node in tree.body)
    return ast.Module([node for node, left_out in zip(tree.body, typed, strict=True) if not left_out], [])


def cycle(found: Trees) -> list[str]:
    """Return the modules of a cycle of imports, those in functions included."""
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
    """Return imports of optional packages outside of their rooms."""
    return [
        f"{name} imports {each}"
        for name, tree in found.items()
        for each in imports(tree)
        if not f"{name}.".startswith(OPTIONAL.get(each.split(".")[0], name) + ".")
    ]


def writes(found: Trees) -> list[str]:
    """Return calls of modules that may not write a file by its name, or run the code of a file."""
    wrong = []
    for name, tree in found.items():
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            given = [ast.unparse(each) for each in (*node.args, *(word.value for word in node.keywords))]
            opens = called == "open" and any(re.fullmatch(r"'[rbt]*[wax+][wabtx+]*'", text) for text in given)
            # A member of an archive in memory is no file.
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
    """Once the module is imported, it would be found in the place of the name; mypy looks for the others."""
    listed = [
        f"{name}.{each.asname or each.name}".lstrip(".")
        for name, tree in modules(ROOT).items()
        for block in {*tree.body} - {*without_face(tree).body}
        for node in block.body
        for each in node.names
    ]
    assert len({*listed}) == len(listed) > 100
    assert {*listed}.isdisjoint(modules(ROOT))
