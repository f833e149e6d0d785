"""Draw the pictures of plots.md: each by the command that stands above it, as a small PNG."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from PIL import Image

from sedeval_soft.cli.main import group

PAGE = Path(__file__).parents[1] / "reference" / "plots.md"
PICTURES = PAGE.parents[1] / "pictures"
SAMPLES = PAGE.parents[2] / "sample_data"

DPI = 150
"""Dots per inch, which a screen shows about as large as a page."""

COLOURS = 128
"""Colours of a picture, which make it small."""


def commands() -> dict[str, list[str]]:
    """Return the arguments of each picture's command by its name, without where it is written to."""
    text = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"\]\(\.\./pictures/([\w-]+)\.png\)", text)
    found = {}
    for line in re.findall(r"^\$ soft-sed-eval (plot .*)$", text, re.MULTILINE):
        *arguments, option, output = shlex.split(line)
        name = Path(output).stem
        if option == "-o" and name in shown:
            found[name] = arguments
    return {name: found[name] for name in shown}


def draw(name: str, arguments: list[str], folder: Path = PICTURES) -> None:
    """Draw one picture into a folder."""
    path = folder / f"{name}.png"
    tables = [str(SAMPLES / text) if (SAMPLES / text).is_file() else text for text in arguments]
    group.main([*tables, "-o", str(path), "--dpi", str(DPI), "--quiet"], standalone_mode=False)
    with Image.open(path) as drawn:
        few = drawn.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for each, called in commands().items():
        draw(each, called)
