"""Tables of annotators, and simulated labels of units of time by known models."""

import numpy as np
from called import OTHER, REFERENCE, SYSTEM
from tables import columns_of as table

from sedeval_soft.apps.annotators.units import Units
from sedeval_soft.timeline import Timed

TABLES = [REFERENCE, SYSTEM, OTHER]


def rows_of(rows):
    """Return file, onset, offset, class and value of each row of a table, rounded as in written tables."""
    of = zip(
        rows.file, rows.onset.tolist(), rows.offset.tolist(), rows.label, rows.value.tolist(), strict=True
    )
    return [(rows.files[f], on, off, rows.classes[k], round(value, 6)) for f, on, off, k, value in of]


def tables_of(values, labelled):
    """Return a table for each annotator; each segment is a file of one second."""
    tables = []
    for said, where in zip(values, labelled, strict=True):
        there = zip(*np.nonzero((said > 0) & where), strict=True)
        rows = [(f"{n}.wav", 0.0, 1.0, f"class {k}") for k, n in there]
        tables.append(table(rows, [f"{n}.wav" for n in np.flatnonzero(where)]))
    return tables


def units_of(values, labelled, weight=None):
    """Return values of segments, (n_annotators, n_classes, n_segments), as units; some are labelled."""
    n, n_classes, size = values.shape
    label = np.repeat(np.arange(n_classes, dtype=np.int32), size)
    onset = np.tile(np.arange(size, dtype=np.int64), n_classes)
    weight = np.ones(len(label)) if weight is None else weight
    pieces = Timed(np.zeros_like(label), label, onset, onset + 1)
    rows, given = values.reshape(n, -1), np.tile(labelled, n_classes)
    return Units(rows, given, label, weight, pieces, np.arange(len(label)))


def confused(n_annotators, n_classes, n_segments, seed, missing=0.0):
    """Return labels by Dawid and Skene's model, the segments that each annotator labelled, and the truth.

    The truth has the classes, (n_classes, n_segments), and the annotators' sensitivity and specificity,
    (n_annotators, n_classes) each.
    """
    rng = np.random.default_rng(seed)
    sensitivity = rng.uniform(0.5, 0.95, (n_annotators, n_classes))
    specificity = rng.uniform(0.7, 0.99, (n_annotators, n_classes))
    there = rng.random((n_classes, n_segments)) < rng.uniform(0.1, 0.5, (n_classes, 1))
    says_yes = np.where(there, sensitivity[..., None], 1.0 - specificity[..., None])
    values = (rng.random((n_annotators, n_classes, n_segments)) < says_yes).astype(float)
    return values, rng.random((n_annotators, n_segments)) >= missing, (there, sensitivity, specificity)


def apart(rows):
    """Join rows (file, class, onset, offset) that overlap, as for annotators' events; slowly."""
    joined = []
    for row in sorted(rows):
        if joined and row[:2] == joined[-1][:2] and row[2] < joined[-1][3]:
            joined[-1] = (*joined[-1][:3], max(row[3], joined[-1][3]))
        else:
            joined.append(tuple(row))
    return joined
