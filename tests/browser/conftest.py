"""A browser without a network, and pages in it that are watched: for errors, requests and dialogs.

Everything here is skipped where playwright or Chromium is missing. CHROMIUM names the browser's program.
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
"""How long anything on a page may take before its test fails."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a browser."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """The browser, one for all tests; they are skipped, saying why, where there is none."""
    for module in ("playwright", "axe_playwright_python"):
        pytest.importorskip(module, reason=f"{module} is not installed: pip install --group browser")
    if CHROMIUM is None:
        pytest.skip(f"no Chromium: none of {', '.join(PROGRAMS)} is on PATH, and CHROMIUM is not set")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # As root, which containers run as, Chromium starts without its sandbox only.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def visiting(chromium) -> Iterator[Callable[..., Visit]]:
    """Yield what opens pages, each in a context of its own; in the end each must have been quiet.

    ready: whether it is waited for the page's own word.
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
"""The same for pages that several tests look at."""


@pytest.fixture(scope="session")
def sample_report(tmp_path_factory) -> tuple[Path, tuple[Scores, ...]]:
    """A report of both systems of the sample, with all its files, and their scores."""
    path = tmp_path_factory.mktemp("sample") / "report.html"
    systems = {"one": SAMPLE / "sys.tsv", "two": SAMPLE / "sys_b.tsv"}
    return path, write_report(SAMPLE / "ref.tsv", systems, path)


@pytest.fixture(scope="session")
def sample(visits, sample_report) -> Visit:
    """Its page, opened once and gone through: a figure that is drawn later moves what is below."""
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
