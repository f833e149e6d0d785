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
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    drawn_whole(page)
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
    made = "img, svg[onload], b, a[href^=javascript], [onmouseover], [onerror]"
    assert page.locator("body").locator(made).count() == 0
    options = page.locator("#timeline-file option").all_text_contents()
    assert {name[:79] for name in options} == {visible(name.strip())[:79] for name in names}
    # Hovering and searching shows names, too.
    for label in map(visible, names[:6]):
        page.evaluate(f"location.hash = '#timeline={quote(label, safe='')}@0'")
        page.locator("#timeline-summary strong").get_by_text(label, exact=True).wait_for()
    page.check("#timeline-all")
    figure = page.locator("#timeline-figure .nsewdrag").bounding_box()
    for step in range(5):
        page.mouse.move(figure["x"] + 20, figure["y"] + 25 + 60 * step)
    page.click("#timeline-details summary")
    shown = page.locator("#timeline-figure .annotation-text").all_text_contents()
    assert visible(names[0]) in shown and "<b>bold</b>" in shown
    assert page.evaluate("typeof dialog") == "undefined"


def cells(page, selector):
    return page.locator(selector).all_inner_texts()


def test_classes_come_worst_first_with_counts_as_counts(visit, sample_report):
    page, scores = visit(sample_report.path).page, sample_report.scores[0]
    names = [cell.split(" not in")[0] for cell in cells(page, "#class-scores tbody th")]
    # By the first F1 of the row: the soft one, since the sample's reference has values.
    assert names == sorted(names, key=lambda name: scores[f"segment.soft.f1[{name}]"])
    assert "not in the output" in cells(page, "#class-scores tbody th")[0]
    for reading, name, text in (
        ("soft", "n_ref[birds singing]", "43.48"), ("soft", "n_sys[door opens]", "0"),
        ("hard", "n_ref[birds singing]", "44"),
    ):  # fmt: skip
        page.select_option("#class-family", f"segment {reading}")
        assert cells(page, f"#class-scores td[data-score='segment.{reading}.{name}']") == [text]


def test_tables_of_classes_show_all_columns_where_pages_are_narrow(visit, sample_report):
    page = visit(sample_report.path, width=960).page
    for table in ("#class-scores", "#explorer-classes"):
        hidden = page.locator(table).evaluate(
            "(e) => e.parentElement.scrollWidth - e.parentElement.clientWidth"
        )
        assert hidden == 0 and page.locator(f"{table} th").count() > 7, table


def test_only_what_can_differ_has_a_section(visit, tmp_path):
    path = tmp_path / "hard.html"
    hard = {name: column for name, column in rows(["a", "b"]).items() if name != "soft_value"}
    write_report(hard, {"s": hard}, path)
    page = visit(path).page
    assert [name for name in ("explorer", "curves") if page.locator(f"#{name}").is_visible()] == []
    links = page.locator("nav a:visible").all()
    assert all(page.locator(link.get_attribute("href")).is_visible() for link in links) and len(links) == 7
    assert not {"optimal", "soft"} & set(" ".join(cells(page, "table")).split())


def test_paper_has_whole_figures_and_headings(visit, sample_report):
    page = visit(sample_report.path, scheme="dark").page
    drawn_whole(page)

    def widths(media, event):
        page.emulate_media(media=media)
        page.evaluate(f"dispatchEvent(new Event('{event}'))")
        page.wait_for_timeout(300)
        figures = "(all) => all.map((svg) => svg.getBoundingClientRect().width)"
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return page.eval_on_selector_all(".main-svg", figures), ground == "rgb(255, 255, 255)"

    printed, is_white = widths("print", "beforeprint")
    assert len(printed) > 4 and max(printed) <= 700 and is_white
    assert page.locator("#class-scores thead button").first.is_visible()
    assert page.locator("#settings .signature").first.is_visible() and page.locator("#all-title").is_hidden()
    assert len(page.pdf()) < 3_000_000
    assert page.locator("#timeline-next").is_hidden() and page.locator("nav").is_hidden()
    again, is_white = widths("screen", "afterprint")
    assert max(again) > 700 and not is_white


def test_rows_are_low_on_a_phone(visit, sample_report, tmp_path):
    long = tmp_path / "long.html"
    names = rows(["a class whose name says very much about it, and then goes on " * 3, "b"])
    write_report(names, {"s": names}, long)
    for path in (sample_report.path, long):
        page = visit(path, width=390).page
        heights = page.eval_on_selector_all(
            "#scores tr, #classes tr, #worst tr", "(all) => all.map((row) => row.offsetHeight)"
        )
        assert len(heights) > 10 and max(heights) < 80
