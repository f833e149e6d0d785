"""The script makes the pictures and the page of the tutorial, with the numbers of the evaluator."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from documents import ROOT, script

from sedeval_soft import evaluate

TUTORIAL = ROOT / "docs" / "tutorial"
MADE = script("tutorial").MADE


def test_what_is_kept_is_what_the_script_makes():
    for name, made in MADE.items():
        assert (TUTORIAL / name).read_text(encoding="utf-8") == made(), "run python docs/make/tutorial.py"


@pytest.mark.parametrize(("place", "name", "threshold"), [(1, "sys", 0.5), (2, "sys_b", 0.2)])
def test_the_page_holds_what_the_evaluator_reads(place, name, threshold):
    page = (TUTORIAL / "explorer.html").read_text(encoding="utf-8")
    case = json.loads(re.search(r"^const cases = (.*);$", page, re.MULTILINE)[1])[place]
    sides = [
        np.concatenate([np.array(file[role], dtype=float).T for file in case["files"]])
        for role in ("reference", "system")
    ]
    settings = {"threshold": threshold, "only": ["segment.hard", "segment.soft"], "classes": case["classes"]}
    of_page = evaluate(*sides, **settings)
    of_tables = evaluate(*(ROOT / f"sample_data/{side}.tsv" for side in ("ref", name)), **settings)
    for score in ("hard.f1.micro", "hard.f1.macro", "soft.f1.micro", "soft.f1.macro", "soft.recall.micro"):
        assert of_page[f"segment.{score}"] == pytest.approx(of_tables[f"segment.{score}"], abs=1e-12)
