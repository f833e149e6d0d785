"""The timeline in a browser: colours, files, time, links, keys, and the table of details."""

from collections import Counter

import pytest
from tables import long_rows
from visits import drawn

from sedeval_soft import Choices, write_report

FIGURE = "#timeline-figure"
SIDES = ("hit", "reference"), ("hit", "system"), ("miss", "reference"), ("false-alarm", "system")


def files(page):
    return page.locator("#timeline-file option").all_inner_texts()


def shown(page):
    return page.locator("#timeline-summary strong").inner_text()


def said(page):
    """Return the counts of a file in the text of the page, by outcome."""
    return page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#timeline-summary [data-outcome]')]"
        ".map((each) => [each.dataset.outcome, Number(each.dataset.count)]))"
    )


def bars(page):
    """Return the counts of the drawn bars, by outcome and side."""
    return page.evaluate(
        f"""() => {{
            const sums = {{}};
            for (const trace of document.querySelector('{FIGURE}').data) if (trace.type === 'bar')
                for (const [count, side] of trace.customdata)
                    sums[`${{trace.name}} ${{side}}`] = (sums[`${{trace.name}} ${{side}}`] ?? 0) + count;
            return sums;
        }}"""
    )


def time(page):
    return page.evaluate(f"document.querySelector('{FIGURE}').layout.xaxis.range")


def wait(page, condition):
    """Wait for a condition on the figure: a function, since the page's policy forbids `eval`."""
    page.wait_for_function(
        f"() => {{ const figure = document.querySelector('{FIGURE}'); return {condition}; }}"
    )


def names_in(page):
    """Return the names of classes in the margin of the figure."""
    return page.evaluate(f"document.querySelector('{FIGURE}').layout.annotations.map((each) => each.text)")


@pytest.fixture
def timeline(page):
    """Show the whole first file on the sample's page."""
    page.evaluate("history.replaceState(null, '', '#')")
    page.uncheck("#timeline-all")
    page.select_option("#timeline-view", "event")
    page.select_option("#timeline-file", index=1)
    page.select_option("#timeline-file", index=0)
    page.evaluate("document.querySelector('#timeline-details').open = false; scrollTo(0, 0)")
    page.locator(FIGURE).scroll_into_view_if_needed()
    wait(page, "figure.dataset.file === 'cafe.wav' && figure.layout.xaxis.range[1] === 60")
    return page


@pytest.mark.parametrize(("system", "basis"), [(0, "event"), (1, "segment")])
def test_what_is_coloured_adds_up_to_the_scores(timeline, sample_report, system, basis):
    scores, total = sample_report[1][system], Counter()
    timeline.select_option("#timeline-view", basis)
    timeline.select_option("#system", str(system))
    for name in files(timeline):
        timeline.select_option("#timeline-file", label=name)
        counts = Counter(said(timeline))
        total += counts
        drawn = {f"{outcome} {side}": counts[outcome] for outcome, side in SIDES if counts[outcome]}
        if drawn:
            wait(timeline, f"figure.dataset.file === '{name}' && figure.dataset.view === '{basis}'")
        assert timeline.is_visible(FIGURE) == bool(drawn) and (not drawn or bars(timeline) == drawn)
    tp, n_ref, n_sys = (scores[f"{basis}.hard.{name}.micro"] for name in ("tp", "n_ref", "n_sys"))
    assert total == {"hit": tp, "miss": n_ref - tp, "false-alarm": n_sys - tp} and min(total.values()) > 0


def test_files_are_changed_by_list_and_buttons(timeline):
    names = files(timeline)
    assert len(names) == 5 and shown(timeline) == names[0]
    for move, at in (("next", 1), ("previous", 0), ("previous", -1)):
        timeline.click(f"#timeline-{move}")
        assert shown(timeline) == names[at]
    timeline.select_option("#timeline-file", label="metro.wav")
    assert timeline.input_value("#timeline-file") == str(names.index("metro.wav"))
    timeline.select_option("#system", "1")
    assert shown(timeline) == "metro.wav"


def test_time_is_moved_by_keys_and_buttons(timeline):
    timeline.focus(FIGURE)
    assert time(timeline) == [0, 60]
    for key, begin, end in (
        ("+", 15, 45), ("ArrowRight", 22.5, 52.5), ("ArrowLeft", 15, 45), ("-", 0, 60), ("+", 15, 45),
        ("Home", 0, 60),
    ):  # fmt: skip
        timeline.keyboard.press(key)
        wait(timeline, f"String(figure.layout.xaxis.range) === '{begin:g},{end:g}'")
    for move, begin in (("in", 15), ("earlier", 7.5), ("later", 15), ("out", 0)):
        timeline.click(f"[data-move={move}]")
        wait(timeline, f"figure.layout.xaxis.range[0] === {begin}")


def test_time_is_chosen_by_dragging_and_a_double_click_shows_the_whole(timeline):
    plot = timeline.locator(f"{FIGURE} .nsewdrag")
    quarter = plot.bounding_box()["width"] / 4
    plot.drag_to(
        plot,
        source_position={"x": quarter, "y": 30},
        target_position={"x": 2 * quarter, "y": 30},
        force=True,
    )
    wait(timeline, "figure.layout.xaxis.range[0] > 10")
    assert time(timeline) == pytest.approx([15, 30], abs=0.5)
    plot.dblclick()
    wait(timeline, "String(figure.layout.xaxis.range) === '0,60'")


def test_links_of_what_costs_most_lead_there(timeline, sample_report):
    worst = sample_report[1][0].worst.segments[3]
    timeline.locator("#worst .of-system:visible table").first.locator("tbody tr").nth(3).locator("a").click()
    wait(timeline, f"figure.dataset.file === '{worst.file}' && figure.layout.shapes[0]?.x0 === {worst.onset}")
    begin, end = time(timeline)
    assert begin <= worst.onset < worst.offset <= end and end - begin < 30
    assert f"<b>{worst.class_name}</b>" in names_in(timeline)
    assert timeline.evaluate("document.activeElement.id") == "timeline-title"


def test_the_table_says_what_is_drawn(timeline):
    timeline.click("#timeline-details summary")
    table = timeline.locator("#timeline-table table")
    # A hit has two rows, one for the event of each side.
    for view, of_hits in (("event", 2), ("segment", 1)):
        timeline.select_option("#timeline-view", view)
        head, *rows = (row.split("\t") for row in table.inner_text().splitlines()[1:] if "\t" in row)
        numbers, counts = Counter(), Counter(said(timeline))
        for cells in (dict(zip(head, row, strict=True)) for row in rows):
            numbers[cells["outcome"].replace(" ", "-")] += int(cells.get("segments", 1))
        assert numbers == counts + Counter(hit=counts["hit"] * (of_hits - 1))
    timeline.click("#timeline-next")
    assert shown(timeline) in table.locator("caption").inner_text()


ROWS = [
    *(("file 00.wav", float(i), i + 0.5, "car", 1.0) for i in range(3000)),
    *(("file 01.wav", 0.0, 2.0, f"class {i:02}", 1.0) for i in range(50)),
    *((f"file {i:02}.wav", float(i), i + 0.5, "car", 1.0) for i in range(2, 30)),
]


@pytest.fixture(scope="module")
def large(visits, tmp_path_factory):
    """Write a page of some of 30 files: the system lacks two, one is long, one has many classes."""
    path = tmp_path_factory.mktemp("large") / "large.html"
    reference, system = long_rows(ROWS), long_rows(ROWS[:-2], [row[0] for row in ROWS[-2:]])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sedeval_soft.apps.page.timeline._PIECES", 2000)
        write_report(
            *(reference, {"s": system}, path),
            choices=Choices(timelines=9, files=("file 00.wav", "file 01.wav")),
            only=["segment.hard", "event.hard"],
        )
    page = visits(path).page
    drawn(page)
    return page


def follow(page, link):
    """Follow a link to a file of the page."""
    page.evaluate(f"location.hash = '#timeline=' + {link!r}")
    file = link.split("@")[0].replace("%20", " ")
    wait(page, f"figure.dataset.file === '{file}'")


def test_files_are_searched_and_one_that_is_not_in_the_page_is_told_how_to_get(large):
    follow(large, "file%2000.wav")
    names = files(large)
    assert large.locator("#timeline-said").inner_text().startswith(f"{len(names)} of 30 files")
    assert large.locator("#timeline-file optgroup").count() >= 3
    large.fill("#timeline-find", "2")
    found = files(large)
    assert found == [name for name in names if "2" in name] and shown(large) == found[0]
    large.fill("#timeline-find", "no such file")
    assert files(large) == [] and shown(large) == found[0] and large.is_disabled("#timeline-next")
    follow(large, "file%2001.wav")
    assert files(large) == names
    missing = large.locator("#timeline-missing")
    large.evaluate("location.hash = `#timeline=it's <b>x</b>.wav@3`")
    missing.get_by_text(r"--timeline 'it'\''s <b>x</b>.wav'").first.wait_for()
    follow(large, "file%2000.wav")
    assert missing.is_hidden()


def test_long_files_are_drawn_where_one_looks(large):
    drawn_bars = (
        "figure.data.filter((trace) => trace.type === 'bar').reduce((sum, trace) => sum + trace.x.length, 0)"
    )
    follow(large, "file%2000.wav")
    wait(large, f"{drawn_bars} <= 3000")
    assert large.locator("#timeline-joined").is_visible()
    assert bars(large) == {"hit reference": 3000, "hit system": 3000}
    assert "20 s" in large.locator("#timeline-notes").inner_text()
    follow(large, "file%2000.wav@1500")
    wait(large, f"{drawn_bars} < 200 && {drawn_bars} > 30")
    assert large.locator("#timeline-joined").is_hidden()
    assert said(large)["hit"] == 3000


def test_a_link_shows_its_class_though_there_are_too_many(large):
    follow(large, "file%2001.wav")
    wait(large, "figure.layout.annotations.length === 40")
    assert "<b>class 39</b>" in names_in(large) and "<b>class 45</b>" not in names_in(large)
    assert "40 of 50" in large.locator("#timeline-notes").inner_text()
    follow(large, "file%2001.wav@1@class%2045")
    wait(large, "figure.layout.annotations[0].text === '<b>class 45</b>'")
