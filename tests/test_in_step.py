"""Tables read in step, and in spans: what is counted is what is counted at once, or rows are parted."""

from __future__ import annotations

import random
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from test_streaming import HEAD, both, small, written

from sedeval_soft import Limits
from sedeval_soft.api import in_step, streaming
from sedeval_soft.api.in_step import UnsortedError
from sedeval_soft.core.room import memory_limited
from sedeval_soft.formats import spans
from sedeval_soft.formats.blocks import UnfitError, blocks_of
from sedeval_soft.formats.spans import spans_of
from sedeval_soft.settings import Settings
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.filenames import stem_of

_ = small  # the fixture makes blocks small here, too
MADE = Settings(only=("segment", "event.hard"))


@pytest.fixture
def ways(monkeypatch):
    """How tables were read: in step to the end, or not."""
    found = []
    read = streaming.joined_counts

    def told(*given):
        try:
            counted = read(*given)
        except UnsortedError:
            found.append("parted")
            raise
        found.append("in step")
        return counted

    def tried_to(stretch):
        try:
            return in_step.read_in_step(stretch)
        except UnsortedError:
            found.append("parted")
            raise

    monkeypatch.setattr(streaming, "joined_counts", told)
    monkeypatch.setattr(streaming, "read_in_step", tried_to)
    return found


def table(path: Path, names: list[str], n_rows: int = 4, seed: int = 0) -> str:
    rng = random.Random(seed)  # noqa: S311
    rows = [
        f"{name}\t{k}.0\t{k + 1}.0\t{rng.choice('abc')}\t{rng.randrange(9) / 8}\n"
        for name in names
        for k in range(n_rows)
    ]
    path.write_text(HEAD + "".join(rows))
    return str(path)


def as_parquet(path: str, group: int) -> str:
    """Write a table again as Parquet, in row groups of so many rows."""
    from pyarrow import csv, parquet

    rows = csv.read_csv(path, parse_options=csv.ParseOptions(delimiter="\t"))
    parquet.write_table(rows, f"{path}.parquet", row_group_size=group)
    return f"{path}.parquet"


NAMES = [f"r{k}.wav" for k in range(12)]


@pytest.mark.parametrize("n_spans", [1, 2, 5, 40])
def test_the_same_order_is_counted_in_step(n_spans, ways, tmp_path):
    sides = table(tmp_path / "r.tsv", NAMES), table(tmp_path / "s.tsv", [f"in/{n}" for n in NAMES], 9, 1)
    ours, theirs = both(*sides, MADE, n_spans=n_spans)
    assert ours == theirs
    assert ways == ["in step"]


@pytest.mark.parametrize("n_spans", [1, 3])
def test_recordings_that_one_side_lacks_wait(n_spans, ways, tmp_path):
    sides = table(tmp_path / "r.tsv", NAMES[::2], 7), table(tmp_path / "s.tsv", NAMES[::3], 5, 1)
    ours, theirs = both(*sides, MADE, n_spans=n_spans)
    assert ours == theirs
    assert ways == ["in step"]


@pytest.mark.parametrize("n_spans", [1, 3])
def test_another_order_is_waited_for_where_there_is_room(n_spans, ways, tmp_path):
    sides = table(tmp_path / "r.tsv", NAMES, 7), table(tmp_path / "s.tsv", NAMES[::-1], 5, 1)
    ours, theirs = both(*sides, MADE, n_spans=n_spans)
    assert ours == theirs
    assert ways == ["in step"]


def test_another_order_is_parted_where_there_is_none(ways, tmp_path, monkeypatch):
    monkeypatch.setattr(in_step, "bytes_per_row", lambda _: 1 << 30)
    sides = table(tmp_path / "r.tsv", NAMES, 7), table(tmp_path / "s.tsv", NAMES[::-1], 5, 1)
    with memory_limited(1 << 34):
        ours, theirs = both(*sides, MADE)
    assert ours == theirs
    assert ways == ["parted"]


@pytest.mark.parametrize("n_spans", [1, 4])
def test_many_recordings_that_one_side_lacks_are_parted_where_there_is_no_room(
    n_spans, ways, tmp_path, monkeypatch
):
    """What the other side never has waits to the end, though some of each block can be counted."""
    monkeypatch.setattr(in_step, "bytes_per_row", lambda _: 1 << 26)
    monkeypatch.setattr(streaming, "BLOCK", (1200, 1200))
    names = [f"r{k:03}.wav" for k in range(90)]
    sides = table(tmp_path / "r.tsv", names, 2), table(tmp_path / "s.tsv", names[::9], 2, 1)
    with memory_limited(5 << 30):
        ours, theirs = both(*sides, MADE, n_spans=n_spans)
    assert ours == theirs
    assert ways == ["parted"]


@pytest.mark.parametrize("n_spans", [1, 2])
@pytest.mark.parametrize("again", [0, 5])
def test_a_recording_that_comes_again_is_parted(again, n_spans, ways, tmp_path):
    names = [*NAMES, NAMES[again]]
    sides = table(tmp_path / "r.tsv", NAMES, 7), table(tmp_path / "s.tsv", names, 5, 1)
    ours, theirs = both(*sides, MADE, n_spans=n_spans)
    assert ours == theirs
    # What stands at a cut is left over, wherever it goes on.
    assert ways == (["parted"] if n_spans == 1 or again == 0 else ["in step"])


@pytest.mark.parametrize("declared", [[NAMES[0]], [NAMES[7]], ["new.wav"]])
@pytest.mark.parametrize("n_spans", [1, 6])
def test_files_that_are_declared_late(declared, n_spans, tmp_path):
    reference = table(tmp_path / "r.tsv", NAMES, 7)
    system = table(tmp_path / "s.tsv", [name for name in NAMES if name not in declared], 5, 1)
    with Path(system).open("a") as file:
        file.write("".join(f"{name}\t\t\t\t\n" for name in declared))
    ours, theirs = both(reference, system, MADE, n_spans=n_spans)
    assert ours == theirs


@pytest.mark.slow
@tried(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    forms=st.tuples(*[st.sampled_from(["long", "wide", "parquet", "arrow", "long.gz"])] * 2),
    order=st.sampled_from(["sorted", "sorted", "shuffled"]),
    n_files=st.integers(1, 9),
    n_spans=st.integers(1, 12),
    listed=st.none() | st.integers(0, 9),
)
def test_spans_give_the_same_bytes(seed, forms, order, n_files, n_spans, listed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    sides = [
        written(folder, role, seed, form, n_files, order)
        for role, form in zip(("reference", "system"), forms, strict=True)
    ]
    lengths = None if listed is None else {f"a/r{k}.flac": 3.0 + k for k in range(listed)}
    ours, theirs = both(*sides, MADE, lengths, n_spans=n_spans)
    assert ours == theirs


@pytest.mark.parametrize("form", ["tsv", "parquet"])
@pytest.mark.parametrize("n", [2, 3, 7])
def test_spans_hold_all_rows_once_and_the_same_recordings(form, n, tmp_path):
    paths = []
    for role, n_rows in (("r", 40), ("s", 90)):
        path = table(tmp_path / f"{role}.tsv", NAMES, n_rows)
        paths.append(path if form == "tsv" else as_parquet(path, n_rows))
    spans = spans_of(*paths, n, tmp_path)
    assert spans is not None
    assert len(spans) == n
    for side, path in enumerate(paths):
        blocks = [list(blocks_of(path, tmp_path, 1 << 20, Limits(), span[side]).rows) for span in spans]
        found = [(name, float(on)) for own in blocks for rows in own for name, on in _told(rows)]
        assert found == [(name, float(on)) for name, on in _told(read_rows(path))]
    for ours, theirs in spans:
        named = [
            {
                stem_of(name)
                for rows in blocks_of(path, tmp_path, 1 << 20, Limits(), span).rows
                for name in rows.files
            }
            for path, span in zip(paths, (ours, theirs), strict=True)
        ]
        assert len(named[0] ^ named[1]) <= 2


@pytest.mark.parametrize("form", ["tsv", "parquet"])
def test_a_recording_that_is_not_there_is_looked_for_nearby_only(form, tmp_path, monkeypatch):
    """Else each cut would be looked for in all of a large table."""
    names = [f"r{k:03}.wav" for k in range(400)]
    paths = [
        table(tmp_path / "r.tsv", names, 3),
        table(tmp_path / "s.tsv", [f"x{name}" for name in names], 3),
    ]
    if form == "parquet":
        paths = [as_parquet(path, 12) for path in paths]
    kind = spans._Groups if form == "parquet" else spans._Lines
    looked, find = [], kind.find

    def watched(self, stem, share, within):
        found = find(self, stem, share, within)
        looked.append((found, within))
        return found

    monkeypatch.setattr(kind, "find", watched)
    assert len(spans_of(*paths, 20, tmp_path)) == 20
    assert looked == [(None, 2.0), (None, 1.0), *[(None, 1 / 20)] * 17]
    far = spans._cuttable(paths[0], tmp_path, Limits())
    assert find(far, "r399", 0.0, 0.05) is None
    assert find(far, "r399", 0.0, 1.0) is not None
    assert find(far, "r010", 0.0, 0.05) is not None


@pytest.mark.parametrize("n", [4, 16])
def test_recordings_are_found_however_unevenly_they_lie(n, tmp_path):
    """The system knows the first half only, and has most of its rows for the last of these."""
    names = [f"r{k:03}.wav" for k in range(400)]
    ours, theirs = tmp_path / "r.tsv", tmp_path / "s.tsv"
    table(ours, names, 4)
    theirs.write_text(
        HEAD + "".join(f"{name}\t0\t1\ta\t1\n" * (1 + k // 9) for k, name in enumerate(names[:200]))
    )
    found = spans_of(str(ours), str(theirs), n, tmp_path)
    begins = [
        [next(iter(blocks_of(str(path), tmp_path, 1 << 20, Limits(), span).rows)).files[0] for span in own]
        for path, own in zip((ours, theirs), zip(*found, strict=True), strict=True)
    ]
    known = [pair for pair in zip(*begins, strict=True) if pair[0] < "r200"]
    assert len(known) >= n // 2
    assert all(ours == theirs for ours, theirs in known)


def _told(rows):
    return zip([rows.files[code] for code in rows.file], rows.onset, strict=True)


def test_tables_that_cannot_be_cut_have_no_spans(tmp_path):
    one = table(tmp_path / "one.tsv", NAMES)
    plain = tmp_path / "plain.tsv"
    plain.write_text("onset\toffset\tevent_label\n0\t1\ta\n")
    packed = written(tmp_path, "x", 1, "long.gz", 5, "sorted")
    for other in (str(plain), packed, str(tmp_path), str(tmp_path / "none.tsv")):
        assert spans_of(one, other, 4, tmp_path) is None
        assert spans_of(other, one, 4, tmp_path) is None
    import pyarrow as pa
    from pyarrow import parquet

    empty = str(tmp_path / "empty.parquet")
    names = pa.schema([("filename", pa.string()), ("onset", pa.float64())])
    parquet.ParquetWriter(empty, names).close()
    assert spans_of(empty, empty, 4, tmp_path) is None
    beyond = str(tmp_path / ("n" * 300))
    assert spans_of(one, beyond, 4, tmp_path) is None
    with pytest.raises(UnfitError):
        blocks_of(beyond, tmp_path, 1 << 20)
    line = tmp_path / "line.tsv"
    line.write_text("a\t0\t1\tcar\t0.5\n")
    assert spans_of(str(line), str(line), 4, tmp_path) is None


def test_reading_ahead_ends_with_the_reading(tmp_path, monkeypatch):
    """Not when what it left behind is collected: another thread that just begins may be what collects it."""
    sides = table(tmp_path / "r.tsv", NAMES, 70), table(tmp_path / "s.tsv", [*NAMES, NAMES[0]], 50, 1)
    read, ended = in_step.read_in_step, []

    def tried(stretch):
        try:
            return read(replace(stretch, ahead=True))
        except UnsortedError:
            ended.append([each.name for each in threading.enumerate() if each.name.startswith("read")])
            raise

    monkeypatch.setattr(streaming, "read_in_step", tried)
    ours, theirs = both(*sides, MADE)
    assert ours == theirs
    assert ended == [[]]
