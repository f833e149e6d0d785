"""Tables in files, counted in parts: the scores, the warnings and the errors of tables read at once."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from test_evaluator import SETTINGS

from sedeval_soft import EvaluationError, InputError, Limits, __version__
from sedeval_soft.api import in_step, pieces, read_parts, shard_of_rows, sides_of, streaming
from sedeval_soft.api.streaming import streamed_shard
from sedeval_soft.core.room import RoomError, memory_limited
from sedeval_soft.core.tally import Tally
from sedeval_soft.formats import pack_shard
from sedeval_soft.report import render
from sedeval_soft.run import batches
from sedeval_soft.run import waited as waiting
from sedeval_soft.run.evaluation import score_shard
from sedeval_soft.settings import Settings
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.forms import form_of

LABELS = ("car", "dog", "rain")
HEAD = "filename\tonset\toffset\tevent_label\tsoft_value\n"
FORMS = ("long", "long.gz", "wide", "parquet", "wide.parquet", "arrow", "arrow-stream")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A few lines are a block, and each recording is counted by itself, as soon as that can be."""
    monkeypatch.setattr(streaming, "BLOCK", (300, 300))
    monkeypatch.setattr(pieces, "BYTES_PER_CELL", 1 << 42)
    monkeypatch.setattr(in_step, "_BATCH", 1)


def written(folder: Path, role: str, seed: int, form: str, n_files: int, order: str) -> str:
    """Write a table of some recordings, named with or without folders, a few of them declared only."""
    rng = random.Random(f"{role} {seed}")  # noqa: S311
    wide = form.startswith("wide")
    name = (lambda k: f"{'in/' * (k % 2)}r{k}.wav") if role == "system" else (lambda k: f"r{k}")
    rows = [
        (name(k), step, step + rng.choice((1, 1, 2)), [rng.randrange(9) / 8 for _ in LABELS], label)
        for k in range(n_files)
        for step in range(rng.randrange(6))
        for label in (["-"] if wide else rng.sample(LABELS, 2))
    ]
    if order == "shuffled":
        rng.shuffle(rows)
    head = ["filename", "onset", "offset", *(LABELS if wide else ("event_label", "soft_value"))]
    lines = [
        [file, f"{on}.0", f"{off}.25", *(map(str, values) if wide else (label, str(values[0])))]
        for file, on, off, values, label in rows
    ]
    lines += [[name(k)] + [""] * (len(head) - 1) for k in range(n_files - 1, n_files + rng.randrange(3))]
    text = "".join("\t".join(fields) + "\n" for fields in [head, *lines])
    path = folder / f"{role}.tsv"
    path.write_text(text)
    kind = form.removeprefix("wide.")
    if kind in ("parquet", "arrow", "arrow-stream"):
        made = form_of(kind).write(read_rows(path))
        path = folder / f"{role}.{kind}"
        path.write_bytes(made)
    elif kind == "long.gz":
        path = folder / f"{role}.tsv.gz"
        path.write_bytes(gzip.compress(text[:40].encode()) + gzip.compress(text[40:].encode()))
    return str(path)


def both(reference, system, made, durations=None, limits=None, folds=None, **how):
    """Return what is shown of the statistics in parts, and of those at once."""
    limits = limits or Limits()
    shards = [
        streamed_shard(reference, system, made, durations, limits, **how),
        shard_of_rows(*sides_of(reference, system, made, limits), made, durations),
    ]
    return [shown(shard, folds) for shard in shards]


def shown(shard, folds):
    assert shard is not None
    parts = read_parts(folds, "folds", shard.tally.files)
    return render([score_shard(shard, __version__, folds=parts)], "json")


@pytest.mark.slow
@pytest.mark.parametrize("chosen", SETTINGS)
@tried(max_examples=12)
@given(
    seed=st.integers(0, 2**20),
    forms=st.tuples(st.sampled_from(FORMS), st.sampled_from(FORMS)),
    order=st.sampled_from(["sorted", "shuffled"]),
    n_files=st.integers(1, 7),
    how=st.sampled_from([{}, *({"n_spans": 0, "n_buckets": k} for k in (1, 2, 5, 9))]),
    listed=st.none() | st.integers(0, 9),
)
def test_parts_give_the_same_bytes(chosen, seed, forms, order, n_files, how, listed, tmp_path_factory):
    made = SETTINGS[chosen]
    if made.groups or made.scenes:
        made = replace(made, groups={}, scenes={"first": ("*r[0-3]*",), "all": ("*",)})
    folder = tmp_path_factory.mktemp("tables")
    sides = [
        written(folder, role, seed, form, n_files, order)
        for role, form in zip(("reference", "system"), forms, strict=True)
    ]
    lengths = None if listed is None else {f"a/r{k}.flac": 3.0 + k for k in range(listed)}
    ours, theirs = both(*sides, made, lengths, **how)
    assert ours == theirs


@pytest.mark.slow
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_processes_give_the_same_bytes_with_folds_and_groups(order, tmp_path):
    sides = [written(tmp_path, role, 5, "long", 12, order) for role in ("reference", "system")]
    made = Settings(
        groups={"two": ("rain", "car")}, only=("segment", "event", "ranking"), measures=("curves",)
    )
    folds = {f"r{k}": "ab"[k % 2] for k in range(20)}
    ours, theirs = both(*sides, made, folds=folds, jobs=2, n_spans=3, n_buckets=5)
    assert ours == theirs


@pytest.mark.parametrize(("jobs", "n_spans"), [(1, 1), (1, 0), pytest.param(2, 3, marks=pytest.mark.slow)])
def test_what_waits_on_the_disk_gives_the_same_bytes(jobs, n_spans, tmp_path, monkeypatch):
    """Segments and events of each piece wait, also in other processes; ranks and soft readings do not."""
    waited = []
    monkeypatch.setattr(batches.Keeper, "share", lambda self, _: batches.Keeper(self.folder, -1))
    keep = batches.Keeper.keep
    monkeypatch.setattr(batches.Keeper, "keep", lambda self, shard: keep(replace(self, room=-1), shard))
    joined = waiting.joined
    monkeypatch.setattr(waiting, "joined", lambda *given: waited.append(len(given[0])) or joined(*given))
    sides = [written(tmp_path, role, 5, "long", 12, "sorted") for role in ("reference", "system")]
    made = Settings(
        groups={"two": ("rain", "car")}, scenes={"some": ("*r[0-3]*",)}, psds="dcase-psds2",
        only=("segment", "event", "intersection", "clip", "ranking"), classes=LABELS,
    )  # fmt: skip
    ours, theirs = both(*sides, made, jobs=jobs, n_spans=n_spans, n_buckets=5)
    assert ours == theirs
    assert waited and waited[0] > 1


@pytest.mark.parametrize("n_spans", [0, 1])
def test_a_tally_that_is_saved_is_the_same(n_spans, tmp_path):
    sides = [written(tmp_path, role, 5, "long", 6, "sorted") for role in ("reference", "system")]
    made = Settings(only=("segment.hard", "segment.soft"))
    one = streamed_shard(*sides, made, n_spans=n_spans, n_buckets=4)
    other = shard_of_rows(*sides_of(*sides, made), made)
    assert pack_shard(one, "1") == pack_shard(other, "1")


ROW = "a\t0\t1\tcar\t0.5\n"
BROKEN = {
    "one bad number late": ROW * 50 + "a\t0\tx\tcar\t0.5\n" + ROW * 9,
    "a few of several kinds": (
        ROW * 20 + "a\t2\t1\tcar\t0.5\n" + ROW * 30 + "a\t0\t1\t\t0.5\na\t0\t1\tb\t7\n"
    )
    * 2,
    "more than are told": (ROW * 9 + "a\t0\t1\tcar\n") * 30,
    "just as many as are told": (ROW * 9 + "a\t0\t1\tcar\n") * 10,
    "ends of lines of all kinds": ROW * 20 + "a\t0\t1\tcar\t1\r" * 20 + "a\t0\t1\tcar\t1\r\n" * 20 + "a\tx\n",
    "no text": ROW * 8000 + "a\t0\t1\tc\xff\t0.5\n".encode("latin-1").decode("utf-8", "surrogateescape"),
    "an open quote": ROW * 40 + 'a\t0\t1\t"car\t0.5\n' + ROW * 10,
    "a nul": ROW * 8000 + "a\t0\t1\tc\0\t0.5\n" + ROW * 10,
    "another delimiter": ROW * 40 + "a,0,1,car,0.5\n",
    "blank lines before": "\n" * 400 + ROW * 9 + "a\t0\t1\tcar\n",
}


@pytest.mark.parametrize(
    ("kind", "headed"),
    [
        # The long ones take seconds.
        pytest.param(kind, headed, marks=[pytest.mark.slow] if headed and len(text) > 100_000 else [])
        for kind, text in BROKEN.items()
        for headed in (True, False)
    ],
)
def test_what_is_wrong_is_told_as_at_once(kind, headed, tmp_path):
    path = tmp_path / "t.tsv"
    path.write_bytes((HEAD * headed + BROKEN[kind]).encode("utf-8", "surrogateescape"))
    made = Settings()
    with pytest.raises(InputError) as at_once:
        sides_of(str(path), str(path), made)
    with pytest.raises(InputError) as in_parts:
        streamed_shard(str(path), str(path), made)
    assert str(in_parts.value) == str(at_once.value)


@pytest.mark.slow
def test_what_is_wrong_is_told_by_other_processes_of_the_first_table_first(tmp_path):
    one, other = tmp_path / "one.tsv", tmp_path / "other.tsv"
    one.write_text(HEAD + ROW * 9000 + "a\t0\tx\tcar\t0.5\n")
    other.write_text(HEAD + "a\t0\ty\tcar\t0.5\n")
    with pytest.raises(InputError) as in_parts:
        streamed_shard(str(one), str(other), Settings(), jobs=2)
    assert [str(problem) for problem in in_parts.value.problems] == [
        f"{one}:9002:3: offset 'x' is not a number; expected a number of seconds, 0 or more"
    ]


@pytest.mark.parametrize(
    "limits", [{"rows": 30}, {"files": 2}, {"classes": 2}, {"duration": 2.0}, {"name_length": 1}]
)
@pytest.mark.parametrize("form", ["long", "wide", "parquet"])
def test_limits_hold_over_all_blocks(limits, form, tmp_path):
    path = written(tmp_path, "reference", 2, form, 12, "sorted")
    made, most = Settings(), Limits(**limits)
    with pytest.raises(InputError) as at_once:
        sides_of(path, path, made, most)
    with pytest.raises(InputError, match="raises this") as in_parts:
        streamed_shard(path, path, made, limits=most)
    same = str(in_parts.value).split("; expected")[0].split(": has ")[0]
    assert same == str(at_once.value).split("; expected")[0].split(": has ")[0]


def test_a_row_of_parquet_is_counted_over_all_batches(tmp_path, monkeypatch):
    from pyarrow import parquet, table

    from sedeval_soft.tables import parquet as columnar

    monkeypatch.setattr(columnar, "_FEWEST", 4)
    path = tmp_path / "t.parquet"
    columns = {"filename": ["a"] * 30, "onset": [0.0] * 30, "offset": [1.0] * 30, "event_label": ["x"] * 30}
    columns["offset"][21] = -1.0
    parquet.write_table(table(columns), path)
    made = Settings()
    with pytest.raises(InputError) as at_once:
        sides_of(str(path), str(path), made)
    with pytest.raises(InputError, match="row 21: ") as in_parts:
        streamed_shard(str(path), str(path), made)
    assert str(in_parts.value) == str(at_once.value)


def test_values_rounded_in_several_blocks_are_counted_together(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text(HEAD + "".join(f"f{k % 3}\t{k}\t{k + 1}\tcar\t1.0000001\n" for k in range(60)))
    made = Settings()
    ours, theirs = both(str(path), str(path), made, n_buckets=3)
    assert ours == theirs
    assert "60 values beyond" in ours


def test_names_that_could_be_of_several_recordings_stay_in_doubt(tmp_path):
    ours, theirs = tmp_path / "ref.tsv", tmp_path / "sys.tsv"
    names = ["x/a.wav", "y/a.wav", "b.wav", "c"]
    ours.write_text(HEAD + "".join(f"{name}\t0\t2\tcar\t1\n" for name in names))
    theirs.write_text(HEAD + "".join(f"{name}\t0\t1\tcar\t0.7\n" for name in ("a", "z/b.flac", "b", "c.wav")))
    for n_buckets in (1, 2, 7):
        found = both(str(ours), str(theirs), Settings(), n_spans=n_buckets % 2, n_buckets=n_buckets)
        assert found[0] == found[1]
        assert "could be more than one file" in found[0]


@pytest.mark.parametrize("strict", [True, False])
def test_strict_refuses_the_same(strict, tmp_path):
    reference, system = tmp_path / "ref.tsv", tmp_path / "sys.tsv"
    reference.write_text(HEAD + ROW + "b\t0\t1\tcar\t1\n")
    system.write_text(HEAD + ROW)
    made = Settings(strict=strict)
    shard = streamed_shard(str(reference), str(system), made)
    if not strict:
        assert shown(shard, None)
        return
    with pytest.raises(EvaluationError, match="no rows for 1 reference file \\('b'\\)"):
        score_shard(shard, __version__)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.tsv", "0\t1\tcar\n"), ("t.tsv", ""), ("t.tsv", "\ufeff" + HEAD + ROW), ("t.tsv", HEAD),
        ("t.tsv", "onset\toffset\tcar\n0\t1\t1\n"), ("t.tsv", "what is this\n"), ("t.TextGrid", "x"),
        ("t.zip", "PK"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_in_blocks_is_left_to_the_plain_reader(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    assert streamed_shard(str(path), str(path), Settings()) is None
    assert streamed_shard("-", str(path), Settings()) is None
    assert streamed_shard(str(tmp_path), str(path), Settings()) is None
    assert streamed_shard(str(tmp_path / "none"), str(path), Settings()) is None


def test_a_recording_that_memory_cannot_hold_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "BYTES_PER_ROW", 1 << 40)
    path = tmp_path / "t.tsv"
    path.write_text(HEAD + ROW * 9)
    with memory_limited(1 << 34), pytest.raises(RoomError, match=r"18 rows of 1 recording \('a'\)"):
        streamed_shard(str(path), str(path), Settings())


@pytest.mark.parametrize("n_files", [7, 9, 40])
def test_totals_do_not_depend_on_how_columns_lie_in_memory(n_files):
    values = np.random.default_rng(0).random((n_files, 3))
    files = tuple(f"{k:02}" for k in range(n_files))
    one, other = (
        Tally(files, LABELS, {"x": order(values)}) for order in (np.asfortranarray, np.ascontiguousarray)
    )
    assert one.total("x").tobytes() == other.total("x").tobytes()


def test_values_that_all_together_memory_cannot_hold_are_refused(tmp_path, monkeypatch):
    sides = [written(tmp_path, role, 5, "long", 6, "sorted") for role in ("reference", "system")]
    monkeypatch.setattr(batches, "EVENT_BYTES", 1 << 40)
    bounded = Settings(only=("segment.hard", "segment.soft", "event.hard", "event.soft"))
    with memory_limited(1 << 34):
        assert streamed_shard(*sides, bounded) is not None
        with pytest.raises(RoomError, match=r"best thresholds .* --only segment\.hard --only segment\.soft"):
            streamed_shard(*sides, Settings(), whole=True)
        with pytest.raises(RoomError, match="best thresholds"):
            streamed_shard(*sides, Settings(ci="bootstrap"))
        assert shown(streamed_shard(*sides, Settings()), None) == shown(
            shard_of_rows(*sides_of(*sides, Settings()), Settings()), None
        )
