"""Systems whose files are exchanged the slow, obvious way: rows of one table go to the other."""

from __future__ import annotations

import math

import numpy as np
from tables import long_rows

from sedeval_soft.api.evaluation import evaluate_rows


def tuples(rows):
    columns = zip(rows.file, rows.onset, rows.offset, rows.label, rows.value, strict=True)
    return [(rows.files[f], float(on), float(off), rows.classes[c], float(v)) for f, on, off, c, v in columns]


def exchanged(one, other, files):
    """Two systems whose rows of some files have changed places; files that one lacks, it lacks afterwards."""
    first, second = tuples(one), tuples(other)
    kept, moved = ([row for row in side if row[0] not in files] for side in (first, second))
    names = [
        tuple(f for f in a.files if f not in files) + tuple(f for f in b.files if f in files)
        for a, b in ((one, other), (other, one))
    ]
    return (
        long_rows([*kept, *(row for row in second if row[0] in files)], files=names[0]),
        long_rows([*moved, *(row for row in first if row[0] in files)], files=names[1]),
    )


def value_of(reference, system, settings, name):
    value = evaluate_rows(reference, system, settings)[name]
    return math.nan if value is None else value


def differences_by_hand(reference, systems, settings, name, rows, files):
    found = []
    for row in rows:
        sides = exchanged(*systems, {file for file, taken in zip(files, row, strict=True) if taken})
        one, other = (value_of(reference, side, settings, name) for side in sides)
        found.append(one - other)
    return np.array(found)
