"""Settings with which just some scores are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sedeval_soft.api.sources import settings_from
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import group_of
from sedeval_soft.settings import Settings


def settings_for(scores: Sequence[str], settings: Mapping[str, Any]) -> Settings:
    """Return settings with which nothing but the families of some scores is evaluated.

    Raises SettingsError for no score at all and for settings, ScoreNameError for a name that no score has.
    """
    if isinstance(scores, str) or not scores:
        raise SettingsError(f"scores {scores!r}: expected a list of names such as segment.soft.f1.macro")
    groups = {group for group in map(group_of, scores) if group}
    names = [ScoreName.parse(name) for name in scores]
    families = dict.fromkeys(f"{name.basis}.{name.reading}" for name in names)
    asked = {"only": tuple(families), "measures": tuple(sorted(groups))}
    return settings_from(None, {**asked, **settings})
