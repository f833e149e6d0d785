"""PSDS of a tally: against the cut reference, over median filters, against all levels of the reference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sedeval_soft.core.tally import Tally
from sedeval_soft.core.ticks import TICKS_PER_SECOND
from sedeval_soft.measures.averages import Averaged
from sedeval_soft.measures.intersection.criteria import Criteria
from sedeval_soft.measures.names import OVERALL, spell
from sedeval_soft.measures.psds import PsdRoc, PsdWeights, Staircases, cuts_of, psd_roc, soft_psds, staircases
from sedeval_soft.settings import Settings

Table = dict[str, Averaged]


def psds_tables(tally: Tally, settings: Settings) -> dict[tuple[str, str], Table]:
    """Return the PSDS that the settings ask for, by basis and reading."""
    tables: dict[tuple[str, str], Table] = {}
    if not _seconds(tally):
        # Rates per hour have nothing to divide by.
        none = Averaged(np.full(len(tally.classes), np.nan), overall=np.array(np.nan))
        names = ("psds", "pipsds") if settings.psds_median_filters else ("psds",)
        both = {"hard": dict.fromkeys(names, none), "soft": {"psds": none}}
        return {("intersection", r): table for r, table in both.items() if settings.wants_psds_of(r)}
    if settings.wants_psds_of("hard"):
        tables["intersection", "hard"] = _against_cut(tally, settings)
    if settings.wants_psds_of("soft"):
        levels, system = tally.events["levels"], tally.events["system"]
        common = (len(tally.classes), _seconds(tally), Criteria.of(settings), PsdWeights.of(settings))
        value, classes = soft_psds(levels, system, *common)
        tables["intersection", "soft"] = {"psds": Averaged(classes, overall=np.array(value))}
    return tables


def psds_notes(tally: Tally, settings: Settings, group: str | None = None) -> list[str]:
    """Return what a reader must know of how PSDS was computed, for the whole or a group or scene."""
    if not settings.wants_psds_of("soft"):
        return []
    cuts = cuts_of(tally.events["levels"], tally.events["system"])
    return [] if cuts.exact else [sampled_note(len(cuts.level), group)]


def sampled_note(n_cuts: int, group: str | None) -> str:
    """Return what a reader must know of PSDS over some of the levels of the reference."""
    sampled = f"the mean over {n_cuts} evenly spaced levels of the reference"
    name = spell("intersection", "soft", "psds", OVERALL, group=group)
    return f"{name} is {sampled}, which has too many to take all"


def _against_cut(tally: Tally, settings: Settings) -> Table:
    hard = {"psds": _averaged(psds_curve(tally, settings, ["system"]))}
    filters = [f"median {length}" for length in settings.psds_median_filters]
    if filters:
        hard["pipsds"] = _averaged(psds_curve(tally, settings, filters))
    return hard


def psds_curve(tally: Tally, settings: Settings, systems: Sequence[str]) -> PsdRoc:
    """Return the PSD-ROC under the operating points of some systems of the tally, by their names in it."""
    reference, weights = tally.events["reference"].events(), PsdWeights.of(settings)
    if not _seconds(tally):
        # Nothing happens so often an hour where there is no time.
        return PsdRoc(np.zeros(1), np.full(1, np.nan), float("nan"), np.full(len(tally.classes), np.nan))
    parts = [
        staircases(
            reference,
            tally.events[name],
            len(tally.classes),
            _seconds(tally),
            Criteria.of(settings),
            weights.alpha_ct,
        )
        for name in systems
    ]
    return psd_roc(Staircases.joined(parts), weights.alpha_st, weights.max_efpr)


def _seconds(tally: Tally) -> float:
    """Return the length of all files together."""
    return int(tally.total("length")) / TICKS_PER_SECOND


def _averaged(roc: PsdRoc) -> Averaged:
    return Averaged(roc.classes, overall=np.array(roc.value))
