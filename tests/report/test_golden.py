"""The presentations to the letter. `python tests/report/golden.py` writes the expected outputs anew."""

from __future__ import annotations

import pytest
from golden import FOLDER, OUTPUTS


@pytest.mark.parametrize("name", OUTPUTS)
def test_output_is_as_it_was(name):
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        assert OUTPUTS[name]() == file.read(), "if this is wanted: python tests/report/golden.py"


def test_folder_has_these_outputs_and_no_others():
    assert OUTPUTS
    assert {path.name for path in FOLDER.iterdir()} == set(OUTPUTS)
