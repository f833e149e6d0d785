"""Finds real data next to a developer's checkout; tests that need it are skipped without it."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "shared" / "data"


def shared(name: str) -> Path:
    """Return the path of a shared file or folder; skip the test if it is missing."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}, which is not part of a checkout")
    return path
