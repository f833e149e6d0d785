"""The whole page in a browser: no errors, accessible, readable on a phone; no name runs as code."""

from urllib.parse import quote

import pytest
from tables import columns_of
from visits import PHONE, WIDE, drawn_whole, taken_over, violations, width_in

from sedeval_soft import Choices, write_report
from sedeval_soft.errors import visible

NAMES = (
    *("<script>dialog = 1; alert(1)</script>", "</script><script>alert(1)</script>", "<br>", "<b>bold</b>"),
    *("<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>', "' onmouseover='alert(1)", "{% raw %}"),
    *("<a href='javascript:alert(1)'>x</a>", "javascript:alert(1)", "<!--", "]]>", "{{ 7 * 7 }}"),
    *("${alert(1)}", "$\\alpha$", "%{x}<extra></extra>", "a#b@c?d=e&f/g h%20i", "&lt;b&gt;", "__proto__"),
    *("constructor", "x" * 300, "\u4e2d\u6587 \U0001f600", "\x1b[31mred", "\u202eevil", "\udc80"),
)


def test_pages_fit_and_are_accessible_in_all_colours(visit, sample_report):
    page = visit(sample_report[0], scheme="dark").page
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    drawn_whole(page)
    assert violations(page) == []
    # The first two follow the colours of the system, the last two override them.
    for scheme, theme, is_dark in (
        ("dark", "auto", True), ("light", "auto", False), ("light", "dark", True), ("dark", "light", False),
    ):  # fmt: skip
        page.emulate_media(color_scheme=scheme)
        page.select_option("#theme", theme)
        ground = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--page')")
        assert (ground == "#0f1419") == is_dark
    for size in (WIDE, PHONE):
        assert width_in(page, size) <= size["width"]
    assert violations(page, runOnly=["color-contrast"]) == []


def test_the_watch_and_axe_can_fail(visit, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text(
        "<html data-ready><img src='data:,'><p style='color: #eee; background: #fff'>pale</p>"
        "<script>console.error('no'); alert(2); "
        "fetch('http://127.0.0.1:9/x').catch(() => {}); throw Error('thrown')</script></html>"
    )
    found = visit(path)
    found.page.wait_for_timeout(100)
    assert {"no", "2", "http://127.0.0.1:9/x", "thrown"} <= {*found.heard()}
    assert {name for name, _ in violations(found.page)} >= {"image-alt", "html-has-lang", "color-contrast"}


def rows(names, value=0.9):
    return columns_of([(name, i, i + 1, name, value) for i, name in enumerate(names)])


def test_names_are_text_and_scripts_of_others_would_not_run(visit, tmp_path):
    path = tmp_path / "report.html"
    systems = {name: rows(NAMES, 0.9 - 0.01 * i) for i, name in enumerate(NAMES[:3])}
    write_report(rows(NAMES), systems, path, choices=Choices(timelines=100))
    page = (found := visit(path)).page
    drawn_whole(page)
    for system in range(3):
        page.select_option("#system", str(system))
    made = page.locator("body :is(img, svg[onload], b, a[href^=javascript], [onmouseover], [onerror])")
    assert made.count() == 0
    assert {name[:79] for name in page.locator("#timeline-file option").all_text_contents()} == {
        visible(name.strip())[:79] for name in NAMES
    }
    # Links and hover texts show names as text.
    for label in map(visible, NAMES[:4]):
        page.evaluate(f"location.hash = '#timeline={quote(label, safe='')}@0'")
        page.locator("#timeline-summary strong").get_by_text(label, exact=True).wait_for()
    page.check("#timeline-all")
    for step in range(5):
        page.hover("#timeline-figure .nsewdrag", position={"x": 20, "y": 25 + 60 * step})
    page.click("#timeline-details summary")
    shown = page.locator("#timeline-figure .annotation-text").all_text_contents()
    assert visible(NAMES[0]) in shown and "<b>bold</b>" in shown
    assert page.evaluate("typeof dialog") == "undefined"
    assert taken_over(found).startswith("3 systems")


def test_classes_come_worst_first_with_counts_as_counts(page, sample_report):
    _, (scores, _) = sample_report
    heads = page.locator("#class-scores tbody th").all_inner_texts()
    names = [head.split(" not in")[0] for head in heads]
    # Rows are sorted by their first F1: soft F1, since the sample's reference has values.
    assert names == sorted(names, key=lambda name: scores[f"segment.soft.f1[{name}]"])
    assert "not in the output" in heads[0]
    for reading, name, text in (
        ("hard", "n_ref[birds singing]", "44"), ("soft", "n_ref[birds singing]", "43.48"),
        ("soft", "n_sys[door opens]", "0"),
    ):  # fmt: skip
        page.select_option("#class-family", f"segment {reading}")
        assert page.inner_text(f"#class-scores td[data-score='segment.{reading}.{name}']") == text


def test_tables_show_all_columns_where_pages_are_narrow(page):
    page.set_viewport_size({"width": 960, "height": 900})
    for table in ("#class-scores", "#explorer-classes"):
        hidden = page.locator(table).locator("..").evaluate("(e) => e.scrollWidth - e.clientWidth")
        assert hidden == 0 and page.locator(f"{table} th").count() > 7, table


@pytest.mark.parametrize("label", ["a", "a class whose name says very much about it, and then goes on " * 3])
def test_rows_are_low_on_a_phone(visit, tmp_path, label):
    names = rows([label, "b"])
    write_report(names, {"s": names}, tmp_path / "report.html")
    page = visit(tmp_path / "report.html").page
    page.set_viewport_size(PHONE)
    heights = page.eval_on_selector_all(
        "#scores tr, #classes tr, #worst tr", "(all) => all.map((row) => row.offsetHeight)"
    )
    assert len(heights) > 10 and max(heights) < 80


def test_only_what_can_differ_has_a_section(visit, tmp_path):
    hard = columns_of([("a", 0, 1, "a"), ("b", 1, 2, "b")])
    write_report(hard, {"s": hard}, tmp_path / "hard.html")
    page = visit(tmp_path / "hard.html").page
    assert not page.is_visible("#explorer") and not page.is_visible("#curves")
    links = page.locator("nav a:visible").all()
    assert [page.is_visible(link.get_attribute("href")) for link in links] == [True] * 7
    assert not {"optimal", "soft"} & set(" ".join(page.locator("table").all_inner_texts()).split())
    page.emulate_media(media="print")
    assert page.is_hidden("#all-title")


def test_paper_has_whole_figures_and_headings(page):
    page.emulate_media(color_scheme="dark")

    def widths(media, event):
        page.emulate_media(media=media)
        page.evaluate(f"dispatchEvent(new Event('{event}'))")
        page.wait_for_timeout(300)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return page.eval_on_selector_all(
            ".main-svg", "(all) => all.map((svg) => svg.getBoundingClientRect().width)"
        ), ground == "rgb(255, 255, 255)"

    printed, is_white = widths("print", "beforeprint")
    assert len(printed) > 4 and max(printed) <= 700 and is_white
    parts = ("#class-scores thead button", "#settings .signature", "#timeline-next", "nav")
    assert [page.locator(part).first.is_visible() for part in parts] == [True, True, False, False]
    assert len(page.pdf()) < 3_000_000
    again, is_white = widths("screen", "afterprint")
    assert max(again) > 700 and not is_white
