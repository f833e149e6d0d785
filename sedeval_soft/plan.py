"""What is evaluated: begin here. All that settings ask for is decided in this module.

A *basis* (segments, clips, events, intersections, rankings) is read in one or more *readings* (hard, tuned,
optimal, soft). Most is counted file by file and added up. What only all files together tell, such as a best
threshold, a curve or a correlation, is computed of values that are kept of every file: of cells (segments and
clips), or of events.
"""

from __future__ import annotations

from dataclasses import dataclass

from sedeval_soft.settings import BASES, READINGS, Settings

Family = tuple[str, str]
"""A basis and a reading."""

CELLS = ("segment", "clip")
"""The bases that have a value for every cell; others have events."""

THRESHOLDED: tuple[Family, ...] = (
    ("segment", "optimal"),
    ("clip", "optimal"),
    ("event", "optimal"),
    ("intersection", "optimal"),
)
"""The bases and readings that look for each class's best threshold."""

ORDERED = ("curves", "calibration")
"""Groups of measures that need the values of all cells together, in order."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What settings ask for.

    families: the bases and readings that are scored, in the order of their scores. swept: the bases that are
    scored over thresholds of the reference. tuned_by: those whose values tell the thresholds of tuned
    readings. psds: the readings that have a PSDS.
    """

    settings: Settings
    families: tuple[Family, ...]
    swept: tuple[str, ...]
    tuned_by: tuple[str, ...]
    psds: tuple[str, ...]

    @classmethod
    def of(cls, settings: Settings) -> Plan:
        """Decide what is evaluated."""
        families = ((basis, reading) for basis, readings in READINGS.items() for reading in readings)
        tuned_by = {basis for basis in BASES if settings.wants(basis, "tuned")}
        if isinstance(settings.thresholds, str):
            tuned_by.add("segment")
        if settings.cross_tune is not None and settings.objective:
            tuned_by.add(settings.objective.partition(".")[0])
        # PSDS has both readings, unless `only` names just one.
        named = tuple(reading for reading in ("hard", "soft") if settings.wants("intersection", reading))
        return cls(
            settings,
            tuple(family for family in families if settings.wants(*family)),
            tuple(basis for basis in BASES if settings.sweeps(basis)),
            tuple(basis for basis in BASES if basis in tuned_by),
            (named or ("hard", "soft")) if settings.wants_psds else (),
        )

    def scores(self, basis: str, *readings: str) -> bool:
        """Return whether a basis is scored, in one of some readings, or in any where none is named."""
        return any(of == basis and (not readings or reading in readings) for of, reading in self.families)

    @property
    def thresholded(self) -> tuple[Family, ...]:
        """The families that look for each class's best threshold."""
        return tuple(family for family in THRESHOLDED if family in self.families)

    def asks_for(self, *groups: str) -> bool:
        """Return whether one of some groups of measures is asked for."""
        return any(group in self.settings.measures for group in groups)

    @property
    def in_two_rounds(self) -> tuple[str, ...]:
        """The bases whose best thresholds can be found by counts at every threshold, no values being kept."""
        settings = self.settings
        tuned = settings.cross_tune is not None or isinstance(settings.thresholds, str)
        others = settings.ci or settings.worst or settings.satisfice or settings.reference_sweep or tuned
        if others or {*settings.measures} - {"divergence"} or any(map(self.compares_cells, CELLS)):
            return ()
        bases = [basis for basis, _ in self.thresholded]
        # PSDS looks at the events of all recordings.
        return tuple(basis for basis in bases if basis in CELLS or not self.psds)

    # Cells: segments and clips.

    @property
    def counts_segments(self) -> bool:
        """Whether anything is counted of segments."""
        return self.scores("segment") or self.scores("ranking") or "segment" in self.tuned_by

    @property
    def counts_clips(self) -> bool:
        """Whether anything is counted of clips."""
        return self.scores("clip") or "clip" in self.tuned_by

    @property
    def needs_grid(self) -> bool:
        """Whether the values of all segments are needed: hard counts alone are had without."""
        if self.scores("segment", "optimal", "soft") or self.scores("ranking"):
            return True
        if "segment" in (*self.tuned_by, *self.swept):
            return True
        if self.scores("segment") and (self.settings.measures or self.settings.worst):
            return True
        lowest = min(self.settings.threshold, self.settings.reference_cut)
        # What no row covers has the value 0, which such thresholds let pass.
        return lowest < 0 or (self.settings.inclusive and lowest <= 0)

    def compares_cells(self, basis: str) -> bool:
        """Return whether measures of a basis need the values of all cells together."""
        if self.scores(basis, "soft") and self.asks_for("divergence"):
            return True
        if self.scores(basis, "hard") and self.asks_for("confusion"):
            return True
        return self.scores(basis, "hard", "soft") and self.asks_for(*ORDERED)

    def keeps_cells(self, basis: str) -> bool:
        """Return whether the values of all cells of a basis are kept of every file."""
        listed = basis == "segment" and self.settings.worst and self.scores(basis, "hard", "soft")
        again = self.scores(basis, "optimal") or basis in (*self.swept, *self.tuned_by)
        return bool(listed) or again or self.compares_cells(basis)

    # Events: matched within collars, or by how much they cover.

    @property
    def counts_events(self) -> bool:
        """Whether anything is counted of events."""
        return any(self.scores(basis) or basis in self.tuned_by for basis in _OF_EVENTS) or bool(self.psds)

    @property
    def ranks_events(self) -> bool:
        """Whether events are ranked by their values, for their average precision."""
        return self.scores("event", "hard") and self.asks_for("curves")

    @property
    def confuses_events(self) -> bool:
        """Whether it is told which class events were taken for."""
        return self.scores("event", "hard") and self.asks_for("confusion")

    @property
    def sweeps_events(self) -> bool:
        """Whether events are scored over thresholds of the reference."""
        return any(basis in self.swept for basis in _OF_EVENTS)

    @property
    def cuts_reference_at_all_levels(self) -> bool:
        """Whether the events of the reference are needed at all of its levels."""
        soft = any(self.scores(basis, "soft") for basis in _OF_EVENTS)
        return soft or "soft" in self.psds or self.sweeps_events

    @property
    def keeps_events(self) -> bool:
        """Whether the events of the system at all thresholds are kept of every file."""
        best = any(self.scores(basis, "optimal") or basis in self.tuned_by for basis in _OF_EVENTS)
        again = self.ranks_events or self.confuses_events or self.sweeps_events
        return best or bool(self.psds) or again

    @property
    def filters(self) -> tuple[float, ...]:
        """The median filters over which PSDS is computed as well, in seconds."""
        return self.settings.psds_median_filters if "hard" in self.psds else ()


_OF_EVENTS = ("event", "intersection")
