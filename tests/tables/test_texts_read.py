"""Texts of every layout that is read, and of many that are not: their rows, or the places of their problems.

`readings.tsv` has them: what the user says of the text (form, columns, label, rate), whether its recording is
named after the table (`table`), as it is the only one (`only`), and what is found: the facts of its rows, the
columns that are ignored, and how many notes, assumptions and settings without effect it has; or the line,
column and code of each problem.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from drawn import cases, facts

from sedeval_soft.errors import InputError
from sedeval_soft.tables.forms import read_table
from sedeval_soft.tables.limits import LIMITS
from sedeval_soft.tables.source import Source


@pytest.mark.parametrize("case", cases("readings.tsv"), ids=lambda case: case["text"][:40])
def test_a_text_is_its_rows_or_is_refused_at_its_places(case):
    rate = float(case["rate"]) if case["rate"] else None
    said = LIMITS.reading(columns=case["columns"] or None, label=case["label"] or None, sample_rate=rate)
    limits = replace(said, by_table=case["of"] != "", only=case["of"] == "only")
    try:
        rows = read_table(Source(case["file"], case["text"].encode(), str), case["form"], limits)
    except InputError as error:
        found = [[p.line, p.column, p.code] for p in error.problems]
    else:
        origin = rows.origin
        told = (len(each) for each in (origin.notes, origin.assumed, origin.lacking))
        found = [*facts(rows), origin.ignored, *told]
    assert json.loads(json.dumps(found)) == json.loads(case["found"])
