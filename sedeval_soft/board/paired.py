"""Paired replicates of one score: all systems are resampled by the same files.

A file that only one of the systems has is all false alarms of it, and nothing of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from zlib import crc32

import numpy as np
import numpy.typing as npt

from sedeval_soft.board.doubts import least_p
from sedeval_soft.core.tally import Tally
from sedeval_soft.core.weighted import Statistics
from sedeval_soft.evaluation import weights
from sedeval_soft.evaluation.resample import Progress, Replicates, replicates_of, values_of
from sedeval_soft.evaluation.score import Key, sorted_cells
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import group_of
from sedeval_soft.resample.tests import p_exchange
from sedeval_soft.settings import Settings

T = TypeVar("T")
Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Paired:
    """One score of several systems, to be resampled together.

    replicates: what scores each system. places: where the files of each are among all, (n_files of it,).
    n_files: of all systems together. key: the score.
    """

    replicates: Sequence[Replicates]
    places: Sequence[Index]
    n_files: int
    key: Key
    settings: Settings

    @classmethod
    def of(
        cls,
        tallies: Sequence[Tally],
        rank_by: str,
        settings: Settings,
        files: Sequence[str] | None = None,
    ) -> Paired:
        """Prepare the score that systems are ranked by; nothing else is computed in replicates.

        files: all that are drawn from, sorted; None for those of these systems. Others that a system has go
        along with one of these: what one system alone names changes no other's replicates.
        """
        name = ScoreName.parse(rank_by)
        key = Key(name.basis, name.reading, name.measure, name.average, name.class_name)
        chosen = settings_for(rank_by, settings)
        if name.basis != "ranking":
            # Which classes there are shapes the ranks of classes: only for those must they be alike.
            tallies = [_without_ranks(tally) for tally in tallies]
        if files is None:
            files = sorted({file for tally in tallies for file in tally.files})
        position = {file: i for i, file in enumerate(files)}
        places = [
            np.array([position.get(file, _along(file, len(files))) for file in tally.files], dtype=np.int64)
            for tally in tallies
        ]
        return cls([replicates_of(tally, chosen) for tally in tallies], places, len(files), key, chosen)

    def bootstrap(self, progress: Progress | None = None) -> Floats:
        """Return the score of each system in bootstrap replicates, (n_replicates, n_systems)."""
        count, seed = self.settings.replicates, self.settings.seed
        found = np.empty((count, len(self.replicates)))
        for k, (system, places) in enumerate(zip(self.replicates, self.places, strict=True)):
            rows = (block[:, places] for block in weights.bootstrap(self.n_files, count, seed))
            with values_of(system, rows, [self.key], count, progress) as values:
                found[:, k] = values.rows(0, 1)[0]
        return found

    def exchanged(self, first: int, second: int, progress: Progress | None = None) -> Floats:
        """Return differences of two systems after their outputs were exchanged in random files.

        (n_replicates,). With every exchange either system is a mixture of both, file by file.
        """
        count, seed = self.settings.replicates, self.settings.seed
        ours, theirs = self.places[first], self.places[second]
        both = self._joint(first, second)

        def rows() -> Iterator[Floats]:
            for taken in weights.exchanges(self.n_files, count, seed):
                kept = 1.0 - taken
                one = np.concatenate((kept[:, ours], taken[:, theirs]), axis=1)
                other = np.concatenate((taken[:, ours], kept[:, theirs]), axis=1)
                # One after the other, so that differences are those of neighbours.
                yield np.stack((one, other), axis=1).reshape(-1, one.shape[1])

        with values_of(both, rows(), [self.key], 2 * count, progress) as found:
            values = found.rows(0, 1)[0]
        differences: Floats = values[::2] - values[1::2]
        return differences

    def p(self, first: int, second: int, observed: float, progress: Progress | None = None) -> float:
        """Return the p-value that two systems, which are observed to differ so much, do not differ.

        Of few exchanges those that are drawn may happen to hold fewer large differences than all do: what no
        exchange could show is not said.
        """
        drawn = p_exchange(self.exchanged(first, second, progress)[:, None], np.array([observed]))
        return max(float(drawn[0]), least_p(self.n_files))

    def _joint(self, first: int, second: int) -> Replicates:
        """Return what scores mixtures of the files of two systems, the files of the first coming first."""
        parts = [
            _renamed(self.replicates[system].statistics.tally, side)
            for side, system in (("0", first), ("1", second))
        ]
        tally = Tally.merge(parts)
        if not self.settings.fixed_thresholds:
            return replicates_of(tally, self.settings)
        # What is exchanged is what each system said at thresholds of its own, which is counted already.
        fixed = self.replicates[first].fixed
        cells = sorted_cells(tally, self.settings, again=True)
        return Replicates(tally, Statistics.of(tally), self.settings, cells, (), fixed)


def _along(file: str, n_files: int) -> int:
    """Return with which of some files another one goes along: the same whatever others there are."""
    return crc32(file.encode("utf-8", "surrogatepass")) % max(n_files, 1)


def settings_for(rank_by: str, settings: Settings) -> Settings:
    """Return the settings by which no more is counted than the score that systems are ranked by needs."""
    name, group = ScoreName.parse(rank_by), group_of(rank_by)
    measures = (group,) if group else ()
    if "psds" in name.measure:
        return replace(settings, measures=measures)
    family = f"{name.basis}.{name.reading}"
    # Other readings follow no package.
    compat = settings.compat if family in ("segment.hard", "event.hard") else None
    chosen = replace(settings, only=(family,), measures=measures, compat=compat)
    chosen = replace(chosen, psds=None, alpha_ct=None, alpha_st=None, max_efpr=None)
    return replace(chosen, psds_median_filters=())


def _without_ranks(tally: Tally) -> Tally:
    return replace(tally, per_file=_unranked(tally.per_file), per_class=_unranked(tally.per_class))


def _unranked(columns: Mapping[str, T]) -> dict[str, T]:
    return {name: column for name, column in columns.items() if not name.startswith("ranking.")}


def _renamed(tally: Tally, side: str) -> Tally:
    return replace(tally, files=tuple(f"{side}{file}" for file in tally.files))
