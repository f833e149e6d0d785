"""The timeline in a browser: what is coloured, files, time, links, keys, and the table beside it."""

from __future__ import annotations

import pytest
from tables import long_rows
from visits import SAMPLE, drawn

from sedeval_soft import Choices, write_report

FIGURE = "#timeline-figure"


def files(page):
    return page.locator("#timeline-file option").all_inner_texts()


def shown(page):
    return page.locator("#timeline-summary strong").inner_text()


def said(page):
    """The counts that are said of a file, by outcome."""
    return page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#timeline-summary [data-outcome]')]"
        ".map((each) => [each.dataset.outcome, Number(each.dataset.count)]))"
    )


def bars(page):
    """The counts that are drawn, by outcome and side."""
    found = page.evaluate(
        f"document.querySelector('{FIGURE}').data.filter((trace) => trace.type === 'bar')"
        ".map((trace) => [trace.name, trace.customdata])"
    )
    sums = {}
    for name, counts in found:
        for count, side in counts:
            sums[name, side] = sums.get((name, side), 0) + count
    return sums


def time(page):
    return page.evaluate(f"document.querySelector('{FIGURE}').layout.xaxis.range")


def wait(page, condition):
    """Wait until something of the figure holds: in a function, since the page's policy forbids `eval`."""
    page.wait_for_function(
        f"() => {{ const figure = document.querySelector('{FIGURE}'); return {condition}; }}"
    )


def names_in(page):
    """The classes that are named beside the figure."""
    return page.evaluate(f"document.querySelector('{FIGURE}').layout.annotations.map((each) => each.text)")


def opened(visit, path, fragment=""):
    page = visit(path, fragment).page
    drawn(page)
    return page


@pytest.fixture(scope="module")
def sample(visits, sample_report):
    """The sample's page, opened once: loading it takes longer than any test of it."""
    found = visits(sample_report.path)
    drawn(found.page)
    return found


@pytest.fixture
def page(sample):
    """The sample's page as it was opened."""
    page = sample.page
    page.evaluate("history.replaceState(null, '', '#')")
    page.select_option("#theme", "auto")
    page.select_option("#system", "0")
    page.uncheck("#timeline-all")
    page.select_option("#timeline-view", "event")
    page.select_option("#timeline-file", index=1)
    page.select_option("#timeline-file", index=0)
    page.evaluate("document.querySelector('#timeline-details').open = false; scrollTo(0, 0)")
    page.locator(FIGURE).scroll_into_view_if_needed()
    wait(page, "figure.dataset.file === 'cafe.wav' && figure.layout.xaxis.range[1] === 60")
    yield page
    sample.was_quiet()


def test_what_is_coloured_adds_up_to_the_scores(page, sample_report):
    for (system, scores), basis in zip(enumerate(sample_report.scores), ("event", "segment"), strict=True):
        page.select_option("#timeline-view", basis)
        page.select_option("#system", str(system))
        total = dict.fromkeys(("hit", "miss", "false-alarm"), 0)
        for name in files(page):
            page.select_option("#timeline-file", label=name)
            counts = said(page)
            if page.locator(FIGURE).is_visible():
                wait(page, f"figure.dataset.file === '{name}' && figure.dataset.view === '{basis}'")
                sums = bars(page)
                assert sums.get(("hit", "reference"), 0) == sums.get(("hit", "system"), 0) == counts["hit"]
                assert sums.get(("miss", "reference"), 0) == counts["miss"]
                assert sums.get(("false-alarm", "system"), 0) == counts["false-alarm"]
                assert ("miss", "system") not in sums and ("false-alarm", "reference") not in sums
            else:
                assert sum(counts.values()) == 0
            for outcome in total:
                total[outcome] += counts[outcome]
        tp, n_ref, n_sys = (scores[f"{basis}.hard.{name}.micro"] for name in ("tp", "n_ref", "n_sys"))
        assert total == {"hit": tp, "miss": n_ref - tp, "false-alarm": n_sys - tp}
        assert tp and n_ref > tp and n_sys > tp


def test_files_are_changed_by_list_and_buttons(page):
    names = files(page)
    assert len(names) == 5 and shown(page) == names[0]
    for moves, at in ((["next"], 1), (["previous"] * 2, -1)):
        for move in moves:
            page.click(f"#timeline-{move}")
        assert shown(page) == names[at]
    page.select_option("#timeline-file", label="metro.wav")
    assert shown(page) == "metro.wav" and page.input_value("#timeline-file") == str(names.index("metro.wav"))
    page.select_option("#system", "1")
    assert shown(page) == "metro.wav"


def test_time_is_moved_by_keys_and_buttons(page):
    page.focus(FIGURE)
    assert time(page) == [0, 60]
    for keys, begin, end in (("+", 15, 45), (["ArrowRight"], 22.5, 52.5), (["ArrowLeft"] * 2 + ["-"], 0, 60)):
        for key in keys:
            page.keyboard.press(key)
        wait(page, f"figure.layout.xaxis.range[0] === {begin} && figure.layout.xaxis.range[1] === {end}")
    for moves, begin in ((("in", "earlier"), 7.5), (("later", "out"), 0), (("in",), 15)):
        for move in moves:
            page.click(f"[data-move={move}]")
        wait(page, f"figure.layout.xaxis.range[0] === {begin}")
    page.focus(FIGURE)
    page.keyboard.press("Home")
    wait(page, "figure.layout.xaxis.range[1] === 60")
    for _ in range(40):
        page.keyboard.press("+")
    begin, end = time(page)
    assert end - begin == pytest.approx(0.05)


def test_time_is_chosen_with_a_pointer(page):
    box = page.locator(f"{FIGURE} .nsewdrag").bounding_box()
    x, y = box["x"], box["y"] + box["height"] / 2
    page.mouse.move(x + box["width"] / 4, y)
    page.mouse.down()
    page.mouse.move(x + box["width"] / 2, y, steps=5)
    page.mouse.up()
    wait(page, "figure.layout.xaxis.range[0] > 10")
    assert time(page) == pytest.approx([15, 30], abs=0.5)
    page.mouse.dblclick(x + box["width"] / 2, y)
    wait(page, "figure.layout.xaxis.range[0] === 0 && figure.layout.xaxis.range[1] === 60")


def test_links_of_what_costs_most_lead_there(page, sample_report):
    worst = sample_report.scores[0].worst.segments[3]
    page.locator("#worst .of-system:visible table").first.locator("tbody tr").nth(3).locator("a").click()
    wait(page, f"figure.dataset.file === '{worst.file}' && figure.layout.shapes.length === 1")
    begin, end = time(page)
    assert begin <= worst.onset < worst.offset <= end and end - begin < 30
    assert page.evaluate(f"document.querySelector('{FIGURE}').layout.shapes[0].x0") == worst.onset
    assert f"<b>{worst.class_name}</b>" in names_in(page)
    assert page.evaluate("document.activeElement.id") == "timeline-title"


def test_bars_of_errors_lead_to_their_worst_example(page):
    row = page.locator("#errors .of-system:visible tbody tr").first
    example = row.locator(".examples a").first.inner_text()
    file = row.locator(".examples .remark").first.inner_text()
    row.locator("a.cost").click()
    wait(page, f"figure.dataset.file === '{file}' && figure.layout.shapes.length === 1")
    onset = page.evaluate(f"document.querySelector('{FIGURE}').layout.shapes[0].x0")
    assert example == f"people talking at {onset:g} s"
    assert "<b>people talking</b>" in names_in(page)


def test_a_page_opens_where_its_address_says(visit, sample_report):
    page = opened(visit, sample_report.path, "#timeline=metro.wav@20.5")
    wait(page, "figure.dataset.file === 'metro.wav'")
    assert time(page) == [10.5, 30.5]


def test_a_file_that_is_not_in_the_page_is_told_how_to_get(visit, tmp_path):
    path = tmp_path / "few.html"
    write_report(SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", path, choices=Choices(timelines=1), worst=5)
    page = opened(visit, path)
    assert page.locator("#timeline-said").inner_text().startswith(f"{len(files(page))} of 5 files")
    assert page.locator("#timeline-file optgroup").count() >= 2
    page.evaluate("location.hash = '#timeline=' + encodeURIComponent(\"it's <b>x</b>.wav\") + '@3'")
    missing = page.locator("#timeline-missing")
    missing.wait_for()
    assert r"--timeline 'it'\''s <b>x</b>.wav'" in missing.inner_text()
    page.evaluate("location.hash = '#timeline=%E0%A4%A@3'")
    page.wait_for_function(
        "() => document.querySelector('#timeline-missing').textContent.includes('%E0%A4%A')"
    )


def test_the_table_says_what_is_drawn(page):
    page.click("#timeline-details summary")
    table = page.locator("#timeline-table table")
    counts = said(page)
    outcomes = table.locator("tbody td:nth-child(5)").all_inner_texts()
    assert outcomes.count("hit") == 2 * counts["hit"] and outcomes.count("miss") == counts["miss"]
    assert outcomes.count("false alarm") == counts["false-alarm"]
    head = ["class", "onset", "offset", "side", "outcome"]
    assert table.locator("thead th").all_inner_texts() == [*head, "matched with"]
    page.select_option("#timeline-view", "segment")
    counts = said(page)
    rows = table.locator("tbody tr").all()
    cells = [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]
    assert sum(int(count) for _, _, count, outcome in cells if outcome == "hit") == counts["hit"]
    page.click("#timeline-next")
    assert shown(page) in table.locator("caption").inner_text()


def table(n_files, per_file=1):
    times = [(i, float(j)) for i in range(n_files) for j in range(per_file)]
    return long_rows([(f"file {i:02}.wav", time, time + 0.5, "car", 1.0) for i, time in times])


def test_many_files_are_searched(visit, tmp_path):
    path = tmp_path / "many.html"
    write_report(table(30), {"s": table(30)}, path, choices=Choices(timelines=20))
    page = visit(path).page
    page.fill("#timeline-find", "2")
    names = files(page)
    assert names == [f"file {i:02}.wav" for i in range(30) if "2" in f"{i:02}"]
    assert shown(page) == names[0]
    page.click("#timeline-next")
    assert shown(page) == names[1]
    page.fill("#timeline-find", "no such file")
    assert files(page) == [] and shown(page) == names[1] and page.locator("#timeline-next").is_disabled()
    page.evaluate("location.hash = '#timeline=file%2007.wav'")
    page.wait_for_function(
        "() => document.querySelector('#timeline-summary strong').textContent === 'file 07.wav'"
    )
    assert len(files(page)) == 30


def test_long_files_are_drawn_where_one_looks(visit, tmp_path, monkeypatch):
    monkeypatch.setattr("sedeval_soft.apps.page.timeline._PIECES", 2000)
    path = tmp_path / "long.html"
    write_report(table(1, 3000), {"s": table(1, 3000)}, path)
    page = visit(path).page
    drawn_bars = (
        "figure.data.filter((trace) => trace.type === 'bar').reduce((sum, trace) => sum + trace.x.length, 0)"
    )
    page.locator(FIGURE).scroll_into_view_if_needed()
    wait(page, f"figure.data && {drawn_bars} <= 3000")
    assert page.locator("#timeline-joined").is_visible()
    assert bars(page) == {("hit", "reference"): 3000, ("hit", "system"): 3000}
    assert "in steps of 5 s, each with the highest value" in page.locator("#timeline-notes").inner_text()
    page.evaluate("location.hash = '#timeline=file%2000.wav@1500'")
    wait(page, f"{drawn_bars} < 200 && {drawn_bars} > 30")
    assert page.locator("#timeline-joined").is_hidden()
    assert said(page)["hit"] == 3000


def test_a_link_shows_its_class_though_there_are_too_many(visit, tmp_path):
    path = tmp_path / "classes.html"
    rows = long_rows([("a.wav", 0.0, 2.0, f"class {i:02}", 1.0) for i in range(50)])
    write_report(rows, {"s": rows}, path, only=("segment.hard",))
    page = opened(visit, path)
    assert "<b>class 39</b>" in names_in(page) and "<b>class 45</b>" not in names_in(page)
    assert "The first 40 of 50 classes" in page.locator("#timeline-notes").inner_text()
    page.evaluate("location.hash = '#timeline=a.wav@1@class%2045'")
    wait(page, "figure.layout.annotations[0].text === '<b>class 45</b>'")
