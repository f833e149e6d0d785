"""Warnings that lead to what is wrong: files named unlike, classes of another data set."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from sedeval_soft.errors import EvaluationError
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import UNNAMED
from sedeval_soft.timeline.alignment_report import Findings


def told(settings: Settings | None = None, **found: object) -> str:
    return "\n".join(Findings(**found).warnings(settings or Settings()))  # type: ignore[arg-type]


def test_files_that_are_named_nearly_alike_are_told():
    hint = "is 'a_detected' meant to be 'a'? Both sides must name a file alike"
    assert hint in told(missing=frozenset({"a", "b"}), extra=frozenset({"zoo", "a_detected"}))
    assert "meant" not in told(missing=frozenset({"a", "b"}), extra=frozenset({"zoo"}))
    assert "meant" not in told(missing=frozenset({"a"})) + told(extra=frozenset({"a"}))
    # Every name begins with the empty one, which means nothing.
    assert "meant" not in told(missing=frozenset({UNNAMED}), extra=frozenset({"zoo"}))


def test_classes_of_another_data_set_are_one_warning():
    settings = Settings(classes=("Cat", "Dog"))
    here = {"reference_classes": frozenset({"car"}), "system_classes": frozenset({"car"})}
    text = told(settings, **here)
    assert "none of 2 classes ('Cat', 'Dog') to evaluate is in either table" in text
    assert text.count("\n") == 1
    assert "in either table; did you mean 'car'?" in told(Settings(classes=("Car",)), **here)
    some = told(Settings(classes=("Cat", "car")), **here)
    assert "class 'Cat', one of those to evaluate, is in neither table" in some
    assert "none of" not in some
    # Where there are no classes at all, each is missed by itself.
    assert told(settings).count("is in neither table") == 2


def test_a_class_that_is_nearly_one_to_evaluate_is_told_and_strict_refuses_it():
    """A system may know more classes than are evaluated; one that is misspelt is a miss throughout."""
    here = {
        "reference_classes": frozenset({"car", "dog"}),
        "system_classes": frozenset({"Car", "dog", "owl"}),
    }
    chosen = Settings(classes=("car", "dog"))
    line = "class 'Car' of the system is not among the classes to evaluate; left out; did you mean 'car'?"
    text = told(chosen, **here)
    assert line in text
    assert "'owl' of the system" not in text
    with pytest.raises(EvaluationError, match=re.escape(line)):
        told(replace(chosen, strict=True), **here)
    # However many names there are, it takes a few seconds at the most.
    many = frozenset(f"a class with a name {k:06}" for k in range(20_000))
    other = Settings(classes=tuple(f"another one with a name {k:04}" for k in range(2000)))
    begin = time.monotonic()
    told(other, reference_classes=frozenset({"car"}), system_classes=many)
    assert time.monotonic() - begin < 30
    both = {**here, "system_classes": frozenset({"Car", "car", "dog"})}
    assert "did you mean" not in told(replace(chosen, strict=True), **both)
