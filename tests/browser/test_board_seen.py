"""The leaderboard in a browser: sorting, filtering, links; hostile names stay text."""

import re
import shutil
from pathlib import Path, PurePath

import pytest
from visits import PHONE, SAMPLE, WIDE, drawn, taken_over, violations, width_in

from sedeval_soft import build_site

HOSTILE = ("<img src=x onerror=alert(1)>", '"><script>alert(2)<!--', "' onmouseover='alert(3)", "a\u202eb")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Build a site: some systems have hostile names, one is undefined in a column, one is invalid."""
    folder = tmp_path_factory.mktemp("board")
    made = folder / "submissions"
    made.mkdir()
    for name in ("sys", "sys_b", "events"):
        shutil.copy(SAMPLE / f"{name}.tsv", made)
    for name in HOSTILE:
        shutil.copy(SAMPLE / "sys_b.tsv", made / f"{name}.tsv")
        (made / f"{name}.yaml").write_text('team: "<b onclick=alert(4)>Team"\nauthors: ["</script>", Bob]\n')
    head = "filename\tonset\toffset\tevent_label"
    (made / "silent.tsv").write_text(f"{head}\tvalue\ncafe.wav\t0\t1\tcar\t0.0\n")
    (made / "bad.tsv").write_text(f"{head}\ncafe.wav\t2\t1\t<svg onload=alert(5)>\n")
    build_site(
        *(made, SAMPLE / "ref.tsv", folder / "site"),
        replicates=50,
        scores=("event.hard.onset_bias.micro",),
    )
    return folder / "site"


@pytest.fixture(scope="module")
def index(visits, site):
    return visits(site / "index.html").page


def names(page) -> list[str]:
    """Return the names of the visible rows, in order."""
    return page.locator("#board tbody tr:visible th > a:first-child").all_inner_texts()


def sort(page, heading: str | re.Pattern) -> tuple[str, list[str]]:
    """Click a heading; return the order that it announces, and the values of its column."""
    of = page.locator("#board thead tr:last-child th").filter(has_text=heading)
    of.get_by_role("button").click()
    assert page.locator("[aria-sort]").count() == 1
    at = of.evaluate("heading => heading.cellIndex + 1")
    cells = "cells => cells.map(cell => cell.dataset.value || '')"
    return of.get_attribute("aria-sort"), page.eval_on_selector_all(
        f"#board tbody tr > :nth-child({at})", cells
    )


def test_headings_sort_either_way_and_say_so(index):
    by_place = names(index)
    assert len(by_place) == 8 and by_place[0] in {"sys", "events"}
    assert index.get_attribute("[aria-sort]", "aria-sort") == "ascending"
    (down, falling), (up, rising) = sort(index, "Score"), sort(index, "Score")
    assert (down, up) == ("descending", "ascending")
    assert rising == sorted(rising, key=float) == falling[::-1]
    assert sort(index, "Submission") and names(index) == sorted(by_place, key=str.lower)
    assert sort(index, re.compile("^Place")) and names(index) == by_place
    # An undefined value comes last in both orders.
    for _ in range(2):
        _, values = sort(index, "onset_bias")
        assert [value == "" for value in values] == [False] * 7 + [True] and names(index)[-1] == "silent"


def test_the_filter_looks_for_words_in_names_and_teams(index):
    for text, n in (("SYS", 2), ("team bob", 4), ("nobody", 0), ("", 8)):
        index.get_by_role("searchbox", name="Filter").fill(text)
        told = index.get_by_role("status").inner_text()
        assert (len(names(index)), told) == (n, f"{n} of 8 shown" if text else "")


@pytest.mark.parametrize(
    ("name", "title"),
    [("index", "Leaderboard"), ("problems/bad", "Problems of bad"), ("reports/sys", "sys ")],
)
def test_pages_fit_are_accessible_and_run_our_scripts_only(visit, site, name, title):
    found = visit(site / f"{name}.html", ready=False, scheme="dark")
    page, is_report = found.page, name.startswith("reports")
    if is_report:
        # The page loads the script for its figures from the same site.
        drawn(page)
        assert [PurePath(url).suffix for url in found.heard()] == [".js"]
    page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
    for size in (WIDE, PHONE):
        assert width_in(page, size) <= size["width"]
    assert is_report or violations(page) == []
    page.emulate_media(color_scheme="light")
    assert is_report or violations(page, runOnly=["color-contrast"]) == []
    assert taken_over(found).startswith(title)
