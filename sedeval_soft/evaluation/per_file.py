"""Scores of single files, computed from the counts of each.

Counts of files add up to the counts of all. Measures of counts have a value for each file, equal to the value
in an evaluation of this file alone with the same classes. The optimal reading uses the best thresholds of all
files together. Single files do not have measures that need the values of all files, such as curves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from sedeval_soft.arrays import Array, Floats
from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.scores import Key, counted_tables, joined, named
from sedeval_soft.measures.base import Tables
from sedeval_soft.measures.detection import detection_scores, totals
from sedeval_soft.measures.registry import FAMILIES, score_name
from sedeval_soft.measures.tally import Mixtures, Tally
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import to_seconds

if TYPE_CHECKING:
    import pandas as pd

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
    parts: dict[str, list[Array]] = {}
    for key, column in _columns(tally, settings):
        name = score_name(*key)
        if name in wanted if wanted else (key.measure, key.average) in _MAIN:
            parts.setdefault(name, []).append(column)
    columns = {name: np.concatenate(of_parts) for name, of_parts in parts.items()}
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise EvaluationError(
            f"{', '.join(missing)}: computed from all files together; single files have no such score"
        )
    length = to_seconds(tally.per_file["length"])
    # Undefined is NaN, whichever side makes it so.
    shown = {name: np.where(np.isneginf(column), np.nan, column) if column.dtype.kind == "f" else column
             for name, column in columns.items()}  # fmt: skip
    return FileScores(tally.files, length, {name: shown[name] for name in wanted or shown})


def averages_of_files(tally: Tally, settings: Settings) -> dict[Key, Array]:
    """Return the averages over classes that files have, (n_files,) each; tally: as for `file_scores`."""
    parts: dict[Key, list[Array]] = {}
    for key, column in _columns(tally, settings):
        if key.average is not None:
            parts.setdefault(key, []).append(column)
    return {key: np.concatenate(of_parts) for key, of_parts in parts.items()}


def _columns(tally: Tally, settings: Settings) -> Iterator[tuple[Key, Array]]:
    """Yield all scores of files, of some files after others: many arrays would not fit in memory."""
    most = max(1, _MOST_CELLS // max(len(tally.classes), 1))
    for first in range(0, max(len(tally.files), 1), most):
        some = slice(first, first + most)
        files = tally.mixtures(itemgetter(some))
        for key, values in named(_tables(files, settings), tally.classes, settings.means):
            # Values that are not arrays of files are the same in all files: a given threshold.
            yield key, np.broadcast_to(np.nan if values is None else values, len(tally.files[some]))


def _tables(files: Mixtures, settings: Settings) -> Tables:
    """Return the tables of the counts of each file."""
    best = {
        (basis, reading): detection_scores(totals(files, f"{basis}.{reading}"), settings.beta)
        for basis, reading in Plan.of(settings).thresholded
        if f"{basis}.{reading}.tp" in files.sums
    }
    return joined(counted_tables(files, settings), best)
