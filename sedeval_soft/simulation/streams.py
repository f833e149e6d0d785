"""Streams of random numbers that depend on names, not on the order in which things come.

Every recording, and every class of it, has a stream of its own: a `numpy.random.Generator` over Philox, whose
key is the first 128 bits of the SHA-256 of seed and names. So another order of files or classes, or more of
them, draws the same numbers for those that were there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

Draw = Callable[[np.random.Generator, int, int], Floats]
"""Values of one class in one recording: from its stream, the place of the class, and how many segments."""


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the stream of a seed and some names."""
    # Lengths go first: ("a", "b") and ("ab", "") are two streams.
    parts = [str(seed), *names]
    text = " ".join(map(str, map(len, parts))) + " " + "".join(parts)
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


@dataclass(frozen=True, slots=True)
class Timeline:
    """The segments of all recordings, one after another.

    files, classes: names. start: (n_files + 1,) first segment of each recording, and the end of the last.
    """

    files: tuple[str, ...]
    classes: tuple[str, ...]
    start: Index

    @property
    def size(self) -> int:
        """Return the number of segments of all recordings."""
        return int(self.start[-1])

    @property
    def shape(self) -> tuple[int, int]:
        """Return the shape of values: (n_classes, n_segments)."""
        return len(self.classes), self.size

    def pieces(self) -> Sequence[tuple[str, slice]]:
        """Return each recording with its segments."""
        edges = self.start.tolist()
        return [
            (name, slice(begin, end))
            for name, begin, end in zip(self.files, edges[:-1], edges[1:], strict=True)
        ]

    def drawn(self, seed: int, kind: str, draw: Draw) -> Floats:
        """Return values of all classes in all recordings, each from a stream of its own."""
        values = np.zeros(self.shape)
        for name, segments in self.pieces():
            for k, label in enumerate(self.classes):
                n_segments = segments.stop - segments.start
                values[k, segments] = draw(stream(seed, kind, name, label), k, n_segments)
        return values
