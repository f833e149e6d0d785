"""Docstrings as lists: what they say of each parameter, as `name, name: meaning`, is an item of its own.

An extension of griffe, which mkdocstrings reads the source with.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Class, Extension, Function


def listed(text: str, names: list[str]) -> str:
    """Return a docstring with a list wherever a paragraph goes through some of the names."""
    known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    heading = re.compile(rf"(?:^|(?<=[.;)] ))((?:{known})(?:, (?:{known}))*): ")
    return "\n\n".join(_paragraph(part, heading) for part in text.split("\n\n")) if names else text


def _paragraph(text: str, heading: re.Pattern[str]) -> str:
    joined = " ".join(text.split())
    lead, *parts = heading.split(joined)
    if not parts:
        return text
    items = list(zip(parts[::2], parts[1::2], strict=True))
    # What comes back, and what is raised, is said behind the last of them.
    name, last = items[-1]
    last, *after = re.split(r"(?<=[.;]) (?=(?:Returns?|Raises) )", last, maxsplit=1)
    told = [*items[:-1], (name, last)]
    lines = "\n".join(
        f"- {', '.join(f'`{n}`' for n in many.split(', '))}: {said.strip()}" for many, said in told
    )
    return "\n\n".join(filter(None, (lead.strip(), lines, *after)))


class Lists(Extension):
    """Makes lists of what docstrings say of parameters and attributes."""

    def on_function(self, *, func: Function, **kwargs: Any) -> None:  # noqa: ANN401, ARG002 - griffe's own
        """Look at a function's parameters."""
        if func.docstring:
            names = [parameter.name.lstrip("*") for parameter in func.parameters]
            func.docstring.value = listed(func.docstring.value, names)

    def on_class(self, *, cls: Class, **kwargs: Any) -> None:  # noqa: ANN401, ARG002 - as above
        """Look at a class's attributes, and at the parameters of its `__init__`."""
        if cls.docstring:
            names = [name for name, member in cls.members.items() if member.is_attribute and name[:1] != "_"]
            first = cls.members.get("__init__")
            if isinstance(first, Function):
                names += [parameter.name for parameter in first.parameters if parameter.name != "self"]
            cls.docstring.value = listed(cls.docstring.value, [*dict.fromkeys(names)])
