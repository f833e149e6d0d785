"""A board from the shards of several systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sedeval_soft.board.discordance import discordances
from sedeval_soft.board.doubts import doubts, level
from sedeval_soft.board.paired import Paired
from sedeval_soft.core.board import Agreement, Board, Difference, Entry
from sedeval_soft.core.signature import sign_together
from sedeval_soft.core.tally import Tally
from sedeval_soft.core.value import Scores
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.intervals import percentile
from sedeval_soft.evaluation.resample import Progress
from sedeval_soft.evaluation.score import plain
from sedeval_soft.measures.base import Measure
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.names import did_you_mean
from sedeval_soft.resample.ranks import kendall, place_interval, places, stability, tie_groups
from sedeval_soft.resample.tests import holm, p_bootstrap

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

RANK_BY = "segment.soft.f1.macro"
"""The score that systems are ranked by where nothing else is said."""

_COMPARED = ("f1.macro", "error_rate.micro", "kl_divergence.micro", "psds.overall", "pipsds.overall")
"""The scores of each basis and reading whose rankings are compared."""


def check_rank_by(name: str) -> Measure:
    """Return the measure that systems are to be ranked by; raises SettingsError where none can be."""
    if not isinstance(name, str):
        raise SettingsError(f"rank_by must be the name of a score, such as {RANK_BY}, not {name!r}")
    measure, parsed = measure_of(name), ScoreName.parse(name)
    if measure.direction == "none":
        raise SettingsError(f"rank_by={name}: neither high nor low values are better; expected another score")
    if parsed.group is not None:
        raise SettingsError(f"rank_by={name}: systems are ranked by all files and classes; leave out the @")
    return measure


def check_baseline(baseline: str, names: Sequence[str]) -> None:
    """Raise SettingsError for a baseline that is none of the systems."""
    if baseline not in names:
        said = f"baseline must be one of {', '.join(names)}, not {baseline!r}"
        raise SettingsError(said + did_you_mean(str(baseline), names))


class Resampled(Protocol):
    """One score of several systems, resampled by the same files; see `Paired`."""

    @property
    def n_files(self) -> int:
        """The files of all systems together."""

    def bootstrap(self, progress: Progress | None = None) -> Floats:
        """Return the score of each system in replicates, (n_replicates, n_systems)."""

    def p(self, first: int, second: int, observed: float, progress: Progress | None = None) -> float:
        """Return the p-value that two systems, which are observed to differ so much, do not differ."""


def compare_scores(
    systems: Sequence[Scores],
    tallies: Sequence[Tally],
    *,
    rank_by: str = RANK_BY,
    baseline: str | None = None,
    progress: Progress | None = None,
) -> Board:
    """Return the board of systems, each with its scores and its tally.

    baseline: the system from which differences are taken; None for the best.
    Raises UnknownScoreError for a score that is not there, SettingsError for a baseline.
    """
    settings = systems[0].settings
    check_rank_by(rank_by)
    if baseline is not None:
        check_baseline(baseline, [scores.system for scores in systems])
    for scores in systems:
        scores.score(rank_by)  # of one that is not there nothing was counted, either
    paired = Paired.of(tallies, rank_by, settings)
    board = rank_scores(systems, paired, rank_by=rank_by, baseline=baseline, progress=progress)
    tally_of = {scores.system: tally for scores, tally in zip(systems, tallies, strict=True)}
    names = [entry.system for entry in board.entries]
    found = discordances(names, [tally_of[name] for name in names], board.compared_to, settings)
    return replace(board, discordances=found)


def rank_scores(
    systems: Sequence[Scores],
    paired: Resampled | None,
    *,
    rank_by: str = RANK_BY,
    baseline: str | None = None,
    progress: Progress | None = None,
) -> Board:
    """Return the board of systems, each with its scores, from their resampled score; no discordances.

    paired: None ranks by the score alone: nothing is said of how sure that is. Arguments and errors otherwise
    as for `compare_scores`.
    """
    settings = systems[0].settings
    lower = check_rank_by(rank_by).direction == "lower"
    names = [scores.system for scores in systems]
    if baseline is not None:
        check_baseline(baseline, names)
    own = [scores.score(rank_by) for scores in systems]
    values = np.array([np.nan if score.value is None else score.value for score in own], dtype=np.float64)
    # Of one file every replicate is that file: that says nothing of how sure anything is.
    resampled = paired is not None and paired.n_files > 1
    drawn = np.full((1, len(systems)), np.nan)
    if paired is not None and resampled:
        drawn = paired.bootstrap(progress)
    place = places(values, lower)
    # Of equal ones the first given stands first.
    order = np.argsort(place, kind="stable").tolist()
    reference = order[0] if baseline is None else names.index(baseline)
    tests = _Tests(paired, values, progress)
    rank, tied = _ranks(order, tests, level(settings))
    differences = _differences(order, reference, tests, drawn, settings.confidence)
    stable = _stable(places(drawn, np.full(len(drawn), lower)), place, settings.confidence)
    entries = tuple(
        Entry(
            *(names[k], rank[k], tied[k], int(place[k]), own[k].value, own[k].low, own[k].high),
            *(differences.get(k), *(stable[k] if resampled else (None, None, None))),
        )
        for k in order
    )
    n_files = None if paired is None else paired.n_files
    notes = doubts([systems[k] for k in order], rank_by, n_files, settings)
    signed = [(scores.signature, scores.inputs) for scores in systems]
    signature = sign_together(signed, rank_by=rank_by, baseline=baseline)
    ranked = [
        replace(systems[k], warnings=(*systems[k].warnings, *notes), signature=signature) for k in order
    ]
    return Board(
        systems=tuple(ranked),
        rank_by=rank_by,
        compared_to=names[reference],
        baseline=baseline,
        confidence=settings.confidence,
        replicates=settings.replicates,
        seed=settings.seed,
        entries=entries,
        discordances=(),
        agreement=_agreement(ranked, rank_by),
    )


def _stable(drawn: Index, place: Index, confidence: float) -> list[tuple[float, int, int]]:
    """Return how often each system holds its place, and from where to where it gets.

    drawn: (n_replicates, n_systems) the places in replicates.
    """
    columns = (stability(drawn, place), *place_interval(drawn, confidence))
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _differences(
    order: Sequence[int], reference: int, tests: _Tests, drawn: Floats, confidence: float
) -> dict[int, Difference]:
    """Return how each system but the reference differs from that.

    drawn: (n_replicates, n_systems) the scores of all on the same files.
    """
    others = [k for k in order if k != reference]
    observed = tests.values[others] - tests.values[reference]
    of = drawn[:, others] - drawn[:, [reference]]
    ends = (np.where(np.isnan(observed), np.nan, end) for end in percentile(of, confidence))
    p = [tests.p(reference, k) for k in others]
    columns = (observed, *ends, p_bootstrap(of, observed), np.array(p), holm(np.array(p)))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {k: Difference(*map(plain, row)) for k, row in zip(others, rows, strict=True)}


class _Tests:
    """Tests of pairs of systems, each done once, when it is first asked for."""

    def __init__(self, paired: Resampled | None, values: Floats, progress: Progress | None) -> None:
        self.values = values

        @cache
        def p(first: int, second: int) -> float:
            observed = values[first] - values[second]
            if np.isnan(observed):
                return float("nan")
            if paired is None:
                # What differs is taken to.
                return float("nan") if observed else 1.0
            return paired.p(first, second, float(observed), progress)

        self._p: Callable[[int, int], float] = p

    def p(self, first: int, second: int) -> float:
        """Return the p-value that two systems do not differ, NaN where either is undefined."""
        return self._p(min(first, second), max(first, second))

    def adjusted(self, first: int, others: Sequence[int]) -> dict[int, float]:
        """Return the p-values of one system against others, after Holm."""
        found = holm(np.array([self.p(first, other) for other in others]))
        return dict(zip(others, found.tolist(), strict=True))


def _ranks(order: Sequence[int], tests: _Tests, alpha: float) -> tuple[dict[int, int], dict[int, bool]]:
    """Return the rank of each system, which tied ones share, and whether it is tied."""
    below: dict[int, Mapping[int, float]] = {}

    def separated(leader: int, other: int) -> bool:
        if leader not in below:
            below[leader] = tests.adjusted(leader, order[order.index(leader) + 1 :])
        p = below[leader][other]
        # Nothing ties with what is undefined.
        return bool(np.isnan(p) or p < alpha)

    rank: dict[int, int] = {}
    tied: dict[int, bool] = {}
    first = 1
    for group in tie_groups(order, separated):
        rank |= dict.fromkeys(group, first)
        tied |= dict.fromkeys(group, len(group) > 1)
        first += len(group)
    return rank, tied


def _agreement(systems: Sequence[Scores], rank_by: str) -> Agreement:
    """Return how alike the main scores rank the systems, that by which they are ranked first."""
    found = [rank_by]
    for name, score in systems[0].scores.items():
        kind = f"{score.measure}.{score.average}"
        if score.group is None and score.average is not None and kind in _COMPARED and name != rank_by:
            found.append(name)
    found = [name for name in found if all(name in scores for scores in systems)]
    lower = np.array([measure_of(name).direction == "lower" for name in found])
    values = np.array(
        [[np.nan if scores[name] is None else scores[name] for name in found] for scores in systems],
        dtype=np.float64,
    )
    tau = kendall(values, lower)
    return Agreement(tuple(found), tuple(tuple(plain(float(t)) for t in row) for row in tau))
