"""Numbers of things in words."""

from __future__ import annotations

import pytest

from sedeval_soft.errors import be, counted, plural


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (0, "file", "0 files"),
        (1, "file", "1 file"),
        (2, "file", "2 files"),
        (0, "class", "0 classes"),
        (1, "class", "1 class"),
        (12, "class", "12 classes"),
        (1, "more class", "1 more class"),
        (2, "reference row", "2 reference rows"),
    ],
)
def test_only_one_thing_has_no_plural(number, noun, said):
    assert counted(number, noun) == said


def test_the_plural_of_what_ends_in_s():
    assert [plural(noun) for noun in ("class", "file")] == ["classes", "files"]


def test_the_verb_goes_with_the_number():
    assert [be(number) for number in (0, 1, 2)] == ["are", "is", "are"]
