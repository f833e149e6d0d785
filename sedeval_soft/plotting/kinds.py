"""The kinds of figures by name. Nothing is imported here: `soft-sed-eval --help` reads it."""

KINDS: dict[str, str] = {
    "matrix": "all bases and readings; of several systems a leaderboard",
    "classes": "scores of each class as bars",
    "pr": "precision over recall",
    "roc": "true positive rate over false positive rate",
    "det": "misses over false alarms, as normal deviates",
    "psd-roc": "the curve whose area is PSDS",
    "f-thresholds": "F over the system's threshold, the best one marked",
    "reliability": "how well the system's values are calibrated",
    "confusion": "which class is taken for which",
    "surface": "F over the thresholds of the reference and of the system",
    "timeline": "one file over time: hits, misses and false alarms",
    "worst": "segments, files or classes with the most errors",
    "sweep": "scores over thresholds of the reference",
}

SUFFIXES = ("pdf", "png", "svg")

OPTIONS: dict[str, tuple[str, ...]] = {
    "class_names": (
        "classes",
        "pr",
        "roc",
        "det",
        "f-thresholds",
        "reliability",
        "confusion",
        "surface",
        "timeline",
    ),
    "max_classes": ("classes", "pr", "roc", "det", "f-thresholds", "reliability", "confusion", "timeline"),
    "scores": ("matrix", "classes", "sweep"),
    "sort": ("classes", "confusion", "timeline"),
    "file": ("timeline",),
    "start": ("timeline",),
    "end": ("timeline",),
    "of": ("worst",),
    "binning": ("reliability",),
}
"""What can be wished for, and of which kinds of figures."""

RESAMPLED = ("matrix", "classes")
"""Kinds of figures that show intervals."""

ALONE = ("worst",)
"""Kinds of figures of one system only."""
