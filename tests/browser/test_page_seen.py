"""The whole page in a browser: quiet, accessible, readable on a phone, and deaf to what names say."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from test_escape import HOSTILE
from visits import drawn_whole, taken_over, violations

from sedeval_soft import Choices, write_report
from sedeval_soft.errors import visible

MARKUP = (
    *("<script>dialog = 1; alert(1)</script>", "</script><script>alert(1)</script>", "<br>", "<b>bold</b>"),
    *("<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>', "' onmouseover='alert(1)", "{% raw %}"),
    *("<a href='javascript:alert(1)'>x</a>", "javascript:alert(1)", "<!--", "]]>", "{{ 7 * 7 }}"),
    *("${alert(1)}", "$\\alpha$", "%{x}<extra></extra>", "a#b@c?d=e&f/g h%20i", "&lt;b&gt;", "__proto__"),
    *("constructor", "x" * 300, "\u4e2d\u6587 \U0001f600"),
)


@pytest.mark.parametrize(("width", "scheme", "other"), [(1400, "light", "dark"), (390, "dark", "light")])
def test_the_page_is_quiet_fits_and_is_accessible(visit, sample_report, width, scheme, other):
    page = visit(sample_report.path, width=width, scheme=scheme).page
    drawn_whole(page)
    page.click("#timeline-details summary")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    colour = "getComputedStyle(document.documentElement).getPropertyValue('--page')"
    assert (page.evaluate(colour) == "#0f1419") == (scheme == "dark")
    page.select_option("#theme", other)
    assert (page.evaluate(colour) == "#0f1419") == (other == "dark")
    assert violations(page, runOnly=["color-contrast"]) == []


def test_the_watch_and_axe_can_fail(visit, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text(
        "<html data-ready><img src='data:,'><p style='color: #eee; background: #fff'>pale</p>"
        "<script>console.error('no'); alert(2); "
        "fetch('http://127.0.0.1:9/x').catch(() => {}); throw Error('thrown')</script></html>"
    )
    found = visit(path, quiet=False)
    found.page.wait_for_timeout(100)
    assert any("no" in error for error in found.errors) and any("thrown" in error for error in found.errors)
    assert found.dialogs == ["2"] and found.requests == ["http://127.0.0.1:9/x"]
    rules = {name for name, _ in violations(found.page)}
    assert rules >= {"image-alt", "html-has-lang", "color-contrast"}


def test_a_script_that_is_not_ours_would_not_run(visit, sample_report):
    assert taken_over(visit, sample_report.path).title().startswith("2 systems")


def rows(names, value=0.9):
    times = [float(i) for i in range(len(names))]
    return {
        "filename": list(names), "onset": times, "offset": [time + 1 for time in times],
        "event_label": list(names), "soft_value": [value] * len(names),
    }  # fmt: skip


def test_names_are_text(visit, tmp_path):
    path, names = tmp_path / "report.html", list(dict.fromkeys((*MARKUP, *HOSTILE)))
    systems = {name: rows(names, 0.9 - 0.01 * i) for i, name in enumerate(names[:3])}
    write_report(rows(names), systems, path, choices=Choices(timelines=100))
    page = visit(path).page
    drawn_whole(page)
    for system in page.locator("#system option").all():
        page.select_option("#system", system.get_attribute("value"))
    for tag in ("img", "svg[onload]", "b", "a[href^=javascript]", "[onmouseover]", "[onerror]"):
        assert page.locator(f"body {tag}").count() == 0, tag
    options = page.locator("#timeline-file option").all_text_contents()
    assert {name[:79] for name in options} == {visible(name.strip())[:79] for name in names}
    # Hovering and searching shows names, too.
    for name in names[:6]:
        label = visible(name)
        page.evaluate(f"location.hash = '#timeline={quote(label, safe='')}@0'")
        page.wait_for_function(
            "(name) => document.querySelector('#timeline-summary strong').textContent === name", arg=label
        )
    page.check("#timeline-all")
    figure = page.locator("#timeline-figure .nsewdrag").bounding_box()
    for step in range(5):
        page.mouse.move(figure["x"] + 20, figure["y"] + 25 + 60 * step)
    page.click("#timeline-details summary")
    shown = page.locator("#timeline-figure .annotation-text").all_text_contents()
    assert visible(names[0]) in shown and "<b>bold</b>" in shown
    assert page.evaluate("typeof dialog") == "undefined"
