"""Curves over all thresholds, for plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally
from sedeval_soft.measures.intersection.psds import PsdRoc
from sedeval_soft.measures.steps import Curve, curves
from sedeval_soft.run.psds import psds_curve
from sedeval_soft.run.thresholds import steps_of


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves of one system over all its thresholds.

    event, intersection: by class, those that the settings ask for. psd_roc: eTPR over eFPR per hour, None if
    not asked for; pi_psd_roc: that of the best of several median filters.
    """

    event: Mapping[str, Curve]
    intersection: Mapping[str, Curve]
    psd_roc: PsdRoc | None = None
    pi_psd_roc: PsdRoc | None = None


def curves_of(tally: Tally, settings: Settings) -> Curves:
    """Return the curves that a tally has, for the bases and PSDS that the settings ask for."""
    found = {
        basis: dict(zip(tally.classes, curves(steps_of(tally, basis, settings)), strict=True))
        if settings.wants(basis, "optimal")
        else {}
        for basis in ("event", "intersection")
    }
    filters = [f"median {length}" for length in settings.psds_median_filters]
    wants = settings.wants_psds_of("hard")
    return Curves(
        found["event"],
        found["intersection"],
        psds_curve(tally, settings, ["system"]) if wants else None,
        psds_curve(tally, settings, filters) if wants and filters else None,
    )
