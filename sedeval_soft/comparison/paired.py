"""Paired replicates of one score: all systems are resampled by the same files.

A file that only one of the systems has is all false alarms of it, and does not count for the others. A board
of many submissions changes by one at a time: earlier draws of a system, and earlier tests of two systems, can
be given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any
from zlib import crc32

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.comparison.ranks import p_exchange
from sedeval_soft.evaluation.resample import (
    Progress,
    Replicates,
    Scorer,
    all_exchanges,
    bootstrap,
    exchanges,
    key_of,
    mean_of_files,
    mean_of_parts,
    replicate,
    scores_of_files,
)
from sedeval_soft.evaluation.scores import finite
from sedeval_soft.measures.registry import ScoreName, narrowed, variants_of
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings, split_name

Parts = Mapping[str, tuple[Tally, Index]]
"""Scenes, or groups of classes, by name: the tally of each, and the positions of its files among all."""

Replicated = Mapping[str, tuple[Replicates, Index]]
"""The same, each with the function that gives its scores."""


@dataclass
class Comparisons:
    """Computed results: scores in replicates by the key of each system, p-values by the keys of two."""

    draws: dict[str, list[float | None]] = field(default_factory=dict)
    p: dict[str, float] = field(default_factory=dict)

    def among(self, keys: Collection[str]) -> Comparisons:
        """Return the computed results of systems with some keys."""
        draws = {key: values for key, values in self.draws.items() if key in keys}
        return Comparisons(draws, {pair: p for pair, p in self.p.items() if {*pair.split()} <= {*keys}})


@dataclass(frozen=True)
class Paired:
    """One score of several systems, to be resampled together.

    keys: of the systems, in their order. files: those that are drawn from, sorted. Other files of a system go
    along with one of these: a file that one system alone names does not change another's replicates. load:
    Returns the tally of a system by its position. computed: Results that need no computation; new results are
    added to it. progress: Receives the numbers of finished and of all replicates. parts: Returns the scenes
    or groups of a system over which the score is a mean; None for other scores.
    """

    keys: Sequence[str]
    files: Sequence[str]
    load: Callable[[int], Tally]
    rank_by: str
    settings: Settings
    computed: Comparisons = field(default_factory=Comparisons)
    progress: Progress | None = None
    parts: Callable[[int], Parts] | None = None
    _systems: dict[int, tuple[Sequence[str], Replicated]] = field(default_factory=dict)

    @classmethod
    def of_tallies(
        cls,
        tallies: Sequence[Tally],
        rank_by: str,
        settings: Settings,
        progress: Progress | None = None,
        parts: Sequence[Parts] = (),
    ) -> Paired:
        """Return the score of systems by which they are ranked, drawn from all their files.

        parts: the parts of each system over which the score is a mean, if any.
        """
        files = sorted({file for tally in tallies for file in tally.files})
        keys = [str(k) for k in range(len(tallies))]
        load_parts = parts.__getitem__ if parts else None
        return cls(keys, files, tallies.__getitem__, rank_by, settings, progress=progress, parts=load_parts)

    def bootstrap(self) -> Floats:
        """Return the score of each system in bootstrap replicates, (n_replicates, n_systems)."""
        count, draws = self.settings.replicates, self.computed.draws
        for k, key in enumerate(self.keys):
            if key not in draws:
                places = self._places(k)
                rows = (block[:, places] for block in bootstrap(len(self.files), count, self.settings.seed))
                values = self._values(self._scorer(self._system(k)[1]), rows, count)
                draws[key] = [finite(value) for value in values.tolist()]
        return np.array([draws[key] for key in self.keys], dtype=np.float64).T

    def exchanged(self, first: int, second: int) -> Floats:
        """Return differences of two systems after their outputs were exchanged in some files.

        (n_exchanges,), see `exchanges`. With each of them either system is a mixture of both, file by file.
        """
        count, seed = self.settings.replicates, self.settings.seed
        ours, theirs = self._places(first), self._places(second)
        both = self._joint(first, second)

        def rows() -> Iterator[Floats]:
            for moved in exchanges(len(self.files), count, seed):
                stay = 1.0 - moved
                one = np.concatenate((stay[:, ours], moved[:, theirs]), axis=1)
                other = np.concatenate((moved[:, ours], stay[:, theirs]), axis=1)
                # One after the other, so that differences are those of neighbours.
                yield np.stack((one, other), axis=1).reshape(-1, one.shape[1])

        values = self._values(both, rows(), 2 * min(count, all_exchanges(len(self.files)) - 1))
        return values[::2] - values[1::2]

    def _values(self, of: Scorer, rows: Iterator[Floats], count: int) -> Floats:
        """Return the score with each row of weights of the files, (count,)."""
        key = key_of(ScoreName.parse(self.rank_by))
        values: Floats = replicate(of, rows, [key], count, self.progress)[0]
        return values

    def p(self, first: int, second: int, observed: float) -> float:
        """Return the p-value that two systems, which are observed to differ so much, do not differ."""
        key = f"{self.keys[first]} {self.keys[second]}"
        if key not in self.computed.p:
            exchanged = p_exchange(self.exchanged(first, second)[:, None], [observed])
            self.computed.p[key] = float(exchanged[0])
        return self.computed.p[key]

    @cached_property
    def _chosen(self) -> Settings:
        return settings_for(self.rank_by, self.settings)

    @property
    def _mean(self) -> tuple[str, str]:
        """The kind of parts over which the score is a mean, and their name; empty for other scores."""
        over, _, kind = (ScoreName.parse(self.rank_by).part or "").partition(".")
        return over, kind

    def _system(self, k: int) -> tuple[Sequence[str], Replicated]:
        """Return the files of one system, and the functions that give the scores of its parts."""
        if k not in self._systems:
            tally = self.load(k)
            parts: Parts = {"": (tally, np.arange(len(tally.files)))}
            if self.parts is not None and self._mean[0] in ("scenes", "groups"):
                parts = self.parts(k)
            self._systems[k] = (
                tally.files,
                {
                    name: (Replicates.of(self._needed(part), self._chosen), index)
                    for name, (part, index) in parts.items()
                },
            )
        return self._systems[k]

    def _scorer(self, parts: Replicated) -> Scorer:
        """Return the function that scores all parts together."""
        over, kind = self._mean
        if over == "files":
            return partial(mean_of_files, kind, scores_of_files(parts[""][0].tally, self._chosen))
        scorers = [(of.values, index) for of, index in parts.values()]
        return partial(mean_of_parts, kind, scorers) if over else scorers[0][0]

    def _needed(self, tally: Tally) -> Tally:
        """Return a tally without segments and events that the score does not need, and without ranks."""
        plan = Plan.of(self._chosen)
        samples = {name: of for name, of in tally.samples.items() if name.partition(".")[0] in plan.kept}
        tally = replace(tally, samples=samples, events=tally.events if plan.keeps_events else {})
        if self.rank_by.startswith("ranking."):
            return tally
        # Which classes there are shapes the ranks of classes: only for those must they be alike.
        columns: dict[str, Any] = {"per_file": tally.per_file, "per_class": tally.per_class}
        for kind, of_kind in columns.items():
            columns[kind] = {n: c for n, c in of_kind.items() if not n.startswith("ranking.")}
        return replace(tally, **columns)

    def _places(self, k: int) -> Index:
        """Return the positions of the files of one system among all, (n_files of it,)."""
        position = {file: i for i, file in enumerate(self.files)}
        files, _ = self._system(k)
        # A file beyond goes along with the same one whatever others there are.
        others = (crc32(file.encode("utf-8", "surrogatepass")) % max(len(self.files), 1) for file in files)
        places = (position.get(file, other) for file, other in zip(files, others, strict=True))
        return np.fromiter(places, dtype=np.int64, count=len(files))

    def _joint(self, first: int, second: int) -> Scorer:
        """Return the function that scores mixtures of the files of two systems, the first's files first."""
        (files, ours), (_, theirs) = self._system(first), self._system(second)
        begin, joint = (0, len(files)), {}
        for name in {**ours, **theirs}:
            sides = [(side, *parts[name]) for side, parts in enumerate((ours, theirs)) if name in parts]
            tally = Tally.merge(
                replace(of.tally, files=tuple(f"{side}{file}" for file in of.tally.files))
                for side, of, _ in sides
            )
            # What is exchanged is what each system said at thresholds of its own, which is counted already.
            replicates = Replicates.of(tally, self._chosen, sides[0][1].fixed)
            joint[name] = replicates, np.concatenate([index + begin[side] for side, _, index in sides])
        return self._scorer(joint)


def settings_for(rank_by: str, settings: Settings) -> Settings:
    """Return the settings by which no more is counted than the score that systems are ranked by needs."""
    name, text = split_name(str(ScoreName.parse(rank_by)))
    return narrowed(variants_of(settings).get(text, settings), [name], {})
