"""Means of scores over files, scenes and groups: `segment.hard.f1.micro@scenes.harmonic`.

Each part is scored separately, and the rules of averages over classes apply to its scores:

- A part without reference (of a class, for the score of a class) is left out, whatever its value.
- A value left undefined by the system's output counts as the worst; a value left undefined by the reference
  is left out.
- A 0 makes harmonic and geometric means 0.

Scenes are the scenes of the settings and of `by` together. Single classes have means over scenes only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index
from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.scores import Score, counted_tables, finite, joined, named
from sedeval_soft.measures.base import Tables, mean_of
from sedeval_soft.measures.detection import detection_scores, totals
from sedeval_soft.measures.registry import FAMILIES, MEASURES, ScoreName
from sedeval_soft.measures.tally import Mixtures, Tally
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import to_seconds

if TYPE_CHECKING:
    import pandas as pd

_AT_ONCE = 1 << 22
"""Scores of parts in replicates that are in memory at a time."""


def check_means(settings: Settings, *, scenes: bool) -> None:
    """Raise EvaluationError for means over scenes without scenes."""
    asked = [mean for mean in settings.means if mean.startswith("scenes.")]
    if asked and not scenes:
        raise EvaluationError(
            f"{asked[0]} is a mean over scenes, and there are none: --by (`by`) or `scenes` of the settings "
            "says which files are of which"
        )


def means_over(mean: str, scores: Iterable[Score], values: Mapping[ScoreName, Array]) -> list[Score]:
    """Return a mean over parts of all scores that have it, by the names of these means.

    mean: the text after the `@`, such as `scenes.harmonic`. scores: of the whole. values: (n_parts,) each,
    NaN if undefined.
    """
    over, _, kind = mean.partition(".")
    chosen = {
        key: score
        for key, score in ((key_of(score), score) for score in scores)
        if key in values
        and MEASURES[key[:3]][1].has_mean(kind)
        and (over == "scenes" or key.class_name is None)
    }
    once = np.ones((1, max(map(len, values.values()), default=0)))
    column = mean_of_files(kind, values, once, [*chosen])[:, 0].tolist()
    return [
        score._replace(
            name=str(key._replace(group=mean)), group=mean, value=finite(value), low=None, high=None
        )
        for (key, score), value in zip(chosen.items(), column, strict=True)
    ]


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


# Of resampled files.


Scorer = Callable[[Floats, Sequence[ScoreName]], Floats]
"""Returns scores of weighted files, (n_keys, n_weights), NaN if undefined.

Its arguments are weights, (n_weights, n_files), and keys: `Replicates.values`, or a mean over parts of files.
"""


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
        for key, values in named(_tables(files, settings), tally.classes, settings.means):
            if is_wanted(key):
                # Values that are not arrays of files are the same in all files: a given threshold.
                column = np.broadcast_to(np.nan if values is None else values, len(tally.files[some]))
                parts.setdefault(key, []).append(column)
    return {key: np.concatenate(of_parts) for key, of_parts in parts.items()}


def _tables(files: Mixtures, settings: Settings) -> Tables:
    """Return the tables of the counts of each file."""
    best = {
        (basis, reading): detection_scores(totals(files, f"{basis}.{reading}"), settings.beta)
        for basis, reading in Plan.of(settings).thresholded
        if f"{basis}.{reading}.tp" in files.sums
    }
    return joined(counted_tables(files, settings), best)
