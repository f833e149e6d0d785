"""The site builds strictly, its pages are complete, and browsers fetch nothing from elsewhere.

Needs `pip install --group docs`, and for what a reader sees without a network, on a phone, `--group browser`
and Chromium; .ci/run has them. Broken links and anchors fail the build (mkdocs.yml).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from documents import ROOT, script

import sedeval_soft

pytestmark = pytest.mark.slow

FETCHED = r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=[\"']?([^\"' >]+)"
LINKED = r"<link\b(?![^>]*\brel=[\"']?(?:canonical|prev|next))[^>]*\bhref=[\"']?([^\"' >]+)"
STYLED = r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)"
"""Links that a browser fetches without a click."""


def elsewhere(text: str) -> list[str]:
    """Return what a page or style sheet has fetched from other machines."""
    found = [
        *re.findall(FETCHED, text),
        *re.findall(LINKED, text),
        *("".join(of) for of in re.findall(STYLED, text)),
    ]
    return [url for url in found if urlsplit(url).netloc or urlsplit(url).scheme not in ("", "data")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site; what asks for it is skipped where it cannot be built, but not in .ci/run."""
    if not (find_spec("mkdocs") and find_spec("mkdocstrings")) and not os.environ.get("SOFT_SED_EVAL_DOCS"):
        pytest.skip("needs mkdocs: pip install --group docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    environment = {**os.environ, "PYTHONWARNINGS": "default", "NO_MKDOCS_2_WARNING": "1"}
    how = {"capture_output": True, "text": True}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, **how)
    assert done.returncode == 0, done.stderr
    return folder


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
    assert "<li><code>reference</code>, <code>system</code>: each " in re.sub(r"</?p>|\n", "", text)


def test_formulas_are_drawn_files_of_the_repository_are_named_and_scripts_are_no_pages(pages, site):
    assert pages["explanations/readings.html"].count("<math") > 10
    assert not any("arithmatex" in text for name, text in pages.items() if name.endswith(".html"))
    assert not (site / "make").exists() and "0.1.0" in pages["changelog.html"]
    repository = script("mkdocs_hooks").URLS.get("Repository")
    named = (
        f'href="{repository}/blob/main/tests/fuzz/README.md"'
        if repository
        else "(<code>tests/fuzz/README.md</code>)"
    )
    assert named in pages["reference/limits.html"]
    assert all(f'href="{name}.html"' in pages["contributing.html"] for name in ("architecture", "changelog"))


def test_the_address_that_pyproject_tells_is_linked_and_filled_in(monkeypatch):
    pytest.importorskip("mkdocs", reason="needs mkdocs: the dependency group docs")
    hooks = script("mkdocs_hooks")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="reference/limits.md"), meta={})
    text = "[a](../../tests/fuzz/README.md#b) [c](../index.md#d) `[e](../../f)` <repository>"
    monkeypatch.setattr(hooks, "URLS", {"Repository": "https://example.org/r", "Documentation": "https://d"})
    assert hooks.on_page_markdown(text, page, None, None) == (
        "[a](https://example.org/r/blob/main/tests/fuzz/README.md#b) [c](../index.md#d) `[e](../../f)` "
        "https://example.org/r"
    )
    config = hooks.on_config(SimpleNamespace(site_url=None, extra={}))
    assert config.site_url == "https://d" and config.extra["social"][0]["link"] == "https://example.org/r"


PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def context():
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium on PATH")
    with playwright.sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser.new_context(viewport=PHONE, offline=True)
        browser.close()


def test_pages_fit_a_phone_and_fetch_nothing(site, context):
    page = context.new_page()
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    paths = [path for path in sorted(site.rglob("*.html")) if path.name != "404.html"]  # that is for servers
    assert len(paths) > 30
    for path in paths:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path.name
        lost = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
        assert page.evaluate(lost) == [], path.name
    assert len(asked) > len(paths)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert wrong == []
