"""Every form reads what it writes, to the last digit, and says beforehand what it cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from drawn import PLAIN, TRICKY, WRITTEN, facts, fresh, long_tables, tables, through, wide_tables
from hypothesis import HealthCheck, given, settings

from sedeval_soft.core.errors import InputError

NAMES = [form.name for form in WRITTEN]

few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
fewer = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))


def check(rows, form):
    """What is read is what was to be written; and that is what there was, where nothing is said to be lost."""
    with fresh() as folder:
        made, read, losses = through(rows, form, Path(folder))
    assert facts(read) == facts(made)
    if not losses and isinstance(read, type(rows)):
        assert facts(read) == facts(rows)


@pytest.mark.parametrize("form", NAMES)
@few
@given(tables())
def test_a_form_reads_what_it_writes(form, rows):
    try:
        check(rows, form)
    except InputError as error:
        assert not (rows.files and rows.classes), error
        assert {problem.code for problem in error.problems} == {"cannot-hold"}


@pytest.mark.parametrize("form", NAMES)
@few
@given(tables((*PLAIN, *TRICKY), exact=False))
def test_names_that_look_like_something_else_are_kept_or_refused(form, rows):
    try:
        check(rows, form)
    except InputError as error:
        assert {problem.code for problem in error.problems} <= {"cannot-hold", "unsafe-name"}
