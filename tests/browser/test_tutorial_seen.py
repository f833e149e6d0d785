"""The tutorial's page of thresholds, moved in a browser: its numbers are the command line's."""

from itertools import product

import pytest
from visits import PHONE, SAMPLE, WIDE, width_in

from sedeval_soft import evaluate

PAGE = SAMPLE.parent / "docs" / "tutorial" / "explorer.html"


@pytest.fixture(scope="module")
def page(visits):
    return visits(PAGE).page


def shown(page):
    """Return precision, recall, micro F and macro F of both readings, as they are shown."""
    lines = page.locator("#scores tbody").inner_text().splitlines()
    return [line.split("\t")[1:] for line in lines if "\t" in line]


def test_both_thresholds_move_together_until_they_are_untied(page):
    page.fill("#reference", "0.4")
    assert page.input_value("#system") == "0.4"
    # The paper's case: nothing in common at 0.5, all of it at 0.4.
    assert shown(page)[0] == ["1.000"] * 4
    page.fill("#system", "0.5")
    assert page.inner_text("#reference-told") == "0.50"
    assert shown(page) == [["0.000"] * 4, ["0.889", "0.800", "0.842", "0.842"]]


@pytest.mark.parametrize(("case", "name"), [(1, "sys"), (2, "sys_b")])
def test_scores_are_the_command_lines(page, case, name):
    page.uncheck("#linked")
    page.select_option("#case", index=case)
    for reference, system in ((0.5, 0.5), (0.3, 0.62), (0.62, 0.11), (0, 1)):
        page.fill("#reference", str(reference))
        page.fill("#system", str(system))
        how = {
            "threshold": system,
            "reference_threshold": reference,
            "only": ["segment.hard", "segment.soft"],
        }
        scores = evaluate(SAMPLE / "ref.tsv", SAMPLE / f"{name}.tsv", **how)
        names = ("precision.micro", "recall.micro", "f1.micro", "f1.macro")
        values = [[scores[f"segment.{reading}.{each}"] for each in names] for reading in ("hard", "soft")]
        assert shown(page) == [["-" if v is None else f"{v:.3f}" for v in row] for row in values]


def test_it_fits_and_draws_every_recording_and_class(page):
    for case, name in product(range(3), ("file", "class")):
        page.select_option("#case", index=case)
        for place in range(page.locator(f"#{name} option").count()):
            page.select_option(f"#{name}", index=place)
            assert page.locator("#time path").count() == 4
        assert width_in(page, PHONE) <= PHONE["width"] and width_in(page, WIDE) <= WIDE["width"]
