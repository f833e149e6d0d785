"""Numbers of things in words: one thing has no plural."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number of things: `1 file`, `2 files`, `3 classes`."""
    return f"{number} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return what more than one thing of a kind are called: `files`, `classes`."""
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def be(number: int) -> str:
    """Return the verb that goes with a number of things: 1 `is`, 2 `are`."""
    return "is" if number == 1 else "are"
