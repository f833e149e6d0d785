"""All settings that affect scores, in one validated object.

The module `fields` has the meaning of each setting and the range of each number.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.errors import SettingsError, said
from sedeval_soft.fields import (
    DEFAULT_ONLY,
    FIELDS,
    IMPLIED,
    RULES,
    Compat,
    EntropyUnit,
    EventForm,
    Interval,
    MatchBy,
    Matching,
    Never,
    Pool,
    RegionEdges,
    Rule,
    TNorm,
)
from sedeval_soft.names import did_you_mean, hint, meant

Seconds = float | dict[str, float]
"""Seconds for all classes, or by class."""

Thresholds = dict[str, float | Never]
"""By class."""

NEVER: Never = "never"

Parts = dict[str, tuple[str, ...]]
"""Members of each part by its name: classes of a group, patterns of file names of a scene."""


class FileNames(tuple[str, ...]):
    """Names of recordings that were checked: there may be many."""

    __slots__ = ()

    def summary(self) -> dict[str, Any]:
        """Return their number, and the hash of lines of them in order, for signatures."""
        lines = "".join(f"{name}\n" for name in sorted(self)).encode("utf-8", "surrogatepass")
        return {"count": len(self), "sha256": sha256(lines).hexdigest()}


class RegionList(tuple[tuple[str, float, float, str], ...]):
    """Regions of recordings that were checked, in order: name, begin and end in seconds, and class.

    Regions of the same recording and class do not overlap. A region of all classes has an empty class.
    """

    __slots__ = ()

    @classmethod
    def of(cls, regions: Iterable[tuple[str, float, float, str]]) -> Self:
        """Join the regions of each recording and class that overlap or touch, in whatever order they are."""
        joined: list[tuple[str, float, float, str]] = []
        for name, begin, end, label in sorted(regions, key=lambda each: (each[0], each[3], *each[1:3])):
            if joined and (joined[-1][0], joined[-1][3]) == (name, label) and begin <= joined[-1][2]:
                joined[-1] = (name, joined[-1][1], max(joined[-1][2], end), label)
            else:
                joined.append((name, begin, end, label))
        return cls(joined)

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes that some regions are limited to, in order."""
        return tuple(sorted({label for *_, label in self if label}))

    def by_file(self) -> dict[str, list[tuple[float | str, ...]]]:
        """Return begin and end of the regions of each recording, and class, as they can be given again."""
        regions: dict[str, list[tuple[float | str, ...]]] = {}
        for name, begin, end, label in self:
            regions.setdefault(name, []).append((begin, end, *filter(None, (label,))))
        return regions

    def summary(self) -> dict[str, Any]:
        """Return their number, and the hash of lines of them in order, for signatures."""
        of_class = ((*region[:3], label and f"\t{label}") for *region, label in self)
        lines = "".join(f"{name}\t{begin!r}\t{end!r}{label}\n" for name, begin, end, label in of_class)
        return {"count": len(self), "sha256": sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()}


_OF_SILENCE = "curves, divergence, calibration, confusion"
"""Groups of measures that need the times without events, or all classes at once."""

_LONGEST = 1e9
"""Seconds that no time can be above."""

_TICKS = 10**6
"""Ticks a second: times are whole microseconds. Also the greatest denominator of the length of a segment."""

BASES = ("segment", "event", "intersection", "clip")
"""The bases that binarise the system at thresholds."""

READINGS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(BASES, ("hard", "tuned", "optimal", "soft")),
    "ranking": ("hard", "soft"),
}
"""The readings of each basis: what `only` can name."""

GROUPS = ("curves", "divergence", "calibration", "confusion", "joint", "grounding")
"""Measures that are computed only when asked for: what `measures` can name."""

CLASS_MEANS = ("harmonic", "geometric")
"""Averages over classes that are computed only when asked for."""

PART_MEANS = tuple(
    f"{parts}.{kind}" for parts in ("files", "scenes", "groups") for kind in ("mean", *CLASS_MEANS)
)
"""Means over files, scenes and groups, as names of scores have them after the `@`."""

MEANS = (*CLASS_MEANS, *PART_MEANS)
"""Means that `means` can name."""

ONLY = (*READINGS, "all", *(f"{basis}.{reading}" for basis in READINGS for reading in READINGS[basis]))

COLLARS = ("onset_collar", "offset_collar", "offset_collar_rate", "onset", "offset")
"""Settings for matching events by onsets and offsets; matching by overlap does not use them."""

POSTPROCESSING = ("median_filter", "min_gap", "min_duration")
"""Steps that change a system's output before it is scored, in this order."""

PSDS: dict[str, dict[str, float]] = {
    "dcase-psds1": {"dtc": 0.7, "gtc": 0.7, "cttc": 0.3, "alpha_ct": 0.0, "alpha_st": 1.0, "max_efpr": 100.0},
    "dcase-psds2": {"dtc": 0.1, "gtc": 0.1, "cttc": 0.3, "alpha_ct": 0.5, "alpha_st": 1.0, "max_efpr": 100.0},
}
"""The PSDS of DCASE task 4 (2020 and later) by name."""

PSDS_NUMBERS = {"dcase-psds1": "PSDS1", "dcase-psds2": "PSDS2"}
"""Their names in papers."""

CRITERIA, WEIGHTS = ("dtc", "gtc", "cttc"), ("alpha_ct", "alpha_st", "max_efpr")
"""Settings of intersections, and of PSDS alone."""

IN_NAMES = (
    *("segment_length", "pool", "threshold", "reference_threshold", "inclusive", "match_by", *COLLARS),
    *("matching", *CRITERIA, "psds", *WEIGHTS, "beta", "t_norm", "max_fpr", "max_fnr", "iou", "bins"),
    *("entropy_unit", "epsilon"),
)
"""Settings that names can have: they shape counts and scores, and neither reading nor alignment."""

OBJECTIVES = tuple(f"{basis}.{measure}" for basis in BASES for measure in ("f1", "error_rate"))
"""Objectives of thresholds: F (with the weight of recall that the settings have), or error rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one evaluation.

    Raises SettingsError for a value out of range, and for settings that contradict one another.
    """

    segment_length: float = 1.0
    pool: Pool = "max"
    threshold: float = 0.5
    reference_threshold: float | None = None
    inclusive: bool = False
    match_by: MatchBy = "collar"
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
    means: tuple[str, ...] = ()
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
    ignore_class: tuple[str, ...] | None = None
    map: Mapping[str, str] = field(default_factory=dict, hash=False)
    map_to: str | None = None
    files: FileNames | None = field(default=None, hash=False)
    regions: RegionList | None = field(default=None, hash=False)
    region_edges: RegionEdges = "cut"
    after_shots: str | None = None
    groups: Parts = field(default_factory=dict, hash=False)
    scenes: Parts = field(default_factory=dict, hash=False)
    only: tuple[str, ...] = DEFAULT_ONLY
    compat: Compat | None = None
    strict: bool = False
    rank_by: str | None = None
    variants: tuple[str, ...] = ()

    @classmethod
    def of(cls, /, **values: Any) -> Self:  # noqa: ANN401 - SettingsKeywords, perhaps misspelled: checked below
        """Build settings from keywords, answering an unknown one with close matches.

        A text means a list of this one text; None means the default if a setting cannot be None.
        """
        for name in values:
            if name not in FIELDS:
                raise SettingsError(f"unknown setting {said(name)}{hint(name, list(FIELDS))}")
        given = {
            name: value for name, value in values.items() if value is not None or not FIELDS[name].optional
        }
        settings = cls(**given)
        # Parts of what a caller asks for do without what readings that are left out would have.
        if settings.satisfice is not None and not any(settings.wants(basis, "optimal") for basis in READINGS):
            raise SettingsError("satisfice needs an optimal reading; only leaves it out")
        if settings.reference_sweep and not any(settings.wants(each, "hard", "optimal") for each in READINGS):
            raise SettingsError("reference_sweep needs a hard or optimal reading; only leaves them out")
        return settings

    def __post_init__(self) -> None:
        """Check every value, so that nothing downstream has to; numpy's scalars become Python's."""
        for name, definition in FIELDS.items():
            value = getattr(self, name)
            # A default needs no check. It is known by its text: True is 1, and -0.0 is 0.0, in other texts.
            if repr(value) != repr(definition.default):
                object.__setattr__(self, name, checked(name, value))
        more: list[str] = []
        several: Any = self.psds
        if isinstance(several, tuple):
            # The first is the common one; further ones have the same readings.
            first, *others = several
            object.__setattr__(self, "psds", first)
            readings = [each for each in ("hard", "soft") if self.wants("intersection", each)]
            more = [
                f"intersection.{each}.psds@psds={name}"
                for name in others
                for each in readings or ("hard", "soft")
            ]
        if self.rank_by is not None and split_name(self.rank_by)[1]:
            object.__setattr__(self, "rank_by", _with_settings(self.rank_by))
            more.append(self.rank_by)
        elif self.rank_by is not None:
            means = {*self.means, *means_in(self.rank_by)}
            object.__setattr__(self, "means", tuple(name for name in MEANS if name in means))
        if more:
            every = [*dict.fromkeys((*self.variants, *more))]
            object.__setattr__(self, "variants", checked("variants", every))
        if not (self.wants("segment", "hard") or self.wants("event", "hard")):
            # It says how these are computed, and nothing else.
            object.__setattr__(self, "compat", None)
        cut, filters, median = self.reference_cut, self.psds_median_filters, self.median_filter
        both = [name for name in self.groups if name in self.scenes]
        changed = [name for name in COLLARS if getattr(self, name) != FIELDS[name].default]
        of_groups = [name for name in self.means if name.startswith("groups.") and not self.groups]
        ignored = [name for name in self.ignore_class or () if name in (self.classes or ())]
        given = self.thresholds if isinstance(self.thresholds, dict) else {}
        of_class = ((f"thresholds of {label!r}", threshold) for label, threshold in given.items())
        # What no row covers has the value 0, as rows of 0 do.
        silence = "silence, of value 0, would be active"
        above = "expected a threshold above 0, or one that is not inclusive"
        for wrong, message in (
            *((self.inclusive and threshold == 0, f"{name} 0 cannot go with inclusive: {silence}; {above}")
              for name, threshold in (
                  ("threshold", self.threshold), ("reference_threshold", cut), *of_class)),
            (self.thresholds is not None and self.cross_tune is not None,
             "thresholds and cross_tune are both given; expected one of them"),
            (any(part.endswith(".tuned") for part in self.only) and not self.tunes,
             "thresholds or cross_tune must be given for a tuned reading"),
            (self.reference_sweep and (self.compat or self.matching == "greedy"),
             "reference_sweep cannot go with compat and greedy matching, which go by rows"),
            (filters and (any(median.values()) if isinstance(median, dict) else median),
             "median_filter and psds_median_filters cannot go together"),
            (self.events == "rows" and (filters or self.postprocesses),
             "events=rows cannot go with post-processing, which joins and cuts rows"),
            (self.map_to, "map_to needs the path of a table as `map`"),
            (both, f"groups and scenes both have {''.join(map(repr, both[:1]))}; expected each name once"),
            (of_groups, f"means={of_groups[0] if of_groups else ''} needs groups; there are none"),
            (ignored, f"classes and ignore_class both have {''.join(map(repr, ignored[:1]))}; expected one"),
            (self.ignore_class and self.compat,
             f"ignore_class cannot go with compat={self.compat}, which evaluates all time and all classes"),
            (self.ignore_class and self.reference_sweep,
             "ignore_class cannot go with reference_sweep: what is ignored is cut at one threshold"),
            (not (self.onset or self.offset),
             "onset and offset cannot both be left out of event-based scores"),
            (self.match_by == "iou" and changed,
             f"match_by=iou knows no collars; expected {', '.join(changed)} as by default"),
            (self.match_by == "iou" and self.compat,
             f"compat={self.compat} knows collars only; expected match_by=collar"),
            (self.compat and self.has_regions,
             f"compat={self.compat} cannot go with regions and after_shots: it knows whole recordings only"),
            (self.regions and self.regions.labels
             and (self.region_edges == "onset" or self.pool == "mean" or self.wants("ranking", "hard", "soft")
                  or {*_OF_SILENCE.split(", ")} & {*self.measures}),
             f"regions of some classes cannot go with region_edges=onset, pool=mean, ranking, {_OF_SILENCE}"),
            (self.region_edges == "onset" and not self.has_regions,
             f"region_edges={self.region_edges} needs regions or after_shots"),
        ):  # fmt: skip
            if wrong:
                raise SettingsError(message)

    @property
    def segment_ticks(self) -> Fraction:
        """The exact length of a segment in ticks."""
        return exactly(self.segment_length) * _TICKS

    @property
    def reference_cut(self) -> float:
        """The threshold of the reference: its own, else the system's."""
        return self.threshold if self.reference_threshold is None else self.reference_threshold

    @property
    def tunes(self) -> bool:
        """Whether there is a tuned reading: at thresholds that are given, or found on other files."""
        return self.thresholds is not None or self.cross_tune is not None

    def wants(self, basis: str, *readings: str) -> bool:
        """Return whether a basis is evaluated in one of some readings."""
        return any(
            (self.tunes or reading != "tuned") and (basis in self.only or f"{basis}.{reading}" in self.only)
            for reading in readings
        )

    @property
    def postprocesses(self) -> bool:
        """Whether the system's output is changed before it is scored."""
        lengths = (getattr(self, name) for name in POSTPROCESSING)
        return any(any(each.values()) if isinstance(each, dict) else each for each in lengths)

    def of_classes(self, name: str, classes: tuple[str, ...]) -> tuple[float, ...]:
        """Return the length in seconds that a post-processing setting has for each class."""
        value = getattr(self, name)
        return tuple(value.get(label, 0.0) if isinstance(value, dict) else value for label in classes)

    def given_thresholds(self, classes: tuple[str, ...]) -> Floats:
        """Return the thresholds of classes, (n_classes,), NaN for never, if `thresholds` has them."""
        given = self.thresholds if isinstance(self.thresholds, dict) else {}
        values = (given.get(label, self.threshold) for label in classes)
        return np.array([math.nan if value == NEVER else value for value in values], dtype=np.float64)

    @property
    def drops_segments(self) -> bool:
        """Whether segments within a recording may be left out; the places of the others are then kept."""
        return self.has_regions or self.ignore_class is not None

    @property
    def has_regions(self) -> bool:
        """Whether only regions of recordings are evaluated."""
        return self.regions is not None or self.after_shots is not None

    @property
    def shots(self) -> tuple[int, str | None] | None:
        """Return the number of events, and their class (None: any), after which a recording is evaluated."""
        if self.after_shots is None:
            return None
        number, _, label = self.after_shots.partition(" ")
        return int(number), label or None

    @property
    def wants_psds(self) -> bool:
        """Whether PSDS is asked for: it is slower than the scores printed by default."""
        weights = (getattr(self, name) for name in WEIGHTS)
        return bool(self.psds or self.psds_median_filters) or any(weight is not None for weight in weights)

    def criterion(self, name: str) -> float:
        """Return a setting of intersections or PSDS: as it was given, as `psds` has it, or its default."""
        value = getattr(self, name)
        return float((PSDS[self.psds] if self.psds else IMPLIED)[name] if value is None else value)

    def names_of(self, role: str) -> dict[str, str]:
        """Return the classes of the labels of a side, `reference` or `system`, by label."""
        roles = ("reference", "system")
        both = {label: name for label, name in self.map.items() if label.partition(":")[0] not in roles}
        start = f"{role}:"
        return both | {
            label.removeprefix(start): name for label, name in self.map.items() if label.startswith(start)
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain values, those that others imply resolved; of files, a summary."""
        values = {name: getattr(self, name) for name in FIELDS}
        values["reference_threshold"] = self.reference_cut
        values |= {name: self.criterion(name) for name in (*CRITERIA, *(WEIGHTS if self.wants_psds else ()))}
        if self.ci is None:
            values |= dict.fromkeys(("replicates", "confidence", "seed", "fixed_thresholds"))
        values["files"] = self.files and self.files.summary()
        values["regions"] = self.regions and self.regions.summary()
        if not self.has_regions:
            values["region_edges"] = None
        for name in ("groups", "scenes"):
            values[name] = {part: list(members) for part, members in values[name].items()}
        values["map"] = dict(self.map)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


Settings.__doc__ = f"{Settings.__doc__}\n" + "".join(
    f"    {name}: {definition.meaning.replace('null', 'None')}\n" for name, definition in FIELDS.items()
)


# Values of single settings, as they are kept.


Schema = dict[str, Any]
"""The JSON Schema of a value."""

_NAME: Schema = {"type": "string", "minLength": 1}
_NULL: Schema = {"type": "null"}
_SHOTS = r" *(?=0*[1-9])([0-9]{1,9})(?: +(\S(?:.*\S)?))? *"
"""A number of events, and perhaps a class."""

_REGIONS: Schema = {
    "type": "object",
    "minProperties": 1,
    "propertyNames": {"minLength": 1},
    "additionalProperties": {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "array", "minItems": 2, "maxItems": 3,
            "items": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "minLength": 1}]},
        },
    },
}  # fmt: skip
"""Regions by recording: onset and offset in seconds of each, and perhaps a class."""
_EXAMPLE = "event.hard.f1.macro@onset_collar"
_IN_NAME = rf"^.+@(?:(?:{'|'.join(IN_NAMES)})=[^],]+(?:,|$))+$"
"""The name of a score with settings of its own."""
_TYPES = {"whole": "integer", "switch": "boolean"}


_PARTS = 1000
"""Groups, and scenes: each is scored as a table is, which takes 0.01 to 0.1 s."""


def _one_or_more(item: Schema, least: int) -> list[Schema]:
    """Return the forms of a list of names: one name, several, or null."""
    return [item, {"type": "array", "items": item, "minItems": least, "uniqueItems": True}, _NULL]


def forms_of(name: str) -> list[Schema]:
    """Return the forms that a setting can have: they check values, and editors read them."""
    field = FIELDS[name]
    single: Schema = {"type": "integer" if name == "cross_tune" else _TYPES.get(field.kind, "number")}
    if field.least is not None:
        single["exclusiveMinimum" if field.above else "minimum"] = field.least
    if field.most is not None:
        single["maximum"] = field.most
    if field.choices:
        single = {"enum": [*field.choices, *([None] if field.optional else [])]}
    # Part of what `is_part_name` asks of names: what is printable is not for a pattern to say.
    names = {"pattern": r"^(?![ <>])[^\[\]@=]*[^\[\]@= <>]$"}
    members = {"anyOf": _one_or_more(_NAME, 1)[:2]}
    parts = {
        "type": "object", "propertyNames": names, "additionalProperties": members, "maxProperties": _PARTS,
    }  # fmt: skip
    by_class = {"type": "object", "propertyNames": {"minLength": 1}, "additionalProperties": single}
    above_0 = r"(?=[0-9.]*[1-9])([0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    fraction = {
        "type": "string", "pattern": f"^ *{above_0} *(/ *{above_0} *)?$", "examples": ["1/3", "1024/44100"],
    }  # fmt: skip
    constraint = {"type": "string", "examples": ["precision>=0.9", "recall at fpr_per_hour<=5"]}
    forms: dict[str, list[Schema]] = {
        "segment_length": [single, fraction],
        **{key: [single, by_class] for key in POSTPROCESSING},
        "psds_median_filters": [{"type": "array", "items": single}, _NULL],
        "measures": _one_or_more({"enum": [*GROUPS, "all"]}, 0),
        "means": _one_or_more({"enum": list(MEANS)}, 0),
        "only": _one_or_more({"enum": list(ONLY)}, 1),
        **{key: _one_or_more(_NAME, 1) for key in ("classes", "ignore_class")},
        "map_to": [_NAME, _NULL],
        "map": [{"type": "object", "propertyNames": {"minLength": 1}, "additionalProperties": _NAME}, _NULL],
        "files": [{"type": "array", "items": _NAME, "minItems": 1}, _NULL],
        "regions": [_REGIONS, _NULL],
        "after_shots": [
            {"type": "integer", "minimum": 1, "maximum": 999_999_999},
            {"type": "string", "pattern": f"^{_SHOTS}$", "examples": ["5 POS"]},
            _NULL,
        ],
        **{key: [parts, _NULL] for key in ("groups", "scenes")},
        "thresholds": [
            {**by_class, "additionalProperties": {"anyOf": [single, {"enum": [NEVER]}]}},
            {"enum": list(RULES)},
            _NULL,
        ],
        "cross_tune": [single, {"enum": ["folds"]}, _NULL],
        "objective": [{"enum": [*OBJECTIVES, None]}],
        "satisfice": [constraint, _NULL],
        "rank_by": [_NAME, _NULL],
        "variants": _one_or_more({**_NAME, "pattern": _IN_NAME, "examples": [f"{_EXAMPLE}=0.5"]}, 0),
        "psds": [
            single,
            {"type": "array", "items": {"enum": list(PSDS)}, "minItems": 1, "uniqueItems": True},
        ],
    }
    return forms.get(name) or [single, *([_NULL] if field.optional and not field.choices else [])]


def checked(name: str, value: object) -> Any:  # noqa: ANN401 - what the setting is
    """Return the value of a setting as it is kept; raises SettingsError for an invalid value."""
    if isinstance(value, FileNames | RegionList):
        return value
    return _KEPT.get(name, lambda value: value)(in_form(name, value, forms_of(name)))


def in_form(called: str, value: Any, forms: Sequence[Schema]) -> Any:  # noqa: ANN401
    """Return a value in one of some forms, as of a JSON Schema; raises SettingsError.

    called: what messages call it.
    """
    value = _plain(value)
    for form in forms:
        kind = form.get("type")
        if kind == "object" and isinstance(value, Mapping):
            return _by_name(called, value, form)
        if kind == "array" and isinstance(value, Iterable) and not isinstance(value, str | Mapping):
            return _listed(called, value, form)
        if isinstance(value, str) and (value in form.get("enum", ()) or (value and kind == "string")):
            return value
        if kind == "boolean" and isinstance(value, bool):
            return value
        if kind in {"number", "integer"} and _in_range(value, form):
            return float(value) if kind == "number" else value
    words = [word for form in forms for word in form.get("enum", ()) if word is not None]
    expected = ", or ".join(_expected(form) for form in forms if form is not _NULL)
    likely = meant(str(value), words) or did_you_mean(str(value), words) or _percent(value, forms)
    raise SettingsError(f"{called} must be {expected}, not {said(value)}{likely}")


def _expected(form: Schema) -> str:
    """Return the values that a form allows, in words."""
    if "enum" in form:
        words = [word for word in form["enum"] if word is not None]
        return f"one of {', '.join(words)}" if len(words) > 1 else words[0]
    if form["type"] == "object":
        named = "names to lists" if "pattern" in form["propertyNames"] else "class names to numbers"
        named = "file names to lists of onset and offset" if form is _REGIONS else named
        return f"a mapping of {named}"
    if form["type"] not in {"number", "integer"}:
        text = (
            f"a text such as {form['examples'][0]!r}" if "examples" in form else "a name (perhaps in quotes)"
        )
        return {"boolean": "true or false", "array": "a list"}.get(form["type"], text)
    if "maximum" not in form:
        return f"a finite number{', 0 or more' if 'minimum' in form else ''}"
    least, most = form.get("minimum", form.get("exclusiveMinimum")), form["maximum"]
    if form["type"] == "integer":
        return f"a whole number, {least} to {most}"
    return f"above {least:g}, at most {most:g}" if "exclusiveMinimum" in form else f"{least:g} to {most:g}"


def _in_range(value: object, form: Schema) -> bool:
    """Return whether a value is a number that a form allows."""
    kinds = int if form["type"] == "integer" else int | float
    if not isinstance(value, kinds) or isinstance(value, bool) or value == form.get("exclusiveMinimum"):
        return False
    low: Any = form.get("minimum", form.get("exclusiveMinimum", -sys.float_info.max))
    return bool(low <= value <= form.get("maximum", sys.float_info.max))


def _percent(value: object, forms: Sequence[Schema]) -> str:
    """Return a hint if a share could be meant in per cent, else an empty text."""
    if isinstance(value, int | float) and any(form.get("maximum", 100) <= 2 for form in forms):
        return f"; {value / 100:g} is {value:g} %" if 2 < value <= 100 else ""
    return ""


def _listed(called: str, values: Iterable[Any], form: Schema) -> tuple[Any, ...]:
    forms = form["items"].get("anyOf", [form["items"]])
    items = tuple(in_form(called, value, forms) for value in values)
    if len(items) < form.get("minItems", 0):
        raise SettingsError(f"{called} must be a list of one or more, not an empty one")
    if "uniqueItems" in form and len({*items}) < len(items):
        (twice, _), *_ = Counter(items).most_common(1)
        raise SettingsError(f"{called} has {said(twice)} twice; expected each once")
    return items


def _by_name(called: str, values: Mapping[Any, Any], form: Schema) -> dict[str, Any]:
    most = form.get("maxProperties", len(values))
    if len(values) > most:
        raise SettingsError(f"{called} has {len(values)} names; expected {most} or fewer")
    of_part = "pattern" in form["propertyNames"]
    for name in values:
        if not (is_part_name(name) if of_part else isinstance(name, str) and name):
            whose = "that of a file" if form is _REGIONS else "that of a class"
            expected = f"{PART_NAMES if of_part else whose}, in quotes if need be"
            raise SettingsError(f"{called} cannot have the name {said(name)}; expected {expected}")
    item = form["additionalProperties"]
    forms = item.get("anyOf", [item])
    return {name: in_form(f"{called} of {said(name)}", value, forms) for name, value in values.items()}


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever was given
    """Return a scalar of numpy, or a fraction, as Python has it; anything else as it is."""
    if isinstance(value, np.float32 | np.float16):
        return float(str(value))  # the decimal that it was written as, as values of these types are read
    if isinstance(value, Fraction):
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


def _segment_length(value: float | str) -> float:
    """Return the length of a segment in seconds, also of a text such as `1024/44100`."""
    if isinstance(value, str):
        number = r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*"
        fraction = re.fullmatch(f"{number}(?:/{number})?", value, re.ASCII)
        if not fraction or not Decimal(fraction[2] or 1):
            raise SettingsError(f"segment_length must be a finite number, not {said(value)}; 1/3 is one, too")
        value = float(Fraction(fraction[1]) / Fraction(fraction[2] or 1))
    return float(exactly(in_form("segment_length", value, forms_of("segment_length")[:1])))


def _in_ticks(value: Any) -> Any:  # noqa: ANN401 - one length, several, or some by class
    """Return lengths in seconds, in whole ticks: settings keep and show the lengths that are used."""
    if isinstance(value, dict):
        return {name: _in_ticks(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_in_ticks, value))
    return float(round(value * _TICKS) / _TICKS)


def _several(value: str | tuple[str, ...], every: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return a list, also of a single text. every: the values that `all` means."""
    values = (value,) if isinstance(value, str) else value
    return every if every and "all" in values else values


def _regions(value: dict[str, tuple[tuple[Any, ...], ...]] | None) -> RegionList | None:
    """Return regions by recording as they are kept, in whole ticks."""
    if value is None:
        return None
    if not value:
        raise SettingsError("regions must be a mapping of one or more file names, not an empty one")
    regions = []
    for name, several in value.items():
        for region in several:
            times, label = region[:2], region[2:] or ("",)
            is_text = [isinstance(each, str) for each in (*times, *label)]
            if is_text != [False, False, True] or not times[0] < times[1] <= _LONGEST:
                raise SettingsError(
                    f"regions of {said(name)} has {said(list(region))}; expected onset and offset in "
                    "seconds, the onset before the offset, and perhaps a class"
                )
            regions.append((name, *map(_in_ticks, times), *label))
    return RegionList.of(regions)


def _shots(value: int | str | None) -> str | None:
    """Return a number of events, and perhaps their class behind a blank, as it is kept."""
    if value is None:
        return None
    match = re.fullmatch(_SHOTS, str(value))
    if match is None:
        raise SettingsError(
            "after_shots must be a number of events, 1 or more, and perhaps a class, such as '5 POS', not "
            f"{said(value)}"
        )
    return f"{int(match[1])} {match[2]}" if match[2] else str(int(match[1]))


_KEPT: dict[str, Callable[[Any], Any]] = {
    "segment_length": _segment_length,
    **dict.fromkeys(("onset_collar", "offset_collar", "psds_median_filters", *POSTPROCESSING), _in_ticks),
    "satisfice": lambda value: str(Constraint.parse(value)),
    "measures": partial(_several, every=GROUPS),
    "means": lambda names: tuple(name for name in MEANS if name in _several(names)),
    "only": partial(_several, every=tuple(READINGS)),
    **dict.fromkeys(("classes", "ignore_class"), _several),
    "map": lambda names: dict(names or {}),
    "variants": lambda names: tuple(dict.fromkeys(map(_with_settings, _several(names)))),
    "files": lambda names: names and FileNames(dict.fromkeys(names)),
    "regions": _regions,
    "after_shots": _shots,
    **dict.fromkeys(
        ("groups", "scenes"), lambda parts: {name: _several(each) for name, each in parts.items()}
    ),
}
"""Conversions of the values that are not kept as they were given."""


def finite(name: str, value: object) -> float:
    """Return a setting as a float; raises SettingsError for anything but a finite number."""
    return float(in_form(name, value, [{"type": "number"}]))


@lru_cache(maxsize=256)
def exactly(seconds: float) -> Fraction:
    """Return the exact value of a length in seconds: 2/100 for 0.02, and 1/3 for the float nearest to 1/3.

    Up to six decimals are taken as they are written. Any other float becomes the fraction of whole numbers up
    to a million that has this float. If none has, the decimals are taken as they are written, to a millionth
    of a microsecond.
    """
    written = Fraction(repr(seconds))
    if (written * _TICKS).denominator > 1:
        simple = written.limit_denominator(_TICKS)
        written = simple if float(simple) == seconds else written
    return (written * _TICKS).limit_denominator(_TICKS) / _TICKS


def short_fraction(seconds: float) -> str:
    """Return a length in seconds as text that can be given again: a decimal, or one such as `1/3`."""
    exact = exactly(seconds)
    return str(exact) if (exact * 10**12).denominator > 1 and exact.denominator <= _TICKS else str(seconds)


PART_NAMES = (
    "printable text without [, ], @ and =, without blanks and <, > at its ends, and not that of a mean "
    "such as scenes.harmonic"
)
"""Requirements on the name of a part, for messages: its scores carry the name after an `@`."""


def is_part_name(name: object) -> bool:
    """Return whether a group or a scene can have this name, so that the name identifies its scores.

    Command lines lose blanks at the ends of a name; `--require` reads signs at its end as comparisons.
    """
    if not isinstance(name, str) or not name.isprintable() or name in PART_MEANS:
        return False
    return name != "" and not {*"[]@="} & {*name} and name.strip(" <>") == name


def means_in(name: str) -> tuple[str, ...]:
    """Return the means that a score's name asks for: `harmonic`, `scenes.harmonic` or both, or none."""
    whole, _, part = name.rpartition("]")[2].partition("@")
    return tuple(each for each in (whole.rpartition(".")[2], part) if each in MEANS)


# Settings in the name of a score: `event.hard.f1.macro@onset_collar=0.5`.


def split_name(name: str) -> tuple[str, str]:
    """Return a score's name without the settings in it, and these as text, empty without any."""
    head, _, text = name.rpartition("@")
    return (head, text) if head and "=" in text and "]" not in text else (name, "")


def settings_in(text: str) -> dict[str, Any]:
    """Return the settings in a name, by key in order; raises SettingsError for a wrong key or value."""
    values: dict[str, Any] = {}
    for each in text.split(","):
        key, _, value = (part.strip() for part in each.partition("="))
        name = key.replace("-", "_")
        if name not in IN_NAMES or name in values:
            wrong = "is twice" if name in values else "cannot be"
            raise SettingsError(
                f"{said(key)} {wrong} in the name of a score; expected each once, of {', '.join(IN_NAMES)}"
                f"{did_you_mean(name, IN_NAMES)}"
            )
        values[name] = checked(name, of_text(value))
    return dict(sorted(values.items()))


def of_text(text: str) -> str | float | bool | None:
    """Return the truth value, None or the number that a text is for a setting, or the text itself."""
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    if re.fullmatch(r"[0-9]+", text, re.ASCII):
        return int(text)
    is_number = re.fullmatch(r"-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", text, re.ASCII)
    return float(text) if is_number else text


def text_of_settings(text: str) -> str:
    """Return the settings in a name as all names write them: in order, each value as short as it can be."""
    return ",".join(f"{name}={_short(name, value)}" for name, value in settings_in(text).items())


def _short(name: str, value: Any) -> str:  # noqa: ANN401 - of any setting
    if name == "segment_length":
        return short_fraction(value).removesuffix(".0")
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value).lower()


def _with_settings(name: str) -> str:
    """Return the name of a score as all names are written; raises SettingsError for one without settings."""
    head, text = split_name(name)
    if not text:
        raise SettingsError(f"variants: {said(name)} has no settings; expected NAME@SETTING=VALUE")
    return f"{head}@{text_of_settings(text)}"


# What a threshold must satisfy: `precision>=0.9`, `recall at fpr_per_hour<=5`.

AT_LEAST = ("precision", "recall")
"""Measures that can be demanded to reach a number."""

AT_MOST = ("fpr_per_hour", "error_rate", "substitution_rate", "deletion_rate", "insertion_rate")
"""Measures that can be demanded not to exceed a number; all but the first know pairs whatever their class."""

BEST_OF = ("f", "precision", "recall", "error_rate")
"""Measures that can be best under a constraint; F with the weight of recall that the settings have."""

_FORM = (
    rf"(?:({'|'.join(BEST_OF)})\s+at\s+)?(?:({'|'.join(AT_LEAST)})\s*>=|({'|'.join(AT_MOST)})\s*<=)\s*"
    r"((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
)


class Constraint(NamedTuple):
    """A measure to make best while another measure is at least, or at most, a number.

    best: one of `BEST_OF`. measure: one of `AT_LEAST` and `AT_MOST`, which fixes the comparison.
    """

    best: str
    measure: str
    number: float

    @classmethod
    def parse(cls, text: object) -> Self:
        """Read `[MEASURE at ]MEASURE>=NUMBER`; raises SettingsError with the expected form."""
        match = re.fullmatch(_FORM, text.strip()) if isinstance(text, str) else None
        if match is None or float(match[4]) > (1 if match[2] else sys.float_info.max):
            raise SettingsError(
                "satisfice must be a constraint such as 'precision>=0.9' or 'recall at fpr_per_hour<=5', of "
                f"{' or '.join(AT_LEAST)} at least a number in [0, 1] or {', '.join(AT_MOST)} at most a "
                f"finite one, with the best {', '.join(BEST_OF)}, not {said(text)}"
            )
        return cls(match[1] or "f", match[2] or match[3], float(match[4]))

    @property
    def sign(self) -> str:
        """Return the comparison of the measure with the number."""
        return ">=" if self.measure in AT_LEAST else "<="

    @property
    def counts_regardless(self) -> bool:
        """Whether it needs, for all classes together, pairs whatever their class."""
        return bool({self.best, self.measure} & {*AT_MOST[1:]})

    def __str__(self) -> str:
        """Return the constraint as it could be given again."""
        first = "" if self.best == "f" else f"{self.best} at "
        return f"{first}{self.measure}{self.sign}{self.number!r}"
