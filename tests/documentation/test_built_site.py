"""The site builds strictly, its pages hold what they should, and nothing is fetched from anywhere.

Needs `pip install --group docs`; .ci/run has it. Broken links and anchors fail the build (mkdocs.yml).
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

import sedeval_soft

pytestmark = pytest.mark.slow

FETCHED = r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=[\"']?([^\"' >]+)"
LINKED = r"<link\b(?![^>]*\brel=[\"']?(?:canonical|prev|next))[^>]*\bhref=[\"']?([^\"' >]+)"
STYLED = r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)"
"""What a browser fetches by itself."""


def elsewhere(text: str) -> list[str]:
    """Return what a page or style sheet has fetched from other machines."""
    found = [
        *re.findall(FETCHED, text),
        *re.findall(LINKED, text),
        *("".join(of) for of in re.findall(STYLED, text)),
    ]
    return [url for url in found if urlsplit(url).netloc or urlsplit(url).scheme not in ("", "data")]


@pytest.fixture(scope="module")
def pages(site):
    return {
        path.relative_to(site).as_posix(): path.read_text(encoding="utf-8")
        for path in site.rglob("*")
        if path.suffix in {".html", ".css"}
    }


def test_nothing_is_fetched_from_elsewhere(pages):
    assert len(pages) > 30
    assert {name: found for name, text in pages.items() if (found := elsewhere(text))} == {}
    # The theme would fetch Mermaid from a network for a page that has such a drawing.
    assert not any('class="mermaid"' in text for text in pages.values())
    fetching = '<script src="https://x.y/z.js"></script><link rel="icon" href="//x.y/z.ico"><img src="a.png">'
    assert elsewhere(fetching) == ["https://x.y/z.js", "//x.y/z.ico"]


def test_everything_public_is_on_a_page_with_its_parameters(pages):
    text = pages["reference/python/index.html"]
    for name in {*sedeval_soft.__all__} - {"__version__"}:
        assert f'id="sedeval_soft.{name}"' in text, name
    assert "<li><code>reference</code>, <code>system</code>: each a path" in re.sub(r"</?p>|\n", "", text)


def test_formulas_are_drawn_links_lead_to_the_repository_and_scripts_are_no_pages(pages, site):
    assert pages["explanations/readings.html"].count("<math") > 10
    assert not any("arithmatex" in text for name, text in pages.items() if name.endswith(".html"))
    assert not (site / "make").exists() and "0.1.0" in pages["changelog.html"]
    repository = "https://github.com/soft-sed-eval/soft-sed-eval/blob/main"
    assert f"{repository}/fuzzer/README.md" in pages["reference/limits.html"]
    assert all(f'href="{name}.html"' in pages["contributing.html"] for name in ("architecture", "changelog"))


def test_words_can_be_searched(site):
    assert "alpha-cut" in (site / "search" / "search_index.json").read_text(encoding="utf-8")
    # From a folder, too, where browsers start no workers.
    assert (site / "search" / "search_index.js").is_file()
    assert (site / "javascripts" / "iframe-worker.js").is_file()
