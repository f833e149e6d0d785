"""The leaderboard in a browser: sorting, filtering, links; strangers' names stay text."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sedeval_soft.tools.site import build_site

SAMPLE = Path(__file__).parents[2] / "sample_data"

HOSTILE = ("<img src=x onerror=alert(1)>", '"><script>alert(2)<!--', "' onmouseover='alert(3)", "a\u202eb")

THEMES = [(width, scheme) for width in (1400, 390) for scheme in ("light", "dark")]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A site of the sample's systems, some with hostile names, one undefined in a column, one invalid."""
    folder = tmp_path_factory.mktemp("board")
    made = folder / "submissions"
    made.mkdir()
    for name in ("sys", "sys_b", "events"):
        shutil.copy(SAMPLE / f"{name}.tsv", made)
    for name in HOSTILE:
        shutil.copy(SAMPLE / "sys_b.tsv", made / f"{name}.tsv")
        (made / f"{name}.yaml").write_text('team: "<b onclick=alert(4)>Team"\nauthors: ["</script>", Bob]\n')
    (made / "silent.tsv").write_text(
        "filename\tonset\toffset\tevent_label\tvalue\ncafe.wav\t0\t1\tcar\t0.0\n"
    )
    (made / "bad.tsv").write_text(
        "filename\tonset\toffset\tevent_label\ncafe.wav\t2\t1\t<svg onload=alert(5)>\n"
    )
    build_site(
        made, SAMPLE / "ref.tsv", folder / "site", replicates=50, scores=("event.hard.onset_bias.micro",)
    )
    return folder / "site"


@pytest.fixture
def index(visit, site):
    return visit(site / "index.html").page


def names(page) -> list[str]:
    """Return the names of the rows that are shown, in their order."""
    return page.locator("#board tbody tr:visible th > a:first-child").all_inner_texts()


def values(page, at: int) -> list[str]:
    return [cell or "" for cell in page.eval_on_selector_all(
        f"#board tbody tr td:nth-child({at})", "cells => cells.map(cell => cell.dataset.value)"
    )]  # fmt: skip


def heading(page, text: str):
    return page.locator("#board thead tr:last-child th", has_text=text)


def test_headings_sort_either_way_and_say_so(index):
    by_rank = names(index)
    assert len(by_rank) == 8 and by_rank[0] in {"sys", "events"}
    score = heading(index, "Score")
    assert heading(index, "Rank").get_attribute("aria-sort") == "ascending"
    score.get_by_role("button").click()
    assert score.get_attribute("aria-sort") == "descending"
    assert heading(index, "Rank").get_attribute("aria-sort") is None
    assert index.locator("[aria-sort]").count() == 1
    high_first = [float(value) for value in values(index, 3)]
    assert high_first == sorted(high_first, reverse=True)
    score.get_by_role("button").click()
    assert score.get_attribute("aria-sort") == "ascending"
    assert [float(value) for value in values(index, 3)] == high_first[::-1]
    heading(index, "Submission").get_by_role("button").click()
    found = names(index)
    assert found == sorted(found, key=str.lower)
    heading(index, "Rank").get_by_role("button").click()
    assert names(index) == by_rank


def test_the_keyboard_sorts(index):
    heading(index, "Score").get_by_role("button").focus()
    index.keyboard.press("Enter")
    assert heading(index, "Score").get_attribute("aria-sort") == "descending"
    index.keyboard.press("Space")
    assert heading(index, "Score").get_attribute("aria-sort") == "ascending"


def test_what_is_undefined_comes_last_whichever_way(index):
    bias = heading(index, "onset_bias")
    at = index.locator("#board thead tr:last-child th").count()
    for _ in range(2):
        bias.get_by_role("button").click()
        found = values(index, at)
        assert found[-1] == "" and "" not in found[:-1]
        assert names(index)[-1] == "silent"


def test_the_filter_looks_for_words_in_names_and_teams(index):
    box = index.get_by_role("searchbox", name="Filter")
    box.fill("SYS")
    assert {*names(index)} == {"sys", "sys_b"}
    assert index.get_by_role("status").inner_text() == "2 of 8 shown"
    box.fill("team bob")
    assert len(names(index)) == len(HOSTILE)
    box.fill("nobody at all")
    assert names(index) == []
    box.fill("")
    assert len(names(index)) == 8 and index.get_by_role("status").inner_text() == ""


def test_links_lead_to_reports_and_problems_and_back(chromium, site):
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="sys", exact=True).click()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.url.endswith("/reports/sys.html") and page.locator("h1").inner_text() == "sys"
    page.get_by_role("link", name="Leaderboard").click()
    page.get_by_role("link", name="bad", exact=True).click()
    assert page.locator("h1").inner_text() == "Problems of bad"
    assert "<svg onload=alert(5)>" in page.locator("main").inner_text()
    page.get_by_role("link", name="Leaderboard").click()
    assert page.url.endswith("/index.html")
    context.close()


def test_names_from_strangers_make_no_elements(index):
    shown = names(index)
    assert HOSTILE[0] in shown and HOSTILE[1] in shown and HOSTILE[2] in shown
    assert r"a\u202eb" in shown
    assert "<b onclick=alert(4)>Team" in index.locator("#board").inner_text()
    assert index.locator("#board img, #board script, [onclick], [onerror], [onmouseover]").count() == 0
    index.hover("#board tbody tr:nth-child(3)")


def test_a_script_that_is_not_ours_would_not_run(visit, site):
    """The policy of the page holds, should anything ever get past the escaping."""
    found = visit(site / "index.html", quiet=False)
    found.page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "document.title = 'taken over'";
            document.body.append(script);
            const image = document.createElement("div");
            image.innerHTML = "<img src=x onerror=\\"document.title = 'taken over'\\">";
            document.body.append(image);
        }"""
    )
    found.page.wait_for_timeout(100)
    assert found.page.title() == "Leaderboard"
    assert found.errors


def test_without_scripts_the_table_is_there_by_rank(chromium, site):
    context = chromium.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    assert page.locator("#board tbody tr").count() == 8
    assert page.locator("#board button").count() == 0
    assert not page.locator("#filter").is_visible()
    context.close()


@pytest.mark.parametrize(("width", "scheme"), THEMES)
def test_pages_fit_and_are_accessible(chromium, site, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True, bypass_csp=True
    )
    page = context.new_page()
    for name in ("index.html", "problems/bad.html"):
        page.goto((site / name).as_uri())
        page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = axe.run(page).response["violations"]
        serious = [each for each in found if each["impact"] in {"serious", "critical"}]
        assert not serious, [(each["id"], [node["html"] for node in each["nodes"]]) for each in serious]
    context.close()
