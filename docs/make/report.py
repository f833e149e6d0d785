"""Look at a report of the sample data, and keep what is seen: the pictures of docs/reference/output.md.

Needs playwright and Chromium: pip install --group browser. CHROMIUM names the browser's program.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from sedeval_soft import write_report

DOCS = Path(__file__).parents[1]
SAMPLE = DOCS.parent / "sample_data"
PICTURES = (("report", 1400, "light", 1500), ("report-phone", 390, "dark", 1200))
"""Name, width and colours of each picture, and how much of the page it has, in pixels."""


def main() -> None:
    """Write the pictures."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "report.html"
        write_report(SAMPLE / "ref.tsv", {"sys.tsv": SAMPLE / "sys.tsv"}, page_file)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, width, scheme, height in PICTURES:
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
            )
            page = context.new_page()
            page.goto(page_file.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            page.wait_for_timeout(500)
            page.screenshot(path=DOCS / "screenshots" / f"{name}.png")
            if width > 1000:
                page.locator("#timeline").scroll_into_view_if_needed()
                page.wait_for_selector("#timeline-figure .main-svg", state="attached")
                page.wait_for_timeout(500)
                page.locator("#timeline").screenshot(path=DOCS / "screenshots" / f"{name}-timeline.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
