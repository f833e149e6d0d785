"""Seeded inputs that are larger than memory: written block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from inputs import CLASSES, N_CLASSES, Tables, soft_values

_SECONDS = 300
_FILES = 200
"""Recordings of a block, of five minutes each."""

BLOCK = _SECONDS * _FILES * N_CLASSES
"""Rows of a block."""

CLIPS = 100_000
CLIP_CLASSES = 456
_CLIP_TICKS = 250
_CLIP_FRAME = 0.04
_CLIPS_AT_ONCE = 2_000


def tables(folder: Path, n_rows: int) -> Tables:
    """Write two long tables of text, of as many rows each: a row for every class in every second."""
    paths = Tables(folder / f"rows_{n_rows}_ref.tsv", folder / f"rows_{n_rows}_sys.tsv")
    options = pa.csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with paths.reference.open("wb") as ours, paths.system.open("wb") as theirs:
        for stream in (ours, theirs):
            stream.write(b"filename\tonset\toffset\tevent_label\tsoft_value\n")
        for both in _blocks(n_rows):
            for stream, table in zip((ours, theirs), both, strict=True):
                pa.csv.write_csv(table, stream, options)
    return paths


def shards(folder: Path, n_rows: int, n_shards: int) -> tuple[str, str]:
    """Write the same rows as shards of Parquet; return the patterns of their names."""
    size = -(-n_rows // n_shards // BLOCK) * BLOCK
    writers: dict[str, pa.parquet.ParquetWriter] = {}
    done = 0
    for both in _blocks(n_rows):
        for role, table in zip(("ref", "sys"), both, strict=True):
            path = folder / f"{role}-{done // size:03}.parquet"
            if path.name not in writers:
                writers[path.name] = pa.parquet.ParquetWriter(path, table.schema)
            writers[path.name].write_table(table)
        done += both[0].num_rows
    for writer in writers.values():
        writer.close()
    return str(folder / "ref-*.parquet"), str(folder / "sys-*.parquet")


def _blocks(n_rows: int) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield the rows of both sides, a block at a time."""
    n_steps = _SECONDS * _FILES
    step = np.repeat(np.arange(n_steps), N_CLASSES)
    file, onset = np.divmod(step, _SECONDS)
    label = pa.DictionaryArray.from_arrays(
        np.tile(np.arange(N_CLASSES, dtype=np.int32), n_steps), list(CLASSES)
    )
    for number, done in enumerate(range(0, n_rows, BLOCK)):
        kept = slice(0, min(BLOCK, n_rows - done))
        names = [f"recording_{number * _FILES + k:07d}.wav" for k in range(_FILES)]
        named = pa.DictionaryArray.from_arrays(file.astype(np.int32), names)
        columns = {
            "filename": named,
            "onset": onset.astype(float),
            "offset": onset + 1.0,
            "event_label": label,
        }
        sides = soft_values(np.random.default_rng(number), n_steps)
        yield tuple(  # type: ignore[misc]
            pa.table(columns | {"soft_value": values.ravel()}).slice(0, kept.stop) for values in sides
        )


@dataclass(frozen=True, slots=True)
class Clips:
    """Tables of many clips. n_rows: of the reference, and of the system."""

    reference: Path
    system: Path
    n_rows: tuple[int, int]


def clips(folder: Path, n_clips: int = CLIPS) -> Clips:
    """Write clips of ten seconds and hundreds of classes: events, and what a system says in frames of 40 ms.

    The reference is hard: eight events of four classes in each clip. The system has scores for these and for
    two more classes of each clip, and none for others; equal scores one after another are one row.
    """
    made = Clips(folder / "clips_ref.parquet", folder / "clips_sys.parquet", (0, 0))
    labels = [f"/m/{k:05x}" for k in range(CLIP_CLASSES)]
    rng = np.random.default_rng(0)
    n_rows = [0, 0]
    writers: list[pa.parquet.ParquetWriter] = []
    for first in range(0, n_clips, _CLIPS_AT_ONCE):
        count = min(_CLIPS_AT_ONCE, n_clips - first)
        names = [f"clip_{first + k:06d}.wav" for k in range(count)]
        for side, columns in enumerate(_clips(rng, count)):
            file, label, *rest = columns
            table = pa.table(
                {
                    "filename": pa.DictionaryArray.from_arrays(file.astype(np.int32), names),
                    "onset": rest[0],
                    "offset": rest[1],
                    "event_label": pa.DictionaryArray.from_arrays(label.astype(np.int32), labels),
                }
                | ({"soft_value": rest[2]} if len(rest) > 2 else {})
            )
            if len(writers) <= side:
                writers.append(pa.parquet.ParquetWriter((made.reference, made.system)[side], table.schema))
            writers[side].write_table(table)
            n_rows[side] += table.num_rows
    for writer in writers:
        writer.close()
    return Clips(made.reference, made.system, (n_rows[0], n_rows[1]))


Columns = list[npt.NDArray[np.float64]]


def _clips(rng: np.random.Generator, count: int) -> tuple[Columns, Columns]:
    """Return the columns of both sides: file, label, onset, offset, and value of the system."""
    tracks, active, each = 6, 4, 2
    label = np.argsort(rng.random((count, CLIP_CLASSES)), axis=1)[:, :tracks]
    onset = rng.integers(0, _CLIP_TICKS - 20, (count, active, each))
    length = np.minimum(rng.integers(8, 120, onset.shape), _CLIP_TICKS - onset)
    file = np.broadcast_to(np.arange(count)[:, None, None], onset.shape)
    own = np.broadcast_to(label[:, :active, None], onset.shape)
    events = [
        x.ravel().astype(float) for x in (file, own, onset * _CLIP_FRAME, (onset + length) * _CLIP_FRAME)
    ]
    tick = np.arange(_CLIP_TICKS)
    inside = ((tick >= onset[..., None]) & (tick < (onset + length)[..., None])).any(axis=2)
    score = 0.25 * rng.random((count, tracks, 1)) + 0.06 * rng.standard_normal((count, tracks, _CLIP_TICKS))
    score[:, :active] += 0.55 * inside
    # A moving mean, as systems smooth, in steps of a hundredth.
    sums = np.cumsum(np.pad(score, ((0, 0), (0, 0), (25, 0)), mode="edge"), axis=2)
    score = np.clip((sums[..., 25:] - sums[..., :-25]) / 25, 0.01, 1).round(2)
    new = np.ones(score.shape, dtype=bool)
    new[..., 1:] = score[..., 1:] != score[..., :-1]
    clip, track, begin = np.nonzero(new)
    last = np.append((clip[1:] != clip[:-1]) | (track[1:] != track[:-1]), True)
    end = np.where(last, _CLIP_TICKS, np.append(begin[1:], 0))
    system = [clip, label[clip, track], begin * _CLIP_FRAME, end * _CLIP_FRAME, score[clip, track, begin]]
    return events, [np.asarray(x, dtype=np.float64) for x in system]
