"""Links between documents lead somewhere in the repository, as GitHub shows it; mkdocs looks at the site."""

import re
from functools import cache
from pathlib import Path

from documents import ROOT, without_code

ROOMS = ("", "configs", "sample_data", "tests/fuzz", "benchmarks", "tests")
PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), *(path for room in ROOMS for path in (ROOT / room).glob("*.md"))]
)
LINK = re.compile(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.MULTILINE)


def plain(heading: str) -> str:
    """Return the words of a heading, without marks of Markdown."""
    return re.sub(r"[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))


@cache
def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    headings = map(plain, HEADING.findall(without_code(path.read_text(encoding="utf-8"))))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def broken(path: Path, text: str) -> list[str]:
    """Return the links of a page that lead nowhere."""
    wrong = []
    for target in LINK.findall(without_code(text)):
        name, _, anchor = target.partition("#")
        other = (path.parent / name).resolve() if name else path
        found = other.exists() and other.is_relative_to(ROOT)
        known = not anchor or other.suffix != ".md" or (found and anchor in anchors(other))
        if not (re.match(r"[a-z]+:", target) or (found and known)):
            wrong.append(target)
    return wrong


def test_links_lead_somewhere():
    assert len(PAGES) > 30
    texts = {path: path.read_text(encoding="utf-8") for path in PAGES}
    assert sum(len(LINK.findall(text)) for text in texts.values()) > 100
    assert {path: wrong for path, text in texts.items() if (wrong := broken(path, text))} == {}


def test_broken_links_are_found():
    lost = ["nowhere.md", "../../elsewhere.md", "reference/codes.md#nothing"]
    fine = ["reference/codes.md#exit-codes", "https://x.y"]
    text = "".join(f"[a]({target}) `[b](c)` " for target in (*lost, *fine))
    assert broken(ROOT / "docs" / "index.md", text) == lost


def test_every_page_has_one_title():
    for path in (ROOT / "docs").rglob("*.md"):
        titles = re.findall(r"^# ", without_code(path.read_text(encoding="utf-8")), re.MULTILINE)
        assert len(titles) == 1, path
