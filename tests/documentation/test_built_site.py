"""The site builds strictly, every link in it leads somewhere, and nothing is fetched from anywhere.

Needs `pip install --group docs`; .ci/run has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.slow

FETCHED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
}
"""What a browser fetches by itself; `link` by its rel."""


class Read(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag in FETCHED and FETCHED[tag] in given:
            self.fetched.append(given[FETCHED[tag]])
        elif tag == "link" and given.get("rel") not in {"canonical", "prev", "next"}:
            self.fetched.append(given.get("href", ""))
        elif tag in {"a", "area"} and "href" in given:
            self.links.append(given["href"])


@pytest.fixture(scope="module")
def pages(site):
    return {path: Read(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def is_elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.scheme or parts.netloc) and parts.scheme != "data"


def broken(pages: dict[Path, Read], site: Path) -> Iterator[str]:
    """Yield the addresses within a site that lead nowhere."""
    for path, page in pages.items():
        for address in (*page.links, *page.fetched):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            # The page of errors is served for any address: its links begin at the root of the site.
            start = site if parts.path.startswith("/") else path.parent
            target = (start / unquote(parts.path).removeprefix("/soft-sed-eval").lstrip("/")).resolve()
            target = path if not parts.path else target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{path.name}: {address}"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{path.name}: {address}: no such anchor"


def test_every_link_leads_somewhere(pages, site):
    assert len(pages) > 30
    assert sum(len(page.links) for page in pages.values()) > 1000
    assert [*broken(pages, site)] == []


def test_nothing_is_fetched_from_elsewhere(pages, site):
    for path, page in pages.items():
        assert [address for address in page.fetched if is_elsewhere(address)] == [], path
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        found = re.findall(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)", text)
        assert [a or b for a, b in found if is_elsewhere(a or b)] == [], path
    # The theme would fetch Mermaid from a network for a page that has such a drawing.
    assert not any('class="mermaid"' in path.read_text(encoding="utf-8") for path in pages)


def test_broken_links_and_what_is_fetched_would_be_found(tmp_path):
    page = tmp_path / "index.html"
    page.write_text('<a href="no.html">a</a><a href="#b">b</a><p id="c"><a href="#c">c</a>')
    fetching = '<script src="https://x.y/z.js"></script><link rel="icon" href="//x.y/z.ico"><img src="a.png">'
    assert [*broken({page: Read(page.read_text())}, tmp_path)] == [
        "index.html: no.html",
        "index.html: #b: no such anchor",
    ]
    assert [address for address in Read(fetching).fetched if is_elsewhere(address)] == [
        "https://x.y/z.js",
        "//x.y/z.ico",
    ]


def test_everything_public_is_on_a_page(site):
    text = (site / "reference" / "python" / "index.html").read_text(encoding="utf-8")
    import sedeval_soft

    for name in {*sedeval_soft.__all__} - {"__version__"}:
        assert f'id="sedeval_soft.{name}"' in text, name


def test_formulas_are_drawn_and_scripts_are_no_pages(pages, site):
    text = (site / "explanations" / "readings.html").read_text(encoding="utf-8")
    assert text.count("<math") > 10
    assert "arithmatex" not in "".join(path.read_text(encoding="utf-8") for path in pages)
    assert not (site / "make").exists()
    assert "0.1.0" in (site / "changelog.html").read_text(encoding="utf-8")


def test_parameters_are_listed(site):
    text = (site / "reference" / "python" / "index.html").read_text(encoding="utf-8")
    assert "<li><code>reference</code>, <code>system</code>: each a path" in re.sub(r"</?p>|\n", "", text)


def test_links_to_the_repository_and_code_are_told_apart(site):
    text = (site / "reference" / "limits.html").read_text(encoding="utf-8")
    assert "https://github.com/soft-sed-eval/soft-sed-eval/blob/main/fuzzer/README.md" in text
    shown = (site / "contributing.html").read_text(encoding="utf-8")
    assert 'href="architecture.html"' in shown
    assert 'href="changelog.html"' in shown


def test_words_can_be_searched(site):
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "alpha-cut" in index
    # From a folder, too, where browsers start no workers.
    assert (site / "search" / "search_index.js").is_file()
    assert (site / "javascripts" / "iframe-worker.js").is_file()
