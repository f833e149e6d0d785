"""What a reader must know before trusting a board: unlike systems, missing scores, too few files or draws."""

from __future__ import annotations

from collections.abc import Sequence

from sedeval_soft.core.value import Scores
from sedeval_soft.errors import counted
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.alignment_report import listing

_OF_ACTIVITY = frozenset(
    {
        *("precision", "recall", "f1", "fbeta", "sensitivity", "average_precision", "best_error_rate"),
        *("error_rate", "substitution_rate", "deletion_rate", "insertion_rate"),
    }
)
"""Measures that do not see segments in which neither side is active, nor classes that are nowhere."""


def level(settings: Settings) -> float:
    """Return the p-value below which systems are told apart; of 1 - 0.95 only the first digits are meant."""
    return round(1 - settings.confidence, 12)


def doubts(systems: Sequence[Scores], rank_by: str, n_files: int | None, settings: Settings) -> list[str]:
    """Return warnings of a board; systems: in the order of their places.

    n_files: of all together, None where nothing is resampled.
    """
    missing = [scores.system for scores in systems if scores[rank_by] is None]
    others = len(systems) - len(missing) - 1
    return [
        *_unlike(systems, ScoreName.parse(rank_by).measure, settings),
        *_undefined(rank_by, missing),
        *(_too_few(n_files, settings.replicates, others, level(settings)) if n_files is not None else ()),
    ]


def _unlike(systems: Sequence[Scores], measure: str, settings: Settings) -> list[str]:
    """Return a warning where systems may be scored over unlike things, as sed_eval's rules have it.

    By its rules silence that one of them adds, of other classes or at the end of a file, betters means. By
    ours it does not: the reference, the settings and the durations alone say what there is to be silent in.
    """
    if settings.compat != "sed_eval" or measure in _OF_ACTIVITY:
        return []
    longer = any("longer" in warning for scores in systems for warning in scores.warnings)
    if len({scores.classes for scores in systems}) == 1 and not longer:
        return []
    said = (
        f"by sed_eval's rules systems are scored over what they name, so {measure} is of unlike things: "
        "silence of more classes, or later, betters means; --classes and --durations give those of all"
    )
    return [said]


def _undefined(rank_by: str, names: Sequence[str]) -> list[str]:
    """Return a warning where systems do not have the score that ranks them."""
    return [f"{rank_by} is undefined for {listing(names, 'system')}; ranked last"] if names else []


def _too_few(n_files: int, replicates: int, comparisons: int, alpha: float) -> list[str]:
    """Return a warning where files or replicates are too few for any two systems to be told apart.

    comparisons: how many other systems the first is compared to, which Holm's adjustment multiplies by.
    """
    by_files, by_draws = least_p(n_files), 1 / (replicates + 1)
    least = max(by_files, by_draws)
    if comparisons < 1 or comparisons * least < alpha:
        return []
    files = f"exchanging {counted(n_files, 'file')} between two of them gives"
    draws = f"{counted(replicates, 'replicate')} {'gives' if replicates == 1 else 'give'}"
    adjusted = min(comparisons * least, 1.0)
    after = f", {adjusted:.3g} after Holm's adjustment for {comparisons}" if comparisons > 1 else ""
    said = files if by_files >= by_draws else draws
    return [f"all systems tie: {said} no p-value below {least:.3g}{after}"]


def least_p(n_files: int) -> float:
    """Return the smallest p-value that exchanging files can give.

    Of all 2^n exchanges none and all of them leave a difference as large as it is.
    """
    return 2.0 ** (1 - n_files)
