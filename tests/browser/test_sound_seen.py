"""Sounds in a browser: the place of the spectrogram, playback, and the files that the page may load."""

import numpy as np
import pytest
from tables import long_rows
from tones import noise, sweep, write
from visits import PHONE, WIDE, drawn, violations

from sedeval_soft import write_report

FIGURE = "#timeline-figure"
STRIP = f"{FIGURE} .subplot.xy2 image"
SECONDS = 20.0


def made(folder, name="report.html"):
    """Write a report of three recordings: a tone, 10 s of noise for 20 s of labels, and one without sound."""
    write(folder / "audio" / "a.wav", sweep(SECONDS, 8_000, 100, 3_500), 8_000)
    write(folder / "audio" / "b.flac", noise(SECONDS / 2, 8_000, 1), 8_000)
    reference, system = (
        long_rows([(file, *times, label, 1.0) for file in "abc" for times in ((4.0, 6.0), (12.0, 15.0))])
        for label in ("car", "dog")
    )
    write_report(
        *(reference, {"s": system}, folder / name),
        audio=folder / "audio",
        durations=dict.fromkeys("abc", SECONDS),
    )
    return folder / name


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return made(tmp_path_factory.mktemp("sounds"))


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """The same report, with its sounds in files next to it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sedeval_soft.apps.page.sounds.INSIDE", 0)
        return made(tmp_path_factory.mktemp("beside"), "my report.html")


@pytest.fixture(scope="module")
def opened(visits, report):
    found = visits(report)
    drawn(found.page)
    return found


@pytest.fixture
def player(opened):
    """Show the whole first recording on the page, without playing it."""
    page = opened.page
    page.set_viewport_size(WIDE)
    page.emulate_media(media="screen")
    page.select_option("#timeline-file", index=1)
    page.select_option("#timeline-file", index=0)
    looks_at(page, 0, SECONDS)
    page.wait_for_selector(STRIP, state="attached")
    return page


def looks_at(page, begin, end):
    """Wait until the figure shows this range of time."""
    page.wait_for_function(
        f"""() => {{
            const figure = document.querySelector("{FIGURE}"), {{ range }} = figure.layout.xaxis;
            return figure.dataset.file === "a" && range[0] === {begin} && range[1] === {end};
        }}"""
    )


def at(page):
    """Return the time that the page shows, in seconds."""
    return float(page.inner_text("#timeline-at").split()[0])


def plays(page, from_=0.0):
    """Wait until a sound plays beyond a time; return the time that the page shows."""
    page.locator("#timeline-play").get_by_text("Pause").wait_for()
    page.wait_for_function(f"() => parseFloat(document.querySelector('#timeline-at').textContent) > {from_}")
    return at(page)


def seen(page):
    """Return for each part of the player whether it is visible."""
    return {name: page.is_visible(f"#timeline-{name}") for name in ("player", "head", "sound")}


def x_of(page, time, begin=0.0, end=SECONDS):
    """Return the horizontal pixel of a time, for the visible range of time."""
    box = page.locator(f"{FIGURE} .nsewdrag").first.bounding_box()
    return box["x"] + (time - begin) / (end - begin) * box["width"]


def test_the_strip_stands_on_the_axis_of_time(player):
    for size, move, time in ((WIDE, "out", (0, 20)), (PHONE, "in", (5, 15))):
        player.set_viewport_size(size)
        player.click(f"[data-move={move}]")
        looks_at(player, *time)
        player.wait_for_timeout(300)
        box, named = player.locator(STRIP).bounding_box(), "find(({ name }) => name === 'spectrogram')"
        shown = player.evaluate(f"document.querySelector('{FIGURE}').data.{named}.x")
        ends = [x_of(player, shown[at], *time) for at in (0, -1)]
        assert [box["x"], box["x"] + box["width"]] == pytest.approx(ends, abs=1)
        # Bars and strip share the axis, and the strip is below all classes.
        bar = player.locator(f"{FIGURE} .barlayer .point path").last.bounding_box()
        assert bar["x"] + bar["width"] / 2 == pytest.approx(x_of(player, 13.5, *time), abs=1.5)
        assert box["y"] > bar["y"] + bar["height"]


def test_what_is_drawn_is_the_tone(player):
    """The darkest band of the picture rises with the tone."""
    found = player.evaluate(
        """async (selector) => {
            const image = document.querySelector(selector), drawn = new Image();
            drawn.src = image.getAttribute("href") || image.getAttribute("xlink:href");
            await drawn.decode();
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [drawn.width, drawn.height];
            const context = canvas.getContext("2d");
            context.drawImage(drawn, 0, 0);
            const { data } = context.getImageData(0, 0, drawn.width, drawn.height);
            return [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => {
                const x = Math.floor(part * drawn.width);
                let darkest = 0, where = 0;
                for (let y = 0; y < drawn.height; y++) {
                    const dark = 255 - data[4 * (y * drawn.width + x)];
                    if (dark > darkest) [darkest, where] = [dark, y];
                }
                return 1 - (where + 0.5) / drawn.height;
            });
        }""",
        STRIP,
    )
    tones = 100 * 35 ** np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    wanted = np.log(tones / 700 + 1) / np.log(4000 / 700 + 1)
    assert found == pytest.approx(wanted, abs=1 / 24)


def test_the_button_plays_and_pauses_by_keyboard(player):
    player.focus("#timeline-play")
    player.keyboard.press("Enter")
    plays(player, 0.2)
    player.keyboard.press("Space")
    player.locator("#timeline-play").get_by_text("Play").wait_for()
    box, stood = player.locator("#timeline-head").bounding_box(), at(player)
    assert box["x"] + box["width"] / 2 == pytest.approx(x_of(player, stood), abs=1.5)
    player.wait_for_timeout(200)
    assert at(player) == stood > 0.2
    # The space bar in the figure continues from there.
    player.focus(FIGURE)
    player.keyboard.press("Space")
    assert stood < plays(player, stood) < stood + 5


def test_a_click_plays_from_a_time_and_from_an_event(visit, report):
    page = visit(report).page
    drawn(page)
    strip = page.locator(STRIP).bounding_box()["y"] + 20
    first_class = page.locator(FIGURE).bounding_box()["y"] + 4 + 18 + 8.5
    # A click in an event plays from its onset, a click elsewhere from that point.
    for time, y, begin in ((8.0, strip, 8.0), (13.9, first_class, 11.9)):
        page.mouse.click(x_of(page, time), y)
        assert begin < plays(page, begin) < begin + 4
        page.wait_for_timeout(400)  # or these count as a double click
    page.mouse.click(x_of(page, 1.0), first_class)
    page.wait_for_function("() => parseFloat(document.querySelector('#timeline-at').textContent) < 4")


def test_a_part_is_heard_from_its_begin_and_time_goes_along(player):
    player.focus(FIGURE)
    for _ in range(4):
        player.keyboard.press("+")
    looks_at(player, 9.375, 10.625)
    player.click("#timeline-play")
    assert 9.3 < plays(player, 9.3) < 12
    player.wait_for_function(f"() => document.querySelector('{FIGURE}').layout.xaxis.range[0] > 10.5")


def test_another_recording_stops_the_first(player):
    player.click("#timeline-play")
    plays(player, 0.1)
    player.click("#timeline-next")
    player.locator("#timeline-play").get_by_text("Play").wait_for()
    told = player.inner_text("#timeline-at"), player.inner_text("#timeline-sound")
    assert told[0] == "0.00 s of 10.00 s" and "The sound ends at 10 s." in told[1]
    player.click("#timeline-next")
    assert seen(player) == {"player": False, "head": False, "sound": True}
    assert player.inner_text("#timeline-sound") == "There is no sound of this recording."
    player.wait_for_selector(STRIP, state="detached")


def test_it_can_be_read_by_all_and_print_keeps_the_strip(player):
    assert violations(player) == []
    assert player.get_attribute(FIGURE, "aria-label").endswith(" and a mel spectrogram of the recording")
    player.emulate_media(media="print")
    assert seen(player) == {"player": False, "head": False, "sound": True}
    assert player.is_visible(STRIP)


def test_a_page_without_sounds_has_none_of_it(page):
    assert not any(seen(page).values()) and page.is_hidden("#timeline-hearing")


TRIES = """(urls) => Promise.all(urls.map((url) => new Promise((done) => {
    const sound = new Audio(url);
    sound.onerror = () => done("refused");
    sound.oncanplay = () => done("played");
})))"""


def refused(found, path, *urls):
    """Return whether the page's policy blocks foreign sounds, even if a server delivers them."""
    other = "http://127.0.0.1:9/a.wav"
    found.page.route(
        "http://**", lambda route: route.fulfill(path=path, headers={"access-control-allow-origin": "*"})
    )
    assert found.heard() == []
    assert found.page.evaluate(TRIES, [other, *urls]) == ["refused"] * (1 + len(urls))
    assert found.page.evaluate("(url) => fetch(url).then(() => 'read', () => 'refused')", other) == "refused"
    return sum("Content Security Policy" in text for text in found.heard()) > len(urls) + 1


def test_a_page_with_sounds_loads_no_others(player, opened, report):
    own = report.parent / "audio" / "a.wav"
    assert refused(opened, own, own.as_uri())


def test_sounds_beside_the_page_play_from_where_a_link_leads(visit, beside):
    found = visit(beside, "#timeline=a@12@car")
    drawn(found.page)
    looks_at(found.page, 0, 20)
    found.page.click("#timeline-play")
    assert 12 < plays(found.page, 12) < 15
    assert {url.rpartition("/")[2] for url in found.heard()} == {"001-a.flac"}
    assert refused(found, beside.parent / "audio" / "a.wav", "data:audio/wav;base64,UklGRg==")


def test_a_page_that_was_moved_alone_says_what_is_missing(visit, beside, tmp_path):
    path = tmp_path / "moved.html"
    path.write_bytes(beside.read_bytes())
    found = visit(path)
    drawn(found.page)
    found.page.click("#timeline-play")
    found.page.locator("#timeline-at").get_by_text("my report_sounds/001-a.flac").wait_for()
    assert "Play" in found.page.inner_text("#timeline-play") and found.heard()
