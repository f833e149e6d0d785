"""Any split of the files, merged in any order, gives the same tally to the last byte.

This also applies to columns that are kept as their few entries.
"""

from dataclasses import replace

import numpy as np
import pytest
from tables import long_rows

from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation import tally_pair
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.timeline import align


def made(*files, **chosen):
    rows = long_rows([(file, 0.0, 1.0, "car", 0.7) for file in files])
    return tally_pair(align(rows, rows, Settings(**chosen)))


def bytes_of(tally):
    columns = [
        {name: (column.dtype.str, column.shape, np.asarray(column).tobytes()) for name, column in of.items()}
        for of in (tally.per_class, tally.per_file, tally.samples)
    ]
    return [tally.files, tally.classes, tally.recipe, *columns]


def test_the_empty_tally_changes_nothing_and_other_settings_are_refused():
    one = made("a", "b")
    assert bytes_of(one + Tally()) == bytes_of(Tally() + one) == bytes_of(one)
    assert bytes_of(Tally.merge([])) == bytes_of(Tally() + Tally()) == bytes_of(Tally())
    with pytest.raises(EvaluationError, match=r"onset_collar=0\.2.*onset_collar=0\.3"):
        one + made("c", onset_collar=0.3)


@pytest.mark.parametrize(
    "change",
    [
        {"files": ("b", "a")},
        {"files": ("a", "a")},
        {"files": ("a",)},
        {"classes": ("car", "dog")},
        {"samples": {"segment.system": np.zeros((1, 5))}},
    ],
)
def test_a_tally_checks_its_own_shape(change):
    with pytest.raises(ValueError, match=r"tally|shape"):
        replace(made("a", "b"), **change)
