"""The evaluation plan: begin here. All that settings ask for is decided in this module.

A *basis* (segments, clips, events, intersections, rankings) is read in one or more *readings* (hard, tuned,
optimal, soft). Most is counted file by file and added up. Scores of all files together, such as a best
threshold, a curve or a correlation, are computed from values kept of every file: of cells (segments and
clips), or of events.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sedeval_soft.fields import STEERING
from sedeval_soft.settings import BASES, COLLARS, CRITERIA, READINGS, WEIGHTS, Settings

Family = tuple[str, str]
"""A basis and a reading."""

CELLS = ("segment", "clip")
"""The bases that have a value for every cell; others have events."""

THRESHOLDED = tuple((basis, "optimal") for basis in (*CELLS, "event", "intersection"))
"""The bases and readings that look for each class's best threshold."""

_latest: dict[str, Plan] = {}
"""The plan that was asked for last, which is asked for again and again."""

ORDERED = ("curves", "calibration")
"""Groups of measures that need the values of all cells together, in order."""

_OVER_CELLS = {
    "curves": "scores of the ROC",
    "divergence": "divergences and distances",
    "calibration": "calibration",
}
"""Groups with measures over cells of known lengths, and how messages name these measures."""


class Plan(NamedTuple):
    """The evaluation that settings ask for.

    families: The bases and readings that are scored, in the order of their scores. thresholded: Families that
    search each class's best threshold. swept: The bases that are scored over thresholds of the reference.
    psds: The readings that have a PSDS. filters: The median filters over which it is also computed, in
    seconds.

    Cells: compared: The bases with measures that need the values of all cells together. kept: Bases whose
    values are kept of every file. needs_grid: Whether the values of all segments are needed; hard counts
    alone do not need them.

    Events: ranks_events: Whether events are ranked by value, for their average precision. confuses_events:
    Whether the classes for which they were mistaken are counted. sweeps_events: Whether events are scored
    over thresholds of the reference.
    cuts_reference_at_all_levels: Whether the reference's events are needed at all its levels. keeps_events:
    Whether the events of the system at all thresholds are kept of every file.
    """

    settings: Settings
    families: tuple[Family, ...]
    thresholded: tuple[Family, ...]
    swept: tuple[str, ...]
    psds: tuple[str, ...]
    filters: tuple[float, ...]
    counts_segments: bool
    counts_clips: bool
    counts_events: bool
    compared: tuple[str, ...]
    kept: tuple[str, ...]
    needs_grid: bool
    ranks_events: bool
    confuses_events: bool
    sweeps_events: bool
    cuts_reference_at_all_levels: bool
    keeps_events: bool

    @classmethod
    def of(cls, settings: Settings) -> Plan:
        """Decide the evaluation from the settings."""
        latest = _latest.get("plan")
        if latest is not None and latest.settings is settings:
            return latest
        wants, groups, events = settings.wants, {*settings.measures}, ("event", "intersection")
        families = tuple(
            (basis, reading)
            for basis, readings in READINGS.items()
            for reading in readings
            if wants(basis, reading)
        )
        scored = {basis for basis, _ in families}
        thresholded = tuple(family for family in THRESHOLDED if family in families)
        swept = tuple(each for each in BASES if settings.reference_sweep and wants(each, "hard", "optimal"))
        # Bases with values from which tuned readings find thresholds.
        tuned_by = {basis for basis in BASES if wants(basis, "tuned")}
        if isinstance(settings.thresholds, str):
            tuned_by.add("segment")
        if settings.cross_tune is not None and settings.objective:
            tuned_by.add(settings.objective.partition(".")[0])
        # PSDS has both readings, unless `only` names just one.
        wanted = tuple(reading for reading in ("hard", "soft") if wants("intersection", reading))
        psds = (wanted or ("hard", "soft")) if settings.wants_psds else ()

        soft, hard = groups & {*ORDERED, "divergence"}, groups & {*ORDERED, "confusion"}
        compared = tuple(
            each for each in CELLS if (soft and wants(each, "soft")) or (hard and wants(each, "hard"))
        )
        listed = {"segment"} if settings.worst and wants("segment", "hard", "soft") else set()
        searched = {*(basis for basis, _ in thresholded), *swept, *tuned_by, *compared, *listed}
        valued = wants("segment", "optimal", "soft") or "segment" in (*tuned_by, *swept)
        more = "segment" in scored and bool(groups - {"grounding"} or settings.worst)

        ranks_events = wants("event", "hard") and "curves" in groups
        confuses_events = wants("event", "hard") and "confusion" in groups
        sweeps_events = not {*swept}.isdisjoint(events)
        soft_events = any(wants(basis, "soft") for basis in events)
        best_of_events = any(wants(basis, "optimal") or basis in tuned_by for basis in events)
        plan = _latest["plan"] = cls(
            settings, families, thresholded, swept, psds, compared=compared,
            filters=settings.psds_median_filters if "hard" in psds else (),
            kept=tuple(basis for basis in CELLS if basis in searched),
            counts_segments=not {*scored, *tuned_by}.isdisjoint(("segment", "ranking")),
            counts_clips="clip" in {*scored, *tuned_by},
            counts_events=bool(psds) or not {*scored, *tuned_by}.isdisjoint(events),
            needs_grid=valued or "ranking" in scored or more,
            ranks_events=ranks_events, confuses_events=confuses_events, sweeps_events=sweeps_events,
            cuts_reference_at_all_levels=soft_events or "soft" in psds or sweeps_events,
            keeps_events=best_of_events or bool(psds) or ranks_events or confuses_events or sweeps_events,
        )  # fmt: skip
        return plan

    def scores(self, basis: str, *readings: str) -> bool:
        """Return whether a basis is scored, in one of some readings, or in any if none is named."""
        return any(of == basis and (not readings or reading in readings) for of, reading in self.families)

    def asks_for(self, *groups: str) -> bool:
        """Return whether one of some groups of measures is asked for."""
        return any(group in self.settings.measures for group in groups)

    def needs_lengths(self, *bases: str) -> list[str]:
        """Return the scores of some bases that only cells of a known length count in, as messages name them.

        In a file without a length, false alarms have no number of cells for comparison.
        """
        names = [f"{basis}.soft.kl_divergence" for basis in bases if self.scores(basis, "soft")]
        groups = [name for name in _OVER_CELLS if self.asks_for(name)]
        names += [_OVER_CELLS[name] for name in groups if not {*bases}.isdisjoint(self.compared)]
        return names + ["rankings"] * ("ranking" in bases and self.scores("ranking"))

    @property
    def ordered(self) -> tuple[str, ...]:
        """The bases whose cells are put in the order of their values."""
        return self.compared if self.asks_for(*ORDERED, "divergence") else ()


def without_effect(settings: Settings, names: Iterable[str]) -> dict[str, str]:
    """Return the named settings that change no score, with the requirement under which each would."""
    plan, has = Plan.of(settings), {*settings.measures}
    bases, readings = ({family[i] for family in plan.families} for i in (0, 1))
    soft_cells = any(basis in CELLS and reading == "soft" for basis, reading in plan.families)
    cuts = readings - {"soft"} or "hard" in plan.psds
    divergences = "--measures divergence, or soft scores of segments or clips"
    events, collars = "event" in bases, settings.match_by == "collar"
    by_iou = events and (not collars or "curves" in has)
    needs: dict[str, tuple[object, str]] = {
        "segment_length": (plan.counts_segments, "segments"),
        "pool": (plan.counts_segments or plan.counts_clips, "segments or clips"),
        **dict.fromkeys(
            ("threshold", "reference_threshold", "inclusive"), (cuts, "a reading other than soft")
        ),
        **dict.fromkeys(COLLARS, (events and collars, "events that are matched by collars")),
        **dict.fromkeys(("match_by", "matching"), (events, "events")),
        "events": (plan.counts_events, "events or intersections"),
        "iou": (by_iou or "grounding" in has, "events, and match_by=iou or --measures curves, or grounding"),
        **dict.fromkeys(
            CRITERIA, ("intersection" in bases or plan.psds, "--only intersection, or --psds NAME")
        ),
        **dict.fromkeys(("cttc", *WEIGHTS), (plan.psds, "PSDS: --psds NAME")),
        "t_norm": (soft_cells, "soft scores of segments or clips"),
        **dict.fromkeys(("max_fpr", "max_fnr"), ("curves" in has, "--measures curves")),
        "bins": ("calibration" in has, "--measures calibration"),
        **dict.fromkeys(("entropy_unit", "epsilon"), ("divergence" in has or soft_cells, divergences)),
        **dict.fromkeys(
            ("thresholds", "cross_tune"), ("tuned" in readings, "the tuned reading, which --only leaves out")
        ),
        "objective": (settings.cross_tune is not None, "--cross-tune or --folds, or soft-sed-eval tune"),
        "compat": (settings.compat, "hard scores of segments or events"),
        "worst": (
            {*bases} - {"ranking"} and readings & {"hard", "soft"},
            "hard or soft scores of segments, events, clips or intersections",
        ),
        **dict.fromkeys(STEERING, (settings.ci, "--ci")),
        "seed": (settings.ci or isinstance(settings.cross_tune, int), "--ci, or --cross-tune K"),
    }
    return {name: needs[name][1] for name in names if name in needs and not needs[name][0]}
