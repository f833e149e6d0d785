"""Write the table of dialects into forms.md, from the data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sedeval_soft.tables.columns import DIALECTS, Dialect, data

DIALECT_MARK = "<!-- dialects: made by `python docs/make/dialects.py` -->\n"
NAMES_MARK = "<!-- names: made by `python docs/make/dialects.py` -->\n"
END = "<!-- end -->\n"
PAGE = Path(__file__).parents[1] / "reference" / "forms.md"

_ROLES = ("filename", "folder", "onset", "offset", "duration", "file_offset", "event_label", "soft_value")
_UNITS = {"": "", "s": "seconds", "ms": "milliseconds", "date": "date and time of day"}


def page(text: str) -> str:
    """Return the page with the tables below their marks."""
    return _with(_with(text, DIALECT_MARK, _dialects()), NAMES_MARK, _names())


def _with(text: str, mark: str, lines: list[str]) -> str:
    begin = text.index(mark) + len(mark)
    end = text.index(END, begin)
    return "\n".join([text[:begin], *lines, "", text[end:]])


def _dialects() -> list[str]:
    head = ["| tables | recognised by | roles of columns, best first | rows |", "|---|---|---|---|"]
    return [*head, *map(_row, DIALECTS)]


def _row(dialect: Dialect) -> str:
    """Return what is known of a dialect, as a row."""
    told = _listed(sorted(dialect.has))
    if dialect.some:
        told += f", and one of {_listed(sorted(dialect.some))}"
    roles = [f"{role}: {_listed(dialect.roles[role])}" for role in _ROLES if role in dialect.roles]
    rows = []
    if "selection" in dialect.roles:
        rows.append("a selection counts once, whatever views it has")
    if dialect.nothing:
        rows.append(f"{_listed(sorted(dialect.nothing))} declares a recording without events")
    return f"| {dialect.title} | {told} | {'; '.join(roles)} | {'; '.join(rows)} |"


def _names() -> list[str]:
    rows = [(role, unit, names.split()) for role, unit, _, names in data("columns.tsv") if role != "part"]
    lines = ["| column | unit | names |", "|---|---|---|"]
    return [*lines, *(f"| `{role}` | {_UNITS[unit]} | {_listed(names)} |" for role, unit, names in rows)]


def _listed(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
