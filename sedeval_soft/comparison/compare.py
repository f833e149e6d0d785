"""Compare several systems by one score: ranks, ties, differences; and the mean over runs of one system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.comparison.board import Agreement, Board, Difference, Discordance, Entry
from sedeval_soft.comparison.paired import Paired
from sedeval_soft.comparison.ranks import (
    holm,
    kendall,
    least_p,
    mcnemar,
    p_bootstrap,
    place_interval,
    places,
    stability,
    tie_groups,
)
from sedeval_soft.errors import EvaluationError, SettingsError, counted
from sedeval_soft.evaluation.details import Folds, Spread
from sedeval_soft.evaluation.intervals import mean_of_runs, percentile
from sedeval_soft.evaluation.resample import Progress
from sedeval_soft.evaluation.score import plain, sign_together
from sedeval_soft.evaluation.scores import Score, Scores
from sedeval_soft.measures.base import Measure
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.measures.tally import Tally
from sedeval_soft.names import did_you_mean
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.filenames import listing
from sedeval_soft.timeline.recordings import detected, positive

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
    paired = Paired.of_tallies(tallies, rank_by, settings)
    board = rank_scores(systems, paired, rank_by=rank_by, baseline=baseline, progress=progress)
    tally_of = {scores.system: tally for scores, tally in zip(systems, tallies, strict=True)}
    ranked = {entry.system: tally_of[entry.system] for entry in board.entries}
    return replace(board, discordances=_discordances(ranked, board.compared_to, settings))


def rank_scores(
    systems: Sequence[Scores],
    paired: Paired | None,
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
    ranked_by = [scores.score(rank_by) for scores in systems]
    values = np.array([score.value for score in ranked_by], dtype=np.float64)
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
    rank, tied = _ranks(order, tests, _level(settings))
    differences = _differences(order, reference, tests, drawn, settings.confidence)
    stable = _stable(places(drawn, np.full(len(drawn), lower)), place, settings.confidence)
    entries = tuple(
        Entry(
            *(
                names[k],
                rank[k],
                tied[k],
                int(place[k]),
                ranked_by[k].value,
                ranked_by[k].low,
                ranked_by[k].high,
            ),
            *(differences.get(k), *(stable[k] if resampled else (None, None, None))),
        )
        for k in order
    )
    n_files = None if paired is None else paired.n_files
    notes = _warnings([systems[k] for k in order], rank_by, n_files, settings)
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

    def __init__(self, paired: Paired | None, values: Floats, progress: Progress | None) -> None:
        self._paired, self.values, self._progress = paired, values, progress
        self._p: dict[tuple[int, int], float] = {}

    def p(self, first: int, second: int) -> float:
        """Return the p-value that two systems do not differ, NaN where either is undefined."""
        pair = min(first, second), max(first, second)
        if pair not in self._p:
            observed = float(self.values[pair[0]] - self.values[pair[1]])
            if np.isnan(observed):
                self._p[pair] = float("nan")
            elif self._paired is None:
                # What differs is taken to.
                self._p[pair] = float("nan") if observed else 1.0
            else:
                self._p[pair] = self._paired.p(*pair, observed, self._progress)
        return self._p[pair]


def _ranks(order: Sequence[int], tests: _Tests, alpha: float) -> tuple[dict[int, int], dict[int, bool]]:
    """Return the rank of each system, which tied ones share, and whether it is tied."""
    below: dict[int, dict[int, float]] = {}

    def separated(leader: int, other: int) -> bool:
        if leader not in below:
            others = order[order.index(leader) + 1 :]
            adjusted = holm(np.array([tests.p(leader, each) for each in others]))
            below[leader] = dict(zip(others, adjusted.tolist(), strict=True))
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
    main = [
        name
        for name, score in systems[0].scores.items()
        if score.group is None and score.average and f"{score.measure}.{score.average}" in _COMPARED
    ]
    names = [name for name in dict.fromkeys((rank_by, *main)) if all(name in scores for scores in systems)]
    lower = np.array([measure_of(name).direction == "lower" for name in names])
    values = np.array([[scores[name] for name in names] for scores in systems], dtype=np.float64)
    tau = kendall(values, lower)
    return Agreement(tuple(names), tuple(tuple(plain(float(t)) for t in row) for row in tau))


def _discordances(
    tallies: Mapping[str, Tally], compared_to: str, settings: Settings
) -> tuple[Discordance, ...]:
    """Return McNemar's test of each system against another one in each class, hard reading of segments.

    tallies: by system. Nothing where that reading is not evaluated.
    """
    if not Plan.of(settings).scores("segment", "hard") or len(tallies) < 2:
        return ()
    files = sorted({file for tally in tallies.values() for file in tally.files})
    place = {file: i for i, file in enumerate(files)}
    wrong = {name: _wrong(tally, place, settings) for name, tally in tallies.items()}
    theirs = wrong.pop(compared_to)
    nothing = np.zeros(0, dtype=np.int64)
    rows = []
    for name, ours in wrong.items():
        for label in sorted({*ours, *theirs}):
            mine, yours = ours.get(label, nothing), theirs.get(label, nothing)
            both = len(np.intersect1d(mine, yours, assume_unique=True))
            rows.append((name, label, len(yours) - both, len(mine) - both))
    counts = np.array([row[2:] for row in rows], dtype=np.int64).reshape(-1, 2)
    p = mcnemar(counts[:, 0], counts[:, 1])
    return tuple(
        Discordance(*row, float(raw), float(adjusted))
        for row, raw, adjusted in zip(rows, p, holm(p), strict=True)
    )


def _wrong(tally: Tally, files: dict[str, int], settings: Settings) -> dict[str, Index]:
    """Return for each class the segments that a system has wrong, as numbers that all systems share.

    Systems may be evaluated to different ends of a file: beyond one's end both sides are silent.
    """
    lengths = tally.per_file["n_segments"]
    start = np.repeat(np.cumsum(lengths) - lengths, lengths)
    code = np.repeat(np.array([files[file] for file in tally.files], dtype=np.int64), lengths)
    number = (np.arange(len(start)) - start) * len(files) + code
    reference, system = tally.samples["segment.reference"], tally.samples["segment.system"]
    return {
        label: number[positive(reference[c], settings) != detected(system[c], settings)]
        for c, label in enumerate(tally.classes)
    }


_OF_ACTIVITY = frozenset(
    {
        *("precision", "recall", "f1", "fbeta", "sensitivity", "average_precision", "best_error_rate"),
        *("error_rate", "substitution_rate", "deletion_rate", "insertion_rate"),
    }
)
"""Measures that do not see segments in which neither side is active, nor classes that are nowhere."""


def _level(settings: Settings) -> float:
    """Return the p-value below which systems are told apart; of 1 - 0.95 only the first digits are meant."""
    return round(1 - settings.confidence, 12)


def _warnings(systems: Sequence[Scores], rank_by: str, n_files: int | None, settings: Settings) -> list[str]:
    """Return what a reader must know before trusting a board; systems: in the order of their places.

    n_files: of all together, None where nothing is resampled.
    """
    warnings = []
    measure = ScoreName.parse(rank_by).measure
    if settings.compat == "sed_eval" and measure not in _OF_ACTIVITY:
        # By its rules silence that one system adds, of other classes or at the end of a file, changes means.
        # By ours it does not: reference, settings and durations alone say what there is to be silent in.
        longer = any("longer" in warning for scores in systems for warning in scores.warnings)
        if len({scores.classes for scores in systems}) > 1 or longer:
            warnings.append(
                f"by sed_eval's rules systems are scored over what they name, so {measure} is of unlike "
                "things: silence of more classes, or later, betters means; --classes and --durations give "
                "those of all"
            )
    missing = [scores.system for scores in systems if scores[rank_by] is None]
    if missing:
        warnings.append(f"{rank_by} is undefined for {listing(missing, 'system')}; ranked last")
    if n_files is not None:
        others = len(systems) - len(missing) - 1
        warnings += _too_few(n_files, settings.replicates, others, _level(settings))
    return warnings


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


def mean_scores(runs: Sequence[Scores], name: str) -> Scores:
    """Return the mean of each score over runs, with the jackknife's interval of it.

    A score that is undefined in a run, or that a run does not have, has no mean; folds differ in means. What
    costs most, confusions and curves are of single runs. Source: Harju & Mesaros 2023, table 2. Raises
    EvaluationError for fewer than two runs.
    """
    if len(runs) < 2:
        raise EvaluationError(f"a mean over runs needs two or more of them; there is {len(runs)}")
    first = runs[0]
    names = [key for key in first.scores if all(key in run.scores for run in runs)]
    values = np.array([[run[key] for key in names] for run in runs], dtype=np.float64)
    columns = (column.tolist() for column in mean_of_runs(values, first.settings.confidence))
    scores = {
        key: replace(first.scores[key], value=plain(mean), low=plain(low), high=plain(high))
        for key, mean, low, high in zip(names, *columns, strict=True)
    }
    inputs = {(item.role, item.name): item for run in runs for item in run.inputs}
    warnings = dict.fromkeys(warning for run in runs for warning in run.warnings)
    return replace(
        first,
        scores=scores,
        system=name,
        runs=tuple(run.system for run in runs),
        inputs=tuple(inputs.values()),
        warnings=tuple(warnings),
        signature=sign_together(
            [(run.signature, run.inputs) for run in runs],
            runs=len(runs),
            confidence=first.settings.confidence,
        ),
        confusion=(),
        folds=None if first.folds is None else _folds(first.folds, scores),
        worst=None,
        chance=None,
        make_curves=None,
    )


def _folds(folds: Folds, means: Mapping[str, Score]) -> Folds:
    """Return how means differ between folds; those that a run does not have are left out."""
    spreads = []
    for spread in folds.spreads:
        names = [f"{spread.name}@{fold}" for fold in folds.names]
        if all(name in means for name in (spread.name, *names)):
            spreads.append(Spread.of(spread.name, [means[name].value for name in names]))
    return replace(folds, spreads=tuple(spreads))
