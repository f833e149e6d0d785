"""The labels of several annotators on one grid of segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Opinions:
    """What annotators say.

    values: (n_annotators, n_classes, n_segments) in [0, 1]. labelled: (n_annotators, n_segments), whether an
    annotator labelled a segment: what is not labelled is missing, whatever its value.
    """

    values: Floats
    labelled: Bools

    def __len__(self) -> int:
        """Return the number of annotators."""
        return len(self.values)

    def without(self, annotator: int) -> Opinions:
        """Return what the others say."""
        others = np.arange(len(self)) != annotator
        return Opinions(self.values[others], self.labelled[others])


def mean(opinions: Opinions, weight: Floats | None = None) -> Floats:
    """Return the mean of the values of those who labelled, (n_classes, n_segments), 0 where nobody did.

    weight: (n_annotators,) not negative; where all who labelled have a weight of 0 they count alike.
    """
    given = opinions.labelled * (np.ones(len(opinions)) if weight is None else weight)[:, None]
    given = np.where(given.sum(axis=0) > 0, given, opinions.labelled)
    total = given.sum(axis=0)
    share = np.divide(given, total, out=np.zeros_like(given, dtype=np.float64), where=total > 0)
    found: Floats = np.clip(np.einsum("jcn,jn->cn", opinions.values, share), 0.0, 1.0)
    return found


def majority(opinions: Opinions, threshold: float) -> Floats:
    """Return 1 where more than half of those who labelled are above the threshold, else 0; a tie is 0."""
    votes = ((opinions.values > threshold) & opinions.labelled[:, None]).sum(axis=0)
    found: Floats = (2 * votes > opinions.labelled.sum(axis=0)).astype(np.float64)
    return found
