"""The face of a room: the names that others may import, each imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def face(room: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` (PEP 562) of a room, which raises AttributeError for any other name.

    modules: the names that each module of the room has for others.
    """
    home = {name: f"{room}.{module}" for module, names in modules.items() for name in names.split()}

    def imported(name: str) -> Any:  # noqa: ANN401 - the module protocol
        if name not in home:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(home[name]), name)

    return imported
