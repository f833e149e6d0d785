"""The measures of curves of many cells, block by block of scores: nothing as long as the cells is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.blocks import Blocks
from sedeval_soft.core.threads import for_each
from sedeval_soft.measures.curves.points import Ordered, Points
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
    n_sys = np.concatenate(([0], np.cumsum(blocks.size[::-1])))

    def points(place: int) -> list[Points]:
        cells = _cells(blocks, downwards[place], parts)
        return [Points.of(Ordered(cells.score, cut(cells.reference))) for cut in cuts]

    above = [_above(blocks, [cut(part.reference) for part in parts]) for cut in cuts]

    def sums(place: int) -> list[_Swept]:
        before = int(n_sys[place])
        return [
            _Swept.of(own, float(tp[place]), float(fp[place]), before)
            for own, (tp, fp) in zip(points(place), above, strict=True)
        ]

    size = int(n_sys[-1]) if len(parts) > 1 else 0
    columns = list(zip(*for_each(sums, range(len(blocks)), size), strict=True))
    scores = []
    for i, column in enumerate(columns):
        # The sums of blocks and of points may differ in their last digits: the ends are those of points.
        tp, fp = (
            np.maximum.accumulate([0.0, *(getattr(of, name) for of in column)]) for name in ("tp", "fp")
        )

        def within(place: int, i: int = i, tp: Array = tp, fp: Array = fp) -> tuple[Array, Array]:
            own = points(place)[i]
            ends = ((own.tp, tp), (own.fp, fp))
            return tuple(np.minimum(np.append(0, of) + at[place], at[place + 1]) for of, at in ends)

        roc = Roc(tp, fp, np.array([of.sums.pairs for of in column]), within)
        scores.append(precision_scores([of.sums for of in column], tp[-1].item()) | roc.scores(*rates))
    return scores


@dataclass(frozen=True, slots=True)
class _Swept:
    """The sums of a block, and what is detected by its end."""

    sums: Sums
    tp: float
    fp: float

    @classmethod
    def of(cls, points: Points, tp: float, fp: float, n_sys: int) -> _Swept:
        sums = sums_of(points, tp, n_sys)
        return cls(sums, tp + points.tp[-1], fp + points.fp[-1]) if len(points.tp) else cls(sums, tp, fp)


def _above(blocks: Blocks, references: Sequence[Array]) -> tuple[Array, Array]:
    """Return the weights of positives and negatives above each block, from the highest down."""
    tp = np.concatenate(([0.0], np.cumsum(blocks.sums(references)[::-1])))
    if references[0].dtype == np.bool_:
        return tp, np.concatenate(([0], np.cumsum(blocks.size[::-1]))) - tp
    fp = blocks.sums([1.0 - reference for reference in references])[::-1]
    return tp, np.concatenate(([0.0], np.cumsum(fp)))


def _cells(blocks: Blocks, block: int, parts: Sequence[Ordered]) -> Ordered:
    """Return the cells of a block in order."""
    score, order = blocks.ordered(block)
    references = [part.reference[own] for part, own in zip(parts, blocks.slices(block), strict=True)]
    reference = references[0] if len(references) == 1 else np.concatenate(references)
    return Ordered(score, reference if order is None else reference[order])
