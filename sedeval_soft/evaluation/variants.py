"""Scores by settings of their own, which their names have: `event.hard.f1.macro@onset_collar=0.5`.

A variant of the settings has these, and evaluates no more than its scores need. Tables are aligned once, and
counted again for each variant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sedeval_soft.errors import SettingsError
from sedeval_soft.measures.registry import ScoreName, group_of
from sedeval_soft.plan import without_effect
from sedeval_soft.settings import GROUPS, MEANS, WEIGHTS, Settings, means_in, settings_in, split_name


def variants_of(settings: Settings) -> dict[str, Settings]:
    """Return the settings of each variant, by its text in names of scores, such as `onset_collar=0.5`.

    Raises ScoreNameError for a name that no score has, SettingsError for settings that contradict the others.
    """
    asked: dict[str, list[str]] = {}
    for name in settings.variants:
        head, text = split_name(name)
        asked.setdefault(text, []).append(head)
    return {text: _variant(settings, text, names) for text, names in asked.items()}


def _variant(settings: Settings, text: str, names: list[str]) -> Settings:
    """Return the settings of a variant; names: of its scores, without settings."""
    parsed, values = [ScoreName.parse(name) for name in names], settings_in(text)
    cut = [name for name in ("threshold", "reference_threshold", "inclusive") if name in values]
    if cut and settings.after_shots:
        raise SettingsError(
            f"{cut[0]} cannot be in the name of a score beside after_shots, which begins where an event ends"
        )
    groups, means = {*map(group_of, names)}, {mean for name in names for mean in means_in(name)}
    fewer: dict[str, Any] = {}
    if all(name.basis != "intersection" for name in parsed):
        fewer = {**dict.fromkeys(("psds", *WEIGHTS)), "psds_median_filters": ()}
    if all(name.reading != "tuned" for name in parsed):
        fewer |= {"thresholds": None, "cross_tune": None}
    families = dict.fromkeys(f"{name.basis}.{name.reading}" for name in parsed)
    chosen = replace(
        settings, **fewer | values, only=tuple(families),
        measures=tuple(group for group in GROUPS if group in groups),
        means=tuple(mean for mean in MEANS if mean in means), variants=(), rank_by=None, worst=0,
        reference_sweep=False,
    )  # fmt: skip
    for name, needed in without_effect(chosen, values).items():
        raise SettingsError(f"{name} has no effect on {names[0]}: it needs {needed}")
    return chosen
