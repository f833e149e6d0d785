"""What the source says about its own structure: imports, docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

LAYERS = (
    ("errors", "fields", "names"),
    ("memory", "sorting", "threads"),
    ("settings",),
    ("settings_files",),
    ("plan",),
    ("tables",),
    ("timeline",),
    ("measures", "functional"),
    ("torch",),
    ("evaluation",),
    ("comparison",),
    ("report",),
    ("html", "plots", "interop"),
    ("api", "tools"),
    ("cli", "adapters"),
)
"""A package imports from itself and from layers before its own. Data flows one way."""

TOGETHER = ({"api", "tools"},)
"""Packages of one layer that may import from one another."""

HEAVY = frozenset(
    {
        *("pandas", "scipy", "sed_eval", "sed_scores_eval", "matplotlib", "plotly", "jinja2"),
        *("dask", "distributed", "fsspec"),
        *("rich", "yaml"),
    }
)
OPTIONAL = {
    "array_api_compat": {"functional"},
    "dask": {"evaluation"},
    "distributed": {"evaluation"},
    "fsspec": {"tables"},
    "torch": {"torch"},
    "torchmetrics": {"torch"},
}
"""Packages that are not always there, and the rooms that are made for them."""
FORBIDDEN_NAMES = frozenset({"utils", "util", "helpers", "helper", "misc", "common"})


@dataclass(frozen=True)
class Module:
    """A module of a package: its dotted name below the package and its tree."""

    name: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """Return the top-level module or package that it is in, empty for the package itself."""
        return self.name.split(".")[0]


def modules(root: Path) -> list[Module]:
    """Parse all modules of a package."""
    found = []
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        parts = [*path.relative_to(root).parent.parts, "" if path.stem == "__init__" else path.stem]
        found.append(Module(".".join(filter(None, parts)), ast.parse(text)))
    return found


def imports(module: Module) -> Iterator[tuple[str, bool]]:
    """Yield what a module imports by dotted name, and whether at module level."""
    top = set(module.tree.body)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node in top
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node in top
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node in top


def wrong_directions(found: list[Module], package: str) -> list[str]:
    """Return the imports that go against the layers."""
    rank = {room: i for i, layer in enumerate(LAYERS) for room in layer}
    wrong = []
    for module in found:
        if module.room in {"", "__main__"}:
            continue
        if module.room not in rank:
            wrong.append(f"{module.name} is in no layer")
            continue
        for name, _ in imports(module):
            target = name.removeprefix(f"{package}.").split(".")[0] if name.startswith(f"{package}.") else ""
            together = any({target, module.room} <= rooms for rooms in TOGETHER)
            if (
                target in rank
                and not together
                and target != module.room
                and rank[target] >= rank[module.room]
            ):
                wrong.append(f"{module.name} imports {name}")
    return wrong


def cycles(found: list[Module], package: str) -> list[str]:
    """Return the modules of a cycle of imports, imports in functions included; nothing if there is none."""
    names = {module.name for module in found}
    edges = {}
    for module in found:
        targets = {
            name.removeprefix(f"{package}.") for name, _ in imports(module) if name.startswith(package)
        }
        edges[module.name] = (targets & names) - {module.name, ""}
    edges.pop("", None)
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def heavy_imports(found: list[Module], _package: str) -> list[str]:
    """Return imports at module level of what must be imported where it is used."""
    return [
        f"{module.name} imports {name}"
        for module in found
        for name, at_top in imports(module)
        if at_top and name.split(".")[0] in HEAVY
    ] + [
        f"{module.name} imports {name}"
        for module in found
        for name, _ in imports(module)
        if module.room not in OPTIONAL.get(name.split(".")[0], {module.room})
    ]


def prints(found: list[Module]) -> list[str]:
    """Return calls of print outside the command line."""
    return [
        f"{module.name}:{node.lineno}"
        for module in found
        if module.room != "cli"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]


def undocumented(found: list[Module]) -> list[str]:
    """Return modules, public classes and public functions without docstring or without full annotations."""
    wrong = []
    for module in found:
        if not ast.get_docstring(module.tree):
            wrong.append(f"{module.name or '__init__'} has no docstring")
        for node in _public(module.tree):
            if not ast.get_docstring(node):
                wrong.append(f"{module.name}.{node.name} has no docstring")
            if isinstance(node, ast.FunctionDef) and not _annotated(node):
                wrong.append(f"{module.name}.{node.name} is not annotated")
    return wrong


def _public(tree: ast.Module) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from (
                    n for n in node.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")
                )


def _annotated(node: ast.FunctionDef) -> bool:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return node.returns is not None and all(a.annotation or a.arg in {"self", "cls"} for a in arguments)


def badly_named(found: list[Module]) -> list[str]:
    """Return modules whose name says nothing."""
    return [module.name for module in found if FORBIDDEN_NAMES & set(module.name.split("."))]


RUNS_WHAT_IT_READS = frozenset(
    {
        *(
            "eval",
            "exec",
            "compile",
            "__import__",
            "os.system",
            "os.popen",
            "pd.read_pickle",
            "pandas.read_pickle",
        ),
        *("yaml.load", "yaml.load_all", "yaml.full_load", "yaml.unsafe_load"),
        *("yaml.full_load_all", "yaml.unsafe_load_all"),
    }
)
"""Calls by which a file could have its own code run."""

RUNNING_MODULES = frozenset(
    {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
)
UNSAFE_LOADERS = frozenset({"Loader", "FullLoader", "UnsafeLoader"})


def runs_what_it_reads(found: list[Module], _package: str) -> list[str]:
    """Return imports and calls by which what a file says could be run: pickles, eval, unsafe YAML."""
    wrong = []
    for module in found:
        wrong += [
            f"{module.name} imports {name}"
            for name, _ in imports(module)
            if name.split(".")[0] in RUNNING_MODULES
        ]
        for node in ast.walk(module.tree):
            place = f"{module.name}:{getattr(node, 'lineno', 0)}"
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name in RUNS_WHAT_IT_READS:
                wrong.append(f"{place} calls {name}")
            if isinstance(node, ast.Call) and name in {"np.load", "numpy.load"}:
                never = any(
                    k.arg == "allow_pickle" and ast.unparse(k.value) == "False" for k in node.keywords
                )
                wrong += [] if never else [f"{place} calls {name} without allow_pickle=False"]
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "yaml":
                wrong += [f"{place} uses yaml.{node.attr}"] if node.attr in UNSAFE_LOADERS else []
    return wrong


WRITES = frozenset({"write_text", "write_bytes", "savez", "savez_compressed", "tofile", "NamedTemporaryFile"})
WRITERS = frozenset({"report.write", "tables.stored_rows"})
"""Modules that may write files by name, results or temporary ones; all others go through them."""


def writes_by_itself(found: list[Module], _package: str) -> list[str]:
    """Return calls that write a file by its name anywhere but where that is done as a whole or not at all."""
    wrong = []
    for module in found:
        for node in ast.walk(module.tree):
            if module.name in WRITERS or not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            opened = [ast.unparse(a) for a in (*node.args, *(k.value for k in node.keywords))]
            mode = called == "open" and any(re.fullmatch(r"'[rbt]*[wax+][wabtx+]*'", text) for text in opened)
            # A member of an archive in memory is no file.
            member = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "archive"
            if called in WRITES or (mode and not member):
                wrong.append(f"{module.name}:{node.lineno} calls {called}")
    return wrong


RULES = {
    "imports go one way": wrong_directions,
    "no import cycle": cycles,
    "heavy imports stand where they are used": heavy_imports,
    "only the command line prints": lambda found, _: prints(found),
    "everything public is documented and annotated": lambda found, _: undocumented(found),
    "names say something": lambda found, _: badly_named(found),
    "nothing that is read is run": runs_what_it_reads,
    "files are written in one place": writes_by_itself,
}
