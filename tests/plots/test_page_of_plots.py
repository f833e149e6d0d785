"""The page on figures has a command for each kind, and pictures that these commands draw."""

from __future__ import annotations

import re

from documents import ROOT, script
from PIL import Image

from sedeval_soft.plots.registry import KINDS, SUFFIXES

PAGE = ROOT / "docs" / "reference" / "plots.md"
PICTURES = ROOT / "docs" / "pictures"


def test_each_kind_has_a_command_and_a_row():
    text = PAGE.read_text(encoding="utf-8")
    commands = re.findall(r"^\$ soft-sed-eval plot (\S+) .* -o \S+\.(\w+)$", text, re.MULTILINE)
    assert {kind for kind, _ in commands} == {*KINDS}
    assert {suffix for _, suffix in commands} == {*SUFFIXES}
    assert {*re.findall(r"`([\w-]+)`", "".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)))} == {*KINDS}


def test_pictures_are_small_and_none_is_left_over():
    made = script("plots")
    pictures = [PICTURES / f"{name}.png" for name in made.commands()]
    assert len(pictures) >= 10
    for path in pictures:
        assert path.stat().st_size < 60_000, path
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    for path in PICTURES.iterdir():
        assert f"pictures/{path.name})" in pages, path


def test_a_picture_is_what_its_command_draws(tmp_path):
    """Of one size at least: other versions of matplotlib and its fonts set letters a little differently."""
    made, name = script("plots"), "matrix"
    made.draw(name, made.commands()[name], tmp_path)
    with Image.open(tmp_path / f"{name}.png") as drawn, Image.open(PICTURES / f"{name}.png") as kept:
        assert drawn.size == kept.size
        new, old = (image.convert("L").resize((60, 40), Image.Resampling.BOX) for image in (drawn, kept))
    off = [abs(a - b) for a, b in zip(new.tobytes(), old.tobytes(), strict=True)]
    assert sum(off) / len(off) < 8
