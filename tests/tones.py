"""Sounds for tests: tones and noise, and headers of wav files that no library would write."""

import struct
from pathlib import Path

import numpy as np


def sweep(seconds: float, rate: int, low: float, high: float) -> np.ndarray:
    """Return a tone that rises evenly in octaves, with low * (high / low) ** (t / seconds) Hz at time t."""
    t = np.arange(round(seconds * rate)) / rate
    return 0.5 * np.sin(2 * np.pi * np.cumsum(low * (high / low) ** (t / seconds)) / rate)


def noise(seconds: float, rate: int, seed: int = 0) -> np.ndarray:
    """Return noise, which FLAC hardly compresses."""
    return np.random.default_rng(seed).uniform(-0.9, 0.9, round(seconds * rate))


def write(path: Path, samples: np.ndarray, rate: int, subtype: str | None = None) -> Path:
    """Write samples, (n,) or (n, channels), in the format of the file's extension."""
    import soundfile

    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate, subtype=subtype)
    return path


def wav_header(rate: int, size: int, bits: int = 16) -> bytes:
    """Return the header of a wav file with one channel; size: bytes of the samples."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * bits // 8, bits // 8, bits)
    whole = min(36 + size, 2**32 - 1)
    return struct.pack("<4sI4s", b"RIFF", whole, b"WAVE") + form + struct.pack("<4sI", b"data", size)
