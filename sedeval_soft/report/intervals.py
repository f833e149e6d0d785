"""Intervals of scores in words and in rows: the ends stand below the value that they belong to."""

from __future__ import annotations

from decimal import Decimal

from sedeval_soft.core.value import Score
from sedeval_soft.errors import counted
from sedeval_soft.report.layout import COUNTS
from sedeval_soft.report.table import number
from sedeval_soft.settings import Settings

METHODS = {
    "bootstrap": "bootstrap percentiles",
    "bca": "BCa",
    "expanded": "expanded BCa",
    "jackknife": "delete-one jackknife",
}
"""What the ways to find an interval are called."""

INDENT = "  "
"""What sets the names of the ends off from the name of the row that they belong to."""


def percent(share: Decimal) -> str:
    """Return a share as a percentage with as many decimals as it has: `97.5 %`."""
    text = f"{100 * share:f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def of_confidence(confidence: float) -> str:
    """Return a confidence as a percentage: `95 %`."""
    return percent(Decimal(repr(confidence)))


def ends(confidence: float) -> tuple[str, str]:
    """Return what the ends of an interval are called: `2.5 %` and `97.5 %` for a confidence of 0.95."""
    whole = Decimal(repr(confidence))
    return percent((1 - whole) / 2), percent((1 + whole) / 2)


def has_interval(score: Score | None) -> bool:
    """Return whether a score has an interval."""
    return score is not None and not (score.low is None and score.high is None)


def end_cell(score: Score | None, *, upper: bool) -> str:
    """Return the lower or the upper end of a score's interval for a cell; empty where there is none.

    Ends of counts fall between counts, so they have decimals; thresholds have no more than other numbers
    here, because an end is never typed in again.
    """
    end = None if score is None else score.high if upper else score.low
    if score is None or end is None:
        return ""
    return number(float(end), digits=2 if score.measure in COUNTS else 4)


def end_names(confidence: float, names: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the two rows of ends: all empty but the last, which says which end it is."""
    texts = ends(confidence)
    width = max(map(len, texts))
    low, high = ((*("",) * (names - 1), f"{INDENT}{text:>{width}}") for text in texts)
    return low, high


def described(settings: Settings, files: int) -> str:
    """Return how intervals are found: `95 % bootstrap percentiles, 1000 replicates of 49 files, seed 0`."""
    drawn = f" over {counted(files, 'file')}"
    if settings.ci != "jackknife":
        drawn = f", {resampled(settings.replicates, files, settings.seed)}"
    fixed = ", thresholds fixed" if settings.fixed_thresholds else ""
    return f"{of_confidence(settings.confidence)} {METHODS[settings.ci or 'bootstrap']}{drawn}{fixed}"


def described_runs(settings: Settings, runs: int) -> str:
    """Return what scores of repeated trainings are: no file is resampled for their intervals."""
    interval = f"{of_confidence(settings.confidence)} intervals by the jackknife over runs"
    return f"{runs}, means over trainings; {interval}"


def resampled(replicates: int, files: int, seed: int) -> str:
    """Return how often files are drawn anew: `1000 replicates of 49 files, seed 0`."""
    return f"{counted(replicates, 'replicate')} of {counted(files, 'file')}, seed {seed}"
