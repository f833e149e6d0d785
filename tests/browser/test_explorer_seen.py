"""What the page finds itself: hard scores at any thresholds, to the numbers that the command line prints."""

from __future__ import annotations

import json

import numpy as np
import pytest
from called import call
from tables import wide_rows
from visits import SAMPLE, drawn

from sedeval_soft import write_report
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.html import page_data
from sedeval_soft.settings import Settings

ALL = "(all) => all.map((e) => [e.dataset.score, e.dataset.value])"


def at(page, threshold, reference, data):
    """Move both thresholds as a reader would: typing one, pressing keys on the other."""
    page.fill("#system-number", str(threshold))
    page.press("#system-number", "Enter")
    page.focus("#reference-threshold")
    near_end = data.index(reference) > len(data) // 2
    page.keyboard.press("End" if near_end else "Home")
    for _ in range(len(data) - 1 - data.index(reference) if near_end else data.index(reference)):
        page.keyboard.press("ArrowLeft" if near_end else "ArrowRight")
    assert page.inner_text("#reference-number") == str(reference)


def shown(page):
    """Every number that the explorer shows, of all bases, by name."""
    found = []
    for basis in page.eval_on_selector_all("#explorer-basis option", "(all) => all.map((o) => o.value)"):
        page.select_option("#explorer-basis", basis)
        found += page.eval_on_selector_all("#explorer [data-score]", ALL)
    return {name: float(value) if value else None for name, value in found}


def printed(tables, threshold, reference, *options):
    """What the command line says at these thresholds."""
    only = [word for basis in ("segment", "event", "intersection") for word in ("--only", f"{basis}.hard")]
    cuts = ("--threshold", str(threshold), "--reference-threshold", str(reference))
    called = call(*tables, *only, *cuts, *options, "--format", "json", "--quiet")
    assert called.code == 0, called.err
    return {name: score["value"] for name, score in called.scores.items()}


def same(found, expected, left_out=()):
    """Assert that all numbers of a page are those expected, to 1e-9."""
    names = {name for name in found if name not in left_out}
    assert len(names) > 50
    assert {name for name in names if found[name] is None} == {
        name for name in names if expected[name] is None
    }
    assert all(abs(found[name] - expected[name]) <= 1e-9 for name in names if found[name] is not None)


TABLES = (SAMPLE / "ref.tsv", SAMPLE / "sys.tsv")


@pytest.mark.parametrize(
    ("grid", "chosen", "options"),
    [
        (False, {}, ()),
        (True, {}, ()),
        (True, {"inclusive": True}, ("--set", "inclusive=true")),
        (False, {"inclusive": True, "segment_length": 0.3},
         ("--set", "inclusive=true", "--segment-length", "0.3")),
        (False, {"beta": 2.0, "pool": "mean", "median_filter": 1.0},
         ("--set", "beta=2", "--set", "pool=mean", "--median-filter", "1")),
    ],
)  # fmt: skip
def test_numbers_are_those_of_the_command_line(visit, tmp_path, monkeypatch, grid, chosen, options):
    if grid:
        monkeypatch.setattr(page_data, "_ROOM", 0)
    write_report(*TABLES, tmp_path / "page.html", **chosen)
    page = visit(tmp_path / "page.html").page
    thresholds = [k / 20 for k in range(1, 20)]
    # On hundredths the segments of a class are pooled, and with them goes what is of all classes at once.
    left_out = {"segment.hard.error_rate.micro"} if grid else ()
    for threshold, reference in ((0.37, 0.05), (0.82, 0.5), (0.03, 0.95)):
        at(page, threshold, reference, thresholds)
        same(shown(page), printed(TABLES, threshold, reference, *options), left_out)
        command = f"--threshold {threshold:g} --reference-threshold {reference:g}"
        assert command in page.inner_text("#explorer")


def test_any_threshold_can_be_typed_where_all_are_embedded(visit, tmp_path):
    rng = np.random.default_rng(3)
    sides = [wide_rows(rng.random((60, 3)), files=3, name=name) for name in ("ref", "sys")]
    write_report(sides[0], {"sys": sides[1]}, tmp_path / "page.html")
    page = visit(tmp_path / "page.html").page
    value = float(sides[1].values[1][7])
    for threshold in (value, float(np.nextafter(value, 0)), 0.123456789):
        page.fill("#system-number", repr(threshold))
        page.press("#system-number", "Enter")
        only = ("segment.hard", "event.hard", "intersection.hard")
        made = Settings(only=only, threshold=threshold, reference_threshold=0.5)
        same(shown(page), dict(evaluate_rows(*sides, made)))


@pytest.fixture(scope="module")
def page(visits, sample_report):
    """The sample's page, opened once."""
    return visits(sample_report.path).page


def test_the_slider_moves_table_point_and_bars(page):
    drawn(page, "#explorer-curve")
    point = "(({ x, y }) => [x[0], y[0]])(document.getElementById('explorer-curve').data[1])"
    before = page.evaluate(point), shown(page)
    bars = "#explorer-classes .bar", "(e) => e.map(({ style }) => style.getPropertyValue('--part'))"
    parts = page.eval_on_selector_all(*bars)
    page.focus("#system-threshold")
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    assert page.input_value("#system-number") == "0.3"
    page.wait_for_timeout(100)
    after = page.evaluate(point), shown(page)
    assert before != after
    page.select_option("#explorer-basis", "segment")
    page.wait_for_timeout(100)
    names = ("segment.hard.recall.micro", "segment.hard.precision.micro")
    assert page.evaluate(point) == [after[1][name] for name in names]
    assert page.eval_on_selector_all(*bars) != parts
    page.click("#threshold-reset")
    assert shown(page) == before[1]


def test_all_scores_can_be_found_and_saved(page, sample_report, tmp_path):
    page.fill("#find", "segment.soft f1 macro")
    cell = page.locator("#all-scores td[data-score='segment.soft.f1.macro']")
    assert float(cell.get_attribute("data-value")) == sample_report.scores[0]["segment.soft.f1.macro"]
    with page.expect_download() as downloaded:
        page.click("#download")
    downloaded.value.save_as(tmp_path / "scores.json")
    document = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    assert [system["name"] for system in document["systems"]] == ["one", "two"]
    values = {score["name"]: score["value"] for score in document["systems"][1]["scores"]}
    assert values == dict(sample_report.scores[1])


@pytest.mark.parametrize("kind", ["roc", "det", "f1", "reliability", "pr"])
def test_every_curve_is_drawn(page, kind):
    drawn(page, "#curve-figure")
    before = page.inner_text("#curve-text")
    page.select_option("#curve-kind", kind)
    page.wait_for_selector("#curve-figure .scatterlayer .trace", state="attached")
    assert page.inner_text("#curve-text") not in ("", before)


def test_confusion_and_surface_are_the_evaluators(page, sample_report):
    drawn(page, "#surface-figure")
    drawn(page, "#confusion-figure")
    scores = sample_report.scores[0]
    matrix, n = scores.confusion[0], len(scores.classes)
    texts, shades = page.evaluate(
        "['text', 'z'].map((key) => document.querySelector('#confusion-figure').data.map((of) => of[key]))"
    )
    pairs, missed, inserted = texts
    assert [row[:n] for row in pairs[:n]] == [[str(count) for count in row] for row in matrix.pairs]
    assert [row[n] for row in missed[:n]] == [str(count) for count in matrix.missed]
    assert inserted[n][:n] == [str(count) for count in matrix.inserted]
    # The shade of the diagonal is what is said of it below.
    assert "the diagonal is the recall" in page.inner_text("#confusion-text")
    diagonal = [shades[0][c][c] for c in range(n)]
    assert diagonal == pytest.approx([scores[f"segment.hard.recall[{name}]"] for name in scores.classes])
    x, y, z = page.evaluate("(({ x, y, z }) => [x, y, z])(document.getElementById('surface-figure').data[0])")
    expected = printed(TABLES, 0.3, 0.75)["segment.hard.f1.macro"]
    assert z[y.index(0.75)][x.index(0.3)] == pytest.approx(expected, abs=1e-9)


def test_a_large_page_is_ready_soon(visit, tmp_path):
    rng = np.random.default_rng(4)
    sides = [wide_rows(rng.random((11_000, 11)), files=49, name=name) for name in ("ref", "sys")]
    write_report(sides[0], {"sys": sides[1]}, tmp_path / "page.html")
    page = visit(tmp_path / "page.html").page
    assert int(page.get_attribute("html", "data-ready")) < 2000
    assert (tmp_path / "page.html").stat().st_size < 8_000_000
