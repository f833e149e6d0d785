"""Tables in any form, read as rows and written back.

- `read` reads whatever is at a path: `text` a table of text, `folder` the tables of a folder as one, and the
  module that `forms` has for it any other form.
- `columns` has the names that columns go by. To have another name known, add it to `ALIASES` there.
- To have another form read, write a module with `reads`, `read` and perhaps `write`; add it to `forms.FORMS`.
- `text_errors` says what is wrong with a table of text, with line and column.
- `fit` makes rows what a form can hold, and says what is lost.

Names below are imported when first used: start-up is a feature.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sedeval_soft.tables.frames import rows_from_data
    from sedeval_soft.tables.operating_points import points_in, points_of_folder, read_points
    from sedeval_soft.tables.per_file import read_durations, read_partition
    from sedeval_soft.tables.read import read_rows

__all__ = [
    "points_in",
    "points_of_folder",
    "read_durations",
    "read_partition",
    "read_points",
    "read_rows",
    "rows_from_data",
]

_MODULES = {
    "points_in": "operating_points",
    "points_of_folder": "operating_points",
    "read_durations": "per_file",
    "read_partition": "per_file",
    "read_points": "operating_points",
    "read_rows": "read",
    "rows_from_data": "frames",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module protocol (PEP 562)
    """Import a name at its first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
