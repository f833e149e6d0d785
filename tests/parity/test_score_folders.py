"""sed_scores_eval's own score folders are read, and reads those that are written."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import facts
from tables import wide_rows

from sedeval_soft import evaluate
from sedeval_soft.tables import read_rows
from sedeval_soft.tools.convert import convert

peer = pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")


def test_folders_that_the_peer_wrote_are_read(tmp_path):
    from sed_scores_eval.base_modules.io import write_sed_scores
    from sed_scores_eval.base_modules.scores import create_score_dataframe

    rng = np.random.default_rng(0)
    scores = {name: rng.random((5, 2)) for name in ("Y1", "Y2.3")}
    edges = np.arange(6) * 0.1
    frames = {name: create_score_dataframe(values, edges, ["car", "dog"]) for name, values in scores.items()}
    write_sed_scores(frames, tmp_path / "scores")
    rows = read_rows(tmp_path / "scores")
    assert rows.has_steps
    assert rows.files == ("Y1", "Y2.3")
    assert rows.classes == ("car", "dog")
    assert np.array_equal(np.array(rows.values).T, np.concatenate(list(scores.values())))
    assert np.array_equal(rows.onset, np.tile(edges[:-1], 2))


def test_folders_that_are_written_are_read_by_the_peer(tmp_path):
    rng = np.random.default_rng(1)
    rows = wide_rows(rng.random((8, 3)), 0.02, files=2)
    assert convert(rows, tmp_path / "scores", to="score-dir").losses == ()
    lazy = peer.io.lazy_sed_scores_loader(tmp_path / "scores")
    assert set(lazy.audio_ids if hasattr(lazy, "audio_ids") else lazy.keys()) == set(rows.files)
    for code, name in enumerate(rows.files):
        frame = lazy[name]
        assert list(frame.columns) == ["onset", "offset", *rows.classes]
        kept = rows.file == code
        # pandas' own parser of numbers is not exact in the last digits.
        assert np.allclose(frame.to_numpy()[:, 2:], np.array(rows.values).T[kept], rtol=1e-14, atol=0)
    assert facts(read_rows(tmp_path / "scores")) == facts(rows)


def test_scores_and_events_of_the_peer_are_sides(tmp_path):
    """What its readers return, mappings of files, is what the tables say that it has read."""
    rng = np.random.default_rng(2)
    rows = wide_rows(rng.random((40, 3)).round(3), 0.25, files=4)
    convert(rows, tmp_path / "scores", to="score-dir")
    events = tmp_path / "events.tsv"
    lines = [f"{file}.wav\t{k}\t{k + 1.5}\tclass{k % 3}" for file in rows.files for k in range(int(file[-1]))]
    silent = [f"{file}.wav\t\t\t" for file in rows.files if file[-1] == "0"]
    events.write_text("\n".join(["filename\tonset\toffset\tevent_label", *lines, *silent]) + "\n")
    ground_truth = peer.io.read_ground_truth_events(events)
    lazy = peer.io.lazy_sed_scores_loader(tmp_path / "scores")
    scores = {file: lazy[file] for file in rows.files}
    given = {"durations": dict.fromkeys(rows.files, 2.5), "psds": "dcase-psds1"}
    expected = dict(evaluate(events, tmp_path / "scores", **given))
    assert expected["intersection.hard.psds"] is not None
    for theirs in (scores, lazy):
        assert dict(evaluate(ground_truth, theirs, **given)) == expected
