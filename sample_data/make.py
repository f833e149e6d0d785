"""Write the sample tables that stand beside this script, the same bytes every time.

    python sample_data/make.py [FOLDER]

Five recordings of up to a minute in one-second rows, six classes, as crowds annotate: `soft_value` is the
share of annotators who heard the class. README.md in this folder says what each table shows.

Only uniform random numbers, sums and products go into the values, and all are rounded to two
decimals, so that no version of numpy and no platform changes a byte.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Side = dict[str, Floats]
"""One table: for each file its values, (n_seconds, n_classes)."""

SEED = 20230921

DURATIONS = {"cafe.wav": 60, "metro.wav": 48, "night.wav": 30, "park.wav": 45, "street.wav": 60}
"""Seconds by file; nobody heard anything in night.wav."""

FOLDS = {
    "cafe.wav": "fold1",
    "metro.wav": "fold2",
    "night.wav": "fold1",
    "park.wav": "fold3",
    "street.wav": "fold3",
}
"""Folds of a cross-validation by file."""

CLASSES = ("birds singing", "car", "children voices", "door opens", "footsteps", "people talking")

DOUBTFUL = ("footsteps", "people talking")
"""Classes on which annotators disagree wherever they occur: most values are near 0.5."""

NEVER_FOUND = "door opens"
"""The class that no system finds."""

PRESENT = {
    "cafe.wav": ("children voices", "door opens", "footsteps", "people talking"),
    "metro.wav": ("door opens", "footsteps", "people talking"),
    "park.wav": ("birds singing", "children voices", "footsteps", "people talking"),
    "street.wav": ("birds singing", "car", "footsteps", "people talking"),
}

LONG_HEADER = ("filename", "onset", "offset", "event_label", "soft_value")


def main(folder: Path) -> None:
    """Write all tables to `folder`."""
    rng = np.random.default_rng(SEED)
    reference = make_reference(rng)
    system = make_system(rng, reference)
    guesser = make_guesser(rng, reference)
    write(folder / "ref.tsv", LONG_HEADER, long_rows(reference))
    write(folder / "ref_wide.tsv", ("filename", "onset", "offset", *CLASSES), wide_rows(reference))
    write(folder / "sys.tsv", LONG_HEADER, long_rows(system))
    write(folder / "sys_b.tsv", LONG_HEADER, long_rows(guesser))
    write(folder / "events.tsv", LONG_HEADER[:-1], event_rows(rng, reference))
    durations = ((name, f"{seconds:.1f}") for name, seconds in DURATIONS.items())
    write(folder / "durations.tsv", ("filename", "duration"), durations)
    write(folder / "folds.tsv", ("filename", "fold"), FOLDS.items())


def make_reference(rng: np.random.Generator) -> Side:
    """Draw the annotators' agreement: clear events with soft edges, and doubtful stretches."""
    reference = {}
    for name, seconds in DURATIONS.items():
        values = np.zeros((seconds, len(CLASSES)))
        for label in PRESENT.get(name, ()):
            column = CLASSES.index(label)
            if label in DOUBTFUL:
                values[:, column] = doubtful_stretches(rng, seconds)
            else:
                values[:, column] = clear_events(rng, seconds, longest=1 if label == NEVER_FOUND else 11)
        reference[name] = values.round(2)
    return reference


def clear_events(rng: np.random.Generator, seconds: int, longest: int) -> Floats:
    """Return events that nearly all annotators hear, with edges that fewer of them do."""
    values = np.zeros(seconds)
    position = uniform(rng, 2, 8)
    while position < seconds - 2:
        end = min(position + min(longest, uniform(rng, 4, 12)), seconds)
        values[position:end] = 0.8 + 0.2 * rng.random(end - position)
        for edge in (position - 1, end):
            if edge < seconds:
                values[edge] = 0.2 + 0.3 * rng.random()
        position = end + uniform(rng, 5, 15)
    return values


def doubtful_stretches(rng: np.random.Generator, seconds: int) -> Floats:
    """Return long stretches that about half of the annotators hear."""
    values = np.zeros(seconds)
    position = uniform(rng, 0, 3)
    while position < seconds - 2:
        end = min(position + uniform(rng, 12, 25), seconds)
        values[position:end] = 0.42 + 0.24 * rng.random(end - position)
        position = end + uniform(rng, 2, 6)
    return values


def make_system(rng: np.random.Generator, reference: Side) -> Side:
    """Return a good system: it hears what the annotators heard and is as unsure as they were.

    Its values lie a little low, so that in doubtful stretches they often fall on the other side
    of 0.5: the hard reading takes each of these for a mistake. It hears nothing in the silent file.
    """
    system = {}
    for name, values in reference.items():
        shape = values.shape
        wide = 0.24 * (rng.random(shape) - 0.5)
        copied = np.where(values > 0, np.clip(values - 0.06 + wide, 0.02, 0.99), 0.0)
        murmur = np.where(rng.random(shape) < 0.06, 0.02 + 0.1 * rng.random(shape), 0.0)
        heard = without_lost_class(np.maximum(copied, murmur))
        system[name] = heard if values.any() else np.zeros_like(values)
    return system


def make_guesser(rng: np.random.Generator, reference: Side) -> Side:
    """Return a weaker system: sure of everything, it answers each doubt with a guess near 1.

    It hears the doubtful classes wherever anybody did. Of the others it misses or hears too much
    in every twelfth second that has something of them, and now and then in silence.
    """
    guesser = {}
    for name, values in reference.items():
        error_rate = np.where(values > 0, 0.08, 0.015)
        error_rate[:, [CLASSES.index(label) for label in DOUBTFUL]] = 0.0
        said = (values > 0.4) != (rng.random(values.shape) < error_rate)
        guesser[name] = without_lost_class(np.where(said, 0.9 + 0.09 * rng.random(values.shape), 0.0))
    return guesser


def without_lost_class(values: Floats) -> Floats:
    """Round to two decimals and silence the class that no system finds."""
    values = values.round(2)
    values[:, CLASSES.index(NEVER_FOUND)] = 0.0
    return values


def uniform(rng: np.random.Generator, low: int, high: int) -> int:
    """Return a whole number from `low` up to and without `high`."""
    return low + int((high - low) * rng.random())


def long_rows(side: Side) -> Iterable[tuple[str, ...]]:
    """Yield a row for each value above zero; a file without any is declared by its name alone."""
    for name, values in side.items():
        if not values.any():
            yield (name, "", "", "", "")
        for second, column in np.argwhere(values > 0).tolist():
            yield (name, *span(second), CLASSES[column], f"{values[second, column]:.2f}")


def wide_rows(side: Side) -> Iterable[tuple[str, ...]]:
    """Yield a row for each second, with a column for each class."""
    for name, values in side.items():
        for second, row in enumerate(values.tolist()):
            yield (name, *span(second), *(f"{value:.2f}" for value in row))


def span(second: int) -> tuple[str, str]:
    """Return onset and offset of a one-second row."""
    return f"{second}.0", f"{second + 1}.0"


def event_rows(rng: np.random.Generator, reference: Side) -> Iterable[tuple[str, ...]]:
    """Yield the events of the reference above 0.5, as someone might mark them: to 0.01 s, no values."""
    for name, values in reference.items():
        active = values > 0.5
        if not active.any():
            yield (name, "", "", "")
        edges = np.diff(np.pad(active, ((1, 1), (0, 0))).astype(np.int8), axis=0)
        found = []
        for column, label in enumerate(CLASSES):
            onsets, offsets = (np.flatnonzero(edges[:, column] == sign) for sign in (1, -1))
            for onset, offset in zip(onsets.tolist(), offsets.tolist(), strict=True):
                early, late = (0.6 * (rng.random() - 0.5) for _ in range(2))
                found.append((max(0.0, onset + early), min(float(len(values)), offset + late), label))
        for start, end, label in sorted(found):
            yield (name, f"{start:.2f}", f"{end:.2f}", label)


def write(path: Path, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Write a tab-separated table with a header and LF line ends."""
    text = "".join("\t".join(row) + "\n" for row in (header, *rows))
    path.write_bytes(text.encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
