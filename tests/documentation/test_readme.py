"""The README shows what the program prints, and claims no speed that was not measured."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree as ET

import pytest
from documents import ROOT, script

README = (ROOT / "README.md").read_text(encoding="utf-8")
SPEED = script("speed")


def letters(text: str) -> str:
    """Return a text without blanks, colours and lines: what is left is the same however it is drawn."""
    return re.sub(r"\x1b\[[0-9;]*m|[\s\u2500]", "", text)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_the_picture_is_what_the_program_prints():
    made = script("terminal")
    printed = made.printed()
    assert len(printed.splitlines()) > 12
    assert "\x1b[1m" in printed
    text = made.PICTURE.read_text(encoding="utf-8")
    tree = ET.fromstring(text)  # noqa: S314 - our own picture
    shown = "".join(each.text or "" for each in tree.iter("{http://www.w3.org/2000/svg}text"))
    called = "soft-sed-eval " + " ".join(made.ARGUMENTS)
    assert letters(shown) == letters(f"soft-sed-eval$ {called}{printed}"), "run python docs/make/terminal.py"
    # It fetches nothing.
    assert "docs/screenshots/terminal.svg)" in README
    assert {*re.findall(r"https?://[^\"' )]+", text)} == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|@font-face|url\((?!#)|href", text)


def test_speed_is_a_row_of_the_page_of_performance_and_nothing_else_claims_any():
    page = SPEED.PAGE.read_text(encoding="utf-8")
    shown, measured = SPEED.rows(README), SPEED.rows(page)
    assert len(shown) >= 8
    for case, row in shown.items():
        assert measured.get(case) == row, "run python docs/make/speed.py"
    # What is not fast enough is not left out.
    assert any("**no**" in row for row in shown.values())
    assert len(measured) > 30
    assert all(row.startswith(f"| {case} |") for case, row in measured.items())
    rest = README
    for row in shown.values():
        rest = rest.replace(row, "")
    claims = r"\bfast(er|est)?\b(?! enough)|\d+(\.\d+)?x\b|\d+ ms\b|times (as|faster)|\bMB\b"
    assert not re.search(claims, rest)
