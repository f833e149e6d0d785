"""sed_scores_eval's own score folders are read, and reads those that are written."""

import numpy as np
import pandas as pd
import pytest
from drawn import facts
from tables import columns_of, wide_rows

from sedeval_soft import evaluate
from sedeval_soft.tables import read_rows
from sedeval_soft.tools.convert import convert

peer = pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")


def test_folders_that_the_peer_wrote_are_read(tmp_path):
    from sed_scores_eval.base_modules.io import write_sed_scores
    from sed_scores_eval.base_modules.scores import create_score_dataframe

    values, edges = np.random.default_rng(0).random((2, 5, 2)), np.arange(6) * 0.1
    frames = [create_score_dataframe(each, edges, ["car", "dog"]) for each in values]
    write_sed_scores(dict(zip(("Y1", "Y2.3"), frames, strict=True)), tmp_path / "scores")
    rows = read_rows(tmp_path / "scores")
    assert (rows.has_steps, rows.files, rows.classes) == (True, ("Y1", "Y2.3"), ("car", "dog"))
    assert np.array_equal(np.array(rows.values).T, np.concatenate(values))
    assert np.array_equal(rows.onset, np.tile(edges[:-1], 2))


def test_folders_that_are_written_are_read_by_the_peer(tmp_path):
    rows = wide_rows(np.random.default_rng(1).random((8, 3)), 0.02, files=2)
    assert convert(rows, tmp_path / "scores", to="score-dir").losses == ()
    lazy = peer.io.lazy_sed_scores_loader(tmp_path / "scores")
    assert set(lazy.audio_ids if hasattr(lazy, "audio_ids") else lazy.keys()) == set(rows.files)
    for code, name in enumerate(rows.files):
        kept, frame = rows.file == code, lazy[name]
        assert list(frame.columns) == ["onset", "offset", *rows.classes]
        # pandas' own parser of numbers is not exact in the last digits.
        assert np.allclose(frame.to_numpy()[:, 2:], np.array(rows.values).T[kept], rtol=1e-14, atol=0)
    assert facts(read_rows(tmp_path / "scores")) == facts(rows)


def test_scores_and_events_of_the_peer_are_sides(tmp_path):
    """What its readers return, mappings of files, is what the tables say that it has read."""
    rows = wide_rows(np.random.default_rng(2).random((40, 3)).round(3), 0.25, files=4)
    convert(rows, tmp_path / "scores", to="score-dir")
    events = [
        (f"{file}.wav", k, k + 1.5, f"class{k % 3}") for file in rows.files for k in range(int(file[-1]))
    ]
    table = tmp_path / "events.tsv"
    pd.DataFrame(columns_of(events, ["file0.wav"])).to_csv(table, sep="\t", index=False)
    ground_truth = peer.io.read_ground_truth_events(table)
    lazy = peer.io.lazy_sed_scores_loader(tmp_path / "scores")
    given = {"durations": dict.fromkeys(rows.files, 2.5), "psds": "dcase-psds1"}
    expected = dict(evaluate(table, tmp_path / "scores", **given))
    assert expected["intersection.hard.psds"] is not None
    for theirs in ({file: lazy[file] for file in rows.files}, lazy):
        assert dict(evaluate(ground_truth, theirs, **given)) == expected
