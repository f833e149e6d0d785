"""Every setting that shapes the numbers, with its default.

The command line's options, the keyword arguments of `evaluate` and the keys of a settings file
are these fields: one list, so that the three cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, Literal, Self

from sedeval_soft.core.choices import (
    CHOICES,
    OPTIONAL_CHOICES,
    Compat,
    EntropyUnit,
    EventForm,
    Interval,
    Matching,
    Pool,
    TNorm,
)
from sedeval_soft.core.criteria import CRITERIA, OPTIONAL_RANGES, PSDS, PSDS_DEFAULTS
from sedeval_soft.core.errors import SettingsError
from sedeval_soft.core.groups import Parts, check_apart, checked_parts
from sedeval_soft.core.numbers import (
    LONGEST_SETTING,
    exactly,
    finite,
    plain,
    seconds,
    seconds_by_class,
    segment,
    whole,
)
from sedeval_soft.core.satisfice import Constraint
from sedeval_soft.core.setting_ranges import GREATEST_BETA, LEAST_BETA, NUMBERS, SHARES, WHOLE
from sedeval_soft.core.ticks import TICKS_PER_SECOND, tick
from sedeval_soft.core.tuning import Rule, Thresholds, checked_tuning

Seconds = float | dict[str, float]

READINGS: dict[str, tuple[str, ...]] = {
    "segment": ("hard", "tuned", "optimal", "soft"),
    "event": ("hard", "tuned", "optimal", "soft"),
    "intersection": ("hard", "tuned", "optimal", "soft"),
    "clip": ("hard", "tuned", "optimal", "soft"),
    "ranking": ("hard", "soft"),
}
"""The readings of each basis: what `only` can name."""

GROUPS = ("curves", "divergence", "calibration", "confusion", "joint")
"""Measures that are computed only when asked for: what `measures` can name."""

DEFAULT_ONLY = ("segment", "event")
"""The bases that are evaluated where nothing else is said."""

STEERING = ("ci", "replicates", "confidence", "seed", "fixed_thresholds")
"""Settings that shape no statistic of a file, but what is made of them."""

POSTPROCESSING = ("median_filter", "min_gap", "min_duration")
"""What is done to a system's output before it is scored, in this order."""

_SHORTEST = 1 / TICKS_PER_SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one evaluation.

    segment_length: seconds per segment, exactly: also a text such as `1/3` or `1024/44100`, or the float
        nearest to such a fraction. Edge k lies at k times that, however long a recording is.
    pool: how values that share a segment are combined, `max` or the time-weighted `mean`.
    threshold: a system value is active above it; reference_threshold: the same for the reference,
        None for the same number.
    inclusive: active at the threshold too (>=), not only above it.
    onset_collar: tolerance of onsets in seconds. offset_collar, offset_collar_rate: offsets may
        deviate by the larger of the collar in seconds and the rate times the reference's length.
    onset, offset: whether event-based scores look at onsets, at offsets.
    matching: `optimal` pairs as many events as can be, `greedy` takes the first free one.
    events: `rows` (each active row is an event), `merge` (touching active rows of a class are one
        event) or `auto` (merge where a table has values, rows where it has none).
    median_filter, min_gap, min_duration: post-processing of the system's output, in this order: a median
        filter of about so many seconds, gaps shorter than that closed, events shorter than that dropped.
        One number, or a mapping of class names to seconds (other classes are left as they are).
    dtc, gtc, cttc: of intersection-based scores, the shares of overlap that a detection, a reference event
        and a cross trigger must reach; None for those of `psds`, else 0.5, 0.5 and 0.3.
    psds: None, or the name of a polyphonic sound detection score to compute, see `PSDS`.
    alpha_ct, alpha_st, max_efpr: the weights of cross triggers and of the spread over classes in PSDS, and
        its largest effective false positive rate per hour; any of them asks for PSDS. None for those of
        `psds`, else 0, 0 and 100.
    psds_median_filters: seconds; asks for PSDS whatever the post-processing (piPSDS) over median filters
        of these lengths.
    beta: weight of recall in F.
    t_norm: what soft labels of segments and clips have in common: `minimum`, `product` or `lukasiewicz`
        (max(0, y + p - 1)). Only with the minimum is F of a copied soft reference 1.
    measures: groups of measures to compute as well: `curves`, `divergence`, `calibration`, `confusion`,
        `joint`, or `all`.
    max_fpr, max_fnr: false alarm rate and miss rate at which measures of curves look.
    iou: intersection over union from which an event is found, for the average precision of events.
    bins: how many bins measures of calibration have.
    entropy_unit: `nats` or `bits`. epsilon: values are clipped to [epsilon, 1 - epsilon] where a logarithm
        is taken of them.
    thresholds: the system's threshold of each class in the tuned reading; a class that is not named has
        `threshold`. Or a rule: `midpoint` of the class's lowest and highest segment, `prior` (as many
        segments are above it as are active in the reference).
    cross_tune: find thresholds for each fold on the other folds instead: those that are given (`folds`), or
        so many, into which files are dealt by `seed`. objective: what they are best for, see `OBJECTIVES`;
        None for the F of each basis itself.
    satisfice: None, or what a threshold must satisfy and what is best then: `precision>=0.9`, `recall at
        fpr_per_hour<=5`; see `core.satisfice`.
    reference_sweep: also score hard and optimal readings over thresholds of the reference, 0.1 to 0.9.
    ci: None, or how intervals of scores are found, resampling files: percentiles of `bootstrap` replicates,
        those corrected for bias and acceleration (`bca`), these with tails widened for few files
        (`expanded`), or the delete-one `jackknife`.
    replicates: bootstrap replicates, and random exchanges of two systems' files. confidence: of intervals,
        in (0, 1). seed: of the random numbers.
    fixed_thresholds: replicates keep the best thresholds of all files, instead of finding their own.
    worst: how many files, classes and segments that cost most are listed.
    classes: the classes to evaluate; None for all that occur on either side.
    groups: names of classes by the name of a group: all averages are computed over each group as well, as if
        only its classes were evaluated.
    scenes: patterns of file names by the name of a scene (`*`, `?`, `[ab]`, case matters): all scores are
        computed of the matching files as well, as if only these were evaluated.
    only: what to evaluate: bases (`segment`, `event`, `intersection`), single readings of one
        (`segment.soft`), or `all`.
    compat: None, or a tool whose arithmetic the hard reading follows to the bit.
    strict: make every warning about missing or unknown files and classes, and about what may be misread,
        an error.

    Raises SettingsError for a value out of range.
    """

    segment_length: float = 1.0
    pool: Pool = "max"
    threshold: float = 0.5
    reference_threshold: float | None = None
    inclusive: bool = False
    onset_collar: float = 0.2
    offset_collar: float = 0.2
    offset_collar_rate: float = 0.5
    onset: bool = True
    offset: bool = True
    matching: Matching = "optimal"
    events: EventForm = "auto"
    median_filter: Seconds = 0.0
    min_gap: Seconds = 0.0
    min_duration: Seconds = 0.0
    dtc: float | None = None
    gtc: float | None = None
    cttc: float | None = None
    psds: str | None = None
    alpha_ct: float | None = None
    alpha_st: float | None = None
    max_efpr: float | None = None
    psds_median_filters: tuple[float, ...] = ()
    beta: float = 1.0
    t_norm: TNorm = "minimum"
    measures: tuple[str, ...] = ()
    max_fpr: float = 0.1
    max_fnr: float = 0.1
    iou: float = 0.5
    bins: int = 15
    entropy_unit: EntropyUnit = "nats"
    epsilon: float = 1e-7
    thresholds: Thresholds | Rule | None = field(default=None, hash=False)
    cross_tune: int | Literal["folds"] | None = None
    objective: str | None = None
    satisfice: str | None = None
    reference_sweep: bool = False
    ci: Interval | None = None
    replicates: int = 1000
    confidence: float = 0.95
    seed: int = 0
    fixed_thresholds: bool = False
    worst: int = 0
    classes: tuple[str, ...] | None = None
    groups: Parts = field(default_factory=dict, hash=False)
    scenes: Parts = field(default_factory=dict, hash=False)
    only: tuple[str, ...] = DEFAULT_ONLY
    compat: Compat | None = None
    strict: bool = False

    @classmethod
    def of(cls, /, **values: Any) -> Self:  # noqa: ANN401 - the values are checked below
        """Build settings from keywords, answering an unknown one with close matches."""
        known = [each.name for each in fields(cls)]
        for name in [name for name in values if name not in known]:
            from sedeval_soft.core.peers import hint

            raise SettingsError(f"unknown setting {name!r}{hint(name, known)}")
        for name in ("classes", "only", "measures", "psds_median_filters"):
            value = values.get(name)
            if isinstance(value, str):
                values[name] = (value,)
            elif isinstance(value, Iterable) and not isinstance(value, Mapping):
                values[name] = tuple(value)
            elif value is not None:
                raise SettingsError(f"{name} must be a list, not {value!r}")
        for name in ("only", "measures", "psds_median_filters", *STEERING):
            if values.get(name, ()) is None:
                del values[name]
        found = cls(**values)
        found._check_searched()
        return found

    def __post_init__(self) -> None:
        """Check every value, so that nothing downstream has to; numpy's scalars become Python's."""
        for each in fields(self):
            self._keep(each.name, plain(getattr(self, each.name)))
        if "all" in self.only:
            self._keep("only", tuple(READINGS))
        if "all" in self.measures:
            self._keep("measures", GROUPS)
        self._check_numbers()
        for name in ("inclusive", "onset", "offset", "fixed_thresholds", "reference_sweep", "strict"):
            if not isinstance(getattr(self, name), bool):
                raise SettingsError(f"{name} must be true or false, not {getattr(self, name)!r}")
        for name, choices in CHOICES.items():
            self._check_choice(name, getattr(self, name), choices)
        for name, choices in OPTIONAL_CHOICES.items():
            if getattr(self, name) is not None:
                self._check_choice(name, getattr(self, name), choices)
        self._check_silence()
        self._check_tuning()
        self._check_postprocessing()
        self._keep("groups", checked_parts("groups", self.groups, "class name"))
        self._keep("scenes", checked_parts("scenes", self.scenes, "file name pattern"))
        check_apart(self.groups, self.scenes)
        if not (self.onset or self.offset):
            raise SettingsError("onset and offset cannot both be left out of event-based scores")
        self._check_lists()

    def _check_numbers(self) -> None:
        self._keep("segment_length", segment("segment_length", self.segment_length))
        for name in NUMBERS:
            if name != "reference_threshold" or self.reference_threshold is not None:
                self._keep(name, finite(name, getattr(self, name)))
        if not _SHORTEST <= self.segment_length <= LONGEST_SETTING:
            raise SettingsError(
                f"segment_length must be {_SHORTEST:g} to {LONGEST_SETTING:g} s, not {self.segment_length}"
            )
        if not LEAST_BETA <= self.beta <= GREATEST_BETA:
            raise SettingsError(f"beta must be {LEAST_BETA:g} to {GREATEST_BETA:g}, not {self.beta}")
        for name in ("onset_collar", "offset_collar", "offset_collar_rate"):
            if not 0 <= getattr(self, name) <= LONGEST_SETTING:
                raise SettingsError(f"{name} must be 0 to {LONGEST_SETTING:g}, not {getattr(self, name)}")
        # Times are whole ticks: what is kept here, and shown, is what is used.
        self._keep("segment_length", float(exactly(self.segment_length)))
        for name in ("onset_collar", "offset_collar"):
            self._keep(name, tick(getattr(self, name)) / TICKS_PER_SECOND)
        self._check_shares()
        self._check_criteria()

    def _check_shares(self) -> None:
        for name, (low, high) in SHARES.items():
            value = getattr(self, name)
            if not low < value <= high:
                raise SettingsError(f"{name} must be above {low:g}, at most {high:g}, not {value}")
        for name, (least, most) in WHOLE.items():
            self._keep(name, whole(name, getattr(self, name), least, most))

    def _check_silence(self) -> None:
        """Refuse thresholds that silence reaches: what no row covers has the value 0, as rows of 0 do."""
        if self.reference_cut < 0:
            raise SettingsError(
                f"the reference threshold must not be below 0, not {self.reference_cut:g}: "
                "silence, of value 0, would be active"
            )
        for name, cut in (("threshold", self.threshold), ("reference_threshold", self.reference_cut)):
            if self.inclusive and cut <= 0:
                raise SettingsError(
                    f"{name} {cut:g} cannot go with inclusive: silence, of value 0, would be active; "
                    "expected a threshold above 0, or one that is not inclusive"
                )

    def _check_criteria(self) -> None:
        for name, (low, high) in OPTIONAL_RANGES.items():
            if getattr(self, name) is not None:
                value = finite(name, getattr(self, name))
                if not low <= value <= high or (value == 0 and not name.startswith("alpha")):
                    above = "" if name.startswith("alpha") else "above "
                    raise SettingsError(f"{name} must be {above}{low:g} to {high:g}, not {value}")
                self._keep(name, value)

    def _check_postprocessing(self) -> None:
        for name in POSTPROCESSING:
            self._keep(name, seconds_by_class(name, getattr(self, name)))
        filters = tuple(seconds("psds_median_filters", value) for value in self.psds_median_filters)
        self._keep("psds_median_filters", filters)
        if filters and any(self.lengths_of("median_filter")):
            raise SettingsError("median_filter and psds_median_filters exclude one another")
        if self.events == "rows" and (self.postprocesses or filters):
            raise SettingsError("events=rows cannot go with post-processing, which joins and cuts rows")

    def _check_tuning(self) -> None:
        checked = checked_tuning(self.thresholds, self.cross_tune, self.objective)
        for name, value in zip(("thresholds", "cross_tune", "objective"), checked, strict=True):
            self._keep(name, value)
        if self.satisfice is not None:
            self._keep("satisfice", str(Constraint.parse(self.satisfice)))
        if self.reference_sweep and (self.compat or self.matching == "greedy"):
            raise SettingsError("reference_sweep cannot go with compat and greedy matching, which go by rows")

    def _check_searched(self) -> None:
        """Refuse what readings that are left out would have; parts of what a caller asks for do without."""
        if self.satisfice is not None and not any(self.wants(basis, "optimal") for basis in READINGS):
            raise SettingsError("satisfice is of optimal readings; only leaves them out")
        if self.reference_sweep and not any(map(self.sweeps, READINGS)):
            raise SettingsError("reference_sweep is of hard and optimal readings; only leaves them out")

    def _keep(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_lists(self) -> None:
        self._check_parts()
        if self.compat and not (self.wants("segment", "hard") or self.wants("event", "hard")):
            raise SettingsError(
                f"compat={self.compat} is of hard segment- and event-based scores; only leaves them out"
            )
        if self.classes is None:
            return
        for name in self.classes:
            if not isinstance(name, str):
                raise SettingsError(f"classes must be names, in quotes if need be, not {name!r}")
        if not self.classes or not all(self.classes):
            raise SettingsError("classes must name at least one class, and no empty name")
        if len(set(self.classes)) < len(self.classes):
            raise SettingsError("classes names a class twice")

    def _check_parts(self) -> None:
        families = tuple(f"{basis}.{reading}" for basis in READINGS for reading in READINGS[basis])
        if not self.only:
            raise SettingsError(f"only must name one or more of {', '.join(READINGS)}, each once")
        for name, known in (("only", (*READINGS, "all", *families)), ("measures", (*GROUPS, "all"))):
            parts = getattr(self, name)
            for part in parts:
                self._check_choice(name, part, known)
            if len(set(parts)) < len(parts):
                raise SettingsError(f"{name} must name each part once, of {', '.join(known)}")
        if any(part.endswith(".tuned") for part in self.only) and not self.tunes:
            raise SettingsError("thresholds or cross_tune must be given for a tuned reading")

    @staticmethod
    def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
        if value not in choices:
            from sedeval_soft.core.spoken import meant

            said = f"{name} must be one of {', '.join(choices)}, not {value!r}"
            raise SettingsError(said + meant(str(value), choices))

    @property
    def segment_ticks(self) -> Fraction:
        """The exact length of a segment in ticks."""
        return exactly(self.segment_length) * TICKS_PER_SECOND

    @property
    def reference_cut(self) -> float:
        """The threshold of the reference: its own, else the system's."""
        return self.threshold if self.reference_threshold is None else self.reference_threshold

    @property
    def tunes(self) -> bool:
        """Whether there is a tuned reading: at thresholds that are given, or found on other files."""
        return self.thresholds is not None or self.cross_tune is not None

    def tunes_by(self, basis: str) -> bool:
        """Return whether the tuned reading of any basis needs the values of one."""
        objective = self.cross_tune is not None and (self.objective or "").startswith(f"{basis}.")
        rule = isinstance(self.thresholds, str) and basis == "segment"
        return self.tunes and (objective or rule or self.wants(basis, "tuned"))

    def wants(self, basis: str, reading: str | None = None) -> bool:
        """Return whether a basis is evaluated, in a reading or (None) in any."""
        if reading == "tuned" and not self.tunes:
            return False
        if reading is None:
            return any(part.partition(".")[0] == basis for part in self.only)
        return basis in self.only or f"{basis}.{reading}" in self.only

    def sweeps(self, basis: str) -> bool:
        """Return whether a basis is scored over thresholds of the reference."""
        return self.reference_sweep and (self.wants(basis, "hard") or self.wants(basis, "optimal"))

    @property
    def postprocesses(self) -> bool:
        """Whether the system's output is changed before it is scored."""
        return any(any(self.lengths_of(name)) for name in POSTPROCESSING)

    def lengths_of(self, name: str) -> tuple[float, ...]:
        """Return the lengths in seconds that a post-processing setting holds, whatever their classes."""
        value = getattr(self, name)
        return tuple(value.values()) if isinstance(value, dict) else (value,)

    def of_classes(self, name: str, classes: tuple[str, ...]) -> tuple[float, ...]:
        """Return the length in seconds that a post-processing setting has for each class."""
        value = getattr(self, name)
        return tuple(value.get(label, 0.0) if isinstance(value, dict) else value for label in classes)

    @property
    def wants_psds(self) -> bool:
        """Whether PSDS is asked for: it is slower than what is printed by default."""
        explicit = (self.alpha_ct, self.alpha_st, self.max_efpr)
        return self.psds is not None or bool(self.psds_median_filters) or any(v is not None for v in explicit)

    def wants_psds_of(self, reading: str) -> bool:
        """Return whether PSDS is asked for in a reading: in both, unless `only` names just one."""
        named = [name for name in ("hard", "soft") if self.wants("intersection", name)]
        return self.wants_psds and (reading in named or not named)

    def criterion(self, name: str) -> float:
        """Return a setting of intersections or PSDS: as it was given, as `psds` has it, or its default."""
        value = getattr(self, name)
        if value is None:
            return (PSDS[self.psds] if self.psds else CRITERIA | PSDS_DEFAULTS)[name]
        return float(value)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain values, those that others imply resolved."""
        values = {name: getattr(self, name) for name in self.__slots__}
        values["reference_threshold"] = self.reference_cut
        values["classes"] = None if self.classes is None else list(self.classes)
        values["only"] = list(self.only)
        values["measures"] = list(self.measures)
        values |= {name: self.criterion(name) for name in CRITERIA}
        if self.wants_psds:
            values |= {name: self.criterion(name) for name in PSDS_DEFAULTS}
        if self.ci is None:
            values |= dict.fromkeys(("replicates", "confidence", "seed", "fixed_thresholds"))
        values["psds_median_filters"] = list(self.psds_median_filters)
        for name in ("groups", "scenes"):
            values[name] = {part: list(members) for part, members in getattr(self, name).items()}
        return values
