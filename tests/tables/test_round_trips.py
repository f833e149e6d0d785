"""Every form reads what it writes, to the last digit, and says beforehand what it cannot hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn import PLAIN, TRICKY, WRITTEN, facts, fresh, tables, through
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import long_rows, wide_rows

from sedeval_soft.errors import InputError
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.fit import unfold

NAMES = [form.name for form in WRITTEN]


def frames() -> EventTable:
    """Return a wide table of two recordings, with values, that begins at 0 and has no gaps."""
    return wide_rows(np.array([[0.25, 1.0], [0.5, 0.75], [0.125, 1e-9], [0.1, 0.3]]), 0.02, files=2)


few = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
more = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


def check(rows, form):
    """What is read is what was to be written; and what there was, where nothing is said to be lost."""
    with fresh() as folder:
        made, read, losses = through(rows, form, Path(folder))
    assert facts(read) == facts(made)
    if not losses:
        assert facts(unfold(read)) == facts(unfold(rows))


@pytest.mark.parametrize("form", NAMES)
@few
@given(tables())
def test_a_form_reads_what_it_writes(form, rows):
    try:
        check(rows, form)
    except InputError as error:
        assert not (rows.files and rows.classes), error  # noqa: PT017
        assert {problem.code for problem in error.problems} == {"cannot-hold"}  # noqa: PT017


def sounds(rows):
    """Whether there is anything in a table but silence."""
    found = unfold(rows)
    return bool(len(found)) and (found.value is None or bool(np.any(found.value > 0)))


@more
@given(tables(), st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_there_and_back(rows, form, there):
    """From one form to another and back a table stays what it was, unless something is said to be lost."""
    first = rows
    with fresh() as name:
        folder = Path(name)
        try:
            _, first, _ = through(rows, form, folder)
            _, other, lost = through(first, there, folder / "there")
            _, back, more = through(other, form, folder / "back")
        except InputError as error:
            assert not sounds(first), error  # noqa: PT017
            return
    if not (lost or more):
        assert facts(unfold(back)) == facts(unfold(first))


@pytest.mark.parametrize("form", sorted({*NAMES} - {"sed-eval", "audacity", "elan"}))
def test_frames_without_gaps_lose_nothing_in_forms_that_hold_values_and_recordings(form):
    with fresh() as folder:
        made, read, losses = through(frames(), form, Path(folder))
    assert facts(unfold(read)) == facts(unfold(made))
    assert not losses


def test_a_byte_order_mark_is_not_written_where_readers_take_it_away():
    rows = long_rows([("\ufeffa", 0.0, 1.0, "car")])
    check(rows, "long")
    with fresh() as folder, pytest.raises(InputError, match="byte order mark"):
        through(rows, "sed-eval", Path(folder))


@pytest.mark.parametrize("form", NAMES)
@few
@given(tables((*PLAIN, *TRICKY), exact=False))
def test_names_that_look_like_something_else_are_kept_or_refused(form, rows):
    try:
        check(rows, form)
    except InputError as error:
        assert {problem.code for problem in error.problems} <= {"cannot-hold", "unsafe-name"}  # noqa: PT017
