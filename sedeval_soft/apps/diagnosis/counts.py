"""Errors by kind, file and class, and the worst examples of errors of events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sedeval_soft.apps.diagnosis.events import EventErrors, classify_errors
from sedeval_soft.apps.diagnosis.kinds import HIT, KINDS
from sedeval_soft.apps.diagnosis.prices import Counts, prices
from sedeval_soft.apps.diagnosis.segments import (
    SEGMENT_KINDS,
    SOFT_KINDS,
    Sums,
    count_segment_errors,
    count_soft_errors,
)
from sedeval_soft.apps.diagnosis.sensitivity import Bin, sensitivity
from sedeval_soft.arrays import Array, Index
from sedeval_soft.evaluation import Cells, not_ignored, soft_cells
from sedeval_soft.measures import Tally, pair_rule
from sedeval_soft.settings import Settings
from sedeval_soft.tables import to_seconds
from sedeval_soft.timeline import Events, Recordings, detected, grid_of, hard_events, pool_rows, positive

Family = tuple[str, str]
EVENTS: Family = ("event", "hard")

KINDS_OF_ERRORS: Mapping[Family, tuple[str, ...]] = {
    EVENTS: KINDS,
    ("segment", "hard"): SEGMENT_KINDS,
    ("segment", "soft"): SOFT_KINDS,
}
"""The kinds of errors of each basis and reading."""

MOST_EXAMPLES = 3
"""The most examples of each kind of error."""


@dataclass(frozen=True, slots=True)
class Example:
    """The place of an error: the file, the onset in seconds, and the class."""

    file: str
    onset: float
    class_name: str


class Classified(NamedTuple):
    """The hard events of the reference and of the system, and their kinds of errors."""

    reference: Events
    system: Events
    errors: EventErrors

    @classmethod
    def of(cls, pair: Recordings) -> Classified:
        """Classify the errors of a pair; raises TooManyOverlapsError where too many events overlap."""
        (reference, everything), rule = hard_events(pair), pair_rule(pair.settings)
        system = not_ignored(pair, reference, everything, rule)
        errors = classify_errors(reference, system, len(pair.classes), rule, pair.settings.matching)
        return cls(reference, system, errors)

    def counts(self, pair: Recordings, n_ref: Array) -> Counts:
        """Return the errors by kind, class and file; n_ref: (n_files, n_classes)."""
        from scipy.sparse import csr_array

        rows, files = [], []
        for k, (kind, events) in enumerate(
            ((self.errors.false, self.system), (self.errors.missed, self.reference))
        ):
            some = kind != HIT
            rows.append((k * len(KINDS) + kind[some]) * len(pair.classes) + events.label[some])
            files.append(events.file[some])
        place = np.concatenate(rows), np.concatenate(files)
        shape = 2 * len(KINDS) * len(pair.classes), len(pair.files)
        # What is in one place is added up.
        return Counts(KINDS, csr_array((np.ones(len(place[0]), dtype=np.int64), place), shape=shape), n_ref)

    def _prices(self, beta: float) -> tuple[float, float]:
        """Return the costs of a false positive and of a false negative in the micro average."""
        tp = np.asarray(np.count_nonzero(self.errors.missed == HIT))
        of_fp, of_fn = prices(tp, len(self.system) - tp, len(self.reference) - tp, beta)
        return float(of_fp), float(of_fn)

    def bins(self, n_files: int, settings: Settings) -> list[Bin]:
        """Return what recall and precision depend on."""
        hits = self.errors.missed == HIT, self.errors.false == HIT
        return sensitivity((self.reference, hits[0]), (self.system, hits[1]), n_files, settings)

    def examples(self, pair: Recordings, beta: float) -> list[tuple[str, Example]]:
        """Return errors with their kinds, those that cost most and are wrong for longest first.

        The worst of each kind, and the worst of each kind in each class. An error is a miss, a false alarm,
        or all of those that belong together, such as an event and the detections that it is split into; it
        begins with the first of its misses.
        """
        if not len(self.reference):
            return []
        kind, file, onset, label = self._worst_first(self._prices(beta))
        of_classes = np.unique(kind * len(pair.classes) + label, return_index=True)[1]
        of_kinds = [np.flatnonzero(kind == number)[:MOST_EXAMPLES] for number in range(len(KINDS))]
        some = np.unique(np.concatenate([of_classes, *of_kinds]))
        return [
            (KINDS[number], Example(pair.files[where], float(to_seconds(begin)), pair.classes[of]))
            for number, where, begin, of in zip(
                *(each[some].tolist() for each in (kind, file, onset, label)), strict=True
            )
        ]

    def _worst_first(self, of_each: tuple[float, float]) -> tuple[Index, Index, Index, Index]:
        """Return the kind of each error, and its file, onset and class, (n,) each: the costliest first.

        of_each: the costs of a false positive and of a miss.
        """
        reference, system, errors = self
        left, right = errors.links
        n_ref, n_sys = len(reference), len(system)
        # An error goes by the first of its misses; a false alarm without any by itself.
        of_false = np.arange(n_sys) + n_ref
        by_time = np.lexsort((reference.offset[left], reference.onset[left], right))[::-1]
        of_false[right[by_time]] = left[by_time]
        of_missed = np.arange(n_ref)
        of_missed[left] = of_false[right]
        file, onset, label, offset = (
            np.concatenate((getattr(reference, name), getattr(system, name))).astype(np.int64)
            for name in ("file", "onset", "label", "offset")
        )
        kind, error = np.concatenate((errors.missed, errors.false)), np.concatenate((of_missed, of_false))
        wrong, price = kind != HIT, np.repeat(of_each[::-1], (n_ref, n_sys))
        cost = np.bincount(error, price * wrong, minlength=len(error))
        length = np.bincount(error, (offset - onset) * wrong, minlength=len(error))
        # What both sides say of one class is right.
        same = reference.label[left] == system.label[right]
        ours, theirs = reference.take(left[same]), system.take(right[same])
        common = np.minimum(ours.offset, theirs.offset) - np.maximum(ours.onset, theirs.onset)
        np.add.at(length, of_missed[left[same]], -2.0 * np.maximum(common, 0))
        some = np.flatnonzero(cost > 0)
        worst = some[np.lexsort((label[some], onset[some], file[some], -length[some], -cost[some]))]
        return kind[worst], file[worst], onset[worst], label[worst]


def count_segments(pair: Recordings, tally: Tally) -> Iterator[tuple[Family, Counts]]:
    """Yield the errors of hard and of soft segments, as far as these are evaluated.

    tally: of the same files. Raises EvaluationError for more segments than fit in memory.
    """
    settings = pair.settings
    if not settings.wants("segment", "hard", "soft"):
        return
    grid = grid_of(pair)
    grid.check_size(len(pair.classes), means=settings.pool == "mean")
    reference, system = (pool_rows(rows, grid, settings.pool) for rows in (pair.reference, pair.system))
    if settings.wants("segment", "hard"):
        sides = positive(reference, settings), detected(system, settings)
        sums = count_segment_errors(*sides, grid.start, grid.apart)
        yield ("segment", "hard"), _gathered(SEGMENT_KINDS, sums, tally.per_class["segment.hard.n_ref"])
    if settings.wants("segment", "soft"):
        cells = soft_cells(pair, Cells("segment", reference, system, grid.start, grid.n_evaluated))
        sums = count_soft_errors(cells.reference, cells.system, cells.start)
        yield ("segment", "soft"), _gathered(SOFT_KINDS, sums, tally.per_class["segment.soft.n_ref"])


def _gathered(kinds: tuple[str, ...], sums: Sums, n_ref: Array) -> Counts:
    """Return errors whose sums are by kind and side; impossible counts of a kind are 0."""
    from scipy.sparse import csr_array

    none = np.zeros_like(n_ref, dtype=np.float64)
    columns = [sums.get(f"{kind}.{what}", none) for what in ("fp", "fn") for kind in kinds]
    return Counts(kinds, csr_array(np.concatenate(columns, axis=1).T), n_ref)
