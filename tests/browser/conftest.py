"""A browser without a network; its pages are watched for errors, requests and dialogs.

All tests here are skipped if playwright or Chromium is missing. CHROMIUM names the browser's program.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from visits import SAMPLE, WIDE, Visit, drawn_whole

from sedeval_soft import Scores, write_report

HERE = Path(__file__).parent
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)

SECONDS = 30
"""Longest wait for anything on a page; after it the test fails."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a browser."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """Start one browser for all tests; skip them, with a reason, if there is none."""
    for module in ("playwright", "axe_playwright_python"):
        pytest.importorskip(module, reason=f"{module} is not installed: pip install --group browser")
    if CHROMIUM is None:
        pytest.skip(f"no Chromium: none of {', '.join(PROGRAMS)} is on PATH, and CHROMIUM is not set")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Containers run as root, and as root Chromium starts only without its sandbox.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def visiting(chromium) -> Iterator[Callable[..., Visit]]:
    """Yield a function that opens each page in a new context; in the end, no page may have had an error.

    ready: whether to wait until the page reports that it is ready.
    """
    open_ = []

    def visited(path: Path, fragment: str = "", *, ready: bool = True, scheme: str = "light") -> Visit:
        context = chromium.new_context(
            viewport=WIDE, color_scheme=scheme, offline=True, accept_downloads=True
        )
        context.set_default_timeout(SECONDS * 1000)
        found = Visit(context.new_page())
        found.watch(path)
        open_.append(found)
        found.page.goto(path.as_uri() + fragment)
        if ready:
            found.page.wait_for_selector("html[data-ready]", state="attached")
        return found

    yield visited
    for each in open_:
        each.page.context.close()
    assert [each.wrong for each in open_ if each.wrong] == []


visit = pytest.fixture(visiting, name="visit")
visits = pytest.fixture(visiting, name="visits", scope="session")
"""The same function, for pages that several tests share."""


@pytest.fixture(scope="session")
def sample_report(tmp_path_factory) -> tuple[Path, tuple[Scores, ...]]:
    """Write a report of both systems of the sample, with all files; return the page and the scores."""
    path = tmp_path_factory.mktemp("sample") / "report.html"
    systems = {"one": SAMPLE / "sys.tsv", "two": SAMPLE / "sys_b.tsv"}
    return path, write_report(SAMPLE / "ref.tsv", systems, path)


@pytest.fixture(scope="session")
def sample(visits, sample_report) -> Visit:
    """Open the sample's page once and draw all its figures: one drawn later would move the page below it."""
    found = visits(sample_report[0])
    drawn_whole(found.page)
    return found


@pytest.fixture
def page(sample) -> Iterator[object]:
    """The sample's page; the window is wide, and the first system chosen."""
    yield sample.page
    sample.page.emulate_media(media="screen", color_scheme="light")
    sample.page.set_viewport_size(WIDE)
    sample.page.select_option("#theme", "auto")
    sample.page.select_option("#system", "0")
    assert sample.heard() == []
