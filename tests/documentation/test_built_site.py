"""The site builds strictly, its pages are complete, and browsers fetch nothing from elsewhere.

Needs `pip install --group docs`; the test on a phone without a network also needs `--group browser` and
Chromium. .ci/run has them all. Broken links and anchors fail the build (mkdocs.yml).
"""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from documents import ROOT, script

import sedeval_soft

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the built site; without mkdocs, its tests are skipped, except in .ci/run."""
    if not (find_spec("mkdocs") and find_spec("mkdocstrings")) and not os.environ.get("SOFT_SED_EVAL_DOCS"):
        pytest.skip("needs mkdocs: pip install --group docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    environment = {**os.environ, "PYTHONWARNINGS": "default", "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_formulas_are_drawn_files_of_the_repository_are_named_and_scripts_are_no_pages(site):
    pages = {path.relative_to(site).as_posix(): path.read_text("utf-8") for path in site.rglob("*.html")}
    assert len(pages) > 30 and not (site / "make").exists()
    assert pages["explanations/readings.html"].count("<math") > 10
    assert not any("arithmatex" in text for text in pages.values())
    python = re.sub(r"</?p>|\n", "", pages["reference/python/index.html"])
    assert "<li><code>reference</code>, <code>system</code>: each " in python
    repository, name = script("mkdocs_hooks").URLS.get("Repository"), "tests/fuzz/README.md"
    named = f'href="{repository}/blob/main/{name}"' if repository else f"(<code>{name}</code>)"
    told = {
        "reference/limits.html": named, "changelog.html": sedeval_soft.__version__,
        "contributing.html": 'href="architecture.html"',
    }  # fmt: skip
    assert all(text in pages[page] for page, text in told.items())


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


def test_pages_fit_a_phone_and_fetch_nothing(site):
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium on PATH")
    paths = [path for path in sorted(site.rglob("*.html")) if path.name != "404.html"]  # that is for servers
    asked, wrong = [], []
    with playwright.sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 844}, offline=True)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        for path in paths:
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path.name
            lost = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
            assert page.evaluate(lost) == [], path.name
    assert len(asked) > len(paths) > 30
    assert wrong + [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
