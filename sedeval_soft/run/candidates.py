"""The candidate thresholds of a tally: of each class, or of all classes as one.

Where all files count the same, they are counted as one: values are sorted without saying whose they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.hard import positive
from sedeval_soft.core.tally import Tally, cells_of
from sedeval_soft.core.threads import for_each
from sedeval_soft.measures.candidates import Candidates
from sedeval_soft.measures.steps import Changes, Weights, stacked
from sedeval_soft.run.cell_scores import CELLS
from sedeval_soft.run.thresholds import counted, paired_events
from sedeval_soft.settings import Settings

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Columns = Sequence[Sequence[tuple[Changes, Weights]]]


def candidates_of(
    tally: Tally,
    basis: str,
    settings: Settings,
    *,
    with_nothing: bool = False,
    every: bool = False,
    together: bool = False,
) -> list[Candidates]:
    """Return the candidate thresholds of each class.

    with_nothing: whether detecting nothing is one of cells, too: it can have fewest errors, but never the
    best F. every: whether any value of cells is one, for what is not highest right below a positive.
    together: count all files as one, which is faster where they have no weights of their own.
    """
    if basis not in CELLS:
        columns, n_ref = _changes(tally, basis, settings)
        if together:
            return _of_steps(columns, n_ref.sum(axis=0))
        return [Candidates.of_changes(columns, c, n_ref[:, c]) for c in range(len(tally.classes))]
    scores, hits, file, n_files = _cells(tally, basis, settings, together=together)

    def of_class(c: int) -> Candidates:
        of = scores[c], hits[c], file, n_files
        return Candidates.of_cells(*of, with_nothing=with_nothing, every=every)

    return for_each(of_class, range(len(scores)), scores.size)


def pooled_candidates(
    tally: Tally,
    basis: str,
    settings: Settings,
    *,
    with_nothing: bool = False,
    every: bool = False,
    together: bool = False,
    regardless: bool = False,
) -> Candidates:
    """Return the candidate thresholds of all classes as one.

    regardless: also count what is paired whatever its class, which intersections do not know. with_nothing,
    every, together: as for `candidates_of`.
    """
    if basis not in CELLS:
        columns, n_ref = _changes(tally, basis, settings)
        if regardless and basis == "event":
            columns = (*columns, paired_events(tally, settings))
        if not together:
            return Candidates.of_changes(columns, None, n_ref.sum(axis=1))
        as_one = [[(c._replace(label=np.zeros_like(c.label)), w) for c, w in column] for column in columns]
        return _of_steps(as_one, n_ref.sum(keepdims=True).reshape(-1))[0]
    scores, hits, file, n_files = _cells(tally, basis, settings, together=together)
    pairs = _pairs(scores, hits, file) if regardless else None
    files = np.tile(file, len(scores)) if n_files > 1 else file
    of = scores.reshape(-1), hits.reshape(-1), files, n_files
    return Candidates.of_cells(*of, with_nothing=with_nothing, every=every or regardless, pairs=pairs)


def _cells(
    tally: Tally, basis: str, settings: Settings, *, together: bool
) -> tuple[Floats, Bools, Codes, int]:
    """Return values, what is active in the reference, whose each cell is, and the number of files."""
    lengths = tally.per_file[cells_of(basis)]
    if together:
        lengths = lengths.sum(keepdims=True)
    file = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    hits = positive(tally.samples[f"{basis}.reference"], settings)
    return tally.samples[f"{basis}.system"], hits, file, len(lengths)


def _pairs(scores: Floats, hits: Bools, file: Codes) -> tuple[Floats, Codes]:
    """Return below which thresholds one more of a cell's classes is paired, whatever it is, and its file.

    Of as many classes as are active in the reference, the highest scores: (n_pairs,) each.
    """
    n_ref = hits.sum(axis=0)
    sounding = np.flatnonzero(n_ref)
    ordered = -np.sort(-scores[:, sounding], axis=0)
    paired = np.arange(len(scores))[:, None] < n_ref[sounding]
    return ordered[paired], np.broadcast_to(file[sounding], paired.shape)[paired]


def _changes(tally: Tally, basis: str, settings: Settings) -> tuple[Columns, Index]:
    """Return what adds to TP and to N_sys when, and the events of the reference, (n_files, n_classes)."""
    found = counted(tally, basis, settings)
    return (found.tp, found.n_sys), found.n_ref


def _of_steps(columns: Columns, n_ref: Index) -> list[Candidates]:
    """Return the candidates of each class, all files as one; n_ref: (n_classes,)."""
    label, low, counts = stacked(len(n_ref), columns)
    bounds = np.searchsorted(label, np.arange(len(n_ref) + 1)).tolist()
    return [
        Candidates.of_steps(low[begin:end], counts[:, begin:end], size)
        for begin, end, size in zip(bounds[:-1], bounds[1:], n_ref.tolist(), strict=True)
    ]
