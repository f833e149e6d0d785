"""Where others' numbers differ on purpose: for `explain`, and the tables of explanations/differences.md."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from sedeval_soft.measures.names import ScoreName


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that another tool does otherwise.

    tool: its name. what: the case. theirs, ours: what is done in it; Markdown, of code in backticks only.
    scores: patterns of the scores that it can change, as `basis.reading.measure.form` where the form is an
    average, `class` or `overall`.
    """

    tool: str
    what: str
    theirs: str
    ours: str
    scores: tuple[str, ...]

    def concerns(self, name: ScoreName) -> bool:
        """Return whether it can change a score; one without average stands for all of its forms."""
        form = "class" if name.class_name is not None else name.average
        stem = f"{name.basis}.{name.reading}.{name.measure}"
        forms = ("micro", "macro", "weighted", "class", "overall") if form is None else (form,)
        return any(fnmatchcase(f"{stem}.{each}", pattern) for pattern in self.scores for each in forms)


_CELLS = ("segment.hard.*", "clip.hard.*")
_OVERLAPS = ("intersection.hard.*", "intersection.optimal.*", "intersection.tuned.*")
_BEST = ("segment.optimal.*", "event.optimal.*", *_OVERLAPS)
_PSDS = ("intersection.hard.psds.*", "intersection.hard.pipsds.*")
_AREAS = ("*.average_precision.*", "*.roc_auc.*", "*.partial_auc*")
_ITS = ("average_precision.*", "roc_auc.*", "partial_auc*", "cross_entropy.*", "brier.*")
_ERRORS = tuple(
    f"event.hard.{part}*" for part in ("substitution", "deletion", "insertion", "error_rate.micro")
)

SED_EVAL = "sed_eval"
SED_SCORES_EVAL = "sed_scores_eval"
SCIKIT_LEARN = "scikit-learn"
PSDS_EVAL = "psds_eval"

DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        SED_EVAL, "segment edges",
        "floor and ceil of floats: at 0.1 s an event at 0.3 s begins one segment early", "whole microseconds",
        ("segment.hard.*",),
    ),
    Difference(
        SED_EVAL, "collars", "floats: 0.9 s against 1.1 s at 0.2 s is a miss", "whole microseconds: a hit",
        ("event.hard.*",),
    ),
    Difference(
        SED_EVAL, "F1 where precision or recall is undefined", "NaN",
        "2 TP / (N_ref + N_sys), undefined only if both are 0",
        ("segment.hard.f1.*", "segment.hard.fbeta.*", "event.hard.f1.*", "event.hard.fbeta.*"),
    ),
    Difference(
        SED_EVAL, "a class never detected, in macro segment-based F1", "left out", "counts 0",
        ("segment.hard.f1.macro", "segment.hard.fbeta.macro"),
    ),
    Difference(
        SED_EVAL, "a class without reference, in macro error rate and sensitivity", "counts 0 or 4.5e15",
        "left out", ("segment.hard.error_rate.macro", "event.hard.error_rate.macro",
                     "segment.hard.sensitivity.macro"),
    ),
    Difference(
        SED_EVAL, "events without length", "each is an event", "where rows are merged, none",
        ("event.hard.*",),
    ),
    Difference(
        SED_EVAL, "substitutions of events", "leftovers of one matching, in row order",
        "M - TP, whatever the order", _ERRORS,
    ),
    Difference(
        SED_SCORES_EVAL, "classes without reference, files missing on a side", "refused",
        "shown and left out of macro averages and PSDS; a missing file counts, with a warning", _BEST,
    ),
    Difference(
        SED_SCORES_EVAL, "touching or overlapping reference rows of a class", "refused",
        "merged, or an event each (`--events`)", ("event.optimal.*", *_OVERLAPS),
    ),
    Difference(
        SED_SCORES_EVAL, "two thresholds with the same F", "its floats may tell them apart in the last bit",
        "the highest", ("*.optimal.*",),
    ),
    Difference(
        SED_SCORES_EVAL, "the best threshold where all scores, or none, are detected", "-inf, inf",
        "the middle between 0 and the lowest score, or -1 where that is 0; 1 (2 with `--inclusive`)",
        ("*.optimal.*threshold.*",),
    ),
    Difference(
        SED_SCORES_EVAL, "nothing detected", "precision 1", "precision undefined",
        ("*.optimal.precision.*", "*.hard.precision.*", "*.optimal.satisficed_precision.*"),
    ),
    Difference(
        SED_SCORES_EVAL, "a value of 0, in events and intersections",
        "a score as any other: at one threshold each file is one event", "silence, as time without a row",
        ("event.optimal.*", *_OVERLAPS),
    ),
    Difference(
        SED_SCORES_EVAL, "limits on the rates of insertions and deletions at the best error rate",
        "inverted: what keeps them is struck out", "none", ("*.optimal.best_error_rate*",),
    ),
    Difference(
        SED_SCORES_EVAL, "intersections against a criterion", "both sides rounded to 6 decimals",
        "whole microseconds, with half of one of slack: about the same", _OVERLAPS,
    ),
    Difference(
        SED_SCORES_EVAL, "a criterion of 0", "always met, also without overlap", "refused", _OVERLAPS,
    ),
    Difference(
        SED_SCORES_EVAL, "`cttc` with `alpha_ct` 0; one class and `alpha_ct` above 0", "an error", "works",
        _PSDS,
    ),
    Difference(
        SED_SCORES_EVAL, "reference events without length", "counted, and found",
        "take no part in intersections", _OVERLAPS,
    ),
    Difference(
        SED_SCORES_EVAL, "median filter",
        "of any length; values change between frames if it is no odd multiple of them",
        "the nearest odd number of time steps; at odd multiples the same", _BEST,
    ),
    Difference(
        SCIKIT_LEARN, "soft references", "refused", "weights",
        ("ranking.soft.*", *(f"*.soft.{measure}" for measure in _ITS)),
    ),
    Difference(
        SCIKIT_LEARN, "a class without a positive, or (ROC) without a negative", "NaN or a warning, or 0",
        "undefined, and left out of averages", _AREAS,
    ),
    Difference(
        SCIKIT_LEARN, "values of 0 and 1 in `log_loss`", "clipped by 2.2e-16",
        "clipped by `--epsilon`, 1e-7", ("*.cross_entropy.*",),
    ),
    Difference(
        SCIKIT_LEARN, "precision where nothing is detected", "0 with a warning",
        "undefined; counts 0 in averages", tuple(f"{cells[:-1]}precision.*" for cells in _CELLS),
    ),
    Difference(
        SCIKIT_LEARN, "ranking measures of rows without any label", "count (as 1 or 0)", "left out",
        ("ranking.*",),
    ),
    Difference(
        PSDS_EVAL, "thresholds", "the operating points that are given",
        "all, exactly; or points, by `--operating-point`", _PSDS,
    ),
    Difference(
        PSDS_EVAL, "intersections against a criterion",
        "floats: of 1.3 s to 2.3 s, 1.6 s to 2.3 s is less than 0.7",
        "whole microseconds, with half of one of slack for the rounding of times: it is 0.7", _OVERLAPS,
    ),
    Difference(PSDS_EVAL, "a criterion of 0", "any overlap at all", "refused", _OVERLAPS),
    Difference(
        PSDS_EVAL, "a class without reference",
        "its detections are ignored; a KeyError if `class_names` has it",
        "takes no part in PSDS; its false positives count in micro scores",
        ("intersection.hard.*.micro", *_PSDS),
    ),
    Difference(
        PSDS_EVAL, "detections beyond a file's duration", "never false positives", "every detection counts",
        _OVERLAPS,
    ),
    Difference(
        PSDS_EVAL, "one class only", "PSDS 0 even for a perfect system",
        "works: nothing can be a cross trigger", _PSDS,
    ),
    Difference(
        PSDS_EVAL, "macro F, a class with TP = 0", "left out", "counts 0", ("intersection.hard.f*.macro",),
    ),
    Difference(
        PSDS_EVAL, "overlapping rows of a class",
        "refused, but for exact duplicates, whose covers add up",
        "where rows are events each is one, and what several cover counts once; else they are merged",
        _OVERLAPS,
    ),
)  # fmt: skip
"""All that are known, by tool, in the order of the docs."""

TOOLS = tuple(dict.fromkeys(difference.tool for difference in DIFFERENCES))


def differences_of(name: ScoreName) -> tuple[Difference, ...]:
    """Return what other tools do otherwise that can change a score."""
    return tuple(difference for difference in DIFFERENCES if difference.concerns(name))
