"""Compare several systems by one score: ranks, ties, differences; and the mean over runs of one system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.comparison.board import ALL_ALIKE, Agreement, Board, Difference, Discordance, Entry
from sedeval_soft.comparison.paired import Paired
from sedeval_soft.comparison.ranks import (
    alike,
    alike_groups,
    holm,
    kendall,
    least_p,
    letters,
    level_of,
    mcnemar,
    p_bootstrap,
    place_interval,
    places,
    stability,
)
from sedeval_soft.errors import SettingsError, counted
from sedeval_soft.evaluation.details import Spread
from sedeval_soft.evaluation.intervals import mean_of_runs, percentile
from sedeval_soft.evaluation.scores import Scores, finite
from sedeval_soft.evaluation.signature import sign_together
from sedeval_soft.measures.base import Measure
from sedeval_soft.measures.registry import ScoreName, measure_of
from sedeval_soft.measures.tally import Tally
from sedeval_soft.names import did_you_mean
from sedeval_soft.plan import Plan
from sedeval_soft.settings import PART_MEANS, Settings, split_name
from sedeval_soft.tables.filenames import listing
from sedeval_soft.timeline.recordings import detected, positive

RANK_BY = {True: "segment.soft.f1.macro", False: "segment.hard.f1.macro"}
"""The score that systems are ranked by if no other is named, by whether the reference has values."""

_COMPARED = ("f1.macro", "error_rate.micro", "kl_divergence.micro", "psds.overall", "pipsds.overall")
"""The scores of each basis and reading whose rankings are compared."""


def check_rank_by(name: str) -> Measure:
    """Return the measure that is to rank the systems; raises SettingsError if none can."""
    if not isinstance(name, str):
        raise SettingsError(f"rank_by must be the name of a score, such as {RANK_BY[True]}, not {name!r}")
    measure, parsed = measure_of(name), ScoreName.parse(name)
    if measure.direction == "none":
        raise SettingsError(f"rank_by={name}: neither high nor low values are better; expected another score")
    if parsed.part is not None and parsed.part not in PART_MEANS:
        raise SettingsError(f"rank_by={name}: systems are ranked by all files and classes; leave out the @")
    if parsed.reading == "optimal" and (parsed.part or "").startswith("files."):
        raise SettingsError(
            f"rank_by={name}: files have no best thresholds of their own, which resampling would need"
        )
    return measure


def check_baseline(baseline: str, names: Sequence[str]) -> None:
    """Raise SettingsError for a baseline that is none of the systems."""
    if baseline not in names:
        hint = did_you_mean(str(baseline), names)
        raise SettingsError(f"baseline must be one of {', '.join(names)}, not {baseline!r}{hint}")


_OF_ACTIVITY = frozenset(
    {
        *("precision", "recall", "f1", "fbeta", "sensitivity", "average_precision", "best_error_rate"),
        *("error_rate", "substitution_rate", "deletion_rate", "insertion_rate"),
    }
)
"""Measures that do not see segments in which neither side is active, nor classes that are nowhere."""


def rank_scores(
    systems: Sequence[Scores],
    paired: Paired | None,
    *,
    rank_by: str,
    baseline: str | None = None,
    tallies: Sequence[Tally] | None = None,
) -> Board:
    """Return the board of systems, each with its scores, from their resampled score.

    paired: None ranks by the score alone, without uncertainty. baseline: The system from which differences
    are taken; None for the best. tallies: Tallies of the systems, for comparison segment by segment; None
    for no discordances. Raises UnknownScoreError for a missing score, SettingsError for a baseline.
    """
    settings, names = systems[0].settings, [scores.system for scores in systems]
    lower = check_rank_by(rank_by).direction == "lower"
    if baseline is not None:
        check_baseline(baseline, names)
    ranked_by = [scores.score(rank_by) for scores in systems]
    values = np.array([score.value for score in ranked_by], dtype=np.float64)
    place = places(values, lower)
    # Equal systems keep the given order.
    order: list[int] = np.argsort(place, kind="stable").tolist()
    reference = order[0] if baseline is None else names.index(baseline)
    # With one file every replicate is that file, which shows no uncertainty.
    resampled = paired is not None and len(paired.files) > 1
    drawn = paired.bootstrap() if paired and resampled else np.full((1, len(systems)), np.nan)
    undrawn: list[Any] = [None] * len(systems)
    stable, best, worst = undrawn, undrawn, undrawn
    if resampled:
        drawn_places = places(drawn, lower)
        ends_of_place = place_interval(drawn_places, settings.confidence)
        stable, best, worst = (column.tolist() for column in (stability(drawn_places, place), *ends_of_place))

    def p_value(one: int, other: int) -> float:
        first, second = sorted((one, other))
        observed = float(values[first] - values[second])
        if paired is None or np.isnan(observed):
            # Without resampling, different scores count as different.
            return 1.0 if alike(values[first], values[second]) else float("nan")
        return paired.p(first, second, observed)

    def p_values(one: int, others: Sequence[int]) -> Floats:
        """Return the p-values that a system does not differ from others, NaN if either is undefined."""
        return np.array([p_value(one, other) for other in others], dtype=np.float64)

    # How each system but the reference differs from that; replicates are of the same files.
    groups = alike_groups(order, p_values, level_of(settings.confidence))
    others = [k for k in order if k != reference]
    equal = alike(values[others], values[reference])
    observed = np.where(equal, 0.0, values[others] - values[reference])
    replicates = drawn[:, others] - drawn[:, [reference]]
    ends = (np.where(np.isnan(observed), np.nan, end) for end in percentile(replicates, settings.confidence))
    exchanged = p_values(reference, others)
    table = observed, *ends, p_bootstrap(replicates, observed), exchanged, holm(exchanged)
    rows = zip(*(column.tolist() for column in table), strict=True)
    differences = {k: Difference(*map(finite, row)) for k, row in zip(others, rows, strict=True)}
    entries = [
        Entry(
            system=names[k],
            rank=next(of.start for of in groups if at in of) + 1,
            letters=letter if paired is not None else "",
            place=int(place[k]),
            value=ranked_by[k].value,
            low=ranked_by[k].low,
            high=ranked_by[k].high,
            difference=differences.get(k),
            stability=stable[k],
            best_place=best[k],
            worst_place=worst[k],
        )
        for at, (k, letter) in enumerate(zip(order, letters(groups), strict=True))
    ]
    signature, short = sign_together(systems, rank_by=rank_by, baseline=baseline)
    ranked = [systems[k] for k in order]
    warnings = _warnings(ranked, rank_by, None if paired is None else len(paired.files), settings)
    ranked = [
        replace(
            scores,
            warnings=(*scores.warnings, *warnings),
            signature=signature,
            short_signature=short,
        )
        for scores in ranked
    ]
    compared = {} if tallies is None else {names[k]: tallies[k] for k in order}
    return Board(
        systems=tuple(ranked),
        rank_by=rank_by,
        compared_to=names[reference],
        baseline=baseline,
        confidence=settings.confidence,
        replicates=settings.replicates,
        seed=settings.seed,
        entries=tuple(entries),
        discordances=_discordances(compared, names[reference], settings),
        agreement=_agreement(ranked, rank_by),
    )


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
    tau = kendall(values, lower).tolist()
    return Agreement(tuple(names), tuple(tuple(map(finite, row)) for row in tau))


def _discordances(
    tallies: Mapping[str, Tally], compared_to: str, settings: Settings
) -> tuple[Discordance, ...]:
    """Return McNemar's test of each system against another one in each class, hard reading of segments.

    tallies: by system. Returns an empty result if that reading is not evaluated.
    """
    if not Plan.of(settings).scores("segment", "hard") or len(tallies) < 2:
        return ()
    files = {file: i for i, file in enumerate(sorted({f for tally in tallies.values() for f in tally.files}))}
    wrong = {name: _wrong(tally, files, settings) for name, tally in tallies.items()}
    theirs = wrong.pop(compared_to)
    nothing = np.zeros(0, dtype=np.int64)
    rows = []
    for name, ours in wrong.items():
        for label in sorted({*ours, *theirs}):
            mine, yours = ours.get(label, nothing), theirs.get(label, nothing)
            both = len(np.intersect1d(mine, yours, assume_unique=True))
            rows.append((name, label, len(yours) - both, len(mine) - both))
    p = mcnemar([row[2] for row in rows], [row[3] for row in rows])
    return tuple(
        Discordance(*row, one, adjusted)
        for row, one, adjusted in zip(rows, p.tolist(), holm(p).tolist(), strict=True)
    )


def _wrong(tally: Tally, files: Mapping[str, int], settings: Settings) -> dict[str, Index]:
    """Return for each class the segments that a system has wrong, as numbers that all systems share.

    Systems may be evaluated to different ends of a file: after an end both sides are silent.
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


def _warnings(systems: Sequence[Scores], rank_by: str, n_files: int | None, settings: Settings) -> list[str]:
    """Return warnings about a board for its reader; systems: in the order of their ranks.

    n_files: of all together, None without resampling.
    """
    warnings = []
    name = ScoreName.parse(rank_by)
    measure = name.measure
    if (name.group or "").startswith("files.") and name.average != "micro":
        warnings.append(
            f"{rank_by}: a class counts only in files whose reference has it, so false alarms in other files "
            "cost nothing, and a system that detects everything everywhere may win; micro averages count them"
        )
    if settings.compat == "sed_eval" and measure not in _OF_ACTIVITY:
        # By its rules silence that one system adds, of other classes or at the end of a file, changes means.
        # By ours it does not: reference, settings and durations alone say what there is to be silent in.
        longer = any("longer" in warning for scores in systems for warning in scores.warnings)
        if len({scores.classes for scores in systems}) > 1 or longer:
            warnings.append(
                "by sed_eval's rules each system is scored over the classes and times that it names, so "
                f"{measure} cannot be compared: more silent classes, or later silence, make a mean better; "
                "--classes and --durations make classes and times the same for all"
            )
    undefined = [scores.system for scores in systems if scores[rank_by] is None]
    if undefined:
        warnings.append(f"{rank_by} is undefined for {listing(undefined, 'system')}; ranked last")
    # How many systems the first is compared to, which Holm's adjustment multiplies by.
    others = len(systems) - len(undefined) - 1
    if n_files is None or others < 1:
        return warnings
    by_files, by_draws = least_p(n_files), 1 / (settings.replicates + 1)
    least = max(by_files, by_draws)
    if others * least >= level_of(settings.confidence):
        few = f"exchanging {counted(n_files, 'file')} between two of them gives"
        if by_files < by_draws:
            verb = "gives" if settings.replicates == 1 else "give"
            few = f"{counted(settings.replicates, 'replicate')} {verb}"
        adjusted = f"{min(others * least, 1.0):.3g}"
        after = f" ({adjusted} after Holm's adjustment for {others} comparisons)" if others > 1 else ""
        warnings.append(f"{ALL_ALIKE}: {few} no p-value below {least:.3g}{after}")
    return warnings


def mean_scores(runs: Sequence[Scores], name: str) -> Scores:
    """Return the mean of each score over runs, with the interval of it, within the range of the score.

    A score that is undefined in a run, or that a run does not have, has no mean; folds differ in means. The
    worst files, classes and segments, confusions and curves are of single runs. Source: Harju & Mesaros 2023,
    table 2. runs: two or more.
    """
    first = runs[0]
    names = [key for key in first.scores if all(key in run.scores for run in runs)]
    values = np.array([[run[key] for key in names] for run in runs], dtype=np.float64)
    columns = (column.tolist() for column in mean_of_runs(values, first.settings.confidence))
    scores = {
        key: first.scores[key]._replace(value=finite(mean)).with_interval(low, high)
        for key, mean, low, high in zip(names, *columns, strict=True)
    }
    folds = first.folds
    if folds is not None:
        # Folds that a run lacks are left out.
        split = {each.name: split_name(each.name) for each in folds.spreads}
        names_of = {
            name: ["@".join(filter(None, (head, fold, text))) for fold in folds.names]
            for name, (head, text) in split.items()
        }
        spreads = tuple(
            Spread.of(name, [scores[each].value for each in in_folds])
            for name, in_folds in names_of.items()
            if {name, *in_folds} <= scores.keys()
        )
        folds = replace(folds, spreads=spreads)
    inputs = {(item.role, item.name): item for run in runs for item in run.inputs}
    warnings = dict.fromkeys(warning for run in runs for warning in run.warnings)
    signature, short = sign_together(runs, runs=len(runs), confidence=first.settings.confidence)
    return replace(
        first,
        scores=scores,
        system=name,
        runs=tuple(run.system for run in runs),
        inputs=tuple(inputs.values()),
        warnings=tuple(warnings),
        signature=signature,
        short_signature=short,
        confusion=(),
        folds=folds,
        worst=None,
        chance=None,
        make_curves=None,
        counts=None,
    )
