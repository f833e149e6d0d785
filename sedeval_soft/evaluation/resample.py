"""Scores of resampled files, and the intervals of scores computed from them.

Replicates are weights of files, (n_replicates, n_files): how often each counts. Data of the files are counted
and sorted once; the scores of many replicates follow from one product of matrices. Beside them are the scores
of single files, and means over files and other parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from operator import itemgetter
from typing import TYPE_CHECKING, Self

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index
from sedeval_soft.errors import EvaluationError, SettingsError, counted
from sedeval_soft.evaluation.intervals import ENOUGH, NOMINAL, files_of, held, interval
from sedeval_soft.evaluation.optimal import candidates_of, fixed_of_weights, optimal_of_weights, with_fixed
from sedeval_soft.evaluation.ordered import ordered_tables
from sedeval_soft.evaluation.scores import Score, counted_tables, finite, joined, named
from sedeval_soft.measures.base import Tables, WeightedTables, mean_of
from sedeval_soft.measures.detection import detection_scores, totals
from sedeval_soft.measures.registry import FAMILIES, MEASURES, ScoreName
from sedeval_soft.measures.tally import Tally, blocks
from sedeval_soft.memory import check_room
from sedeval_soft.plan import THRESHOLDED, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import to_seconds

if TYPE_CHECKING:
    import pandas as pd

_AT_ONCE = 1 << 22
"""Scores of parts in replicates that are in memory at a time."""

Scorer = Callable[[Floats, Sequence[ScoreName]], Floats]
"""Returns scores of weighted files, (n_keys, n_weights), NaN if undefined.

Its arguments are weights, (n_weights, n_files), and keys: `Replicates.values`, or a mean over parts of files.
"""

Progress = Callable[[int, int], None]
"""Called with the number of finished items and their total: replicates, or the submissions of a board."""

_WEIGHTS, _MOST_ROWS = 1 << 21, 1 << 10
"""Weights, and replicates, in a block: memory does not grow with the number of replicates."""

_IN_TABLES = 1 << 23
"""Scores, and columns of classes, of replicates that are in memory at a time."""

NOT_SMOOTH = frozenset(
    {
        *("threshold", "best_error_rate", "best_error_rate_threshold", "equal_error_rate", "fnr_at_fpr"),
        *("fpr_at_fnr", "maximum_calibration_error", "label_wise_precision_minimum"),
    }
)
"""Measures that pick one threshold, bin or class: leaving out a file moves them by jumps or not at all, from
which the jackknife learns nothing (Efron & Tibshirani 1993, section 11.6)."""

# Number of times that each file counts. A row depends on the seed and its number alone.


def bootstrap(n_files: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield rows in which as many files as there are were drawn with replacement. Source: Efron 1979."""
    rng = np.random.default_rng(seed)
    for begin, end in _blocks(n_files, replicates):
        rows = end - begin
        drawn = rng.integers(n_files, size=(rows, n_files)) + n_files * np.arange(rows)[:, None]
        counts = np.bincount(drawn.reshape(-1), minlength=rows * n_files)
        yield counts.reshape(rows, n_files).astype(np.float64)


def leave_one_out(n_files: int) -> Iterator[Floats]:
    """Yield rows in each of which one file is left out, in the order of files. Source: Quenouille 1956."""
    return (1.0 - np.eye(end - begin, n_files, begin) for begin, end in _blocks(n_files, n_files))


def exchanges(n_files: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield rows of 0 and 1: which files' outputs two systems exchange. Source: Noreen 1989.

    An exchange and its complement give the same difference with the other sign: so there are 2^(n - 1). If
    `replicates` reach to these, all are yielded but the one that exchanges nothing, which every p-value
    counts; else as many as `replicates` are drawn.
    """
    if all_exchanges(n_files) <= replicates:
        numbers = 1 + np.arange(all_exchanges(n_files) - 1)
        for begin, end in _blocks(n_files, len(numbers)):
            yield (numbers[begin:end, None] >> np.arange(n_files) & 1).astype(np.float64)
        return
    rng = np.random.default_rng(seed)
    for begin, end in _blocks(n_files, replicates):
        yield rng.integers(2, size=(end - begin, n_files)).astype(np.float64)


def all_exchanges(n_files: int) -> int:
    """Return the number of exchanges of files that may differ in the size of the difference."""
    return 1 << max(n_files - 1, 0)


def _blocks(n_files: int, rows: int) -> Iterator[tuple[int, int]]:
    most = max(1, min(_MOST_ROWS, _WEIGHTS // max(n_files, 1)))
    return ((begin, min(begin + most, rows)) for begin in range(0, rows, most))


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the stream of random numbers of a seed and some names.

    It depends on names, not on the order in which things come: a `numpy.random.Generator` over Philox, whose
    key is the first 128 bits of the SHA-256 of seed and names. So another order of files or classes, or more
    of them, draws the same numbers for those that were there.
    """
    # Lengths go first: ("a", "b") and ("ab", "") are two streams.
    parts = [str(seed), *names]
    text = " ".join(map(str, map(len, parts))) + " " + "".join(parts)
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


@dataclass(frozen=True, slots=True)
class Replicates:
    """Function of weights that returns the scores of weighted files.

    tally: of the files. families: functions for the tables of some families of scores. fixed: the tables of
    all files whose thresholds are kept, by basis and reading.
    """

    tally: Tally
    settings: Settings
    families: Sequence[WeightedTables]
    fixed: Tables

    @classmethod
    def of(cls, tally: Tally, settings: Settings, fixed: Tables | None = None) -> Self:
        """Prepare the scores that the settings ask for.

        fixed: the tables of optimal readings at whose thresholds the tally is counted already.
        """
        plan, families, candidates = Plan.of(settings), list[WeightedTables](), {}
        owner = np.arange(len(tally.files))
        if not settings.fixed_thresholds:
            candidates = {
                basis: candidates_of(tally, basis, settings, owner) for basis, _ in plan.thresholded
            }
            families += [
                optimal_of_weights(tally, basis, classes, settings) for basis, classes in candidates.items()
            ]
        elif fixed is None:
            tally, fixed = with_fixed(tally, settings)
        families.append(
            lambda weights: counted_tables(tally.mixtures(lambda column: weights @ column), settings)
        )
        if fixed:
            families.append(partial(fixed_of_weights, tally, settings, fixed))
        families += ordered_tables(tally, settings, owner, candidates.get("intersection"))
        return cls(tally, settings, families, fixed or {})

    def values(self, weights: Floats, keys: Sequence[ScoreName]) -> Floats:
        """Return scores of each weights, (n_keys, n_weights), NaN if undefined.

        weights: (n_weights, n_files) how often each file counts, whole numbers.
        """
        place, values = {key: row for row, key in enumerate(keys)}, np.full((len(keys), len(weights)), np.nan)
        # Tables have all scores and their statistics, of all classes.
        step = max(1, _IN_TABLES // (1 + len(self.tally.per_class) * len(self.tally.classes)))
        for begin in range(0, len(weights), step):
            some = slice(begin, begin + step)
            tables = joined(*(family(weights[some]) for family in self.families))
            for key, value in named(tables, self.tally.classes, self.settings.means):
                if key in place and value is not None:
                    values[place[key], some] = value
        return values


def replicate(
    scorer: Scorer,
    rows: Iterator[Floats],
    keys: Sequence[ScoreName],
    total: int,
    progress: Progress | None = None,
) -> Floats:
    """Return the scores of all rows of weights, (n_keys, total), NaN if undefined; total: number of rows.

    Single classes have no score in a replicate without their reference, as macro averages leave them out
    there. Otherwise faint false alarms of a rare class would make its soft F 0 in replicates of other files,
    while its hard F is undefined.
    """
    check_room(
        8.0 * len(keys) * total,
        f"to keep {counted(len(keys), 'score')} of {counted(total, 'replicate')}",
        "Expected fewer --replicates, or fewer readings and measures (--only, --measures)",
    )
    values, done = np.empty((len(keys), total)), 0
    of_class = [row for row, key in enumerate(keys) if key.class_name and MEASURES[key[:3]][1].has("macro")]
    asked = list(dict.fromkeys((*keys, *(size_of(keys[row]) for row in of_class))))
    place = {key: row for row, key in enumerate(asked)}
    sizes = [place[size_of(keys[row])] for row in of_class]
    # Each block costs a call for every family of scores, so a block has more replicates than elsewhere.
    for block in (whole[some] for whole in rows for some in blocks(len(whole), len(keys) // 4)):
        columns = scorer(block, asked)
        columns[of_class] = np.where(columns[sizes] == 0, np.nan, columns[of_class])
        values[:, done : done + len(block)] = np.where(np.isneginf(columns), np.nan, columns)[: len(keys)]
        done += len(block)
        if progress is not None:
            progress(done, total)
    return values


def with_intervals(
    scores: dict[str, Score],
    tally: Tally,
    settings: Settings,
    progress: Progress | None = None,
    make: Callable[[Settings], Scorer] | None = None,
) -> dict[str, Score]:
    """Return the scores of a tally with the requested intervals.

    scores: by name, all of the tally. make: returns the scorer of weighted files for some settings; None for
    `Replicates` of the tally. A score has no interval if it is undefined, if it is undefined in too many
    replicates, or if the method is not valid for it. With fewer than two files no score has an interval.
    """
    n_files, method, skips = len(tally.files), settings.ci, skips_optimal(settings)
    without = THRESHOLDED if skips else ()
    jumping = NOT_SMOOTH if method == "jackknife" else frozenset()
    chosen = [s for s in scores.values() if s.measure not in jumping and (s.basis, s.reading) not in without]
    if method is None or n_files < 2 or not chosen:
        return scores
    if skips:
        others = (family for family in Plan.of(settings).families if family not in without)
        settings = replace(settings, only=tuple(map(".".join, others)) or settings.only)
    keys = [key_of(score) for score in chosen]
    point = np.array([np.nan if s.value is None else s.value for s in chosen], dtype=np.float64)
    scorer = Replicates.of(tally, settings).values if make is None else make(settings)
    n_left = 0 if method == "bootstrap" else n_files
    n_drawn = 0 if method == "jackknife" else settings.replicates
    left_out = replicate(scorer, leave_one_out(n_left), keys, n_left, progress)
    drawn = replicate(scorer, bootstrap(n_files, n_drawn, settings.seed), keys, n_drawn, progress)
    ends = [
        interval(method, point[some], drawn[some].T, left_out[some].T, settings.confidence)
        for some in blocks(len(keys), n_left + n_drawn)
    ]
    low, high = np.where(np.isnan(point), np.nan, np.concatenate(ends, axis=1)).tolist()
    return scores | {
        score.name: score.with_interval(one, other)
        for score, one, other in zip(chosen, low, high, strict=True)
    }


def skips_optimal(settings: Settings) -> bool:
    """Return whether the requested intervals are not valid for optimal readings."""
    return (
        settings.ci == "jackknife" and bool(Plan.of(settings).thresholded) and not settings.fixed_thresholds
    )


def refuse_jackknife(settings: Settings, names: Sequence[str]) -> None:
    """Raise SettingsError if intervals of optimal scores are not valid, for some names or for all scores."""
    if not skips_optimal(settings):
        return
    optimal = [name for name in names if ScoreName.parse(name).reading == "optimal"]
    if optimal or all(part.endswith(".optimal") for part in settings.only):
        raise SettingsError(
            f"ci=jackknife is not valid for {', '.join(optimal) or 'optimal readings'}: best thresholds are "
            "not smooth in the files; use --ci bootstrap, or --set fixed_thresholds=true"
        )


ROUGH = "intervals are rough"
"""Beginning of warnings about intervals with a lower coverage than their nominal one."""


def interval_notes(tally: Tally, settings: Settings, main: str | None) -> list[str]:
    """Return warnings about the intervals of a tally. main: the score that is reported."""
    if settings.ci is None:
        return []
    n_files = len(tally.files)
    if n_files < 2:
        return [f"no intervals: found {counted(n_files, 'file')}, and resampling needs two or more"]
    notes = _rough(n_files, settings.ci, settings, main) if main else []
    needed = math.ceil(round(2 / (1 - settings.confidence), 6))
    if settings.ci != "jackknife" and settings.replicates < needed:
        # Their ends would be the lowest and the highest of all replicates.
        notes.append(
            f"{ROUGH}: a confidence of {settings.confidence:g} needs {needed} replicates or "
            f"more, found {settings.replicates}"
        )
    if settings.ci != "jackknife":
        notes += _without_reference(tally)
    if skips_optimal(settings):
        notes.append(
            "no intervals for optimal readings: best thresholds are not smooth in the files, so the "
            "jackknife is not valid for them; --ci bootstrap is, and with --set fixed_thresholds=true "
            "both are"
        )
    return notes


_FEW, _NAMED = 0.01, 3
"""Share of replicates from which a warning names classes that they lack; number of classes named."""


def _without_reference(tally: Tally) -> list[str]:
    """Return in words which classes lack a reference in how many replicates of the files."""
    n_files, sizes = len(tally.files), [of for name, of in tally.per_class.items() if name.endswith(".n_ref")]
    if not sizes:
        return []
    n_with = np.count_nonzero(np.any([size > 0 for size in sizes], axis=0), axis=0)
    # All files that a replicate draws are among the others.
    shares = {
        label: (1 - n / n_files) ** n_files for label, n in zip(tally.classes, n_with, strict=True) if n
    }
    rare = sorted((label for label, share in shares.items() if share >= _FEW), key=lambda c: -shares[c])
    if not rare:
        return []
    told = ", ".join(f"{label} (about {100 * shares[label]:.0f} %)" for label in rare[:_NAMED])
    more = f" and {counted(len(rare) - _NAMED, 'other class')}" if len(rare) > _NAMED else ""
    return [f"intervals of single classes leave out the replicates without their reference: {told}{more}"]


def _rough(n_files: int, method: str, settings: Settings, main: str) -> list[str]:
    """Return in words the coverage of intervals of the reported score, if it is too low."""
    basis, reading, *_ = ScoreName.parse(main)
    anew = () if settings.fixed_thresholds else THRESHOLDED
    kind = "optimal" if (basis, reading) in anew else "soft" if reading == "soft" else "hard"
    share, measured = held(method, kind, n_files), files_of(n_files)
    if not share or (share >= ENOUGH and n_files >= measured):
        return []
    text = (
        f"{ROUGH}: they come from resampling {n_files} files; in simulations with {measured} files, "
        f"{100 * NOMINAL:.0f} % intervals held the true score in {100 * share:.0f} % ({kind})"
    )
    better = held("expanded", kind, n_files) or 0.0
    return [f"{text}; --ci expanded: in {100 * better:.0f} %" if better > share else text]


# Means of scores over files, scenes and groups: `segment.hard.f1.micro@scenes.harmonic`.
#
# Each part is scored separately, and the rules of averages over classes apply to its scores:
#
# - A part without reference (of a class, for the score of a class) is left out, whatever its value.
# - A value left undefined by the system's output counts as the worst; a value left undefined by the reference
#   is left out.
# - A 0 makes harmonic and geometric means 0.
#
# Scenes are the scenes of the settings and of `by` together. Single classes have means over scenes only.


def check_means(settings: Settings, *, scenes: bool) -> None:
    """Raise EvaluationError for means over scenes without scenes."""
    asked = [mean for mean in settings.means if mean.startswith("scenes.")]
    if asked and not scenes:
        raise EvaluationError(
            f"{asked[0]} is a mean over scenes, and there are none: --by (`by`) or `scenes` of the settings "
            "says which files are of which"
        )


def means_of(
    counts: Tally,
    settings: Settings,
    scores: Mapping[str, Score],
    parts: Mapping[str, Mapping[str, tuple[Tally, Index]]],
    in_parts: Mapping[str | None, tuple[Tables, tuple[str, ...]]],
    progress: Progress | None,
    tally: Tally,
) -> dict[str, Score]:
    """Return the means over files, scenes and groups that the settings request, with their intervals.

    counts: of each file, also at best thresholds. scores: of the whole. parts: by `scenes` and `groups`, the
    tally of each of these, and the positions of its files among all. in_parts: the tables of scenes and
    groups, and the classes of each. Every replicate uses the best thresholds of all files: so means over
    files have no intervals in optimal readings unless thresholds are fixed.
    """
    means: dict[str, Score] = {}
    for mean in settings.means:
        over, _, kind = mean.partition(".")
        if not kind:
            continue
        if over == "files":
            values = scores_of_files(counts, settings)
        else:
            each = [dict(named(*in_parts[name], settings.means)) for name in parts[over]]
            common = [key for key in each[0] if all(key in part for part in each)]
            values = {key: np.array([part[key] for part in each], dtype=np.float64) for key in common}
        chosen = {
            key: score
            for key, score in ((key_of(score), score) for score in scores.values())
            if key in values
            and MEASURES[key[:3]][1].has_mean(kind)
            and (over == "scenes" or key.class_name is None)
        }
        once = np.ones((1, max(map(len, values.values()), default=0)))
        column = mean_of_files(kind, values, once, [*chosen])[:, 0].tolist()
        names = [str(key._replace(group=mean)) for key in chosen]
        own = {
            name: score._replace(name=name, group=mean, value=finite(value), low=None, high=None)
            for name, score, value in zip(names, chosen.values(), column, strict=True)
        }
        means |= own
        if settings.ci is not None:
            if over == "files" and not settings.fixed_thresholds:
                own = {name: score for name, score in own.items() if score.reading != "optimal"}
            scorer = partial(_scorer_of, mean, parts.get(over, {}), values)
            means |= with_intervals(own, tally, settings, progress, scorer)
    return means


def _scorer_of(
    mean: str,
    parts: Mapping[str, tuple[Tally, Index]],
    of_files: Mapping[ScoreName, Array],
    settings: Settings,
) -> Scorer:
    """Return the scorer of a mean over parts of weighted files; of_files: the averages that each file has."""
    over, _, kind = mean.partition(".")
    if over == "files":
        return partial(mean_of_files, kind, of_files)
    scorers = [(Replicates.of(part, settings).values, index) for part, index in parts.values()]
    return partial(mean_of_parts, kind, scorers)


def key_of(score: Score | ScoreName) -> ScoreName:
    """Return the name of a score without its group, whichever part or mean over parts it belongs to."""
    return ScoreName(score.basis, score.reading, score.measure, score.average, score.class_name)


def size_of(key: ScoreName) -> ScoreName:
    """Return the size of the reference for a score."""
    return key._replace(measure="n_ref", average="micro" if key.class_name is None else None)


def _filled(values: Floats, sizes: Floats, keys: Sequence[ScoreName]) -> Floats:
    """Return the values of parts, (n_keys, ...), as they enter means.

    sizes: of the reference, (n_keys, ...); NaN for scores without a size, such as rankings.
    """
    missing = [MEASURES[key[:3]][1].missing for key in keys]
    column = np.array([np.nan if each is None else each for each in missing], dtype=np.float64)
    column = column.reshape(-1, *(1,) * (values.ndim - 1))
    return np.where(sizes == 0, np.nan, np.where(np.isnan(values) & (sizes > 0), column, values))


def mean_of_parts(
    kind: str, parts: Sequence[tuple[Scorer, Index]], weights: Floats, keys: Sequence[ScoreName]
) -> Floats:
    """Return means over parts of weighted files, as `Scorer`; a part without any file has no score.

    parts: each with the positions of its files among all.
    """
    asked = list(dict.fromkeys([*keys, *map(size_of, keys)]))
    row = {key: number for number, key in enumerate(asked)}
    own, sizes = [row[key] for key in keys], [row[size_of(key)] for key in keys]
    means = np.full((len(keys), len(weights)), np.nan)
    step = max(1, _AT_ONCE // max(len(asked) * len(parts), 1))
    for begin in range(0, len(weights), step):
        some = weights[begin : begin + step]
        values = np.full((len(asked), len(some), len(parts)), np.nan)
        for number, (part, files) in enumerate(parts):
            drawn = np.flatnonzero(some[:, files].any(axis=1))
            if len(drawn):
                values[:, drawn, number] = part(some[np.ix_(drawn, files)], asked)
        filled = _filled(values[own], values[sizes], keys)
        means[:, begin : begin + step] = mean_of(kind, filled, np.ones(len(parts)))
    return means


def mean_of_files(
    kind: str, by_key: Mapping[ScoreName, Array], weights: Floats, keys: Sequence[ScoreName]
) -> Floats:
    """Return means over weighted files, or other parts, of the scores of each, as `Scorer`.

    by_key: (n_parts,) each, NaN if undefined.
    """
    means, nothing = np.full((len(keys), len(weights)), np.nan), np.full(weights.shape[1], np.nan)
    for number, key in enumerate(keys):
        values, sizes = (
            np.asarray(by_key.get(each, nothing), dtype=np.float64) for each in (key, size_of(key))
        )
        means[number] = mean_of(kind, _filled(values[None], sizes[None], [key])[0], weights)
    return means


# Scores of single files, computed from the counts of each.
#
# Counts of files add up to the counts of all. Measures of counts have a value for each file, equal to the
# value in an evaluation of this file alone with the same classes. The optimal reading uses the best
# thresholds of all files together. Single files do not have measures that need the values of all files, such
# as curves.

_MAIN = {
    (measure.name, average)
    for family in FAMILIES
    for measure in family.measures
    for table, averages in (("main", ("micro", "macro")), ("counts", ("micro",)))
    if measure.table == table
    for average in averages
}
"""Default measures and averages of files."""

_MOST_CELLS = 1 << 18
"""Files times classes that are computed at once: each measure needs some arrays of that size."""


@dataclass(frozen=True, slots=True)
class FileScores:
    """The scores of each file of a system.

    files: names, sorted. length: (n_files,) seconds. scores: (n_files,) counts, or numbers
    that are NaN where undefined, by the names that they have of all files together.
    """

    files: tuple[str, ...]
    length: Floats
    scores: Mapping[str, Array]

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for each file; undefined values are missing."""
        import pandas as pd

        frame = {"filename": list(self.files), "length": self.length}
        for name, column in self.scores.items():
            frame[name] = pd.array(column, dtype="Int64" if column.dtype.kind == "i" else "Float64")
        return pd.DataFrame(frame)


def file_scores(tally: Tally, settings: Settings, names: Sequence[str] = ()) -> FileScores:
    """Return the scores of each file of a tally, which needs no segments and events.

    names: of the scores; without any, precision, recall, F, error rate and counts of each basis and reading.
    Raises EvaluationError for scores that single files do not have.
    """
    wanted = dict.fromkeys(names)

    def is_wanted(key: ScoreName) -> bool:
        return str(key) in wanted if wanted else (key.measure, key.average) in _MAIN

    columns = {str(key): column for key, column in scores_of_files(tally, settings, is_wanted).items()}
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise EvaluationError(
            f"{', '.join(missing)}: computed from all files together; single files have no such score"
        )
    # Undefined is NaN, whichever side makes it so.
    shown = {name: np.where(np.isneginf(column), np.nan, column) if column.dtype.kind == "f" else column
             for name, column in columns.items()}  # fmt: skip
    length = to_seconds(tally.per_file["length"])
    return FileScores(tally.files, length, {name: shown[name] for name in wanted or shown})


def scores_of_files(
    tally: Tally,
    settings: Settings,
    is_wanted: Callable[[ScoreName], bool] = lambda key: key.average is not None,
) -> dict[ScoreName, Array]:
    """Return the scores that each file has, (n_files,) each; the averages over classes by default.

    tally: as for `file_scores`. Some files are scored after others: many arrays would not fit in memory.
    """
    most, parts = max(1, _MOST_CELLS // max(len(tally.classes), 1)), dict[ScoreName, list[Array]]()
    for first in range(0, max(len(tally.files), 1), most):
        some = slice(first, first + most)
        files = tally.mixtures(itemgetter(some))
        best = {
            (basis, reading): detection_scores(totals(files, f"{basis}.{reading}"), settings.beta)
            for basis, reading in Plan.of(settings).thresholded
            if f"{basis}.{reading}.tp" in files.sums
        }
        tables = joined(counted_tables(files, settings), best)
        for key, values in named(tables, tally.classes, settings.means):
            if is_wanted(key):
                # Values that are not arrays of files are the same in all files: a given threshold.
                column = np.broadcast_to(np.nan if values is None else values, len(tally.files[some]))
                parts.setdefault(key, []).append(column)
    return {key: np.concatenate(of_parts) for key, of_parts in parts.items()}
