"""Names as they may be shown where something obeys what it shows: in a terminal, in a log."""

from __future__ import annotations

SHOWN = 40
"""Characters of a field that messages show."""

SAID = 200
"""Characters that messages show of what a library said."""


def visible(text: str) -> str:
    """Return a name with everything that a terminal might obey, or nobody might see, written as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else escaped(c) for c in text)


def visible_lines(text: str) -> str:
    """Return what `visible` does of each line of a text."""
    return "\n".join(map(visible, text.split("\n")))


def quoted(text: str) -> str:
    """Return a text in quotes, control characters escaped, the end of a long one left out."""
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


def one_line(said: object) -> str:
    """Return what a library says, such as its error, on one line, the end of a long one left out."""
    return " ".join(str(said).split())[:SAID]


def escaped(character: str) -> str:
    r"""Return a character as Python writes it by its number: `\x1b`, `\u202e`."""
    return character.encode("unicode_escape").decode("ascii")
