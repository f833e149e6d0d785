"""Draw the pictures of docs/tutorial/soft-labels.md, and write the page in which thresholds can be moved.

    python docs/make/tutorial.py

Page and SVG are the same bytes every time: they are written as text, from the sample and from Table 1 of
Harju & Mesaros 2023. The timeline is drawn by the command that the tutorial shows, which needs matplotlib.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from sedeval_soft.report.outcomes import stylesheet

TUTORIAL = Path(__file__).parents[1] / "tutorial"
PICTURES = TUTORIAL / "pictures"
SAMPLES = TUTORIAL.parents[1] / "sample_data"
TEMPLATE = Path(__file__).parent / "explorer.html"
DATA = "/* data */"
"""Where the template takes its data."""
OUTCOMES = "/* outcomes */"
"""Where it takes the colours of hits, misses and false alarms."""

REFERENCE, SYSTEM = (0.4, 0.4, 0.5, 0.7), (0.5, 0.5, 0.4, 0.4)
"""The third case of Table 1: values of one class in four segments."""

INK, QUIET, LINE = "#1b1f24", "#57606a", "#d0d7de"
BOLD = ' style="font-weight:600"'
BLUE, ORANGE, GREEN = "#0b5cad", "#b35900", "#1a7f5a"

Cell = tuple[str, int, str]
"""A file, a second, a class."""

Point = tuple[float, float]


def picture(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """Return an SVG on white, which is read on dark pages, too."""
    style = "text{font:14px system-ui,'Segoe UI',Helvetica,Arial,sans-serif}"
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            f"<title>{title}</title>",
            f"<style>{style}</style>",
            f'<rect width="{width}" height="{height}" rx="6" fill="#fff"/>',
            *parts,
            "</svg>\n",
        )
    )


def text(x: float, y: float, said: str, fill: str = INK, anchor: str = "start", more: str = "") -> str:
    """Return a line of text."""
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}"{more}>{said}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, opacity: float = 1) -> str:
    """Return a filled rectangle."""
    size = f'width="{width:g}" height="{height:g}"'
    return f'<rect x="{x:g}" y="{y:g}" {size} fill="{fill}" opacity="{opacity:g}"/>'


def path(points: Sequence[Point], stroke: str, more: str = "") -> str:
    """Return a line through points."""
    through = " L".join(f"{x:.2f} {y:.2f}" for x, y in points)
    return f'<path d="M{through}" fill="none" stroke="{stroke}" stroke-width="2"{more}/>'


def bold(x: float, y: float, said: str) -> str:
    """Return the heading of a panel."""
    return text(x, y, said, more=BOLD)


def third_case() -> str:
    """Return four segments twice: as the hard reading sees them, and as the soft one does."""
    base, scale = 220, 170
    parts = [bold(40, 30, "hard: at least 0.5"), bold(400, 30, "soft: what both have")]
    for left in (40, 400):
        parts += [path([(left, base), (left + 300, base)], LINE)]
        parts += [text(left + 40 + 72 * i, base + 20, f"{i + 1} s", QUIET, "middle") for i in range(4)]
        parts += [text(left - 6, base - scale * v + 5, f"{v:g}", QUIET, "end") for v in (0.5, 1)]
    level = base - scale * 0.5
    for i, (y, p) in enumerate(zip(REFERENCE, SYSTEM, strict=True)):
        left = 40 + 12 + 72 * i
        for at, value, colour in ((0, y, BLUE), (29, p, ORANGE)):
            height = scale * value
            parts.append(box(left + at, base - height, 26, height, colour, 1 if value >= 0.5 else 0.22))
        left, low, high = 400 + 12 + 72 * i, scale * min(y, p), scale * max(y, p)
        parts.append(box(left, base - high, 55, high - low, BLUE if y > p else ORANGE, 0.85))
        parts.append(box(left, base - low, 55, low, GREEN, 0.85))
    parts.append(path([(40, level), (340, level)], INK, ' stroke-dasharray="6 4"'))
    parts += [
        text(40, 270, "in common: 0 of 2 and 2"),
        text(40, 290, "F = 0 %", more=BOLD),
        text(400, 270, "in common: 1.6 of 2.0 and 1.8"),
        text(400, 290, "F = 2 · 1.6 / (2.0 + 1.8) = 84.2 %", more=BOLD),
    ]
    colours = ((BLUE, "reference"), (ORANGE, "system"), (GREEN, "both"))
    for i, (colour, said) in enumerate(colours):
        parts += [box(40 + 120 * i, 312, 14, 14, colour), text(60 + 120 * i, 324, said, QUIET)]
    return picture(740, 345, "Four segments: nothing in common at 0.5, most of it over all levels", parts)


def counted(level: float) -> tuple[int, int, int]:
    """Return how many segments reach a level: of the reference, of the system, of both."""
    ours, theirs = ([value >= level for value in side] for side in (REFERENCE, SYSTEM))
    return sum(ours), sum(theirs), sum(a and b for a, b in zip(ours, theirs, strict=True))


def levels() -> str:
    """Return the counts of the third case over all levels; the areas are the soft counts."""
    left, base, wide, high = 60, 260, 560, 200

    def at(level: float, count: float) -> Point:
        return left + wide * level, base - high * count / 4

    cuts = sorted({0.0, *REFERENCE, *SYSTEM, 1.0})
    steps = [(low, up, counted(up)) for low, up in pairwise(cuts)]
    parts = [bold(left, 30, "how many of the four segments reach a level")]
    for low, up, (_, _, both) in steps:
        x, y = at(low, both)
        parts.append(box(x, y, wide * (up - low), base - y, GREEN, 0.3))
    for which, colour, dashes in ((0, BLUE, ""), (1, ORANGE, ' stroke-dasharray="7 4"'), (2, GREEN, "")):
        points = [
            point for low, up, counts in steps for point in (at(low, counts[which]), at(up, counts[which]))
        ]
        parts.append(path(points, colour, dashes))
    parts += [text(left - 10, base - high * n / 4 + 5, str(n), QUIET, "end") for n in range(5)]
    parts += [text(left + wide * n / 10, base + 22, f"{n / 10:g}", QUIET, "middle") for n in range(0, 11, 2)]
    parts += [
        path([(left, base), (left + wide, base)], LINE),
        text(left + wide / 2, base + 44, "level", QUIET, "middle"),
    ]
    middle, _ = at(0.5, 0)
    parts += [
        path([(middle, base), (middle, base - high)], INK, ' stroke-dasharray="2 4"'),
        text(middle + 8, 75, "0.5: all that the hard reading sees"),
        text(left + 60, base - 70, "area of both: 1.6", GREEN, more=BOLD),
        text(left + wide - 10, 150, "area of the reference: 2.0", BLUE, "end"),
        text(left + wide - 10, 172, "area of the system: 1.8", ORANGE, "end"),
    ]
    return picture(680, 320, "Counts of segments over all levels; the areas are the soft counts", parts)


def read(name: str) -> dict[Cell, float]:
    """Return the values of a table of the sample, all of whose rows are one second long."""
    with (SAMPLES / f"{name}.tsv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream, delimiter="\t") if row["onset"]]
    return {
        (row["filename"], int(float(row["onset"])), row["event_label"]): float(row["soft_value"])
        for row in rows
    }


def hard_f(reference: Mapping[Cell, float], system: Mapping[Cell, float], threshold: float) -> float:
    """Return the hard micro F of segments with both sides cut above a threshold."""
    ours, theirs = ({cell for cell, v in side.items() if v > threshold} for side in (reference, system))
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours or theirs else 0.0


def soft_f(reference: Mapping[Cell, float], system: Mapping[Cell, float]) -> float:
    """Return the soft micro F of segments."""
    both = sum(min(value, system[cell]) for cell, value in reference.items() if cell in system)
    return 2 * both / (sum(reference.values()) + sum(system.values()))


def thresholds() -> str:
    """Return hard F of the sample's systems over the threshold of both sides, and their soft F."""
    left, base, wide, high = 60, 300, 500, 250
    reference = read("ref")

    def at(x: float, y: float) -> Point:
        return left + wide * x, base - high * y

    parts = [bold(left, 28, "micro F of segments, both sides cut at the same threshold")]
    parts += [path([at(0, y), at(1, y)], LINE, ' opacity="0.6"') for y in (0, 0.25, 0.5, 0.75, 1)]
    parts += [text(left - 10, at(0, y)[1] + 5, f"{y:g}", QUIET, "end") for y in (0, 0.25, 0.5, 0.75, 1)]
    parts += [text(at(n / 10, 0)[0], base + 22, f"{n / 10:g}", QUIET, "middle") for n in range(0, 11, 2)]
    parts.append(text(left + wide / 2, base + 44, "threshold", QUIET, "middle"))
    for name, colour, said in (("sys", BLUE, "knows the doubt"), ("sys_b", ORANGE, "is sure of all")):
        system = read(name)
        line = [at(n / 100, hard_f(reference, system, n / 100)) for n in range(1, 100)]
        level = soft_f(reference, system)
        parts += [path(line, colour), path([at(0, level), at(1, level)], colour, ' stroke-dasharray="7 4"')]
        y = at(0, level)[1]
        parts += [text(left + wide + 10, y, f"soft {level:.3f}", colour, more=BOLD)]
        parts += [text(left + wide + 10, y + 18, f"{name}.tsv {said}", colour)]
    x = at(0.5, 0)[0]
    parts.append(path([(x, base), (x, base - high)], INK, ' stroke-dasharray="2 4"'))
    return picture(
        750, 365, "Hard F over the threshold of both sides crosses; soft F does not ask for one", parts
    )


def explorer() -> str:
    """Return the page: the template with the sample and the third case in it."""
    reference = read("ref")
    names = sorted({file for file, _, _ in reference})
    third = {
        "name": "Table 1, third case",
        "classes": ["the only class"],
        "files": [{"name": "four segments", "reference": [[*REFERENCE]], "system": [[*SYSTEM]]}],
    }
    cases = [third]
    for name, said in (("sys", "knows the doubt"), ("sys_b", "is sure of all")):
        system = read(name)
        classes = sorted({label for side in (reference, system) for _, _, label in side})
        files = []
        for file in sorted({*names, *(file for file, _, _ in system)}):
            ends = [second + 1 for side in (reference, system) for at, second, _ in side if at == file]
            sides = {
                role: [[side.get((file, t, label), 0) for t in range(max(ends))] for label in classes]
                for role, side in (("reference", reference), ("system", system))
            }
            files.append({"name": file, **sides})
        cases.append({"name": f"{name}.tsv, which {said}", "classes": classes, "files": files})
    template = TEMPLATE.read_text(encoding="utf-8").replace(OUTCOMES, stylesheet().rstrip())
    return template.replace(DATA, json.dumps(cases, separators=(",", ":")))


MADE: Mapping[str, Callable[[], str]] = {
    "pictures/third-case.svg": third_case,
    "pictures/levels.svg": levels,
    "pictures/thresholds.svg": thresholds,
    "explorer.html": explorer,
}
"""What is made, below docs/tutorial, and by what."""


def draw_timeline(folder: Path = PICTURES) -> None:
    """Draw the picture of the tutorial's `plot` command, with few colours, which make it small."""
    from PIL import Image

    from sedeval_soft.cli.main import group

    page = (TUTORIAL / "soft-labels.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\$ soft-sed-eval (plot .*)$", page, re.MULTILINE)
    arguments = [str(SAMPLES / word) if (SAMPLES / word).is_file() else word for word in shlex.split(line)]
    drawn = folder / arguments[-1]
    group.main([*arguments[:-1], str(drawn), "--dpi", "120", "--quiet"], standalone_mode=False)
    with Image.open(drawn) as image:
        few = image.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    few.save(drawn, optimize=True)


def main() -> None:
    """Write all of it."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, make in MADE.items():
        (TUTORIAL / name).write_text(make(), encoding="utf-8", newline="\n")
    draw_timeline()


if __name__ == "__main__":
    main()
