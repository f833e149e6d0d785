"""Curves over all thresholds, for plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sedeval_soft.core.events import active
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally
from sedeval_soft.measures.curves.curve import Curve
from sedeval_soft.measures.curves.points import Ordered, Points
from sedeval_soft.measures.intersection.psds import PsdRoc
from sedeval_soft.measures.steps import curves
from sedeval_soft.run.psds import psds_curve
from sedeval_soft.run.thresholds import steps_of

ByClass = Mapping[str, Curve]


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves of one system over all its thresholds.

    segment, clip, event, intersection: by class, against the reference at its threshold; those that the
    settings ask for. soft_segment, soft_clip: by class, a cell being positive by y and negative by 1 - y.
    pooled: the cells of all classes together, by basis and reading: `segment.hard`. psd_roc: eTPR over
    eFPR per hour, None if not asked for; pi_psd_roc: that of the best of several median filters.
    """

    segment: ByClass
    clip: ByClass
    event: ByClass
    intersection: ByClass
    soft_segment: ByClass
    soft_clip: ByClass
    pooled: Mapping[str, Curve]
    psd_roc: PsdRoc | None = None
    pi_psd_roc: PsdRoc | None = None

    def families(self) -> dict[tuple[str, str], ByClass]:
        """Return the curves of classes by basis and reading."""
        return {
            ("segment", "hard"): self.segment,
            ("segment", "soft"): self.soft_segment,
            ("clip", "hard"): self.clip,
            ("clip", "soft"): self.soft_clip,
            ("event", "optimal"): self.event,
            ("intersection", "optimal"): self.intersection,
        }


def curves_of(tally: Tally, settings: Settings) -> Curves:
    """Return the curves that a tally has, for the bases and PSDS that the settings ask for."""
    cells: dict[tuple[str, str], ByClass] = {}
    pooled: dict[str, Curve] = {}
    for basis in ("segment", "clip"):
        for reading in ("hard", "soft"):
            cells[basis, reading] = {}
            if settings.wants(basis, reading) and f"{basis}.system" in tally.samples:
                cells[basis, reading], pooled[f"{basis}.{reading}"] = _of_cells(
                    tally, basis, reading, settings
                )
    events = {
        basis: dict(zip(tally.classes, curves(steps_of(tally, basis, settings)), strict=True))
        if settings.wants(basis, "optimal")
        else {}
        for basis in ("event", "intersection")
    }
    filters = [f"median {length}" for length in settings.psds_median_filters]
    wants = settings.wants_psds_of("hard")
    return Curves(
        segment=cells["segment", "hard"],
        clip=cells["clip", "hard"],
        event=events["event"],
        intersection=events["intersection"],
        soft_segment=cells["segment", "soft"],
        soft_clip=cells["clip", "soft"],
        pooled=pooled,
        psd_roc=psds_curve(tally, settings, ["system"]) if wants else None,
        pi_psd_roc=psds_curve(tally, settings, filters) if wants and filters else None,
    )


def _of_cells(tally: Tally, basis: str, reading: str, settings: Settings) -> tuple[ByClass, Curve]:
    """Return the curves of the classes of a basis, and of all of them together."""
    reference, system = tally.samples[f"{basis}.reference"], tally.samples[f"{basis}.system"]
    if reading == "hard":
        reference = active(reference, settings.reference_cut, settings.inclusive)

    rows = [*zip(system, reference, strict=True), (system.reshape(-1), reference.reshape(-1))]
    found = [Curve.of_points(Points.of(Ordered.of(p, y))) for p, y in rows]
    return dict(zip(tally.classes, found[:-1], strict=True)), found[-1]
