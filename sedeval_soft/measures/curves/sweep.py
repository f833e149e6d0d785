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
    found = [
        np.concatenate(([0.0], np.cumsum(blocks.sums([cut(part.reference) for part in parts])[::-1])))
        for cut in cuts
    ]

    def points(place: int) -> list[Points]:
        cells = _cells(blocks, downwards[place], parts)
        return [Points.of(Ordered(cells.score, cut(cells.reference))) for cut in cuts]

    def sums(place: int) -> list[Sums]:
        before = int(n_sys[place])
        return [sums_of(own, tp[place].item(), before) for own, tp in zip(points(place), found, strict=True)]

    places = range(len(blocks))
    size = int(n_sys[-1]) if threads else 0
    columns = list(zip(*for_each(sums, places, size), strict=True))
    scores = []
    for i, (tp, column) in enumerate(zip(found, columns, strict=True)):
        # The sums of blocks and of points may differ in their last digits; at the end all is found.
        tp[-1] = next((block.tp[-1] for block in column[::-1] if len(block.tp)), 0.0)

        def within(place: int, i: int = i, tp: Array = tp) -> tuple[Array, Array]:
            own = points(place)[i]
            hits = np.append(0, own.tp) + tp[place]
            return hits, np.append(0, own.n_sys) + n_sys[place] - hits

        roc = Roc(tp, n_sys - tp, np.array([block.pairs for block in column]), within)
        scores.append(precision_scores(column, tp[-1].item()) | roc.scores(*rates))
    return scores


def _cells(blocks: Blocks, block: int, parts: Sequence[Ordered]) -> Ordered:
    """Return the cells of a block in order."""
    score, order = blocks.ordered(block)
    references = [part.reference[own] for part, own in zip(parts, blocks.slices(block), strict=True)]
    reference = references[0] if len(references) == 1 else np.concatenate(references)
    return Ordered(score, reference if order is None else reference[order])
