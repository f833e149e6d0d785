"""Links between documents lead somewhere, in the repository (as GitHub shows it) and on the site."""

from __future__ import annotations

import re
import unicodedata
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


def on_github(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", plain(heading).strip().lower()).replace(" ", "-")


def on_the_site(heading: str) -> str:
    """Return the anchor that Python-Markdown gives a heading."""
    text = unicodedata.normalize("NFKD", plain(heading)).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())


@cache
def anchors(path: Path) -> tuple[set[str], set[str]]:
    """The anchors of a page: on GitHub, and on the site."""
    headings = HEADING.findall(without_code(path.read_text(encoding="utf-8")))
    return {on_github(h) for h in headings}, {on_the_site(h) for h in headings}


def broken(path: Path, text: str) -> list[str]:
    """Return the links of a page that lead nowhere."""
    wrong = []
    for target in LINK.findall(without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        other = (path.parent / name).resolve() if name else path
        if not other.exists() or not other.is_relative_to(ROOT):
            wrong.append(f"{target}: no such file")
        elif anchor and other.suffix == ".md" and not all(anchor in known for known in anchors(other)):
            wrong.append(f"{target}: no such heading, on GitHub or on the site")
    return wrong


def test_links_lead_somewhere():
    assert len(PAGES) > 30
    texts = {path: path.read_text(encoding="utf-8") for path in PAGES}
    assert sum(len(LINK.findall(text)) for text in texts.values()) > 100
    assert {path: wrong for path, text in texts.items() if (wrong := broken(path, text))} == {}


def test_broken_links_are_found():
    page = ROOT / "docs" / "index.md"
    assert broken(page, "[a](nowhere.md)") == ["nowhere.md: no such file"]
    assert broken(page, "[a](../../elsewhere.md)") == ["../../elsewhere.md: no such file"]
    assert broken(page, "[a](reference/codes.md#nothing)")
    assert broken(page, "[a](reference/codes.md#exit-codes) `[b](c)` https://x.y [d](https://x.y)") == []


def test_every_page_has_one_title_and_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    listed = set(re.findall(r"[\w/-]+\.md", re.sub(r"#.*", "", navigation)))
    for path in (ROOT / "docs").rglob("*.md"):
        name = path.relative_to(ROOT / "docs").as_posix()
        assert name in listed, f"docs/{name} is not in the navigation of mkdocs.yml"
        titles = re.findall(r"^# ", without_code(path.read_text(encoding="utf-8")), re.MULTILINE)
        assert len(titles) == 1, name
