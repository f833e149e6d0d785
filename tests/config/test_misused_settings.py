"""Settings files with values of the wrong kind, as fuzzing found them."""

from __future__ import annotations

import pytest

from sedeval_soft.errors import EvaluationError
from sedeval_soft.settings_files import load_settings


@pytest.mark.parametrize(
    "text", ["only: [{segment.smmmmm: 2mmmoft}]", "measures: [[curves]]", "only: [[], []]"]
)
def test_lists_of_things_that_are_no_names(text, tmp_path):
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EvaluationError, match="must be one of"):
        load_settings(str(path))
