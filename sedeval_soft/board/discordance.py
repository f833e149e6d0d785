"""McNemar's test: segments that only one of two systems has right, by class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.board import Discordance
from sedeval_soft.core.tally import Tally
from sedeval_soft.resample.tests import holm, mcnemar
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.recordings import detected, positive

Index = npt.NDArray[np.int64]


def discordances(
    names: Sequence[str], tallies: Sequence[Tally], other: str, settings: Settings
) -> tuple[Discordance, ...]:
    """Return how each system differs from another one in each class, hard reading of segments.

    Nothing where that reading is not evaluated.
    """
    if not settings.wants("segment", "hard") or len(names) < 2:
        return ()
    files = {file: i for i, file in enumerate(sorted({file for tally in tallies for file in tally.files}))}
    wrong = [_wrong(tally, files, settings) for tally in tallies]
    theirs = wrong[names.index(other)]
    nothing = np.zeros(0, dtype=np.int64)
    found = []
    for name, ours in zip(names, wrong, strict=True):
        for label in sorted({*ours, *theirs}) if name != other else ():
            mine, yours = ours.get(label, nothing), theirs.get(label, nothing)
            both = len(np.intersect1d(mine, yours, assume_unique=True))
            found.append((name, label, len(yours) - both, len(mine) - both))
    counts = np.array([row[2:] for row in found], dtype=np.int64).reshape(-1, 2)
    p = mcnemar(counts[:, 0], counts[:, 1])
    return tuple(
        Discordance(*row, float(raw), float(adjusted))
        for row, raw, adjusted in zip(found, p, holm(p), strict=True)
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
    found = {}
    for c, label in enumerate(tally.classes):
        found[label] = number[positive(reference[c], settings) != detected(system[c], settings)]
    return found
