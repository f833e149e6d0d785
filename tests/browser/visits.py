"""Pages that are open in a browser, and what they are waited for."""

from dataclasses import dataclass, field
from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "sample_data"
WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 900}


@dataclass
class Visit:
    """A page that is open, and all that it did which it should not."""

    page: object
    wrong: list[str] = field(default_factory=list)

    def watch(self, path: Path) -> None:
        """Write down what goes wrong; the page itself may be read, nothing else."""

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
        """Return what went wrong since the last time."""
        heard, self.wrong[:] = [*self.wrong], []
        return heard


def drawn(page, selector: str = "#timeline-figure") -> None:
    """Bring a figure into sight and wait until it is drawn."""
    page.locator(selector).scroll_into_view_if_needed()
    page.wait_for_selector(f"{selector} .main-svg", state="attached")


def drawn_whole(page) -> None:
    """Go through the whole page, so that all of its figures are drawn."""
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
    """Return how wide a page is in a window of some size."""
    page.set_viewport_size(size)
    page.wait_for_timeout(500)  # figures are drawn again
    return page.evaluate("document.documentElement.scrollWidth")


def taken_over(found: Visit) -> str:
    """Return the title of a page after others' scripts were put into it, as if past the escaping."""
    assert found.heard() == []
    # The browser refuses the script and the handler, the latter when the image has failed: it says so.
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
    """Return what axe finds serious or critical: the rule, and where."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return [
        (each["id"], [node["html"][:200] for node in each["nodes"][:3]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
