"""Confusion of classes: classes of the system against classes of the reference.

Segments have several classes at once, so their matrix counts co-activation: each segment counts for every
pair of an active reference class and an active system class. The matrix of events counts the matched pairs,
and then pairs of the remaining events, whatever their class: substitutions.
"""

from __future__ import annotations

import numpy as np

from sedeval_soft.arrays import Bools, Index
from sedeval_soft.measures.event import match_events
from sedeval_soft.measures.matching import PairCandidates, PairRule, nearest_matching
from sedeval_soft.timeline.events import Events

_BLOCK = 1 << 16


Counts = tuple[Index, Index, Index]
"""Counts over all files: pairs, (n_classes, n_classes) reference class by system class; missed, (n_classes,)
reference without any system class; inserted, (n_classes,) system without any reference class."""


def confuse_segments(reference: Bools, system: Bools) -> Counts:
    """Count segments in which classes are active together; (n_classes, n_segments) each."""
    pairs = np.zeros((len(reference), len(reference)), dtype=np.int64)
    for begin in range(0, reference.shape[1], _BLOCK):
        # Numbers up to the size of a block are exact in these floats, and products of matrices fast.
        y, p = (side[:, begin : begin + _BLOCK].astype(np.float32) for side in (reference, system))
        pairs += (y @ p.T).astype(np.int64)
    missed = (reference & ~system.any(axis=0)).sum(axis=1)
    inserted = (system & ~reference.any(axis=0)).sum(axis=1)
    return pairs, missed, inserted


def confuse_events(reference: Events, system: Events, n_classes: int, rule: PairRule) -> Counts:
    """Count matched events, and pairs of classes among the events left unmatched."""
    matched = match_events(reference, system, n_classes, rule)
    free = np.ones(len(system), dtype=bool)
    free[matched[matched >= 0]] = False
    left, right = np.flatnonzero(matched < 0), np.flatnonzero(free)
    ours, theirs = reference.take(left), system.take(right)
    files = ours.file.astype(np.int64), theirs.file.astype(np.int64)
    taken = nearest_matching(*PairCandidates.of(ours, theirs, files, rule).pairs(), ours, theirs)
    matched[left[taken >= 0]] = right[taken[taken >= 0]]
    hit = matched >= 0
    pairs = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(pairs, (reference.label[hit], system.label[matched[hit]]), 1)
    inserted = np.bincount(system.label, minlength=n_classes) - pairs.sum(axis=0)
    return pairs, np.bincount(reference.label[~hit], minlength=n_classes), inserted
