"""What the options of the command mean for tables that are counted in parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sedeval_soft.api.parts import Counted, counted_in_parts
from sedeval_soft.settings import Settings


def counted(reference: str, system: str, settings: Settings, io: Mapping[str, Any]) -> Counted:
    """Return what `counted_in_parts` does; io: what was asked for beside settings."""
    # Parts that only folds and scenes name are scored from all that was counted; that is saved, too.
    whole = any(io.get(name) for name in ("save_tally", "folds", "by"))
    how = {"jobs": io["jobs"], "scheduler": io["scheduler"], "whole": whole}
    return counted_in_parts(reference, system, settings, io["durations"], io["limits"], **how)
