"""Draw what the program prints on a terminal: the picture of the README.

    python docs/make/terminal.py

The program runs on a pseudo-terminal (Linux, macOS); rich draws what came out as SVG.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "screenshots" / "terminal.svg"
SAMPLES = ROOT / "sample_data"
ARGUMENTS = ("ref.tsv", "sys.tsv")
WIDTH = 80

FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<title>soft-sed-eval ref.tsv sys.tsv, as a terminal shows it</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; \
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""rich's own without its fonts, which would have to be fetched."""


def printed() -> str:
    """Return what the program prints on a terminal."""
    terminal, programs = pty.openpty()
    fcntl.ioctl(programs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, WIDTH, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    search = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment |= {"TERM": "xterm-256color", "COLUMNS": str(WIDTH), "PYTHONPATH": search}
    command = [sys.executable, "-m", "sedeval_soft", *ARGUMENTS]
    pieces = []
    with subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=SAMPLES, env=environment, stdin=programs, stdout=programs, stderr=programs
    ):
        os.close(programs)
        # Linux tells the end of the program as an error of input.
        with contextlib.suppress(OSError):
            while piece := os.read(terminal, 65536):
                pieces.append(piece)
    os.close(terminal)
    return b"".join(pieces).decode().replace("\r\n", "\n").rstrip("\n")


def picture(shown: str) -> str:
    """Return lines with the colours of a terminal as SVG."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(Text("$ soft-sed-eval " + " ".join(ARGUMENTS), style="bold"))
    console.print(Text.from_ansi(shown))
    drawn = console.export_svg(title="soft-sed-eval", code_format=FORMAT, unique_id="terminal")
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(printed()), encoding="utf-8")
