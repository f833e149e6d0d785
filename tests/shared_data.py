"""Real data that stands beside a developer's checkout, not in it; tests that need it skip without."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "shared" / "data"


def shared(name: str) -> Path:
    """Return the path of a shared file or folder; skip the test where there is none."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}, which is not part of a checkout")
    return path
