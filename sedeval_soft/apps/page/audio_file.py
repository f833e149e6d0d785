"""An audio file: read in blocks, seen as a spectrogram, and made what every browser plays.

The length in the header of a file reserves no memory, and samples after damage are not read.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Floats
from sedeval_soft.errors import one_line

if TYPE_CHECKING:
    from soundfile import SoundFile

LONGEST = 3600 * 48_000
"""Samples up to which a file is played: an hour."""

LEVELS = 30
"""The levels of loudness that a spectrogram has above silence."""

_DECIBELS = 2.0  # between one level and the next
_COLUMNS, _BANDS = 1200, 48  # how many columns a spectrogram has at the most, and how many bands
_COLUMN = 0.02  # seconds that a column has at least
_WINDOW = 0.04  # seconds that a spectrum is of, about
_MOST_WINDOWS = 256  # spectra that a column is the mean of, at the most
_BLOCK = 1 << 14  # samples of each channel that are read at once
_SPAN = 1 << 16  # samples that are worked on together: more of them take longer
_LOUDEST = 1e12  # no recording has more, and squares of these are within float32

Samples = npt.NDArray[np.float32]


class Strip(NamedTuple):
    """The spectrogram of a file.

    level: (n_bands, n_columns) from 0, silent, to `LEVELS`, loudest. Bands have the same width in mel, the
    first is the lowest; columns have the same length. seconds: of all columns. top: the highest frequency, in
    Hz.
    peak: the highest sample, 1 if none is higher. damaged: whether the header promises more samples than
    could be read.
    """

    level: npt.NDArray[np.uint8]
    seconds: float
    top: float
    peak: float
    damaged: bool


@contextlib.contextmanager
def opened(path: Path) -> Iterator[SoundFile]:
    """Open an audio file; raises ValueError if it cannot be read, or a sound made of it cannot be written.

    Its text is the library's message without the path of the file, which it repeats.
    """
    import soundfile

    if not path.is_file():  # a pipe would be waited for
        raise ValueError("it is not a file")
    try:
        with soundfile.SoundFile(path) as file:
            yield file
    except (soundfile.SoundFileError, OSError) as error:
        raise ValueError(one_line(getattr(error, "error_string", None) or error)) from error


def _read(file: SoundFile, begin: int, end: int) -> Samples:
    """Return the samples from one place to another, fewer where the file ends: the mean of all channels."""
    import soundfile

    blocks = [np.zeros(0, dtype=np.float32)]
    with contextlib.suppress(soundfile.SoundFileError), np.errstate(over="ignore", invalid="ignore"):
        file.seek(begin)
        for place in range(begin, end, _BLOCK):
            wanted = min(_BLOCK, end - place)
            blocks.append(file.read(wanted, dtype="float32", always_2d=True).mean(axis=1))
            if len(blocks[-1]) < wanted:
                break
    return np.clip(np.nan_to_num(np.concatenate(blocks), nan=0), -_LOUDEST, _LOUDEST)


def strip_of(file: SoundFile, seconds: float) -> Strip:
    """Return the spectrogram of the first seconds of a file; raises ValueError for a file without samples.

    A column is the mean of spectra around its middle, each half over the one before. They cover the column in
    files of an hour, a few seconds of it in longer ones: a day costs hardly more.
    """
    from scipy.fft import rfft

    rate = file.samplerate
    total = min(file.frames, max(round(seconds * rate), 1))
    if total < 1:
        raise ValueError("it has no samples")
    n = int(np.clip(total / rate / _COLUMN, 1, min(_COLUMNS, total)))
    width = total / n
    size = 1 << int(np.clip(np.rint(np.log2(_WINDOW * rate)), 6, 14))
    count = int(np.clip(np.rint(2 * width / size), 1, _MOST_WINDOWS))
    offsets = (np.arange(count) - (count - 1) / 2) * min(width / count, size / 2)
    window, weights = np.hanning(size).astype(np.float32), _mel_weights(size, rate)
    power, peak, heard, damaged = np.zeros((n, _BANDS)), 1.0, 0, False
    together = max(int(_SPAN / width), 1)
    for first in range(0, n, together):
        middle = (np.arange(first, min(first + together, n)) + 0.5) * width
        starts = np.rint(middle[:, None] + offsets).astype(np.int64) - size // 2
        begin, end = int(starts.min()), int(starts.max()) + size
        samples = _read(file, max(begin, 0), min(end, total))
        heard = max(begin, 0) + len(samples)
        peak = max(peak, float(np.abs(samples).max(initial=0)))
        # There is silence before and after the file.
        samples = np.pad(samples, (max(-begin, 0), end - heard))
        spectra = rfft(np.lib.stride_tricks.sliding_window_view(samples, size)[starts - begin] * window)
        power[first : first + len(middle)] = (spectra.real**2 + spectra.imag**2).mean(axis=1) @ weights
        damaged = heard < min(end, total)
        if damaged:
            break
    if not heard:
        raise ValueError("nothing in it can be read")
    n = max(round(heard / width), 1) if damaged else n
    return Strip(_levels(power[:n]).T, n * width / rate, rate / 2, peak, damaged)


def _mel_weights(size: int, rate: int) -> Samples:
    """Return how much of each frequency of a spectrum is in each band, (size // 2 + 1, n_bands)."""
    top = np.log10(1 + rate / 2 / 700)
    edges = 700 * (10 ** np.linspace(0, top, _BANDS + 1) - 1)
    bins = np.clip((np.arange(size // 2 + 2) - 0.5) * rate / size, 0, rate / 2)
    low, high = np.maximum(bins[:-1, None], edges[:-1]), np.minimum(bins[1:, None], edges[1:])
    weights: Samples = (np.maximum(high - low, 0) * size / rate).astype(np.float32)
    return weights


def _levels(power: Floats) -> npt.NDArray[np.uint8]:
    """Return how loud power is, in levels below the loudest; one in a thousand may be louder: a click."""
    loudness = 10 * np.log10(np.maximum(power, np.finfo(np.float32).tiny))
    levels = LEVELS + (loudness - np.quantile(loudness, 0.999)) / _DECIBELS
    whole: npt.NDArray[np.uint8] = np.rint(np.clip(levels, 0, LEVELS)).astype(np.uint8)
    return whole if power.any() else np.zeros_like(whole)


def flac_of(file: SoundFile, seconds: float, peak: float) -> bytes:
    """Return the first seconds of a file as FLAC of 16 bits, one channel; peak: its highest sample, or 1.

    Raises ValueError for a file that is too long, and `opened` for one with a rate that FLAC lacks.
    """
    import soundfile

    rate, total = file.samplerate, round(seconds * file.samplerate)
    if total > LONGEST:
        limit = f"more than {LONGEST / 3600:g} samples a second for an hour"
        raise ValueError(f"it has {total / rate / 3600:.1f} h at {rate} Hz, {limit}")
    data = io.BytesIO()
    with soundfile.SoundFile(data, "w", rate, 1, "PCM_16", format="FLAC") as flac:
        for begin in range(0, total, _SPAN):
            flac.write(_read(file, begin, min(begin + _SPAN, total)) / np.float32(peak))
    return data.getvalue()
