"""What is shown while work is done: in front of somebody, after a while, and gone at the end."""

from __future__ import annotations

import io
import sys

import pytest

from sedeval_soft.cli import output as module
from sedeval_soft.cli.output import progress

TAKEN_BACK = "\r\033[K"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def shown_to(monkeypatch):
    """Return a function that sits somebody in front of standard error, and returns what they see."""

    def begin(patience=0.0):
        seen = Terminal()
        monkeypatch.setattr(sys, "stderr", seen)
        monkeypatch.setattr(module, "_PATIENCE", patience)
        return seen

    return begin


def test_nobody_is_shown_anything_who_would_not_see_it(shown_to, monkeypatch):
    terminal = shown_to()
    with progress(quiet=True) as told:
        assert told is None
    monkeypatch.setattr(sys, "stderr", None)
    with progress(quiet=False) as told:
        assert told is None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress(quiet=False) as told:
        assert told is None
    assert terminal.getvalue() == ""


def test_a_bar_is_drawn_and_taken_back_and_each_part_has_its_own(shown_to):
    terminal = shown_to()
    with progress(quiet=False, label="counting files") as told:
        told(10, 40)
        told(30, 40)
        assert "counting files" in terminal.getvalue() and "75%" in terminal.getvalue()
        assert TAKEN_BACK not in terminal.getvalue()
        told(40, 40)
        assert terminal.getvalue().count(TAKEN_BACK) == 1
        told(5, 10)
        # Fewer are done than before: these are others.
        told(1, 4)
        assert terminal.getvalue().count(TAKEN_BACK) == 2
        assert "25%" in terminal.getvalue()
    assert terminal.getvalue().count(TAKEN_BACK) == 3
    assert terminal.getvalue().endswith(TAKEN_BACK)


def test_an_error_leaves_no_bar_behind(shown_to):
    terminal = shown_to()

    def fail():
        with progress(quiet=False) as told:
            told(1, 2)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert terminal.getvalue().endswith(TAKEN_BACK)


def test_short_work_is_done_without_a_word(shown_to):
    terminal = shown_to(patience=60.0)
    with progress(quiet=False) as told:
        told(1, 2)
        told(2, 2)
    assert terminal.getvalue() == ""
