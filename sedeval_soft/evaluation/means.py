"""Means of scores over files, scenes and groups: `segment.hard.f1.micro@scenes.harmonic`.

Each part is scored separately, and the rules of averages over classes apply to its scores:

- A part without reference (of a class, for the score of a class) is left out, whatever its value.
- A value left undefined by the system's output counts as the worst; a value left undefined by the reference
  is left out.
- A 0 makes harmonic and geometric means 0.

Scenes are the scenes of the settings and of `by` together. Single classes have means over scenes only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index
from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.scores import Key, Score, finite
from sedeval_soft.measures.base import Measure, mean_of
from sedeval_soft.measures.registry import MEASURES, ScoreName
from sedeval_soft.settings import Settings

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


def means_over(mean: str, scores: Iterable[Score], values: Mapping[Key, Array]) -> list[Score]:
    """Return a mean over parts of all scores that have it, by the names of these means.

    mean: the text after the `@`, such as `scenes.harmonic`. scores: of the whole. values: (n_parts,) each,
    NaN if undefined.
    """
    over, _, kind = mean.partition(".")
    chosen = {
        key: score
        for key, score in ((key_of(score), score) for score in scores)
        if key in values and _measure_of(key).has_mean(kind) and (over == "scenes" or key.class_name is None)
    }
    once = np.ones((1, max(map(len, values.values()), default=0)))
    column = MeanOfFiles(kind, values).values(once, [*chosen])[:, 0].tolist()
    return [
        score._replace(name=str(ScoreName(*key, mean)), group=mean, value=finite(value), low=None, high=None)
        for (key, score), value in zip(chosen.items(), column, strict=True)
    ]


def key_of(score: Score | ScoreName) -> Key:
    """Return the key of a score, whichever part or mean over parts it belongs to."""
    return Key(score.basis, score.reading, score.measure, score.average, score.class_name)


def size_of(key: Key) -> Key:
    """Return the size of the reference for a score."""
    average = "micro" if key.class_name is None else None
    return Key(key.basis, key.reading, "n_ref", average, key.class_name)


def _filled(values: Floats, sizes: Floats, keys: Sequence[Key]) -> Floats:
    """Return the values of parts, (n_keys, ...), as they enter means.

    sizes: of the reference, (n_keys, ...); NaN for scores without a size, such as rankings.
    """
    missing = [_measure_of(key).missing for key in keys]
    column = np.array([np.nan if each is None else each for each in missing], dtype=np.float64)
    column = column.reshape(-1, *(1,) * (values.ndim - 1))
    return np.where(sizes == 0, np.nan, np.where(np.isnan(values) & (sizes > 0), column, values))


def _measure_of(key: Key) -> Measure:
    return MEASURES[key[:3]][1]


# Of resampled files.


class Scorer(Protocol):
    """Source of scores of weighted files: `Replicates`, or a mean over parts of the files."""

    def values(self, weights: Floats, keys: Sequence[Key]) -> Floats:
        """Return scores of each weights, (n_keys, n_weights), NaN if undefined."""


@dataclass(frozen=True, slots=True)
class MeanOfParts:
    """Means over parts of weighted files; a part without any file has no score.

    parts: each with the positions of its files among all.
    """

    kind: str
    parts: Sequence[tuple[Scorer, Index]]

    def values(self, weights: Floats, keys: Sequence[Key]) -> Floats:
        """Return means of each weights, (n_keys, n_weights), NaN if undefined."""
        asked = list(dict.fromkeys([*keys, *map(size_of, keys)]))
        row = {key: number for number, key in enumerate(asked)}
        own, sizes = [row[key] for key in keys], [row[size_of(key)] for key in keys]
        means = np.full((len(keys), len(weights)), np.nan)
        step = max(1, _AT_ONCE // max(len(asked) * len(self.parts), 1))
        for begin in range(0, len(weights), step):
            some = weights[begin : begin + step]
            values = np.full((len(asked), len(some), len(self.parts)), np.nan)
            for number, (part, files) in enumerate(self.parts):
                drawn = np.flatnonzero(some[:, files].any(axis=1))
                if len(drawn):
                    values[:, drawn, number] = part.values(some[np.ix_(drawn, files)], asked)
            filled = _filled(values[own], values[sizes], keys)
            means[:, begin : begin + step] = mean_of(self.kind, filled, np.ones(len(self.parts)))
        return means


@dataclass(frozen=True, slots=True)
class MeanOfFiles:
    """Means over files, or other parts, of the scores of each; by_key: (n_parts,) each, NaN if undefined."""

    kind: str
    by_key: Mapping[Key, Array]

    def values(self, weights: Floats, keys: Sequence[Key]) -> Floats:
        """Return means of each weights, (n_keys, n_weights), NaN if undefined."""
        means, nothing = np.full((len(keys), len(weights)), np.nan), np.full(weights.shape[1], np.nan)
        for number, key in enumerate(keys):
            values, sizes = (
                np.asarray(self.by_key.get(each, nothing), dtype=np.float64) for each in (key, size_of(key))
            )
            means[number] = mean_of(self.kind, _filled(values[None], sizes[None], [key])[0], weights)
        return means
