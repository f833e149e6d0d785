"""Long files: segments between the edges of rows are counted together, with the same scores."""

from __future__ import annotations

import numpy as np
import pytest
from parted import count_in_parts
from tables import long_rows

from sedeval_soft import EvaluationError, evaluate
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.measures.thresholds import ThresholdCounts
from sedeval_soft.settings import Settings
from sedeval_soft.timeline import grid

EXACT = ("precision", "recall", "f1", "error_rate", "tp", "fp", "fn", "n_ref", "n_sys")
FILES, CLASSES = ("a", "b", "c"), ("car", "dog", "cat")


def rows(rng: np.random.Generator, latest: int, levels: int) -> list[tuple]:
    """Return rows with ties, overlaps and gaps, of values that are exact in sums."""
    table = []
    for _ in range(int(rng.integers(1, 15))):
        onset, length, value = (int(rng.integers(0, n)) for n in (latest, 40, levels + 1))
        where = str(rng.choice(FILES)), onset / 10, (onset + length) / 10, str(rng.choice(CLASSES))
        table.append((*where, value / levels))
    return table


@pytest.fixture
def long_files(monkeypatch):
    """Make any file a long one that has more than so many segments."""

    def are(more_than: int) -> None:
        monkeypatch.setattr(grid, "LONG", more_than)
        monkeypatch.setattr(grid, "_SHARE", 0)

    return are


@pytest.mark.parametrize("seed", range(12))
def test_stretches_count_as_their_segments_do(seed, long_files):
    """Whatever the system adds after the end of a file, at given thresholds, of groups and of scenes, too."""
    rng = np.random.default_rng(seed)
    ours, theirs = (long_rows(rows(rng, latest, 8), files=[*FILES]) for latest in (200, 260))
    chosen = [
        {"segment_length": 0.1}, {"segment_length": 0.3, "inclusive": True},
        {"thresholds": {"car": 0.3, "dog": 0.7}},
        {"only": "segment.optimal", "groups": {"pets": ["dog", "cat"]}, "classes": CLASSES},
        {"measures": "divergence", "t_norm": "product"}, {"segment_length": 7, "scenes": {"first": ["a"]}},
    ][seed % 6]  # fmt: skip
    # Files of no more than so many segments stay as they are, beside those that do not.
    scores = []
    for more_than in (10**9, 0, 60):
        long_files(more_than)
        scores.append(dict(evaluate(ours, theirs, **chosen)))
    for some in scores[1:]:
        assert some.keys() == scores[0].keys()
        for name, value in scores[0].items():
            # Sums of values that are multiples of 1/8 are exact, those of logarithms are not.
            if name.split(".")[2].partition("[")[0] in EXACT or ".soft." not in name or value is None:
                assert some[name] == value, name
            else:
                assert some[name] == pytest.approx(value, rel=1e-12, abs=1e-12), name


def test_a_year_is_counted_by_its_rows():
    """31,536,000 segments: 2 are hits, the rest false alarms; of a second of a minute by hand."""
    year = 31_536_000
    scores = evaluate(long_rows([("a", 0, 2, "car")]), long_rows([("a", 0, year, "car")]), only="segment")
    assert scores["segment.soft.n_sys.micro"] == scores["segment.hard.n_sys.micro"] == year
    assert scores["segment.hard.tp.micro"] == scores["segment.optimal.tp.micro"] == 2
    scores = evaluate(
        long_rows([("a", 0, 60, "car")]),
        long_rows([("a", 30, year, "car")]),
        only="segment",
        segment_length=0.001,
    )
    assert scores["segment.soft.tp.micro"] == scores["segment.hard.tp.micro"] == 30_000
    assert scores["segment.soft.fp.micro"] == (year - 60) * 1000
    assert scores["segment.optimal.fn.micro"] in {0, 30_000}


@pytest.mark.parametrize(
    "options", [{"measures": "curves"}, {"pool": "mean"}, {"worst": 3}, {"ci": "bootstrap"}]
)
def test_a_year_of_which_each_segment_must_be_looked_at_is_refused(options):
    with pytest.raises(EvaluationError, match=r"31536000 segments .* 365 days, .* --segment-length"):
        evaluate(long_rows([("a", 0, 2, "car")]), long_rows([("a", 0, 31_536_000, "car")]), **options)


@pytest.mark.parametrize("seed", range(4))
def test_cells_that_count_several_times(seed):
    """At every threshold they count as their copies do."""
    rng = np.random.default_rng(seed)
    system, positive, times = rng.integers(0, 5, 20) / 4, rng.random(20) < 0.4, rng.integers(1, 9, 20)
    got = ThresholdCounts.of_cells(system, positive, times=times)
    wanted = ThresholdCounts.of_cells(np.repeat(system, times), np.repeat(positive, times))
    assert got.n_ref.tolist() == wanted.n_ref.tolist()
    for ours, theirs in zip(got.steps(), wanted.steps(), strict=True):
        assert ours.tolist() == theirs.tolist()


def test_parts_count_long_files_together_as_all_do(long_files, tmp_path):
    """Best thresholds of parts, some files of which are long, are those of all segments."""
    rng = np.random.default_rng(5)
    paths = []
    for name in ("ref.tsv", "sys.tsv"):
        table = [(file, *row[1:]) for file in FILES for row in rows(rng, 300, 8)]
        lines = ("\t".join(map(str, row)) for row in table)
        paths.append(tmp_path / name)
        paths[-1].write_text("\n".join(("filename\tonset\toffset\tevent_label\tvalue", *lines)) + "\n")
    chosen = Settings(only=("segment",), segment_length=0.1)
    wanted = dict(evaluate(*paths, settings=chosen))
    long_files(200)
    shard = count_in_parts(*paths, chosen, in_rounds=True)
    scores = score_shard(shard, "")
    for name, value in wanted.items():
        assert scores[name] == (value if value is None else pytest.approx(value, rel=1e-12, abs=1e-12)), name
