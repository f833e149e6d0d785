"""Seeded inputs of any size: tables on disk for whole processes, columns in memory for calls.

Values look like a crowd's and a network's: most classes are silent most of the time, events have
soft edges, the system's values are all above zero. Times of event lists are such that no event
begins or ends where a segment or a collar does: there the tools round differently, and these
inputs are for their speed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

N_CLASSES = 17
CLASSES = tuple(f"class {number:02d}" for number in range(N_CLASSES))
FILE = "a.wav"
"""The one file of the inputs in memory."""

_SHARE_ACTIVE = 0.25


def soft_values(rng: np.random.Generator, n_steps: int, decimals: int = 4) -> tuple[Floats, Floats]:
    """Return reference and system values, each (n_steps, N_CLASSES)."""
    shape = (n_steps // 8 + 1, N_CLASSES)
    level = np.where(rng.random(shape) < _SHARE_ACTIVE, rng.random(shape), 0.0)
    level = np.repeat(level, 8, axis=0)[:n_steps]
    reference = np.where(level > 0, level + 0.2 * (rng.random(level.shape) - 0.5), 0.0)
    system = 0.7 * reference + 0.3 * rng.random(level.shape) ** 3
    return np.clip(reference, 0, 1).round(decimals), np.clip(system, 10.0**-decimals, 1).round(decimals)


@dataclass(frozen=True, slots=True)
class Tables:
    """A reference and a system on disk."""

    reference: Path
    system: Path

    @property
    def size(self) -> int:
        """Return the bytes of both."""
        return self.reference.stat().st_size + self.system.stat().st_size


def wide_tables(folder: Path, n_rows: int, file_seconds: int) -> Tables:
    """Write two wide tables of one-second rows, N_CLASSES columns and as many files as it takes."""
    paths = Tables(folder / f"wide_{n_rows}_ref.tsv", folder / f"wide_{n_rows}_sys.tsv")
    step = np.arange(n_rows)
    sides = soft_values(np.random.default_rng(n_rows), n_rows)
    for path, values in zip((paths.reference, paths.system), sides, strict=True):
        columns = _times(step, file_seconds) | dict(zip(CLASSES, values.T, strict=True))
        _write(path, pa.table(columns))
    return paths


def long_tables(folder: Path, n_rows: int, file_seconds: int) -> Tables:
    """Write two long tables of n_rows each: a row for every class in every second."""
    paths = Tables(folder / f"long_{n_rows}_ref.tsv", folder / f"long_{n_rows}_sys.tsv")
    n_steps = -(-n_rows // N_CLASSES)
    step = np.repeat(np.arange(n_steps), N_CLASSES)[:n_rows]
    codes = np.tile(np.arange(N_CLASSES, dtype=np.int32), n_steps)[:n_rows]
    label = pa.DictionaryArray.from_arrays(codes, list(CLASSES))
    sides = soft_values(np.random.default_rng(n_rows), n_steps)
    for path, values in zip((paths.reference, paths.system), sides, strict=True):
        columns = _times(step, file_seconds)
        columns |= {"event_label": label.cast(pa.string()), "soft_value": values.ravel()[:n_rows]}
        _write(path, pa.table(columns))
    return paths


def _times(step: Index, file_seconds: int) -> dict[str, pa.Array | Floats]:
    """Return file, onset and offset of seconds counted over all files."""
    file, onset = np.divmod(step, file_seconds)
    names = [f"recording_{number:05d}.wav" for number in range(int(file[-1]) + 1)]
    named = pa.DictionaryArray.from_arrays(file.astype(np.int32), names).cast(pa.string())
    return {"filename": named, "onset": onset.astype(np.float64), "offset": onset + 1.0}


def _write(path: Path, table: pa.Table) -> None:
    """Write a tab-separated table; the header by hand, which Arrow would put in quotes."""
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with path.open("wb") as stream:
        stream.write(("\t".join(table.column_names) + "\n").encode())
        pyarrow.csv.write_csv(table, stream, options)


@dataclass(frozen=True, slots=True)
class Events:
    """An event list of one file in memory: (n,) onsets and offsets in seconds, and class codes."""

    onset: Floats
    offset: Floats
    label: Index

    def table(self) -> pa.Table:
        """Return the list as our library takes it."""
        columns = {"filename": [FILE] * len(self.onset), "onset": self.onset, "offset": self.offset}
        return pa.table(columns | {"event_label": [CLASSES[code] for code in self.label]})

    def rows(self) -> list[dict[str, str | float]]:
        """Return the list as sed_eval takes it."""
        return [
            {"filename": FILE, "onset": onset, "offset": offset, "event_label": label}
            for onset, offset, label in self.tuples()
        ]

    def tuples(self) -> list[tuple[float, float, str]]:
        """Return the list as sed_scores_eval takes it."""
        columns = zip(self.onset.tolist(), self.offset.tolist(), self.label.tolist(), strict=True)
        return [(onset, offset, CLASSES[code]) for onset, offset, code in columns]


def event_lists(n_events: int, seconds: int, n_classes: int) -> tuple[Events, Events]:
    """Return a reference and a system of n_events each; four in five of the system's lie near a true one.

    Reference times are even hundredths of a second, the system's lie half a hundredth beside
    one, so that no difference is exactly a collar.
    """
    reference, system, label = _hundredths(n_events, seconds, n_classes)
    return _events(reference, label), _events(system + 0.5, label)


def segment_lists(n_events: int, seconds: int) -> tuple[Events, Events]:
    """Return two event lists whose times all lie in the middle of a hundredth of a second."""
    reference, system, label = _hundredths(n_events, seconds, N_CLASSES)
    return _events(reference + 0.5, label), _events(system + 0.5, label)


def _events(hundredths: npt.NDArray[np.number[Any]], label: Index) -> Events:
    onset, offset = hundredths / 100
    return Events(onset, offset, label)


def _hundredths(n_events: int, seconds: int, n_classes: int) -> tuple[Index, Index, Index]:
    """Return onsets and offsets of reference and system, each (2, n_events), and their classes."""
    rng = np.random.default_rng(n_events)
    onset = 2 * rng.integers(0, (seconds - 10) * 50, n_events)
    length = 2 * rng.integers(20, 400, n_events)
    reference = np.array([onset, onset + length])
    near = np.maximum(reference + rng.integers(-15, 15, reference.shape), [[0], [1]])
    elsewhere = rng.integers(0, (seconds - 10) * 100, n_events)
    invented = rng.random(n_events) < 0.2
    system = np.where(invented, [elsewhere, elsewhere + length], near)
    return reference, system, rng.integers(0, n_classes, n_events)


def frame_scores(n_frames: int, frames_per_second: int) -> tuple[Events, Floats, Floats]:
    """Return a reference, the edges of frames in seconds (n_frames + 1,) and scores (n_frames, N_CLASSES).

    The reference's events begin and end in the middle of a frame; those of a class never touch.
    """
    values, scores = soft_values(np.random.default_rng(n_frames), n_frames, decimals=9)
    active = np.zeros((n_frames + 1, N_CLASSES), dtype=np.int8)
    active[1:-1] = values[1:] > 0.5
    change = np.diff(active, axis=0).T
    label, onset = np.nonzero(change == 1)
    _, offset = np.nonzero(change == -1)
    edges = np.arange(n_frames + 1) / frames_per_second
    middle = (np.arange(n_frames) + 0.5) / frames_per_second
    return Events(middle[onset], middle[offset], label), edges, scores


def score_arrays(n_segments: int) -> tuple[Floats, Floats]:
    """Return random reference and system values, each (N_CLASSES, n_segments); no logarithm clips them."""
    rng = np.random.default_rng(n_segments)
    reference, system = (rng.random((N_CLASSES, n_segments)) for _ in range(2))
    np.clip(system, 1e-6, 1 - 1e-6, out=system)
    return reference, system


@dataclass(frozen=True, slots=True)
class Recordings:
    """Frame scores of recordings of equal length, and their events, for us and for sed_scores_eval.

    tables: reference and system as our library takes them. truth, scores, durations: by file name.
    """

    tables: tuple[pa.Table, pa.Table]
    truth: dict[str, list[tuple[float, float, str]]]
    scores: dict[str, Floats]
    edges: Floats
    durations: dict[str, float]


def recordings(n_files: int, seconds: int, frames_per_second: int) -> Recordings:
    """Return recordings whose events begin and end in the middle of frames; those of a class never touch."""
    n, size = n_files * seconds * frames_per_second, seconds * frames_per_second
    values, scores = soft_values(np.random.default_rng(n), n, decimals=9)
    file, frame = np.divmod(np.arange(n), size)
    active = np.zeros((n + 1, N_CLASSES), dtype=np.int8)
    active[1:n] = values[1:] > 0.5
    active[:-1][(frame == 0) | (frame == size - 1)] = 0
    change = np.diff(active, axis=0).T
    label, onset = np.nonzero(change == 1)
    _, offset = np.nonzero(change == -1)
    of, on, off = (
        file[onset],
        (frame[onset] + 0.5) / frames_per_second,
        (frame[offset] + 0.5) / frames_per_second,
    )
    names = [f"{number:04d}.wav" for number in range(n_files)]
    truth: dict[str, list[tuple[float, float, str]]] = {name: [] for name in names}
    for code, begin, end, c in zip(of.tolist(), on.tolist(), off.tolist(), label.tolist(), strict=True):
        truth[names[code]].append((begin, end, CLASSES[c]))
    columns = {"filename": [names[code] for code in of], "onset": on, "offset": off}
    reference = pa.table(columns | {"event_label": [CLASSES[c] for c in label]})
    named = pa.DictionaryArray.from_arrays(file.astype(np.int32), names)
    times = {"onset": frame / frames_per_second, "offset": (frame + 1) / frames_per_second}
    system = pa.table({"filename": named} | times | dict(zip(CLASSES, scores.T, strict=True)))
    each = np.split(scores, n_files)
    edges = np.arange(size + 1) / frames_per_second
    durations = dict.fromkeys(names, float(seconds))
    return Recordings((reference, system), truth, dict(zip(names, each, strict=True)), edges, durations)


def frame_table(edges: Floats, scores: Floats) -> pa.Table:
    """Return frame scores as our library takes them: a wide table."""
    columns = {"filename": [FILE] * len(scores), "onset": edges[:-1], "offset": edges[1:]}
    return pa.table(columns | dict(zip(CLASSES, scores.T, strict=True)))


def soft_tables(
    n_frames: int, frames_per_second: int, file_seconds: int | None = None
) -> tuple[pa.Table, pa.Table]:
    """Return a soft reference and a system as wide tables, of one file or of as many as it takes."""
    step = np.arange(n_frames)
    per_file = n_frames if file_seconds is None else file_seconds * frames_per_second
    file, frame = np.divmod(step, per_file)
    names = pa.DictionaryArray.from_arrays(
        file.astype(np.int32), [f"{n:06d}.wav" for n in range(int(file[-1]) + 1)]
    )
    times = {"onset": frame / frames_per_second, "offset": (frame + 1) / frames_per_second}
    columns: dict[str, Any] = {"filename": names} | times
    sides = soft_values(np.random.default_rng(n_frames), n_frames, decimals=9)
    tables = [pa.table(columns | dict(zip(CLASSES, values.T, strict=True))) for values in sides]
    return tables[0], tables[1]


def clip_tables(
    folder: Path, n_clips: int, n_classes: int, frames_per_second: int, name: str = "clips", shift: int = 0
) -> Tables:
    """Write a list of events and the frame scores of clips of 10 s.

    shift: by how many frames the noise is moved, so that it is another system of the same clips.
    """
    per_clip = 10 * frames_per_second
    values, scores = soft_values(np.random.default_rng(n_clips), n_clips * per_clip)
    # Events of seconds, as annotators mark them: a value holds for 64 frames.
    values = np.repeat(values[::64], 64, axis=0)[: len(values)]
    scores = np.clip(0.7 * values + 0.3 * np.roll(scores, shift, axis=0), 1e-4, 1).round(4)
    clip, frame = np.divmod(np.arange(len(values)), per_clip)
    names = [f"clip_{number:05d}.wav" for number in range(n_clips)]
    named = pa.DictionaryArray.from_arrays(clip.astype(np.int32), names).cast(pa.string())
    times = {"onset": frame / frames_per_second, "offset": (frame + 1) / frames_per_second}
    paths = Tables(folder / f"{name}_ref.tsv", folder / f"{name}_sys.tsv")
    columns = dict(zip(CLASSES[:n_classes], scores.T, strict=False))
    _write(paths.system, pa.table({"filename": named} | times | columns))
    active = np.zeros((len(values) + 1, n_classes), dtype=np.int8)
    active[:-1] = values[:, :n_classes] > 0.5
    active[:-1][frame == 0] = 0
    change = np.diff(active, axis=0, prepend=0)
    label, onset = np.nonzero(change.T == 1)
    _, offset = np.nonzero(change.T == -1)
    ends = (offset - 1) % per_clip + 1
    events: dict[str, Any] = {
        "filename": named.take(pa.array(onset)),
        "onset": frame[onset] / frames_per_second,
    }
    events |= {"offset": ends / frames_per_second, "event_label": [CLASSES[code] for code in label]}
    _write(paths.reference, pa.table(events))
    return paths


def noise_tables(folder: Path, n_frames: int, n_classes: int, frames_per_second: int) -> Tables:
    """Write two wide tables of one file whose values are white noise: nearly all events compete."""
    paths = Tables(folder / f"noise_{n_frames}_ref.tsv", folder / f"noise_{n_frames}_sys.tsv")
    rng, frame = np.random.default_rng(n_frames), np.arange(n_frames)
    times = {"onset": frame / frames_per_second, "offset": (frame + 1) / frames_per_second}
    for path in (paths.reference, paths.system):
        values = rng.random((n_classes, n_frames)).round(9)
        columns = dict(zip(CLASSES[:n_classes], values, strict=True))
        _write(path, pa.table({"filename": [FILE] * n_frames} | times | columns))
    return paths


def annotators(folder: Path, n_annotators: int, n_events: int) -> list[Path]:
    """Write what annotators hear of so many events, 50 in each file of five minutes, and what they make up.

    Each misses one in ten, makes up one for ten, and is off by 0.1 s at both ends, more or less.
    """
    rng, paths = np.random.default_rng(n_events), []
    truth = np.array([np.arange(n_events) // 50, rng.integers(0, N_CLASSES, n_events)])
    onset, length = rng.uniform(0, 290, n_events), 0.5 + rng.exponential(2.0, n_events)
    names = [f"recording_{number:05d}.wav" for number in range(int(truth[0, -1]) + 1)]
    for number in range(n_annotators):
        heard, false = rng.random(n_events) < 0.9, rng.random(n_events) < 0.1
        times = np.array([onset, onset + length])[:, heard]
        more = rng.uniform(0, 290, int(false.sum()))
        times = np.concatenate((times + rng.normal(0, 0.1, times.shape), [more, more + 2.0]), axis=1)
        begin, end = times.clip(0, [[299], [300]]).round(3)
        file, label = np.concatenate((truth[:, heard], truth[:, false]), axis=1)
        order = np.lexsort((begin, file))
        named, labels = (
            pa.DictionaryArray.from_arrays(codes[order].astype(np.int32), texts).cast(pa.string())
            for codes, texts in ((file, names), (label, list(CLASSES)))
        )
        columns = {
            "filename": named,
            "onset": begin[order],
            "offset": np.maximum(end, begin + 0.05)[order].round(3),
        }
        paths.append(folder / f"annotator_{number}_{n_events}.tsv")
        _write(paths[-1], pa.table(columns | {"event_label": labels}))
    return paths


_READ = """
import sys, pyarrow.csv
options = pyarrow.csv.ParseOptions(delimiter="\\t")
tables = [pyarrow.csv.read_csv(path, parse_options=options) for path in sys.argv[1:]]
"""


def reading(*paths: Path) -> list[str | Path]:
    """Return the command that only reads some tables."""
    return [sys.executable, "-c", _READ, *paths]


def adversarial_values(n_frames: int) -> dict[str, tuple[Floats, Floats]]:
    """Return pairs of (n_frames, N_CLASSES) values that are hard to nest or to match, and random ones."""
    rng = np.random.default_rng(n_frames)
    shape = (n_frames, N_CLASSES)
    random = rng.random(shape)
    ramp = np.tile(np.linspace(0.001, 1.0, n_frames)[:, None], (1, N_CLASSES))
    saw = ramp / 2 + 0.5 * (np.arange(n_frames) % 2)[:, None]
    always = rng.random(shape)
    always[:, 0] = 1.0
    return {
        "random": (random, rng.random(shape)),
        "a ramp against random": (ramp, random),
        "random against a ramp": (random, ramp),
        "a ramp against its mirror": (ramp, ramp[::-1].copy()),
        "a ramp against itself": (ramp, ramp),
        "saw-teeth against a ramp": (saw, ramp[::-1].copy()),
        "random against saw-teeth": (random, saw),
        "one class always on": (always, np.maximum(always, random)),
    }
