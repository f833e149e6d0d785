"""The measures of curves of many cells, block by block of scores: nothing as long as the cells is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    parts: Sequence[Ordered], cuts: Sequence[Cut], rates: tuple[float, float], *, threads: bool = False
) -> list[dict[str, float]]:
    """Return the measures of curves of some cells, by name, for each way to cut their reference.

    parts: the cells, in as many pieces as there are. rates: `max_fpr` and `max_fnr`.
    """
    blocks = Blocks.of([part.score for part in parts])
    # From the highest scores down.
    downwards = range(len(blocks))[::-1]
    n_sys = np.concatenate(([0], np.cumsum(blocks.size[::-1])))
    found = [_detected(blocks, [cut(part.reference) for part in parts]) for cut in cuts]

    def points(place: int) -> list[Points]:
        cells = _cells(blocks, downwards[place], parts)
        return [Points.of(Ordered(cells.score, cut(cells.reference))) for cut in cuts]

    def sums(place: int) -> list[tuple[Sums, float, float]]:
        results = []
        for own, (tp, fp) in zip(points(place), found, strict=True):
            of_block = sums_of(own, tp[place].item(), int(n_sys[place]))
            last = (own.tp[-1] + tp[place], own.fp[-1] + fp[place]) if len(own.tp) else (tp[place], fp[place])
            results.append((of_block, *last))
        return results

    size = int(n_sys[-1]) if threads else 0
    columns = list(zip(*for_each(sums, range(len(blocks)), size), strict=True))
    scores = []
    for i, ((tp, fp), column) in enumerate(zip(found, columns, strict=True)):
        # The sums of blocks and of points may differ in their last digits: the ends are those of points.
        tp[1:], fp[1:] = (np.maximum.accumulate([end[k] for end in column]) for k in (1, 2))

        def within(place: int, i: int = i, tp: Array = tp, fp: Array = fp) -> tuple[Array, Array]:
            own = points(place)[i]
            limits = tp[place + 1], fp[place + 1]
            ends = np.append(0, own.tp) + tp[place], np.append(0, own.fp) + fp[place]
            return np.minimum(ends[0], limits[0]), np.minimum(ends[1], limits[1])

        roc = Roc(tp, fp, np.array([block.pairs for block, _, _ in column]), within)
        blocks_of = [block for block, _, _ in column]
        scores.append(precision_scores(blocks_of, tp[-1].item()) | roc.scores(*rates))
    return scores


def _detected(blocks: Blocks, references: Sequence[Array]) -> tuple[Array, Array]:
    """Return the weights of positives and negatives above each block, and in all, from the highest down."""
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
