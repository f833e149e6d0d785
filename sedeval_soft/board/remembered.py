"""Comparisons that are remembered: what was drawn for a system, or tested of two, is not drawn again.

A board of many submissions changes by one at a time. What it adds is one system's replicates and its tests
against the others; all other pairs are as they were.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from sedeval_soft.board.paired import Paired, settings_for
from sedeval_soft.core.tally import Tally
from sedeval_soft.evaluation.plan import THRESHOLDED
from sedeval_soft.evaluation.resample import Progress
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import group_of
from sedeval_soft.resample.tests import p_bootstrap
from sedeval_soft.settings import Settings

Floats = npt.NDArray[np.float64]

Test = Literal["exchange", "bootstrap", "none"]
TESTS: tuple[Test, ...] = ("exchange", "bootstrap", "none")
"""How systems are told apart: as `compare` does, by replicates of each on the same files, or not at all."""


class Comparisons(msgspec.Struct):
    """What was computed of systems, which are known by a key that tells all that shaped them.

    of: a hash of all else that shapes the numbers. draws: the score of a system in replicates, by its key.
    p: p-values of two systems, by both keys.
    """

    of: str = ""
    draws: dict[str, list[float | None]] = msgspec.field(default_factory=dict)
    p: dict[str, float] = msgspec.field(default_factory=dict)


def test_for(rank_by: str, settings: Settings) -> Test:
    """Return the test that a board takes by itself.

    Where all thresholds are looked at in each replicate, resampling one system takes longer than scoring it.
    """
    name = ScoreName.parse(rank_by)
    slow = (name.basis, name.reading) in THRESHOLDED and not settings.fixed_thresholds
    return "none" if slow or group_of(rank_by) or "psds" in name.measure else "exchange"


@dataclass(frozen=True)
class Remembered:
    """One score of several systems to be resampled together, some of which were before: a `Resampled`.

    keys: of the systems, in their order. files: those that all systems have, sorted. load: returns the tally
    of a system by its position. before: what is known; after: what was asked for, to be kept.
    """

    keys: Sequence[str]
    files: Sequence[str]
    load: Callable[[int], Tally]
    rank_by: str
    settings: Settings
    test: Test
    before: Comparisons
    after: Comparisons
    _drawn: list[Floats] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        keys: Sequence[str],
        files: Sequence[str],
        load: Callable[[int], Tally],
        rank_by: str,
        settings: Settings,
        test: Test,
        known: Comparisons,
    ) -> Remembered:
        """Prepare the score; known: all that was remembered, which is used if it is of these files."""
        # Settings tell of replicates and seed only where intervals are asked for.
        chosen = replace(settings_for(rank_by, settings), ci="bootstrap").to_dict()
        # The confidence shapes no draw.
        shaped = {name: value for name, value in chosen.items() if name != "confidence"}
        text = json.dumps([list(files), rank_by, shaped, test], sort_keys=True)
        of = sha256(text.encode("ascii")).hexdigest()
        before = known if known.of == of else Comparisons()
        return cls(keys, files, load, rank_by, settings, test, before, Comparisons(of))

    @property
    def n_files(self) -> int:
        """The files that are drawn from."""
        return len(self.files)

    def bootstrap(self, progress: Progress | None = None) -> Floats:
        """Return the score of each system in replicates, (n_replicates, n_systems)."""
        if not self._drawn:
            columns = [self._column(k, progress) for k in range(len(self.keys))]
            self._drawn.append(np.stack(columns, axis=1))
        return self._drawn[0]

    def p(self, first: int, second: int, observed: float, progress: Progress | None = None) -> float:
        """Return the p-value that two systems, which are observed to differ so much, do not differ."""
        if self.test == "bootstrap":
            drawn = self.bootstrap(progress)
            return float(p_bootstrap((drawn[:, first] - drawn[:, second])[:, None], [observed])[0])
        key = f"{self.keys[first]} {self.keys[second]}"
        p = self.before.p.get(key)
        if p is None:
            p = self._paired(first, second).p(0, 1, observed, progress)
        self.after.p[key] = p
        return p

    def _column(self, k: int, progress: Progress | None) -> Floats:
        known = self.before.draws.get(self.keys[k])
        if known is None or len(known) != self.settings.replicates:
            found = self._paired(k).bootstrap(progress)[:, 0]
            known = [None if np.isnan(value) else float(value) for value in found]
        self.after.draws[self.keys[k]] = known
        return np.array([np.nan if value is None else value for value in known], dtype=np.float64)

    def _paired(self, *systems: int) -> Paired:
        tallies = [self.load(k) for k in systems]
        return Paired.of(tallies, self.rank_by, self.settings, self.files)
