"""Sounds in a browser: where the strip stands, what plays, from where, and what the page may load."""

from __future__ import annotations

import contextlib
import functools
import http.server
import math
import threading

import pytest
from tables import long_rows
from tones import noise, sweep, write
from visits import drawn, violations

from sedeval_soft import write_report

FIGURE = "#timeline-figure"
STRIP = f"{FIGURE} .subplot.xy2 image"
SECONDS = 20.0
EVENTS = [(4.0, 6.0), (12.0, 15.0)]


def made(folder, name="report.html", inside=True):
    """Write a report of three recordings: a tone, 10 s of noise for 20 s of labels, and one without sound."""
    audio, rate, files = folder / "audio", 8_000, ("a", "b", "c") if inside else ("a", "b", "c", "d")
    write(audio / "a.wav", sweep(SECONDS, rate, 100, 3_500), rate)
    write(audio / "b.flac", noise(SECONDS / 2, rate, 1), rate)
    for beside_only in () if inside else ("c", "d"):
        write(audio / f"{beside_only}.wav", noise(SECONDS, rate, 2), rate)
    reference, system = (
        long_rows([(file, onset, offset, label, 1.0) for file in files for onset, offset in EVENTS])
        for label in ("car", "dog")
    )
    path = folder / name
    write_report(reference, {"s": system}, path, audio=audio, durations=dict.fromkeys(files, SECONDS))
    return path


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return made(tmp_path_factory.mktemp("sounds"))


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sedeval_soft.apps.page.sounds.INSIDE", 0)
        path = made(tmp_path_factory.mktemp("beside"), "my report.html", inside=False)
    assert len([*path.with_name("my report_sounds").iterdir()]) == 4
    return path


def opened(visit, path, fragment="", **options):
    page = visit(path, fragment, **options).page
    drawn(page)
    page.wait_for_selector(STRIP, state="attached")
    return page


def at(page):
    """The time that is said, in seconds."""
    return float(page.inner_text("#timeline-at").split()[0])


def plays(page, from_=0.0):
    """Wait until something plays that began at some time, and return what is said of it."""
    button(page, "Pause")
    page.wait_for_function(f"() => parseFloat(document.querySelector('#timeline-at').textContent) > {from_}")
    return at(page)


def button(page, text):
    page.locator("#timeline-play").get_by_text(text).wait_for()


def drag(page, begin, end, y):
    """Choose a time with the pointer; return where what is seen begins and ends."""
    page.mouse.move(x_of(page, begin) + 1, y)
    page.mouse.down()
    page.mouse.move(x_of(page, end), y, steps=5)
    page.mouse.up()
    range_ = f"document.querySelector('{FIGURE}').layout.xaxis.range"
    page.wait_for_function(f"() => {range_}[1] - {range_}[0] < {end - begin + 1}")
    return page.evaluate(range_)


def inner(page):
    """The left and right edges of what is drawn over time."""
    box = page.locator(f"{FIGURE} .nsewdrag").first.bounding_box()
    return box["x"], box["x"] + box["width"]


def x_of(page, time, begin=0.0, end=SECONDS):
    left, right = inner(page)
    return left + (time - begin) / (end - begin) * (right - left)


def row(page, place=0, side=0):
    """The height at which the bars of a class are, from the top of the figure."""
    return page.locator(FIGURE).bounding_box()["y"] + 4 + place * 60 + 18 + 8.5 + side * 19


@pytest.mark.parametrize(("width", "time"), [(1400, [0, 20]), (390, [5, 15])])
def test_the_strip_stands_on_the_axis_of_time(visit, report, width, time):
    page = opened(visit, report, width=width)
    if time[0]:
        page.click("[data-move=in]")
    page.wait_for_function(f"() => document.querySelector('{FIGURE}').layout.xaxis.range[0] === {time[0]}")
    left, right = inner(page)
    box = page.locator(STRIP).bounding_box()
    shown = page.evaluate(
        f"document.querySelector('{FIGURE}').data.find(({{ name }}) => name === 'spectrogram').x"
    )
    for edge, second in ((box["x"], shown[0]), (box["x"] + box["width"], shown[-1])):
        assert edge == pytest.approx(x_of(page, second, *time), abs=1)
    # Bars and strip share it.
    bar = page.locator(f"{FIGURE} .barlayer .point path").last.bounding_box()
    assert bar["x"] + bar["width"] / 2 == pytest.approx(x_of(page, 13.5, *time), abs=1.5)
    # It lies below all classes.
    assert box["y"] > bar["y"] + bar["height"] and right > left


def test_what_is_drawn_is_the_tone(visit, report):
    """The darkest band of the picture goes up with the tone."""
    page = opened(visit, report)
    found = page.evaluate(
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
    tones = [100 * 35**part for part in (0.1, 0.3, 0.5, 0.7, 0.9)]
    wanted = [math.log(tone / 700 + 1) / math.log(4000 / 700 + 1) for tone in tones]
    assert found == pytest.approx(wanted, abs=1 / 24)


def test_the_button_plays_and_pauses_by_keyboard(visit, report):
    page = opened(visit, report)
    page.focus("#timeline-play")
    page.keyboard.press("Enter")
    plays(page, 0.2)
    page.keyboard.press("Space")
    button(page, "Play")
    box, stood = page.locator("#timeline-head").bounding_box(), at(page)
    assert box["x"] + box["width"] / 2 == pytest.approx(x_of(page, stood), abs=1.5)
    page.wait_for_timeout(200)
    assert at(page) == stood > 0.2
    # The space bar in the figure goes on from there.
    page.focus(FIGURE)
    page.keyboard.press("Space")
    assert stood < plays(page, stood) < stood + 5


def test_a_click_plays_from_a_time_and_from_an_event(visit, report):
    page = opened(visit, report)
    strip = page.locator(STRIP).bounding_box()
    # In the middle of an event it is heard from its onset, beside it from there.
    for time, y, begin in ((8.0, strip["y"] + 20, 8.0), (13.9, row(page), 11.9)):
        page.mouse.click(x_of(page, time), y)
        assert begin < plays(page, begin) < begin + 4
        page.wait_for_timeout(400)  # or these are two clicks at once
    page.mouse.click(x_of(page, 1.0), row(page))
    page.wait_for_function("() => parseFloat(document.querySelector('#timeline-at').textContent) < 4")
    # Who drags hears nothing new; a part that is zoomed to is heard from its begin.
    page.click("#timeline-play")
    button(page, "Play")
    # The time that is shown may follow the pause.
    page.wait_for_timeout(300)
    stood = at(page)
    begin, _ = drag(page, 5.0, 10.0, strip["y"] - 60)
    assert at(page) == stood and "Play" in page.inner_text("#timeline-play") and begin > 4
    assert page.locator("#timeline-head").is_hidden()
    page.click("#timeline-play")
    assert 4.9 < plays(page, 4.9) < 8


def test_zoomed_time_goes_along(visit, report):
    page = opened(visit, report)
    _, end = drag(page, 0.0, 1.0, row(page))
    page.click("#timeline-play")
    page.wait_for_function(f"() => document.querySelector('{FIGURE}').layout.xaxis.range[0] > {end - 0.1}")


def test_another_recording_stops_the_first(visit, report):
    page = opened(visit, report)
    page.click("#timeline-play")
    plays(page, 0.1)
    page.click("#timeline-next")
    button(page, "Play")
    assert at(page) == 0 and page.inner_text("#timeline-at") == "0.00 s of 10.00 s"
    assert "The sound ends at 10 s." in page.inner_text("#timeline-sound")
    page.click("#timeline-next")
    assert page.locator("#timeline-player").is_hidden() and page.locator("#timeline-head").is_hidden()
    assert page.inner_text("#timeline-sound") == "There is no sound of this recording."
    page.wait_for_selector(STRIP, state="detached")


def test_it_can_be_read_by_all_and_print_keeps_the_strip(visit, report):
    page = opened(visit, report, scheme="dark")
    assert violations(page) == []
    label = page.get_attribute(FIGURE, "aria-label")
    assert label == "Reference and system over time, and a mel spectrogram of the recording"
    page.emulate_media(media="print")
    assert page.locator(STRIP).is_visible() and page.locator("#timeline-sound").is_visible()
    assert page.locator("#timeline-player").is_hidden() and page.locator("#timeline-head").is_hidden()


def test_a_page_without_sounds_has_none_of_it(visit, sample_report):
    page = visit(sample_report.path).page
    drawn(page)
    for name in ("player", "sound", "head", "hearing"):
        assert page.locator(f"#timeline-{name}").is_hidden()


@contextlib.contextmanager
def served(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=folder)
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_sounds_beside_the_page_play_from_where_a_link_leads(visit, beside):
    page = opened(visit, beside, "#timeline=a@12@car", quiet=False)
    page.click("#timeline-play")
    assert 12 < plays(page, 12) < 15


def test_a_page_that_was_moved_alone_says_what_is_missing(visit, beside, tmp_path):
    path = tmp_path / "moved.html"
    path.write_bytes(beside.read_bytes())
    page = visit(path, quiet=False).page
    drawn(page)
    page.click("#timeline-play")
    page.locator("#timeline-at").get_by_text("beside this page, as my report_sounds/001-a.flac").wait_for()
    assert "Play" in page.inner_text("#timeline-play")


def test_nothing_else_is_loaded(chromium, report, beside):
    """Sounds of others, and other things that lie beside the page, are not."""
    context = chromium.new_context()
    page = context.new_page()
    asked, refused = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: refused.append(said.text))
    tries = """(urls) => Promise.all(urls.map((url) => new Promise((done) => {
        const sound = new Audio(url);
        sound.onerror = () => done("refused");
        sound.oncanplay = () => done("played");
        if (!url.startsWith("http") && !url.startsWith("data:")) setTimeout(() => done("waits"), 5000);
    })))"""
    with served(beside.parent) as server:
        other = f"{server}/audio/a.wav"
        page.goto(report.as_uri())
        own = (report.parent / "audio" / "a.wav").as_uri()
        assert page.evaluate(tries, [other, own]) == ["refused", "refused"]
        page.goto(beside.as_uri())
        assert page.evaluate(tries, [other, "data:audio/wav;base64,UklGRg=="]) == ["refused", "refused"]
        assert page.evaluate(f"fetch('{server}/').then(() => 'read', () => 'refused')") == "refused"
        assert not [url for url in asked if url.startswith("http") and "favicon" not in url]
        assert len([text for text in refused if "Content Security Policy" in text]) >= 4
        context.close()
