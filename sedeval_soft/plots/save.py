"""Figures as files: complete or not at all, and of the same input the same bytes."""

from __future__ import annotations

import io
import os
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from sedeval_soft.errors import SettingsError, visible
from sedeval_soft.plots.data import Systems
from sedeval_soft.plots.registry import SUFFIXES
from sedeval_soft.plots.style import Look, drawn_as

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def form_of(path: str | os.PathLike[str]) -> str:
    """Return the form of a figure that the suffix of a path stands for; raises SettingsError for others."""
    name = os.fspath(path)
    suffix = PurePath(name).suffix.removeprefix(".").lower()
    if suffix not in SUFFIXES:
        expected = ", ".join(f".{known}" for known in SUFFIXES)
        raise SettingsError(f"-o {name}: a figure is written as its name ends; expected one of {expected}")
    return suffix


def rendered(figure: Figure, form: str, look: Look, kind: str, systems: Systems) -> bytes:
    """Return the bytes of a figure.

    form: `pdf`, `png` or `svg`. kind, systems: what it is of, which its file tells, with the signatures.
    """
    look.check_pixels(*figure.get_size_inches())
    title = visible(f"{kind}: {', '.join(system.name for system in systems.all)}")
    signature = visible("\n".join(dict.fromkeys(system.scores.signature for system in systems.all)))
    # No date: the same call gives the same bytes.
    metadata: dict[str, dict[str, Any]] = {
        "pdf": {"Title": title, "Subject": signature, "CreationDate": None},
        "png": {"Title": title, "Description": signature},
        "svg": {"Title": title, "Description": signature, "Date": None},
    }
    written = io.BytesIO()
    with drawn_as(look):
        figure.savefig(written, format=form, dpi=look.dpi, metadata=metadata[form])
    return written.getvalue()
