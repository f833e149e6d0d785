"""The site as a reader has it: from a folder, without a network, on a phone.

Needs `--group docs`, and `--group browser` and Chromium as tests/browser does; .ci/run has them.
"""

from __future__ import annotations

import os
import shutil

import pytest

pytest.importorskip("playwright")

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")]

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def context():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_context(viewport=PHONE, offline=True)
        browser.close()


def test_pages_fit_a_phone_and_fetch_nothing(site, context):
    page = context.new_page()
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    paths = [path for path in sorted(site.rglob("*.html")) if path.name != "404.html"]  # that is for servers
    assert len(paths) > 40
    for path in paths:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path.name
        lost = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
        assert page.evaluate(lost) == [], path.name
    assert len(asked) > len(paths)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert wrong == []


def test_search_finds_words_without_a_server(site, context):
    page = context.new_page()
    page.goto((site / "reference" / "index.html").as_uri())
    page.locator("label[for=__search]").first.click()
    page.locator("[data-md-component=search-query]").press_sequentially("alpha-cut")
    found = page.locator(".md-search-result__item")
    found.first.wait_for(timeout=20_000)
    assert "Three readings" in " ".join(found.all_inner_texts())
