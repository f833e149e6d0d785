"""Files over time: what the reference and the system say, and where they agree."""

from __future__ import annotations

from typing import Any

from sedeval_soft.page.material import Material
from sedeval_soft.page.packed import Packer


def timelines(material: Material, pack: Packer, count: int, files: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the files that are shown, and why these; arrays are packed."""
    del material, pack, count, files
    return {"files": []}
