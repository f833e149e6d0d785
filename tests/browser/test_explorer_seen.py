"""The page computes hard scores at any threshold as the evaluator does, to the last digits."""

import json
from itertools import product

import pytest
from visits import PHONE, SAMPLE, WIDE, drawn, width_in

from sedeval_soft import evaluate, write_report


def shown(page):
    """Return all numbers that the explorer shows, of all bases, by name."""
    found, each = [], "(all) => all.map(({ dataset: { score, value } }) => [score, value ? +value : null])"
    for basis in page.eval_on_selector_all("#explorer-basis option", "(all) => all.map((o) => o.value)"):
        page.select_option("#explorer-basis", basis)
        found += page.eval_on_selector_all("#explorer [data-score]", each)
    return dict(found)


TABLES = (SAMPLE / "ref.tsv", SAMPLE / "sys.tsv")
CHOSEN = {"inclusive": True, "segment_length": 0.3, "beta": 2.0, "pool": "mean", "median_filter": 1.0}


@pytest.mark.parametrize("chosen", [{}, CHOSEN], ids=["default", "chosen"])
def test_numbers_are_the_evaluators(visit, page, tmp_path, chosen):
    if chosen:
        write_report(*TABLES, tmp_path / "page.html", **chosen)
        page = visit(tmp_path / "page.html").page
    # A typed threshold is rounded to hundredths.
    for typed, threshold, reference in ((0.37, 0.37, 0.05), (0.823456, 0.82, 0.5), (0.03, 0.03, 0.95)):
        page.fill("#system-number", str(typed))
        page.press("#system-number", "Enter")
        page.select_option("#reference-threshold", str(reference))
        assert page.input_value("#system-number") == str(threshold)
        found = shown(page)
        scores = evaluate(
            *TABLES,
            only=["segment.hard", "event.hard", "intersection.hard"],
            threshold=threshold,
            reference_threshold=reference,
            **chosen,
        )
        assert len(found) > 50
        assert found == {name: scores[name] and pytest.approx(scores[name], abs=1e-9) for name in found}
        command = f"--threshold {threshold:g} --reference-threshold {reference:g}"
        assert command in page.inner_text("#explorer")
    page.click("#threshold-reset")


def test_the_slider_moves_tables_and_point(page):
    drawn(page, "#explorer-curve")
    point = "(({ x, y }) => [x[0], y[0]])(document.getElementById('explorer-curve').data[1])"
    before = shown(page)
    page.focus("#system-threshold")
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    assert page.input_value("#system-number") == "0.3"
    after = shown(page)
    page.select_option("#explorer-basis", "segment")
    page.wait_for_timeout(100)
    names = ("segment.hard.recall.micro", "segment.hard.precision.micro")
    assert page.evaluate(point) == [after[name] for name in names] != [before[name] for name in names]
    page.click("#threshold-reset")
    assert shown(page) == before


def test_all_scores_can_be_found_and_saved(page, sample_report):
    _, (one, two) = sample_report
    assert page.locator("#find").is_hidden()
    page.click("nav a[href='#all']")
    page.locator("#all-scores + .more").get_by_text("rows: ").first.wait_for()
    page.fill("#find", "segment.soft f1 macro")
    page.locator("#all-scores + .more button").wait_for(state="hidden")
    value = page.get_attribute("#all-scores td[data-score='segment.soft.f1.macro']", "data-value")
    assert float(value) == one["segment.soft.f1.macro"]
    with page.expect_download() as downloaded:
        page.click("#download")
    document = json.loads(downloaded.value.path().read_text(encoding="utf-8"))
    assert {
        system["name"]: {score["name"]: score["value"] for score in system["scores"]}
        for system in document["systems"]
    } == {"one": dict(one), "two": dict(two)}


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
    _, (scores, _) = sample_report
    matrix, n = scores.confusion[0], len(scores.classes)
    (pairs, missed, inserted), (shades, *_) = page.evaluate(
        "['text', 'z'].map((key) => document.querySelector('#confusion-figure').data.map((of) => of[key]))"
    )
    counts = [[str(count) for count in row] for row in (*matrix.pairs, matrix.missed, matrix.inserted)]
    assert [*(row[:n] for row in pairs[:n]), [row[n] for row in missed[:n]], inserted[n][:n]] == counts
    recalls = [scores[f"segment.hard.recall[{name}]"] for name in scores.classes]
    assert [shades[c][c] for c in range(n)] == pytest.approx(recalls), "the diagonal is the recall"


# The tutorial's page shows the same numbers as the command line.


@pytest.fixture(scope="module")
def tutorial(visits):
    return visits(SAMPLE.parent / "docs" / "tutorial" / "explorer.html").page


def table_of(page):
    """Return precision, recall, micro F and macro F of both readings, as the page shows them."""
    lines = page.locator("#scores tbody").inner_text().splitlines()
    return [line.split("\t")[1:] for line in lines if "\t" in line]


def test_both_thresholds_move_together_until_they_are_untied(tutorial):
    tutorial.fill("#reference", "0.4")
    assert tutorial.input_value("#system") == "0.4"
    # The paper's case: the sides have nothing in common at 0.5, and everything at 0.4.
    assert table_of(tutorial)[0] == ["1.000"] * 4
    tutorial.fill("#system", "0.5")
    assert tutorial.inner_text("#reference-told") == "0.50"
    assert table_of(tutorial) == [["0.000"] * 4, ["0.889", "0.800", "0.842", "0.842"]]


@pytest.mark.parametrize(("case", "name"), [(1, "sys"), (2, "sys_b")])
def test_scores_are_the_command_lines(tutorial, case, name):
    tutorial.uncheck("#linked")
    tutorial.select_option("#case", index=case)
    for reference, system in ((0.5, 0.5), (0.3, 0.62), (0.62, 0.11), (0, 1)):
        tutorial.fill("#reference", str(reference))
        tutorial.fill("#system", str(system))
        scores = evaluate(
            *(SAMPLE / "ref.tsv", SAMPLE / f"{name}.tsv"),
            threshold=system,
            reference_threshold=reference,
            only=["segment.hard", "segment.soft"],
        )
        values = [
            [
                scores[f"{reading}.{each}"]
                for each in ("precision.micro", "recall.micro", "f1.micro", "f1.macro")
            ]
            for reading in ("segment.hard", "segment.soft")
        ]
        assert table_of(tutorial) == [["-" if v is None else f"{v:.3f}" for v in row] for row in values]


def test_it_fits_and_draws_every_recording_and_class(tutorial):
    for case, name in product(range(3), ("file", "class")):
        tutorial.select_option("#case", index=case)
        for place in range(tutorial.locator(f"#{name} option").count()):
            tutorial.select_option(f"#{name}", index=place)
            assert tutorial.locator("#time path").count() == 4
        assert width_in(tutorial, PHONE) <= PHONE["width"] and width_in(tutorial, WIDE) <= WIDE["width"]
