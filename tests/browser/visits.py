"""Pages that are open in a browser, and what they are waited for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Visit:
    """A page that is open, and all that it did which it should not."""

    page: object
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def watch(self, path: Path) -> None:
        """Write down what goes wrong; the page itself may be read, nothing else."""

        def dismissed(dialog):
            self.dialogs.append(dialog.message)
            dialog.dismiss()

        self.page.on(
            "console", lambda said: said.type in ("error", "warning") and self.errors.append(said.text)
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", dismissed)
        self.page.on("request", lambda request: self._asked(request.url, path))

    def _asked(self, url: str, path: Path) -> None:
        own = url.split("#", maxsplit=1)[0] == path.as_uri()
        if not own and not url.startswith(("data:", "blob:")):
            self.requests.append(url)

    def was_quiet(self) -> None:
        """Assert that nothing went wrong."""
        assert (self.errors, self.requests, self.dialogs) == ([], [], [])


@dataclass(frozen=True)
class Made:
    """A report: where it is, and the scores of its systems."""

    path: Path
    scores: tuple


def drawn(visit: Visit, selector: str = "#timeline-figure") -> None:
    """Bring a figure into sight and wait until it is drawn."""
    visit.page.locator(selector).scroll_into_view_if_needed()
    visit.page.wait_for_selector(f"{selector} .main-svg", state="attached")


def drawn_whole(visit: Visit) -> None:
    """Go through the whole page, so that all of its figures are drawn."""
    visit.page.evaluate(
        """async () => {
            for (let y = 0; y < document.documentElement.scrollHeight; y += 600) {
                scrollTo(0, y);
                await new Promise((done) => setTimeout(done, 50));
            }
            scrollTo(0, 0);
        }"""
    )
    visit.page.wait_for_timeout(300)
