"""The measures of curves of many cells, block by block of scores: nothing as long as the cells is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.blocks import Blocks
from sedeval_soft.core.threads import for_each
from sedeval_soft.measures.curves.points import Gains, Ordered, Points, Units
from sedeval_soft.measures.curves.score import Roc, Sums, precision_scores, sums_of

Array = npt.NDArray[Any]
Cut = Callable[[Array], Array]
"""What is done to reference values first: nothing, or cutting them at the threshold."""


def curve_scores(
    parts: Sequence[Ordered], cuts: Sequence[Cut], units: Sequence[Units], rates: tuple[float, float]
) -> list[dict[str, float]]:
    """Return the measures of curves of some cells, by name, for each way to cut their reference.

    parts: the cells, in as many pieces as there are, with values as they are. units: of what each cut leaves.
    rates: `max_fpr` and `max_fnr`.
    """
    ways = list(zip(cuts, units, strict=True))
    blocks = Blocks.of([part.score for part in parts])
    # From the highest scores down.
    downwards = range(len(blocks))[::-1]
    n_sys = blocks.before[-1] - blocks.before[::-1]
    weights = _weights(blocks, parts, ways)
    above = [_before(own) for own in weights]

    def sums(place: int) -> list[_Swept]:
        block, detected = downwards[place], int(n_sys[place])
        if blocks.level(block) is None:
            cells = _cells(blocks, block, parts)
            gains = [Gains.of(_counted(cells, *way)) for way in ways]
        else:
            # However many cells of one score are one point.
            size = int(blocks.size[block])
            gains = [
                Gains.at_once(tp.item(), fp.item(), size, unit.whole or 1)
                for (tp, fp), unit in zip((own[:, place] for own in weights), units, strict=True)
            ]
        return [
            _Swept.of(own, tp.item(), fp.item(), detected)
            for own, (tp, fp) in zip(gains, (before[:, place] for before in above), strict=True)
        ]

    columns = list(zip(*for_each(sums, range(len(blocks)), int(n_sys[-1])), strict=True))
    scores = []
    for i, column in enumerate(columns):
        # The sums of blocks and of points of floats may differ in their last digits: the ends are those of
        # points.
        tp, fp = (np.maximum.accumulate([0, *(getattr(of, name) for of in column)]) for name in ("tp", "fp"))

        def within(place: int, i: int = i, tp: Array = tp, fp: Array = fp) -> tuple[Array, Array]:
            cells = _cells(blocks, downwards[place], parts)
            own = Points.of(_counted(cells, *ways[i]))
            ends = ((own.tp, tp), (own.fp, fp))
            return tuple(np.minimum(np.append(0, of) + at[place], at[place + 1]) for of, at in ends)

        slack = units[i].slack
        roc = Roc(tp, fp, np.array([of.sums.pairs for of in column]), within, slack)
        scores.append(precision_scores([of.sums for of in column], tp[-1].item(), slack) | roc.scores(*rates))
    return scores


def _counted(cells: Ordered, cut: Cut, unit: Units) -> Ordered:
    """Return cells with what a cut leaves of their values, in units."""
    return Ordered(cells.score, unit.counted(cut(cells.reference)), unit.whole or 1)


@dataclass(frozen=True, slots=True)
class _Swept:
    """The sums of a block, and what is detected by its end; 0 where it adds nothing."""

    sums: Sums
    tp: float
    fp: float

    @classmethod
    def of(cls, gains: Gains, tp: float, fp: float, n_sys: int) -> _Swept:
        end = tp + gains.tp[-1].item() if len(gains.tp) else 0
        return cls(sums_of(gains, tp, n_sys), end, fp + gains.end if gains.end else 0)


def _weights(blocks: Blocks, parts: Sequence[Ordered], ways: Sequence[tuple[Cut, Units]]) -> list[Array]:
    """Return the weights of positives and of negatives in each block, from the highest scores down.

    (2, n_blocks) for each way to cut the reference, int64 where they are counted in units.
    """

    def of_part(i: int) -> list[Array]:
        found = []
        for cut, unit in ways:
            reference = unit.counted(cut(parts[i].reference))
            tp = blocks.sums(i, reference)
            size = np.diff(blocks.edges[i])
            fp = size * unit.whole - tp if unit.whole else blocks.sums(i, 1.0 - reference)
            found.append(np.array((tp, fp)))
        return found

    sums = for_each(of_part, range(len(parts)), int(blocks.before[-1]))
    return [np.sum(column, axis=0)[:, ::-1] for column in zip(*sums, strict=True)]


def _before(weights: Array) -> Array:
    """Return the sums of what comes before each block, (2, n_blocks)."""
    sums = np.zeros_like(weights)
    np.cumsum(weights[:, :-1], axis=1, out=sums[:, 1:])
    return sums


def _cells(blocks: Blocks, block: int, parts: Sequence[Ordered]) -> Ordered:
    """Return the cells of a block in order."""
    score, order = blocks.ordered(block)
    references = [part.reference[own] for part, own in zip(parts, blocks.slices(block), strict=True)]
    reference = references[0] if len(references) == 1 else np.concatenate(references)
    return Ordered(score, reference if order is None else reference[order])
