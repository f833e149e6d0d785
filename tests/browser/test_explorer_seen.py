"""The page computes hard scores at any thresholds: the evaluator's, to the last digits."""

from __future__ import annotations

import json

import pytest
from visits import SAMPLE, drawn

from sedeval_soft import evaluate, write_report

ALL = "(all) => all.map((e) => [e.dataset.score, e.dataset.value])"


def at(page, threshold, reference):
    """Move both thresholds as a reader would: typing one, choosing the other."""
    page.fill("#system-number", str(threshold))
    page.press("#system-number", "Enter")
    page.select_option("#reference-threshold", str(reference))


def shown(page):
    """Every number that the explorer shows, of all bases, by name."""
    found = []
    for basis in page.eval_on_selector_all("#explorer-basis option", "(all) => all.map((o) => o.value)"):
        page.select_option("#explorer-basis", basis)
        found += page.eval_on_selector_all("#explorer [data-score]", ALL)
    return {name: float(value) if value else None for name, value in found}


TABLES = (SAMPLE / "ref.tsv", SAMPLE / "sys.tsv")
HARD = [f"{basis}.hard" for basis in ("segment", "event", "intersection")]
CHOSEN = {"inclusive": True, "segment_length": 0.3, "beta": 2.0, "pool": "mean", "median_filter": 1.0}


@pytest.mark.parametrize("chosen", [{}, CHOSEN], ids=["default", "chosen"])
def test_numbers_are_the_evaluators(visit, page, tmp_path, chosen):
    if chosen:
        write_report(*TABLES, tmp_path / "page.html", **chosen)
        page = visit(tmp_path / "page.html").page
    # A threshold that is typed is the nearest hundredth.
    for typed, threshold, reference in ((0.37, 0.37, 0.05), (0.823456, 0.82, 0.5), (0.03, 0.03, 0.95)):
        at(page, typed, reference)
        assert page.input_value("#system-number") == str(threshold)
        cuts = {"threshold": threshold, "reference_threshold": reference}
        found, scores = shown(page), evaluate(*TABLES, only=HARD, **cuts, **chosen)
        assert len(found) > 50
        assert found == {name: scores[name] and pytest.approx(scores[name], abs=1e-9) for name in found}
        command = f"--threshold {threshold:g} --reference-threshold {reference:g}"
        assert command in page.inner_text("#explorer")
    page.click("#threshold-reset")


def test_the_slider_moves_tables_and_point(page):
    drawn(page, "#explorer-curve")
    point = "(({ x, y }) => [x[0], y[0]])(document.getElementById('explorer-curve').data[1])"
    before = page.evaluate(point), shown(page)
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
    page.click("#threshold-reset")
    assert shown(page) == before[1]


def test_all_scores_can_be_found_and_saved(page, sample_report, tmp_path):
    assert page.locator("#find").is_hidden()
    page.click("nav a[href='#all']")
    assert "rows: " in page.inner_text("#all-scores + .more")
    page.fill("#find", "segment.soft f1 macro")
    assert page.locator("#all-scores + .more button").is_hidden()
    cell = page.locator("#all-scores td[data-score='segment.soft.f1.macro']")
    assert float(cell.get_attribute("data-value")) == sample_report.scores[0]["segment.soft.f1.macro"]
    with page.expect_download() as downloaded:
        page.click("#download")
    downloaded.value.save_as(tmp_path / "scores.json")
    document = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    assert [system["name"] for system in document["systems"]] == ["one", "two"]
    values = {score["name"]: score["value"] for score in document["systems"][1]["scores"]}
    assert values == dict(sample_report.scores[1])


def test_every_curve_is_drawn(page):
    drawn(page, "#curve-figure")
    for kind in ("roc", "det", "f1", "reliability", "pr"):
        before = page.inner_text("#curve-text")
        page.select_option("#curve-kind", kind)
        page.wait_for_selector("#curve-figure .scatterlayer .trace", state="attached")
        assert page.inner_text("#curve-text") not in ("", before)


def test_the_confusion_is_the_evaluators(page, sample_report):
    page.click("nav a[href='#confusion']")
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
