"""The measures of curves of many cells, block by block of scores: nothing as long as the cells is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.blocks import Blocks
from sedeval_soft.core.threads import for_each
from sedeval_soft.measures.curves.points import Gains, Ordered, Points
from sedeval_soft.measures.curves.score import Roc, Sums, precision_scores, sums_of

Array = npt.NDArray[Any]
Cut = Callable[[Array], Array]
"""What is done to reference values first: nothing, or cutting them at the threshold."""


def curve_scores(
    parts: Sequence[Ordered], cuts: Sequence[Cut], rates: tuple[float, float]
) -> list[dict[str, float]]:
    """Return the measures of curves of some cells, by name, for each way to cut their reference.

    parts: the cells, in as many pieces as there are. rates: `max_fpr` and `max_fnr`.
    """
    blocks = Blocks.of([part.score for part in parts])
    # From the highest scores down.
    downwards = range(len(blocks))[::-1]
    n_sys = blocks.before[-1] - blocks.before[::-1]
    weights = _weights(blocks, parts, cuts)
    above = np.cumsum(weights, axis=-1)
    above = np.concatenate((np.zeros((*above.shape[:-1], 1)), above[..., :-1]), axis=-1)

    def sums(place: int) -> list[_Swept]:
        block, detected = downwards[place], int(n_sys[place])
        if blocks.level(block) is None:
            cells = _cells(blocks, block, parts)
            gains = [Gains.of(Ordered(cells.score, cut(cells.reference))) for cut in cuts]
        else:
            # However many cells of one score are one point.
            size = int(blocks.size[block])
            gains = [Gains.at_once(float(tp), float(fp), size) for tp, fp in weights[:, :, place]]
        return [
            _Swept.of(own, float(tp), float(fp), detected)
            for own, (tp, fp) in zip(gains, above[:, :, place], strict=True)
        ]

    columns = list(zip(*for_each(sums, range(len(blocks)), int(n_sys[-1])), strict=True))
    scores = []
    for i, column in enumerate(columns):
        # The sums of blocks and of points may differ in their last digits: the ends are those of points.
        tp, fp = (
            np.maximum.accumulate([0.0, *(getattr(of, name) for of in column)]) for name in ("tp", "fp")
        )

        def within(place: int, i: int = i, tp: Array = tp, fp: Array = fp) -> tuple[Array, Array]:
            cells = _cells(blocks, downwards[place], parts)
            own = Points.of(Ordered(cells.score, cuts[i](cells.reference)))
            ends = ((own.tp, tp), (own.fp, fp))
            return tuple(np.minimum(np.append(0, of) + at[place], at[place + 1]) for of, at in ends)

        roc = Roc(tp, fp, np.array([of.sums.pairs for of in column]), within)
        scores.append(precision_scores([of.sums for of in column], tp[-1].item()) | roc.scores(*rates))
    return scores


@dataclass(frozen=True, slots=True)
class _Swept:
    """The sums of a block, and what is detected by its end; 0 where it adds nothing."""

    sums: Sums
    tp: float
    fp: float

    @classmethod
    def of(cls, gains: Gains, tp: float, fp: float, n_sys: int) -> _Swept:
        end = tp + float(gains.tp[-1]) if len(gains.tp) else 0.0
        return cls(sums_of(gains, tp, n_sys), end, fp + gains.end if gains.end else 0.0)


def _weights(blocks: Blocks, parts: Sequence[Ordered], cuts: Sequence[Cut]) -> Array:
    """Return the weights of positives and of negatives in each block, from the highest scores down.

    (n_cuts, 2, n_blocks).
    """

    def of_part(i: int) -> list[tuple[Array, Array]]:
        found = []
        for cut in cuts:
            reference = cut(parts[i].reference)
            tp = blocks.sums(i, reference)
            hard = reference.dtype == np.bool_
            found.append((tp, np.diff(blocks.edges[i]) - tp if hard else blocks.sums(i, 1.0 - reference)))
        return found

    sums = np.array(for_each(of_part, range(len(parts)), int(blocks.before[-1])))
    weights: Array = sums.sum(axis=0)[..., ::-1]
    return weights


def _cells(blocks: Blocks, block: int, parts: Sequence[Ordered]) -> Ordered:
    """Return the cells of a block in order."""
    score, order = blocks.ordered(block)
    references = [part.reference[own] for part, own in zip(parts, blocks.slices(block), strict=True)]
    reference = references[0] if len(references) == 1 else np.concatenate(references)
    return Ordered(score, reference if order is None else reference[order])
