"""Registry of all measures by name: for `explain`, the help, the docs and the contract tests.

Most measures are beside their computation. Measures of curves, of calibration and of rankings are here, so
that names are known without importing `curve_scores`, `calibration` and `ranking`.

The grammar of score names, which parses back:

    basis.reading.measure.average      segment.soft.f1.macro
    basis.reading.measure[class]       event.hard.recall[people talking]
    basis.reading.measure              intersection.hard.psds

The last form is for measures defined over all classes together. Scores of a group of classes, or of the files
of a scene, have its name after an `@`:

    segment.soft.f1.macro@traffic      intersection.hard.psds@traffic      segment.soft.f1[car]@street

Means that are computed only on demand are averages, `harmonic` and `geometric`. They are written after the
`@` for means over files, scenes or groups; no group and no scene can have such a name:

    segment.soft.f1.harmonic           segment.soft.f1.micro@scenes.harmonic

Scores by other settings have these at the end, after an `@` of their own, in order:

    event.hard.f1.macro@onset_collar=0.5      segment.soft.f1.macro@street@pool=mean,segment_length=0.1

A class name may contain anything, including brackets, dots and `@`: it is the text between the first `[` and
the last `]`. The name of a group or a scene contains neither bracket nor `=`, so the text after the last `]`
is unambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.fields import DEFAULT_ONLY
from sedeval_soft.measures import detection, divergence
from sedeval_soft.measures.base import Family, Measure
from sedeval_soft.measures.event import BOUNDARIES
from sedeval_soft.measures.segment import GROUNDING
from sedeval_soft.names import MEASURE_ALIASES, did_you_mean, meant
from sedeval_soft.plan import without_effect
from sedeval_soft.settings import (
    CLASS_MEANS,
    CRITERIA,
    GROUPS,
    MEANS,
    PART_MEANS,
    WEIGHTS,
    Settings,
    is_part_name,
    means_in,
    settings_in,
    split_name,
    text_of_settings,
)

AVERAGES = ("micro", "macro", "weighted")

OVERALL = "overall"
"""Average of a measure that is defined over all classes together; names leave it out."""


class ScoreNameError(EvaluationError):
    """Error of a score name that the grammar does not know."""


class ScoreName(NamedTuple):
    """The parts of a score's name; exactly one of `average` and `class_name` is set.

    group: the group of classes or the scene of the score, or the parts of a mean (`scenes.harmonic`), and the
    settings of its own, after an `@` if there is a part, too; None for the whole by the common settings.
    """

    basis: str
    reading: str
    measure: str
    average: str | None = None
    class_name: str | None = None
    group: str | None = None

    def __str__(self) -> str:
        """Return the name, which `parse` reads back."""
        average = "" if self.average == OVERALL else f".{self.average}"
        of = average if self.class_name is None else f"[{self.class_name}]"
        group = "" if self.group is None else f"@{self.group}"
        return f"{self.basis}.{self.reading}.{self.measure}{of}{group}"

    @property
    def part(self) -> str | None:
        """The group without settings; None for the whole."""
        return split_name(f"score@{self.group or ''}")[0].partition("@")[2] or None

    @classmethod
    def parse(cls, text: str) -> ScoreName:
        """Read a name; raises ScoreNameError with the expected form, SettingsError for settings in it."""
        head, settings = split_name(text)
        if settings:
            name = cls.parse(head)
            parts = filter(None, (name.group, text_of_settings(settings)))
            return name._replace(group="@".join(parts))
        part = r"([^.@[]+)"
        average = rf"\.({'|'.join((*AVERAGES, *CLASS_MEANS))})|\[(.*)\]"
        match = re.fullmatch(rf"{part}\.{part}\.{part}(?:{average})?(?:@([^]]*))?", text, re.DOTALL)
        if match is None or not (match[6] in (None, *PART_MEANS) or is_part_name(match[6])):
            raise ScoreNameError(
                f"{text!r} is not the name of a score; expected basis.reading.measure.average (average: "
                f"{', '.join((*AVERAGES, *CLASS_MEANS))}) or basis.reading.measure[class], such as "
                "segment.soft.f1.macro, with @name after it for a group of classes or a scene"
            )
        basis, reading, measure, average, label, group = match.groups()
        return cls(basis, reading, measure, average or (OVERALL if label is None else None), label, group)


# Over all thresholds of the system, and over bins of its values: those of one curve are computed together.

_COCO = "Lin et al. 2014 (COCO)"
_FAWCETT = "Fawcett 2006"
_MURPHY = "Murphy 1973"
_NAEINI = "Naeini, Cooper & Hauskrecht 2015"

_precision = partial(Measure, undefined="N_ref = 0", table="precision")
_event_precision = partial(_precision, averages=("macro", "weighted"))
_rate = partial(Measure, undefined="N_ref = 0, or the reference is active throughout", table="roc")
_calibration = partial(Measure, direction="lower", undefined="there are no segments", table="calibration")

_CURVES = (
    _precision("average_precision", "area under the precision-recall steps; its macro average is mAP",
        "sum over thresholds of (R_k - R_(k-1)) P_k", short="AP",
        source="Buckley & Voorhees 2000; as scikit-learn",
        aliases=("ap", "map", "auprc", "pr_auc", "mean_average_precision")),
    _precision("average_precision_voc11", "precision interpolated at 11 recalls",
        "mean over r = 0, 0.1 .. 1 of max precision at recall >= r", short="AP voc11",
        source="Everingham et al. 2010 (PASCAL VOC 2007)"),
    _precision("average_precision_voc", "area under precision interpolated at every recall",
        "sum over thresholds of (R_k - R_(k-1)) max precision at recall >= R_k", short="AP voc",
        source="Everingham et al. 2015 (PASCAL VOC 2010)"),
    _precision("average_precision_coco101", "precision interpolated at 101 recalls",
        "mean over r = 0, 0.01 .. 1 of max precision at recall >= r", short="AP coco101", source=_COCO),
    _rate("roc_auc", "area under the ROC: how often an active segment is above a silent one",
        "area under TPR over FPR, ties half", short="AUC", source="Hanley & McNeil 1982",
        aliases=("auc", "auroc", "rocauc", "roc-auc")),
    _rate("partial_auc",
        "area under the ROC to --set max_fpr, 1 at best; its macro average is mpAUC (DCASE 2024)",
        "area under TPR over FPR to max_fpr / max_fpr", short="pAUC",
        source="McClish 1989; scaling of DCASE 2024 task 4", aliases=("pauc", "mpauc")),
    _rate("partial_auc_mcclish", "area under the ROC to --set max_fpr, scaled so that chance is 0.5",
        "(1 + (area - max_fpr^2 / 2) / (max_fpr - max_fpr^2 / 2)) / 2", short="pAUC McClish",
        source="McClish 1989; as scikit-learn"),
    _rate("d_prime",
        "separation of active from silent segments, in standard deviations; averages use the average AUC",
        "sqrt(2) * inverse normal of roc_auc", short="d'", source="Simpson & Fitter 1973", low=None,
        high=None, undefined="roc_auc is, or is 0 or 1"),
    _rate("equal_error_rate", "miss rate where it equals the false alarm rate",
        "FNR where the ROC, drawn with straight lines, has FNR = FPR", short="EER",
        source="Martin et al. 1997", direction="lower", aliases=("eer",)),
    _rate("fnr_at_fpr", "lowest miss rate of any threshold whose false alarm rate is at most --set max_fpr",
        "min FNR where FPR <= max_fpr", short="FNR@FPR", source=_FAWCETT, direction="lower"),
    _rate("fpr_at_fnr", "lowest false alarm rate of any threshold whose miss rate is at most --set max_fnr",
        "min FPR where FNR <= max_fnr", short="FPR@FNR", source=_FAWCETT, direction="lower"),
)  # fmt: skip

_RANKED = (
    _event_precision("average_precision",
        "detection AP: events ranked by value, matched at an IoU of --set iou; macro is mAP",
        "sum over events in order of (R_k - R_(k-1)) P_k", short="AP", source="Everingham et al. 2010",
        aliases=_CURVES[0].aliases),
    _event_precision("average_precision_voc",
        "detection AP at an IoU of --set iou, precision interpolated at every recall",
        "sum of (R_k - R_(k-1)) max precision at recall >= R_k", short="AP voc",
        source="Everingham et al. 2015"),
    _event_precision("average_precision_coco101",
        "detection AP at an IoU of --set iou, precision interpolated at 101 recalls",
        "mean over r = 0, 0.01 .. 1 of max precision at recall >= r", short="AP coco101",
        source="Lin et al. 2014"),
    _event_precision("average_precision_coco", "mean of the 101-point AP over IoUs of 0.5, 0.55 .. 0.95",
        "mean over IoU of average_precision_coco101", short="AP coco", source=_COCO),
    _event_precision("average_precision_voc_mean",
        "mean of average_precision_voc over IoUs of 0.5, 0.55 .. 0.95",
        "mean over IoU of average_precision_voc", short="AP voc mean",
        source="Lei et al. 2021 (QVHighlights)"),
    _event_precision("recall_at_1",
        "share of files with the class whose detection of the highest value overlaps an event by --set iou",
        "files with IoU of the first detection >= iou / files with N_ref > 0", short="R1",
        source="Gao et al. 2017 (TALL)"),
)  # fmt: skip

_CALIBRATION = (
    _calibration("expected_calibration_error",
        "mean distance of values from frequencies, in equal bins (--set bins)",
        "sum over bins of n_k / n |mean y - mean p|", short="ECE", source=_NAEINI, aliases=("ece",)),
    _calibration("maximum_calibration_error",
        "largest distance of values from frequencies, in bins of equal width",
        "max over bins of |mean y - mean p|", short="MCE", source=_NAEINI),
    _calibration("adaptive_calibration_error", "calibration error in bins of equal mass (--set bins)",
        "sum over bins of n_k / n |mean y - mean p|", short="ACE", source="Nixon et al. 2019"),
    _calibration("brier_reliability",
        "part of the Brier score that calibration would remove, in bins of equal width",
        "sum over bins of n_k / n (mean y - mean p)^2", short="reliab.", source=_MURPHY),
    _calibration("brier_resolution", "part of the reference's variance that the system's bins explain",
        "sum over bins of n_k / n (mean y - mean y of all)^2", short="resol.", source=_MURPHY, high=0.25,
        direction="none"),
    _calibration("brier_uncertainty", "variance of the reference", "mean of (y - mean y)^2", short="uncert.",
        source=_MURPHY, high=0.25, direction="none"),
    _calibration("brier_within_bins",
        "what the bins hide: brier = reliability - resolution + uncertainty + this",
        "sum over bins of n_k / n (variance of p - 2 covariance of y and p)", short="within",
        source="Stephenson, Coelho & Jolliffe 2008", low=None, high=None, direction="none"),
)  # fmt: skip

# Over the order of the classes in each segment.

_NO_CLASS = "no segment has an active reference class"
_ZHANG = "Zhang & Zhou 2014"
_SCHAPIRE = "Schapire & Singer 2000"
_PREFIX = "the N_ref highest of a segment"

_rank = partial(
    Measure, direction="lower", undefined=_NO_CLASS, averages=("overall",), has_classes=False, table="ranking"
)

_RANKS = (
    _rank("one_error", "how often the class with the highest value is not active",
        "mean over segments of 1 - y of the highest p, ties at their mean", source=_SCHAPIRE, short="1-err"),
    _rank("coverage", "how far down the ranks the last active class is; the first is 1",
        "mean over segments of the largest rank of an active class, ties at their last",
        source=f"{_SCHAPIRE}; as scikit-learn's coverage_error", low=1.0, high=None),
    _rank("ranking_loss", "share of pairs of an active and a silent class that are out of order",
        "mean over segments of pairs with p_active <= p_silent / pairs",
        source=f"{_SCHAPIRE}; as scikit-learn", short="loss"),
    _rank("ranking_loss_all_pairs", "pairs out of order as a share of all pairs of classes",
        "mean over segments of pairs with p_active <= p_silent / (C (C - 1) / 2)",
        source=f"{_SCHAPIRE}, over all pairs", short="loss (all)",
        undefined=f"{_NO_CLASS}, or there is one class"),
    _rank("label_ranking_average_precision", "mean share of active classes among those ranked as high",
        "mean over segments and active classes of active ranked as high / ranked as high",
        source="Tsoumakas, Katakis & Vlahavas 2010; as scikit-learn", short="LRAP", direction="higher"),
    _rank("cross_entropy", "log loss of a segment, summed over the classes, in nats (--set entropy_unit)",
        "mean over segments of sum over classes of -y ln p - (1-y) ln(1-p)", source="Good 1952", short="CE",
        high=None),
    _rank("hamming_loss", "share of classes that are wrong", "mean over segments and classes of |y - p|",
        source=_ZHANG, short="Hamming"),
)  # fmt: skip

_CUT_RANKS = (
    _rank("exact_match_prefix", "share of segments whose active classes have the highest values",
        "mean over segments of [every active p > every silent p]", source=_ZHANG, short="prefix",
        direction="higher"),
    _rank("subset_accuracy", "share of segments with every class right", "mean over segments of [y = p]",
        source=_ZHANG, short="subset", direction="higher"),
    Measure("label_wise_precision", f"how often a class is active where it is among {_PREFIX}",
        "segments with the class active and among the N_ref highest / segments with it among them",
        source=_ZHANG, averages=("macro", "weighted"), short="label P",
        undefined="the class has no reference; 0 if it is never among them", table="label-wise"),
    _rank("label_wise_precision_minimum", "the lowest label_wise_precision of any class",
        "min over classes of label_wise_precision", source=_ZHANG, short="min label P", direction="higher"),
)  # fmt: skip

_Row = tuple[str, str, tuple[Measure, ...]] | tuple[str, str, tuple[Measure, ...], str]
"""A reading, the form in which system and reference are read, the measures, and the option for them."""

_DETECTION, _OVERLAPS = detection.MEASURES, detection.OF_INTERSECTIONS
_BEST = (detection.THRESHOLD, *detection.BEST_ERROR_RATE)
_TUNED = "the system cut at thresholds that were found on other data, or on other files"
_OPTIMAL = "the system cut at each class's best threshold"
_LEVELS = "hard counts integrated over all levels of both sides"
_VALUES = "the system's values against the reference's"

_THRESHOLDS: tuple[_Row, ...] = (
    ("hard", "means over classes, both sides cut at one threshold each", (detection.F1_OF_MEANS,), "joint"),
    ("optimal", "the system cut where all classes together are best", detection.JOINT, "joint"),
    ("optimal", "the system cut where it is best among what --set satisfice allows", detection.SATISFICED),
)

_CELLS: tuple[_Row, ...] = (
    ("hard", "reference and system cut at one threshold each", (*_DETECTION, *detection.OF_CELLS)),
    ("tuned", _TUNED, (*_DETECTION, detection.TUNED_THRESHOLD)),
    ("optimal", _OPTIMAL, (*_DETECTION, detection.THRESHOLD)),
    ("soft", f"fuzzy sets: {_LEVELS}", detection.OF_FUZZY_SETS),
    ("soft", _VALUES, (divergence.KL_DIVERGENCE,)),
    ("hard", "proper scores of the cut reference", divergence.OF_CUT, "divergence"),
    ("soft", _VALUES, divergence.OF_VALUES, "divergence"),
    ("hard", "all thresholds of the system, the reference cut at one", _CURVES, "curves"),
    ("soft", "all thresholds, a cell positive by y and negative by 1 - y", _CURVES, "curves"),
    ("hard", "the system's values as probabilities of the cut reference", _CALIBRATION, "calibration"),
    ("soft", "the system's values as predictions of the reference's", _CALIBRATION, "calibration"),
    *_THRESHOLDS,
)  # fmt: skip

_BASES: dict[str, tuple[_Row, ...]] = {
    "segment": _CELLS,
    "event": (
        ("hard", "events of both sides, matched at one threshold each", (*_DETECTION, *BOUNDARIES)),
        ("tuned", _TUNED, (*_DETECTION, detection.TUNED_THRESHOLD)),
        ("optimal", _OPTIMAL, (*_DETECTION, *_BEST)),
        ("soft", _LEVELS, _DETECTION),
        *_THRESHOLDS,
        ("hard", "events ranked by their values", _RANKED, "curves"),
    ),
    "intersection": (
        ("hard", "events of both sides at one threshold each, by how much they cover",
            (*_OVERLAPS, detection.PSDS, detection.PIPSDS)),
        ("tuned", _TUNED, (*_OVERLAPS, detection.TUNED_THRESHOLD)),
        ("optimal", _OPTIMAL, (*_OVERLAPS, *_BEST)),
        ("soft", _LEVELS, (*_OVERLAPS, detection.SOFT_PSDS)),
        *_THRESHOLDS,
    ),
    "clip": _CELLS,
    "ranking": (
        ("hard", "classes of a segment in order of value, the reference cut",
            (*_RANKS, *_CUT_RANKS)),
        ("soft", "a class active by y and silent by 1 - y; segments by their highest y", _RANKS),
    ),
}  # fmt: skip

_ITEMS = "time of a class in a file, as one set on each side"

FAMILIES = [
    *(Family(basis, *row) for basis, rows in _BASES.items() for row in rows),
    Family("segment", "hard", _ITEMS, GROUNDING, "grounding"),
]
"""Every basis and reading with its measures, in the order in which scores are printed."""

MEASURES = {
    (family.basis, family.reading, measure.name): (family, measure)
    for family in FAMILIES
    for measure in family.measures
}
"""Every measure and its family, by basis, reading and name."""

MEASURE_ALIASES.update(
    {alias: each.name for family in FAMILIES for each in family.measures for alias in each.aliases}
)


def register(measure: Measure) -> None:
    """Compute a measure of one's own in this process, beside the measures of detection.

    measure: `value` is its formula, of a `detection.Detection`, whose arrays have one shape. A measure of the
    table `negatives` may need true negatives: only hard segments and clips have it, other measures are
    computed everywhere. Raises SettingsError for a name that is not a word of its own, and for a measure
    without a formula.
    """
    taken = {name for _, _, name in MEASURES} - {each.name for each in detection.OWN}
    if not re.fullmatch("[a-z][a-z0-9_]*", measure.name) or measure.name in {*taken, *MEASURE_ALIASES}:
        raise SettingsError(
            f"a measure of your own cannot be called {measure.name!r}; expected small letters, digits and _, "
            "and a name that no other measure has"
        )
    if not callable(measure.value):
        raise SettingsError(f"measure {measure.name} has no formula; expected a function as its value")
    forget(measure.name)
    detection.OWN.append(measure)
    cells = [(basis, "hard") for basis in ("segment", "clip")]
    every = dict.fromkeys((each.basis, each.reading) for each in FAMILIES if each.basis != "ranking")
    for basis, reading in cells if measure.table == detection.NEGATIVES else every:
        FAMILIES.append(Family(basis, reading, measure.summary, (measure,)))
        MEASURES[basis, reading, measure.name] = FAMILIES[-1], measure


def forget(name: str) -> None:
    """Compute a measure that was registered no more."""
    detection.OWN[:] = [each for each in detection.OWN if each.name != name]
    for key in [key for key in MEASURES if key[2] == name]:
        FAMILIES.remove(MEASURES.pop(key)[0])


def without_own(measures: object) -> object:
    """Return the names in `measures` without measures of one's own, which are registered.

    They are given as objects, or as the file and the name of a measure: `my_measures.py:G_MEAN`. Raises
    SettingsError for a measure that cannot be loaded.
    """
    if isinstance(measures, str | Measure):
        measures = [measures]
    if not isinstance(measures, list | tuple):
        return measures
    own = [each for each in measures if isinstance(each, Measure) or ".py:" in str(each)]
    for each in own:
        register(each if isinstance(each, Measure) else _in_file(str(each)))
    return [each for each in measures if each not in own]


def _in_file(text: str) -> Measure:
    """Return a measure of a Python file: `FILE.py:NAME`."""
    import runpy

    path, _, name = text.rpartition(":")
    try:
        found = runpy.run_path(path).get(name)
    except Exception as error:
        raise SettingsError(f"measures: {path} cannot be run: {type(error).__name__}: {error}") from error
    if not isinstance(found, Measure):
        raise SettingsError(f"measures: {path} has no Measure called {name!r}")
    return found


def measure_of(name: ScoreName | str, likely: Sequence[str] = ()) -> Measure:
    """Return the measure that a score name means; raises ScoreNameError as `family_of`."""
    return family_of(name, likely)[1]


def group_of(name: ScoreName | str) -> str:
    """Return the group of measures that a score belongs to, empty for one that comes with its basis.

    Raises ScoreNameError as `family_of`.
    """
    return family_of(name)[0].group


def family_of(name: ScoreName | str, likely: Sequence[str] = ()) -> tuple[Family, Measure]:
    """Return the family and the measure that a score name means.

    Raises ScoreNameError for a name that no measure has, with its possible meanings: of the likely measures,
    else of the measures computed by default, else of all.
    """
    if isinstance(name, str):
        text = name
        try:
            name = ScoreName.parse(text)
        except ScoreNameError as error:
            hint = _meant(text, likely)
            if hint:
                raise ScoreNameError(f"no score is named {text!r}{hint}") from None
            raise ScoreNameError(f"{error}{did_you_mean(text, score_names(means=CLASS_MEANS))}") from None
    found = MEASURES.get((name.basis, name.reading, name.measure))
    if found is not None and found[1].has(name.average):
        if name.part in PART_MEANS:
            _check_mean(name, found[1])
        return found
    whole = str(name._replace(group=None))
    spelled = whole if name.class_name is None else f"{name.basis}.{name.reading}.{name.measure}[class]"
    hint = _meant(whole, likely) or did_you_mean(spelled, score_names(means=CLASS_MEANS))
    raise ScoreNameError(f"no score is named {name}{hint or '; soft-sed-eval explain prints all names'}")


def _check_mean(name: ScoreName, measure: Measure) -> None:
    """Raise ScoreNameError for a mean over files, scenes or groups that a measure, or its form, lacks."""
    parts, _, kind = (name.part or "").partition(".")
    if not measure.has_mean(kind):
        better = "one way is better, and whose range has a lower end," if kind == "mean" else "more is better"
        raise ScoreNameError(
            f"no score is named {name}; only measures of which {better} have a {kind} "
            f"{'' if kind == 'mean' else 'mean '}over {parts}"
        )
    if name.class_name is not None and parts != "scenes":
        raise ScoreNameError(f"no score is named {name}; single classes have means over scenes only")


def _meant(text: str, likely: Sequence[str]) -> str:
    """Return the possible meanings of a text that is not a name of a score; empty if it lacks every part."""
    return (
        meant(text, likely)
        or meant(text, score_names(usual=True))
        or meant(text, score_names(means=CLASS_MEANS))
    )


def score_names(
    classes: Sequence[str] = ("class",), *, usual: bool = False, means: Sequence[str] = ()
) -> Iterator[str]:
    """Iterate over all score names; names of classes once as `[class]`, or for each given class.

    usual: only names computed by default. means: on-demand averages beside the averages of each measure, if
    it has them.
    """
    for family in FAMILIES:
        asked_for = family.basis not in DEFAULT_ONLY or family.reading == "tuned" or family.group
        for measure in family.measures:
            if usual and (asked_for or measure.needs):
                continue
            stem = (family.basis, family.reading, measure.name)
            for average in (*measure.averages, *(mean for mean in measure.means if mean in means)):
                yield str(ScoreName(*stem, average))
            if measure.has_classes:
                for label in classes:
                    yield str(ScoreName(*stem, None, label))


# Variants: scores by settings of their own, which their names have: `event.hard.f1.macro@onset_collar=0.5`.
# Tables are aligned once, and counted again for each variant.


def narrowed(settings: Settings, names: Sequence[str], values: Mapping[str, Any]) -> Settings:
    """Return settings that evaluate no more than scores of some names need, with some values of their own."""
    parsed = [ScoreName.parse(name) for name in names]
    groups, means = {*map(group_of, names)}, {mean for name in names for mean in means_in(name)}
    only = tuple(dict.fromkeys(".".join(name[:2]) for name in parsed))
    fewer: dict[str, Any] = {}
    if all("psds" not in name.measure for name in parsed):
        fewer = {**dict.fromkeys(("psds", *WEIGHTS)), "psds_median_filters": ()}
        # The name of a PSDS sets the criteria of intersections, too.
        fewer |= {each: settings.criterion(each) for each in CRITERIA if "psds" not in values}
    if all(name.reading != "tuned" for name in parsed):
        fewer |= {"thresholds": None, "cross_tune": None}
    if {*only}.isdisjoint(("segment.hard", "event.hard")):
        # Other readings follow no package.
        fewer["compat"] = None
    return replace(
        settings, **fewer | {**values}, only=only,
        measures=tuple(group for group in GROUPS if group in groups),
        means=tuple(mean for mean in MEANS if mean in means), variants=(), rank_by=None, worst=0,
        reference_sweep=False,
    )  # fmt: skip


def variants_of(settings: Settings) -> dict[str, Settings]:
    """Return the settings of each variant, by its text in names of scores, such as `onset_collar=0.5`.

    They evaluate no more than the scores of the variant need. Raises ScoreNameError for a name that no score
    has, SettingsError for settings that contradict the others.
    """
    asked: dict[str, list[str]] = {}
    for name in settings.variants:
        head, text = split_name(name)
        asked.setdefault(text, []).append(head)
    variants: dict[str, Settings] = {}
    for text, names in asked.items():
        values = settings_in(text)
        cut = [name for name in ("threshold", "reference_threshold", "inclusive") if name in values]
        if cut and settings.after_shots:
            raise SettingsError(
                f"{cut[0]} cannot be in the name of a score beside after_shots, which begins where an event "
                "ends"
            )
        variants[text] = narrowed(settings, names, values)
        for name, needed in without_effect(variants[text], values).items():
            raise SettingsError(f"{name} has no effect on {names[0]}: it needs {needed}")
    return variants
