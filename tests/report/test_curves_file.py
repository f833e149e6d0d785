"""Curves written to files are those of the scores, and give their areas back."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from sedeval_soft import evaluate
from sedeval_soft.report.delimited import COLUMNS, write_curves


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    y, p = (rng.integers(0, 11, (60, 3)) / 10 for _ in range(2))
    y[:, 2] = 0
    return evaluate(y, p, measures=["curves", "calibration"], only="all", psds="dcase-psds1")


@pytest.fixture(scope="module", params=["tsv", "parquet"])
def table(request, scores, tmp_path_factory):
    path = tmp_path_factory.mktemp("curves") / f"c.{request.param}"
    write_curves(str(path), {"s": scores.curves})
    if request.param == "parquet":
        return pd.read_parquet(path)
    # Python reads each number to the last digit; what pandas does depends on its version.
    texts = pd.read_csv(path, sep="\t", dtype=str)
    return texts.assign(**{name: texts[name].map(float) for name in COLUMNS[6:]})


def rows(table, basis, reading, label):
    """Return the rows of a class, or of the micro average, of a basis and reading."""
    chosen = table["class"] == label if label else table.average == "micro"
    return table[(table.basis == basis) & (table.reading == reading) & chosen]


def test_a_row_for_each_threshold_of_each_curve(scores, table):
    assert list(table.columns) == list(COLUMNS)
    for (basis, reading), by_class in scores.curves.families().items():
        for label, curve in by_class.items():
            points = rows(table, basis, reading, label)
            points = points[points.bins.isna()]
            for name in ("threshold", "tp", "n_sys", "precision", "recall", "f1", "error_rate"):
                values = points[name].to_numpy(float)
                np.testing.assert_array_equal(values, getattr(curve, name), err_msg=name)
    assert {"psd_roc"} < set(table.reading)


@pytest.mark.parametrize("reading", ["hard", "soft"])
def test_areas_and_calibration_errors_of_what_was_written_are_the_scores(scores, table, reading):
    for basis, label in product(("segment", "clip"), ("0", "1", None)):
        points = rows(table, basis, reading, label)
        points = points[points.bins.isna()]
        wanted = scores[f"{basis}.{reading}.roc_auc" + (f"[{label}]" if label else ".micro")]
        area = np.trapezoid(points.recall[::-1], points.false_positive_rate[::-1])
        assert area == pytest.approx(float("nan") if wanted is None else wanted, abs=1e-12, nan_ok=True)
    kinds = ("equal_width", "expected"), ("equal_mass", "adaptive")
    for (kind, measure), label in product(kinds, ("0", "1", "2")):
        bins = rows(table, "segment", reading, label)
        bins = bins[bins.bins == kind]
        assert bins.bin_size.sum() == 60
        off = (bins.mean_score - bins.mean_reference).abs()
        wanted = scores[f"segment.{reading}.{measure}_calibration_error[{label}]"]
        assert (off * bins.bin_size).sum() / 60 == pytest.approx(wanted, abs=1e-12)


def test_each_row_names_its_system(scores, tmp_path):
    write_curves(str(tmp_path / "c.tsv"), {"a": scores.curves, "b": scores.curves})
    frame = pd.read_csv(tmp_path / "c.tsv", sep="\t")
    one, other = (frame[frame["system"] == name].drop(columns="system") for name in "ab")
    assert len(one) and one.reset_index(drop=True).equals(other.reset_index(drop=True))
