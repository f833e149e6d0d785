"""Open pages in a browser, and functions that wait for them."""

from dataclasses import dataclass, field
from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "sample_data"
WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 900}


@dataclass
class Visit:
    """An open page, and a list of everything that it should not have done."""

    page: object
    wrong: list[str] = field(default_factory=list)

    def watch(self, path: Path) -> None:
        """Note errors, dialogs and requests; the page may load itself, and nothing else."""

        def dismissed(dialog):
            self.wrong.append(dialog.message)
            dialog.dismiss()

        def asked(request):
            if request.url.split("#")[0] != path.as_uri() and not request.url.startswith(("data:", "blob:")):
                self.wrong.append(request.url)

        self.page.on(
            "console", lambda said: said.type in ("error", "warning") and self.wrong.append(said.text)
        )
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", dismissed)
        self.page.on("request", asked)

    def heard(self) -> list[str]:
        """Return the entries since the last call."""
        heard, self.wrong[:] = [*self.wrong], []
        return heard


def drawn(page, selector: str = "#timeline-figure") -> None:
    """Scroll to a figure, and wait until it is drawn."""
    page.locator(selector).scroll_into_view_if_needed()
    page.wait_for_selector(f"{selector} .main-svg", state="attached")


def drawn_whole(page) -> None:
    """Scroll through the whole page, so that it draws all figures."""
    page.evaluate(
        """async () => {
            for (let y = 0; y < document.documentElement.scrollHeight; y += 600) {
                scrollTo(0, y);
                await new Promise((done) => setTimeout(done, 50));
            }
            scrollTo(0, 0);
        }"""
    )
    page.wait_for_timeout(300)


def width_in(page, size) -> int:
    """Return the width of a page in a window of some size."""
    page.set_viewport_size(size)
    page.wait_for_timeout(500)  # figures are redrawn
    return page.evaluate("document.documentElement.scrollWidth")


def taken_over(found: Visit) -> str:
    """Put foreign scripts into a page, as if escaping had failed, and return its title."""
    assert found.heard() == []
    # The browser refuses both script and handler, and reports the handler when the image fails to load.
    with found.page.expect_console_message(lambda said: "event handler" in said.text):
        found.page.evaluate(
            """() => {
                const script = document.createElement("script");
                script.textContent = "document.title = 'taken over'";
                const image = document.createElement("div");
                image.innerHTML = "<img src=x onerror=\\"document.title = 'taken over'\\">";
                document.body.append(script, image);
            }"""
        )
    assert sum("Content Security Policy" in text for text in found.heard()) >= 2
    return found.page.title()


def violations(page, **options) -> list[tuple]:
    """Return the serious and critical findings of axe: the rule, and the place."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return [
        (each["id"], [node["html"][:200] for node in each["nodes"][:3]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
