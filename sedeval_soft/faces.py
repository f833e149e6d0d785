"""The face of a room: the names that others may import, each imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def face(room: str) -> Callable[[str], Any]:
    """Return the `__getattr__` (PEP 562) of a room, which raises AttributeError for any other name.

    Other modules may import the names that the room imports for type checkers (`if TYPE_CHECKING:`). When a
    name is first asked for, the program reads the same list in the source of the room.
    """
    # The module that each name comes from, and its name there.
    homes: dict[str, tuple[str, str]] = {}

    def imported(name: str) -> Any:  # noqa: ANN401 - the module protocol
        import ast

        if not homes:
            loader: Any = find_spec(room).loader  # type: ignore[union-attr]
            homes.update(
                (each.asname or each.name, (node.module or "", each.name))
                for block in ast.parse(loader.get_source(room)).body
                if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
                for node in block.body
                if isinstance(node, ast.ImportFrom)
                for each in node.names
            )
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module, own = homes[name]
        return getattr(import_module(module), own)

    return imported
