"""Every function of Python that reads tables takes what is said of their columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from sedeval_soft import InputError, build_site, compare, evaluate, mean_of_runs, threshold_curves

SAMPLES = Path(__file__).parents[2] / "sample_data"
COLUMNS = "filename=of,value=p"


@pytest.fixture
def tables(tmp_path):
    """Return reference and two systems under names of columns that nobody knows."""
    folder = tmp_path / "tables"
    folder.mkdir()
    paths = []
    for name in ("ref", "sys", "sys_b"):
        header, rows = (SAMPLES / f"{name}.tsv").read_text().split("\n", 1)
        header = header.replace("filename", "of").replace("soft_value", "p")
        paths.append(folder / f"{name}.tsv")
        paths[-1].write_text(f"{header}\n{rows}")
    return paths


def test_columns_are_taken(tables):
    reference, *systems = tables
    plain = evaluate(SAMPLES / "ref.tsv", SAMPLES / "sys.tsv")["segment.soft.f1.macro"]
    with pytest.raises(InputError, match="--columns"):
        compare(reference, systems)
    board = compare(reference, systems, columns=COLUMNS)
    assert board.systems[0]["segment.soft.f1.macro"] == plain
    names = [SAMPLES / "sys.tsv", SAMPLES / "sys_b.tsv"]
    mean = mean_of_runs(reference, systems, columns=COLUMNS)
    assert dict(mean) == dict(mean_of_runs(SAMPLES / "ref.tsv", names))
    with pytest.raises(InputError, match="--columns"):
        threshold_curves(reference, systems[0])
    threshold_curves(reference, systems[0], columns=COLUMNS)


def test_a_site_takes_them(tables, tmp_path):
    reference, *systems = tables
    inside = tmp_path / "submissions"
    inside.mkdir()
    for path in systems:
        path.rename(inside / path.name)
    site = build_site(inside, reference, tmp_path / "site", columns=COLUMNS)
    assert len(site.board.systems) == 2
