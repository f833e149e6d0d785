"""Run the commands of the guides to annotators and to DESED, and keep what they print and draw.

python docs/make/annotators.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "annotators.md"
DESED = ROOT / "docs" / "guides" / "desed.md"
DATA = ROOT.parent / "shared" / "data" / "dcase2019_task4"
"""The data of the guide to DESED, which are not part of a checkout."""

PICTURES = {
    "timeline.png": ROOT / "docs" / "pictures" / "annotators-timeline.png",
}
"""The pictures that the commands draw, and where they are kept."""

COMMANDS = Path(sys.executable).parent
"""Where the command is that the page calls."""

COLOURS = 128
"""Colours of a picture, which make it small."""

_BLOCK = re.compile(r"^    \$ (.*)\n((?:    (?!\$ ).*\n|\n+(?=    (?!\$ )))*)", re.MULTILINE)


def made(text: str, folder: Path) -> str:
    """Return the page with what its commands print, run one after the other in a folder."""
    (folder / "sample_data").symlink_to(ROOT / "sample_data")
    if DATA.is_dir():
        (folder / "desed").symlink_to(DATA)
    path = os.pathsep.join((str(COMMANDS), str(Path(sys.executable).parent), os.environ["PATH"]))

    def block(found: re.Match[str]) -> str:
        command = ["bash", "-euo", "pipefail", "-c", found[1]]
        ran = subprocess.run(  # noqa: S603 - the guide's own commands
            command,
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        lines = [f"    {line}".rstrip() for line in ran.stdout.splitlines()]
        return "\n".join((f"    $ {found[1]}", *lines, ""))

    return _BLOCK.sub(block, text)


def page(text: str) -> str:
    """Return the page as it should be."""
    with TemporaryDirectory() as folder:
        return made(text, Path(folder))


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        PAGE.write_text(made(PAGE.read_text(encoding="utf-8"), Path(name)), encoding="utf-8")
        for drawn, kept in PICTURES.items():
            with Image.open(Path(name) / drawn) as picture:
                few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            few.save(kept, optimize=True)
    if DATA.is_dir():
        DESED.write_text(page(DESED.read_text(encoding="utf-8")), encoding="utf-8")
