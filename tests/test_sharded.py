"""Tables in shards, counted in parts: the statistics, and the errors, of all shards read at once."""

from __future__ import annotations

import gzip
import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from sedeval_soft import EvaluationError, InputError, Limits, __version__
from sedeval_soft.api import pieces, shard_of_rows, sharded, sides_of
from sedeval_soft.api.sharded import here, shard_here, sharded_shard
from sedeval_soft.core.room import RoomError, memory_limited
from sedeval_soft.report import render
from sedeval_soft.run.evaluation import score_shard
from sedeval_soft.settings import Settings
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.forms import form_of

LABELS = ("car", "dog", "rain")
FORMS = ("tsv", "tsv.gz", "parquet", "jsonl", "wide.tsv", "wide.parquet")
EVERYTHING = Settings(only=("all",), measures=("all",), max_efpr=100.0)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A few lines are a block."""
    monkeypatch.setattr(sharded, "BLOCK", (300, 300))


def written(folder: Path, role: str, seed: int, form: str, number: int, *, named: bool = True) -> str:
    """Write a table in so many shards, rows of a recording in any of them; return the pattern they fit."""
    rng = random.Random(f"{role} {seed}")  # noqa: S311
    wide = form.startswith("wide")
    made: list[list[str]] = [[] for _ in range(number)]
    for k in range(rng.randrange(7)):
        name = f"{'in/' * (k % 2)}r{k}.wav" if role == "system" else f"r{k}"
        for step in range(rng.randrange(6)):
            values = [str(rng.randrange(9) / 8) for _ in LABELS]
            more = values if wide else [rng.choice(LABELS), values[0]]
            made[rng.randrange(number)].append("\t".join([name, f"{step}.0", f"{step}.75", *more]) + "\n")
        if rng.random() < 0.2:
            made[rng.randrange(number)].append(name + "\t" * (len(LABELS) + 2 if wide else 4) + "\n")
    head = "\t".join(["filename", "onset", "offset", *(LABELS if wide else ("event_label", "soft_value"))])
    for k, lines in enumerate(made):
        text = "\n".join(
            line if named else line.partition("\t")[2] for line in "".join([head + "\n", *lines]).split("\n")
        )
        write(folder / f"{role}-{k}", form.removeprefix("wide."), text)
    return f"{folder}/{role}-*"


def write(path: Path, form: str, text: str) -> None:
    plain = path.with_name(f"{path.name}.tsv")
    plain.write_text(text)
    if form == "tsv":
        return
    data = gzip.compress(text.encode()) if form == "tsv.gz" else form_of(form).write(read_rows(plain))
    plain.unlink()
    path.with_name(f"{path.name}.{form}").write_bytes(data)


def shown(shard) -> str:
    return render([score_shard(shard, __version__)], "json")


def at_once(reference, system, made, durations=None, limits=None):
    return shard_of_rows(*sides_of(reference, system, made, limits or Limits()), made, durations)


def outcome(count) -> object:
    """What is shown of statistics, or what is said of those that cannot be had."""
    try:
        return shown(count())
    except EvaluationError as error:
        return type(error), str(error)


@pytest.mark.slow
@tried(max_examples=25)
@given(
    seed=st.integers(0, 2**20),
    forms=st.tuples(st.sampled_from(FORMS), st.sampled_from(FORMS)),
    numbers=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    n_buckets=st.integers(1, 9),
    listed=st.none() | st.integers(0, 9),
    everything=st.booleans(),
)
def test_parts_give_the_same_bytes(seed, forms, numbers, n_buckets, listed, everything, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    sides = [
        written(folder, role, seed, form, number)
        for role, form, number in zip(("reference", "system"), forms, numbers, strict=True)
    ]
    made = EVERYTHING if everything else Settings()
    lengths = None if listed is None else {f"a/r{k}.flac": 6.0 + k for k in range(listed)}
    ours, theirs = (
        outcome(lambda: at_once(*sides, made, lengths)),
        outcome(lambda: shard_here(*sides, made, lengths, n_buckets=n_buckets)),
    )
    assert ours == theirs


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_processes_give_the_same_bytes(jobs, tmp_path):
    sides = [written(tmp_path, role, 3, "parquet", 5) for role in ("reference", "system")]
    found = shard_here(*sides, EVERYTHING, jobs=jobs, n_buckets=4)
    assert shown(found) == shown(at_once(*sides, EVERYTHING))


@pytest.mark.parametrize("alone", [True, False])
def test_recordings_named_after_their_files(alone, tmp_path):
    for role in ("reference", "system"):
        for name in ("x", "y")[: 2 - alone]:
            (tmp_path / role).mkdir(exist_ok=True)
            (tmp_path / role / f"{name}.tsv").write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    (tmp_path / "system" / "y.tsv").write_text("")
    sides = [f"{tmp_path}/{role}/*.tsv" for role in ("reference", "system")]
    if alone:
        # Of two single files without names neither has one; the folder of the other says how it is called.
        (tmp_path / "system" / "y.tsv").unlink()
        sides[0] = f"{tmp_path}/reference/x.tsv"
    assert shown(shard_here(*sides, Settings(), n_buckets=5)) == shown(at_once(*sides, Settings()))
    single = [f"{tmp_path}/{role}/x.tsv" for role in ("reference", "system")]
    assert shown(shard_here(*single, Settings(), n_buckets=5)) == shown(at_once(*single, Settings()))


@pytest.mark.parametrize("unnamed", ["reference", "system"])
def test_an_unnamed_table_goes_by_the_only_name_beside_it_however_little_memory_there_is(
    unnamed, tmp_path, monkeypatch
):
    """Its rows and those of the named one are a recording only together."""
    rows = "".join(f"{k}.0\t{k + 1}.0\tcar\t{k % 9 / 8}\n" for k in range(60))
    sides = {role: f"{tmp_path}/{role}/x.tsv" for role in ("reference", "system")}
    for role in sides:
        (tmp_path / role).mkdir()
        named = "" if role == unnamed else "filename\t"
        text = f"{named}onset\toffset\tevent_label\tsoft_value\n{rows if role == unnamed else ''}"
        text += "" if role == unnamed else "".join(f"a.wav\t{line}\n" for line in rows.splitlines())
        (tmp_path / role / "x.tsv").write_text(text)
    pair = [path if role == unnamed else path.replace("x.tsv", "*.tsv") for role, path in sides.items()]
    expected = shown(at_once(*pair, Settings()))
    monkeypatch.setattr(pieces, "bytes_per_file", lambda *_: 1 << 29)
    with memory_limited(1 << 30):
        assert shown(shard_here(*pair, Settings(), n_buckets=3)) == expected
    monkeypatch.setattr(pieces, "BYTES_PER_ROW", 1 << 27)
    with memory_limited(1 << 32), pytest.raises(RoomError, match="120 rows of 1 recording \\('a'\\)"):
        shard_here(*pair, Settings(), n_buckets=3)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_beside_shards_is_read_by_this_process(tmp_path, monkeypatch):
    sides = written(tmp_path, "reference", 3, "tsv", 1), written(tmp_path, "system", 3, "tsv", 3)
    text = (tmp_path / "reference-0.tsv").read_text()
    readers = []
    read = sharded.read_shard
    monkeypatch.setattr(sharded, "read_shard", lambda reading: readers.append(reading.path) or read(reading))
    expected = shown(at_once(f"{tmp_path}/reference-0.tsv", sides[1], Settings()))

    def elsewhere(function, own):
        assert not any(isinstance(each, sharded.Reading) and each.path.endswith("pipe") for each in own)
        return [function(each) for each in own]

    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit((tmp_path / "pipe").write_text, text)
        with here(2) as place:
            monkeypatch.setattr(place._workers, "each", elsewhere)
            found = sharded_shard(str(tmp_path / "pipe"), sides[1], Settings(), None, Limits(), place)
        writing.result()
    assert readers[0] == str(tmp_path / "pipe")
    assert len(readers) == 4
    assert json.loads(shown(found))["systems"][0]["scores"] == json.loads(expected)["systems"][0]["scores"]


def test_a_folder_beside_shards(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "r1.tsv").write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    sides = (written(tmp_path, "reference", 1, "tsv", 2), str(tmp_path / "folder"))
    assert shown(shard_here(*sides, Settings(), n_buckets=3)) == shown(at_once(*sides, Settings()))


HEAD = "filename\tonset\toffset\tevent_label\tsoft_value\n"


@pytest.mark.parametrize(
    "texts",
    [
        (HEAD + "a\t0\t1\tcar\t0.5\n", HEAD + "a\t0\t1\tcar\t0.5\n" * 30 + "a\t0\tx\tcar\t1\n"),
        (HEAD + "a\t0\t1\tcar\t7\n", HEAD + "a\t0\tx\tcar\t1\n"),
        (HEAD + "a\t0\t1\tcar\t0.5\n", ""),
        (HEAD + "a\t0\t1\tcar\t0.5\n", "onset\toffset\tcar\n0\t1\t0.5\n"),
        (HEAD + "a\t0\t1\tcar\t0.5\n", "PAR1"),
        ("", ""),
        ("<script>", HEAD),
    ],
)
def test_what_is_wrong_is_told_as_at_once(texts, tmp_path):
    for k, text in enumerate(texts):
        (tmp_path / f"s{k}.tsv").write_text(text)
    pattern = f"{tmp_path}/s*.tsv"
    with pytest.raises(InputError) as theirs:
        at_once(pattern, pattern, Settings())
    with pytest.raises(InputError) as ours:
        shard_here(pattern, pattern, Settings())
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("limits", [{"rows": 3}, {"files": 2}, {"classes": 1}, {"members": 2}, {"size": 99}])
def test_limits_hold_over_all_shards(limits, tmp_path):
    for k in range(3):
        (tmp_path / f"s{k}.tsv").write_text(HEAD + f"f{k}\t0\t1\tcar\t0.5\nf{k}\t0\t1\tdog\t0.5\n")
    pattern = f"{tmp_path}/s*.tsv"
    with pytest.raises(InputError, match="raises this"):
        shard_here(pattern, pattern, Settings(), limits=Limits(**limits))


def test_a_recording_that_memory_cannot_hold_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "BYTES_PER_ROW", 1 << 40)
    for k in range(3):
        (tmp_path / f"s{k}.tsv").write_text(HEAD + "a\t0\t1\tcar\t0.5\n")
    pattern = f"{tmp_path}/s*.tsv"
    with memory_limited(1 << 34), pytest.raises(RoomError, match=r"6 rows of 1 recording \('a'\)"):
        shard_here(pattern, pattern, Settings())


def test_strict_refuses_before_anything_is_counted(tmp_path, monkeypatch):
    (tmp_path / "r1.tsv").write_text(HEAD + "a\t0\t1\tcar\t0.5\n")
    (tmp_path / "s1.tsv").write_text(HEAD + "b\t0\t1\tcar\t0.5\n")
    monkeypatch.setattr(sharded, "counted", None)
    with pytest.raises(EvaluationError, match="\nstrict makes each of these an error"):
        shard_here(f"{tmp_path}/r*.tsv", f"{tmp_path}/s*.tsv", Settings(strict=True))
