"""Arguments of wrong types are refused by name, as by `evaluate`."""

import numpy as np
import pytest
from called import OTHER, REFERENCE, SAMPLES, SYSTEM

import sedeval_soft
from sedeval_soft import EvaluationError

NOT_A_PATH = (5, True, b"x", ["x"])
NOT_A_NAME = (5, b"x", ["x"])

WRONG = {
    "convert": {"target": NOT_A_PATH, "to": NOT_A_NAME},
    "validate": {"system": NOT_A_PATH, "reference": (5, b"x"), "classes": (5, b"x", [5]), "fix": NOT_A_PATH},
    "operating_points": {"path": NOT_A_PATH},
    "build_site": {"submissions": NOT_A_PATH, "site": NOT_A_PATH, "cache": NOT_A_PATH, "title": NOT_A_NAME,
                   "folds": NOT_A_PATH, "by": NOT_A_PATH},
    "write_report": {"systems": (5, b"x", [5], {}, {5: 5}), "path": NOT_A_PATH, "board": (5, {}),
                     "choices": (5, {}), "audio": NOT_A_PATH},
    "compare": {"systems": (5, b"x", [5, 6])},
    "plot": {"output": NOT_A_PATH},
}  # fmt: skip
"""Impossible values, by function and argument."""


RIGHT = {
    "convert": {"source": SYSTEM, "target": "out.csv"},
    "validate": {"system": SYSTEM},
    "operating_points": {"path": SAMPLES},
    "build_site": {"submissions": SAMPLES, "reference": REFERENCE, "site": "site"},
    "write_report": {"reference": REFERENCE, "systems": SYSTEM, "path": "page.html"},
    "compare": {"reference": REFERENCE, "systems": [SYSTEM, OTHER]},
    "plot": {"kind": "curves", "reference": REFERENCE},
}
"""Possible arguments of each function."""


@pytest.mark.parametrize(("function", "argument"), [(f, a) for f, own in WRONG.items() for a in own])
def test_what_an_argument_cannot_be_is_refused_by_its_name(function, argument, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in WRONG[function][argument]:
        with pytest.raises(EvaluationError) as refused:
            getattr(sedeval_soft, function)(**(RIGHT[function] | {argument: value}))
        assert argument.removesuffix("s") in str(refused.value), value


def test_validate_takes_any_reference_that_evaluate_takes():
    """A text for `classes` is one class, not one class for each letter."""
    reference = {"file.wav": np.ones((2, 1))}
    found = sedeval_soft.validate(SYSTEM, reference, classes="car").counts
    assert {"unknown-file", "missing-file", "unknown-class"} <= {*found}
    assert "missing-class" not in found
