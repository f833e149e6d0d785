"""Draw how data flows, and write the rooms of the package into architecture.md, as the tests enforce them."""

from __future__ import annotations

import ast
import re
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = ROOT / "docs" / "pictures" / "architecture.svg"
BEGIN, END = "<!-- layers: made by `python docs/make/layers.py` -->\n", "<!-- end of layers -->\n"

STAGES = (
    ("files", "", "tables, in any form", 0),
    ("rows", "tables.event_table", "EventTable", 1),
    ("activities", "timeline.events", "Activity", 2),
    ("segments", "timeline.grid", "pool_rows", 3),
    ("lifetimes", "timeline.events", "EventLifetimes", 3),
    ("tallies", "measures.tally", "Tally", 4),
    ("scores", "evaluation.scores", "Scores", 5),
    ("text", "report", "text, JSON, CSV ...", 6),
    ("pages", "apps", "report, leaderboard", 6),
    ("figures", "apps", "PDF, SVG, PNG", 6),
)
"""What data is at each stage: its name, its module, the names there, and the row it stands in."""

STEPS = (
    (0, "tables: read, and refuse with line and column"),
    (1, "timeline: the same times in both, overlaps joined"),
    (2, "timeline: onto a grid, or into events of all levels"),
    (3, "measures, evaluation: count what each file has"),
    (4, "evaluation: add up, draw files anew, divide"),
    (5, "report, apps: show, and compute nothing"),
)
"""What happens below each row, and in which package."""

WIDTH, HEIGHT, GAP, BOX = 780, 58, 66, 232

HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 font-family="system-ui, sans-serif" text-anchor="middle">
<title>How data flows: files, rows, activities, segments and lifetimes, tallies, scores, pages</title>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0 8 4 0 8z" fill="#808080"/></marker></defs>"""


def drawing() -> str:
    """Return the drawing as SVG that reads well on light and on dark pages."""
    rows: dict[int, list[tuple[str, str, str]]] = {}
    for name, module, told, row in STAGES:
        rows.setdefault(row, []).append((name, module, told))
    parts = [HEAD.format(width=WIDTH, height=len(rows) * (HEIGHT + GAP) - GAP + 4)]
    for row, boxes in rows.items():
        top = 2 + row * (HEIGHT + GAP)
        for place, (name, module, told) in zip(centres(len(boxes)), boxes, strict=True):
            parts.append(box(place, top, name, module, told))
        if row + 1 in rows:
            for start in centres(len(boxes)):
                parts += [
                    f'<path d="M{start:g} {top + HEIGHT} {end:g} {top + HEIGHT + GAP - 2}" stroke="#808080" '
                    'stroke-width="1.6" fill="none" marker-end="url(#tip)"/>'
                    for end in centres(len(rows[row + 1]))
                ]
    for row, told in STEPS:
        middle = 2 + row * (HEIGHT + GAP) + HEIGHT + GAP / 2
        parts.append(label(middle, told))
    return "\n".join([*parts, "</svg>"]) + "\n"


def centres(number: int) -> list[float]:
    """Return where boxes of a row stand, from left to right."""
    return [WIDTH / 2 + (i - (number - 1) / 2) * (BOX + 28) for i in range(number)]


def box(x: float, top: float, name: str, module: str, told: str) -> str:
    """Return a box of one stage."""
    place = f" &#183; {escape(module)}" if module else ""
    return (
        f'<rect x="{x - BOX / 2:g}" y="{top:g}" width="{BOX}" height="{HEIGHT}" rx="8" fill="#e0f2f1" '
        'stroke="#00796b" stroke-width="1.4"/>'
        f'<text x="{x:g}" y="{top + 25:g}" font-size="16" fill="#00332e"><tspan font-weight="600">'
        f'{escape(name)}</tspan><tspan font-size="13">{place}</tspan></text>'
        f'<text x="{x:g}" y="{top + 45:g}" font-size="13" fill="#00332e">{escape(told)}</text>'
    )


def label(middle: float, told: str) -> str:
    """Return the words for a step, on a ground of their own, above the arrows."""
    width = 7.1 * len(told) + 20
    return (
        f'<rect x="{WIDTH / 2 - width / 2:g}" y="{middle - 14:g}" width="{width:g}" height="24" rx="12" '
        'fill="#455a64"/>'
        f'<text x="{WIDTH / 2:g}" y="{middle + 3:g}" font-size="13.5" fill="#ffffff">{escape(told)}</text>'
    )


def layers() -> list[list[str]]:
    """Return the packages of each layer, as import-linter has them: the first imports from no other."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return [[room.strip() for room in re.split("[|:]", layer)] for layer in reversed(contract["layers"])]


def tree() -> str:
    """Return the rooms from the command line down: each, and what it says of itself."""
    lines = ["sedeval_soft/"]
    for layer in reversed(layers()):
        for room in layer:
            path = ROOT / "sedeval_soft" / room
            is_file = not (path / "__init__.py").exists()
            text = (path.with_suffix(".py") if is_file else path / "__init__.py").read_text(encoding="utf-8")
            told = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
            lines.append(f"  {room + ('.py' if is_file else '/'):<18}{told}")
    return "".join(f"{line}\n" for line in lines)


def page(text: str) -> str:
    """Return the page with the rooms as they should be."""
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n```text\n{tree()}```\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
