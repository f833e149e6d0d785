"""The README shows what the program prints, and claims no speed that was not measured."""

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
    printed, text = made.printed(), made.PICTURE.read_text(encoding="utf-8")
    assert len(printed.splitlines()) > 12 and "\x1b[1m" in printed
    tree = ET.fromstring(text)  # noqa: S314 - our own picture
    shown = "".join(each.text or "" for each in tree.iter("{http://www.w3.org/2000/svg}text"))
    called = "soft-sed-eval " + " ".join(made.ARGUMENTS)
    assert letters(shown) == letters(f"soft-sed-eval$ {called}{printed}"), "run python docs/make/terminal.py"
    # It fetches nothing.
    assert "docs/screenshots/terminal.svg)" in README
    assert {*re.findall(r"https?://[^\"' )]+", text)} == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|@font-face|url\((?!#)|href", text)


def test_speed_is_claimed_where_it_is_measured():
    measured = SPEED.rows(SPEED.PAGE.read_text(encoding="utf-8"))
    assert len(measured) > 15
    assert all(row.startswith(f"| {case} |") for case, row in measured.items())
    # What is not fast enough is not left out.
    assert any("**no**" in row for row in measured.values())
    claims = r"\bfast(er|est)?\b(?! enough)|\d+(\.\d+)?x\b|\d+ ms\b|times (as|faster)|\bMB\b"
    # The README gives one range, and where it was measured: it holds for most of what is faster than a peer.
    claim = "[10 to 1,000 times faster](docs/performance.md)"
    assert claim in README and not re.search(claims, README.replace(claim, ""))
    ratios = [float(ratio) for row in measured.values() for ratio in re.findall(r"([\d.]+)x faster", row)]
    assert len(ratios) > 8 and sum(10 <= ratio < 2000 for ratio in ratios) > 0.6 * len(ratios)


def test_new_measurements_replace_the_rows_of_their_cases():
    page = "| a | 1 ms | b, 2 ms | 2.0x faster | - | - |\n| c | 1 ms | d, 3 ms | 3.0x | - | - |\n"
    row = "| a | 1 ms | b, 5 ms | 5.0x faster | - | - |"
    assert SPEED.replaced(page, SPEED.rows(row)) == f"{row}\n{page.splitlines()[1]}\n"
