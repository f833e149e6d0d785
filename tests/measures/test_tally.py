"""Tallies add lawfully: any split of the files, merged in any order, is the same to the last byte.

Also where columns are kept as the few entries that they have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tables import long_rows

from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.recordings import align


def tally(reference, system, files, chosen=Settings()):  # noqa: B008
    sides = (long_rows([row for row in side if row[0] in files], files=files) for side in (reference, system))
    return tally_pair(align(*sides, chosen))


def bytes_of(tally):
    groups = (tally.per_class, tally.per_file, tally.samples)
    columns = [{n: (a.dtype.str, a.shape, np.asarray(a).tobytes()) for n, a in g.items()} for g in groups]
    return [tally.files, tally.classes, tally.recipe, *columns]


def made(*files, **chosen):
    rows = [(file, 0.0, 1.0, "car", 0.7) for file in files]
    return tally(rows, rows, files, Settings(**chosen))


def test_the_empty_tally_changes_nothing():
    one = made("a", "b")
    assert bytes_of(one + Tally()) == bytes_of(Tally() + one) == bytes_of(one)
    assert bytes_of(Tally.merge([])) == bytes_of(Tally() + Tally()) == bytes_of(Tally())


def test_a_file_twice_and_other_settings_are_refused():
    with pytest.raises(EvaluationError, match="'b' was tallied twice"):
        made("a", "b") + made("b", "c")
    with pytest.raises(EvaluationError, match=r"onset_collar=0\.2.*onset_collar=0\.3"):
        made("a") + made("c", onset_collar=0.3)


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


def test_classes_that_a_part_lacks_count_zero():
    a = tally([("a", 0.0, 2.0, "car", 0.7)], [], ("a",))
    b = tally([("b", 0.0, 3.0, "ant", 0.7)], [], ("b",))
    both = b + a
    assert both.classes == ("ant", "car")
    assert both.per_class["segment.hard.n_ref"].tolist() == [[0, 2], [3, 0]]
    assert both.samples["segment.reference"].tolist() == [[0.0] * 2 + [0.7] * 3, [0.7] * 2 + [0.0] * 3]
